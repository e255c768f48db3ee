"""Checking weeks of a search log before anything is spent: everything that `anonymize` would read and refuse.

The result is private. It holds exact counts and texts, and is a report for the operator only: nothing of it goes to the
store or the dataset, and the store is only read. No noise is drawn, so a check can be repeated at will.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from search_insights.anonymization import (
    of_another_edition,
    require_ended,
    require_same_model,
    require_same_times,
    require_zone_answered,
    week_to_compare,
)
from search_insights.errors import InputError, LogError
from search_insights.private.counting import Tolerance, WeekCounts, tally_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Engine, OpenEngine, UnusedRows
from search_insights.private.log import LogSource
from search_insights.private.plausibility import (
    Change,
    described_changes,
    empty_regions,
    implausible_changes,
    totals,
)
from search_insights.private.region_names import RegionNames, region_names
from search_insights.private.survey import (
    CategoryRows,
    Frequent,
    LevelCodes,
    Times,
    UnknownCodes,
    rows_of,
    shifted_times,
    survey_categories,
    survey_codes,
    survey_days,
    survey_times,
    survey_unknown_codes,
)
from search_insights.private.texts import NearText, Texts, survey_texts
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week, week_of
from search_insights.store.coverages import fingerprints_of
from search_insights.store.journal import refuse_second_noise
from search_insights.store.opening import open_store_if_any
from search_insights.support.arrays import Counts
from search_insights.support.working_folder import remove_abandoned_temporary_folders

# The parts of a check, for those who show it: no other module of theirs may import private code.
__all__ = [
    "PRIVATE",
    "CategoryRows",
    "Change",
    "Check",
    "CheckWarning",
    "Comparison",
    "DayCheck",
    "Frequent",
    "LevelCodes",
    "NearText",
    "Texts",
    "Times",
    "Total",
    "UnknownCodes",
    "WeekCheck",
    "check",
]

PRIVATE = "PRIVATE: exact counts and texts of the search log, for its operator only; never publish or share this report"
_NAMED = 10  # regions in a warning


@dataclass(frozen=True, slots=True)
class CheckWarning:
    """Something that must be answered before the week is spent: a stable kind, and one line of what to do."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class DayCheck:
    """A day: its rows, how many of them are used, and of how many user-days they are."""

    day: date
    rows: int
    used: int
    user_days: int


@dataclass(frozen=True, slots=True)
class Total:
    """The count of a category in the whole country, and that of the week it is compared with."""

    category: str
    count: int
    before: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A week next to another: of the store, with noise, or another week of the same check, exact."""

    week: date
    noisy: bool
    totals: tuple[Total, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class WeekCheck:
    """What a week's log holds.

    in_store        whether the store has the week already, and `anonymize` would leave it alone
    unused          rows that are not used, by reason
    unknown_rows    for each level with a column, rows that are used but name no known region there
    codes           rows that name a region, by column and level
    unknown_codes   the most frequent names that are not in the geography
    categories      rows by category; of a log with texts, among the texts that were looked at
    texts           what the model makes of the texts; None if the log has categories
    empty_regions   place_ids of the coarsest regions without a search
    comparison      the week before; None if there is none
    """

    week: date
    in_store: bool
    days: tuple[DayCheck, ...]
    unused: UnusedRows
    unknown_rows: Mapping[str, int]
    codes: tuple[LevelCodes, ...]
    unknown_codes: tuple[UnknownCodes, ...]
    categories: tuple[CategoryRows, ...]
    texts: Texts | None
    empty_regions: tuple[str, ...]
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class Check:
    """What a log holds and what is wrong with it. Private: for the operator only.

    `warnings` stand until they are answered; `accepted` are those of the kinds that the tolerance accepts.
    """

    files: int
    rows: int
    engine: str
    times: Times
    weeks: tuple[WeekCheck, ...]
    warnings: tuple[CheckWarning, ...]
    accepted: tuple[CheckWarning, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report for a program to read."""
        return {"private": PRIVATE, **_plain(asdict(self))}


