"""From noisy counts to values (Section 4): sums, intervals, which regions are too sparse, and the one scale."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Sparsity
from search_insights.spec.weeks import Week
from search_insights.store.store import create_or_open_store, open_store
from search_insights.support.arrays import Counts
from search_insights.trends.derive import Trends, derive
from search_insights.trends.release import Release, make_release, record_decisions
from tests.store.test_store import entry_for
from tests.support.logs import little_coverage

# The noisy counts of one week by place_id, one for each category.
WeekCounts = Mapping[str, tuple[int, ...]]

FIRST = date(2021, 1, 4)
USUAL = (100_000, 3_000, 2_000, 1_000)  # enough to be reliable at every level of the packaged spec
NOTHING = (0, 0, 0, 0)
CITY, TOWN = "zip/94103", "zip/95667"


def little(folder: Path, max_points: int = 2, window: int = 4) -> Coverage:
    """The little country, with a window of sparsity that is short enough for tests."""
    coverage = little_coverage(folder)
    sparsity = Sparsity(max_points, FIRST, FIRST + timedelta(weeks=window - 1))
    return Coverage(replace(coverage.spec, sparsity=sparsity), coverage.geography)


def add_weeks(
    path: Path, coverage: Coverage, *weeks: WeekCounts, start: int = 0, usual: tuple[int, ...] = USUAL
) -> Path:
    """Commit made-up noisy counts, week after week from the window's first on; regions not named have the usual."""
    spec = coverage.spec
    regions = CellList(coverage).regions
    with create_or_open_store(path, coverage) as store:
        for i, given in enumerate(weeks, start):
            week = Week(spec.sparsity.first_week + timedelta(weeks=i), spec.time_zone)
            noisy: Counts = np.array([given.get(r.place_id, usual) for r in regions], dtype=np.int64).ravel()
            entry = entry_for(coverage, noisy, week)
            store.commit_week(week, noisy, replace(entry, epsilon=spec.promise.epsilon, delta=spec.promise.delta))
    return path


def derived(path: Path) -> Trends:
    """Derive the trends of a store."""
    with open_store(path) as store:
        return derive(store)


def released(path: Path) -> Release:
    """Make a release of a store, and let it fix what it is the first to need."""
    release = make_release(path)
    record_decisions(path, release)
    return release


def places(trends: Trends) -> list[str]:
    return [region.place_id for region in trends.regions]


# Sums and ratios


def test_values_are_sums_of_categories_divided_by_any_search(tmp_path: Path) -> None:
    """C3 is A1 + A2 + A3, C1 is A1, C2 is A2, each over the region's own A0."""
    given = {"geoId/06": (90_000, 100, 200, 300), "geoId/06003": (800, -3, 40, 7), CITY: (5_000, 50, 0, 1)}
    trends = derived(add_weeks(tmp_path / "store.db", little(tmp_path), {}, given))
    for place, (any_search, a1, a2, a3) in given.items():
        expected = np.array([a1 + a2 + a3, a1, a2]) / any_search
        np.testing.assert_array_equal(trends.ratios.value[1, places(trends).index(place)], expected)


def test_the_total_is_the_sum_of_the_coarsest_level_only(tmp_path: Path) -> None:
    """The country's counts are those of the noisy states; what counties and postal codes say does not enter."""
    states = {"geoId/01": (1_000, 10, 1, 1), "geoId/06": (20_000, 300, 2, 2), "geoId/35": (300, -5, 3, 3)}
    trends = derived(add_weeks(tmp_path / "store.db", little(tmp_path), states))
    assert (trends.regions[0].place_id, places(trends)[0]) == ("country/USA", "country/USA")
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
def test_variances_add_up(tmp_path: Path, place: str, trend: int, sigma_x: float, sigma_y: float) -> None:
    """Each interval has the ends that follow from the sum of the variances of what was summed, and no others."""
    trends = derived(add_weeks(tmp_path / "store.db", little(tmp_path), {}))
    number = places(trends).index(place)
    states = 3 if place == "country/USA" else 1
    x, y = states * [6_000, 3_000, 2_000][trend], states * 100_000
    z = 1.2815515655446004  # for 80 %; a fifth of a count is added for noise of whole numbers
    wide = z + 0.2 / math.hypot(sigma_x, sigma_y * x / y)
    reach_x, reach_y = max(wide * sigma_x, math.ceil(z * sigma_x - 0.5)), wide * sigma_y
    root = math.sqrt((reach_y * x) ** 2 + (reach_x * y) ** 2 - (reach_x * reach_y) ** 2)
    low, high = ((x * y + sign * root) / (y**2 - reach_y**2) for sign in (-1, 1))
    ratios = trends.ratios
    np.testing.assert_allclose([ratios.low[0, number, trend], ratios.high[0, number, trend]], [low, high], rtol=1e-9)


