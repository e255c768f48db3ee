"""Adding exact counts to the truth of a simulated log, for evaluation only. Private, like every exact count.

`simulate` writes the truth with the shares that its model expects; this adds the counts that the program itself would
add noise to. Nothing else in the program writes an exact count, and no store ever holds one.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts
from search_insights.support.files import private_files, replacing_file
from search_insights.support.sql import connect, literal
from search_insights.trends.derive import with_total


def add_exact_counts(
    truth: Path, log: Path, weeks: Sequence[Week], coverage: Coverage, progress: Callable[[str], None]
) -> None:
    """Count the weeks of a simulated log exactly, and add the counts to its truth."""
    names, cells = region_names(coverage), CellList(coverage)
    span = (weeks[0].begin, weeks[-1].end)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine, connect() as connection:
        connection.execute(
            "CREATE TABLE exact (week DATE, level TEXT, place_id TEXT, category TEXT, exact_count BIGINT)"
        )
        for week in weeks:
            progress(f"truth of week {week}")
            found = count_week(engine, cells, names, week, span, Tolerance(other_weeks=True), lambda day: None)
            columns = _columns(cells, found.counts)
            connection.register("given", columns)
            connection.execute("INSERT INTO exact SELECT CAST(? AS DATE), * FROM given", [week.first_day])
            connection.unregister("given")
        with replacing_file(truth) as draft, private_files():
            connection.execute(f"""
                COPY (SELECT week, coalesce(t.level, exact.level) AS level, place_id, category, expected_ratio,
                             exact_count
                      FROM read_parquet({literal(str(truth))}) AS t FULL JOIN exact USING (week, place_id, category)
                      ORDER BY week, level, place_id, category)
                TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd)""")


def _columns(cells: CellList, counts: Counts) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """Return a week's counts with the names of their cells; the total is the sum of the coarsest level's counts."""
    spec = cells.coverage.spec
    regions = cells.regions
    shaped = counts.reshape(1, len(cells.nodes), len(spec.measures))[:, : len(regions)].astype(np.float64)
    counts_with_total = with_total(spec, regions, shaped, np.zeros(shaped.shape[1:]))[0].ravel().astype(np.int64)
    places = (cells.coverage.geography.country, *regions)
    return {
        "level": np.array([place.level for place in places for _ in spec.measures], dtype=object),
        "place_id": np.array([place.place_id for place in places for _ in spec.measures], dtype=object),
        "category": np.array([m.id for _ in places for m in spec.measures], dtype=object),
        "exact_count": counts_with_total,
    }
