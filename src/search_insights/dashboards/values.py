"""Read a published dataset: the only source of the dashboard's values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.dataset.folder import Dataset, TableFile, csv_table
from search_insights.errors import InputError
from search_insights.spec.geography import require_publishable
from search_insights.support.sql import identifier, public_tables

Values = npt.NDArray[np.int32]

# Marks a missing value in a data file. Missing is never 0.
MISSING = -(2**31)
_DECIMALS = 3  # of the values of a dataset
_PARTS = ("", "_low", "_high")


@dataclass(frozen=True)
class Table:
    """The values of a dataset as integers in units of 10 ** -decimals, with the axes (row, trend, part, week).

    The parts are the value and the distances to the lower and upper end of its interval. `numbers` holds the region
    number of each row.
    """

    numbers: npt.NDArray[np.int32]
    values: Values
    decimals: int


def distinct_places(dataset: Dataset) -> list[dict[str, str | None]]:
    """Return the regions that have a row, each with its name columns; refuse rows that name none."""
    where = [c for c in dataset.fields if c.startswith(("country_region", "sub_region_"))]
    columns = ["place_id", "level", "code", *where]
    chosen = ", ".join(f"CAST({identifier(c)} AS TEXT)" for c in columns)
    found = ask(dataset, f"SELECT DISTINCT {chosen} FROM {dataset.table} ORDER BY ALL")
    rows = [dict(zip(columns, row, strict=True)) for row in found]
    if not rows:
        raise InputError(f"{dataset.parquet.path}: has no rows, so there is nothing to show")
    for row in rows:
        _check_place(row, dataset)
    for column in columns:
        for text in dict.fromkeys(row[column] for row in rows):  # what many regions share is looked at once
            if text is not None:
                require_publishable(text, column, dataset.parquet.path)
    return rows


def _check_place(row: dict[str, str | None], dataset: Dataset) -> None:
    """Refuse a row without the names that its level must have."""
    path = dataset.parquet.path
    if row["level"] not in dataset.levels:
        raise InputError(f"{path}: a row has a level that datapackage.json does not list")
    # With a table of regions, their names are there; levels may have changed over the editions.
    depths = range(1, 1 if dataset.regions else dataset.levels.index(row["level"]) + 1)
    for column in ("place_id", "code", "country_region", *(f"sub_region_{depth}" for depth in depths)):
        if not row[column]:
            raise InputError(f"{path}: a row of level {row['level']} has no {column}; publish the dataset again")


def read_values(dataset: Dataset, number_of: Mapping[str, int]) -> Table:
    """Return every value of the dataset by region number, trend and week; refuse two rows for a region and week."""
    names = [trend.column for trend in dataset.trends]
    decimals = _decimals(dataset, names)
    cells = ", ".join(
        f"coalesce(CAST(round({expression} * {10**decimals}) AS INTEGER), {MISSING})"
        for name in names
        for expression in (
            identifier(name),
            f"({identifier(name)} - {identifier(name + '_low')})",
            f"({identifier(name + '_high')} - {identifier(name)})",
        )
    )
    sql = f"""
        SELECT number, CAST(date - DATE '1970-01-01' AS INTEGER) AS day, {cells}
        FROM {dataset.table} JOIN numbers USING (place_id) WHERE date IS NOT NULL"""
    columns = list(ask(dataset, sql, fetch="fetchnumpy", numbers=number_of).values())
    shown = np.zeros(len(number_of), dtype=bool)
    shown[columns[0]] = True
    numbers, row_of = np.flatnonzero(shown).astype(np.int32), (np.cumsum(shown) - 1)[columns[0]]
    values = np.full((len(numbers), len(names), len(_PARTS), len(dataset.weeks)), MISSING, dtype=np.int32)
    week_of = _week_numbers(dataset, np.asarray(columns[1]))
    _require_one_row(dataset, row_of, week_of)
    for i, column in enumerate(columns[2:]):
        values[row_of, i // len(_PARTS), i % len(_PARTS), week_of] = np.asarray(column)
    return Table(numbers, values, decimals)


def _require_one_row(dataset: Dataset, row_of: npt.NDArray[np.intp], week_of: npt.NDArray[np.intp]) -> None:
    """Refuse a table with a row of no week, or with two rows for a region and week."""
    [(rows,)] = ask(dataset, f"SELECT count(*) FROM {dataset.table}")
    found = np.zeros((row_of.max(initial=-1) + 1, len(dataset.weeks)), dtype=bool)
    found[row_of, week_of] = True
    if not rows == row_of.size == found.sum():
        raise InputError(f"{dataset.parquet.path}: has rows of no week, or two for one region and week")


def _decimals(dataset: Dataset, names: Sequence[str]) -> int:
    """Return with how many decimals the greatest value fits; refuse values that are no numbers or too great."""
    ends = ", ".join(f"max(abs(CAST({identifier(n + part)} AS DOUBLE)))" for n in names for part in _PARTS)
    [found] = ask(dataset, f"SELECT {ends} FROM {dataset.table}")
    greatest = max((value for value in found if value is not None), default=0.0)
    decimals = next((d for d in range(_DECIMALS, -1, -1) if greatest * 10**d < -MISSING), None)
    if decimals is None:
        raise InputError(f"{dataset.parquet.path}: has a value that is not a number below {-MISSING:,}")
    return decimals


def require_same_csv(dataset: Dataset) -> None:
    """Refuse a CSV file that says anything else than the Parquet file, row by row: only one of both is shown."""
    table, values = csv_table(dataset.csv.path), {trend.column for trend in dataset.trends}
    ends = {column + end for column in values for end in ("_low", "_high")}
    columns = [c for c in dataset.fields if c not in ends | {"level", "code"}]
    header = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {table}", dataset.csv)]
    names = [identifier(c) for c in columns]
    texts = ", ".join(
        f"CAST({_csv_value(c) if c in values else name} AS TEXT) AS {name}"
        for c, name in zip(columns, names, strict=True)
    )
    # Where one table has fewer rows, the join fills up with NULL, also in `is_row`.
    same = " AND ".join(f"a.{name} IS NOT DISTINCT FROM b.{name}" for name in (*names, "is_row"))
    sql = f"""
        SELECT count(*) FROM (SELECT *, true AS is_row FROM {table}) AS a
        POSITIONAL JOIN (SELECT {texts}, true AS is_row FROM {dataset.table}) AS b WHERE NOT ({same})"""
    if header != columns or ask(dataset, sql, dataset.csv) != [(0,)]:
        raise InputError(f"{dataset.csv.path}: does not have the rows of {dataset.parquet.path.name}; publish it again")


def _csv_value(column: str) -> str:
    return f"CAST({identifier(column)} AS DECIMAL(18, {_DECIMALS}))"


def _week_numbers(dataset: Dataset, days: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    epoch = date(1970, 1, 1)
    known = np.array([(week - epoch).days for week in dataset.weeks])
    numbers = np.searchsorted(known, days)
    if len(days) and (numbers.max() == len(known) or (known[numbers] != days).any()):
        raise InputError(
            f"{dataset.parquet.path}: holds a week that privacy.json does not list; publish the dataset again"
        )
    return numbers


def ask(
    dataset: Dataset,
    sql: str,
    table: TableFile | None = None,
    fetch: str = "fetchall",
    numbers: Mapping[str, int] | None = None,
) -> Any:
    """Return the result of a query; any error is one of the file, which may be anything.

    `numbers` are a table of their own in it, with the columns `place_id` and `number`.
    """
    import duckdb

    try:
        with public_tables() as connection:
            if numbers is not None:
                places = np.array(list(numbers), dtype=object)
                given = {"place_id": places, "number": np.fromiter(numbers.values(), dtype=np.int32)}
                connection.register("numbers", given)
            return getattr(connection.execute(sql), fetch)()
    except (duckdb.Error, UnicodeError, ValueError, OverflowError):
        raise InputError(
            f"{(table or dataset.parquet).path}: cannot be read as the table that datapackage.json describes"
        ) from None
