"""One factor, fixed by the first release, scales all values (Section 4.4)."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from search_insights.trends.release import make_release, record_decisions
from tests.support.stores import CITY, FIRST, WeekCounts, add_weeks, released


def test_the_highest_country_value_of_the_first_release_is_the_maximum(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """The factor makes the national maximum of C3 100; values of smaller regions may be higher."""
    high = (100_000, 6_000, 2_000, 1_000)
    weeks: list[WeekCounts] = [{}, dict.fromkeys(("geoId/01", "geoId/06", "geoId/35"), high), {}]
    release = released(add_weeks(tmp_path / "store.db", short_coverage, *weeks))
    value, low, high_end = release.values
    assert value[1, 0, 0] == pytest.approx(100, abs=1e-9)
    assert np.nanmax(value[:, 0, 0]) == value[1, 0, 0]
    assert release.scaling.factor == pytest.approx(100 / 0.09)
    assert (low[1, 0, 0] < 100) & (high_end[1, 0, 0] > 100)


def test_all_regions_and_trends_have_the_same_factor(tmp_path: Path, short_coverage: Coverage) -> None:
    """Values are comparable: each value and each end of an interval is the ratio times the same number."""
    release = released(add_weeks(tmp_path / "store.db", short_coverage, {}, {CITY: (2_000, 900, 20, 10)}))
    ratios, shown = release.trends.ratios, release.published
    for scaled, part in zip(release.values, (ratios.value, ratios.low, ratios.high), strict=True):
        np.testing.assert_array_equal(scaled[shown], release.scaling.factor * part[shown])
        assert np.isnan(scaled[~shown]).all()


def test_the_factor_does_not_change_when_weeks_are_added(tmp_path: Path, short_coverage: Coverage) -> None:
    """A later week with a higher maximum has values above 100; older values do not change."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    before = released(path)
    add_weeks(path, short_coverage, {}, start=2, usual=(100_000, 8_000, 3_000, 1_000))
    after = released(path)
    assert after.scaling == before.scaling
    assert after.values[0][2, 0, 0] == pytest.approx(200)
    np.testing.assert_array_equal(after.values[0][:2], before.values[0])


def test_the_store_keeps_the_factor_with_the_release_that_fixed_it(tmp_path: Path, short_coverage: Coverage) -> None:
    """The store records the factor and the weeks of the release that was first published."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    assert make_release(path).scaling.factor == pytest.approx(100 / 0.06)
    with open_store(path) as store:
        assert store.scaling() is None, "a release that is only made, and not published, fixes nothing"
    released(path)
    with open_store(path) as store:
        record = store.scaling()
    assert record is not None
    assert (record.first_week, record.last_week, record.weeks) == (FIRST, date(2021, 1, 11), 2)
    assert record.factor == pytest.approx(100 / 0.06)


def test_of_two_first_releases_one_is_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """If two processes make the first release at the same time, only one of them fixes the factor."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {})
    slow = make_release(path)
    add_weeks(path, short_coverage, {}, start=1, usual=(100_000, 9_000, 9_000, 9_000))
    quick = released(path)
    with pytest.raises(StoreError, match="scaling is fixed already"):
        record_decisions(path, slow)
    assert make_release(path).scaling == quick.scaling


def test_a_store_without_a_reliable_country_value_is_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """Without a reliable country value there is no factor; the one-line error names the trend."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, usual=(100, 1, 1, 1))
    with pytest.raises(StoreError, match="no week has a reliable country value of trend 'C3'") as refused:
        make_release(path)
    assert "\n" not in str(refused.value)
