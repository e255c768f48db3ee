"""Fixtures of all tests: releases, Spark, and the program as a user runs it."""

import math
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings

from search_insights.commands.cli import main
from search_insights.private.spark.session import Cluster, open_session, private_session
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from tests.lab.mutants import MUTANTS, VARIABLE
from tests.support.command_line import Run
from tests.support.logs import Publisher, little_coverage, new_publisher
from tests.support.other_country import other_geography, other_spec
from tests.support.quick_accounting import patch_accounting
from tests.support.skips import pytest_terminal_summary  # noqa: F401 - a hook of pytest
from tests.support.spark import CONTRARY, QUICK, need_java
from tests.support.stores import short_window_coverage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: whether a test passes does not depend on how busy the machine is.
settings.register_profile("steady", deadline=None, max_examples=50)
# A broken variant has to fail; the smallest example on which it does is of no use, and takes long to find.
settings.register_profile("broken", settings.get_profile("steady"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("broken" if os.environ.get(VARIABLE) else "steady")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Replace the order of `--dist loadfile` by one in which tests with Spark share it, and long files begin first."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.support.schedule import Schedule

    return Schedule(config, log)


@pytest.fixture(scope="session", autouse=True)
def mutant() -> Iterator[None]:
    """Break the program as SEARCH_INSIGHTS_MUTANT says, if it is set (see tests/lab/mutants.py)."""
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
def short_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The packaged release of the little country, with a sparsity window of four weeks."""
    return short_window_coverage(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="session")
def other_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The release of Qazaria."""
    return Coverage(other_spec(), load_geography(other_geography(tmp_path_factory.mktemp("qazaria"))))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A real Spark on this machine with a Spark Connect server, which tries a task up to four times.

    Its settings are contrary, so that a test fails for each setting that a session needs and does not set itself.
    """
    need_java()
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    more = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.io.encryption.enabled": "false",  # with it PySpark leaves sockets open; tests of the command set it
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    }
    with open_session(Cluster("local[2,4]", settings=QUICK | CONTRARY | more)) as session:
        yield session


@pytest.fixture
def session(spark: "SparkSession") -> "SparkSession":
    """A Spark session with settings and views of its own."""
    return private_session(spark)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program with arguments; returns its exit code, standard output and standard error, without progress."""
    monkeypatch.setattr("search_insights.commands.console.PATIENCE", math.inf)

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


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the program's temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def quick_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The accounting made quick, for tests that are about something else."""
    patch_accounting(monkeypatch.setattr)
