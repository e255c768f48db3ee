"""The profile of a store is what its present edition counted."""

from pathlib import Path

import numpy as np

from search_insights.calibration.stored_profile import profile_of_store
from search_insights.spec.coverage import Coverage
from tests.support.editions import BREAK, CROSSWALK, split
from tests.support.stores import add_weeks, changed


def test_a_profile_is_of_the_present_edition(tmp_path: Path, short_coverage: Coverage) -> None:
    """Weeks that were counted with other regions, or in another way, say nothing of the present ones."""
    twice = (200_000, 6_000, 4_000, 2_000)
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    changed(store, split(short_coverage), "El Dorado was divided", BREAK, CROSSWALK)
    add_weeks(store, split(short_coverage), {}, start=2, usual=twice)
    profile = profile_of_store(store, split(short_coverage))
    found = profile.counts["county", "medium"]
    np.testing.assert_allclose(found, np.tile(twice, (len(found), 1)))
    assert profile.weights["county", "medium"].sum() == 3
