"""The truth of a simulated log, read back: exact bounded counts, for evaluation and calibration only.

The file says by which options the log was simulated, and so to which spec and geography it belongs. `simulate` writes
the shares that the model expects (files.py); `evaluation.exact_counts` adds the counts. Private, as exact counts are:
only a simulation may keep them in a file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.support.arrays import Floats
from search_insights.support.sql import connect, literal

IDENTITY = "truth"  # the key of the identity in the file's metadata

_MAX_WEEKS = 1040  # twenty years; all weeks are in memory at once


@dataclass(frozen=True)
class Truth:
    """Exact bounded counts with the axes (week, region, measure); NaN where the truth says nothing."""

    weeks: tuple[date, ...]
    counts: Floats


def truth_identity(path: Path) -> Mapping[str, Any] | None:
    """Return the options of the simulation that a truth belongs to; None if the file does not say."""
    import duckdb

    query = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = ?"
    with connect() as connection:
        try:
            rows = connection.execute(query, [str(path), IDENTITY]).fetchall()
            identity = json.loads(rows[0][0]) if rows else None
        except (duckdb.Error, ValueError):
            return None
    return identity if isinstance(identity, dict) else None


def read_truth(path: Path, coverage: Coverage, regions: Sequence[Region]) -> Truth:
    """Read the truth of the given regions, in their order."""
    import duckdb

    measures = [measure.id for measure in coverage.spec.measures]
    with connect() as connection:
        try:
            distinct = f"SELECT DISTINCT week FROM {literal(str(path))} ORDER BY 1 LIMIT {_MAX_WEEKS + 1}"
            weeks = connection.execute(distinct).fetchall()
            if len(weeks) > _MAX_WEEKS:
                raise InputError(f"{path}: a truth of more than {_MAX_WEEKS:,} weeks; give one of fewer weeks")
            connection.register("places", _numbered([region.place_id for region in regions]))
            connection.register("categories", _numbered(measures))
            connection.execute("CREATE TABLE weeks AS SELECT unnest(?::DATE[]) AS name", [[w for (w,) in weeks]])
            rows = connection.execute(f"""
                SELECT w.rowid AS week, p.n AS place, c.n AS category, exact_count
                FROM {literal(str(path))} AS t
                JOIN weeks AS w ON t.week = w.name
                JOIN places AS p ON t.place_id = p.name
                JOIN categories AS c ON t.category = c.name
                WHERE exact_count IS NOT NULL""").fetchnumpy()
        except duckdb.Error:
            raise InputError(
                f"{path}: not a truth with exact counts; make it with 'search-insights simulate'"
            ) from None
    counts = np.full((len(weeks), len(regions), len(measures)), np.nan)
    counts[rows["week"], rows["place"], rows["category"]] = rows["exact_count"]
    return Truth(tuple(week for (week,) in weeks), counts)


def _numbered(names: Sequence[str]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    return {"name": np.array(names, dtype=object), "n": np.arange(len(names))}
