"""What a new release changes in the dataset that it replaces, value by value."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.dataset.added_weeks import weeks_added_to
from search_insights.dataset.folder import csv_table, published_columns, published_table
from search_insights.dataset.tables import file_stem
from search_insights.dataset.top_searches import moved_lines
from search_insights.errors import InputError
from search_insights.support.sql import identifier
from search_insights.trends.release import Release

if TYPE_CHECKING:
    import duckdb

_UNKNOWN_LEVEL = "(unknown)"  # of a region that the geography does not have
_WHERE = re.compile(r"date|place_id|(country|sub)_region.*")  # the columns that are not values
_COUNTS = 6  # as many as `_counts` has


@dataclass(frozen=True, slots=True)
class Change:
    """How many values of a level and trend there are, appear, change and vanish.

    `sparse` are those of the vanishing ones whose region is removed for sparsity; the others need a correction. `late`
    are those of the appearing ones that the published table could have had: it has their week and their trend.
    """

    level: str
    trend: str
    values: int
    appear: int
    change: int
    vanish: int
    sparse: int
    late: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A release beside a published table: changes by level and trend, and the regions that the table alone has.

    `lines` are those of top searches, in weeks that were published, that change, vanish or appear.
    """

    changes: tuple[Change, ...]
    gone: tuple[tuple[str, str], ...]  # level and place_id
    shown: frozenset[str]
    lines: int = 0

    @property
    def corrected(self) -> int:
        """The number of published values and lines that would change or disappear, other than for sparsity."""
        return self.lines + sum(change.change + change.vanish - change.sparse for change in self.changes)

    def moved(self, judged_again: bool) -> int:
        """Return how many values a change of derivation moves: those that change, disappear, or appear in old weeks.

        Regions that are removed as sparse for the first time are no part of it.
        """
        sparse = sum(change.sparse for change in self.changes) if judged_again else 0
        return self.corrected + sparse + sum(change.late for change in self.changes)


def compare(
    release: Release, out: Path, new: str, connection: "duckdb.DuckDBPyConnection", written: Path | None = None
) -> Comparison:
    """Compare the CSV file of a published folder, if there is one, with the rows of a release, as a table of SQL.

    If they are `written` already, a table that only has further weeks is known by its bytes.
    """
    import duckdb

    regions, old = release.trends.regions, table_in(release, out)
    if not old.exists():
        return _only_new(release, out, set())
    if written and _same_columns(release, out) and (weeks := weeks_added_to(old, written)) is not None:
        return _only_new(release, out, weeks)
    known = {
        "place_id": np.array([region.place_id for region in regions], dtype=object),
        "level": np.array([region.level for region in regions], dtype=object),
        "sparse": release.removed,
    }
    before = csv_table(old)
    connection.register("known_regions", known)
    try:
        pairs = _pairs(release, out, _header(before, connection))
        found = connection.execute(f"""
            WITH old_weeks AS (SELECT DISTINCT date AS old_week FROM {before})
            SELECT coalesce(k.level, '{_UNKNOWN_LEVEL}'), place_id, bool_or(o.date IS NOT NULL),
                   bool_or(n.date IS NOT NULL), {", ".join(_counts(o, n) for _, o, n in pairs)}
            FROM {before} AS o FULL JOIN {new} AS n USING (date, place_id) LEFT JOIN known_regions AS k USING (place_id)
                 LEFT JOIN old_weeks ON old_week = date
            GROUP BY ALL ORDER BY place_id""").fetchall()
    except duckdb.Error:
        raise unreadable(old) from None
    finally:
        connection.unregister("known_regions")
    return Comparison(
        changes=_changes(release, [name for name, _, _ in pairs], found),
        gone=tuple((level, place_id) for level, place_id, was_shown, is_shown, *_ in found if was_shown > is_shown),
        shown=frozenset(place_id for _, place_id, was_shown, *_ in found if was_shown),
        lines=moved_lines(release, out),
    )


