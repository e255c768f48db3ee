"""Which rows of a week's log were not used, and why: the same queries for every engine."""

from collections.abc import Callable, Sequence
from typing import Any

from search_insights.errors import LogError
from search_insights.private.engine import UnusedRows
from search_insights.support.sql import literal

# Runs a query over the views `log`, `log_files` (the log with the file of each row) and `names`.
Ask = Callable[[str], Sequence[Sequence[Any]]]


def find_unused_rows(
    ask: Ask, of_week: str, of_requested: str, used: int, country: Sequence[str], has_files: bool = True
) -> UnusedRows:
    """Count the rows of a week that were not used, by reason; look closely only if not all rows of all files were used.

    A file that holds events of the week should hold little else than the requested weeks. A table, which has no files,
    may hold years.
    """
    if used == _number(ask, "SELECT count(*) FROM log"):
        return UnusedRows(rows=used)
    if not has_files:
        no_time = _number(ask, "SELECT count(*) FROM log WHERE timestamp IS NULL")
        rows = _number(ask, f"SELECT count(*) FROM log WHERE {of_week}")
        return _with_reasons(ask, of_week, used, rows, no_time, country)
    counts = f"count(*) FILTER (WHERE {of_week}), count(*) FILTER (WHERE {of_requested}), count(*)"
    ((rows, requested, total),) = ask(f"SELECT {counts} FROM log")
    if requested == total:  # then no file has a row outside, and it need not be known which row is of which file
        return _with_reasons(ask, of_week, used, rows, 0, country)
    files = [found for _, *found in ask(f"SELECT file, {counts} FROM log_files GROUP BY file") if found[0]]
    if not files:
        outside = _number(ask, "SELECT count(*) FROM log WHERE timestamp IS NULL")
        return UnusedRows(rows=outside, outside=outside)
    rows, requested, total = (sum(numbers) for numbers in zip(*files, strict=True))
    return _with_reasons(ask, of_week, used, rows, total - requested, country)


def _with_reasons(ask: Ask, of_week: str, used: int, rows: int, outside: int, country: Sequence[str]) -> UnusedRows:
    """Add why rows of the week were not used. They must add up, or the log was being written while it was counted."""
    reasons = _reasons(ask, of_week, country) if used != rows else (0, 0, 0, 0)
    if used + sum(reasons) != rows:
        raise LogError("the log changed while it was read; nothing was spent: run again when it is complete")
    return UnusedRows(rows + outside, *reasons, outside)


def _reasons(ask: Ask, condition: str, country: Sequence[str]) -> tuple[int, int, int, int]:
    """Count the rows without a user, without a region, known to the country only, and with an unknown region."""
    # As hexadecimal digits, because engines differ in how they read a backslash in a literal.
    names = ", ".join(literal(name.encode("utf-8").hex().upper()) for name in country)
    of_country = f"hex(region) IN ({names})" if country else "false"
    unknown = "user_id IS NOT NULL AND region IS NOT NULL AND name IS NULL"
    # Nearly all rows were used, and are left out before anything is counted: this takes a third of the time.
    (row,) = ask(f"""
        SELECT count(*) FILTER (WHERE user_id IS NULL),
               count(*) FILTER (WHERE user_id IS NOT NULL AND region IS NULL),
               count(*) FILTER (WHERE {unknown} AND {of_country}),
               count(*) FILTER (WHERE {unknown} AND NOT {of_country})
        FROM named_log WHERE {condition} AND (user_id IS NULL OR region IS NULL OR name IS NULL)""")
    return row[0], row[1], row[2], row[3]


def _number(ask: Ask, sql: str) -> int:
    return int(ask(sql)[0][0])
