"""Reading a published dataset for analysis: one level at a time, and one trend or several.

The published table has countries, states, counties and postal codes in one column of values. Averaging over it mixes
them, a mistake that is easy to make and hard to notice. So `load` requires a level.
"""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from search_insights.dataset.fetching import local_folder
from search_insights.dataset.folder import Description, TableFile, csv_table, read_description, require_plain_table
from search_insights.errors import InputError
from search_insights.support.sql import file_literal, identifier, literal, public_tables

Frame = Literal["polars", "pandas", "arrow", "columns"]
Columns = dict[str, Any]

_QUERY_TYPES = ("top", "rising")
_LINE_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")
# What must be installed for a frame; plain columns of NumPy need nothing.
_MODULES: dict[Frame, str] = {"polars": "polars", "pandas": "pandas", "arrow": "pyarrow", "columns": "numpy"}
_WHOLE = "population"  # the column of whole numbers that may be missing


def load(path: str | Path, level: str, trend: str | Sequence[str], frame: Frame | None = None) -> Any:
    """Read one level of a published dataset, for one trend or several, as a Polars, pandas or Arrow frame.

    `path` is the dataset's folder or its http(s) address; `trend` is a trend's name or its column, such as
    "vaccination_intent". Columns: date, trend, place_id, code, name, parent, population, value, low, high,
    standard_error. Weeks without a value are not in the frame: missing is not 0. Unless `frame` names one, the first of
    Polars, pandas and PyArrow that is installed is used, and else a dict of NumPy arrays ("columns").
    """
    with local_folder(path) as folder:
        return frame_of(read_columns(read_description(folder), level, trend), frame)


def load_top_searches(
    path: str | Path, level: str, trend: str, query_type: Literal["top", "rising"] = "top", frame: Frame | None = None
) -> Any:
    """Read the top or rising searches of one level and trend of a published dataset, a row for each line of a list.

    Columns: date, place_id, code, name, rank, query, members, value, value_low, value_high, change, change_low,
    change_high, is_new. Values and changes are in percent; what is not known is empty. Frames are those of `load`.
    """
    with local_folder(path) as folder:
        dataset = read_description(folder)
        name = trend_name(trend, dataset)
        check_level(level, dataset)
        if query_type not in _QUERY_TYPES:
            raise InputError(f"no list {query_type!r}; the lists are {' and '.join(_QUERY_TYPES)}")
        if dataset.top_searches is None:
            raise InputError(f"{dataset.folder}: has no top searches: its spec has none, or its log has no texts")
        table = dataset.top_searches[1]
        require_plain_table(table)
        return frame_of(_read_lines(dataset, table, (level, name, query_type)), frame)


def _read_lines(dataset: Description, table: TableFile, where: tuple[str, str, str]) -> Columns:
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
        with public_tables() as connection:
            found: Columns = connection.execute(sql, where).fetchnumpy()
    except (duckdb.Error, UnicodeError):
        raise InputError(f"{table.path}: cannot be read as the table that datapackage.json describes") from None
    found["members"] = [list(texts) for texts in found["members"]]
    return {name: _filled(values) for name, values in found.items()}


def _filled(values: Any) -> Any:
    """Return a column with NaN for what is not known."""
    return values.filled(np.nan) if isinstance(values, np.ma.MaskedArray) and values.dtype.kind == "f" else values


def read_columns(dataset: Description, level: str, trend: str | Sequence[str]) -> Columns:
    """Return the rows of a level as NumPy arrays by column, sorted by trend as given, place and date."""
    trends = [trend] if isinstance(trend, str) else list(trend)
    columns = {trend_name(each, dataset): _column(each, dataset) for each in trends}
    if not columns:
        raise InputError(f"{dataset.folder}: no trend was asked for; this dataset has {_names(dataset)}")
    check_level(level, dataset)
    for table in (dataset.parquet, dataset.regions):
        if table is not None:
            require_plain_table(table)
    found = _read(dataset, columns, level)
    spread = (found["high"] - found["low"]) / 2
    return found | {"standard_error": spread / NormalDist().inv_cdf((1 + confidence_of(dataset)) / 2)}


def confidence_of(dataset: Description) -> float:
    """Return the confidence of the published intervals."""
    confidence = dataset.package.get("reliability", {}).get("confidence", 0)
    if not 0 < confidence < 1:
        raise InputError(
            f"{dataset.folder / 'datapackage.json'}: key 'reliability.confidence': expected a number between 0 and 1; "
            "publish the dataset again"
        )
    return float(confidence)


