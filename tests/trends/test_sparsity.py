"""Which regions are too sparse is decided once, on the weeks of the spec's window (Section 4.3)."""

from datetime import date, timedelta
from pathlib import Path

from search_insights.spec.coverage import Coverage
from search_insights.store.lost import lose
from search_insights.store.opening import open_store
from tests.support.stores import (
    CITY,
    FIRST,
    NOTHING,
    TOWN,
    USUAL,
    WeekCounts,
    add_weeks,
    place_ids,
    released,
    short_window_coverage,
)


def test_nothing_is_removed_before_the_window_is_complete(tmp_path: Path, short_coverage: Coverage) -> None:
    """A region without any data point is kept until the store has the last week of the window."""
    path = add_weeks(tmp_path / "store.db", short_coverage, *[{CITY: NOTHING}] * 3)
    release = released(path)
    assert release.sparsity is None
    assert not release.removed.any()
    add_weeks(path, short_coverage, {CITY: NOTHING}, start=3)
    assert released(path).removed.sum() == 1


def test_a_gap_in_the_window_leaves_it_incomplete(tmp_path: Path, short_coverage: Coverage) -> None:
    """Weeks after the window do not replace a missing week of the window."""
    path = add_weeks(tmp_path / "store.db", short_coverage, *[{CITY: NOTHING}] * 3)
    add_weeks(path, short_coverage, *[{CITY: NOTHING}] * 3, start=4)
    assert released(path).sparsity is None


def test_a_region_with_at_most_max_points_is_removed(tmp_path: Path, short_coverage: Coverage) -> None:
    """Where max_points is 2, a region with 2 points is removed and one with 3 is kept."""
    two, three = {CITY: NOTHING}, {CITY: NOTHING, TOWN: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", short_coverage, {}, {}, two, three))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]
    assert release.trends.points[:, place_ids(release.trends).index(TOWN)].sum() == 3


def test_a_data_point_is_a_week_with_at_least_one_value(tmp_path: Path, short_coverage: Coverage) -> None:
    """A week is one data point whether one or all three of its trends are reliable."""
    only_intent = (100_000, 3_000, -2_000, -900)
    weeks = [{CITY: only_intent, TOWN: USUAL}] * 2 + [{CITY: only_intent, TOWN: NOTHING}] + [{TOWN: NOTHING}]
    release = released(add_weeks(tmp_path / "store.db", short_coverage, *weeks))
    assert release.sparsity is not None
    assert release.sparsity.removed == [TOWN]


def test_points_after_the_window_do_not_count(tmp_path: Path, short_coverage: Coverage) -> None:
    """A region with too few points in the window is removed however many points it has later."""
    empty: WeekCounts = {CITY: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", short_coverage, *[empty] * 4, {}, {}, {}, {}))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]
    assert not release.published[:, place_ids(release.trends).index(CITY)].any()


def test_points_before_the_window_do_not_count(tmp_path: Path, short_coverage: Coverage) -> None:
    """A region with too few points in the window is removed however many points it had earlier."""
    empty: WeekCounts = {CITY: NOTHING}
    release = released(add_weeks(tmp_path / "store.db", short_coverage, {}, {}, {}, *[empty] * 4, start=-3))
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]


def test_sparsity_is_decided_once(tmp_path: Path, short_coverage: Coverage) -> None:
    """Weeks that are added later do not restore a removed region and do not remove another."""
    path = add_weeks(tmp_path / "store.db", short_coverage, *[{CITY: NOTHING}] * 4)
    decided = released(path).sparsity
    add_weeks(path, short_coverage, *[{TOWN: NOTHING, "geoId/06003": NOTHING}] * 6, start=4)
    release = released(path)
    assert release.sparsity == decided
    assert [region.place_id for region, gone in zip(release.trends.regions, release.removed, strict=True) if gone] == [
        CITY
    ]


def test_the_store_keeps_the_decision_with_the_release_that_made_it(tmp_path: Path, short_coverage: Coverage) -> None:
    """The store records which regions were removed, the weeks of that release, and the time."""
    path = add_weeks(tmp_path / "store.db", short_coverage, *[{CITY: NOTHING}] * 5)
    with open_store(path) as store:
        assert store.sparsity() is None
    released(path)
    with open_store(path) as store:
        record = store.sparsity()
    assert record is not None
    assert (record.first_week, record.last_week, record.removed) == (FIRST, date(2021, 2, 1), [CITY])
    assert date.fromisoformat(record.fixed_at) >= date(2026, 1, 1)


def test_the_total_is_never_removed(tmp_path: Path) -> None:
    """The total is kept even if every other region is removed."""
    states = dict.fromkeys(("geoId/01", "geoId/06", "geoId/35"), USUAL)
    weeks: list[WeekCounts] = [states, states, {}, {}]
    coverage = short_window_coverage(tmp_path, max_points=3)
    release = released(add_weeks(tmp_path / "store.db", coverage, *weeks, usual=NOTHING))
    assert release.removed.tolist() == [False] + [True] * (len(release.trends.regions) - 1)
    assert release.published[:, 0].any(axis=1).tolist() == [True, True, False, False]


def test_a_lost_week_completes_the_window(tmp_path: Path, short_coverage: Coverage) -> None:
    """The window is judged without it: with 2 points in the three weeks that are left, a region is removed."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {}, {CITY: NOTHING})
    add_weeks(path, short_coverage, {}, start=4)
    assert released(path).sparsity is None
    lose(path, FIRST + timedelta(weeks=3), "no log")
    release = released(path)
    assert release.sparsity is not None
    assert release.sparsity.removed == [CITY]
    assert release.window.judged == tuple(FIRST + timedelta(weeks=i) for i in range(3))
    assert (release.window.lost, release.window.missing) == ((FIRST + timedelta(weeks=3),), ())


def test_every_missing_week_must_be_lost_before_the_window_is_judged(tmp_path: Path, short_coverage: Coverage) -> None:
    """One lost week of two missing ones is not enough; one outside the window changes nothing."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {CITY: NOTHING}, start=2)
    for week in (FIRST - timedelta(weeks=1), FIRST):
        lose(path, week, "the series began later")
        assert released(path).sparsity is None
        assert FIRST + timedelta(weeks=1) in released(path).window.missing


def test_a_window_with_too_few_weeks_left_judges_no_region(tmp_path: Path, short_coverage: Coverage) -> None:
    """With 2 weeks left and max_points 2, every region would be removed: none is."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {}, start=2)
    for week in (FIRST, FIRST + timedelta(weeks=1)):
        lose(path, week, "the series began later")
    release = released(path)
    assert release.window.missing == ()
    assert release.sparsity is None
    assert not release.removed.any()
