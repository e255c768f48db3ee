"""Promises about what simulated people search for, and about the truth that is written of it."""

import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from search_insights.simulation.day import make_world
from search_insights.simulation.interest import NationalCurve, counted_topics, published_trends
from search_insights.simulation.simulation import PEAK_SHARE
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import other_spec, plain_spec
from tests.support.simulated_logs import MONDAY, ONE_IN_A_MILLION, SUNDAY, US_EVENTS, Query, chi_square_bounds

# The topics


def test_topics_have_the_expected_shares_in_the_country_and_every_state(us_log: Query) -> None:
    """Given the number of searches, topics are binomial: chi-square over the states, and each national share."""
    found = us_log("""
        SELECT place_id, truth.category, expected_ratio, n, count(*) AS events
        FROM truth JOIN names ON place_id = state
        JOIN log USING (region)
        JOIN (SELECT state, count(*) AS n FROM log JOIN names USING (region) GROUP BY 1) USING (state)
        WHERE truth.level = 'state' AND truth.category = log.category GROUP BY ALL""")
    assert len(found) == 51 * 3
    share, n, events = (np.array([row[i] for row in found], dtype=np.float64) for i in (2, 3, 4))
    low, high = chi_square_bounds(len(found))
    assert low < chi_square_of_shares(events, n, share) < high
    assert chi_square_of_shares(events, n, share * 1.1) > high
    assert chi_square_of_shares(events, n, share * 0.9) > high
    for category, expected in us_log(
        "SELECT category, expected_ratio FROM truth WHERE level = 'country' AND category <> 'A0'"
    ):
        ((events_of,),) = us_log(f"SELECT count(*) FROM log WHERE category = '{category}'")
        spread = ONE_IN_A_MILLION * math.sqrt(US_EVENTS * expected * (1 - expected))
        assert abs(events_of - US_EVENTS * expected) < spread < 0.1 * US_EVENTS * expected


def chi_square_of_shares(events: npt.NDArray[Any], n: npt.NDArray[Any], share: npt.NDArray[Any]) -> float:
    """Return the chi-square statistic of binomial counts with the given shares."""
    return float(((events - n * share) ** 2 / (n * share * (1 - share))).sum())


def test_the_national_curve_is_the_published_one(paper: Spec) -> None:
    """161 weeks; A3 is the total less A1 and A2; the highest week has the peak share."""
    published = published_trends()
    assert len(published["date"]) == 161
    curve = NationalCurve(paper, 0.2)
    assert curve.shares(MONDAY).sum() == pytest.approx(0.2)
    weeks = [date.fromordinal(int(day)) for day in published["date"]]
    shares = np.array([curve.shares(week) for week in weeks]).T
    assert shares[0] == pytest.approx(0.2 * published["vaccination_intent"] / 100)
    assert shares[1] == pytest.approx(0.2 * published["safety_side_effects"] / 100)
    assert shares.sum(axis=0) == pytest.approx(0.2 * published["covid19_vaccination"] / 100)
    assert (shares > 0).all()


@pytest.mark.parametrize("spec", [other_spec(), plain_spec()])
def test_topics_of_other_specs_have_smooth_synthetic_curves(spec: Spec) -> None:
    """Every topic is searched for every week and changes slowly; the total never exceeds the peak share."""
    curve = NationalCurve(spec, 0.1)
    shares = np.array([curve.shares(SUNDAY + timedelta(weeks=i)) for i in range(120)])
    assert shares.shape[1] == len(spec.topics)
    assert (shares > 0).all()
    assert shares.sum(axis=1).max() <= 0.1 + 1e-9
    assert np.abs(np.diff(shares, axis=0) / shares[:-1]).max() < 0.3
    assert np.ptp(shares, axis=0).min() > 0.01


def test_weeks_outside_the_table_have_a_synthetic_curve(paper: Spec) -> None:
    """There is something to publish before and after the original's weeks too."""
    for week in (date(2019, 6, 3), date(2030, 6, 3)):
        shares = NationalCurve(paper, 0.1).shares(week)
        assert (shares > 0).all()
        assert shares.sum() <= 0.1


def test_counties_of_one_state_are_similar(us_log: Query) -> None:
    """Counties differ, and those of one state differ less than those of the whole country."""
    ((everywhere, within),) = us_log("""
        WITH c AS (SELECT state, ln(expected_ratio) AS x FROM truth
                   JOIN (SELECT DISTINCT county, state FROM names) ON place_id = county WHERE category = 'A1'),
             s AS (SELECT state, var_samp(x) AS v FROM c GROUP BY 1)
        SELECT (SELECT stddev_samp(x) FROM c), sqrt((SELECT avg(v) FROM s))""")
    assert 0.15 < everywhere < 0.6
    assert within < 0.9 * everywhere


# The truth


def test_the_truth_has_every_reported_region_and_category(us_log: Query, us_coverage: Coverage) -> None:
    """One row each; A0 is all searches, the topics together are fewer, and the country is at the peak share."""
    reported = {p for p, standing in us_coverage.standings.items() if standing.reported}
    assert us_log("SELECT count(*), count(DISTINCT place_id), count(DISTINCT week) FROM truth") == [
        (len(reported) * 4, len(reported), 1)
    ]
    assert us_log("SELECT DISTINCT week FROM truth") == [(MONDAY,)]
    assert us_log("SELECT DISTINCT expected_ratio FROM truth WHERE category = 'A0' AND expected_ratio IS NOT NULL") == [
        (1.0,)
    ]
    ((least, most),) = us_log("""
        SELECT min(x), max(x)
        FROM (SELECT sum(expected_ratio) AS x FROM truth WHERE category <> 'A0' GROUP BY place_id)""")
    assert 0.01 < least < PEAK_SHARE < most < 0.6
    ((peak,),) = us_log("SELECT sum(expected_ratio) FROM truth WHERE level = 'country' AND category <> 'A0'")
    assert peak == pytest.approx(PEAK_SHARE)


def test_the_truth_is_empty_only_where_nobody_lives(us_log: Query, us_coverage: Coverage) -> None:
    """A region without people has no share, not a share of 0."""
    empty = {row[0] for row in us_log("SELECT place_id FROM truth WHERE expected_ratio IS NULL")}
    reported = [r for r in us_coverage.geography.regions if us_coverage.standings[r.place_id].reported]
    assert empty == {r.place_id for r in reported if r.population == 0}


def test_the_share_of_a_region_is_the_mean_over_the_searches_below_it(other_coverage: Coverage) -> None:
    """The levels agree with each other."""
    world = make_world(other_coverage, 1, 1000, 500, 0.1, queries=False)
    expected, weights = world.interest.expected(SUNDAY), world.interest.search_weights
    assert weights.sum() == pytest.approx(1)
    places = world.interest.shares(SUNDAY)
    assert expected[:, 0] == pytest.approx(places @ weights)
    assert expected[:, 0] == pytest.approx(world.interest.curve.shares(SUNDAY))


def test_both_packaged_specs_have_the_same_curve(paper: Spec) -> None:
    """What people search for does not depend on how a release counts: a union of topics is their sum here."""
    other = load_spec("vaccination-v2")
    assert [counted_topics(other, trend) for trend in other.trends] == [t.sum_of for t in paper.trends]
    for week in (date(2021, 1, 4), date(2021, 3, 8), date(2030, 1, 7)):
        np.testing.assert_array_equal(NationalCurve(other, 0.05).shares(week), NationalCurve(paper, 0.05).shares(week))