def _plain(value: Any) -> Any:
    """Return nested values as JSON has them: dates are text."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value


def check(
    source: LogSource,
    weeks: Sequence[Week],
    coverage: Coverage,
    *,
    store_path: Path | None = None,
    tolerance: Tolerance | None = None,
    open_engine: OpenEngine = open_duckdb_engine,
    model_changed: bool = False,
    times_changed: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Check:
    """Read weeks of a log as `anonymize` would, and report what they hold and what is wrong with them.

    Nothing is spent or stored. A log that cannot be read at all is refused, as `anonymize` refuses it; everything else
    is a warning. With a store, the weeks are compared with its noisy counts. `model_changed` and `times_changed` answer
    the same questions as in `anonymize`.
    """
    weeks = sorted({week_of(coverage.spec, week.first_day) for week in weeks})
    if not weeks:
        raise InputError("`week`: give at least one week")
    remove_abandoned_temporary_folders()
    names = region_names(coverage, source)
    requested = (weeks[0].begin, weeks[-1].end)
    notes = _Notes()
    with open_engine(source, coverage.spec, names) as engine:
        known = _read_store(store_path, weeks, coverage, engine, notes, model_changed, times_changed)
        progress("reading times")
        times = survey_times(engine, requested)
        if shift := shifted_times(engine, requested, times):
            notes.add("shifted-times", f"{shift} Set `naive_zone`, fix the log, or go on with `accepted` shifted-times")
        run = _Run(engine, CellList(coverage), names, tolerance or Tolerance(), notes, known, progress)
        checked = tuple(run.week(week, requested) for week in weeks)
        standing, accepted = notes.split(run.tolerance.accepted)
        return Check(len(engine.log.files), rows_of(engine), engine.name, times, checked, standing, accepted)


@dataclass(frozen=True)
class _Notes:
    """The warnings so far, each kind once a week."""

    warnings: list[CheckWarning] = field(default_factory=list)

    def add(self, kind: str, text: str) -> None:
        self.warnings.append(CheckWarning(kind, " ".join(text.split())))

    @contextmanager
    def of(self, kind: str) -> Iterator[None]:
        """Turn a refusal into a warning."""
        try:
            yield
        except InputError as error:
            self.add(kind, str(error))

    def split(self, accepted: Iterable[str]) -> tuple[tuple[CheckWarning, ...], tuple[CheckWarning, ...]]:
        """Return the warnings that stand, and those that were accepted."""
        kinds = frozenset(accepted)
        standing = tuple(warning for warning in self.warnings if warning.kind not in kinds)
        return standing, tuple(warning for warning in self.warnings if warning.kind in kinds)


@dataclass(frozen=True)
class _Known:
    """Counts to compare with, by week: noisy ones of the store, and exact ones of weeks that were checked before."""

    noisy: Mapping[date, Counts] = field(default_factory=dict)
    held: frozenset[date] = frozenset()
    checked: dict[date, Counts] = field(default_factory=dict)


def _read_store(
    path: Path | None,
    weeks: Sequence[Week],
    coverage: Coverage,
    engine: Engine,
    notes: _Notes,
    model_changed: bool,
    times_changed: bool,
) -> _Known:
    """Ask what `anonymize` asks of the store, and read what to compare with. The store is open no longer than that."""
    with notes.of("not-over"):
        require_ended(weeks, datetime.now(UTC))
    if path is None:
        with notes.of("naive-times"):
            require_zone_answered(None, engine, weeks)
        return _Known()
    with open_store_if_any(path, coverage) as store:
        with notes.of("naive-times"):
            require_zone_answered(store, engine, weeks)
        held = frozenset(entry.week for entry in store.entries()) if store else frozenset()
        new = [week for week in weeks if week.first_day not in held]
        with notes.of("noised-before"):
            refuse_second_noise(path, new)
        if store is None:
            return _Known()
        with notes.of("times-changed"):
            if not times_changed:
                require_same_times(store, engine.log, new)
        with notes.of("model-changed"):
            if not model_changed:
                require_same_model(store, engine, new)
        for week in weeks:
            if fingerprints_of(coverage) not in store.edition_of(week.first_day).fingerprints:
                raise of_another_edition(store, week)
        same = sorted(day for day in held if fingerprints_of(coverage) in store.edition_of(day).fingerprints)
        compared = {week_to_compare(week, same) for week in weeks} - {None}
        noisy = {day: store.noisy_counts(week_of(coverage.spec, day)) for day in compared if day}
        return _Known(noisy, held)


@dataclass(frozen=True)
class _Run:
    """What all weeks of one check share."""

    engine: Engine
    cells: CellList
    names: RegionNames
    tolerance: Tolerance
    notes: _Notes
    known: _Known
    progress: Callable[[str], None]

    def week(self, week: Week, requested: tuple[datetime, datetime]) -> WeekCheck:
        self.progress(f"week {week}: counting")
        counted = self._count(week, requested)
        self.progress(f"week {week}: looking at codes and categories")
        coverage, of_week = self.cells.coverage, self.engine.log.between(week.begin, week.end)
        rows = survey_days(self.engine, week)
        texts = survey_texts(self.engine, self.engine.model, coverage.spec, of_week) if self.engine.model else None
        empty = empty_regions(self.cells, counted.counts)
        if empty:
            named = _listed([f"{region.name} ({region.place_id})" for region in empty])
            self.notes.add(
                "empty-region",
                f"week {week}: no search at all in {named}; are they named otherwise in the log? Fix it, or go on with "
                "`accepted` empty-region",
            )
        return WeekCheck(
            week=week.first_day,
            in_store=week.first_day in self.known.held,
            days=tuple(DayCheck(d.day, rows[d.day], d.events, d.user_days) for d in counted.days),
            unused=counted.unused,
            unknown_rows=counted.unknown,
            codes=survey_codes(self.engine, coverage, self.names, of_week),
            unknown_codes=survey_unknown_codes(self.engine, self.names, of_week),
            categories=texts.categories if texts else survey_categories(self.engine, coverage.spec, of_week),
            texts=texts,
            empty_regions=tuple(region.place_id for region in empty),
            comparison=self._compare(week, counted.counts),
        )

    def _count(self, week: Week, requested: tuple[datetime, datetime]) -> WeekCounts:
        """Count a week; each kind of objection is noted once."""
        objections: dict[str, LogError] = {}

        def note_once(kind: str, error: LogError) -> None:
            objections.setdefault(kind, error)

        counted = tally_week(
            self.engine,
            self.cells,
            self.names,
            week,
            requested,
            self.tolerance,
            lambda day: self.progress(f"week {week}: {day}"),
            note_once,
        )
        for kind, error in objections.items():
            self.notes.add(kind, str(error))
        return counted

    def _compare(self, week: Week, counts: Counts) -> Comparison | None:
        """Compare a week with the nearest one; where that is in the store, with its noisy counts."""
        known = {**self.known.checked, **self.known.noisy}
        self.known.checked[week.first_day] = counts
        day = week_to_compare(week, [day for day in known if day != week.first_day])
        if day is None:
            return None
        changes = implausible_changes(self.cells, counts, known[day])
        for kind in dict.fromkeys(change.kind for change in changes):
            self.notes.add(kind, _changes_text(week, day, kind, [c for c in changes if c.kind == kind]))
        now, before = totals(self.cells, counts), totals(self.cells, known[day])
        pairs = zip(self.cells.coverage.spec.measures, now, before, strict=True)
        return Comparison(day, day in self.known.noisy, tuple(Total(m.id, n, b) for m, n, b in pairs), changes)


def _changes_text(week: Week, before: date, kind: str, changes: Sequence[Change]) -> str:
    numbers = _listed([f"{change.before:,} to {change.count:,}" for change in changes])
    return (
        f"week {week}: {described_changes(kind, changes)} next to week {before} ({numbers}), beyond its noise; fix the "
        f"log, or go on with `accepted` {kind}"
    )


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
