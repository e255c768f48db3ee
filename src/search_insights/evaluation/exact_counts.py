"""Adding exact counts to the truth of a simulated log, for evaluation only. Private, like every exact count.

`simulate` writes the truth with the shares that its model expects; this adds the counts that the program itself would
add noise to. Nothing else in the program writes an exact count, and no store ever holds one.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.files import PRIVATE
from search_insights.simulation.truth import IDENTITY, truth_identity
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts
from search_insights.support.files import private_files, replacing_file
from search_insights.support.sql import connect, literal
from search_insights.trends.derive import with_total

if TYPE_CHECKING:
    import duckdb


def add_exact_counts(
    truth: Path,
    log: Path,
    weeks: Sequence[Week],
    coverage: Coverage,
    progress: Callable[[str], None],
    *,
    level_columns: bool = False,
    known: Mapping[date, Counts] = MappingProxyType({}),
) -> None:
    """Count the weeks of a simulated log exactly, and add the counts to its truth.

    With `level_columns`, each level is counted where the people are, although a ZIP may extend into several counties:
    by its own column, and the finest level by the column `region`, from which X4 takes nothing that another level has.
    Weeks whose counts are `known` are not counted again (remembered_counts.py).
    """
    with connect() as connection:
        cells = CellList(coverage)
        _create_tables(connection, truth, cells)
        for source, levels in _sources(log, coverage.spec, level_columns):
            numbered = _numbered(connection, cells, levels)
            for first_day, counts in chain(known.items(), _counted(source, weeks, cells, known, progress)):
                connection.register("given", numbered | {"exact_count": _counts_at(cells, counts, levels)})
                connection.execute(
                    "INSERT INTO exact SELECT CAST(? AS DATE), place, measure, exact_count FROM given", [first_day]
                )
                connection.unregister("given")
        identity = json.dumps(truth_identity(truth))
        with replacing_file(truth) as draft, private_files():
            connection.execute(f"""
                COPY (SELECT week, level, place_id, category, expected_ratio, exact_count
                      FROM expected FULL JOIN exact USING (week, place, measure)
                      JOIN places USING (place) JOIN measures USING (measure)
                      ORDER BY week, place, measure)
                TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd,
                    KV_METADATA {{notice: {literal(PRIVATE)}, {IDENTITY}: {literal(identity)}}})""")


def _counted(
    source: LogSource,
    weeks: Sequence[Week],
    cells: CellList,
    known: Mapping[date, Counts],
    progress: Callable[[str], None],
) -> Iterator[tuple[date, Counts]]:
    """Count the weeks that are not known."""
    coverage, span = cells.coverage, (weeks[0].begin, weeks[-1].end)
    unknown = [week for week in weeks if week.first_day not in known]
    if not unknown:
        return
    names = region_names(coverage, source)
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        for week in unknown:
            progress(f"truth of week {week}")
            found = count_week(engine, cells, names, week, span, Tolerance(other_weeks=True), lambda day: None)
            yield week.first_day, found.counts


def _sources(log: Path, spec: Spec, level_columns: bool) -> list[tuple[LogSource, tuple[str, ...]]]:
    """Return the ways to read a log, and the levels whose counts are taken from each."""
    everything = (spec.total.level, *spec.level_names)
    by_region = LogSource((str(log),))
    if not level_columns:
        return [(by_region, everything)]
    return [(LogSource((str(log),), columns_of_levels(spec)), everything[:-1]), (by_region, everything[-1:])]


def columns_of_levels(spec: Spec) -> dict[str, str]:
    """Return the columns of levels of a simulated log, which are named like the levels."""
    return {level: level for level in spec.level_names}


def _create_tables(connection: "duckdb.DuckDBPyConnection", truth: Path, cells: CellList) -> None:
    """Number the places and measures of the truth and of the cells in the truth's order: numbers are joined faster."""
    places = (cells.coverage.geography.country, *cells.regions)
    connection.register("given_places", _texts(level=[r.level for r in places], place_id=[r.place_id for r in places]))
    connection.register("given_measures", _texts(category=[m.id for m in cells.coverage.spec.measures]))
    connection.execute(f"""
        CREATE VIEW truth AS SELECT * FROM read_parquet({literal(str(truth))});
        CREATE TABLE places AS SELECT *, row_number() OVER (ORDER BY level, place_id) AS place
        FROM (SELECT DISTINCT level, place_id FROM truth UNION SELECT level, place_id FROM given_places);
        CREATE TABLE measures AS SELECT *, row_number() OVER (ORDER BY category) AS measure
        FROM (SELECT DISTINCT category FROM truth UNION SELECT category FROM given_measures);
        CREATE TABLE expected AS SELECT week, place, measure, expected_ratio
        FROM truth JOIN places USING (level, place_id) JOIN measures USING (category);
        CREATE TABLE exact (week DATE, place BIGINT, measure BIGINT, exact_count BIGINT)""")


def _texts(**columns: Sequence[str]) -> dict[str, Any]:
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


def _numbered(connection: "duckdb.DuckDBPyConnection", cells: CellList, levels: Sequence[str]) -> dict[str, Any]:
    """Return the numbers of the cells at some levels, in the order of `_counts_at`."""
    place = dict(connection.execute("SELECT place_id, place FROM places").fetchall())
    measure = dict(connection.execute("SELECT category, measure FROM measures").fetchall())
    places = [place[region.place_id] for region in _regions_at(cells, levels)]
    measures = [measure[each.id] for each in cells.coverage.spec.measures]
    return {"place": np.repeat(places, len(measures)), "measure": np.tile(measures, len(places))}


def _regions_at(cells: CellList, levels: Sequence[str]) -> list[Region]:
    return [region for region in (cells.coverage.geography.country, *cells.regions) if region.level in levels]


def _counts_at(cells: CellList, counts: Counts, levels: Sequence[str]) -> Counts:
    """Return a week's counts at some levels; the total sums up the coarsest level."""
    spec, country = cells.coverage.spec, cells.coverage.geography.country
    shaped = counts.reshape(1, len(cells.nodes), len(spec.measures))[:, : len(cells.regions)].astype(np.float64)
    with_country = with_total(cells, shaped, np.zeros(shaped.shape[1:]))[0][0].astype(np.int64)
    kept = [region.level in levels for region in (country, *cells.regions)]
    counted: Counts = with_country[kept].ravel()
    return counted
