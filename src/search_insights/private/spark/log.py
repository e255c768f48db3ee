"""A search log that Spark reads: Parquet files wherever Spark finds them, or a table of its catalog. All private.

It is checked in the same way as in `private/log.py`, and refused with the same messages.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from search_insights.errors import LogError
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
from search_insights.private.log_files import (
    file_appeared,
    file_changed,
    file_disappeared,
    refuse_times_of_folders,
    require_parquet,
)
from search_insights.private.spark.errors import condition_of, spark_errors
from search_insights.private.times import (
    SPARK,
    Kind,
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
    from pyspark.sql import DataFrame, SparkSession

TABLE = "table:"  # the prefix that tells a table's name from a path

_USER_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", *(f"DECIMAL({p},0)" for p in range(1, 39)), "STRING", "BINARY")
_WITH_FORMS = ("STRING", "TINYINT", "SMALLINT", "INT", "BIGINT")
_ALLOWED = {"user_id": _USER_TYPES, "timestamp": ("TIMESTAMP", "TIMESTAMP_NTZ", *_WITH_FORMS), "region": ("STRING",)}
_EXPLANATIONS = {
    "PATH_NOT_FOUND": "no such file; give Parquet files, folders of them, or globs, as Spark reads them",
    "UNABLE_TO_INFER_SCHEMA": "a folder without log files; give Parquet files, folders of them, or globs",
    "TABLE_OR_VIEW_NOT_FOUND": "no such table in Spark's catalog",
    "CONFLICTING_DIRECTORY_STRUCTURES": "some folders are named key=value and others are not; use one way for all",
    "PARQUET_TYPE_ILLEGAL": (
        "a column of a type that Spark does not read; write timestamps in microseconds, and UUIDs as text, or use "
        "the duckdb engine"
    ),
}
_KIND: dict[str, Kind] = {"TIMESTAMP": "instant", "TIMESTAMP_NTZ": "clock"}
_FILE_ERROR = re.compile(
    r"\[FAILED_READ_FILE\.(?P<kind>[A-Z_]+)\] Encountered error while reading file (?P<file>.+?)\.\s"
)
_KEY_VALUE = re.compile("/[^/=]+=[^/]*/")  # a folder whose name gives a column's value, such as day=01

States = Mapping[str, tuple[int, int]]  # of each file: its length, and when it was written, in milliseconds


@dataclass(frozen=True, slots=True)
class SparkLog:
    """A log whose columns were checked, open as the view `log` of a session."""

    source: LogSource
    files: tuple[str, ...]
    states: States
    times: TimeReading
    queries: bool

    def between(self, begin: datetime, end: datetime) -> str:
        """Return the condition that an event lies between two instants, the first included, the second not."""
        return self.times.between(begin, end, SPARK)


def open_spark_log(session: "SparkSession", source: LogSource, release_zone: str) -> SparkLog:
    """Check a log and open it as the view `log`: user_id, timestamp, region, category, query."""
    zone = source.naive_zone or release_zone
    require_zone(zone)
    require_unit(source.time_unit)
    if source.data is not None:
        raise LogError(f"{described(source)}: on Spark a log is Parquet files or a table; use the duckdb engine")
    session.conf.set("spark.sql.session.timeZone", "UTC")  # not the machine's, although no reading depends on it
    with explained(source, "Spark cannot list its files"):
        states = _states(session, source)
    if not states and _table(source) is None:
        raise LogError(f"{described(source)}: {_EXPLANATIONS['UNABLE_TO_INFER_SCHEMA']}")
    refuse_times_of_folders(sorted(states), source.column("timestamp"))
    with explained(source, "Spark cannot read it", states):
        frame, files = _read(session, source, states)
        types = _types(frame)
        require_columns(source, types)
        topic = topic_role(source, types)
        require_same_columns(source, topic, _types_by_file(session, source, files))
        check_types(source, types, _ALLOWED)
        times = TimeReading(zone, _kind(frame, source, types))
        _create_views(frame, source, topic, types, times, has_files=bool(files))
    return SparkLog(source, files, states, times, queries=topic == "query")


def _kind(frame: "DataFrame", source: LogSource, types: Mapping[str, str]) -> Kind:
    """Decide how times of this type are read."""
    time_type, column = types[source.column("timestamp")], f"{described(source)}: column {source.column('timestamp')!r}"
    if time_type not in _WITH_FORMS:
        require_no_unit(source.time_unit, f"{column}: its type is {time_type}")
        return _KIND[time_type]
    is_text = time_type == "STRING"
    form = form_of(identifier(source.column("timestamp")), SPARK, source.time_unit, is_text=is_text)
    rows = frame.selectExpr(f"{form} AS form").groupBy("form").count().collect()
    return kind_of_most({row["form"]: row["count"] for row in rows}, source.time_unit, column, is_text=is_text)


def _create_views(
    frame: "DataFrame", source: LogSource, topic: str, types: Mapping[str, str], times: TimeReading, has_files: bool
) -> None:
    time = identifier(source.column("timestamp"))
    if types[source.column("timestamp")] in _WITH_FORMS:
        time = as_time(time, times.kind, SPARK, is_text=types[source.column("timestamp")] == "STRING")
    columns = [
        f"{identifier(source.column('user_id'))} AS user_id",
        f"{time} AS timestamp",
        *place_columns(source),
        *topic_columns(source, topic, "STRING"),
    ]
    frame.selectExpr(*columns).createOrReplaceTempView("log")
    if has_files:  # a view of its own, because Spark is slow to give the file of every row
        frame.selectExpr(*columns, "_metadata.file_path AS file").createOrReplaceTempView("log_files")


def require_unchanged(session: "SparkSession", log: SparkLog) -> None:
    """Refuse a log whose files changed since it was opened.

    For a table this is not known: it should be a snapshot, or a view that gives the same rows again.
    """
    with explained(log.source, "Spark cannot list its files again"):
        try:
            now = _states(session, log.source)
        except spark_errors() as error:
            if condition_of(error) != "PATH_NOT_FOUND":
                raise
            now = {}
    for file in sorted(log.states.keys() | now.keys()):
        if file not in now:
            raise file_disappeared(file)
        if file not in log.states:
            raise file_appeared(file)
        if log.states[file] != now[file]:
            raise file_changed(file)


@contextmanager
def explained(source: LogSource, otherwise: str, files: Collection[str] = ()) -> Iterator[None]:
    """Replace Spark's errors, which quote values of the log, with errors that do not."""
    try:
        yield
    except spark_errors() as error:
        raise _explain(described(source), error, otherwise, files) from None


