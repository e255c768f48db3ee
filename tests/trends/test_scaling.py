"""One factor, fixed by the first release, scales all values (Section 4.4); or one for each trend, by stated weeks."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search_insights.errors import ScaleIncomplete, StoreError
from search_insights.routine.settings import Settings
from search_insights.routine.steps import steps_of
from search_insights.spec.coverage import Coverage
from search_insights.spec.publication_rules import Scaling
from search_insights.store.lost import lose
from search_insights.store.opening import open_store
from search_insights.store.recording import plan_change, record_change
from search_insights.trends.release import make_release, record_decisions
from search_insights.trends.scaling import few_weeks, scale_problems
from tests.support.stores import CITY, FIRST, USUAL, WeekCounts, add_weeks, released


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


# Other rules than the paper's: a factor for each trend, or stated weeks


def with_scaling(coverage: Coverage, **rule: Any) -> Coverage:
    """Return the same release with another rule of scaling."""
    return Coverage(replace(coverage.spec, scaling=Scaling(100.0, **rule)), coverage.geography)


def weeks_of_scale(coverage: Coverage, first: int, last: int) -> Coverage:
    """Return the same release with a scale that some weeks set."""
    first_week, last_week = (FIRST + timedelta(weeks=i) for i in (first, last))
    return with_scaling(coverage, trend="C3", first_week=first_week, last_week=last_week)


HIGH = (100_000, 9_000, 3_000, 3_000)


def test_a_release_may_take_the_factor_of_another(tmp_path: Path, short_coverage: Coverage) -> None:
    """No week of its own sets the scale, so none has to be reliable; the factor is recorded, and verified as given."""
    other = released(add_weeks(tmp_path / "other.db", short_coverage, {})).scaling.factor
    coverage = with_scaling(short_coverage, trend="C3", factor=other, set_by="US_vaccination_search_insights")
    path = add_weeks(tmp_path / "store.db", coverage, {}, usual=HIGH)
    release = released(path)
    assert release.scaling.factor == other
    np.testing.assert_allclose(release.values[0][0, 0], [250, 150, 50])
    assert few_weeks(release.trends, [release.scaling]) == ""
    with open_store(path) as store:
        assert scale_problems(store) == []
    weak = add_weeks(tmp_path / "weak.db", coverage, {}, usual=(100, 1, 1, 1))
    assert make_release(weak).scaling.factor == other


def test_each_trend_may_have_a_factor_of_its_own(tmp_path: Path, short_coverage: Coverage) -> None:
    """With scope "each" the country's peak of every trend is the maximum; each factor is fixed and recorded."""
    path = add_weeks(tmp_path / "store.db", with_scaling(short_coverage, scope="each"), {}, {})
    before = released(path)
    assert [record.trend for record in before.scales[0].records] == ["C3", "C1", "C2"]
    np.testing.assert_allclose(before.values[0][:, 0].max(axis=0), 100)
    add_weeks(path, with_scaling(short_coverage, scope="each"), {}, start=2, usual=HIGH)
    after = released(path)
    assert after.scales[0].records == before.scales[0].records
    np.testing.assert_array_equal(after.values[0][:2], before.values[0])
    np.testing.assert_allclose(after.values[0][2, 0], [250, 300, 150])


def test_a_trend_without_a_reliable_total_waits_for_its_factor(tmp_path: Path, short_coverage: Coverage) -> None:
    """Nothing of it is published, and the other trends are; when its factor is fixed, no published value moves."""
    coverage = with_scaling(short_coverage, scope="each")
    rare = (100_000, 3_000, 1, 1_000)
    path = add_weeks(tmp_path / "store.db", coverage, {CITY: USUAL}, usual=rare)
    before = released(path)
    assert [record.trend for record in before.scales[0].records] == ["C3", "C1"]
    assert before.trends.ratios.kept[..., 2].any(), "a region has a reliable ratio of it"
    assert not before.published[..., 2].any()
    assert set(before.outcomes[before.trends.ratios.kept & ~before.published]) == {3}
    add_weeks(path, coverage, {}, start=1)
    after = released(path)
    assert [record.trend for record in after.scales[0].records] == ["C3", "C1", "C2"]
    assert after.published[..., 2].any()
    np.testing.assert_array_equal(after.values[0][:1, :, :2], before.values[0][..., :2])
    with open_store(path) as store:
        assert scale_problems(store) == []


def test_stated_weeks_set_the_scale_when_all_of_them_are_there(tmp_path: Path, short_coverage: Coverage) -> None:
    """Before, nothing is published or fixed, and one line says which week is missing; weeks outside do not count."""
    coverage = weeks_of_scale(short_coverage, 1, 2)
    path = add_weeks(tmp_path / "store.db", coverage, {}, {}, usual=HIGH)
    with pytest.raises(ScaleIncomplete, match="1 of them are not in the store, the first 2021-01-18") as refused:
        released(path)
    assert "\n" not in str(refused.value)
    with open_store(path) as store:
        assert store.scalings() == []
    add_weeks(path, coverage, {}, start=2)
    add_weeks(path, coverage, {}, start=3, usual=(100_000, 12_000, 3_000, 3_000))
    release = released(path)
    assert release.scaling.factor == pytest.approx(100 / 0.15)
    assert (release.scaling.first_week, release.scaling.weeks) == (FIRST + timedelta(weeks=1), 2)
    assert release.values[0][:, 0, 0] == pytest.approx([100, 100, 40, 120])