def test_the_width_of_a_country_interval_in_numbers(tmp_path: Path) -> None:
    """9,000 of 300,000 searches, sigmas 60.6 and 779: 0.03 give or take 0.00028."""
    trends = derived(add_weeks(tmp_path / "store.db", little(tmp_path), {}))
    assert trends.ratios.value[0, 0, 1] == 0.03
    assert trends.ratios.low[0, 0, 1] == pytest.approx(0.03 - 0.00028, abs=3e-6)
    assert trends.ratios.high[0, 0, 1] == pytest.approx(0.03 + 0.00028, abs=3e-6)


def test_counts_that_were_altered_are_refused(tmp_path: Path) -> None:
    """What is published is what was committed: the ledger's checksum finds any other count out, and names the week."""
    path = add_weeks(tmp_path / "store.db", little(tmp_path), {}, {})
    for change in ("UPDATE counts SET noisy = noisy + 1 WHERE cell = 7", "DELETE FROM counts WHERE cell = 7"):
        with open_store(path, writable=True) as store:
            store.connection.execute(f"{change} AND week = DATE '2021-01-11'")
        with pytest.raises(StoreError, match="week 2021-01-11 do not match the ledger"):
            derived(path)


# Sparsity


def test_nothing_is_removed_before_the_window_is_complete(tmp_path: Path) -> None:
    """A region without any data point stays in until the last week of the window is there."""
    coverage = little(tmp_path)
    path = add_weeks(tmp_path / "store.db", coverage, *[{CITY: NOTHING}] * 3)
    release = released(path)
    assert release.sparsity is None
    assert not release.removed.any()
    add_weeks(path, coverage, {CITY: NOTHING}, start=3)
    assert released(path).removed.sum() == 1


def test_a_gap_in_the_window_leaves_it_incomplete(tmp_path: Path) -> None:
    """Later weeks do not stand in for one of the window that is missing."""
    coverage = little(tmp_path)
    path = add_weeks(tmp_path / "store.db", coverage, *[{CITY: NOTHING}] * 3)
    add_weeks(path, coverage, *[{CITY: NOTHING}] * 3, start=4)
    assert released(path).sparsity is None


def test_regions_with_the_most_points_allowed_are_removed_and_with_one_more_kept(tmp_path: Path) -> None:
    """With at most 2 points a region goes, with 3 it stays."""
    two, three = {CITY: NOTHING}, {CITY: NOTHING, TOWN: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), {}, {}, two, three))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]
    assert release.trends.points[:, places(release.trends).index(TOWN)].sum() == 3


def test_a_data_point_is_a_week_with_at_least_one_value(tmp_path: Path) -> None:
    """One reliable trend makes a week a data point; three of them are no more than one."""
    only_intent = (100_000, 3_000, -2_000, -900)
    weeks = [{CITY: only_intent, TOWN: USUAL}] * 2 + [{CITY: only_intent, TOWN: NOTHING}] + [{TOWN: NOTHING}]
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), *weeks))
    assert release.sparsity is not None
    assert release.sparsity.removed == [TOWN]


def test_only_weeks_of_the_window_are_judged(tmp_path: Path) -> None:
    """Points after the window do not save a region that has too few in it."""
    empty: WeekCounts = {CITY: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), *[empty] * 4, {}, {}, {}, {}))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]
    assert not release.published[:, places(release.trends).index(CITY)].any()


def test_points_before_the_window_do_not_count(tmp_path: Path) -> None:
    """The window has a beginning too."""
    empty: WeekCounts = {CITY: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), {}, {}, {}, *[empty] * 4, start=-3))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]


def test_sparsity_is_decided_once(tmp_path: Path) -> None:
    """Weeks that are added later neither bring a region back nor remove another."""
    coverage = little(tmp_path)
    path = add_weeks(tmp_path / "store.db", coverage, *[{CITY: NOTHING}] * 4)
    decided = released(path).sparsity
    add_weeks(path, coverage, *[{TOWN: NOTHING, "geoId/06003": NOTHING}] * 6, start=4)
    release = released(path)
    assert release.sparsity == decided
    assert [region.place_id for region, gone in zip(release.trends.regions, release.removed, strict=True) if gone] == [
        CITY
    ]


