"""Anonymizing weeks of a search log: count, add noise, commit. The only bridge from private data to the store.

A week that the store already holds is left alone: drawing noise for it again would be a second release of its data.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from importlib import metadata
from pathlib import Path

import numpy as np

from search_insights.classifier.cluster_keys import cluster_keys
from search_insights.classifier.lexicon import load_synonyms
from search_insights.dataset.folder import holds_dataset, published_weeks, published_weeks_of
from search_insights.dp.accounting import require_promise
from search_insights.dp.noise import MECHANISM, Noise, add_noise, drawing_noise
from search_insights.dp.top_searches import TopSearchCounts, noisy_top_searches
from search_insights.errors import InputError, LogError
from search_insights.private.counting import MARGIN, Tolerance, count_week
from search_insights.private.duckdb_engine import DEFAULT_MEMORY, open_duckdb_engine
from search_insights.private.engine import Engine, OpenEngine, OpenLog, UnusedRows
from search_insights.private.log import ROLES, LogSource, described
from search_insights.private.log_files import find_files
from search_insights.private.plausibility import ACCEPTABLE, described_changes, implausible_changes
from search_insights.private.region_names import RegionNames, region_names
from search_insights.private.spark.engine import open_spark_engine
from search_insights.private.spark.session import Cluster
from search_insights.private.top_searches import TextCounts
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import DAYS_OF_WEEK, Week, week_of
from search_insights.spec.zones import zone_data_version
from search_insights.store.coverages import fingerprints_of
from search_insights.store.journal import read_journal, refuse_second_noise
from search_insights.store.ledger import (
    FinalWeek,
    LedgerEntry,
    ModelRecord,
    checksum,
    described_reading,
    instants_of,
)
from search_insights.store.older_copy import refuse_older_copy
from search_insights.store.opening import create_or_open_store, is_unused
from search_insights.store.second_store import refuse_second_store
from search_insights.store.store import Store
from search_insights.store.top_searches import ShownText, TopSearchWeek
from search_insights.support.arrays import Counts
from search_insights.support.working_folder import remove_abandoned_temporary_folders

# What a caller needs to say which log to read, and where to count it. Callers import it here: this module is the only
# one of the release's path that imports private code.
__all__ = [
    "ACCEPTABLE",
    "DEFAULT_MEMORY",
    "ROLES",
    "Cluster",
    "LogSource",
    "OpenEngine",
    "Tolerance",
    "WeekDone",
    "anonymize",
    "find_files",
    "open_duckdb_engine",
    "open_spark_engine",
]


@dataclass(frozen=True, slots=True)
class WeekDone:
    """A finished week. `unused` and `unknown` are private: for the operator only, and never stored.

    `unknown` counts, for each level with a column, the rows that were used but name no known region in that column.
    `time_unit` is the unit of times that are whole numbers.
    """

    week: Week
    was_there: bool
    unused: UnusedRows = field(default_factory=UnusedRows)
    unknown: Mapping[str, int] = field(default_factory=dict)
    time_unit: str = ""


def anonymize(
    source: LogSource,
    store_path: Path,
    weeks: Sequence[Week],
    coverage: Coverage,
    *,
    tolerance: Tolerance | None = None,
    open_engine: OpenEngine = open_duckdb_engine,
    model_changed: bool = False,
    times_changed: bool = False,
    identity: str = "",
    datasets: Sequence[Path] = (),
    another_release: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    report: Callable[[WeekDone], None] = lambda done: None,
) -> list[WeekDone]:
    """Bound, count, noise and commit weeks of a log, each whole or not at all.

    Each week is reported as soon as it is final, even if a later one fails. `open_engine` opens the engine that counts;
    only sums leave any engine, and the noise and the store are the same for all. If queries are classified by another
    model than in earlier weeks, the caller has to say so with `model_changed`. If the log's times are of another form
    than those of the weeks before and after, the caller has to vouch with `times_changed` that they are the same
    instants: otherwise searches near a week's end count in two weeks, and the promise does not hold for them.

    A release has one store. A new one gets the `identity`, if the caller knows it; an existing one of another identity
    is refused, and so is one that lacks a week which the `datasets` show. So is a new store beside the journal of one
    that has any of the weeks and a spec of the same name and country, unless this is `another_release`.

    Before noise is added, a week is refused whose counts are implausible next to those of the week before, and a log of
    times without a zone unless `naive_zone` or an earlier week says which. `checking.check` tells all that, and more,
    without a week being spent.
    """
    weeks = sorted({week_of(coverage.spec, week.first_day) for week in weeks})
    remove_abandoned_temporary_folders()  # also where every week is in the store already, and no engine is opened
    require_promise(coverage.spec)
    now = datetime.now(UTC)  # once: a clock may be set while weeks are counted
    require_ended(weeks, now)
    shown = [(folder, published_weeks(folder)) for folder in datasets if holds_dataset(folder)]
    is_new = is_unused(store_path)
    if is_new and not another_release:
        refuse_second_store(store_path, coverage, weeks, identity)
    with ExitStack() as opened:
        ahead = opened.enter_context(_noise_ahead(coverage, is_new))
        given_names = region_names(coverage, source)  # what is wrong with columns is told before a store is made
        store = opened.enter_context(create_or_open_store(store_path, coverage, identity))
        refuse_older_copy(store, published_weeks_of, shown)
        weeks = [_week_of_its_edition(store, week, coverage) for week in weeks]
        require_ended(weeks, now)  # again: an edition may have another time zone
        done = [WeekDone(week, was_there=True) for week in weeks if store.holds(week)]
        for week_done in done:
            report(week_done)
        new = [week for week in weeks if not store.holds(week)]
        held = [entry.final for entry in store.entries()]
        refuse_second_noise(store_path, new, [final.week for final in held])
        if not another_release:
            refuse_second_store(store_path, coverage, new, store.identity, held)
        for edition in store.editions:
            of_edition = [week for week in new if store.edition_of(week.first_day) is edition]
            if not of_edition:
                continue
            progress("reading the log")
            require_promise(edition.counted.spec)
            is_given = fingerprints_of(edition.counted) == fingerprints_of(coverage)
            names = given_names if is_given else region_names(edition.counted, source)
            with open_engine(source, edition.counted.spec, names) as engine:
                if not times_changed:
                    require_same_times(store, engine.log, of_edition)
                require_zone_answered(store, engine, of_edition)
                if not model_changed:
                    require_same_model(store, engine, of_edition)
                run = _Run(engine, store, CellList(edition.counted), names, tolerance or Tolerance(), progress, ahead)
                for week in of_edition:
                    done.append(run.week(week, requested=(weeks[0].begin, weeks[-1].end)))
                    report(done[-1])
    return sorted(done, key=lambda d: d.week)


def _week_of_its_edition(store: Store, week: Week, given: Coverage) -> Week:
    """Return a week as its edition has it. A late week is counted under its own edition, whichever spec is given.

    But the spec of an earlier edition is refused for a later week: the caller does not know of the change.
    """
    edition = store.edition_of(week.first_day)
    if fingerprints_of(given) not in edition.fingerprints | store.editions[-1].fingerprints:
        raise of_another_edition(store, week)
    return week_of(edition.counted.spec, week.first_day)


def of_another_edition(store: Store, week: Week) -> InputError:
    """Return the error for a spec or geography that is not that of a week's edition."""
    edition = store.edition_of(week.first_day)
    begins = f"begins with week {edition.first_week}" if edition.first_week else "is the first"
    return InputError(
        f"{store.path}: week {week} belongs to edition {edition.number}, which {begins}; use its spec and geography "
        "('search-insights store edition' lists the editions)"
    )


