"""A store to publish."""

from pathlib import Path

import pytest

from search_insights.spec.coverage import Coverage
from tests.support.stores import CITY, NO_SAFETY, NOTHING, TOWN, add_weeks, copy_of_store


@pytest.fixture(autouse=True)
def _quick(quick_accounting: None) -> None:
    """These tests are not about the accounting."""


@pytest.fixture(scope="session")
def two_weeks(tmp_path_factory: pytest.TempPathFactory, short_coverage: Coverage) -> Path:
    """Two weeks; in the second one postal code has no value, and the other has none for one trend."""
    path = tmp_path_factory.mktemp("two_weeks") / "store.db"
    return add_weeks(path, short_coverage, {}, {CITY: NOTHING, TOWN: NO_SAFETY})


@pytest.fixture
def store(tmp_path: Path, two_weeks: Path) -> Path:
    """A copy of the two weeks, for one test."""
    return copy_of_store(two_weeks, tmp_path)
