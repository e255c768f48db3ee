"""Spark counts what DuckDB counts, refuses what it refuses in the same words, and betrays as little."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from search_insights.cells import CellList
from search_insights.counting import add_contributions
from search_insights.coverage import Coverage
from search_insights.duckdb_engine import open_duckdb_engine
from search_insights.engine import Engine
from search_insights.errors import InputError, LogError, UsageError
from search_insights.log import LogSource
from search_insights.noise import Counts
from search_insights.region_names import region_names
from search_insights.simulation import simulate
from search_insights.spark_session import Cluster, open_session, parse_settings, private_session, require_java
from search_insights.store import open_store
from tests.bounded import Event, bench
from tests.conftest import QUICK
from tests.logs import MONDAY, PACIFIC, WEEK, Publisher, on_spark, searches, write_log

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

SECRET = "hushhush"  # stands for anything private


@pytest.fixture
def session(spark: "SparkSession") -> "SparkSession":
    """A session with settings and views of its own."""
    return private_session(spark)


def counts_of(engine: Engine, coverage: Coverage, day: date) -> Counts:
    """Count a day's cells exactly."""
    cells = CellList(coverage)
    counts = cells.zeros()
    add_contributions(counts, cells, region_names(coverage), engine.bound(day, *WEEK.day_bounds(day)))
    return counts


# Agreement