@contextmanager
def _noise_ahead(coverage: Coverage, is_new: bool) -> Iterator[list[Noise]]:
    """Draw the noise of the first week while a new store is made; none for one that may hold the week already."""
    if not is_new:
        yield []
        return
    with drawing_noise(CellList(coverage).sigmas) as noise:
        yield [noise]


@dataclass(frozen=True)
class _Run:
    """What all weeks of one call share. `ahead` is noise that is being drawn already, for the first week."""

    engine: Engine
    store: Store
    cells: CellList
    names: RegionNames
    tolerance: Tolerance
    progress: Callable[[str], None]
    ahead: list[Noise]

    def week(self, week: Week, requested: tuple[datetime, datetime]) -> WeekDone:
        self.progress(f"week {week}: counting")
        with nullcontext(self.ahead.pop()) if self.ahead else drawing_noise(self.cells.sigmas) as noise:
            found = count_week(
                self.engine,
                self.cells,
                self.names,
                week,
                requested,
                self.tolerance,
                lambda day: self.progress(f"week {week}: {day}"),
                [shown.text for shown in self.store.shown_texts()],
            )
            self._require_plausible(week, found.counts)
            noisy = add_noise(found.counts, self.cells.sigmas, noise)
        top = self._top_searches(week, found.texts)
        entry = self._entry(week, noisy, top, found.vocabulary)
        self.store.commit_week(week, noisy, entry, _model_record(self.engine), top)
        self.progress(f"week {week}: committed")
        return WeekDone(week, False, found.unused, found.unknown, self.engine.log.times.unit)

    def _require_plausible(self, week: Week, counts: Counts) -> None:
        """Refuse a week whose counts are implausible next to the week before, without a number in the message."""
        edition = self.store.edition_of(week.first_day)  # those of others have other cells
        known = [entry.week for entry in self.store.entries() if self.store.edition_of(entry.week) is edition]
        before = week_to_compare(week, known)
        if before is None:
            return
        noisy = self.store.noisy_counts(week_of(self.cells.coverage.spec, before))
        changes = implausible_changes(self.cells, counts, noisy)
        standing = [change for change in changes if change.kind not in self.tolerance.accepted]
        for kind in dict.fromkeys(change.kind for change in standing):
            raise LogError(
                f"week {week}: {described_changes(kind, [c for c in standing if c.kind == kind])} next to week "
                f"{before}, beyond its noise; nothing was spent: see the numbers with 'search-insights check', fix the "
                f"log, or go on with `accepted` {kind}"
            )

    def _top_searches(self, week: Week, exact: TextCounts | None) -> TopSearchWeek | None:
        """Add noise to the texts of a week; None if the spec has no top searches, or the log no texts."""
        top = self.cells.coverage.spec.top_searches
        if top is None or exact is None:
            return None
        known = [shown.text for shown in self.store.shown_texts()]
        found = noisy_top_searches(top, exact, known, self.cells.coarsest.size)
        return _to_commit(self.store, week, found, self.cells.coverage.spec)

    def _entry(self, week: Week, noisy: Counts, top: TopSearchWeek | None, vocabulary: str) -> LedgerEntry:
        spec = self.cells.coverage.spec
        times, (begins_at, ends_at) = self.engine.log.times, instants_of(week)
        missing = sorted(day for day in week.days if day in self.tolerance.missing_days)
        return LedgerEntry(
            week=week.first_day,
            committed_at=datetime.now(UTC).date().isoformat(),
            epsilon=spec.promise.epsilon,
            delta=spec.promise.delta,
            mechanism=MECHANISM,
            cells=noisy.size,
            checksum=checksum(week.first_day, noisy),
            spec=spec.fingerprint,
            geography=self.cells.coverage.geography.fingerprint,
            engine=self.engine.name,
            program=metadata.version("search-insights"),
            missing_days=" ".join(str(day) for day in missing),
            classifier=_fingerprint(self.engine),
            naive_zone=times.naive_zone,
            begins_at=begins_at,
            ends_at=ends_at,
            times=times.recorded,
            zone_data=zone_data_version(),
            time_column=self.engine.log.source.column("timestamp"),
            top_searches=top.checksum if top else "",
            vocabulary=vocabulary if top else "",
        )


