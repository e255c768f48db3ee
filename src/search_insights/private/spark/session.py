"""Starting Spark as this program uses it, or connecting to a server: quiet, private, and the same everywhere.

Spark's own log, errors and web pages quote values of the search log. So its log is off, its errors are replaced
(errors.py), its pages are not served, and what it writes on this machine goes to a folder that only this user can enter
and that is removed at the end. What the machines of a cluster write while they work is for the cluster to protect.
"""

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.errors import InputError
from search_insights.private.spark.errors import condition_of, spark_errors
from search_insights.support.working_folder import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTALL = "pip install 'search-insights[spark]'"
_OLDEST_SPARK = 4  # before, SQL had no >>
_OLDEST_JAVA = 17  # what Spark 4 needs

# Whatever the defaults of a cluster are: names, quotes and times mean what they do in DuckDB, no file is skipped
# silently, and the value in a folder's name such as day=01 is text.
SESSION_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}

# For speed alone: a day's events are read a few times only, and to pack them takes more CPU than they are worth.
QUICKER_SETTINGS = {"spark.sql.inMemoryColumnarStorage.compressed": "false"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where Spark runs: started here for a master (`local[*]`, `spark://...`), or a Spark Connect server."""

    master: str = "local[*]"
    remote: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def open_session(cluster: Cluster) -> Iterator["SparkSession"]:
    """Start Spark or connect to it; at the end, stop or disconnect, and remove what it left here."""
    _require_pyspark()
    _silence_pyspark()
    if cluster.remote is not None:
        with _restoring_connect_mode(), _connected(cluster, cluster.remote) as session:
            yield _configured(session)
        return
    require_java()
    with (
        temporary_folder("spark-") as folder,
        _started(cluster, str(folder)) as session,
    ):
        yield _configured(session)


def private_session(session: "SparkSession") -> "SparkSession":
    """Return a session with its own settings and views, so that those of the given session stay as they are."""
    return _configured(session.newSession())


def _configured(session: "SparkSession") -> "SparkSession":
    try:
        version = session.version
    except spark_errors() as error:
        raise InputError(f"Spark does not report its version ({condition_of(error)})") from None
    if int(version.split(".")[0]) < _OLDEST_SPARK:
        raise InputError(f"Spark {_OLDEST_SPARK} or newer is needed, this is {version}; use a newer one")
    for key, value in SESSION_SETTINGS.items():
        try:
            if session.conf.get(key) != value:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that the setting is deprecated
                    session.conf.set(key, value)
        except spark_errors() as error:
            raise InputError(
                f"this Spark does not let {key} be {value} ({condition_of(error)}), without which it "
                "may misread a log; have its operators allow it, or use another Spark"
            ) from None
    for key, value in QUICKER_SETTINGS.items():
        with suppress(*spark_errors()):
            session.conf.set(key, value)
    return session


def _require_pyspark() -> None:
    try:
        import pyspark
    except ImportError:
        raise InputError(f"PySpark is not installed; {_INSTALL}") from None
    if int(pyspark.__version__.split(".")[0]) < _OLDEST_SPARK:
        raise InputError(f"PySpark {_OLDEST_SPARK} is needed, this is {pyspark.__version__}; {_INSTALL}")


def require_java() -> None:
    """Refuse to continue without a Java that can run Spark."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    needs = f"Spark needs Java {_OLDEST_JAVA} or newer"
    hint = "install one (Debian: apt-get install default-jre-headless) and set JAVA_HOME, or use `remote`"
    if java is None:
        raise InputError(f"no Java found; {needs}: {hint}")
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        raise InputError(f"{java} does not run; {needs}: {hint}") from None
    version = re.search(r'version "(?:1\.)?(\d+)', shown)
    if version and int(version[1]) < _OLDEST_JAVA:
        raise InputError(f"{java} is Java {version[1]}; {needs}: {hint}")


def _silence_pyspark() -> None:
    """Keep PySpark from also printing the errors that it raises, and from warning about pandas."""
    from pyspark.logger import PySparkLogger

    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")  # which is not used here
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _started(cluster: Cluster, folder: str) -> Iterator["SparkSession"]:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise InputError(
            "Spark is already running in this process: open its log with spark_engine(private_session(...), ...)"
        )
    conf = SparkConf().setMaster(cluster.master).setAll(list(settings_to_start(cluster, folder).items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        # One Java per process: it is started once, and ends with the process.
        gateway = SparkContext._gateway or launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
        context = SparkContext(conf=conf, gateway=gateway)
        session = SparkSession(context)
        if _on_one_machine(cluster) and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # not any python3: this program has to be installed there
    except spark_errors() as error:
        raise InputError(
            f"`master` {cluster.master}: Spark does not start ({condition_of(error)}); expected a master such as "
            "local[*] or spark://host:7077 that can be reached, and settings that it knows"
        ) from None
    try:
        yield session
    finally:
        context.stop()


def settings_to_start(cluster: Cluster, folder: str) -> dict[str, str]:
    """Return the settings of a new Spark; the operator's win, except over those that keep values from being printed."""
    return {
        "spark.app.name": "search-insights",
        "spark.eventLog.enabled": "false",
        "spark.local.dir": folder,
        "spark.ui.enabled": "false",
        **(_for_one_machine(folder) if _on_one_machine(cluster) else {}),
        **cluster.settings,
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
    }


def _on_one_machine(cluster: Cluster) -> bool:
    return re.match(r"local(\[|$)", cluster.master) is not None


def _for_one_machine(folder: str) -> dict[str, str]:
    """Return settings that a cluster has of its own. Spark's 200 partitions are too many here: a few per core will do.

    Without authentication, others on the network or with an account on this machine could ask Spark for its blocks.
    What it writes when it shuffles and spills is encrypted, with a key that is only in memory, at next to no cost.
    Java's collector for servers with many cores, which it takes by default, costs a tenth more here; and a day's draws
    are random numbers, which do not become smaller.
    """
    return {
        "spark.authenticate": "true",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.io.encryption.enabled": "true",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.driver.memory": "2g",
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
        "spark.sql.warehouse.dir": str(Path(folder, "warehouse")),
    }


@contextmanager
def _restoring_connect_mode() -> Iterator[None]:
    """Make PySpark forget that it was connected to a server; otherwise it cannot start Spark in this process."""
    mode = "SPARK_CONNECT_MODE_ENABLED"
    before = os.environ.get(mode)
    try:
        yield
    finally:
        os.environ.pop(mode, None)
        if before is not None:
            os.environ[mode] = before


@contextmanager
def _connected(cluster: Cluster, remote: str) -> Iterator["SparkSession"]:
    from pyspark.sql import SparkSession

    _require_listener(remote)
    try:
        # Not getOrCreate: it could return a session that other code in this process has opened elsewhere.
        session = SparkSession.builder.remote(remote).create()
        session.range(1).count()
    except spark_errors() as error:
        raise InputError(
            f"`remote` {shown_address(remote)}: no answer from a Spark Connect server there ({condition_of(error)})"
        ) from None
    try:
        session.clearProgressHandlers()
        _apply_settings(session, cluster.settings)
        yield session
    finally:
        session.stop()


def _apply_settings(session: "SparkSession", settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        try:
            session.conf.set(key, value)
        except spark_errors() as error:
            raise InputError(f"`settings` {key}: the server does not let it be set ({condition_of(error)})") from None


def _require_listener(remote: str) -> None:
    """Refuse an address where nothing listens: PySpark would try for ten minutes."""
    scheme, host, port = _address(remote)
    shown = shown_address(remote)
    if scheme != "sc" or not host:
        raise InputError(f"`remote` {shown}: expected the address of a Spark Connect server such as sc://host:15002")
    try:
        socket.create_connection((host.strip("[]"), int(port or 15002)), timeout=10).close()
    except (OSError, OverflowError):
        raise InputError(f"`remote` {shown}: nothing listens there; is the Spark Connect server running?") from None


def shown_address(remote: str) -> str:
    """Return a server's address without what may come before and after it: user names, tokens."""
    scheme, host, port = _address(remote)
    return f"{scheme}://{host}{port and ':' + port}" if host else "(not shown)"


def _address(remote: str) -> tuple[str, str, str]:
    """Return scheme, host and port of an address; three empty texts if it has another form."""
    form = r"(\w+)://(?:[^@/;?#]*@)?([\w.-]+|\[[\da-fA-F:.]+\])(?::(\d+))?(?=[/;?#]|$)"
    found = re.match(form, remote)
    return (found[1], found[2], found[3] or "") if found else ("", "", "")
