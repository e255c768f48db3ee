"""A search log that DuckDB reads: files of Parquet, CSV or JSON lines, or a table in memory. All of it is private."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from search_insights.errors import LogError
from search_insights.private.duckdb_readers import (
    FILE,
    INTEGERS,
    ask,
    header,
    is_int96,
    reader,
    time_spans_query,
    types_in,
)
from search_insights.private.log import (
    TOPIC_COLUMNS,
    LogSource,
    check_types,
    described,
    place_columns,
    require_columns,
    require_same_columns,
    topic_columns,
    topic_role,
)
from search_insights.private.log_copy import (
    COPY,
    copy_csv,
    copy_data,
    copy_json,
    forms_in_copy,
    needs_form,
    open_data,
    time_in_copy,
)
from search_insights.private.log_files import (
    file_appeared,
    file_changed,
    find_files,
    format_of,
    refuse_times_of_folders,
    state_of,
)
from search_insights.private.times import (
    DUCKDB,
    TimeReading,
    as_time,
    form_of,
    kind_of_most,
    require_no_unit,
    require_unit,
    require_zone,
)
from search_insights.support.sql import identifier

if TYPE_CHECKING:
    import duckdb

_NAIVE = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_ALLOWED = {
    "user_id": (*INTEGERS, "VARCHAR", "UUID", "BLOB"),
    "timestamp": (*_NAIVE, "TIMESTAMP WITH TIME ZONE", "VARCHAR", *INTEGERS),
    "region": ("VARCHAR",),
}


@dataclass(frozen=True, slots=True)
class SearchLog:
    """A log whose files and columns were checked, open as the view `log` of a DuckDB connection.

    `queries` tells whether it has texts instead of categories, `has_spans` whether there is a table `time_spans`: of
    each part of its files how many rows it has, how many have no time, and from the `lowest` to the `highest` time of
    the others, where the file says so.
    """

    source: LogSource
    files: tuple[str, ...]
    states: tuple[tuple[int, int, int], ...]
    times: TimeReading
    user_type: str
    queries: bool
    has_spans: bool = False

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
        return self.times.between(begin, end, DUCKDB)

    def count_query(self, begin: datetime, end: datetime) -> str:
        """Return the query for the number of events between two instants."""
        return f"SELECT count(*) FROM log WHERE {self.between(begin, end)}"

    @property
    def rows_query(self) -> str:
        """The query for the number of all rows."""
        return "SELECT coalesce(sum(rows), 0) FROM time_spans" if self.has_spans else "SELECT count(*) FROM log"

    def at_most_query(self, begin: datetime, end: datetime) -> str:
        """Return the query for a number that the events between two instants do not exceed, found without reading."""
        if not self.has_spans:
            return self.count_query(begin, end)
        return f"SELECT sum(rows) FROM time_spans WHERE {self.times.may_be_between(begin, end, DUCKDB)}"

    def all_between_query(self, begin: datetime, end: datetime) -> str:
        """Return the query whether `time_spans` says of all rows that they have a time between two instants."""
        return f"SELECT bool_and(no_time = 0 AND {self.times.are_between(begin, end, DUCKDB)}) FROM time_spans"

    def holding_query(self, begin: datetime, end: datetime) -> str:
        """Return the query for what `time_spans` says of each file: whether it holds an event between two instants, and
        whether it may hold one."""
        holds, may_hold = self.times.are_between(begin, end, DUCKDB), self.times.may_be_between(begin, end, DUCKDB)
        return f"""
            SELECT file, coalesce(bool_or(no_time < rows AND {holds}), false),
                   bool_or(coalesce(no_time < rows, true) AND {may_hold})
            FROM time_spans WHERE rows > 0 GROUP BY file"""


def open_log(connection: "duckdb.DuckDBPyConnection", source: LogSource, release_zone: str) -> SearchLog:
    """Check a log and open it as the view `log`: user_id, timestamp, region, category, query, file.

    If a log has categories, its queries are not read. Columns of levels are called region_0, region_1 and so on. Text
    and tables in memory are copied to a temporary table, which spills to the temporary folder of the connection.
    """
    zone = source.naive_zone or release_zone
    require_zone(zone)
    require_unit(source.time_unit)
    described(source)  # refuses a log that is not given
    files = find_files(source.patterns) if source.data is None else ()
    refuse_times_of_folders(files, source.column("timestamp"))
    states = tuple(state_of(file) for file in files)
    connection.execute("SET TimeZone = 'UTC'")  # not the machine's, although no reading of times depends on it
    has_spans = False
    if files and format_of(files[0]) == "parquet":
        types, topic = _check_files(connection, files, source)
        times = _open_parquet(connection, files, source, topic, types[source.column("timestamp")], zone)
        has_spans = _open_spans(connection, files, source, types[source.column("timestamp")])
    else:
        types, topic = _copy(connection, files, source)
        times = _open_copy(connection, source, topic, types[source.column("timestamp")], zone)
    user_type = types[source.column("user_id")]
    return SearchLog(source, files, states, times, user_type, queries=topic == "query", has_spans=has_spans)


def _check_files(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource
) -> tuple[dict[str, str], str]:
    """Check the columns of Parquet or CSV files; return their types, and the role that gives topics."""
    types = types_in(connection, reader(files), source)
    _refuse_duplicate_columns(connection, files, types, source)
    # The first line of a CSV file may be someone's search instead of a header, so it is not shown.
    rule = "the first line must name the columns, and all lines have as many fields"
    require_columns(source, types, rule if format_of(files[0]) == "csv" else "")
    topic = topic_role(source, types)
    several = files if len(files) > 1 else ()
    require_same_columns(source, topic, ((file, types_in(connection, reader([file]), source)) for file in several))
    check_types(source, types, _ALLOWED)
    return types, topic


def _refuse_duplicate_columns(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], types: Mapping[str, str], source: LogSource
) -> None:
    """Refuse a column that occurs twice in any file: DuckDB would take the first, and call the second user_id_1."""
    columns = [source.column(role) for role in (*source.required, *TOPIC_COLUMNS)]
    doubtful = [column for column in columns if f"{column}_1" in types]
    for file in files if doubtful else ():
        names = header(connection, file, source)
        for column in doubtful:
            if names.count(column) > 1:
                raise LogError(f"{file}: column {column!r} occurs twice; keep one of them")


def _copy(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource
) -> tuple[dict[str, str], str]:
    """Check and copy a log; return the types of its columns, and the role that gives topics."""
    if source.data is not None:
        types = open_data(connection, source)
        topic = topic_role(source, types)
        check_types(source, types, _ALLOWED)
        copy_data(connection, source, topic, types[source.column("timestamp")])
        return types, topic
    if format_of(files[0]) == "json":
        topic = copy_json(connection, files, source)
        return {source.column(role): "VARCHAR" for role in source.required}, topic
    types, topic = _check_files(connection, files, source)
    copy_csv(connection, files, source, topic, list(types))
    return types, topic


def _open_copy(
    connection: "duckdb.DuckDBPyConnection", source: LogSource, topic: str, time_type: str, zone: str
) -> TimeReading:
    """Create the views of a log that was copied."""
    time, times = "timestamp", _reading_of_type(source, time_type, zone)
    if times is None:
        forms, is_text = forms_in_copy(connection, source), time_type == "VARCHAR"
        times = TimeReading(zone, kind_of_most(forms, source.time_unit, _column(source), is_text=is_text))
        time = time_in_copy(times.kind, forms)
    # A log may have been copied with its texts before it was known that it has categories.
    topics = [f"CAST({role if role == topic else 'NULL'} AS VARCHAR) AS {role}" for role in TOPIC_COLUMNS]
    columns = ", ".join((*source.places.values(), *topics))
    _create_views(connection, source, f"SELECT user_id, {time} AS timestamp, {columns}, file FROM {COPY}")
    return times


def _open_parquet(
    connection: "duckdb.DuckDBPyConnection",
    files: Sequence[str],
    source: LogSource,
    topic: str,
    time_type: str,
    zone: str,
) -> TimeReading:
    """Create the views of a log in Parquet, which is read for each day."""
    time, times = identifier(source.column("timestamp")), _reading_of_type(source, time_type, zone)
    if times is None:
        is_text = time_type == "VARCHAR"
        form = form_of(time, DUCKDB, source.time_unit, is_text=is_text)
        forms = dict(ask(connection, f"SELECT {form}, count(*) FROM {reader(files)} GROUP BY 1", source))
        times = TimeReading(zone, kind_of_most(forms, source.time_unit, _column(source), is_text=is_text))
        time = as_time(time, times.kind, DUCKDB, is_text=is_text)
    elif times.kind == "clock" and is_int96(connection, files, source):
        times = TimeReading(_zone_of_int96(source), "int96")
    columns = ", ".join([*place_columns(source), *topic_columns(source, topic, "VARCHAR")])
    user = identifier(source.column("user_id"))
    rows = f"SELECT {user} AS user_id, {time} AS timestamp, {columns}, {FILE} AS file FROM {reader(files)}"
    _create_views(connection, source, rows)
    return times


def _open_spans(
    connection: "duckdb.DuckDBPyConnection", files: Sequence[str], source: LogSource, time_type: str
) -> bool:
    """Create `time_spans`, if the times are of a type of which files in Parquet tell the least and the greatest."""
    if needs_form(time_type):
        return False
    spans = time_spans_query(files, source.column("timestamp"), time_type)
    ask(connection, f"CREATE OR REPLACE TEMP TABLE time_spans AS {spans}", source)
    return True


def _create_views(connection: "duckdb.DuckDBPyConnection", source: LogSource, rows: str) -> None:
    ask(connection, f"CREATE OR REPLACE TEMP VIEW log AS {rows}", source)
    ask(connection, "CREATE OR REPLACE TEMP VIEW log_files AS FROM log", source)


def _reading_of_type(source: LogSource, time_type: str, zone: str) -> TimeReading | None:
    """Decide how times of this type are read; None if the values have to tell."""
    if needs_form(time_type):
        return None
    require_no_unit(source.time_unit, f"{_column(source)}: its type is {time_type}")
    return TimeReading(zone, "clock" if time_type in _NAIVE else "instant")


def _column(source: LogSource) -> str:
    """Return the name of the column of times for messages."""
    return f"{described(source)}: column {source.column('timestamp')!r}"


def _zone_of_int96(source: LogSource) -> str:
    """Return the zone of INT96 times. Spark writes them as instants, so they are read as instants here too.

    Otherwise a week would begin at another hour when the other engine reads it.
    """
    if source.naive_zone not in (None, "UTC"):
        raise LogError(
            f"{_column(source)}: its type is INT96, which is UTC; it is not read in {source.naive_zone}; "
            "write timestamps of 64 bits, or leave `naive_zone` out"
        )
    return "UTC"
