"""Spark reads the logs that DuckDB reads, and refuses others with the same errors."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from search_insights.errors import LogError
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Unplaced
from search_insights.private.log import LogSource
from search_insights.private.log_files import find_files
from search_insights.private.region_names import region_names
from search_insights.private.spark.session import Cluster, open_session
from search_insights.spec.coverage import Coverage
from tests.support.logs import MONDAY, ROWS, SECRET, WEEK, on_spark, searches, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_table_of_the_catalog_is_a_log(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """A table may hold years: rows of other weeks are not unused rows, only rows without a time are."""
    query = searches(timestamp=f"CASE WHEN i > 4 THEN TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days(i::INTEGER) END")
    session.read.parquet(str(write_log(tmp_path / "log.parquet", query))).write.saveAsTable("searches")
    try:
        engine = on_spark(session, coverage, "table:searches")
        found = engine.bound(WEEK.days[5], *WEEK.day_bounds(WEEK.days[5]))
        left = engine.unused_rows(WEEK.begin, WEEK.end, (WEEK.begin, WEEK.end), 2, Unplaced())
    finally:
        session.sql("DROP TABLE searches")
    assert found.events == 1
    assert (left.rows, left.outside) == (2 + 5, 5)


def test_globs_and_folders_by_category_are_read(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """A column may be given by folders named key=value, with Hive's default name for no value; globs are read."""
    for word in ("A1", None):
        folder = tmp_path / f"category={word or '__HIVE_DEFAULT_PARTITION__'}"
        for part in range(2):
            write_log(folder / f"part {part}.parquet", searches(user_id=f"i + 1000 * {part}", category=""))
    engine = on_spark(session, coverage, tmp_path)
    rows = session.sql("SELECT category, count(*) FROM log GROUP BY category ORDER BY category").collect()
    assert [tuple(row) for row in rows] == [(None, 280), ("A1", 280)]
    assert len(engine.log.files) == 4
    for part in range(3):
        write_log(tmp_path / "globs" / f"part {part}.parquet")
    assert len(on_spark(session, coverage, f"{tmp_path}/globs/part [01]*").log.files) == 2


def users_of(session: "SparkSession") -> list[int]:
    """Return the users of the session's log."""
    return sorted(user for (user,) in session.sql("SELECT user_id FROM log").collect())


