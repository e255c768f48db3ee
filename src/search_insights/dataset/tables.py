"""The dataset's tables: the original's CSV, and a Parquet file with the same rows and more columns.

A row is a region and week with at least one published value, in the order of levels, codes and weeks. Missing is
empty, never 0. Values have 3 decimals in both files.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec
from search_insights.support.database import connect
from search_insights.support.quoting import identifier, literal
from search_insights.trends.release import Release

if TYPE_CHECKING:
    import duckdb

# The original always has three levels below the country, whether a country uses them or not.
_LEAST_LEVELS = 3


def file_stem(release: Release) -> str:
    """Name the files as the original does: country code, then the dataset."""
    code = re.sub(r"[^\w.-]", "_", release.coverage.geography.country.code)  # a code may hold what a file name must not
    return f"{code}_{release.coverage.spec.dataset}"


def region_columns(spec: Spec) -> list[str]:
    """Name the columns that say where a row is."""
    levels = range(1, max(_LEAST_LEVELS, len(spec.levels)) + 1)
    return [
        "country_region",
        "country_region_code",
        *(column for i in levels for column in (f"sub_region_{i}", f"sub_region_{i}_code")),
        "place_id",
    ]


def value_columns(spec: Spec) -> list[str]:
    """Name the columns of values, in the order of the spec's trends."""
    return [trend.column for trend in spec.trends]


def write_tables(release: Release, folder: Path) -> None:
    """Write the CSV and the Parquet file."""

    spec = release.coverage.spec
    with connect() as connection:
        _register_rows(connection, release)
        _register_regions(connection, release)
        where = ", ".join(["date", *region_columns(spec)])
        in_csv = ", ".join(f"CAST({c} AS DECIMAL(18, 3)) AS {c}" for c in map(identifier, value_columns(spec)))
        with_ends = (identifier(c + end) for c in value_columns(spec) for end in ("", "_low", "_high"))
        in_parquet = ", ".join(f"round({c}, 3) AS {c}" for c in with_ends)
        stem = folder / file_stem(release)
        joined = "FROM published JOIN regions USING (number) ORDER BY number, date"
        connection.execute(f"COPY (SELECT {where}, {in_csv} {joined}) TO {literal(f'{stem}.csv')} (HEADER)")
        connection.execute(
            f"COPY (SELECT {where}, level, code, {in_parquet} {joined}) TO {literal(f'{stem}.parquet')} "
            "(FORMAT parquet, COMPRESSION zstd)"
        )


def _register_rows(connection: "duckdb.DuckDBPyConnection", release: Release) -> None:
    """Lay out the rows to publish, column by column."""
    weeks, numbers = np.nonzero(release.published.any(axis=2))
    columns = {
        "number": numbers.astype(np.int32),
        "day": np.array([week.toordinal() for week in release.trends.weeks], dtype=np.int32)[weeks],
    }
    for i, column in enumerate(value_columns(release.coverage.spec)):
        for part, end in zip(release.values, ("", "_low", "_high"), strict=True):
            columns[column + end] = part[weeks, numbers, i]
    connection.register("given", columns)
    values = [name for name in columns if name not in ("number", "day")]
    nullable = ", ".join(
        f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}" for name in map(identifier, values)
    )
    connection.execute(
        f"CREATE TEMP TABLE published AS SELECT number, DATE '0001-01-01' + (day - 1) AS date, {nullable} FROM given"
    )
    connection.unregister("given")


def _register_regions(connection: "duckdb.DuckDBPyConnection", release: Release) -> None:
    header = [*region_columns(release.coverage.spec), "level", "code"]
    rows = [[*_where(release, region), region.level, region.code] for region in release.trends.regions]
    columns = {
        name: np.array(values, dtype=object) for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }
    connection.register("given", columns | {"number": np.arange(len(rows), dtype=np.int32)})
    connection.execute("CREATE TEMP TABLE regions AS SELECT * FROM given")
    connection.unregister("given")


def _where(release: Release, region: Region) -> list[str | None]:
    """Fill the columns that say where a region is: the country's name and code, each level's, and the place_id."""
    spec, geography = release.coverage.spec, release.coverage.geography
    above = {r.level: r for r in geography.lineage(region)}
    row: list[str | None] = [geography.country.name, geography.country.code]
    own_depth = -1 if region.level == spec.total.level else spec.level_names.index(region.level)
    for depth in range(max(_LEAST_LEVELS, len(spec.levels))):
        if depth > own_depth:
            row += [None, None]
            continue
        level = spec.levels[depth]
        hidden = depth == own_depth - 1 and spec.levels[own_depth].hide_parent_code
        name = level.published_name or above[level.name].name
        row += [name, None if hidden else above[level.name].code]
    return [*row, region.place_id]
