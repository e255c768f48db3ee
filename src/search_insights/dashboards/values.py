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
from search_insights.support.sql import connect, identifier

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
    return rows


def _check_place(row: dict[str, str | None], dataset: Dataset) -> None:
    """Refuse a row without the names that its level must have, or with a text that must not be published."""
    path = dataset.parquet.path
    if row["level"] not in dataset.levels:
        raise InputError(f"{path}: a row has a level that datapackage.json does not list")
    # With a table of regions, their names are there; levels may have changed over the editions.
    depths = range(1, 1 if dataset.regions else dataset.levels.index(row["level"]) + 1)
    for column in ("place_id", "code", "country_region", *(f"sub_region_{depth}" for depth in depths)):
        if not row[column]:
            raise InputError(f"{path}: a row of level {row['level']} has no {column}; publish the dataset again")
    for column, text in row.items():
        if text is not None:
            require_publishable(text, column, str(path))


def read_values(dataset: Dataset, number_of: Mapping[str, int]) -> Table:
    """Return every value of the dataset by region number, trend and week."""
    _check_rows(dataset)
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
    sql = f"SELECT place_id, CAST(date - DATE '1970-01-01' AS INTEGER) AS day, {cells} FROM {dataset.table}"
    columns = list(ask(dataset, sql, fetch="fetchnumpy").values())
    places, row_of = np.unique(np.asarray(columns[0], dtype=object), return_inverse=True)
    values = np.full((len(places), len(names), len(_PARTS), len(dataset.weeks)), MISSING, dtype=np.int32)
    week_of = _week_numbers(dataset, np.asarray(columns[1]))
    for i, column in enumerate(columns[2:]):
        values[row_of, i // len(_PARTS), i % len(_PARTS), week_of] = np.asarray(column)
    numbers = np.array([number_of[place] for place in places], dtype=np.int32)
    order = np.argsort(numbers)
    return Table(numbers[order], values[order], decimals)


def _check_rows(dataset: Dataset) -> None:
    """Refuse a table with a row of no week, or with two rows for a region and week."""
    counts = "count(*), count(date), count(DISTINCT (place_id, date))"
    [(rows, dated, distinct)] = ask(dataset, f"SELECT {counts} FROM {dataset.table}")
    if not rows == dated == distinct:
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
    """Refuse a CSV file that says anything else than the Parquet file: both are offered, and only one is shown."""
    table, values = csv_table(dataset.csv.path), {trend.column for trend in dataset.trends}
    ends = {column + end for column in values for end in ("_low", "_high")}
    columns = [c for c in dataset.fields if c not in ends | {"level", "code"}]
    header = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {table}", dataset.csv)]
    texts = ", ".join(f"CAST({_csv_value(c) if c in values else identifier(c)} AS TEXT)" for c in columns)
    sql = f"""
        SELECT (SELECT count(*) FROM {table}) = (SELECT count(*) FROM {dataset.table})
           AND NOT EXISTS (SELECT * FROM {table} EXCEPT ALL SELECT {texts} FROM {dataset.table})"""
    if header != columns or not ask(dataset, sql, dataset.csv)[0][0]:
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


def ask(dataset: Dataset, sql: str, table: TableFile | None = None, fetch: str = "fetchall") -> Any:
    """Return the result of a query; any error is one of the file, which may be anything."""
    import duckdb

    try:
        with connect() as connection:
            return getattr(connection.execute(sql), fetch)()
    except (duckdb.Error, UnicodeError, ValueError, OverflowError):
        raise InputError(
            f"{(table or dataset.parquet).path}: cannot be read as the table that datapackage.json describes"
        ) from None
