"""Read a published dataset: the only source of the dashboard's values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.dataset.folder import Dataset
from search_insights.errors import InputError
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
    """Return the regions that have a row, each with its name columns."""
    where = [c for c in dataset.fields if c.startswith(("country_region", "sub_region_"))]
    columns = ["place_id", "level", "code", *where]
    chosen = ", ".join(f"CAST({identifier(c)} AS TEXT)" for c in columns)
    rows = _ask(dataset, f"SELECT DISTINCT {chosen} FROM {dataset.table} ORDER BY ALL").fetchall()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def read_values(dataset: Dataset, number_of: Mapping[str, int]) -> Table:
    """Return every value of the dataset by region number, trend and week."""
    names = [trend.column for trend in dataset.trends]
    ends = ", ".join(f"max({identifier(n + part)})" for n in names for part in _PARTS)
    greatest = max(
        (float(v) for v in _ask(dataset, f"SELECT {ends} FROM {dataset.table}").fetchall()[0] if v), default=0.0
    )
    decimals = max(0, next((d for d in range(_DECIMALS, -1, -1) if greatest * 10**d < -MISSING), 0))
    cells = ", ".join(
        f"coalesce(CAST(round({expression} * {10**decimals}) AS INTEGER), {MISSING})"
        for name in names
        for expression in (
            identifier(name),
            f"({identifier(name)} - {identifier(name + '_low')})",
            f"({identifier(name + '_high')} - {identifier(name)})",
        )
    )
    found = _ask(
        dataset, f"SELECT place_id, CAST(date - DATE '1970-01-01' AS INTEGER) AS day, {cells} FROM {dataset.table}"
    )
    columns = list(found.fetchnumpy().values())
    places, row_of = np.unique(np.asarray(columns[0], dtype=object), return_inverse=True)
    values = np.full((len(places), len(names), len(_PARTS), len(dataset.weeks)), MISSING, dtype=np.int32)
    week_of = _week_numbers(dataset, np.asarray(columns[1]))
    for i, column in enumerate(columns[2:]):
        values[row_of, i // len(_PARTS), i % len(_PARTS), week_of] = np.asarray(column)
    numbers = np.array([number_of[place] for place in places], dtype=np.int32)
    order = np.argsort(numbers)
    return Table(numbers[order], values[order], decimals)


def _week_numbers(dataset: Dataset, days: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    epoch = date(1970, 1, 1)
    known = np.array([(week - epoch).days for week in dataset.weeks])
    numbers = np.searchsorted(known, days)
    if len(days) and (numbers.max() == len(known) or (known[numbers] != days).any()):
        raise InputError(f"{dataset.parquet}: holds a week that privacy.json does not list; publish the dataset again")
    return numbers


def _ask(dataset: Dataset, sql: str) -> Any:
    import duckdb

    try:
        return connect().execute(sql)
    except duckdb.Error:
        raise InputError(f"{dataset.parquet}: cannot be read as the table that datapackage.json describes") from None
