"""A search log that Spark reads: Parquet files wherever Spark finds them, or a table of its catalog. All private.

It is checked as `log.py` checks one, and refused in the same words.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from search_insights.errors import LogError, UsageError
from search_insights.log import (
    REQUIRED,
    TOPIC_COLUMNS,
    LogSource,
    check_types,
    require_alike,
    require_columns,
    require_parquet,
    shown,
    topic_columns,
    topic_role,
    unknown_zone,
)
from search_insights.quoting import identifier
from search_insights.spark_session import condition_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE = "table:"  # what a table's name is written with, to tell it from a path

_USERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", *(f"DECIMAL({p},0)" for p in range(1, 39)), "STRING", "BINARY")
_ALLOWED = {"user_id": _USERS, "timestamp": ("TIMESTAMP", "TIMESTAMP_NTZ", "STRING"), "region": ("STRING",)}
_WORDS = {
    "PATH_NOT_FOUND": "no such file; give Parquet files, folders of them, or globs, as Spark reads them",
    "UNABLE_TO_INFER_SCHEMA": "a folder without log files; give Parquet files, folders of them, or globs",
    "TABLE_OR_VIEW_NOT_FOUND": "no such table in Spark's catalog",
}


@dataclass(frozen=True, slots=True)
class SparkLog:
    """A log whose columns were checked, open as the view `log` of a session."""

    source: LogSource
    files: tuple[str, ...]
    naive: bool
    zone: str
    own_zone: bool = True
    queries: bool = False

    @property
    def naive_zone(self) -> str:
        """The zone that times without one were read in; empty if the column's type has one."""
        return "" if self.own_zone else self.zone

    def between(self, begin: datetime, end: datetime) -> str:
        """Write the condition that an event lies in a span of time, its begin included, its end not."""
        return f"(timestamp >= {self._instant(begin)} AND timestamp < {self._instant(end)})"

    def _instant(self, moment: datetime) -> str:
        if self.naive:
            return f"TIMESTAMP_NTZ '{moment.astimezone(ZoneInfo(self.zone)).replace(tzinfo=None)}'"
        return f"TIMESTAMP_LTZ '{moment.astimezone(UTC)}'"


def open_spark_log(session: "SparkSession", source: LogSource, release_zone: str) -> SparkLog:
    """Check a log and open it as the view `log`: user_id, timestamp, region, category, query."""
    zone = source.naive_zone or release_zone
    _set_zone(session, zone)
    frame = _read(session, source)
    types = _types(frame)
    require_columns(source, types)
    topic = topic_role(source, types)
    check_types(source, types, _ALLOWED)
    files = tuple(sorted(set(frame.inputFiles()))) if not _table(source) else ()
    require_alike(source, topic, _types_of_each(session, source, files))
    kind = types[source.column("timestamp")]
    time = identifier(source.column("timestamp"))
    columns = [
        f"{identifier(source.column('user_id'))} AS user_id",
        f"{f'TRY_CAST({time} AS TIMESTAMP_LTZ)' if kind == 'STRING' else time} AS timestamp",
        f"{identifier(source.column('region'))} AS region",
        *topic_columns(source, topic, "STRING"),
    ]
    frame.selectExpr(*columns).createOrReplaceTempView("log")
    if files:  # apart, because Spark is slow to tell the file of every row
        frame.selectExpr(*columns, "_metadata.file_path AS file").createOrReplaceTempView("log_files")
    return SparkLog(
        source, files, kind == "TIMESTAMP_NTZ", zone, own_zone=kind == "TIMESTAMP", queries=topic == "query"
    )


def unreadable(session: "SparkSession", log: SparkLog, error: Exception) -> LogError:
    """Find the first file that cannot be read to its end; or say of what kind the error is, without quoting it."""
    for file in log.files:
        try:
            session.read.parquet(_escaped(file)).selectExpr("max(xxhash64(*))").collect()
        except spark_errors():
            return _broken(file)
    return LogError(
        f"{shown(log.source)}: Spark could not finish a day's work ({condition_of(error)}); give it more memory with "
        "--conf, or look into the cluster's own log"
    )


def _table(source: LogSource) -> str | None:
    """Name the table, if the log is one."""
    tables = [pattern for pattern in source.patterns if pattern.startswith(TABLE)]
    if tables and len(source.patterns) > 1:
        raise UsageError(f"{tables[0]}: a log is one table, or Parquet files; give one of them")
    return tables[0].removeprefix(TABLE) if tables else None


def _read(session: "SparkSession", source: LogSource) -> "DataFrame":
    table = _table(source)
    if table is None:
        for pattern in source.patterns:
            require_parquet(pattern)
    try:
        frame = session.read.parquet(*dict.fromkeys(source.patterns)) if table is None else session.table(table)
        _ = frame.schema  # a Spark Connect server looks at the files only now
    except spark_errors() as error:
        words = _WORDS.get(condition_of(error), f"Spark cannot read it ({condition_of(error)})")
        raise LogError(f"{shown(source)}: {words}") from None
    return frame


def _types(frame: "DataFrame") -> dict[str, str]:
    return {column.name: column.dataType.simpleString().upper() for column in frame.schema.fields}


def _types_of_each(
    session: "SparkSession", source: LogSource, files: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Look into every file, if there are several; what its folders' names say are columns, too."""
    roles = [source.column(role) for role in (*REQUIRED, *TOPIC_COLUMNS)]

    def look(file: str) -> tuple[str, dict[str, str]]:
        try:
            types = _types(session.read.parquet(_escaped(file)))
        except spark_errors():
            raise _broken(file) from None
        return _plain(file), {column: "STRING" for column in roles if f"/{column}=" in _plain(file)} | types

    with ThreadPoolExecutor(16) as pool:  # the time goes into waiting for storage
        yield from pool.map(look, files if len(files) > 1 else ())


def _broken(file: str) -> LogError:
    return LogError(f"{_plain(file)}: cannot be read as parquet; is the file whole?")


def _plain(file: str) -> str:
    """Write a file's address as its owner does."""
    return re.sub("^file:/+", "/", unquote(file))


def _escaped(file: str) -> str:
    """Write a file's address so that Spark takes it for a name and not for a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", unquote(file))


def _set_zone(session: "SparkSession", zone: str) -> None:
    """Set the zone of times that are text and carry none."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise unknown_zone(zone) from None
    try:
        session.conf.set("spark.sql.session.timeZone", zone)
    except spark_errors():
        raise unknown_zone(zone) from None
