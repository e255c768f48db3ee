"""Counting a week: day by day, from bounded contributions to the exact counts of the cells (Section 3).

The counts are private until noise is added; they stay in memory. A log that is not fit for publication is refused here,
before anything is spent. What makes it unfit is one list, the objections: `count_week` refuses at the first, and
a check of the log collects them all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np

from search_insights.errors import InputError, LogError, MissingDays, SearchInsightsError
from search_insights.private.engine import Contributions, Engine, Unplaced, UnusedRows
from search_insights.private.log import LogSource
from search_insights.private.plausibility import ACCEPTABLE
from search_insights.private.region_names import RegionNames
from search_insights.private.top_searches import TextCounts, count_texts, vocabulary_for
from search_insights.spec.cells import CellList
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts, Numbers

# Events this close to the requested weeks do not count against a log: files may be cut at another midnight.
MARGIN = timedelta(days=1)

Progress = Callable[[str], None]
Objection = Callable[[str, LogError], None]  # takes the kind of what is wrong with a week, and its words


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may be wrong with a log before its week is refused.

    `accepted` are kinds of warnings that the publisher has looked into; only those of `ACCEPTABLE` can be accepted.
    """

    max_unused: float = 0.05
    missing_days: frozenset[date] = frozenset()
    other_weeks: bool = False
    accepted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for kind in sorted(self.accepted - ACCEPTABLE.keys()):
            raise InputError(f"`accepted` {kind}: the kinds that can be accepted are {', '.join(ACCEPTABLE)}")


@dataclass(frozen=True, slots=True)
class DayCounts:
    """How many events of a day were used, and of how many user-days they are. Private."""

    day: date
    events: int
    user_days: int


@dataclass(frozen=True, slots=True)
class WeekCounts:
    """The exact counts of a week's cells, and what the operator should know about its log. Private.

    `unknown` counts, for each level with a column, the rows that were used but name no known region in that column.
    `texts` are those of top searches, if they were asked for; `vocabulary` is the fingerprint of what they are made of.
    """

    counts: Counts
    unused: UnusedRows
    unknown: Mapping[str, int] = field(default_factory=dict)
    days: tuple[DayCounts, ...] = ()
    texts: TextCounts | None = None
    vocabulary: str = ""


def count_week(
    engine: Engine,
    cells: CellList,
    names: RegionNames,
    week: Week,
    requested: tuple[datetime, datetime],
    tolerance: Tolerance,
    progress: Progress,
    known_texts: Sequence[str] | None = None,
) -> WeekCounts:
    """Bound and count a week; refuse it if its log is not fit for publication.

    With the texts that are public already, also count texts, if the spec has top searches and the log has queries.
    """
    return tally_week(engine, cells, names, week, requested, tolerance, progress, _refuse, known_texts)


def _refuse(kind: str, error: LogError) -> None:
    raise error


def tally_week(
    engine: Engine,
    cells: CellList,
    names: RegionNames,
    week: Week,
    requested: tuple[datetime, datetime],
    tolerance: Tolerance,
    progress: Progress,
    object_to: Objection,
    known_texts: Sequence[str] | None = None,
) -> WeekCounts:
    """Bound and count a week; `object_to` learns of everything that makes its log unfit for publication."""
    with _forgetting_texts(engine):
        counts, source = cells.zeros(), engine.log.source
        days: list[DayCounts] = []
        no_region, unplaced = np.zeros(len(names.columns), dtype=np.int64), Unplaced()
        top = None if known_texts is None or engine.model is None else cells.coverage.spec.top_searches
        vocabulary = vocabulary_for(top) if top else None
        for day in week.days:
            found = engine.bound(day, *week.day_bounds(day), vocabulary)
            _object_to_unknown_categories(object_to, found, cells.coverage.spec, day, source.column("category"))
            _object_to_ambiguous_codes(object_to, found, names, day, source.column("region"))
            no_region, unplaced = no_region + np.array(found.no_region), unplaced + found.unplaced
            add_contributions(counts, cells, names, found)
            days.append(DayCounts(day, found.events, user_days(found, cells.coverage.spec)))
            progress(f"{day:%a}")
        used = sum(day.events for day in days)
        asked = (requested[0] - MARGIN, requested[1] + MARGIN)
        unused = engine.unused_rows(week.begin, week.end, asked, used, unplaced)
        _object_to_unused(object_to, unused, week, tolerance)
        unknown = dict(zip((c.role for c in names.columns), no_region.tolist(), strict=True)) if names.by_level else {}
        _object_to_unknown(object_to, unknown, used, week, tolerance, source)
        empty = [each.day for each in days if not each.events]
        _object_to_missing_days(object_to, [day for day in empty if day not in tolerance.missing_days], week)
        texts = count_texts(engine, cells, names, top, known_texts or ()) if top else None
        return WeekCounts(
            counts,
            unused,
            {level: rows for level, rows in unknown.items() if rows},
            tuple(days),
            texts,
            vocabulary.fingerprint if vocabulary else "",
        )


