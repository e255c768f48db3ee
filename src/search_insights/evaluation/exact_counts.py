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

import numpy as np

from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.files import PRIVATE
from search_insights.simulation.truth import IDENTITY, truth_identity
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts
from search_insights.support.files import private_files, replacing_file
from search_insights.support.sql import connect, literal
from search_insights.trends.derive import with_total


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
        connection.execute(
            "CREATE TABLE exact (week DATE, level TEXT, place_id TEXT, category TEXT, exact_count BIGINT)"
        )
        for source, levels in _sources(log, coverage.spec, level_columns):
            cells = CellList(coverage)
            for first_day, counts in chain(known.items(), _counted(source, weeks, cells, known, progress)):
                connection.register("given", _columns(cells, counts, levels))
                connection.execute("INSERT INTO exact SELECT CAST(? AS DATE), * FROM given", [first_day])
                connection.unregister("given")
        identity = json.dumps(truth_identity(truth))
        with replacing_file(truth) as draft, private_files():
            connection.execute(f"""
                COPY (SELECT week, coalesce(t.level, exact.level) AS level, place_id, category, expected_ratio,
                             exact_count
                      FROM read_parquet({literal(str(truth))}) AS t FULL JOIN exact USING (week, place_id, category)
                      ORDER BY week, level, place_id, category)
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


def _columns(
    cells: CellList, counts: Counts, levels: Sequence[str]
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """Return a week's counts at some levels with the names of their cells; the total sums up the coarsest level."""
    spec, country = cells.coverage.spec, cells.coverage.geography.country
    shaped = counts.reshape(1, len(cells.nodes), len(spec.measures))[:, : len(cells.regions)].astype(np.float64)
    with_country = with_total(spec, cells.regions, shaped, np.zeros(shaped.shape[1:]))[0][0].astype(np.int64)
    kept = [i for i, region in enumerate((country, *cells.regions)) if region.level in levels]
    places = [(country, *cells.regions)[i] for i in kept]
    return {
        "level": np.repeat(np.array([region.level for region in places], dtype=object), len(spec.measures)),
        "place_id": np.repeat(np.array([region.place_id for region in places], dtype=object), len(spec.measures)),
        "category": np.tile(np.array([m.id for m in spec.measures], dtype=object), len(places)),
        "exact_count": with_country[kept].ravel(),
    }
