"""What a new release changes in the dataset that it replaces, value by value."""

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
        counts = connection.execute(f"""
            SELECT coalesce(k.level, '{_UNKNOWN_LEVEL}'), {", ".join(map(_counts, columns))}
            FROM {before} AS o FULL JOIN {new} AS n USING (date, place_id) LEFT JOIN known_regions AS k USING (place_id)
            GROUP BY ALL""").fetchall()
        places = connection.execute(f"""
            SELECT DISTINCT coalesce(k.level, '{_UNKNOWN_LEVEL}'), o.place_id, n.place_id IS NULL
            FROM {before} AS o LEFT JOIN (SELECT DISTINCT place_id FROM {new}) AS n USING (place_id)
            LEFT JOIN known_regions AS k ON k.place_id = o.place_id ORDER BY ALL""").fetchall()
    except duckdb.Error:
        raise unreadable(old) from None
    finally:
        connection.unregister("known_regions")
    return Comparison(
        _changes(release, {row[0]: row[1:] for row in counts}),
        tuple((level, place_id) for level, place_id, is_gone in places if is_gone),
        frozenset(place_id for _, place_id, _ in places),
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


def _changes(release: Release, counts: dict[str, tuple[Any, ...]]) -> tuple[Change, ...]:
    """Lay out the counts by level and trend, in the order of the spec; a level without any value has zeros."""
    spec = release.coverage.spec
    levels = [spec.total.level, *spec.level_names, *(name for name in counts if name == _UNKNOWN_LEVEL)]
    width = 5  # of `_counts`
    none = (0,) * (width * len(spec.trends))
    return tuple(
        Change(level, trend.name, *counts.get(level, none)[width * i : width * (i + 1)])
        for level in levels
        for i, trend in enumerate(spec.trends)
    )


def unreadable(csv: Path) -> InputError:
    """Return the error for a published table that cannot be compared with."""
    return InputError(f"{csv}: cannot be read as this dataset; move it away, or give another folder")


def table_of(release: Release, folder: Path) -> Path:
    """Return the CSV file of a release in a folder."""
    return folder / f"{file_stem(release)}.csv"
