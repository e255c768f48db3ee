"""From noisy counts to ratios: sums of categories and regions, and intervals of the right width (Section 4)."""

import math
from pathlib import Path

import numpy as np
import pytest

from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from search_insights.trends.derive import Trends, derive
from search_insights.trends.reach import reach_of
from tests.support.stores import CITY, add_weeks, place_ids


def derived(path: Path) -> Trends:
    """Derive the trends of a store."""
    with open_store(path) as store:
        return derive(store)


def test_values_are_sums_of_categories_divided_by_any_search(tmp_path: Path, short_coverage: Coverage) -> None:
    """C3 is A1 + A2 + A3, C1 is A1, C2 is A2, each over the region's own A0."""
    given = {"geoId/06": (90_000, 100, 200, 300), "geoId/06003": (800, -3, 40, 7), CITY: (5_000, 50, 0, 1)}
    trends = derived(add_weeks(tmp_path / "store.db", short_coverage, {}, given))
    for place, (any_search, a1, a2, a3) in given.items():
        expected = np.array([a1 + a2 + a3, a1, a2]) / any_search
        np.testing.assert_array_equal(trends.ratios.value[1, place_ids(trends).index(place)], expected)


def test_the_total_is_the_sum_of_the_coarsest_level_only(tmp_path: Path, short_coverage: Coverage) -> None:
    """The country's counts are sums of the noisy states' counts; counties and postal codes are not added."""
    states = {"geoId/01": (1_000, 10, 1, 1), "geoId/06": (20_000, 300, 2, 2), "geoId/35": (300, -5, 3, 3)}
    trends = derived(add_weeks(tmp_path / "store.db", short_coverage, states))
    assert (trends.regions[0].place_id, place_ids(trends)[0]) == ("country/USA", "country/USA")
    np.testing.assert_array_equal(trends.ratios.value[0, 0], np.array([305 + 6 + 6, 305, 6]) / 21_300)


# C3 adds three variances of a region; the country those of its three states.
@pytest.mark.parametrize(
    ("place", "trend", "sigma_x", "sigma_y"),
    [
        ("country/USA", 1, math.sqrt(3) * 35, math.sqrt(3) * 450),
        ("country/USA", 0, math.sqrt(9) * 35, math.sqrt(3) * 450),
        ("geoId/06", 1, 35, 450),
        ("geoId/06", 0, math.sqrt(3) * 35, 450),
        ("geoId/06075", 2, 20, 180),  # a large county
        ("geoId/06075", 0, math.sqrt(3) * 20, 180),
        ("geoId/06003", 1, 3.21, 28),  # a small county
        (CITY, 2, 3.25, 35),  # a postal code of a large county
        (CITY, 0, math.sqrt(3) * 3.25, 35),
    ],
)
def test_variances_add_up(
    tmp_path: Path, short_coverage: Coverage, place: str, trend: int, sigma_x: float, sigma_y: float
) -> None:
    """The ends of an interval follow from the sum of the variances of exactly the counts that were summed."""
    trends = derived(add_weeks(tmp_path / "store.db", short_coverage, {}))
    number = place_ids(trends).index(place)
    states = 3 if place == "country/USA" else 1
    x, y = states * [6_000, 3_000, 2_000][trend], states * 100_000
    reach = reach_of(np.array(sigma_x), np.array(sigma_y), 0.80)
    ends = np.array([trends.ratios.low[0, number, trend], trends.ratios.high[0, number, trend]])
    np.testing.assert_allclose(np.abs(x - ends * y), reach.at(ends), rtol=1e-4)


def test_the_width_of_a_country_interval_in_numbers(tmp_path: Path, short_coverage: Coverage) -> None:
    """9,000 of 300,000 searches with sigmas 60.6 and 779 give 0.03 plus or minus 0.00028."""
    trends = derived(add_weeks(tmp_path / "store.db", short_coverage, {}))
    assert trends.ratios.value[0, 0, 1] == 0.03
    assert trends.ratios.low[0, 0, 1] == pytest.approx(0.03 - 0.00028, abs=3e-6)
    assert trends.ratios.high[0, 0, 1] == pytest.approx(0.03 + 0.00028, abs=3e-6)


def test_counts_that_were_altered_are_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """Only counts that match the ledger's checksum are published; otherwise the error names the week."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    for change in ("UPDATE counts SET noisy = noisy + 1 WHERE cell = 7", "DELETE FROM counts WHERE cell = 7"):
        with open_store(path, writable=True) as store:
            store.connection.execute(f"{change} AND week = DATE '2021-01-11'")
        with pytest.raises(StoreError, match="week 2021-01-11 do not match the ledger"):
            derived(path)
