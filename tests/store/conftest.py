"""The store that several test modules back up, verify and damage."""

from pathlib import Path

import pytest

from search_insights.spec.coverage import Coverage
from tests.support.stores import add_weeks, copy_of_store, short_window_coverage


@pytest.fixture(scope="session")
def short_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The packaged release of the little country, with a sparsity window of four weeks; one for all tests here."""
    return short_window_coverage(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, short_coverage: Coverage) -> Path:
    """A store with two weeks, which is only copied: to make one takes longer than most tests."""
    return add_weeks(tmp_path_factory.mktemp("store") / "store.db", short_coverage, {}, {})


@pytest.fixture
def store(tmp_path: Path, made_once: Path) -> Path:
    """A store with two weeks."""
    return copy_of_store(made_once, tmp_path)
