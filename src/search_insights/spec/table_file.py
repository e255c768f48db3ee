"""Reading a public table, Parquet or CSV, that a publisher brings: its known columns, within limits of size."""

import difflib
import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search_insights.errors import GeographyError
from search_insights.support.sql import connect, identifier

if TYPE_CHECKING:
    import duckdb

MOST_REGIONS = 1 << 20  # more than any country has, and all that the bounding can tell apart
_LONGEST = 4_096  # bytes of a value
_MEMORY = "1GB"


def read_table_file(
    path: Path, columns: Sequence[str], required: Sequence[str], expected: str
) -> Iterator[dict[str, Any]]:
    """Return the rows of a table, each with those of the columns that it has; `expected` says what can be given."""
    import duckdb

    if not path.is_file():
        raise GeographyError(f"{path}: no such file; give {expected}")
    try:
        table = _open(connect(memory_limit=_MEMORY), path)
        found = table.columns
        wanted = [column for column in columns if column in found]
        values = _values(table, wanted, path)
    except duckdb.Error:
        raise GeographyError(f"{path}: cannot be read as Parquet or as comma-separated text in UTF-8") from None
    missing = [column for column in required if column not in found]
    if missing:
        raise GeographyError(f"{path}: no column {missing[0]!r}; expected {', '.join(columns)}; got {', '.join(found)}")
    _refuse_misspelled_columns(found, columns, path)
    return (dict(zip(wanted, row, strict=True)) for row in values)


def _open(connection: "duckdb.DuckDBPyConnection", path: Path) -> "duckdb.DuckDBPyRelation":
    if path.suffix.lower() in (".parquet", ".pq"):
        return connection.read_parquet(glob.escape(str(path)))
    # Nothing is left to DuckDB's detection: it might skip lines, or choose other quotes.
    return connection.read_csv(
        glob.escape(str(path)), all_varchar=True, header=True, skiprows=0, sep=",", quotechar='"', escapechar='"'
    )


def _values(table: "duckdb.DuckDBPyRelation", columns: Sequence[str], path: Path) -> list[tuple[Any, ...]]:
    """Return the values of some columns, after a look at how many and how long they are."""
    wanted = [identifier(column) for column in columns]
    # A small file can stand for very many rows, or very long texts: look before they are read into memory.
    longest = "greatest(0, " + ", ".join(f"strlen(CAST({column} AS VARCHAR))" for column in wanted) + ")"
    ((rows, length),) = table.aggregate(f"count(*), coalesce(max({longest}), 0)").fetchall()
    if rows > MOST_REGIONS or length > _LONGEST:
        raise GeographyError(
            f"{path}: {rows:,} rows, the longest value {length:,} bytes; expected at most {MOST_REGIONS:,} "
            f"regions and {_LONGEST:,} bytes"
        )
    return table.project(", ".join(wanted)).fetchall() if wanted else []


def _refuse_misspelled_columns(found: Sequence[str], columns: Sequence[str], path: Path) -> None:
    """Refuse a column that looks like a misspelling of a missing one; other extra columns are fine."""
    for column in columns:
        near = difflib.get_close_matches(column, [c for c in found if c not in columns], n=1, cutoff=0.7)
        if column not in found and near:
            raise GeographyError(f"{path}: column {near[0]!r}: did you mean {column!r}? Rename one of them")
