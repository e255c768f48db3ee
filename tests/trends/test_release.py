"""A release says of every value what happened to it."""

from pathlib import Path

from search_insights.spec.coverage import Coverage
from search_insights.trends.outcomes import OUTCOMES
from tests.support.stores import CITY, TOWN, add_weeks, place_ids, released


def test_a_value_of_two_negative_counts_is_not_positive(tmp_path: Path, short_coverage: Coverage) -> None:
    """Not positive: a noisy count or its denominator is 0 or negative, also where both are and X/Y is positive."""
    counts = {CITY: (-100, -9, 0, 50), TOWN: (200, 20, -1, 0)}
    release = released(add_weeks(tmp_path / "store.db", short_coverage, counts))
    found = {
        place: [OUTCOMES[n] for n in release.outcomes[0, place_ids(release.trends).index(place)]]
        for place in (CITY, TOWN)
    }
    assert found == {
        CITY: ["not positive", "not positive", "not positive"],
        TOWN: ["too uncertain", "too uncertain", "not positive"],
    }