def _only_new(release: Release, out: Path, weeks: Collection[date]) -> Comparison:
    """Return the comparison with a table of these weeks, or with none, that has the same values: others appear."""
    levels = np.array([region.level for region in release.trends.regions])
    old = np.array([week in weeks for week in release.trends.weeks])
    values, appear = (
        {level: rows[:, levels == level].sum(axis=(0, 1)).tolist() for level in release.levels}
        for rows in (release.published, release.published[~old])
    )
    changes = tuple(
        Change(level, trend.name, values[level][i], appear[level][i], 0, 0, 0, 0)
        for level in release.levels
        for i, trend in enumerate(release.columns)
    )
    was_shown = release.published[old].any(axis=(0, 2))
    shown = (region.place_id for region, was in zip(release.trends.regions, was_shown.tolist(), strict=True) if was)
    return Comparison(changes, (), frozenset(shown), moved_lines(release, out))


def _same_columns(release: Release, out: Path) -> bool:
    """Return whether each trend has the column that it had."""
    before = published_columns(out)
    return all(before.get(trend.id, trend.column) == trend.column for trend in release.columns)


def _header(table: str, connection: "duckdb.DuckDBPyConnection") -> list[str]:
    return [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()]


def _pairs(release: Release, out: Path, header: Sequence[str]) -> list[tuple[str, str | None, str | None]]:
    """Return the trends with their columns in the published table and in the release; None where there is none.

    A trend is known by its id, because its column may have been renamed. Values of a column that the release does not
    have any more vanish.
    """
    before = published_columns(out)
    pairs: list[tuple[str, str | None, str | None]] = []
    for trend in release.columns:
        old = before.get(trend.id, trend.column)
        pairs.append((trend.name, old if old in header else None, trend.column))
    taken = {old for _, old, _ in pairs}
    values = [column for column in header if not _WHERE.fullmatch(column)]
    return pairs + [(column, column, None) for column in values if column not in taken]


def _counts(old: str | None, new: str | None) -> str:
    """Count what becomes of the values of a trend: how many there are, appear, change, vanish, are sparse, are late."""
    o = f"o.{identifier(old)}" if old else "NULL"
    n = f"n.{identifier(new)}" if new else "NULL"
    conditions = (
        f"{n} IS NOT NULL",
        f"{o} IS NULL AND {n} IS NOT NULL",
        f"{o} IS NOT NULL AND {n} IS NOT NULL AND {o} != {n}",
        f"{o} IS NOT NULL AND {n} IS NULL",
        f"{o} IS NOT NULL AND {n} IS NULL AND k.sparse",
        f"{o} IS NULL AND {n} IS NOT NULL AND old_week IS NOT NULL" if old else "false",
    )
    return ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in conditions)


def _changes(release: Release, trends: Sequence[str], found: Sequence[tuple[Any, ...]]) -> tuple[Change, ...]:
    """Add up the counts by level and trend, in the order of the dataset."""
    levels = list(release.levels)
    levels += [_UNKNOWN_LEVEL] if any(row[0] == _UNKNOWN_LEVEL for row in found) else []
    sums = {level: np.zeros((len(trends), _COUNTS), dtype=np.int64) for level in levels}
    for level, _, _, _, *counts in found:
        sums[level] += np.array(counts).reshape(-1, _COUNTS)
    return tuple(
        Change(level, trend, *(int(number) for number in sums[level][i]))
        for level in levels
        for i, trend in enumerate(trends)
    )


def unreadable(csv: Path) -> InputError:
    """Return the error for a published table that cannot be compared with."""
    return InputError(f"{csv}: cannot be read as this dataset; move it away, or give another folder")


def table_of(release: Release, folder: Path) -> Path:
    """Return the CSV file of a release in a folder."""
    return folder / f"{file_stem(release)}.csv"


def table_in(release: Release, folder: Path) -> Path:
    """Return the CSV file that a folder has, which may be named after an earlier name of the dataset."""
    return published_table(folder) or table_of(release, folder)
