"""Reading a published dataset for analysis: one level and one trend at a time.

The published table has countries, states, counties and postal codes in one column of values. Averaging over it mixes
them, a mistake that is easy to make and hard to notice. So `load` requires a level.
"""

import importlib.util
from pathlib import Path
from typing import Any, Literal

import numpy as np

from search_insights.dataset.folder import Description, TableFile, read_description, require_plain_table
from search_insights.errors import InputError
from search_insights.support.sql import connect, file_literal, identifier

Frame = Literal["polars", "pandas", "arrow"]

_QUERY_TYPES = ("top", "rising")
_LINE_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")
_MODULES: dict[Frame, str] = {"polars": "polars", "pandas": "pandas", "arrow": "pyarrow"}


def load(path: str | Path, level: str, trend: str, frame: Frame | None = None) -> Any:
    """Read one level and trend of a published dataset as a Polars, pandas or Arrow frame.

    `path` is the dataset's folder; `trend` is a trend's name or its column, such as "vaccination_intent". Columns:
    date, place_id, code, name, value, low, high. Weeks without a value are not in the frame: missing is not 0.
    Unless `frame` names one, the first of Polars, pandas and PyArrow that is installed is used.
    """
    dataset = read_description(Path(path))
    column = _column(trend, dataset)
    _check_level(level, dataset)
    require_plain_table(dataset.parquet)
    return _frame(_read(dataset, column, level), frame)


def load_top_searches(
    path: str | Path, level: str, trend: str, query_type: Literal["top", "rising"] = "top", frame: Frame | None = None
) -> Any:
    """Read the top or rising searches of one level and trend of a published dataset, a row for each line of a list.

    Columns: date, place_id, code, name, rank, query, members, value, value_low, value_high, change, change_low,
    change_high, is_new. Values and changes are in percent; what is not known is empty. Frames are those of `load`.
    """
    dataset = read_description(Path(path))
    name = next(t.name for t in dataset.trends if t.column == _column(trend, dataset))
    _check_level(level, dataset)
    if query_type not in _QUERY_TYPES:
        raise InputError(f"no list {query_type!r}; the lists are {' and '.join(_QUERY_TYPES)}")
    if dataset.top_searches is None:
        raise InputError(f"{dataset.folder}: has no top searches: its spec has none, or its log has no texts")
    table = dataset.top_searches[1]
    require_plain_table(table)
    return _frame(_read_lines(dataset, table, (level, name, query_type)), frame)


def _read_lines(dataset: Description, table: TableFile, where: tuple[str, str, str]) -> dict[str, Any]:
    """Return the lines by column, with fixed types."""
    import duckdb

    texts = {"place_id": "place_id", "code": "code", "name": _name_expression(dataset), "query": "query"}
    named = {name: f"CAST({expression} AS VARCHAR) AS {name}" for name, expression in texts.items()}
    numbers = ", ".join(f"CAST({name} AS DOUBLE) AS {name}" for name in _LINE_NUMBERS)
    sql = f"""SELECT CAST(date AS DATE) AS date, {named["place_id"]}, {named["code"]}, {named["name"]},
                     CAST(rank AS INTEGER) AS rank, {named["query"]}, CAST(members AS VARCHAR[]) AS members, {numbers},
                     CAST(is_new AS BOOLEAN) AS is_new
              FROM read_parquet({file_literal(table.path)}) WHERE level = ? AND category = ? AND query_type = ?
              ORDER BY ALL"""
    try:
        with connect() as connection:
            found: dict[str, Any] = connection.execute(sql, where).fetchnumpy()
    except (duckdb.Error, UnicodeError):
        raise InputError(f"{table.path}: cannot be read as the table that datapackage.json describes") from None
    found["members"] = [list(texts) for texts in found["members"]]
    return {name: _filled(values) for name, values in found.items()}


def _filled(values: Any) -> Any:
    """Return a column with NaN for what is not known."""
    return values.filled(np.nan) if isinstance(values, np.ma.MaskedArray) and values.dtype.kind == "f" else values


def _read(dataset: Description, column: str, level: str) -> dict[str, Any]:
    """Return the rows by column. The types are fixed here, because the file may be anything."""
    import duckdb

    ends = {"value": column, "low": f"{column}_low", "high": f"{column}_high"}
    values = ", ".join(f"CAST({identifier(name)} AS DOUBLE) AS {end}" for end, name in ends.items())
    texts = {"place_id": "place_id", "code": "code", "name": _name_expression(dataset)}
    named = ", ".join(f"CAST({expression} AS VARCHAR) AS {name}" for name, expression in texts.items())
    sql = f"""SELECT CAST(date AS DATE) AS date, {named}, {values} FROM {dataset.table}
              WHERE level = ? AND {identifier(column)} IS NOT NULL ORDER BY place_id, date"""
    try:
        with connect() as connection:
            found: dict[str, Any] = connection.execute(sql, [level]).fetchnumpy()
    except (duckdb.Error, UnicodeError):
        raise InputError(
            f"{dataset.parquet.path}: cannot be read as the table that datapackage.json describes"
        ) from None
    if not np.isfinite(found["value"]).all():
        raise InputError(f"{dataset.parquet.path}: has a value that is not a number; publish the dataset again")
    return found


def _column(trend: str, dataset: Description) -> str:
    columns = {t.name: t.column for t in dataset.trends}
    if trend in columns.values():
        return trend
    if trend not in columns:
        raise InputError(f"{dataset.folder}: no trend {trend!r}; this dataset has {', '.join(columns)}")
    return columns[trend]


def _check_level(level: str, dataset: Description) -> None:
    """Refuse a level that the dataset does not have; a level without values gives an empty frame."""
    if level not in dataset.levels:
        raise InputError(f"{dataset.folder}: no level {level!r}; this dataset has {', '.join(dataset.levels)}")


def _name_expression(dataset: Description) -> str:
    """Return the expression for a region's name: that of the finest level in its row."""
    depths = sorted(name for name in dataset.fields if name.startswith("sub_region_") and not name.endswith("_code"))
    return f"coalesce({', '.join([*map(identifier, reversed(depths)), 'country_region'])})"


def _frame(columns: dict[str, Any], frame: Frame | None) -> Any:
    if frame is not None and frame not in _MODULES:
        raise InputError(f"no frame {frame!r}; the frames are {', '.join(_MODULES)}")
    wanted: list[Frame] = [frame] if frame else list(_MODULES)
    for kind in wanted:
        if importlib.util.find_spec(_MODULES[kind]):
            return _BUILDERS[kind](columns)
    raise InputError(f"no frame library is installed; install one of {', '.join(_MODULES[kind] for kind in wanted)}")


def _polars(columns: dict[str, Any]) -> Any:
    import polars

    return polars.DataFrame(columns).with_columns(polars.col("date").cast(polars.Date))


def _pandas(columns: dict[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def _arrow(columns: dict[str, Any]) -> Any:
    import pyarrow

    arrays = {name: pyarrow.array(values) for name, values in columns.items()}
    return pyarrow.table(arrays | {"date": arrays["date"].cast(pyarrow.date32())})


_BUILDERS = {"polars": _polars, "pandas": _pandas, "arrow": _arrow}