def _to_commit(store: Store, week: Week, found: TopSearchCounts, spec: Spec) -> TopSearchWeek:
    """Return a week's noisy texts as the store has them: in the order of the public list, to which new ones are added.

    What is recorded of a new text follows from the text, the model and the packaged synonyms, all of them public.
    """
    known = store.shown_texts()
    new = np.flatnonzero(found.is_new)
    texts = [found.texts[i] for i in new]
    row = {text: i for i, text in enumerate(found.texts)}
    order = np.array([*(row[shown.text] for shown in known), *new], dtype=np.int64)
    categories = [spec.categories[number].id for number in found.categories[new].tolist()]
    keys = cluster_keys(texts, load_synonyms())
    added = [ShownText(*facts, week.first_day) for facts in zip(texts, categories, keys, strict=True)]
    before = week.first_day - timedelta(days=DAYS_OF_WEEK)
    return TopSearchWeek(
        week.first_day,
        (*known, *added),
        np.column_stack([found.users, found.by_region])[order],
        before if store.top_searches(before) is not None else None,
    )


def _fingerprint(engine: Engine) -> str:
    """Return the fingerprint of the model that classifies queries; empty if the log has categories."""
    return engine.model.fingerprint if engine.model else ""


def _model_record(engine: Engine) -> ModelRecord | None:
    """Return what readers may know of the model that classifies queries, from its file alone."""
    if engine.model is None:
        return None
    return ModelRecord(engine.model.fingerprint, json.dumps(engine.model.public_facts, sort_keys=True))