@pytest.fixture(scope="module")
def simulated(us_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A week of the simulated United States, in which people search in several places."""
    folder = tmp_path_factory.mktemp("simulated") / "log"
    simulate(folder, us_coverage, WEEK.first_day, 1, 30_000, seed=7)
    return folder


def one_place(log: Path, folder: Path) -> Path:
    """Keep of each user's day the searches in one place: then nothing is left to choice."""
    query = f"""
        SELECT * FROM '{log}/*.parquet'
        QUALIFY region = first_value(region) OVER (
            PARTITION BY user_id, (timestamp AT TIME ZONE '{PACIFIC.key}')::DATE ORDER BY hash(region))"""
    return write_log(folder / "one-place.parquet", query)


def test_engines_agree_where_nothing_is_left_to_choice(
    session: "SparkSession", us_coverage: Coverage, simulated: Path, tmp_path: Path
) -> None:
    """A log in which nobody searches in two places of a day has the same counts on both engines, cell by cell."""
    log = one_place(simulated, tmp_path)
    by_spark = on_spark(session, us_coverage, log)
    with open_duckdb_engine(LogSource((str(log),)), us_coverage.spec, region_names(us_coverage)) as by_duckdb:
        for day in WEEK.days[:2]:
            counts = counts_of(by_spark, us_coverage, day)
            assert counts.sum() > 3000
            np.testing.assert_array_equal(counts, counts_of(by_duckdb, us_coverage, day))


def test_engines_keep_the_same_number_of_user_days(
    session: "SparkSession", us_coverage: Coverage, simulated: Path
) -> None:
    """Whatever is left to choice, each day and category has the same total at state level; so has what was left out.

    The choices themselves differ, because the engines hash differently.
    """
    cells = CellList(us_coverage)
    states = np.array([cell.region.level == "state" for cell in cells.cells])
    categories = np.array([cell.category for cell in cells.cells])
    by_spark = on_spark(session, us_coverage, simulated)
    with open_duckdb_engine(LogSource((str(simulated),)), us_coverage.spec, region_names(us_coverage)) as by_duckdb:
        for day in WEEK.days[:2]:
            one, other = counts_of(by_spark, us_coverage, day), counts_of(by_duckdb, us_coverage, day)
            for category in set(categories):
                chosen = states & (categories == category)
                assert one[chosen].sum() == other[chosen].sum() > 0
            assert (one != other).any()
        span = (WEEK.begin, WEEK.end)
        assert by_spark.left_out(*span, span, 1) == by_duckdb.left_out(*span, span, 1)


def test_what_was_left_out_is_told_alike(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """Rows without a user, region or time, of unknown regions and of other weeks: both engines count each."""
    for name, days in (("of this week", 0), ("of next week", 7), ("of no week", 700)):
        query = searches(
            user_id="CASE WHEN i % 20 > 0 THEN i END",
            region="CASE i % 11 WHEN 1 THEN NULL WHEN 2 THEN 'Atlantis' ELSE '94103' END",
            timestamp=f"CASE WHEN i % 13 > 0 THEN TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days({days} + i::INTEGER % 9)"
            " END",
        )
        write_log(tmp_path / "log" / f"{name}.parquet", query)
    span = (WEEK.begin, WEEK.end)
    asked = (WEEK.begin - timedelta(days=1), WEEK.end + timedelta(days=1))
    found = on_spark(session, coverage, tmp_path / "log").left_out(*span, asked, 60)
    source = LogSource((str(tmp_path / "log"),))
    with open_duckdb_engine(source, coverage.spec, region_names(coverage)) as engine:
        assert found == engine.left_out(*span, asked, 60)
    assert min(found.no_user, found.no_region, found.unknown_region, found.outside) > 0


# Retried tasks


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_killed_task_changes_nothing(session: "SparkSession", us_coverage: Coverage, tmp_path: Path) -> None:
    """A worker that is killed when it has read half of its rows is replaced; choices and counts stay as they were."""
    places = ["94103", "95023", "geoId/06017", "US-NM"]
    events = [
        Event(user, i, places[(user + i) % 4], ("A1", None, "A2")[i % 3]) for user in range(200) for i in range(5)
    ]
    killed = tmp_path / "killed"

    def die_once(batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        for batch in batches:
            yield batch.slice(0, batch.num_rows // 2)
            if not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(batch.num_rows // 2)

    with bench(us_coverage, session) as table:
        undisturbed = table.count(events)
        log = session.table("log").repartition(2)
        log.mapInArrow(die_once, log.schema).createOrReplaceTempView("log")
        found = table.table.engine.bound(WEEK.days[1], *WEEK.day_bounds(WEEK.days[1]))
        counts = table.cells.zeros()
        add_contributions(counts, table.cells, table.names, found)
    assert killed.exists()
    assert found.events == len(events)
    np.testing.assert_array_equal(counts, undisturbed)


# Input


def test_a_table_of_the_catalog_is_a_log(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """It may hold years: its other weeks are no rows left out, only rows without a time are."""
    query = searches(timestamp=f"CASE WHEN i > 4 THEN TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days(i::INTEGER) END")
    session.read.parquet(str(write_log(tmp_path / "log.parquet", query))).write.saveAsTable("searches")
    try:
        engine = on_spark(session, coverage, "table:searches")
        found = engine.bound(WEEK.days[5], *WEEK.day_bounds(WEEK.days[5]))
        left = engine.left_out(WEEK.begin, WEEK.end, (WEEK.begin, WEEK.end), 2)
    finally:
        session.sql("DROP TABLE searches")
    assert found.events == 1
    assert (left.rows, left.outside) == (2 + 5, 5)


def test_globs_and_folders_by_category_are_read(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """A column that is spelt in the folders' names is a column; the name for nothing means nothing."""
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
    """A missing column or one of the wrong type is told as DuckDB tells it, but for the names of types."""
    log = write_log(tmp_path / "log.parquet", query)
    with pytest.raises(LogError) as by_spark:
        on_spark(session, coverage, log)
    with (
        pytest.raises(LogError) as by_duckdb,
        open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)),
    ):
        pass
    told = str(by_duckdb.value).replace("INTEGER", "INT")
    assert str(by_spark.value) == told


def test_queries_are_named_on_the_cluster_as_on_one_machine(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """A log with queries and no categories is classified where it lies, by the same model, with the same counts."""
    texts = "['covid vaccine near me', 'covid vaccine side effects', 'weather', NULL, 'covid vaccine'][(i % 5) + 1]"
    log = write_log(tmp_path / "log.parquet", searches(category="", more=f"{texts} AS query"))
    by_spark = on_spark(session, coverage, log)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as by_duckdb:
        assert by_spark.classifier == by_duckdb.classifier != ""
        for day in WEEK.days[:2]:
            counts = counts_of(by_spark, coverage, day)
            np.testing.assert_array_equal(counts, counts_of(by_duckdb, coverage, day))
        categories = np.array([cell.category for cell in CellList(coverage).cells])
        assert {category for category in categories if counts[categories == category].any()} == {"A0", "A1", "A2", "A3"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing.parquet", "nothing.parquet: no such file"),
        ("*.pq", "pq: no such file"),
        ("empty", "empty: a folder without log files"),
        ("log.csv", "log.csv: on Spark a log is Parquet files or a table; use --engine duckdb"),
        ("text.parquet", "text.parquet"),
        ("table:nowhere", "table:nowhere: no such table in Spark's catalog"),
    ],
)
def test_what_is_no_log_on_spark_is_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, name: str, words: str
) -> None:
    """The line repeats what was given and says what may be."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text(SECRET)
    with pytest.raises(LogError) as refused:
        on_spark(session, coverage, name if name.startswith("table:") else tmp_path / name)
    assert words in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (searches(category=""), "b c.parquet: no column 'category', which other files of the log have"),
        (searches(user_id="'u' || i"), "b c.parquet: column 'user_id': its type is STRING, in other files BIGINT"),
        ("", "b c.parquet: cannot be read as parquet"),
    ],
)
def test_files_that_do_not_go_together_are_refused(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, query: str, words: str
) -> None:
    """As on DuckDB: what Spark would read as missing values, or as other users, is refused, and the file is named."""
    write_log(tmp_path / "a.parquet")
    if query:
        write_log(tmp_path / "b c.parquet", query)
    else:
        (tmp_path / "b c.parquet").write_text("PAR1 no PAR1")
    with pytest.raises(LogError) as refused:
        on_spark(session, coverage, tmp_path)
    assert words in str(refused.value)


# Privacy


def test_an_error_of_spark_betrays_nothing(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spark's errors quote values of the log; they are neither passed on nor printed."""
    engine = on_spark(session, coverage, write_log(tmp_path / "log.parquet"))
    session.sql(
        f"""SELECT 1L AS user_id, TIMESTAMP_LTZ '{MONDAY} 20:00:00+00' AS timestamp, '94103' AS region,
                   CAST(CAST(word AS INT) AS STRING) AS category FROM VALUES ('{SECRET}') AS t(word)"""
    ).createOrReplaceTempView("log")
    with pytest.raises(LogError) as refused:
        engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))
    assert refused.value.__suppress_context__
    assert SECRET not in str(refused.value)
    assert capfd.readouterr() == ("", "")


# The command


def program(publisher: Publisher, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program as a process of its own, with a temporary folder of its own."""
    scratch = publisher.folder / "scratch"
    scratch.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("search-insights")), "anonymize"]
    options = ["--store", publisher.store, "--geography", publisher.geography, "--week", MONDAY]
    return subprocess.run(
        [*command, *(str(a) for a in (*arguments, *options))],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"TMPDIR": str(scratch)},
    )


def assert_committed(publisher: Publisher, done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (0, f"week {MONDAY}: committed to {publisher.store}\n"), done.stderr
    assert [line for line in done.stderr.splitlines() if "s] week 2021-03-08: " not in line] == [], "progress only"
    assert list((publisher.folder / "scratch").glob("search-insights*")) == []
    with open_store(publisher.store) as store:
        assert [entry.engine for entry in store.entries()] == ["spark"]


def test_the_command_starts_spark_and_leaves_nothing_behind(spark: "SparkSession", publisher: Publisher) -> None:
    """A week is committed; nothing of Spark's chatter reaches the terminal, and its folder is removed."""
    settings = [f"--conf={key}={value}" for key, value in QUICK.items()]
    done = program(publisher, publisher.log(), "--engine", "spark", "--master", "local[2]", *settings)
    assert_committed(publisher, done)


def test_the_command_joins_a_spark_connect_server(spark: "SparkSession", publisher: Publisher) -> None:
    """With --remote the work is done by a server that runs elsewhere, which needs no Java here."""
    port = spark.conf.get("spark.connect.grpc.binding.port")
    done = program(publisher, publisher.log(), "--engine", "spark", "--remote", f"sc://localhost:{port}")
    assert_committed(publisher, done)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--master", "local[2]"), "--master, --remote and --conf are for Spark: add --engine spark"),
        (("--engine", "spark", "--memory", "2GB"), "--memory is for DuckDB"),
        (("--engine", "spark", "--master", "local", "--remote", "sc://h"), "not both"),
        (("--engine", "spark", "--remote", "spark://h"), "--remote spark://h: expected the address of a Spark Connect"),
        (("--engine", "spark", "--remote", "sc://localhost:1"), "--remote sc://localhost:1: nobody listens there"),
        (("--engine", "spark", "--conf", "memory"), "--conf memory: expected KEY=VALUE"),
        (("--engine", "flink"), "--engine"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    publisher: Publisher, options: tuple[str, ...], words: str
) -> None:
    """One line, exit code 2, nothing spent."""
    code, out, err = publisher.anonymize(publisher.log(), *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert publisher.ledger() == []


def test_a_second_spark_in_one_process_is_refused(spark: "SparkSession") -> None:
    """PySpark has one to a process; who has one already can count in a session of it."""
    with pytest.raises(InputError, match="Spark runs in this process already"), open_session(Cluster("local")):
        pass


def test_settings_are_sparks() -> None:
    """A value may have an equals sign; a key that is not Spark's is a slip."""
    assert parse_settings(["spark.a=b=c"]) == {"spark.a": "b=c"}
    with pytest.raises(UsageError):
        parse_settings(["a=b"])


def test_the_lack_of_java_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither on the path nor where JAVA_HOME points to, or too old."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no Java found; Spark needs Java 17 or newer"):
        require_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="bin/java does not run"):
        require_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("""#!/bin/sh\necho 'openjdk version "1.8.0_392"' >&2\n""")
    java.chmod(0o755)
    with pytest.raises(InputError, match="is Java 8; Spark needs Java 17"):
        require_java()


def test_the_lack_of_pyspark_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the command that installs it."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"pip install 'search-insights\[spark\]'"), open_session(Cluster()):
        pass


def test_duckdb_says_that_tables_are_sparks(publisher: Publisher) -> None:
    """A table is for Spark only."""
    code, _, err = publisher.anonymize("table:searches")
    assert code == 2
    assert "table:searches: no such file" in err
