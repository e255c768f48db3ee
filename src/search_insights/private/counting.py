"""Counting a week: day by day, from bounded contributions to the exact counts of the cells (Section 3).

The counts are private until noise is added; they stay in memory. A log that is not fit for publication is refused here,
before anything is spent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from search_insights.errors import LogError, MissingDays
from search_insights.private.engine import Contributions, Engine, UnusedRows
from search_insights.private.region_names import RegionNames
from search_insights.spec.cells import CellList
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts

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
    """The exact counts of a week's cells, and what the operator should know about its log. Private."""

    counts: Counts
    unused: UnusedRows


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
    used = 0
    for day in week.days:
        begin, end = week.day_bounds(day)
        found = engine.bound(day, begin, end)
        _require_known_categories(found, cells.coverage.spec, day, engine.log.source.column("category"))
        _require_clear_codes(found, names, day, engine.log.source.column("region"))
        used += found.events
        add_contributions(counts, cells, found)
        if not found.events:
            empty_days.append(day)
        progress(f"{day:%a}")
    asked, country = (requested[0] - _MARGIN, requested[1] + _MARGIN), cells.coverage.geography.country
    unused = engine.unused_rows(week.begin, week.end, asked, used, (country.code, country.place_id))
    _require_few_unused(unused, week, tolerance)
    _require_no_missing_days([day for day in empty_days if day not in tolerance.missing_days], week)
    return WeekCounts(counts, unused)


def add_contributions(counts: Counts, cells: CellList, found: Contributions) -> None:
    """Add a day's contributions to the counts: one region counts at open levels, the other at classed levels (X4)."""
    spec = cells.coverage.spec
    parts = ((spec.open_levels, found.open_regions), (spec.classed_levels, found.classed_regions))
    for levels, numbers in parts:
        known = np.flatnonzero(numbers >= 0)
        for level in levels:
            first_cells = cells.cells_above[level][numbers[known]]
            reported = first_cells >= 0
            np.add.at(counts, (first_cells + found.categories[known])[reported], found.user_days[known][reported])


def _require_known_categories(found: Contributions, spec: Spec, day: date, column: str) -> None:
    if found.unknown_category:
        words = ", ".join(f"{c.id} or {c.name}" for c in spec.categories[1:])
        raise LogError(
            f"column {column!r}: rows of {day} have an unknown value; expected {words}, or nothing for other searches"
        )


def _require_clear_codes(found: Contributions, names: RegionNames, day: date, column: str) -> None:
    """Refuse a log with ambiguous codes: read as one level, searches of the other would count in the wrong place."""
    if found.ambiguous:
        levels = " or ".join(names.sharing)
        raise LogError(
            f"column {column!r}: rows of {day} have bare codes that may be of a {levels}; say which level all bare "
            f"codes belong to with `code_level` {names.sharing[-1]}, or write place_ids, which are never ambiguous"
        )


def _require_few_unused(unused: UnusedRows, week: Week, tolerance: Tolerance) -> None:
    counted = unused.total - (unused.outside if tolerance.other_weeks else 0)
    if counted > tolerance.max_unused * unused.rows:
        other = "; `other_weeks` if the files are meant to hold other weeks too" if unused.outside else ""
        raise LogError(
            f"week {week}: {counted:,} of {unused.rows:,} rows cannot be used ({unused.describe()}), more than "
            f"{100 * tolerance.max_unused:g}%; fix the log, or allow more with `max_unused`{other}"
        )


def _require_no_missing_days(missing: list[date], week: Week) -> None:
    if missing:
        days = ", ".join(f"{day:%A} {day}" for day in missing)
        raise MissingDays(f"week {week}: no usable event on {days}; is the log complete?", missing)
