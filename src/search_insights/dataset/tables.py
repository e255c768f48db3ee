"""The dataset's tables: a CSV file like the original's, and a Parquet file with the same rows and more columns.

A row is a region and week with at least one published value. Rows are sorted by level, code and week. Missing is empty,
never 0. Values have 3 decimals in both files. In all weeks a region has the name that the newest edition gives it.
"""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from search_insights.spec.geography import Region
from search_insights.support.arrays import Floats
from search_insights.support.sql import identifier, literal, public_tables
from search_insights.trends.release import Release

if TYPE_CHECKING:
    import duckdb

# The original always has three levels below the country, whether a country uses them or not.
_MIN_LEVELS = 3
_DECIMALS = 3
_REGIONS_AT_ONCE = 128
_JUST_BELOW_HALF = np.nextafter(0.5, 0.0)  # half would raise the number just below it to 1
_JOINED = "FROM published JOIN regions USING (number) ORDER BY rank, date"


def file_stem(release: Release) -> str:
    """Return the name of the files without suffix, as in the original: country code, then the dataset."""
    # A table of regions has a plain code; an old store may have one with what a file name must not contain.
    code = re.sub(r"[^\w.-]|^\.", "_", release.coverage.geography.country.code)
    return f"{code}_{release.coverage.spec.dataset}"


def region_columns(release: Release) -> list[str]:
    """Return the columns that say where a row is."""
    levels = range(1, _depth(release) + 1)
    return [
        "country_region",
        "country_region_code",
        *(column for i in levels for column in (f"sub_region_{i}", f"sub_region_{i}_code")),
        "place_id",
    ]


def _depth(release: Release) -> int:
    """Return the number of levels below the country that have columns."""
    return max(_MIN_LEVELS, *(len(span.coverage.spec.levels) for span in release.spans))


def value_columns(release: Release) -> list[str]:
    """Return the columns of values: those of the present trends in their order, then those of former ones."""
    return [trend.column for trend in release.columns]


@contextmanager
def open_tables(release: Release) -> Iterator["duckdb.DuckDBPyConnection"]:
    """Yield a database in memory with the rows of a release, for `csv_rows` and `write_tables`."""
    with public_tables() as connection:
        _create_rows(connection, release)
        create_regions(connection, release)
        yield connection


def csv_rows(release: Release) -> str:
    """Write the SQL of the rows of the CSV file."""
    where = ", ".join(["date", *region_columns(release)])
    values = ", ".join(f"CAST({c} AS DECIMAL(18, {_DECIMALS})) AS {c}" for c in map(identifier, value_columns(release)))
    return f"SELECT {where}, {values} {_JOINED}"


def write_tables(release: Release, folder: Path) -> None:
    """Write the CSV and the Parquet file."""
    with open_tables(release) as connection:
        where = ", ".join(["date", *region_columns(release)])
        in_parquet = ", ".join(identifier(c + end) for c in value_columns(release) for end in ("", "_low", "_high"))
        stem = folder / file_stem(release)
        connection.execute(f"COPY ({csv_rows(release)}) TO {literal(f'{stem}.csv')} (HEADER)")
        connection.execute(
            f"COPY (SELECT {where}, level, code, {in_parquet} {_JOINED}) TO {literal(f'{stem}.parquet')} "
            "(FORMAT parquet, COMPRESSION zstd)"
        )


def _create_rows(connection: "duckdb.DuckDBPyConnection", release: Release) -> None:
    """Create the table of rows to publish, in the order in which they are published."""
    columns = _columns_in_order(release)
    connection.register("given", columns)
    values = [name for name in columns if name not in ("number", "day")]
    nullable = ", ".join(
        f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END AS {name}" for name in map(identifier, values)
    )
    connection.execute(
        f"CREATE TEMP TABLE published AS SELECT number, DATE '0001-01-01' + (day - 1) AS date, {nullable} FROM given"
    )
    connection.unregister("given")


def _columns_in_order(release: Release) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of the rows to publish: the number of the region, the day, and the rounded values.

    Some regions at a time, whose values fit into the cache; each core takes some.
    """
    in_order = np.argsort(_ranks(release))
    shown = np.asarray(release.published.any(axis=2))[:, in_order].T
    before = np.concatenate([[0], np.cumsum(shown.sum(axis=1))])
    days = np.array([week.toordinal() for week in release.trends.weeks], dtype=np.int32)
    columns: dict[str, npt.NDArray[Any]] = {name: np.empty(before[-1], dtype=np.int32) for name in ("number", "day")}
    values = [[column + end for column in value_columns(release)] for end in ("", "_low", "_high")]
    columns |= {name: np.empty(before[-1]) for names in zip(*values, strict=True) for name in names}

    def fill(first: int) -> None:
        last = min(first + _REGIONS_AT_ONCE, len(in_order))
        rows = slice(before[first], before[last])
        places, weeks = np.nonzero(shown[first:last])
        numbers = in_order[first:last][places]
        columns["number"][rows], columns["day"][rows] = numbers, days[weeks]
        for names, part in zip(values, release.values_of(weeks, numbers), strict=True):
            for name, of_trend in zip(names, _rounded(part).T, strict=True):
                columns[name][rows] = of_trend

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, len(in_order), _REGIONS_AT_ONCE)))  # an error is raised here
    return columns


def _rounded(values: Floats) -> Floats:
    """Round to the decimals of the tables as DuckDB does; a number halfway between two goes away from 0."""
    scaled = 10**_DECIMALS * values
    rounded: Floats = np.trunc(scaled + np.copysign(_JUST_BELOW_HALF, scaled)) / 10**_DECIMALS
    return rounded


def create_regions(connection: "duckdb.DuckDBPyConnection", release: Release) -> None:
    """Create the table of regions: the columns that say where a row is, and its place in the order of rows."""
    header = [*region_columns(release), "level", "code"]
    rows = [[*_region_values(release, region), region.level, region.code] for region in release.trends.regions]
    columns = {
        name: np.array(values, dtype=object) for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }
    numbers = {"number": np.arange(len(rows), dtype=np.int32), "rank": _ranks(release)}
    connection.register("given", columns | numbers)
    connection.execute("CREATE TEMP TABLE regions AS SELECT * FROM given")
    connection.unregister("given")


def _ranks(release: Release) -> npt.NDArray[np.int32]:
    """Return the place of each region in the order of the rows: regions that ended stand among the others."""
    level = {name: i for i, name in enumerate(release.levels)}
    regions = release.trends.regions
    keys = [(level[r.level], r.code, r.place_id) for r in regions]
    ranks = np.empty(len(regions), dtype=np.int32)
    ranks[sorted(range(len(regions)), key=keys.__getitem__)] = np.arange(len(regions), dtype=np.int32)
    return ranks


def _region_values(release: Release, region: Region) -> list[str | None]:
    """Return the values of `region_columns`: the country's name and code, those of each level, and the place_id."""
    home, country = release.homes[region.place_id], release.coverage.geography.country
    spec = home.spec
    by_level = {r.level: r for r in home.geography.lineage(region)}
    row: list[str | None] = [country.name, country.code]
    own_depth = -1 if region.level == spec.total.level else spec.level_names.index(region.level)
    for depth in range(_depth(release)):
        if depth > own_depth:
            row += [None, None]
            continue
        level = spec.levels[depth]
        hidden = depth == own_depth - 1 and spec.levels[own_depth].hide_parent_code
        name = level.published_name or by_level[level.name].name
        row += [name, None if hidden else by_level[level.name].code]
    return [*row, region.place_id]
