"""The table of noisy counts, if the publisher wants one: every cell of every week with its sigma, nothing left out.

The noisy counts are what the promise is about, and values are made from them alone; so publishing them too costs no
privacy. They tell readers how much is searched where, which may be the publisher's secret. So there is none by default.
Regions that are too small or sparse for values are in it, and so are rests, so that sums are exact.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.dataset.tables import file_stem
from search_insights.spec.cells import CellList
from search_insights.store.opening import open_store
from search_insights.support.sql import literal, public_tables
from search_insights.trends.derive import checked_counts
from search_insights.trends.release import Release
from search_insights.trends.spans import Span

if TYPE_CHECKING:
    import duckdb

# The columns: name, type in a Frictionless schema, and what they mean.
_COLUMNS = (
    ("date", "date", "The first day of the week."),
    ("place_id", "string", "The region; for a rest, that of the region above it and '#rest'."),
    ("level", "string", "The level at which is counted."),
    ("rest", "boolean", "Whether it is a rest: the searches of a region that are in none of its reported children."),
    ("measure", "string", "What is counted; `counts` says how trends are made of measures."),
    ("noisy", "integer", "The count with its noise; it may be below 0."),
    ("sigma", "number", "The standard deviation of the noise."),
    ("edition", "integer", "The edition under which the week was counted."),
)


def counts_name(release: Release) -> str:
    """Return the name of the file."""
    return f"{file_stem(release)}_counts.parquet"


def counts_fields() -> list[dict[str, Any]]:
    """Return the description of the columns, for `datapackage.json`."""
    return [{"name": name, "type": kind, "description": text} for name, kind, text in _COLUMNS]


def write_counts(store_path: Path, release: Release, folder: Path) -> None:
    """Write the table of the counts of a release's weeks, sorted by week and cell."""
    with open_store(store_path, known=release.coverage) as store, public_tables() as connection:
        connection.execute("CREATE TEMP TABLE counts (edition INTEGER, day INTEGER, cell INTEGER, noisy BIGINT)")
        for span in release.spans:
            _add_cells(connection, span)
        for entry, noisy in zip(release.entries, checked_counts(store, release.entries), strict=True):
            connection.register("given", {"cell": np.arange(noisy.size, dtype=np.int32), "noisy": noisy})
            place = [store.edition_of(entry.week).number, entry.week.toordinal()]
            connection.execute("INSERT INTO counts SELECT ?, ?, cell, noisy FROM given", place)
            connection.unregister("given")
        connection.execute(
            f"""COPY (SELECT DATE '0001-01-01' + (day - 1) AS date, place_id, level, rest, measure, noisy, sigma,
                             edition FROM counts JOIN cells USING (edition, cell) ORDER BY date, cell)
                TO {literal(str(folder / counts_name(release)))} (FORMAT parquet, COMPRESSION zstd)"""
        )


def _add_cells(connection: "duckdb.DuckDBPyConnection", span: Span) -> None:
    """Add what the cells of an edition are."""
    connection.register("given", _cells(span.edition.cells))
    columns = f"{span.edition.number} AS edition, cell, place_id, level, rest, measure, sigma"
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS cells AS SELECT " + columns + " FROM given LIMIT 0")
    connection.execute(f"INSERT INTO cells SELECT {columns} FROM given")
    connection.unregister("given")


def _cells(cells: CellList) -> dict[str, Any]:
    """Return the columns of a list of cells: a node has a cell for each measure."""
    measures = [measure.id for measure in cells.coverage.spec.measures]
    per_node = {
        "place_id": np.array([node.place_id for node in cells.nodes], dtype=object),
        "level": np.array([node.level for node in cells.nodes], dtype=object),
        "rest": np.arange(len(cells.nodes)) >= len(cells.regions),
    }
    return {
        "cell": np.arange(len(cells.sigmas), dtype=np.int32),
        **{name: np.repeat(column, len(measures)) for name, column in per_node.items()},
        "measure": np.tile(np.array(measures, dtype=object), len(cells.nodes)),
        "sigma": cells.sigmas,
    }


def counts_of_trends(release: Release) -> list[dict[str, Any]]:
    """Return how values are made of counts, edition by edition: a weighted sum, divided, times a factor."""
    return [row for span in release.spans for row in _of_span(release, span)]


def _of_span(release: Release, span: Span) -> list[dict[str, Any]]:
    spec, week = span.coverage.spec, release.trends.weeks.index(span.weeks[0])
    factors = dict(zip((trend.id for trend in release.columns), release.factors[week], strict=True))
    return [
        {
            "trend": trend.name,
            "first_week": span.weeks[0].isoformat(),
            "last_week": span.weeks[-1].isoformat(),
            "factor": float(factors[trend.id]),
            "weights": dict(zip(trend.sum_of, trend.weights or [1.0] * len(trend.sum_of), strict=True)),
            "divided_by": spec.measures[0].id,
        }
        for trend in spec.trends
        if not np.isnan(factors[trend.id])
    ]