def test_files_in_folders_below_are_read(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """As on DuckDB, files are read at any depth, and once even if one pattern contains another."""
    log = tmp_path / "log"
    for number, name in enumerate(("a.parquet", "late/b c.parquet", "2021/03/50%.parquet")):
        write_log(log / name, searches(user_id=f"{number}", rows=2))
    whose = [0, 0, 1, 1, 2, 2]
    for patterns in ((log,), (log, log / "late"), (log / "a.parquet", log), (f"{log}/*",)):
        engine = on_spark(session, coverage, *patterns)
        assert users_of(session) == whose
        assert engine.log.files == find_files([str(pattern) for pattern in patterns])
    on_spark(session, coverage, log / "2021")
    assert users_of(session) == [2, 2]
    write_log(log / "_temporary" / "d.parquet")  # what an unfinished job leaves; Spark hides it
    on_spark(session, coverage, log)
    assert users_of(session) == whose


def test_files_that_spark_would_skip_are_refused(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """Below folders named key=value Spark skips some files: the log is refused, and the error names a file."""
    write_log(tmp_path / "category=A1" / "a.parquet")
    write_log(tmp_path / "category=A1" / "late" / "b.parquet")
    with pytest.raises(LogError, match=r"category=A1/late/b\.parquet: is in a folder that Spark does not read"):
        on_spark(session, coverage, f"{tmp_path}/category=*")
    write_log(tmp_path / "late" / "c.parquet")
    with pytest.raises(LogError, match="some folders are named key=value and others are not"):
        on_spark(session, coverage, tmp_path)


# A log that changes


def rewrite(folder: Path) -> None:
    """Replace a file."""
    write_log(folder / "a.parquet", searches(rows=200))


def remove(folder: Path) -> None:
    """Remove a file."""
    (folder / "a.parquet").unlink()


def add(folder: Path) -> None:
    """Add a file in a folder below."""
    write_log(folder / "late" / "a.parquet")


CHANGES = [
    (rewrite, "/a.parquet: changed while it was read; nothing was spent"),
    (remove, "/a.parquet: disappeared while the log was read; nothing was spent"),
    (add, "/late/a.parquet: appeared while the log was read; nothing was spent"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_log_that_changes_is_refused_by_both_engines(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, change: Callable[[Path], None], words: str
) -> None:
    """A week is noised once, so its log must be final: both engines name a file that changes, disappears or appears."""
    span = (WEEK.begin, WEEK.end)
    for name in ("a", "b"):
        write_log(tmp_path / f"{name}.parquet")
    by_spark = on_spark(session, coverage, tmp_path)
    with open_duckdb_engine(LogSource((str(tmp_path),)), coverage.spec, region_names(coverage)) as by_duckdb:
        for engine in (by_spark, by_duckdb):
            assert engine.unused_rows(*span, span, 2 * ROWS, Unplaced()).total == 0
        change(tmp_path)
        for engine in (by_spark, by_duckdb):
            with pytest.raises(LogError, match=re.escape(f"{tmp_path}{words}")):
                engine.unused_rows(*span, span, 2 * ROWS, Unplaced())


def test_a_log_that_disappears_is_reported_as_on_duckdb(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """The error names the file that disappeared, whether the log was given as a file or as a folder."""
    span = (WEEK.begin, WEEK.end)
    log = write_log(tmp_path / "a.parquet")
    engines = [on_spark(session, coverage, pattern) for pattern in (log, tmp_path)]
    log.unlink()
    for engine in engines:
        with pytest.raises(LogError, match=r"a\.parquet: disappeared while the log was read; nothing was spent"):
            engine.unused_rows(*span, span, ROWS, Unplaced())


@pytest.mark.thorough
def test_a_remote_spark_checks_the_files_too(spark: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """With Spark Connect, files in folders below are read, and a damaged or changed file is named."""
    span = (WEEK.begin, WEEK.end)
    write_log(tmp_path / "log" / "a.parquet")
    write_log(tmp_path / "log" / "late" / "b.parquet")
    port = spark.conf.get("spark.connect.grpc.binding.port")
    with open_session(Cluster(remote=f"sc://localhost:{port}")) as session:
        engine = on_spark(session, coverage, tmp_path / "log")
        assert engine.unused_rows(*span, span, 2 * ROWS, Unplaced()).rows == 2 * ROWS
        spoil(tmp_path / "log" / "a.parquet")
        with pytest.raises(LogError, match=r"log/a\.parquet: cannot be read as parquet"):
            engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))
        with pytest.raises(LogError, match=r"log/a\.parquet: changed while it was read"):
            engine.unused_rows(*span, span, 2 * ROWS, Unplaced())


# Files that are damaged while they are read


def spoil(file: Path) -> None:
    """Overwrite the values of a file without changing its length and its footer."""
    whole = file.read_bytes()
    begin = whole.index(b"94103")  # in the middle of its values
    file.write_bytes(whole[:4] + b"\xff" * begin + whole[begin + 4 :])


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (spoil, "b c.parquet: cannot be read as parquet; is the file complete?"),
        (Path.unlink, "b c.parquet: disappeared while the log was read; nothing was spent"),
    ],
)
@pytest.mark.thorough
def test_a_file_that_is_damaged_during_the_run_is_named(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, harm: Callable[[Path], None], words: str
) -> None:
    """The error names the damaged file and no other, even if it has a column that Spark cannot hash."""
    write_log(tmp_path / "a.parquet", searches(more="MAP {'a': i} AS more"))
    broken = write_log(tmp_path / "b c.parquet", searches(more="MAP {'a': i} AS more"))
    engine = on_spark(session, coverage, tmp_path)
    harm(broken)
    with pytest.raises(LogError) as refused:
        engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))
    assert str(refused.value) == f"{tmp_path}/{words}"


