"""The search log: its columns, and whether its files can be used. All of it is private.

No value of the log ever gets into a message. DuckDB's own errors quote values, so they are never passed on.
"""

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from search_insights.errors import LogError
from search_insights.private.log_files import (
    file_appeared,
    file_changed,
    find_files,
    format_of,
    refuse_times_of_folders,
    state_of,
)
from search_insights.private.times import (
    Kind,
    TimeReading,
    form_of_most,
    require_zone,
    text_as_time,
    text_forms,
)
from search_insights.support.sql import identifier, literal

if TYPE_CHECKING:
    import duckdb

TOPIC_COLUMNS = ("category", "query")
ROLES = ("user_id", "timestamp", "region", *TOPIC_COLUMNS)  # a log may give columns of levels instead of `region`

_FILE_COLUMN = "search_insights_file"  # not "filename": a log may have a column of that name
_NULL_TYPE = '"NULL"'  # the type of a column without values: how pandas writes the categories of a day without topics
_MATCHES = "regexp_matches"
# CSV values with line breaks are refused: a stray quote swallows all rows up to the next quote.
_FILE_WITH_BROKEN_LINE = f"""any_value({_FILE_COLUMN}) FILTER (WHERE
    regexp_matches(concat_ws('', *COLUMNS(* EXCLUDE ({_FILE_COLUMN}))), '[\\n\\r]'))"""
_NAIVE = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_ALLOWED = {
    "user_id": (*_INTEGERS, *(f"U{t}" for t in _INTEGERS), "VARCHAR", "UUID", "BLOB"),
    "timestamp": (*_NAIVE, "TIMESTAMP WITH TIME ZONE", "VARCHAR"),
    "region": ("VARCHAR",),
}