def test_the_store_keeps_the_decision_with_the_release_that_made_it(tmp_path: Path) -> None:
    """Which regions, the weeks of that release, and when."""
    path = add_weeks(tmp_path / "store.db", little(tmp_path), *[{CITY: NOTHING}] * 5)
    with open_store(path) as store:
        assert store.sparsity() is None
    released(path)
    with open_store(path) as store:
        record = store.sparsity()
    assert record is not None
    assert (record.first_week, record.last_week, record.removed) == (FIRST, date(2021, 2, 1), [CITY])
    assert record.fixed_at.endswith("+00:00")


def test_the_total_is_never_removed(tmp_path: Path) -> None:
    """Where all regions go, the total stays."""
    states = dict.fromkeys(("geoId/01", "geoId/06", "geoId/35"), USUAL)
    weeks: list[WeekCounts] = [states, states, {}, {}]
    coverage = little(tmp_path, max_points=3)
    release = released(add_weeks(tmp_path / "store.db", coverage, *weeks, usual=NOTHING))
    assert release.removed.tolist() == [False] + [True] * (len(release.trends.regions) - 1)
    assert release.published[:, 0].any(axis=1).tolist() == [True, True, False, False]


# Scaling


def test_the_highest_country_value_of_the_first_release_is_the_maximum(tmp_path: Path) -> None:
    """The factor makes the national maximum of C3 100; values of regions may lie above."""
    high = (100_000, 6_000, 2_000, 1_000)
    weeks: list[WeekCounts] = [{}, dict.fromkeys(("geoId/01", "geoId/06", "geoId/35"), high), {}]
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), *weeks))
    value, low, high_end = release.values
    assert value[1, 0, 0] == pytest.approx(100, abs=1e-9)
    assert np.nanmax(value[:, 0, 0]) == value[1, 0, 0]
    assert release.scaling.factor == pytest.approx(100 / 0.09)
    assert (low[1, 0, 0] < 100) & (high_end[1, 0, 0] > 100)


def test_all_regions_and_trends_have_the_same_factor(tmp_path: Path) -> None:
    """Values stay comparable: each is the ratio times one number, and so are the ends of its interval."""
    release = released(add_weeks(tmp_path / "store.db", little(tmp_path), {}, {CITY: (2_000, 900, 20, 10)}))
    ratios, shown = release.trends.ratios, release.published
    for scaled, part in zip(release.values, (ratios.value, ratios.low, ratios.high), strict=True):
        np.testing.assert_array_equal(scaled[shown], release.scaling.factor * part[shown])
        assert np.isnan(scaled[~shown]).all()


def test_the_factor_does_not_change_when_weeks_are_added(tmp_path: Path) -> None:
    """A later week with a higher maximum has values above 100; the older values stay as they were."""
    coverage = little(tmp_path)
    path = add_weeks(tmp_path / "store.db", coverage, {}, {})
    before = released(path)
    add_weeks(path, coverage, {}, start=2, usual=(100_000, 8_000, 3_000, 1_000))
    after = released(path)
    assert after.scaling == before.scaling
    assert after.values[0][2, 0, 0] == pytest.approx(200)
    np.testing.assert_array_equal(after.values[0][:2], before.values[0])


def test_the_store_keeps_the_factor_with_the_release_that_fixed_it(tmp_path: Path) -> None:
    """The factor, the weeks of that release, and when."""
    path = add_weeks(tmp_path / "store.db", little(tmp_path), {}, {})
    assert make_release(path).scaling.factor == pytest.approx(100 / 0.06)
    with open_store(path) as store:
        assert store.scaling() is None, "a release that is only made, and not published, fixes nothing"
    released(path)
    with open_store(path) as store:
        record = store.scaling()
    assert record is not None
    assert (record.first_week, record.last_week, record.weeks) == (FIRST, date(2021, 1, 11), 2)
    assert record.factor == pytest.approx(100 / 0.06)


def test_of_two_first_releases_one_is_refused(tmp_path: Path) -> None:
    """Two programs that make the first release at once do not both fix a factor."""
    coverage = little(tmp_path)
    path = add_weeks(tmp_path / "store.db", coverage, {})
    slow = make_release(path)
    add_weeks(path, coverage, {}, start=1, usual=(100_000, 9_000, 9_000, 9_000))
    quick = released(path)
    with pytest.raises(StoreError, match="scaling is fixed already"):
        record_decisions(path, slow)
    assert make_release(path).scaling == quick.scaling


def test_a_store_without_a_reliable_country_value_is_refused(tmp_path: Path) -> None:
    """There is nothing to scale by; the one line says which trend was looked for."""
    path = add_weeks(tmp_path / "store.db", little(tmp_path), {}, usual=(100, 1, 1, 1))
    with pytest.raises(StoreError, match="no week has a reliable country value of trend 'C3'") as refused:
        make_release(path)
    assert "\n" not in str(refused.value)
