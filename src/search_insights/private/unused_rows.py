"""Which rows of a week's log were not used, and why: the same queries for every engine."""

from collections.abc import Callable, Sequence
from typing import Any

from search_insights.errors import LogError
from search_insights.private.engine import Unplaced, UnusedRows
from search_insights.support.sql import literal

# Runs a query over the views `log` and `log_files` (the log with the file of each row).
Ask = Callable[[str], Sequence[Sequence[Any]]]


def find_unused_rows(
    ask: Ask,
    of_week: str,
    of_requested: str,
    used: int,
    unplaced: Unplaced,
    *,
    has_files: bool = True,
    all_of_week: bool = False,
    files: Sequence[str] | None = None,
    slow_files: bool = False,
) -> UnusedRows:
    """Count the rows of a week that were not used, by reason; read the log again only if there are others than those
    that were found while it was bounded.

    A file that holds events of the week should hold little else than the requested weeks. A table, which has no files,
    may hold years. `all_of_week` says that every row is known to have a time within the week, `files` are those that
    hold events of the week, if they are known, and `slow_files` says that an engine is slow to tell the file of a row,
    and does not leave out files that are not asked for.
    """
    found = (ask, of_week, used, unplaced)
    all_rows = _number(ask, "SELECT count(*) FROM log")
    if all_of_week or all_rows == used + unplaced.total:
        return _with_reasons(*found, all_rows, 0)
    no_time = "SELECT count(*) FROM log WHERE timestamp IS NULL"
    if not has_files:
        rows, outside = _number(ask, f"SELECT count(*) FROM log WHERE {of_week}"), _number(ask, no_time)
        return _with_reasons(*found, rows, outside)
    if slow_files:  # if all rows are of the requested weeks, no file has others
        rows, outside = _by_time(ask, of_week, of_requested, "log")
        if not outside:
            return _with_reasons(*found, rows, outside)
    if files is None:
        files = [row[0] for row in ask(f"SELECT DISTINCT file FROM log_files WHERE {of_week}")]
    if not files:
        return _with_reasons(*found, 0, _number(ask, no_time))
    in_files = f"log_files WHERE file IN ({', '.join(literal(file) for file in files)})"
    rows, outside = _by_time(ask, of_week, of_requested, in_files)
    return _with_reasons(*found, rows, outside)


def _by_time(ask: Ask, of_week: str, of_requested: str, source: str) -> tuple[int, int]:
    """Count the rows of the week, and those outside the requested weeks."""
    ((rows, requested, total),) = ask(f"""
        SELECT count(*) FILTER (WHERE {of_week}), count(*) FILTER (WHERE {of_requested}), count(*) FROM {source}""")
    return rows, total - requested


def _with_reasons(ask: Ask, of_week: str, used: int, unplaced: Unplaced, rows: int, outside: int) -> UnusedRows:
    """Add why rows of the week were not used. They must add up, or the log was being written while it was counted.

    What rows say is read once, when they are bounded. So this notices rows that come or go, not words that change.
    """
    with_user, no_user = used + unplaced.total, 0
    if with_user != rows:
        no_user = _number(ask, f"SELECT count(*) FROM log WHERE {of_week} AND user_id IS NULL")
    if with_user + no_user != rows:
        raise LogError("the log changed while it was read; nothing was spent: run again when it is complete")
    return UnusedRows(
        rows=rows + outside,
        no_user=no_user,
        no_region=unplaced.no_region,
        country_only=unplaced.country_only,
        unknown_region=unplaced.unknown_region,
        outside=outside,
    )


def _number(ask: Ask, sql: str) -> int:
    return int(ask(sql)[0][0])
