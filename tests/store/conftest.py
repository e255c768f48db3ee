"""The store that several test modules back up, verify and damage."""

from pathlib import Path

import pytest

from search_insights.spec.coverage import Coverage
from tests.support.stores import add_weeks


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A store with two weeks."""
    return add_weeks(tmp_path / "store.db", short_coverage, {}, {})