@dataclass(frozen=True, slots=True)
class LogSource:
    """Where a log is and how to read it: files, column names, zone of times without one, level of bare region codes."""

    patterns: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    naive_zone: str | None = None
    code_level: str | None = None

    def column(self, role: str) -> str:
        """Return the name of the column for a role."""
        return self.columns.get(role, role)

    @property
    def level_columns(self) -> tuple[str, ...]:
        """The levels that have a column; none if the column `region` names regions of any level."""
        levels = [role for role in self.columns if role not in ROLES]
        # A level may be called region, too.
        return (*levels, *(role for role in self.columns if role == "region")) if levels else ()

    @property
    def places(self) -> dict[str, str]:
        """The roles that name regions, and what their columns are called in the view `log`."""
        levels = self.level_columns
        return {level: f"region_{i}" for i, level in enumerate(levels)} if levels else {"region": "region"}

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that must have a column."""
        return ("user_id", "timestamp", *self.places)


@dataclass(frozen=True, slots=True)
class SearchLog:
    """A log whose files and columns were checked, open as the view `log` of a DuckDB connection.

    `queries` tells whether it has texts instead of categories.
    """

    source: LogSource
    files: tuple[str, ...]
    states: tuple[tuple[int, int, int], ...]
    times: TimeReading
    user_type: str
    queries: bool

    @property
    def is_parquet(self) -> bool:
        """Whether the files are Parquet, which can be read in part, and fast."""
        return all(format_of(file) == "parquet" for file in self.files[:1])

    def require_unchanged(self) -> None:
        """Refuse a log whose files changed since it was opened: a week is noised once, so its log must be final."""
        for file, state in zip(self.files, self.states, strict=True):
            if state_of(file) != state:
                raise file_changed(file)
        known = set(self.files)
        for file in find_files(self.source.patterns):
            if file not in known:
                raise file_appeared(file)

    def between(self, begin: datetime, end: datetime) -> str:
        """Return the condition that an event lies between two instants, the first included, the second not."""
        return self.times.between(begin, end, "TIMESTAMP", "TIMESTAMPTZ")


def open_log(connection: "duckdb.DuckDBPyConnection", source: LogSource, release_zone: str) -> SearchLog:
    """Check a log's files and columns and open it as the view `log`: user_id, timestamp, region, category, query, file.

    If a log has categories, its queries are not read. Columns of levels are called region_0, region_1 and so on.
    """
    files = find_files(source.patterns)
    refuse_times_of_folders(files, source.column("timestamp"))
    states = tuple(state_of(file) for file in files)
    zone = source.naive_zone or release_zone
    require_zone(zone)
    connection.execute("SET TimeZone = 'UTC'")  # not the machine's, although no reading of times depends on it
    types = _column_types(connection, files, source)
    topic = topic_role(source, types)
    _require_in_each_file(connection, files, source, topic)
    check_types(source, types, _ALLOWED)
    times = _reading(connection, files, source, types[source.column("timestamp")], zone)
    _create_views(connection, files, source, topic, types, times)
    return SearchLog(
        source=source,
        files=files,
        states=states,
        times=times,
        user_type=types[source.column("user_id")],
        queries=topic == "query",
    )


def _reading(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource, time_type: str, zone: str
) -> TimeReading:
    """Decide how times of this type are read."""
    if time_type == "VARCHAR":
        return TimeReading(zone, _text_form(connection, files, source))
    if time_type not in _NAIVE:
        return TimeReading(zone, "instant")
    if _is_int96(connection, files, source):
        return TimeReading(_zone_of_int96(source), "int96")
    return TimeReading(zone, "clock")


def _text_form(connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource) -> Kind:
    """Return the form of times that are text; of a CSV log, all lines are checked in the same pass."""
    forms = text_forms(identifier(source.column("timestamp")), _MATCHES)
    broken = "NULL" if format_of(files[0]) == "parquet" else _FILE_WITH_BROKEN_LINE
    sql = f"SELECT {', '.join([*forms, broken])} FROM {_reader(files)}"
    ((offset, clock, file),) = _query(connection, sql, source)
    if file is not None:
        raise LogError(
            f"{file}: a value contains a line break; a stray quote may hide rows; "
            "write '\"' in a value as '\"\"', and no line breaks, or write Parquet"
        )
    return form_of_most(offset, clock)


def _create_views(
    connection: "duckdb.DuckDBPyConnection",
    files: Sequence[str],
    source: LogSource,
    topic: str,
    types: Mapping[str, str],
    times: TimeReading,
) -> None:
    time = identifier(source.column("timestamp"))
    if types[source.column("timestamp")] == "VARCHAR":
        time = text_as_time(time, _MATCHES, times.kind, "TIMESTAMP", "TIMESTAMPTZ")
    view = f"""
        CREATE OR REPLACE TEMP VIEW log AS
        SELECT {identifier(source.column("user_id"))} AS user_id, {time} AS timestamp,
               {", ".join([*place_columns(source), *topic_columns(source, topic, "VARCHAR")])}, {_FILE_COLUMN} AS file
        FROM {_reader(files)}"""
    _query(connection, view, source)
    _query(connection, "CREATE OR REPLACE TEMP VIEW log_files AS FROM log", source)


def _reader(files: Sequence[str], header: str = "true") -> str:
    """Return the table function that reads the files; columns are matched by name, never by position.

    DuckDB would take a name with `*` or `[` for a glob, and would guess the quotes and comments of CSV, at the risk of
    skipping a user called #1.
    """
    listed = f"[{', '.join(literal(glob.escape(file)) for file in files)}]"
    shared = f"union_by_name = true, filename = {literal(_FILE_COLUMN)}, hive_types_autocast = false"
    if format_of(files[0]) == "parquet":
        return f"read_parquet({listed}, {shared})"
    dialect = f"""header = {header}, skip = 0, quote = '"', escape = '"', comment = ''"""
    return f"read_csv({listed}, {shared}, all_varchar = true, {dialect})"


def _column_types(connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource) -> dict[str, str]:
    rows = _query(connection, f"DESCRIBE SELECT * FROM {_reader(files)}", source)
    types = {str(name): str(kind) for name, kind, *_ in rows if name != _FILE_COLUMN}
    _refuse_duplicate_columns(connection, files[0], types, source)
    # The first line of a CSV file may be someone's search instead of a header, so it is not shown.
    rule = "the first line must name the columns, and all lines have as many fields"
    require_columns(source, types, rule if format_of(files[0]) == "csv" else "")
    return types


def require_columns(source: LogSource, types: Mapping[str, str], hint: str = "") -> None:
    """Refuse a log that lacks a required column; `hint` replaces the list of its columns in the message."""
    for role in source.required:
        if source.column(role) not in types:
            raise LogError(
                f"{described(source)}: no column {source.column(role)!r} for {role}; "
                f"{hint or 'the columns are ' + ', '.join(types)}; map one with `columns` {role}=NAME"
            )


def _require_in_each_file(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource, topic: str
) -> None:
    statements = ((file, f"DESCRIBE SELECT * FROM {_reader([file])}") for file in files if len(files) > 1)
    require_same_columns(
        source,
        topic,
        ((file, {str(row[0]): str(row[1]) for row in _query(connection, sql, source)}) for file, sql in statements),
    )


def require_same_columns(source: LogSource, topic: str, files: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Refuse files whose columns differ; each file comes with the types of its columns.

    A file without a column that others have would pass for one whose searches have no category. Users of another type
    would not be recognised: 123 and '123.0' are one user to the publisher and two to the bounding, which breaks X1. The
    region 6075 in one file is 06075 in the others.
    """
    first: dict[str, str] = {}
    for file, types in files:
        columns = [source.column(role) for role in (*source.required, topic)]
        if missing := set(columns) - set(types):
            raise LogError(
                f"{file}: no column {min(missing)!r}, which other files of the log have; fix it, or leave it out"
            )
        for column in columns:
            if types[column] == _NULL_TYPE:
                continue
            if first.setdefault(column, types[column]) != types[column]:
                raise LogError(
                    f"{file}: column {column!r}: its type is {_kind(types[column])}, in other files "
                    f"{_kind(first[column])}; write one type in all files"
                )