def _read(dataset: Description, columns: dict[str, str], level: str) -> Columns:
    """Return the rows by column. The types are fixed here, because the file may be anything."""
    import duckdb

    rows = " UNION ALL ".join(_rows(dataset, i, *named) for i, named in enumerate(columns.items()))
    sql = f"""SELECT date, trend, rows.place_id AS place_id, rows.code AS code, rows.name AS name,
                     coalesce(parent, '') AS parent, coalesce(population, 'nan') AS population, value, low, high
              FROM ({rows}) AS rows LEFT JOIN ({_regions(dataset)}) USING (place_id) ORDER BY number, place_id, date"""
    try:
        with public_tables() as connection:
            found: Columns = connection.execute(sql, [level] * len(columns)).fetchnumpy()
    except (duckdb.Error, UnicodeError):
        raise InputError(
            f"{dataset.parquet.path}: cannot be read as the table that datapackage.json describes"
        ) from None
    if not all(np.isfinite(found[name]).all() for name in ("value", "low", "high")):
        raise InputError(f"{dataset.parquet.path}: has a value that is not a number; publish the dataset again")
    return found


def _rows(dataset: Description, number: int, trend: str, column: str) -> str:
    """Write the SQL of the rows of a trend."""
    ends = {"value": column, "low": f"{column}_low", "high": f"{column}_high"}
    values = ", ".join(f"CAST({identifier(name)} AS DOUBLE) AS {end}" for end, name in ends.items())
    texts = {"place_id": "place_id", "code": "code", "name": _name_expression(dataset)}
    named = ", ".join(f"CAST({expression} AS VARCHAR) AS {name}" for name, expression in texts.items())
    return f"""SELECT {number} AS number, CAST(date AS DATE) AS date, {literal(trend)} AS trend, {named}, {values}
               FROM {dataset.table} WHERE level = ? AND {identifier(column)} IS NOT NULL"""


def _regions(dataset: Description) -> str:
    """Write the SQL of what `regions.csv` adds; a dataset of an earlier version has no such file."""
    if dataset.regions is None:
        return "SELECT '' AS place_id, '' AS parent, NULL::DOUBLE AS population WHERE false"
    return f"""SELECT place_id, any_value(parent) AS parent,
                      any_value(CAST(CAST(nullif(population, '') AS BIGINT) AS DOUBLE)) AS population
               FROM {csv_table(dataset.regions.path)} GROUP BY place_id"""


def _column(trend: str, dataset: Description) -> str:
    """Return the column of a trend, which is named by its name or its column."""
    for known in dataset.trends:
        if trend in (known.name, known.column):
            return known.column
    raise InputError(f"{dataset.folder}: no trend {trend!r}; this dataset has {_names(dataset)}")


def trend_name(trend: str, dataset: Description) -> str:
    """Return the name of a trend, which is given by its name or its column."""
    column = _column(trend, dataset)
    return next(known.name for known in dataset.trends if known.column == column)


def _names(dataset: Description) -> str:
    return ", ".join(known.name for known in dataset.trends)


def check_level(level: str, dataset: Description) -> None:
    """Refuse a level that the dataset does not have; a level without values gives an empty frame."""
    if level not in dataset.levels:
        raise InputError(f"{dataset.folder}: no level {level!r}; this dataset has {', '.join(dataset.levels)}")


def _name_expression(dataset: Description) -> str:
    """Return the expression for a region's name: that of the finest level in its row."""
    depths = sorted(name for name in dataset.fields if name.startswith("sub_region_") and not name.endswith("_code"))
    return f"coalesce({', '.join([*map(identifier, reversed(depths)), 'country_region'])})"


def frame_of(columns: Columns, frame: Frame | None) -> Any:
    """Return columns of NumPy as a frame."""
    if frame is not None and frame not in _MODULES:
        raise InputError(f"no frame {frame!r}; the frames are {', '.join(_MODULES)}")
    wanted: list[Frame] = [frame] if frame else list(_MODULES)
    for kind in wanted:
        if importlib.util.find_spec(_MODULES[kind]):
            return _BUILDERS[kind](columns)
    raise InputError(f"no frame library is installed; install one of {', '.join(_MODULES[kind] for kind in wanted)}")


def _polars(columns: Columns) -> Any:
    import polars

    frame = polars.DataFrame(columns).with_columns(polars.selectors.datetime().cast(polars.Date))
    whole = polars.selectors.by_name(_WHOLE, require_all=False)
    return frame.with_columns(whole.fill_nan(None).cast(polars.Int64))


def _pandas(columns: Columns) -> Any:
    import pandas

    frame = pandas.DataFrame(columns)
    return frame.astype({_WHOLE: "Int64"}) if _WHOLE in columns else frame


def _arrow(columns: Columns) -> Any:
    import pyarrow

    arrays = {name: pyarrow.array(values, from_pandas=name == _WHOLE) for name, values in columns.items()}
    kinds = {name: pyarrow.date32() for name, array in arrays.items() if pyarrow.types.is_timestamp(array.type)}
    kinds |= {name: pyarrow.int64() for name in arrays if name == _WHOLE}
    return pyarrow.table(arrays | {name: arrays[name].cast(kind) for name, kind in kinds.items()})


_BUILDERS: dict[Frame, Callable[[Columns], Any]] = {
    "polars": _polars,
    "pandas": _pandas,
    "arrow": _arrow,
    "columns": dict,
}
