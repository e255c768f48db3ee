"""A store to publish."""

from pathlib import Path

import pytest

from search_insights.spec.coverage import Coverage
from tests.support.stores import CITY, NO_SAFETY, NOTHING, TOWN, add_weeks


@pytest.fixture(autouse=True)
def _quick(quick_accounting: None) -> None:
    """These tests are not about the accounting."""


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """Two weeks; in the second one postal code has no value, and the other has none for one trend."""
    return add_weeks(tmp_path / "store.db", short_coverage, {}, {CITY: NOTHING, TOWN: NO_SAFETY})
