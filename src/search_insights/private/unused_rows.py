"""Which rows of a week's log were not used, and why: the same queries for every engine."""

from collections.abc import Callable, Sequence
from typing import Any

from search_insights.errors import LogError
from search_insights.private.bounding import named
from search_insights.private.engine import UnusedRows
from search_insights.private.region_names import RegionNames
from search_insights.support.sql import literal

# Runs a query over the views `log`, `log_files` (the log with the file of each row) and `names`.
Ask = Callable[[str], Sequence[Sequence[Any]]]


def find_unused_rows(
    ask: Ask,
    names: RegionNames,
    of_week: str,
    of_requested: str,
    used: int,
    country: Sequence[str],
    *,
    has_files: bool = True,
    all_of_week: bool = False,
    slow_files: bool = False,
) -> UnusedRows:
    """Count the rows of a week that were not used, by reason; look closely only if not all rows of all files were used.

    A file that holds events of the week should hold little else than the requested weeks. A table, which has no files,
    may hold years. `all_of_week` says that every row is known to have a time within the week, `slow_files` that an
    engine is slow to tell the file of a row, and does not leave out files that are not asked for.
    """
    all_rows = _number(ask, "SELECT count(*) FROM log")
    if used == all_rows:
        return UnusedRows(rows=used)
    if all_of_week:
        return _with_reasons(ask, names, of_week, used, all_rows, 0, country)
    no_time = "SELECT count(*) FROM log WHERE timestamp IS NULL"
    if not has_files:
        rows, outside = _number(ask, f"SELECT count(*) FROM log WHERE {of_week}"), _number(ask, no_time)
        return _with_reasons(ask, names, of_week, used, rows, outside, country)
    if slow_files:  # if all rows are of the requested weeks, no file has others
        rows, outside = _by_time(ask, of_week, of_requested, "log")
        if not outside:
            return _with_reasons(ask, names, of_week, used, rows, outside, country)
    files = [row[0] for row in ask(f"SELECT DISTINCT file FROM log_files WHERE {of_week}")]
    if not files:
        outside = _number(ask, no_time)
        return UnusedRows(rows=outside, outside=outside)
    in_files = f"log_files WHERE file IN ({', '.join(literal(file) for file in files)})"
    rows, outside = _by_time(ask, of_week, of_requested, in_files)
    return _with_reasons(ask, names, of_week, used, rows, outside, country)


def _by_time(ask: Ask, of_week: str, of_requested: str, source: str) -> tuple[int, int]:
    """Count the rows of the week, and those outside the requested weeks."""
    ((rows, requested, total),) = ask(f"""
        SELECT count(*) FILTER (WHERE {of_week}), count(*) FILTER (WHERE {of_requested}), count(*) FROM {source}""")
    return rows, total - requested


def _with_reasons(
    ask: Ask, names: RegionNames, of_week: str, used: int, rows: int, outside: int, country: Sequence[str]
) -> UnusedRows:
    """Add why rows of the week were not used. They must add up, or the log was being written while it was counted."""
    reasons = _reasons(ask, names, of_week, country) if used != rows else (0, 0, 0, 0)
    if used + sum(reasons) != rows:
        raise LogError("the log changed while it was read; nothing was spent: run again when it is complete")
    return UnusedRows(rows + outside, *reasons, outside)


def _reasons(ask: Ask, names: RegionNames, condition: str, country: Sequence[str]) -> tuple[int, int, int, int]:
    """Count the rows without a user, without a region, known to the country only, and with an unknown region.

    There are few regions: the rows of each are counted before its name is looked up.
    """
    # As hexadecimal digits, because engines differ in how they read a backslash in a literal.
    of_country = f"hex(region) IN ({', '.join(literal(name.encode('utf-8').hex().upper()) for name in country)})"
    unknown = "region IS NOT NULL AND name IS NULL"
    regions = ", ".join(column.log_column for column in names.columns)
    by_region = f"""
        SELECT {regions}, count(*) AS all_rows, count(user_id) AS with_user
        FROM log WHERE {condition} GROUP BY {regions}"""
    (row,) = ask(f"""
        SELECT sum(all_rows - with_user),
               sum(with_user) FILTER (WHERE region IS NULL),
               sum(with_user) FILTER (WHERE {unknown} AND {of_country if country else "false"}),
               sum(with_user) FILTER (WHERE {unknown} AND NOT {of_country if country else "false"})
        FROM ({named(names, f"({by_region})")}) AS named""")
    no_user, no_region, country_only, unknown_region = (int(rows or 0) for rows in row)
    return no_user, no_region, country_only, unknown_region


def _number(ask: Ask, sql: str) -> int:
    return int(ask(sql)[0][0])