def _refuse_duplicate_columns(
    connection: "duckdb.DuckDBPyConnection", file: str, types: Mapping[str, str], source: LogSource
) -> None:
    """Refuse a column that occurs twice: DuckDB would take the first, and call the second user_id_1."""
    for role in (*source.required, *TOPIC_COLUMNS):
        column = source.column(role)
        if f"{column}_1" in types and _header(connection, file, source).count(column) > 1:
            raise LogError(f"{file}: column {column!r} occurs twice; keep one of them")


def _header(connection: "duckdb.DuckDBPyConnection", file: str, source: LogSource) -> list[object]:
    """Return the column names as they are in a file."""
    if format_of(file) == "parquet":
        named = literal(glob.escape(file))
        return [name for (name,) in _query(connection, f"SELECT name FROM parquet_schema({named})", source)]
    rows = _query(connection, f"SELECT * FROM {_reader([file], header='false')} LIMIT 1", source)
    return list(rows[0])


def _is_int96(connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource) -> bool:
    """Return whether times have Parquet's old type INT96, which DuckDB reads as times without a zone."""
    listed = ", ".join(literal(glob.escape(file)) for file in files)
    sql = f"""
        SELECT file_name, bool_or(type = 'INT96') FROM parquet_metadata([{listed}])
        WHERE path_in_schema = {literal(source.column("timestamp"))} GROUP BY file_name ORDER BY file_name"""
    found = _query(connection, sql, source)
    old = [file for file, is_old in found if is_old]
    if old and len(old) < len(found):
        raise LogError(
            f"{old[0]}: column {source.column('timestamp')!r}: its type is INT96, in other files another; "
            "write one type in all files"
        )
    return bool(old)


def _zone_of_int96(source: LogSource) -> str:
    """Return the zone of INT96 times. Spark writes them as instants, so they are read as instants here too.

    Otherwise a week would begin at another hour when the other engine reads it.
    """
    if source.naive_zone not in (None, "UTC"):
        raise LogError(
            f"{described(source)}: column {source.column('timestamp')!r}: its type is INT96, which is UTC; "
            f"it is not read in {source.naive_zone}; write timestamps of 64 bits, or leave `naive_zone` out"
        )
    return "UTC"


def topic_role(source: LogSource, types: Mapping[str, str]) -> str:
    """Return which column gives a search's topic: its category, or else its text, which is then classified."""
    for role in TOPIC_COLUMNS:
        if source.column(role) in types:
            return role
    raise LogError(
        f"{described(source)}: no column {source.column('category')!r} or {source.column('query')!r}; "
        "map one with `columns` category=NAME, or query=NAME to have texts classified"
    )


def place_columns(source: LogSource) -> list[str]:
    """Return the columns that name regions, as the view `log` calls them."""
    return [f"{identifier(source.column(role))} AS {name}" for role, name in source.places.items()]


def topic_columns(source: LogSource, topic: str, text: str) -> list[str]:
    """Return the columns category and query in the engine's type for text; the one that is not used is empty."""
    columns = dict.fromkeys(TOPIC_COLUMNS, "NULL") | {topic: identifier(source.column(topic))}
    return [f"CAST({column} AS {text}) AS {role}" for role, column in columns.items()]


def check_types(source: LogSource, types: Mapping[str, str], allowed: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns whose type is not allowed for their role."""
    expected = {"user_id": "a whole number, text or UUID", "timestamp": "a timestamp"}
    for role in source.required:
        words = expected.get(role, "text, because codes have leading zeros")
        kind = types[source.column(role)]
        if kind not in allowed.get(role, allowed["region"]):
            column = source.column(role)
            raise LogError(f"{described(source)}: column {column!r}: expected {words}; its type is {_kind(kind)}")


def _kind(type_: str) -> str:
    """Return the name of a type without the fields of a structure, whose names may be values."""
    return re.split(r"[(<]", type_)[0]


def _query(connection: "duckdb.DuckDBPyConnection", sql: str, source: LogSource) -> list[tuple[Any, ...]]:
    """Run a statement over the log; an error says only that the files cannot be read."""
    import duckdb

    try:
        return connection.execute(sql).fetchall()
    except duckdb.Error:
        raise unreadable(connection, source) from None


def unreadable(connection: "duckdb.DuckDBPyConnection", source: LogSource) -> LogError:
    """Return an error that names the first file that cannot be read to its end, and quotes nothing from it."""
    import duckdb

    for file in find_files(source.patterns):
        try:
            connection.execute(f"SELECT max(hash(COLUMNS(*))) FROM {_reader([file])}").fetchall()
        except duckdb.Error:
            return LogError(f"{file}: cannot be read as {format_of(file)}; is the file complete?")
    return LogError(f"{described(source)}: the files cannot be read together; do all have the same columns and types?")


def described(source: LogSource) -> str:
    """Return the name of a log for messages."""
    more = f" and {len(source.patterns) - 1} more" if len(source.patterns) > 1 else ""
    return f"{source.patterns[0]}{more}"
