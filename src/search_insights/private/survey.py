"""What a log holds, for the publisher to look at before anything is spent. All of it is private.

The same queries run on every engine. What they return is small whatever the log holds: sums, and the most frequent
values up to a limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from search_insights.private.bounding import UNKNOWN_CATEGORY
from search_insights.private.counting import MARGIN
from search_insights.private.engine import Engine
from search_insights.private.region_names import CLASS_BITS, NameColumn, RegionNames
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week

FREQUENT = 10  # how many of the most frequent values are shown
_HOURS = 24
# A few hours are empty by chance in a small log. With so many rows in the same hours of the next day, they are not.
_ROWS_TO_BE_MISSED = 50


@dataclass(frozen=True, slots=True)
class Frequent:
    """A value of the log, and how many rows have it."""

    value: str
    rows: int


@dataclass(frozen=True, slots=True)
class Times:
    """How times are read, and how many rows lie where.

    kind, zone    as in `TimeReading`; the zone is empty where times have their own
    first, last   the earliest and the latest time, in `zone`, or else in UTC
    unreadable    rows without a time, or with one that cannot be read
    inside        rows between the first and the last of the requested weeks
    day_before    rows of the day before them, which are ignored
    day_after     rows of the day after them, which are ignored
    elsewhere     rows of other times
    """

    column: str
    kind: str
    zone: str
    first: str
    last: str
    unreadable: int
    inside: int
    day_before: int
    day_after: int
    elsewhere: int


@dataclass(frozen=True, slots=True)
class LevelCodes:
    """How many rows name a region of a level in a column, and how many of the level's regions occur.

    Ambiguous codes are a level of their own.
    """

    column: str
    level: str
    rows: int
    regions: int
    known: int


@dataclass(frozen=True, slots=True)
class UnknownCodes:
    """The most frequent names in a column that are not in the geography."""

    column: str
    codes: tuple[Frequent, ...]


@dataclass(frozen=True, slots=True)
class CategoryRows:
    """How many rows have a category (its id, `none`, or `unknown`), and how the log writes it, or its texts."""

    category: str
    rows: int
    per_100_000: float
    frequent: tuple[Frequent, ...]


def rows_of(engine: Engine) -> int:
    """Return the number of rows of a log."""
    return int(engine.ask("SELECT count(*) FROM log")[0][0])


def survey_times(engine: Engine, requested: tuple[datetime, datetime]) -> Times:
    """Find how times are read, and where the rows lie."""
    (begin, end), log = requested, engine.log
    parts = ((begin, end), (begin - MARGIN, begin), (end, end + MARGIN))
    filters = ", ".join(f"count(*) FILTER (WHERE {log.between(*part)})" for part in parts)
    ((rows, with_time, inside, before, after, first, last),) = engine.ask(f"""
        SELECT count(*), count(timestamp), {filters}, CAST(min(timestamp) AS STRING), CAST(max(timestamp) AS STRING)
        FROM log""")
    return Times(
        column=log.source.column("timestamp"),
        kind=log.times.recorded,
        zone=log.times.naive_zone,
        first=_without_offset(first),
        last=_without_offset(last),
        unreadable=rows - with_time,
        inside=inside,
        day_before=before,
        day_after=after,
        elsewhere=with_time - inside - before - after,
    )


def _without_offset(time: str | None) -> str:
    """Return a time as every engine writes it: DuckDB adds the offset of UTC, Spark does not."""
    return (time or "").removesuffix("+00")


def survey_days(engine: Engine, week: Week) -> dict[date, int]:
    """Count all rows of each day of a week, also those that cannot be used."""
    filters = (f"count(*) FILTER (WHERE {engine.log.between(*week.day_bounds(day))})" for day in week.days)
    (counts,) = engine.ask(f"SELECT {', '.join(filters)} FROM log WHERE {engine.log.between(week.begin, week.end)}")
    return dict(zip(week.days, counts, strict=True))


def shifted_times(engine: Engine, requested: tuple[datetime, datetime], times: Times) -> str:
    """Say if the times seem to be shifted: one end of the requested weeks is empty, and rows lie beyond the other.

    A log that was cut at its own midnight looks like this if its times are read in another zone. Return an empty text
    if they do not.
    """
    begin, end = requested
    if times.day_after >= _ROWS_TO_BE_MISSED and (hours := _empty_hours(engine, begin, timedelta(hours=1))):
        return _described_shift(hours, "first", "after")
    if times.day_before >= _ROWS_TO_BE_MISSED and (hours := _empty_hours(engine, end, timedelta(hours=-1))):
        return _described_shift(hours, "last", "before")
    return ""


def _described_shift(hours: int, which: str, beyond: str) -> str:
    return (
        f"the {which} {hours} hours of the weeks are empty, and rows lie {beyond} the weeks; are the times read in the "
        "right zone?"
    )


def _empty_hours(engine: Engine, edge: datetime, hour: timedelta) -> int:
    """Return how many whole hours from an edge inwards are empty while those of the next day are not."""
    spans = [sorted((edge + i * hour, edge + (i + 1) * hour)) for i in range(2 * _HOURS)]
    filters = ", ".join(f"count(*) FILTER (WHERE {engine.log.between(*span)})" for span in spans)
    within = engine.log.between(min(spans)[0], max(spans)[1])
    (rows,) = engine.ask(f"SELECT {filters} FROM log WHERE {within}")
    empty = next((i for i, n in enumerate(rows[:_HOURS]) if n), _HOURS)
    return empty if sum(rows[_HOURS : _HOURS + empty]) >= _ROWS_TO_BE_MISSED else 0


def survey_codes(engine: Engine, coverage: Coverage, names: RegionNames, of_week: str) -> tuple[LevelCodes, ...]:
    """Count the rows that name a region of each level, and the regions that are named."""
    return tuple(codes for column in names.columns for codes in _codes_of(engine, coverage, column, of_week))


def _codes_of(engine: Engine, coverage: Coverage, column: NameColumn, of_week: str) -> list[LevelCodes]:
    found = engine.ask(f"""
        SELECT names.bits, count(*) FROM log JOIN {column.table} AS names ON names.name = log.{column.log_column}
        WHERE user_id IS NOT NULL AND {of_week} GROUP BY names.bits""")
    bits, rows = np.array(found, dtype=np.int64).reshape(-1, 2).T
    regions = column.regions(bits >> CLASS_BITS)
    levels = np.array([region.level for region in coverage.geography.regions] + ["ambiguous"], dtype=object)
    of_level = levels[regions]  # the last one for -1, a code that means no region
    known = list(levels[:-1])
    return [
        LevelCodes(
            column.role, level, int(rows[of_level == level].sum()), int((of_level == level).sum()), known.count(level)
        )
        for level in dict.fromkeys((*coverage.geography.levels, "ambiguous"))
        if (of_level == level).any()
    ]


def survey_unknown_codes(engine: Engine, names: RegionNames, of_week: str) -> tuple[UnknownCodes, ...]:
    """Find the most frequent names that are not in the geography, column by column."""
    found = [UnknownCodes(column.role, _unknown_in(engine, column, of_week)) for column in names.columns]
    return tuple(unknown for unknown in found if unknown.codes)


def _unknown_in(engine: Engine, column: NameColumn, of_week: str) -> tuple[Frequent, ...]:
    given = f"log.{column.log_column}"
    return _frequent(
        engine,
        f"""SELECT {given} AS value, count(*) AS n
        FROM log LEFT JOIN {column.table} AS names ON names.name = {given}
        WHERE user_id IS NOT NULL AND {given} IS NOT NULL AND names.name IS NULL AND {of_week} GROUP BY {given}""",
        FREQUENT,
    )


def survey_categories(engine: Engine, spec: Spec, of_week: str) -> tuple[CategoryRows, ...]:
    """Count the rows of each category as the log writes it; values beyond the most frequent ones are left out."""
    values = _frequent(
        engine,
        f"""SELECT coalesce(category, '') AS value, count(*) AS n
        FROM log WHERE {of_week} GROUP BY coalesce(category, '')""",
        FREQUENT + 2 * len(spec.categories),
    )
    ((rows,),) = engine.ask(f"SELECT count(*) FROM log WHERE {of_week}")
    numbers = {"": 0} | spec.category_numbers
    of_number: dict[int, list[Frequent]] = {i: [] for i in range(len(spec.categories))}
    for value in values:
        of_number.setdefault(numbers.get(value.value, UNKNOWN_CATEGORY), []).append(value)
    return tuple(
        category_rows(spec, number, sum(v.rows for v in found), rows, found) for number, found in of_number.items()
    )


def category_rows(spec: Spec, number: int, rows: int, of: int, frequent: Sequence[Frequent]) -> CategoryRows:
    """Return how many rows of a week have a category, given by its number."""
    names = ["none", *(category.id for category in spec.categories[1:])]
    category = names[number] if number < len(names) else "unknown"
    return CategoryRows(category, rows, round(1e5 * rows / max(of, 1), 1), tuple(frequent[:FREQUENT]))


def _frequent(engine: Engine, grouped: str, most: int) -> tuple[Frequent, ...]:
    """Return the most frequent values of a query of (value, n)."""
    rows = engine.ask(f"SELECT value, n FROM ({grouped}) AS grouped ORDER BY n DESC, value LIMIT {most}")
    return tuple(Frequent(str(value), int(n)) for value, n in rows)
