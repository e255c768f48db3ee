"""Counting a week: day by day, from bounded contributions to the exact counts of the cells (Section 3).

The counts are private until noise is added; they stay in memory. A log that is not fit for publication is refused here,
before anything is spent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np

from search_insights.errors import LogError, MissingDays
from search_insights.private.engine import Contributions, Engine, UnusedRows
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.spec.cells import CellList
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts, Numbers

# Events this close to the requested weeks do not count against a log: files may be cut at another midnight.
_MARGIN = timedelta(days=1)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may be wrong with a log before its week is refused."""

    max_unused: float = 0.05
    missing_days: frozenset[date] = frozenset()
    other_weeks: bool = False


@dataclass(frozen=True, slots=True)
class WeekCounts:
    """The exact counts of a week's cells, and what the operator should know about its log. Private.

    `unknown` counts, for each level with a column, the rows that were used but name no known region in that column.
    """

    counts: Counts
    unused: UnusedRows
    unknown: Mapping[str, int] = field(default_factory=dict)


def count_week(
    engine: Engine,
    cells: CellList,
    names: RegionNames,
    week: Week,
    requested: tuple[datetime, datetime],
    tolerance: Tolerance,
    progress: Progress,
) -> WeekCounts:
    """Bound and count a week; refuse it if its log is not fit for publication."""
    counts = cells.zeros()
    empty_days: list[date] = []
    used, no_region = 0, np.zeros(len(names.columns), dtype=np.int64)
    for day in week.days:
        begin, end = week.day_bounds(day)
        found = engine.bound(day, begin, end)
        _require_known_categories(found, cells.coverage.spec, day, engine.log.source.column("category"))
        _require_clear_codes(found, names, day, engine.log.source.column("region"))
        no_region = no_region + np.array(found.no_region)
        used += found.events
        add_contributions(counts, cells, names, found)
        if not found.events:
            empty_days.append(day)
        progress(f"{day:%a}")
    asked, country = (requested[0] - _MARGIN, requested[1] + _MARGIN), cells.coverage.geography.country
    unused = engine.unused_rows(week.begin, week.end, asked, used, (country.code, country.place_id))
    _require_few_unused(unused, week, tolerance)
    unknown = dict(zip((c.role for c in names.columns), no_region.tolist(), strict=True)) if names.by_level else {}
    _require_few_unknown(unknown, used, week, tolerance, engine.log.source)
    _require_no_missing_days([day for day in empty_days if day not in tolerance.missing_days], week)
    return WeekCounts(counts, unused, {level: rows for level, rows in unknown.items() if rows})


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
        counted = np.flatnonzero(places >= 0)
        first_cells = cells.first_cells(_regions(spec, names, places[counted]))
        for level in levels:
            reported = first_cells[level] >= 0
            numbers = first_cells[level] + found.categories[counted]
            np.add.at(counts, numbers[reported], found.user_days[counted][reported])


def _add_in_one_place(counts: Counts, cells: CellList, names: RegionNames, found: Contributions) -> None:
    """Add what each user-day measures, in its one place, at every level that the place has."""
    spec = cells.coverage.spec
    amounts = measure_values(spec.measures, spec.topics, found.categories) * found.user_days[:, None]
    for first_cells in cells.first_cells(_regions(spec, names, found.open_places)).values():
        reported = first_cells >= 0
        numbers = first_cells[reported, None] + np.arange(len(spec.measures))
        np.add.at(counts, numbers, amounts[reported])


def _regions(spec: Spec, names: RegionNames, places: Numbers) -> dict[str, Numbers]:
    return {level: names.regions_for(level, places) for level in spec.level_names}


def _require_known_categories(found: Contributions, spec: Spec, day: date, column: str) -> None:
    if found.unknown_category:
        words = ", ".join(f"{c.id} or {c.name}" for c in spec.categories[1:])
        raise LogError(
            f"column {column!r}: rows of {day} have an unknown value; expected {words}, or nothing for other searches"
        )


def _require_clear_codes(found: Contributions, names: RegionNames, day: date, column: str) -> None:
    """Refuse a log with ambiguous codes: read as one level, searches of the other would count in the wrong place."""
    if not names.by_level and found.no_region[0]:
        levels = " or ".join(names.sharing)
        raise LogError(
            f"column {column!r}: rows of {day} have bare codes that may be of a {levels}; say which level all bare "
            f"codes belong to with `code_level` {names.sharing[-1]}, give a column for each level with `columns`, or "
            "write place_ids"
        )


def _require_few_unused(unused: UnusedRows, week: Week, tolerance: Tolerance) -> None:
    counted = unused.total - (unused.outside if tolerance.other_weeks else 0)
    if counted > tolerance.max_unused * unused.rows:
        other = "; `other_weeks` if the files are meant to hold other weeks too" if unused.outside else ""
        raise LogError(
            f"week {week}: {counted:,} of {unused.rows:,} rows cannot be used ({unused.describe()}), more than "
            f"{100 * tolerance.max_unused:g}%; fix the log, or allow more with `max_unused`{other}"
        )


def _require_few_unknown(
    unknown: Mapping[str, int], used: int, week: Week, tolerance: Tolerance, source: LogSource
) -> None:
    """Refuse a log in which a level's column is often wrong: the counts of that level would be too small."""
    for level, rows in unknown.items():
        if rows > tolerance.max_unused * used:
            raise LogError(
                f"week {week}: column {source.column(level)!r}: {rows:,} of {used:,} rows name no {level} of the "
                f"geography, more than {100 * tolerance.max_unused:g}%; fix the log, leave the value empty where it is "
                "not known, or allow more with `max_unused`"
            )


def _require_no_missing_days(missing: list[date], week: Week) -> None:
    if missing:
        days = ", ".join(f"{day:%A} {day}" for day in missing)
        raise MissingDays(f"week {week}: no usable event on {days}; is the log complete?", missing)