def test_a_file_without_a_byte_is_refused(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """Spark would skip an empty file, which may be a day's log that was not written."""
    write_log(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").touch()
    for log in (tmp_path, tmp_path / "b.parquet"):
        with pytest.raises(LogError, match=r"b\.parquet: cannot be read as parquet"):
            on_spark(session, coverage, log)


@pytest.mark.thorough
def test_workers_without_this_program_are_reported(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queries are classified on the workers, which need the program: the error says so and blames no file."""
    (tmp_path / "search_insights.py").write_text(
        """raise ModuleNotFoundError("No module named 'search_insights'", name="search_insights")"""
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(session.sparkContext, "pythonExec", str(python))
    log = write_log(tmp_path / "log.parquet", searches(category="", more="'covid vaccine' AS query"))
    engine = on_spark(session, coverage, log)
    with pytest.raises(LogError, match="search-insights is not installed there"):
        engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))


# Columns and types


def refusals(session: "SparkSession", coverage: Coverage, log: Path) -> tuple[str, str]:
    """Return the errors with which Spark and DuckDB refuse a log."""
    with pytest.raises(LogError) as by_spark:
        on_spark(session, coverage, log)
    with (
        pytest.raises(LogError) as by_duckdb,
        open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)),
    ):
        pass
    return str(by_spark.value), str(by_duckdb.value)


@pytest.mark.parametrize(
    "query",
    [
        searches(user_id=""),
        searches(timestamp=""),
        searches(category=""),
        searches(user_id="i::DOUBLE"),
        searches(region="94103"),
        searches(timestamp=f"DATE '{MONDAY}'"),
    ],
    ids=["no user", "no time", "no category", "user", "region", "time"],
)
def test_spark_refuses_in_the_same_words(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, query: str
) -> None:
    """For a missing column or one of the wrong type the error is that of DuckDB, except for the names of types."""
    by_spark, by_duckdb = refusals(session, coverage, write_log(tmp_path / "log.parquet", query))
    assert by_spark == by_duckdb.replace("INTEGER", "INT")


def test_times_are_not_taken_from_the_names_of_folders_by_either_engine(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """The rows' own times would be replaced by the one in the name."""
    write_log(tmp_path / f"timestamp={MONDAY}" / "log.parquet")
    by_spark, by_duckdb = refusals(session, coverage, tmp_path)
    assert "is below a folder that gives a value for 'timestamp'" in by_duckdb
    assert by_spark == by_duckdb


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing.parquet", "nothing.parquet: no such file"),
        ("*.pq", "pq: no such file"),
        ("empty", "empty: a folder without log files"),
        ("log.csv", "log.csv: on Spark a log is Parquet files or a table; use the duckdb engine"),
        ("text.parquet", "text.parquet"),
        ("table:nowhere", "table:nowhere: no such table in Spark's catalog"),
    ],
)
def test_a_path_without_a_log_for_spark_is_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, name: str, words: str
) -> None:
    """The error repeats the path and says what is wrong with it, without showing the content of a file."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text(SECRET)
    with pytest.raises(LogError) as refused:
        on_spark(session, coverage, name if name.startswith("table:") else tmp_path / name)
    assert words in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("column", "kind", "query"),
    [
        ("user_id", "VARCHAR", searches(user_id="i::VARCHAR")),
        ("timestamp", "VARCHAR", searches(timestamp=f"'{MONDAY}'")),
        ("region", "BIGINT", searches(region="i")),
        ("category", "BIGINT", searches(category="i")),
    ],
)
def test_a_column_of_two_types_is_refused_by_both_engines(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, column: str, kind: str, query: str
) -> None:
    """One engine could read the region 6075 as 06075, and the other fail late: the error names the second file."""
    write_log(tmp_path / "a.parquet")
    write_log(tmp_path / "b.parquet", query)
    by_spark, by_duckdb = refusals(session, coverage, tmp_path)
    assert f"b.parquet: column {column!r}: its type is {kind}, in other files" in by_duckdb
    assert by_spark == by_duckdb.replace("VARCHAR", "STRING").replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMP")


@pytest.mark.parametrize(
    "query",
    [
        searches(user_id="uuid()"),
        searches(timestamp=f"TIMESTAMP_NS '{MONDAY} 20:00:00'"),
        searches(more="uuid() AS visit"),
    ],
    ids=["UUID", "nanoseconds", "a column that is not used"],
)
def test_types_that_spark_does_not_read_are_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, query: str
) -> None:
    """For one file or several, the error says how to write these types, not that the file is damaged."""
    log = write_log(tmp_path / "b.parquet", query)
    words = "a column of a type that Spark does not read; write timestamps in microseconds, and UUIDs as text"
    with pytest.raises(LogError, match=rf"b\.parquet: {words}"):
        on_spark(session, coverage, log)
    write_log(tmp_path / "a.parquet")
    with pytest.raises(LogError, match=words):
        on_spark(session, coverage, tmp_path)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (searches(category=""), "b c.parquet: no column 'category', which other files of the log have"),
        (searches(user_id="'u' || i"), "b c.parquet: column 'user_id': its type is STRING, in other files BIGINT"),
        ("", "b c.parquet: cannot be read as parquet"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, query: str, words: str
) -> None:
    """As on DuckDB, a file that Spark would read with missing values or different users is refused by name."""
    write_log(tmp_path / "a.parquet")
    if query:
        write_log(tmp_path / "b c.parquet", query)
    else:
        (tmp_path / "b c.parquet").write_text("PAR1 no PAR1")
    with pytest.raises(LogError) as refused:
        on_spark(session, coverage, tmp_path)
    assert words in str(refused.value)
