"""Which weeks are due: over, with a complete log, and not in the store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

from search_insights.errors import InputError
from search_insights.routine.location import Found, Location, WeekLog, is_listed
from search_insights.routine.settings import Settings
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import DAYS_OF_WEEK, Week, week_of
from search_insights.store.identity import Known
from search_insights.store.journal import read_journal
from search_insights.store.ledger import LedgerEntry, WeekNote
from search_insights.store.opening import is_unused, open_store
from search_insights.store.store import Store

_STEP = timedelta(days=DAYS_OF_WEEK)


@dataclass(frozen=True, slots=True)
class Held:
    """What a store has: its ledger, the weeks that are lost, and what else a dataset must show.

    `changes` are the numbers of recorded changes. `known` is by what the store is known (store/identity.py).
    """

    entries: tuple[LedgerEntry, ...] = ()
    lost: frozenset[date] = frozenset()
    declared: frozenset[date] = frozenset()
    changes: frozenset[int] = frozenset()
    known: Known | None = None
    notes: tuple[WeekNote, ...] = ()

    @property
    def weeks(self) -> tuple[date, ...]:
        """The weeks of the store, the oldest first."""
        return tuple(entry.week for entry in self.entries)


def read_held(settings: Settings) -> Held:
    """Read what the store has; nothing if there is none yet."""
    store = store_of(settings)
    lost = frozenset(read_journal(store).lost)
    if is_unused(store):
        return Held(lost=lost)
    with open_store(store) as opened:
        declared = frozenset(week.week for week in opened.lost())
        entries = tuple(opened.entries())
        changes = _changes_of(opened, entries)
        return Held(entries, lost | declared, declared, changes, opened.known, tuple(opened.notes()))


def _changes_of(store: Store, entries: Sequence[LedgerEntry]) -> frozenset[int]:
    """Return the changes after the first that are not those of an edition without weeks: that may be withdrawn."""
    if not entries:
        return frozenset()
    last = store.edition_of(entries[-1].week).changes[-1].number
    return frozenset(change.number for change in store.changes() if 1 < change.number <= last)


def store_of(settings: Settings) -> Path:
    """Return the store, which the routine cannot do without."""
    if settings.store is None:
        raise _lacks(settings, "store")
    return settings.store


def _lacks(settings: Settings, key: str) -> InputError:
    return InputError(f"{settings.file}: key {key!r} is missing, and needed here; add it")


@dataclass(frozen=True, slots=True)
class Calendar:
    """The weeks of a log at one moment."""

    settings: Settings
    location: Location
    there: Found
    held: Held
    now: datetime
    allowed: frozenset[date] = field(default_factory=frozenset)

    def lacking(self) -> Iterator[WeekLog]:
        """Yield the log of each week that is over and that the store lacks, the oldest first."""
        known = {*self.held.weeks, *self.held.lost}
        week = self._first_week()
        while week and (log := self.log_of(week)).complete_at <= self.now:
            if week not in known:
                yield log
            week += _STEP

    def log_of(self, first_day: date) -> WeekLog:
        """Return the log of a week."""
        return self.location.week_log(Week(first_day, self.location.spec.time_zone), self.there)

    def missing(self, log: WeekLog) -> tuple[date, ...]:
        """Return the days of a week that have no file, and for which the settings do not allow that."""
        return tuple(day for day in log.missing if day not in self.allowed)

    @property
    def last_known(self) -> date:
        """The last week that the store has, or that has a file."""
        return max({*self.location.weeks_found(self.there), *self.held.weeks}, default=date.min)

    def _first_week(self) -> date | None:
        """Return the first week to look at."""
        if given := self.settings.log.first_week:
            return _first_day(self.location.spec, given, self.settings)
        if self.there:
            return min({*self.location.weeks_found(self.there), *self.held.weeks}, default=None)
        if self.held.weeks:
            return self.held.weeks[-1] + _STEP
        raise InputError(
            f"{self.settings.file}: the names of the log's files do not tell which weeks there are; write {{date}} or "
            "{week} in 'log.location', or give the first week as 'log.first_week'"
        )


def _first_day(spec: Spec, day: date, settings: Settings) -> date:
    try:
        return week_of(spec, day).first_day
    except InputError as error:
        raise InputError(f"{settings.file}: key 'log.first_week': {error}") from None


def calendar_of(settings: Settings, spec: Spec, held: Held, now: datetime) -> Calendar:
    """Look which files of the log are there."""
    patterns = settings.log.location
    if not patterns:
        raise _lacks(settings, "log.location")
    location = Location(patterns, spec, settings.log.file_zone or spec.time_zone)
    there = location.found() if any(is_listed(pattern) for pattern in patterns) else {}
    return Calendar(settings, location, there, held, now, frozenset(settings.log.missing_days))
