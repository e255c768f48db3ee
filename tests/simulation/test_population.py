"""Promises about simulated people: where they live and search from, and how much they search."""

from pathlib import Path

import numpy as np
import pytest

from search_insights.simulation.population import build_tree, draw_people, rank_of, rates
from search_insights.simulation.simulation import EVENTS_PER_USER
from search_insights.spec.coverage import Coverage
from tests.support.simulated_logs import US_EVENTS, Query, chi_square, chi_square_bounds, simulate_small

# Where


def test_regions_have_the_shares_of_their_populations(us_coverage: Coverage) -> None:
    """Counties by population; within a county, ZIPs by theirs; in a county without ZIPs people live in the county."""
    regions, tree = us_coverage.geography.regions, build_tree(us_coverage.geography)
    weight = {r.place_id: w for r, w in zip(regions, tree.weight, strict=True)}
    people = us_coverage.geography.country.population or 0
    for region in regions:
        if region.level == "county":
            assert weight[region.place_id] == pytest.approx((region.population or 0) / people)
    zips = [r for r in regions if r.parent == "geoId/06075"]
    total = sum(r.population or 0 for r in zips)
    for region in zips:
        share = weight[region.place_id] / weight["geoId/06075"]
        assert share == pytest.approx((region.population or 0) / total)
    leaves = {regions[i].place_id for i in tree.leaves}
    assert "geoId/51600" in leaves  # the City of Fairfax, which has no ZIP
    assert sum(tree.weight[tree.leaves]) == pytest.approx(1)


def test_searches_come_from_the_states_in_proportion_to_population(us_log: Query, us_coverage: Coverage) -> None:
    """One search per user, by state: chi-square with 50 degrees of freedom is neither too high nor too low."""
    found: dict[str, int] = dict(
        us_log("""SELECT state, count(*) FROM (SELECT user_id, min_by(region, timestamp) AS region FROM log GROUP BY 1)
                  JOIN names USING (region) GROUP BY 1""")
    )
    states = {r.place_id: r.population or 0 for r in us_coverage.geography.regions if r.level == "state"}
    counts = np.array([found[state] for state in states], dtype=np.float64)
    low, high = chi_square_bounds(50)
    assert low < chi_square(counts, np.array(list(states.values()))) < high
    for distortion in (0.9, 1.1):
        wrong = np.array([p * (distortion if s == "geoId/06" else 1) for s, p in states.items()])
        assert chi_square(counts, wrong) > high


def test_unknown_populations_are_estimated_and_zero_stays_zero(other_coverage: Coverage) -> None:
    """Regions of unknown population share their parent's people evenly; nobody lives where the population is 0."""
    geography = other_coverage.geography
    tree = build_tree(geography)
    weight = {r.place_id: w for r, w in zip(geography.regions, tree.weight, strict=True)}
    assert sum(tree.weight[tree.leaves]) == pytest.approx(1)
    assert weight["qz/c/031"] == weight["qz/s/p09"] == 0
    assert weight["qz/s/p01"] == pytest.approx(weight["qz/s/p02"])
    assert weight["qz/s/p03"] / weight["qz/s/p04"] == pytest.approx(900 / 800)


def test_some_people_search_from_several_places_on_one_day(us_log: Query) -> None:
    """In another ZIP, county or state, and mostly near home."""
    ((days, zips, counties, states),) = us_log("""
        SELECT count(*), count(*) FILTER (zips > 1), count(*) FILTER (counties > 1), count(*) FILTER (states > 1)
        FROM (SELECT count(DISTINCT region) AS zips, count(DISTINCT county) AS counties, count(DISTINCT state) AS states
              FROM log JOIN names USING (region) WHERE level = 'postal_code'
              GROUP BY user_id, date_trunc('day', timestamp) HAVING count(*) > 1)""")
    assert days > zips > counties > states > 100
    assert zips > 0.1 * days


def test_search_weights_match_where_people_search(us_log: Query, us_coverage: Coverage) -> None:
    """Places are weighted by who lives and travels there and how much they search, not by population."""
    tree = build_tree(us_coverage.geography)
    weights = tree.sum_upwards(draw_people(tree, US_EVENTS // EVENTS_PER_USER, 7).search_weights())
    assert weights[0] == pytest.approx(1)
    found: dict[str, int] = dict(us_log("SELECT state, count(*) FROM log JOIN names USING (region) GROUP BY 1"))
    states = np.flatnonzero(tree.depth == 1)
    counts = np.array([found[us_coverage.geography.regions[i].place_id] for i in states], dtype=np.float64)
    _, high = chi_square_bounds(50)
    assert chi_square(counts, weights[states]) < high
    assert chi_square(counts, tree.weight[states]) > high


# How much


def test_most_people_search_little_and_a_few_search_much(us_log: Query) -> None:
    """Half of those who search on a day do so once or twice, a few hundreds of times; 1 % make over a tenth of all."""
    ((median, most),) = us_log("""
        SELECT median(n), max(n) FROM (SELECT count(*) AS n FROM log GROUP BY user_id, date_trunc('day', timestamp))""")
    assert median <= 2
    assert 200 < most < 2000
    ((top,),) = us_log("""
        SELECT sum(n) FROM (SELECT count(*) AS n FROM log GROUP BY user_id ORDER BY n DESC LIMIT 2500)""")
    assert top > US_EVENTS / 10


def test_ranks_are_drawn_with_the_stated_rates() -> None:
    """The truth weights people by their rates: the drawn ranks of 20 users fit them."""
    users, draws = 20, 200_000
    drawn = rank_of(np.random.default_rng(1).random(draws), users).astype(np.int64)
    counts = np.bincount(drawn, minlength=users).astype(np.float64)
    share = rates(users)
    assert share.sum() == pytest.approx(1)
    low, high = chi_square_bounds(users - 1)
    assert low < chi_square(counts, share) < high
    assert chi_square(counts, share * np.where(np.arange(users) < 5, 1.1, 1)) > high


def test_the_number_of_users_can_be_chosen(tmp_path: Path, other_coverage: Coverage) -> None:
    """Every user has an id of their own."""
    days = simulate_small(tmp_path / "log", other_coverage, users=50, events_per_week=7000)
    assert len({row[0] for events in days.values() for row in events}) == 50
