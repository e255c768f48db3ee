"""What the tests share: the releases they speak of, and the program as a user runs it."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from search_insights.commands.cli import main
from search_insights.dashboards.site import dashboard
from search_insights.errors import InputError
from search_insights.private.spark.session import Cluster, open_session, private_session, require_java
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from tests.lab.mutants import MUTANTS, VARIABLE
from tests.support.dashboards import other_dataset, quick_accounting, us_dataset, with_a_zero
from tests.support.logs import Publisher, Run, little_coverage, new_publisher
from tests.support.other_country import other_geography, other_spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: whether a test passes does not depend on how busy the machine is.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.load_profile("steady")

# Spark's settings for little data: quick to start.
QUICK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}

# What a cluster's operators may have set: the opposite of all that a log is read with.
CONTRARY = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.parquet.int96TimestampConversion": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}


@pytest.fixture(scope="session", autouse=True)
def mutant() -> Iterator[None]:
    """Put a broken variant of the program in place, if one is asked for (see tests/lab/mutants.py)."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        if name := os.environ.get(VARIABLE):
            MUTANTS[name].put_in(monkeypatch)
        yield


@pytest.fixture(scope="session")
def paper() -> Spec:
    """The packaged release."""
    return load_spec()


@pytest.fixture(scope="session")
def us() -> Geography:
    """The packaged United States."""
    return load_geography()


@pytest.fixture(scope="session")
def us_coverage(paper: Spec, us: Geography) -> Coverage:
    """The packaged release of the packaged United States."""
    return Coverage(paper, us)


@pytest.fixture(scope="session")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The packaged release of the little country."""
    return little_coverage(tmp_path_factory.mktemp("little"))


@pytest.fixture(scope="session")
def other_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The release of Qazaria."""
    return Coverage(other_spec(), load_geography(other_geography(tmp_path_factory.mktemp("qazaria"))))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A real Spark on this machine, which tries a task up to four times, with a server of Spark Connect in it.

    Its own settings are contrary, so that tests notice each that a session of this program needs and does not set.
    """
    try:
        require_java()
    except InputError as missing:
        if os.environ.get("CI"):
            pytest.fail(f"CI must have what the tests need: {missing}")
        pytest.skip(str(missing))
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    more = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.io.encryption.enabled": "false",  # with it PySpark leaves sockets open; the command's tests have it on
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    }
    with open_session(Cluster("local[2,4]", settings=QUICK | CONTRARY | more)) as session:
        yield session


@pytest.fixture
def session(spark: "SparkSession") -> "SparkSession":
    """A session with settings and views of its own."""
    return private_session(spark)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the program with these arguments; gives its exit code, what it printed, and what it told the operator."""

    def run_with(*arguments: str | Path) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:  # --help and --version
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_with


@pytest.fixture
def publisher(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Publisher:
    """A publisher with the little country and an empty folder."""
    return new_publisher(tmp_path, run, monkeypatch)


# The dashboard's datasets and sites, each made once


@pytest.fixture(scope="session")
def us_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of the real United States."""
    return _published(us_dataset, tmp_path_factory.mktemp("us"))


@pytest.fixture(scope="session")
def other_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of Qazaria."""
    return _published(other_dataset, tmp_path_factory.mktemp("qazaria"))


def _published(make: Callable[[Path], Path], folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        quick_accounting(patch)
        return make(folder)


@pytest.fixture(scope="session")
def us_site(us_data: Path, other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of both countries, the United States first."""
    return dashboard([us_data, other_data], tmp_path_factory.mktemp("both") / "site").folder


@pytest.fixture(scope="session")
def other_site(other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of Qazaria alone, of which the program knows nothing but the dataset."""
    return dashboard([other_data], tmp_path_factory.mktemp("other") / "site").folder


@pytest.fixture(scope="session")
def zero_site(other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qazaria with a published value of 0: one canton, the first trend, the second week."""
    folder = tmp_path_factory.mktemp("zero")
    return dashboard([with_a_zero(other_data, folder / "dataset")], folder / "site").folder