def week_to_compare(week: Week, known: Sequence[date]) -> date | None:
    """Return the known week next to which a week should look plausible: the nearest before it, or else after it."""
    before, after = ([day for day in known if test(day)] for test in (week.first_day.__gt__, week.first_day.__lt__))
    return max(before) if before else min(after, default=None)


def _known_weeks(store: Store) -> list[FinalWeek]:
    """Return all weeks that became final; the lost ones are only in the journal, and may be published."""
    finals = read_journal(store.path).weeks | {entry.week: entry.final for entry in store.entries()}
    return [finals[first_day] for first_day in sorted(finals)]


def require_zone_answered(store: Store | None, engine: Engine, weeks: Sequence[Week]) -> None:
    """Refuse times without a zone if nobody has said which zone they are in: `naive_zone`, or an earlier week."""
    log, zone = engine.log, engine.log.times.naive_zone
    if not zone or log.source.naive_zone:
        return
    if store is not None and any(final.naive_zone == zone for final in _known_weeks(store)):
        return
    near = log.between(weeks[0].begin - MARGIN, weeks[-1].end + MARGIN)
    if not engine.ask(f"SELECT 1 FROM log WHERE {near} LIMIT 1"):
        return  # no zone would help, and the log is refused for its missing days
    raise LogError(
        f"{described(log.source)}: column {log.source.column('timestamp')!r}: its times have no zone, and a wrong one "
        f"puts searches on other days; say which with `naive_zone` {zone}, if that is their zone"
    )


def require_same_times(store: Store, log: OpenLog, weeks: Sequence[Week]) -> None:
    """Refuse times that are read otherwise than in the nearest weeks: searches near midnight could count in two."""
    known = _known_weeks(store)
    times, column = log.times, log.source.column("timestamp")
    for week in weeks:
        before = [final for final in known if final.week < week.first_day][-1:]
        after = [final for final in known if final.week > week.first_day][:1]
        for final in (*before, *after):
            if (final.times, final.naive_zone) != (times.recorded, times.naive_zone):
                raise InputError(
                    f"{store.path}: the times of week {final.week} were read as {final.reading}, those of week {week} "
                    f"would be read as {described_reading(times.recorded, times.naive_zone)}; searches near midnight "
                    "could count in both. Write the times as before"
                    f"{f', use `naive_zone` {final.naive_zone}' if final.naive_zone else ''}, or, if you have checked "
                    "that they are the same instants, say `times_changed`"
                )
            if final.time_column not in ("", column):
                raise InputError(
                    f"{store.path}: the times of week {final.week} were read from column {final.time_column!r}, those "
                    f"of week {week} would be read from column {column!r}; by another clock, searches could count in "
                    f"both. Use `columns` timestamp={final.time_column}, or, if you have checked that both hold the "
                    "same instants, say `times_changed`"
                )


def require_same_model(store: Store, engine: Engine, weeks: Sequence[Week]) -> None:
    """Refuse another model than that of the nearest week: trends would jump although nobody searched differently."""
    model_of = {entry.week: entry.classifier for entry in store.entries() if entry.classifier}
    classifier = _fingerprint(engine)
    for week in weeks if classifier else ():
        nearest = week_to_compare(week, sorted(model_of))
        if nearest is not None and model_of[nearest] != classifier:
            raise InputError(
                f"{store.path}: week {nearest} was classified by another model ({model_of[nearest][:12]}, now "
                f"{classifier[:12]}), so values may jump; use that one with `model` FILE, or say `model_changed`"
            )


def require_ended(weeks: Sequence[Week], now: datetime) -> None:
    """Refuse a week that is not over."""
    for week in weeks:
        if not week.is_over(now):
            raise InputError(
                f"week {week} is not over (it ends {week.end:%Y-%m-%d %H:%M} UTC); a week is noised once, "
                "so wait until it ends"
            )