def _explain(what: str, error: Exception, otherwise: str, files: Collection[str] = ()) -> LogError:
    """Return the error for one of Spark's. It names a file only if the error is about it and its name is known."""
    if of_file := _FILE_ERROR.search(str(error)):
        file = _without_file_scheme(unquote(of_file["file"]))
        file = file if file in files else what
        return file_disappeared(file) if of_file["kind"] == "FILE_NOT_EXIST" else _broken(file)
    if "No module named 'search_insights'" in str(error):
        return LogError(
            f"{what}: its queries are classified by Spark's workers, and search-insights is not installed there; "
            "install the same version, or add a category column first"
        )
    condition = condition_of(error)
    return LogError(f"{what}: {_EXPLANATIONS.get(condition, f'{otherwise} ({condition})')}")


def _table(source: LogSource) -> str | None:
    """Return the name of the table, if the log is one."""
    tables = [pattern for pattern in source.patterns if pattern.startswith(TABLE)]
    if tables and len(source.patterns) > 1:
        raise LogError(f"{tables[0]}: a log is one table, or Parquet files; give one of them")
    return tables[0].removeprefix(TABLE) if tables else None


def _states(session: "SparkSession", source: LogSource) -> dict[str, tuple[int, int]]:
    """Return the files, also those in subfolders, with what changes when they do. None is opened."""
    if _table(source) is not None:
        return {}
    for pattern in source.patterns:
        require_parquet(pattern)
    listing = session.read.format("binaryFile").option("recursiveFileLookup", True).load(list(source.patterns))
    listed = listing.selectExpr("path", "length", "unix_millis(modificationTime)").collect()
    states = {_without_file_scheme(path): (length, written) for path, length, written in listed}
    for file in sorted(_without_file_scheme(unquote(file)) for file in listing.inputFiles()):
        if file not in states:  # Spark skips empty files
            raise _broken(file)
    return states


def _read(session: "SparkSession", source: LogSource, states: States) -> tuple["DataFrame", tuple[str, ...]]:
    """Open the table or the files; return the files, too.

    Spark uses subfolders either for the columns in their names, or for all the files in them.
    """
    table = _table(source)
    if table is not None:
        return session.table(table), ()
    key_value = any(_KEY_VALUE.search(file) for file in states)
    frame = session.read.option("recursiveFileLookup", not key_value).parquet(*dict.fromkeys(source.patterns))
    files = tuple(sorted({_without_file_scheme(unquote(file)) for file in frame.inputFiles()}))
    if skipped := states.keys() - set(files):
        raise LogError(
            f"{min(skipped)}: is in a folder that Spark does not read, because others are named key=value; give "
            "that folder, too, or leave it out"
        )
    return frame, files


def _types(frame: "DataFrame") -> dict[str, str]:
    return {column.name: column.dataType.simpleString().upper() for column in frame.schema.fields}


def _types_by_file(
    session: "SparkSession", source: LogSource, files: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the column types of every file, if there are several; the names of its folders may give columns, too."""
    log_columns = [source.column(role) for role in (*source.required, *TOPIC_COLUMNS)]

    def types_of(file: str) -> tuple[str, dict[str, str]]:
        try:
            types = _types(session.read.parquet(_escaped(file)))
        except spark_errors() as error:
            raise _explain(file, error, "Spark cannot read it") from None
        return file, {column: "STRING" for column in log_columns if f"/{column}=" in file} | types

    with ThreadPoolExecutor(16) as pool:  # most of the time is spent waiting for storage
        yield from pool.map(types_of, files if len(files) > 1 else ())


def _broken(file: str) -> LogError:
    return LogError(f"{file}: cannot be read as parquet; is the file complete?")


def _without_file_scheme(file: str) -> str:
    """Return a file's address as its owner writes it: /path, not file:///path."""
    return re.sub("^file:/+", "/", file)


def _escaped(file: str) -> str:
    """Return a file's address so that Spark takes it for a name, not for a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", file)
