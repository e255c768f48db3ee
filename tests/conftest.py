"""What the tests share: the releases they speak of, and the program as a user runs it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from search_insights.cli import main
from search_insights.coverage import Coverage
from search_insights.dashboard_site import dashboard
from search_insights.geography import Geography, load_geography
from search_insights.spec import Spec
from search_insights.spec_file import load_spec
from tests.dashboards import other_dataset, quick_accounting, us_dataset, with_a_zero
from tests.mutants import MUTANTS, VARIABLE
from tests.other_country import other_geography, other_spec

# No deadline: whether a test passes does not depend on how busy the machine is.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def mutant() -> Iterator[None]:
    """Put a broken variant of the program in place, if one is asked for (see tests/mutants.py)."""
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
def other_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The release of Qazaria."""
    return Coverage(other_spec(), load_geography(other_geography(tmp_path_factory.mktemp("qazaria"))))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
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
