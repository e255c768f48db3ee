"""`aggregate`: any regions and weeks together, from the noisy counts that a dataset may have."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import search_insights
from search_insights.errors import InputError
from tests.support.many_counties import FIRST, Truth, many_counties, publish_counties
from tests.support.quick_accounting import patch_accounting

TREND = "vaccination_intent"
COUNTIES, WEEKS = 60, 12
SMALL = [f"geoId/06{i:03}" for i in range(20)]


class World:
    """A dataset with counts, and its truth. Most small counties have no value of their own."""

    def __init__(self, folder: Path) -> None:
        populations = [int(people) for people in np.geomspace(1_000, 2_000_000, COUNTIES)]
        cells = many_counties(folder, populations)
        searches = np.rint(0.2 * np.array(populations))
        truth = Truth(searches, 0.01 * np.ones((WEEKS, COUNTIES)))
        noisy = truth.noisy(cells, np.random.default_rng(11))
        self.dataset = publish_counties(folder, cells, noisy, counts=True)
        self.share = float(np.rint(searches * 0.01)[:20].sum() / searches[:20].sum())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The packaged spec, whose counts are not reconciled; tests/dataset/test_counts.py has the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return World(tmp_path_factory.mktemp("sums"))


def test_sums_of_unpublished_regions_tell_the_truth(world: World) -> None:
    """20 small counties together, most without a value: unbiased, with noise as large as the sigmas say.

    Each bound fails by chance less than once in a million runs.
    """
    loaded = search_insights.load(world.dataset, "county", TREND, "columns")
    assert np.isin(loaded["place_id"], SMALL).sum() < WEEKS * len(SMALL) / 4
    days = [FIRST + timedelta(weeks=i) for i in range(WEEKS)]
    found = [search_insights.aggregate(world.dataset, SMALL, TREND, day) for day in days]
    off = [
        (each.count - world.share * each.any_search) / np.hypot(each.count_sigma, world.share * each.any_search_sigma)
        for each in found
    ]
    assert 0.5 < np.square(off).sum() < 52  # chi-squared with 12 degrees of freedom
    whole = search_insights.aggregate(world.dataset, SMALL, TREND, "2021", confidence=0.999999)
    factor = whole.value / (whole.count / whole.any_search)
    assert whole.low <= factor * world.share <= whole.high
    assert whole.count == pytest.approx(sum(each.count for each in found))
    assert (whole.regions, whole.weeks) == (20, WEEKS)


def test_one_region_gives_its_published_value(world: World) -> None:
    """Of one region and week, where counts are not reconciled, it is the same number."""
    place = "geoId/06059"
    loaded = search_insights.load(world.dataset, "county", TREND, "columns")
    value = loaded["value"][(loaded["place_id"] == place)][0]
    found = search_insights.aggregate(world.dataset, [place], TREND, str(FIRST), confidence=0.8)
    assert found.value == pytest.approx(value, abs=0.0006)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda d: search_insights.aggregate(d, [], TREND, "2021"), "at least one region"),
        (lambda d: search_insights.aggregate(d, ["06001"], TREND, "2021"), "no region '06001'"),
        (lambda d: search_insights.aggregate(d, [*SMALL, "geoId/06"], TREND, "2021"), "would count twice"),
        (lambda d: search_insights.aggregate(d, ["country/USA"], TREND, "2021"), "not counted in every week"),
        (lambda d: search_insights.aggregate(d, SMALL, "news", "2021"), "no trend 'news'"),
    ],
)
def test_a_sum_that_means_nothing_is_refused(world: World, ask: Callable[[Path], Any], told: str) -> None:
    """One line says what is wrong."""
    with pytest.raises(InputError) as refused:
        ask(world.dataset)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_rest_is_a_part_of_its_region(world: World) -> None:
    """A state and its own rest are not added up."""
    with pytest.raises(InputError, match="would count twice"):
        search_insights.aggregate(world.dataset, ["geoId/06", "geoId/06#rest"], TREND, "2021")
