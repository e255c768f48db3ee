"""Spark is started or joined with settings of the program's own, reveals nothing private, and errors are one line."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from search_insights.commands.log_options import parse_settings
from search_insights.errors import InputError, LogError, UsageError
from search_insights.private.spark.session import (
    SESSION_SETTINGS,
    Cluster,
    open_session,
    private_session,
    require_java,
    settings_to_start,
)
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from tests.support.logs import MONDAY, SECRET, WEEK, Publisher, on_spark, searches, write_log
from tests.support.spark import CONTRARY, QUICK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_an_error_of_spark_shows_no_value(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spark's errors quote values of the log; they are replaced and not printed."""
    engine = on_spark(session, coverage, write_log(tmp_path / "log.parquet"))
    session.sql(
        f"""SELECT 1L AS user_id, TIMESTAMP_LTZ '{MONDAY} 20:00:00+00' AS timestamp, '94103' AS region,
                   CAST(CAST(word AS INT) AS STRING) AS category FROM VALUES ('{SECRET}') AS t(word)"""
    ).createOrReplaceTempView("log")
    with pytest.raises(LogError) as refused:
        engine.bound(WEEK.first_day, *WEEK.day_bounds(WEEK.first_day))
    assert refused.value.__suppress_context__
    assert SECRET not in str(refused.value)
    assert "CAST_INVALID_INPUT" in str(refused.value), "the file is not damaged"
    assert capfd.readouterr() == ("", "")


def listening(pid: int) -> set[str]:
    """Return the addresses, in hexadecimal, on which a process listens."""
    sockets = {str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()}
    tables = [Path(f"/proc/{pid}/net/{kind}").read_text() for kind in ("tcp", "tcp6")]
    lines = [line.split() for table in tables for line in table.splitlines()[1:]]
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


def test_a_local_spark_cannot_be_reached_by_others(spark: "SparkSession") -> None:
    """Spark has the log in memory, so it listens on the loopback only and requires a new random secret."""
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.authenticate") == "true"
    assert conf.get("spark.authenticate.secret") is None
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    java = gateway.proc.pid
    if not Path(f"/proc/{java}/net").exists():
        pytest.skip("this system has no /proc, which shows the addresses that a process listens on")
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert set() < listening(java) <= loopback


def test_settings_of_the_operator_take_precedence() -> None:
    """Operators set the addresses of a cluster, and everything except settings that would print values of the log."""
    given = {"spark.driver.host": "10.0.0.1", "spark.log.level": "INFO", "spark.ui.showConsoleProgress": "true"}
    for master in ("local", "local[2]", "local[*,4]"):
        found = settings_to_start(Cluster(master, settings=given), "folder")
        assert found["spark.driver.host"] == "10.0.0.1"
        assert found["spark.driver.bindAddress"] == "127.0.0.1"
        assert found["spark.io.encryption.enabled"] == "true"
        assert found["spark.log.level"] == "OFF"
        assert found["spark.ui.showConsoleProgress"] == "false"
    for master in ("spark://host:7077", "yarn", "local-cluster[2,1,1024]"):
        found = settings_to_start(Cluster(master), "folder")
        assert not {key for key in found if key.startswith(("spark.driver", "spark.authenticate", "spark.io"))}


# Settings of a session


def test_a_session_is_the_same_whatever_the_cluster_prefers(spark: "SparkSession") -> None:
    """Every setting that decides how a log is read is set by the session, whatever the cluster's default."""
    session = private_session(spark)
    assert CONTRARY.keys() == SESSION_SETTINGS.keys()
    preferred = {key: spark.sparkContext.getConf().get(key) for key in CONTRARY}
    assert preferred == CONTRARY
    assert [key for key, value in CONTRARY.items() if session.conf.get(key) == value] == []


