"""The truth of a simulated log: its exact bounded counts, for evaluation only. Private, as exact counts are.

The file is made by `simulate --truth` with the shares that the model expects; here the counts are added that the
program itself would have noised. Nothing else in the program writes an exact count, and no store ever holds one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from search_insights.dp.noise import Counts
from search_insights.errors import InputError
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.spec.weeks import Week
from search_insights.support.database import connect, private_files
from search_insights.support.quoting import literal
from search_insights.trends.derive import with_total
from search_insights.trends.reliability import Floats


def add_exact_counts(
    truth: Path, log: Path, weeks: Sequence[Week], coverage: Coverage, progress: Callable[[str], None]
) -> None:
    """Count the weeks of a simulated log exactly, and add the counts to its truth."""

    names, cells = region_names(coverage), CellList(coverage)
    span = (weeks[0].begin, weeks[-1].end)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine, connect() as connection:
        connection.execute("CREATE TABLE exact (week DATE, place_id TEXT, category TEXT, exact_count BIGINT)")
        for week in weeks:
            progress(f"truth of week {week}")
            found = count_week(engine, cells, names, week, span, Tolerance(other_weeks=True), lambda day: None)
            given = _columns(cells, found.counts)
            connection.register("given", given)
            connection.execute("INSERT INTO exact SELECT CAST(? AS DATE), * FROM given", [week.first_day])
            connection.unregister("given")
        draft = truth.with_name(f".{truth.name}.draft")
        try:
            with private_files():
                connection.execute(f"""
                    COPY (SELECT t.*, exact_count FROM read_parquet({literal(str(truth))}) AS t
                          LEFT JOIN exact USING (week, place_id, category) ORDER BY week, level, place_id, category)
                    TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd)""")
            draft.replace(truth)
        finally:
            draft.unlink(missing_ok=True)


def _columns(cells: CellList, counts: Counts) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """Name each cell of a week; the total is the sum of the coarsest level's bounded counts."""
    spec = cells.coverage.spec
    regions = cells.regions
    shaped = counts.reshape(1, len(regions), len(spec.categories)).astype(np.float64)
    totals = with_total(spec, regions, shaped, np.zeros(shaped.shape[1:]))[0].ravel().astype(np.int64)
    places = [cells.coverage.geography.country.place_id, *(region.place_id for region in regions)]
    return {
        "place_id": np.array([place for place in places for _ in spec.categories], dtype=object),
        "category": np.array([c.id for _ in places for c in spec.categories], dtype=object),
        "exact_count": totals,
    }


@dataclass(frozen=True)
class Truth:
    """Exact bounded counts with the axes (week, region, category); NaN where the truth says nothing."""

    weeks: tuple[date, ...]
    counts: Floats


def read_truth(path: Path, coverage: Coverage, regions: Sequence[Region]) -> Truth:
    """Read the truth of the given regions, in their order."""
    import duckdb

    categories = [c.id for c in coverage.spec.categories]
    with connect() as connection:
        try:
            weeks = connection.execute(f"SELECT DISTINCT week FROM {literal(str(path))} ORDER BY 1").fetchall()
            connection.register("places", _numbered([region.place_id for region in regions]))
            connection.register("categories", _numbered(categories))
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
                f"{path}: not a truth with exact counts; make it with 'search-insights simulate --truth'"
            ) from None
    counts = np.full((len(weeks), len(regions), len(categories)), np.nan)
    counts[rows["week"], rows["place"], rows["category"]] = rows["exact_count"]
    return Truth(tuple(week for (week,) in weeks), counts)


def _numbered(names: Sequence[str]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    return {"name": np.array(names, dtype=object), "n": np.arange(len(names))}