@contextmanager
def _forgetting_texts(engine: Engine) -> Iterator[None]:
    """Have an engine keep texts for one week only, also if it is refused or fails: a cluster may outlive this run."""
    engine.forget_texts()
    try:
        yield
    except BaseException:
        with suppress(SearchInsightsError):  # what went wrong first is what the operator should know
            engine.forget_texts()
        raise
    engine.forget_texts()


def user_days(found: Contributions, spec: Spec) -> int:
    """Return how many user-days contribute: each has one place, or counts once in any search, at the open levels."""
    counted = (found.open_places >= 0) & ((found.categories == 0) | spec.has_one_place)
    return int(found.user_days[counted].sum())


def add_contributions(counts: Counts, cells: CellList, names: RegionNames, found: Contributions) -> None:
    """Add a day's contributions to the counts: each place counts at its own levels (X1; X4 for the classed ones)."""
    spec = cells.coverage.spec
    if spec.has_one_place:
        _add_in_one_place(counts, cells, names, found)
        return
    parts = (
        (spec.open_levels, found.open_places),
        (spec.classed_levels[:-1], found.classed_places),
        (spec.classed_levels[-1:], found.finest_places),
    )
    for levels, places in parts:
        counted = np.flatnonzero((places >= 0) & (found.categories < len(spec.categories)))  # not an unknown one
        for first_cells in cells.first_cells(_regions(levels, names, places[counted])).values():
            reported = first_cells >= 0
            numbers = first_cells + found.categories[counted]
            np.add.at(counts, numbers[reported], found.user_days[counted][reported])


def _add_in_one_place(counts: Counts, cells: CellList, names: RegionNames, found: Contributions) -> None:
    """Add what each user-day measures, in its one place, at every level that the place has."""
    spec = cells.coverage.spec
    amounts = measure_values(spec.measures, spec.topics, found.categories) * found.user_days[:, None]
    for first_cells in cells.first_cells(_regions(spec.level_names, names, found.open_places)).values():
        reported = first_cells >= 0
        numbers = first_cells[reported, None] + np.arange(len(spec.measures))
        np.add.at(counts, numbers, amounts[reported])


def _regions(levels: Sequence[str], names: RegionNames, places: Numbers) -> dict[str, Numbers]:
    return {level: names.regions_for(level, places) for level in levels}


def _object_to_unknown_categories(
    object_to: Objection, found: Contributions, spec: Spec, day: date, column: str
) -> None:
    if found.unknown_category:
        words = ", ".join(f"{c.id} or {c.name}" for c in spec.categories[1:])
        message = (
            f"column {column!r}: rows of {day} have an unknown value; expected {words}, or nothing for other searches"
        )
        object_to("unknown-category", LogError(message))


def _object_to_ambiguous_codes(
    object_to: Objection, found: Contributions, names: RegionNames, day: date, column: str
) -> None:
    """Object to ambiguous codes: read as one level, searches of the other would count in the wrong place."""
    if not names.by_level and found.no_region[0]:
        levels = " or ".join(names.sharing)
        message = (
            f"column {column!r}: rows of {day} have bare codes that may be of a {levels}; say which level all bare "
            f"codes belong to with `code_level` {names.sharing[-1]}, give a column for each level with `columns`, or "
            "write place_ids"
        )
        object_to("ambiguous-codes", LogError(message))


def _object_to_unused(object_to: Objection, unused: UnusedRows, week: Week, tolerance: Tolerance) -> None:
    counted = unused.total - (unused.outside if tolerance.other_weeks else 0)
    if counted > tolerance.max_unused * unused.rows:
        other = "; `other_weeks` if the files are meant to hold other weeks too" if unused.outside else ""
        message = (
            f"week {week}: {counted:,} of {unused.rows:,} rows cannot be used ({unused.describe()}), more than "
            f"{100 * tolerance.max_unused:g}%; fix the log, or allow more with `max_unused`{other}"
        )
        object_to("unused-rows", LogError(message))


def _object_to_unknown(
    object_to: Objection, unknown: Mapping[str, int], used: int, week: Week, tolerance: Tolerance, source: LogSource
) -> None:
    """Object to a level's column that is often wrong: the counts of that level would be too small."""
    for level, rows in unknown.items():
        if rows > tolerance.max_unused * used:
            message = (
                f"week {week}: column {source.column(level)!r}: {rows:,} of {used:,} rows name no {level} of the "
                f"geography, more than {100 * tolerance.max_unused:g}%; fix the log, leave the value empty where it is "
                "not known, or allow more with `max_unused`"
            )
            object_to("unknown-regions", LogError(message))


def _object_to_missing_days(object_to: Objection, missing: list[date], week: Week) -> None:
    if missing:
        days = ", ".join(f"{day:%A} {day}" for day in missing)
        allowed = " ".join(f"`missing_days` {day}" for day in missing)
        message = f"week {week}: no usable event on {days}; is the log complete? If there really were none: {allowed}"
        object_to("missing-days", MissingDays(message, missing))
