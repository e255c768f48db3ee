"""How DuckDB reads the files of a log: Parquet, CSV and JSON lines.

Nothing is guessed from a sample but the separator of CSV, and no row is skipped. DuckDB's errors quote values of the
log, so they are replaced by errors that do not.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from search_insights.errors import InputError, LogError
from search_insights.private.log import TOPIC_COLUMNS, LogSource, described
from search_insights.private.log_files import find_files, format_of
from search_insights.support.sql import literal

if TYPE_CHECKING:
    import duckdb

FILE = "search_insights_file"  # not "filename": a log may have a column of that name

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGERS = (*_SIGNED, *(f"U{size}" for size in _SIGNED))

_BUFFER = 8_388_608  # bytes, four lines of CSV at their longest: with DuckDB's 32 MB it unpacks as much just to look
_JSON_LINES = f"format = 'newline_delimited', maximum_object_size = {_BUFFER // 2}"  # half of the buffer it makes
_READ_AS = {"parquet": "parquet", "csv": "csv", "json": "JSON lines, one object on each line"}
_ENDS = {"min": "lowest", "max": "highest"}
_JSON_LINE = re.compile(r'", (?P<at>at byte \d+ )?in line (?P<line>\d+): ')


def reader(files: Sequence[str], header: str = "true") -> str:
    """Return the table function that reads Parquet or CSV files; columns are matched by name, never by position.

    DuckDB would take a name with `*` or `[` for a glob, and would guess the quotes and comments of CSV, at the risk of
    skipping a user called #1.
    """
    shared = f"union_by_name = true, filename = {literal(FILE)}, hive_types_autocast = false"
    if format_of(files[0]) == "parquet":
        return f"read_parquet({_listed(files)}, {shared})"
    dialect = f"""header = {header}, skip = 0, quote = '"', escape = '"', comment = '', buffer_size = {_BUFFER}"""
    return f"read_csv({_listed(files)}, {shared}, all_varchar = true, {dialect})"


def json_reader(files: Sequence[str], keys: Iterable[str]) -> str:
    """Return the table function that reads JSON lines: each key's value as it is written, so that no type is guessed.

    A line that is not one whole object is an error, and so is an object in which one of the keys occurs twice.
    """
    columns = ", ".join(f"{literal(key)}: 'JSON'" for key in dict.fromkeys(keys))
    shared = f"{_JSON_LINES}, hive_partitioning = false, filename = {literal(FILE)}"
    return f"read_json({_listed(files)}, {shared}, columns = {{{columns}}})"


def json_keys_query(files: Sequence[str], rows: int | None = None) -> str:
    """Return the query for the keys that occur in each file, in all rows or in some."""
    limit = f"LIMIT {rows}" if rows else ""
    objects = f"read_json_objects({_listed(files)}, {_JSON_LINES}, filename = true)"
    return f"""
        SELECT DISTINCT filename, unnest(json_keys(json)) AS key FROM (SELECT filename, json FROM {objects} {limit})"""


def _listed(files: Sequence[str]) -> str:
    return f"[{', '.join(literal(glob.escape(file)) for file in files)}]"


def ask(connection: "duckdb.DuckDBPyConnection", sql: str, source: LogSource) -> list[tuple[Any, ...]]:
    """Run a statement over the log."""
    with explained(connection, source):
        return connection.execute(sql).fetchall()


@contextmanager
def explained(connection: "duckdb.DuckDBPyConnection", source: LogSource) -> Iterator[None]:
    """Replace DuckDB's errors, which quote values of the log, with one that says only what cannot be read."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise InputError("the log does not fit into memory and the temporary folder; raise `memory`") from None
    except duckdb.Error:
        raise unreadable(connection, source) from None
    except RuntimeError:  # how DuckDB reports that the operator interrupted it
        raise KeyboardInterrupt from None


def unreadable(connection: "duckdb.DuckDBPyConnection", source: LogSource) -> LogError:
    """Return an error that names the first file that cannot be read to its end, and quotes nothing from it."""
    import duckdb

    if source.data is not None:
        return LogError(
            f"{described(source)}: cannot be read as Arrow data; each column must have one type, and pandas needs "
            "pyarrow for it"
        )
    for file in find_files(source.patterns):
        try:
            connection.execute(f"SELECT max(hash(COLUMNS(*))) FROM {_reader_of(file, source)}").fetchall()
        except duckdb.Error as error:
            return LogError(
                f"{file}: cannot be read as {_READ_AS[format_of(file)]}; is the file complete?{_line(error)}"
            )
    return LogError(f"{described(source)}: the files cannot be read together; do all have the same columns and types?")


def _reader_of(file: str, source: LogSource) -> str:
    if format_of(file) == "json":
        return json_reader([file], (source.column(role) for role in (*source.required, *TOPIC_COLUMNS)))
    return reader([file])


def _line(error: Exception) -> str:
    """Return the number of the line that cannot be read, if the error of DuckDB says it."""
    text = str(error)
    if csv := re.match(r"Invalid Input Error: CSV Error on Line: (\d+)", text):
        return f" See line {csv[1]}"
    if json := _JSON_LINE.search(text):
        return f" See line {int(json['line']) - bool(json['at'])}"  # where it says the byte, it counts a line too many
    return ""


def header(connection: "duckdb.DuckDBPyConnection", file: str, source: LogSource) -> list[object]:
    """Return the column names as they are in a file of Parquet or CSV."""
    if format_of(file) == "parquet":
        named = literal(glob.escape(file))
        return [name for (name,) in ask(connection, f"SELECT name FROM parquet_schema({named})", source)]
    rows = ask(connection, f"SELECT * FROM {reader([file], header='false')} LIMIT 1", source)
    return list(rows[0])


def types_in(connection: "duckdb.DuckDBPyConnection", relation: str, source: LogSource) -> dict[str, str]:
    """Return the types of the columns of files, or of another relation."""
    rows = ask(connection, f"DESCRIBE SELECT * FROM {relation}", source)
    return {str(name): str(kind) for name, kind, *_ in rows if name != FILE}


def is_int96(connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource) -> bool:
    """Return whether times have Parquet's old type INT96, which DuckDB reads as times without a zone."""
    sql = f"""
        SELECT file_name, bool_or(type = 'INT96') FROM parquet_metadata({_listed(files)})
        WHERE path_in_schema = {literal(source.column("timestamp"))} GROUP BY file_name ORDER BY file_name"""
    found = ask(connection, sql, source)
    old = [file for file, is_old in found if is_old]
    if old and len(old) < len(found):
        raise LogError(
            f"{old[0]}: column {source.column('timestamp')!r}: its type is INT96, in other files another; "
            "write one type in all files"
        )
    return bool(old)


def time_spans_query(files: Sequence[str], column: str, time_type: str) -> str:
    """Return the query of what Parquet files say of their parts: rows, rows without a time, least and greatest time.

    What they say of INT96 is not believed: Parquet does not define its order, and some programs wrote it wrongly.
    """
    spans = ", ".join(
        f"CASE WHEN type <> 'INT96' THEN TRY_CAST(stats_{of}_value AS {time_type}) END AS {name}"
        for of, name in _ENDS.items()
    )
    return f"""
        SELECT file_name AS file, row_group_num_rows AS rows, stats_null_count AS no_time, {spans}
        FROM parquet_metadata({_listed(files)}) WHERE path_in_schema = {literal(column)}"""
