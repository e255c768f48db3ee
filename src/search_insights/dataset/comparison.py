"""What a new release changes in the dataset that it replaces, value by value."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.dataset.folder import csv_table
from search_insights.dataset.tables import file_stem, value_columns
from search_insights.errors import InputError
from search_insights.support.sql import identifier
from search_insights.trends.release import Release

if TYPE_CHECKING:
    import duckdb

_UNKNOWN_LEVEL = "(unknown)"  # of a region that the geography does not have


@dataclass(frozen=True, slots=True)
class Change:
    """How many values of a level and trend there are, appear, change and vanish.

    `sparse` are those of the vanishing ones whose region is removed for sparsity; the others need a correction.
    """

    level: str
    trend: str
    values: int
    appear: int
    change: int
    vanish: int
    sparse: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A release beside a published table: changes by level and trend, and the regions that the table alone has."""

    changes: tuple[Change, ...]
    gone: tuple[tuple[str, str], ...]  # level and place_id
    shown: frozenset[str]

    @property
    def corrected(self) -> int:
        """The number of published values that would change or disappear, other than for sparsity."""
        return sum(change.change + change.vanish - change.sparse for change in self.changes)


def compare(release: Release, old: Path, new: str, connection: "duckdb.DuckDBPyConnection") -> Comparison:
    """Compare a published CSV file, if there is one, with the rows of a release, given as a table of SQL."""
    import duckdb

    spec, regions = release.coverage.spec, release.trends.regions
    known = {
        "place_id": np.array([region.place_id for region in regions], dtype=object),
        "level": np.array([region.level for region in regions], dtype=object),
        "sparse": release.removed,
    }
    before = csv_table(old) if old.exists() else f"(SELECT * FROM {new} LIMIT 0)"
    columns = [identifier(column) for column in value_columns(spec)]
    connection.register("known_regions", known)
    try:
        found = connection.execute(f"""
            SELECT coalesce(k.level, '{_UNKNOWN_LEVEL}'), place_id, bool_or(o.date IS NOT NULL),
                   bool_or(n.date IS NOT NULL), {", ".join(map(_counts, columns))}
            FROM {before} AS o FULL JOIN {new} AS n USING (date, place_id) LEFT JOIN known_regions AS k USING (place_id)
            GROUP BY ALL ORDER BY place_id""").fetchall()
    except duckdb.Error:
        raise unreadable(old) from None
    finally:
        connection.unregister("known_regions")
    return Comparison(
        _changes(release, found),
        tuple((level, place_id) for level, place_id, was_shown, is_shown, *_ in found if was_shown and not is_shown),
        frozenset(place_id for _, place_id, was_shown, *_ in found if was_shown),
    )


def _counts(column: str) -> str:
    """Count what becomes of the values of a column: how many there are, appear, change, vanish, and are sparse."""
    o, n = f"o.{column}", f"n.{column}"
    conditions = (
        f"{n} IS NOT NULL",
        f"{o} IS NULL AND {n} IS NOT NULL",
        f"{o} IS NOT NULL AND {n} IS NOT NULL AND {o} != {n}",
        f"{o} IS NOT NULL AND {n} IS NULL",
        f"{o} IS NOT NULL AND {n} IS NULL AND k.sparse",
    )
    return ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in conditions)


def _changes(release: Release, found: Sequence[tuple[Any, ...]]) -> tuple[Change, ...]:
    """Add up the counts by level and trend, in the order of the spec."""
    spec = release.coverage.spec
    levels = [spec.total.level, *spec.level_names]
    levels += [_UNKNOWN_LEVEL] if any(row[0] == _UNKNOWN_LEVEL for row in found) else []
    sums = {level: np.zeros((len(spec.trends), 5), dtype=np.int64) for level in levels}
    for level, _, _, _, *counts in found:
        sums[level] += np.array(counts).reshape(-1, 5)  # as many as `_counts` has
    return tuple(
        Change(level, trend.name, *(int(number) for number in sums[level][i]))
        for level in levels
        for i, trend in enumerate(spec.trends)
    )


def unreadable(csv: Path) -> InputError:
    """Return the error for a published table that cannot be compared with."""
    return InputError(f"{csv}: cannot be read as this dataset; move it away, or give another folder")


def table_of(release: Release, folder: Path) -> Path:
    """Return the CSV file of a release in a folder."""
    return folder / f"{file_stem(release)}.csv"