def test_a_run_waits_for_the_weeks_of_the_scale(tmp_path: Path, short_coverage: Coverage) -> None:
    """The spec says so, so it is told and no error: a scheduler does not fail every week until they are there."""
    coverage = weeks_of_scale(short_coverage, 0, 1)
    settings = Settings(store=add_weeks(tmp_path / "store.db", coverage, {}), dataset=tmp_path / "dataset")
    (step,) = steps_of(settings, coverage, lambda text: None)
    assert step.is_due()
    assert step.do().startswith("not published yet: the weeks from 2021-01-04 to 2021-01-11 set the scale")
    assert not (tmp_path / "dataset").exists()


def test_a_lost_week_of_the_scale_is_not_waited_for(tmp_path: Path, short_coverage: Coverage) -> None:
    """As with sparsity: a week that was declared lost never comes."""
    coverage = weeks_of_scale(short_coverage, 0, 1)
    path = add_weeks(tmp_path / "store.db", coverage, {})
    lose(path, FIRST + timedelta(weeks=1), "the log was deleted")
    assert released(path).scaling.weeks == 1


@pytest.mark.parametrize("rule", [{"trend": "C3"}, {"scope": "each"}, {"trend": "C1", "first_week": FIRST,
                                                                       "last_week": FIRST}])  # fmt: skip
def test_every_scale_is_verified(tmp_path: Path, short_coverage: Coverage, rule: dict[str, Any]) -> None:
    """A factor that its weeks do not give is found, whichever rule fixed it; an intact one is not."""
    path = add_weeks(tmp_path / "store.db", with_scaling(short_coverage, **rule), {}, {})
    released(path)
    with open_store(path, writable=True) as store:
        assert scale_problems(store) == []
        trend = store.scalings()[-1].trend
        store.connection.execute("UPDATE scaling SET factor = factor * 1.001 WHERE trend = ?", [trend])
        (line,) = scale_problems(store)
    assert line.startswith(f"the scaling factor{f' of trend {trend!r}' if trend else ''} is not the one that weeks")


def test_another_rule_of_scaling_is_a_correction_with_its_reason(tmp_path: Path, short_coverage: Coverage) -> None:
    """It is derivation: all weeks get the new scale, the old record stays, and both verify."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    first = released(path)
    with open_store(path) as store:
        plan = plan_change(store, with_scaling(short_coverage, scope="each"), "rare topics were hard to see")
    assert plan.change.kind == "derivation"
    record_change(path, plan)
    second = released(path)
    np.testing.assert_allclose(second.values[0][:, 0].max(axis=0), 100)
    with open_store(path) as store:
        assert [record.change for record in store.scalings()] == [1, 2, 2, 2]
        assert store.scalings()[0] == first.scaling
        assert scale_problems(store) == []


def test_a_new_edition_goes_on_with_the_scale_unless_it_says_otherwise(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """With a new scale, later weeks have their own peak; earlier values do not move, and both factors verify."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    before = released(path)
    sigmas = tuple(replace(sigma, value=sigma.value * 1.1) for sigma in short_coverage.spec.sigmas)
    later = Coverage(replace(short_coverage.spec, sigmas=sigmas), short_coverage.geography)
    with open_store(path) as store:
        plan = plan_change(store, later, "recalibrated", from_week=FIRST + timedelta(weeks=2), new_scale=True)
    record_change(path, plan)
    add_weeks(path, later, {}, start=2, usual=HIGH)
    after = released(path)
    np.testing.assert_array_equal(after.values[0][:2], before.values[0])
    assert after.values[0][:, 0, 0] == pytest.approx([100, 100, 100])
    assert [(scale.weeks, scale.records[0].change) for scale in after.scales] == [
        (before.trends.weeks, 1),
        ((FIRST + timedelta(weeks=2),), 2),
    ]
    with open_store(path) as store:
        assert scale_problems(store) == []


def test_a_scale_of_fewer_weeks_than_the_window_is_told(tmp_path: Path, short_coverage: Coverage) -> None:
    """A first release of one week makes that week the maximum for good; a rule that states its weeks means them."""
    release = make_release(add_weeks(tmp_path / "store.db", short_coverage, {}))
    assert "set by 1 week only" in few_weeks(release.trends, release.scales[0].records)
    stated = make_release(add_weeks(tmp_path / "stated.db", weeks_of_scale(short_coverage, 0, 0), {}))
    assert few_weeks(stated.trends, stated.scales[0].records) == ""
    assert few_weeks(release.trends, [replace(release.scaling, weeks=4)]) == "", "as many as the window has"
    assert few_weeks(release.trends, []) == "", "fixed by an earlier release"