@pytest.mark.parametrize("key", ["spark.sql.warehouse.dir", "spark.sql.known.to.nobody"])
def test_a_setting_that_spark_refuses_is_named(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """If a server does not know a setting or refuses it, the error names it and the exit code is 2."""
    monkeypatch.setitem(SESSION_SETTINGS, key, "x")
    with pytest.raises(InputError, match=rf"this Spark does not let {key} be x \([A-Z_]+\)") as refused:
        private_session(spark)
    assert refused.value.exit_code == 2


def test_an_old_spark_is_refused(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may be older than the installed PySpark; a version before 4 is refused."""
    monkeypatch.setattr(type(spark), "version", "3.5.1")
    with pytest.raises(InputError, match=r"Spark 4 or newer is needed, this is 3\.5\.1"):
        private_session(spark)


# Secrets of the command line


@pytest.mark.parametrize(
    ("remote", "shown"),
    [
        (f"sc://localhost:1/;token={SECRET}", "sc://localhost:1"),
        (f"sc://localhost:1/;user_id={SECRET};use_ssl=true", "sc://localhost:1"),
        (f"sc://localhost:1;token={SECRET}", "sc://localhost:1"),
        (f"sc://localhost;token={SECRET}", "sc://localhost"),
        (f"sc://{SECRET}@localhost:1", "sc://localhost:1"),
        (f"sc://[::1]:1/;token={SECRET}", "sc://[::1]:1"),
        (f"https://localhost:1/?token={SECRET}", "https://localhost:1"),
        (f"localhost:1/;token={SECRET}", "(not shown)"),
        (f"sc://[{SECRET}", "(not shown)"),
    ],
)
def test_a_servers_token_is_never_shown(publisher: Publisher, remote: str, shown: str) -> None:
    """Errors show the server's address without user and parameters, whatever is wrong with it."""
    code, _, err = publisher.anonymize(publisher.log(), "--engine", "spark", "--remote", remote)
    assert code == 2
    assert f"--remote {shown}: " in err
    assert SECRET not in err


def test_an_address_that_pyspark_refuses_is_shown_without_its_token(publisher: Publisher) -> None:
    """PySpark's own error about a malformed address quotes it, so it is replaced."""
    with socket.create_server(("localhost", 0)) as nobody:
        port = nobody.getsockname()[1]
        given = f"sc://localhost:{port}/;token={SECRET};{SECRET}"
        code, _, err = publisher.anonymize(publisher.log(), "--engine", "spark", "--remote", given)
    assert code == 2
    assert f"--remote sc://localhost:{port}: no answer from a Spark Connect server there" in err
    assert SECRET not in err


def test_a_settings_value_is_never_shown(publisher: Publisher) -> None:
    """A value may be a password, so the error for a wrong key does not show it."""
    given = f"hadoop.fs.s3a.secret.key={SECRET}"
    code, _, err = publisher.anonymize(publisher.log(), "--engine", "spark", "--conf", given)
    assert code == 2
    assert "--conf hadoop.fs.s3a.secret.key: expected KEY=VALUE" in err
    assert SECRET not in err


# The command


def program(publisher: Publisher, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program in its own process with its own temporary folder."""
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
    progress = ("s] reading the log", "s] week 2021-03-08: ")
    assert [line for line in done.stderr.splitlines() if not any(p in line for p in progress)] == [], "progress only"
    assert list((publisher.folder / "scratch").glob("search-insights*")) == []
    with open_store(publisher.store) as store:
        assert [entry.engine for entry in store.entries()] == ["spark"]


def test_the_command_starts_spark_and_leaves_nothing_behind(spark: "SparkSession", publisher: Publisher) -> None:
    """A week is committed, no message of Spark is printed, and its folder is removed.

    The workers find this program, which classifies the queries.
    """
    settings = [f"--conf={key}={value}" for key, value in QUICK.items()]
    log = publisher.log(searches(category="", more="'covid vaccine' AS query"))
    done = program(publisher, log, "--engine", "spark", "--master", "local[2]", *settings)
    assert_committed(publisher, done)


@pytest.mark.thorough
def test_the_command_joins_a_spark_connect_server(spark: "SparkSession", publisher: Publisher) -> None:
    """With --remote the week is counted by a Spark Connect server."""
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
        (("--engine", "spark", "--remote", "sc://localhost:1"), "--remote sc://localhost:1: nothing listens there"),
        (("--engine", "spark", "--conf", "memory"), "--conf memory: expected KEY=VALUE"),
        (("--engine", "flink"), "--engine"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    publisher: Publisher, options: tuple[str, ...], words: str
) -> None:
    """Contradictory or wrong options give one line and exit code 2, and nothing is spent."""
    code, out, err = publisher.anonymize(publisher.log(), *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert publisher.ledger() == []


def test_a_second_spark_in_one_process_is_refused(spark: "SparkSession") -> None:
    """PySpark supports one Spark in a process, so starting another is refused."""
    with pytest.raises(InputError, match="Spark is already running in this process"), open_session(Cluster("local")):
        pass


def test_settings_must_be_of_spark() -> None:
    """A value may contain an equals sign; a key that does not begin with spark. is refused."""
    assert parse_settings(["spark.a=b=c"]) == {"spark.a": "b=c"}
    with pytest.raises(UsageError):
        parse_settings(["a=b"])


def test_a_spark_can_be_started_after_one_was_joined(spark: "SparkSession") -> None:
    """After a Spark Connect session PySpark's settings are reset, so that the process can start a Spark again."""
    port = spark.conf.get("spark.connect.grpc.binding.port")
    with open_session(Cluster(remote=f"sc://localhost:{port}")) as remote:
        assert remote.range(3).count() == 3
    with pytest.raises(InputError, match="Spark is already running in this process"), open_session(Cluster("local")):
        pass
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ


def test_a_missing_or_old_java_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error says whether there is no Java, it does not run, or it is too old."""
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


def test_a_missing_pyspark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the command that installs PySpark."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"pip install 'search-insights\[spark\]'"), open_session(Cluster()):
        pass


def test_a_table_is_refused_without_spark(publisher: Publisher) -> None:
    """Only Spark reads tables; DuckDB says that there is no such file."""
    code, _, err = publisher.anonymize("table:searches")
    assert code == 2
    assert "table:searches: no such file" in err
