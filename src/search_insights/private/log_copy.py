"""A private copy of a log that is slow to read again, or cannot be: CSV, JSON lines, and tables in memory.

A week is counted day by day, and text would be read for every day. So it is read once, with all checks in the same
pass, into a temporary table of DuckDB. What does not fit into memory goes to the private folder of the connection.
The copy has the columns that the view `log` needs and no others.

Each row of text gets the number of its time's form (`form`) and, if something is wrong with it, the number of that
problem (`problem`), so that one later look at the copy tells whether the log can be used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from search_insights.errors import LogError
from search_insights.private.duckdb_readers import (
    FILE,
    INTEGERS,
    ask,
    explained,
    json_keys_query,
    json_reader,
    reader,
    types_in,
)
from search_insights.private.log import (
    TOPIC_COLUMNS,
    ArrowStream,
    LogSource,
    described,
    require_columns,
    require_same_columns,
    topic_role,
)
from search_insights.private.times import DUCKDB, NUMBERS, Kind, form_of, read_as
from search_insights.support.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb

COPY = "log_copy"
_DATA = "log_data"
_SAMPLE = 2048  # rows
_KEYS = "every line is one object, whose keys are the columns"


@dataclass(frozen=True, slots=True)
class _Stream:
    """A table in memory as a stream and nothing else: DuckDB would guess the types of a pandas DataFrame."""

    data: ArrowStream

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.data.__arrow_c_stream__(requested_schema)


def copy_csv(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource, topic: str, columns: Sequence[str]
) -> None:
    """Copy CSV files. Values with line breaks are refused, in any column: a stray quote swallows rows up to the next.

    `columns` are all columns of the files.
    """
    breaks = [f"contains({identifier(c)}, chr({sign}))" for c in columns for sign in (10, 13)]
    roles = {role: identifier(source.column(role)) for role in (*source.required, topic)}
    _copy(connection, source, roles, reader(files), f"CASE WHEN {' OR '.join(breaks)} THEN 1 ELSE 0 END")
    for (file,) in ask(connection, f"SELECT file FROM {COPY} WHERE problem > 0 LIMIT 1", source):
        raise LogError(
            f"{file}: a value contains a line break; a stray quote may hide rows; "
            "write '\"' in a value as '\"\"', and no line breaks, or write Parquet"
        )


def copy_json(connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource) -> str:
    """Copy files of JSON lines; return the role that gives topics.

    The texts of a log with categories are not read. If the first rows have no category, later ones may, so both are
    copied then.
    """
    first_keys = {key for _, key in ask(connection, json_keys_query(files, _SAMPLE), source)}
    has_category = source.column("category") in first_keys
    roles = (*source.required, *(TOPIC_COLUMNS[:1] if has_category else TOPIC_COLUMNS))
    values = {role: identifier(source.column(role)) for role in roles}
    problems = [f"WHEN {_is_wrong(role, values[role])} THEN {number}" for number, role in enumerate(roles, start=1)]
    texts = {role: f"json_extract_string({value}, '$')" for role, value in values.items()}
    written = ", ".join(f"CAST({value} AS VARCHAR) AS {value}" for value in dict.fromkeys(values.values()))
    relation = f"(SELECT {written}, {FILE} FROM {json_reader(files, map(source.column, roles))})"
    _copy(connection, source, texts, relation, f"CASE {' '.join(problems)} ELSE 0 END")
    for file, problem in ask(connection, f"SELECT file, problem FROM {COPY} WHERE problem > 0 LIMIT 1", source):
        raise _wrong(file, source, roles[problem - 1])
    return _require_keys(connection, files, source, roles)


def _is_wrong(role: str, value: str) -> str:
    """Return the SQL condition that a value of JSON, as it is written, cannot be used for a role.

    A region's code that is a number may have lost a leading zero. 123 and 123.0 would be two users.
    """
    if role in ("user_id", "timestamp"):
        return f"NOT starts_with({value}, '\"') AND NOT regexp_full_match({value}, '-?[0-9]+')"
    if role in TOPIC_COLUMNS:
        return f"starts_with({value}, '{{') OR starts_with({value}, '[')"
    return f"NOT starts_with({value}, '\"')"


def _wrong(file: str, source: LogSource, role: str) -> LogError:
    expected = dict.fromkeys(("user_id", "timestamp"), "text or whole numbers") | dict.fromkeys(TOPIC_COLUMNS, "text")
    words = expected.get(role, "text, because codes have leading zeros")
    return LogError(f"{file}: column {source.column(role)!r}: expected {words}; some of its values are something else")


def _copy(
    connection: "duckdb.DuckDBPyConnection",
    source: LogSource,
    values: Mapping[str, str],
    relation: str,
    problem: str,
    time_type: str = "VARCHAR",
) -> None:
    """Copy columns, given as SQL by role; times that are text or numbers are read in each form that they may have."""
    others = [f"{values.get(role, 'NULL::VARCHAR')} AS {name}" for role, name in _kept(source).items()]
    rows = f"""
        SELECT {values["user_id"]} AS user_id, {values["timestamp"]} AS timestamp, {", ".join(others)},
               {FILE} AS file, CAST({problem} AS UTINYINT) AS problem
        FROM {relation}"""
    read = _in_each_form(rows, source, is_text=time_type == "VARCHAR") if needs_form(time_type) else rows
    ask(connection, f"CREATE OR REPLACE TEMP TABLE {COPY} AS {read}", source)


def _in_each_form(rows: str, source: LogSource, *, is_text: bool) -> str:
    """Return the query that reads times: `instant` and `clock` in place of `timestamp`, and the number of the form."""
    time = "timestamp"
    kinds = [kind for kind in NUMBERS if kind != "clock" and (is_text or kind != "offset")]
    instants = " ".join(f"WHEN {NUMBERS[kind]} THEN {read_as(time, kind, DUCKDB)}" for kind in kinds)
    clock = f"CASE form WHEN {NUMBERS['clock']} THEN {read_as(time, 'clock', DUCKDB)} END" if is_text else "NULL"
    form = form_of(time, DUCKDB, source.time_unit, is_text=is_text)
    return f"""
        SELECT * EXCLUDE ({time}), CASE form {instants} END AS instant, {clock} AS clock
        FROM (SELECT *, CAST({form} AS UTINYINT) AS form FROM ({rows}))"""


def _kept(source: LogSource) -> dict[str, str]:
    """Return what the columns beside user and time are called in the copy, by role."""
    return {**source.places, **{role: role for role in TOPIC_COLUMNS}}


def _require_keys(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource, roles: Sequence[str]
) -> str:
    """Refuse a log, or a file of it, in which a required key never occurs; return the role that gives topics.

    A row without a key has no value there. A file without it in any row would pass for one whose searches have none.
    """
    names = {"user_id": "user_id", "timestamp": "form", **_kept(source)}
    counts = ", ".join(f"count({names[role]})" for role in roles)
    found = {file: row for file, *row in ask(connection, f"SELECT file, {counts} FROM {COPY} GROUP BY file", source)}
    keys: dict[str, set[str]] = {}
    for file, row in found.items():
        keys[file] = {source.column(role) for role, values in zip(roles, row, strict=True) if values}
    if doubtful := [file for file, row in found.items() if not all(row)]:
        for file, key in ask(connection, json_keys_query(doubtful), source):
            keys[file].add(key)
    types = [(file, dict.fromkeys(keys[file], "VARCHAR")) for file in files if file in keys]
    require_columns(source, {key: "VARCHAR" for _, of_file in types for key in of_file}, _KEYS)
    topic = topic_role(source, {key: "VARCHAR" for _, of_file in types for key in of_file})
    require_same_columns(source, topic, types)
    return topic


def open_data(connection: "duckdb.DuckDBPyConnection", source: LogSource) -> dict[str, str]:
    """Let the connection read the table in memory, and return the types of its columns."""
    if source.patterns:
        raise LogError(f"{described(source)}: there are files too (patterns); give one of them")
    data: Any = source.data  # who calls may not check types
    stream = data.scanner().to_reader() if hasattr(data, "scanner") else data
    if not hasattr(stream, "__arrow_c_stream__"):
        raise LogError(
            f"{described(source)}: expected a DataFrame of pandas or Polars, or a table, reader or dataset of Arrow"
        )
    with explained(connection, source):
        connection.register(_DATA, _Stream(stream))
    types = types_in(connection, _DATA, source)
    require_columns(source, types)
    for role in (*source.required, *TOPIC_COLUMNS):  # where a name occurs twice, DuckDB calls the second so
        if source.column(role) in types and f"{source.column(role)}_1" in types:
            raise LogError(f"{described(source)}: column {source.column(role)!r} occurs twice; keep one of them")
    return types


def copy_data(connection: "duckdb.DuckDBPyConnection", source: LogSource, topic: str, time_type: str) -> None:
    """Copy the table in memory: a reader can be read only once, and a DataFrame may change while it is counted."""
    values = {role: identifier(source.column(role)) for role in (*source.required, topic)}
    relation = f"(SELECT *, {literal(described(source))} AS {FILE} FROM {_DATA})"
    _copy(connection, source, values, relation, "0", time_type)
    connection.unregister(_DATA)


def needs_form(time_type: str) -> bool:
    """Return whether times of this type may have one of several forms."""
    return time_type == "VARCHAR" or time_type in INTEGERS


def forms_in_copy(connection: "duckdb.DuckDBPyConnection", source: LogSource) -> dict[int | None, int]:
    """Return how many rows of the copy have a time of each form."""
    return dict(ask(connection, f"SELECT form, count(*) FROM {COPY} GROUP BY form", source))


def time_in_copy(kind: Kind, forms: Mapping[int | None, int]) -> str:
    """Return the SQL for the times of one form; as a column where it can be, so that parts of the copy are skipped."""
    if kind == "clock":
        return "clock"
    others = sum(forms.get(number, 0) for other, number in NUMBERS.items() if other not in ("clock", kind))
    return f"CASE WHEN form = {NUMBERS[kind]} THEN instant END" if others else "instant"
