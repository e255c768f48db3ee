"""Intervals, differences, ranks and false discoveries, checked against a known truth.

Tests of a rate allow for 5 standard errors: a false alarm in about 2 million runs of each.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.analysis.differences import difference_interval, p_values, q_values
from search_insights.analysis.intervals import Estimates, Means, estimates, quantile, standard_errors
from search_insights.analysis.ranks import p_of_others, rank_intervals
from search_insights.support.arrays import Bools, Floats
from tests.support.many_counties import Truth, many_counties

COUNTIES, WEEKS, MONTH = 80, 120, 4
SPECS = ("vaccination-v1", "vaccination-v2")


class World:
    """Published values of counties beside the truth, on the scale of a dataset.

    True values never change, except that in every second week those of every third county are a quarter higher, if
    `changes` is true.
    """

    def __init__(self, folder: Path, spec: str, share: float, changes: bool = False) -> None:
        random = np.random.default_rng(20210301)
        populations = [int(people) for people in np.geomspace(20_000, 3_000_000, COUNTIES)]
        cells = many_counties(folder, populations, spec)
        searches = np.rint(0.1 * np.array(populations))
        higher = changes * (np.arange(WEEKS)[:, None] % 2) * (np.arange(COUNTIES) % 3 == 0)
        shares = share * np.exp(0.3 * random.normal(size=COUNTIES)) * (1 + 0.25 * higher)
        found = Truth(searches, shares).published(cells, random)
        intent = [trend.id for trend in found.columns].index("C1")
        parts = (found.ratios.value, found.ratios.low, found.ratios.high)
        kept = found.ratios.kept[:, 2:, intent]
        scaled = [np.round(3000 * np.where(kept, part[:, 2:, intent], np.nan), 3).T for part in parts]
        self.estimates = estimates(scaled[0], scaled[1], scaled[2], 0.8)
        self.true: Floats = (3000 * np.rint(searches * shares) / searches)[0]

    def weeks(self, first: int, number: int = 1) -> Means:
        """Return the means of some weeks."""
        of, chosen = self.estimates, slice(first, first + number)
        return Means.of(Estimates(of.value[:, chosen], of.of_x[:, chosen], of.of_y[:, chosen]))


@pytest.fixture(scope="module", params=[(spec, share) for spec in SPECS for share in (0.02, 0.003)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Both packaged specs; interest so high that nearly all is published, and so low that half is."""
    return World(tmp_path_factory.mktemp("world"), *request.param)


def assert_rate(hits: Bools, least: float, most: float = 1.0) -> None:
    """Check that so many are hits, but for chance."""
    slack = 5 * np.sqrt(0.25 / hits.size if least < 0.75 else least * (1 - least) / hits.size)
    assert least - slack <= hits.mean() <= most + slack, hits.mean()


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
def test_intervals_cover_at_any_confidence(world: World, confidence: float) -> None:
    """Ends at another confidence, made from the rounded 80 % ends, contain the truth as often as they say."""
    down, up = world.estimates.arms(quantile(confidence))
    value, true = world.estimates.value, world.true[:, None]
    covers = (value - down <= true) & (true <= value + up)
    assert_rate(covers[~np.isnan(value)], confidence - 0.005, confidence + 0.02)


def test_means_of_complete_periods_cover(world: World) -> None:
    """The interval of a mean over four weeks contains the truth, for regions that have all four."""
    covers = []
    for first in range(0, WEEKS, MONTH):
        means = world.weeks(first, MONTH)
        low, high = means.interval(0.95)
        covers.append(((low <= world.true) & (world.true <= high))[means.weeks == MONTH])
    assert_rate(np.concatenate(covers), 0.94, 0.97)


def test_no_change_is_found_as_often_as_the_level_says(world: World) -> None:
    """If nothing changed, p-values are below a level no more often than the level says, and intervals contain 0."""
    p, covers = [], []
    for first in range(0, WEEKS, 2):
        now, before = world.weeks(first), world.weeks(first + 1)
        both = (now.weeks > 0) & (before.weeks > 0)
        now, before = now.rows(both), before.rows(both)
        p.append(p_values(now.value, now.arms, before.value, before.arms))
        low, high = difference_interval(now.value, now.arms, before.value, before.arms, 0.9)
        covers.append((low <= 0) & (high >= 0))
    assert_rate(np.concatenate(covers), 0.89, 0.93)
    for level in (0.2, 0.05, 0.01):
        assert_rate(np.concatenate(p) >= level, 1 - 1.1 * level, 1 - 0.7 * level)


def test_ranks_are_covered_and_the_first_is_among_the_candidates(world: World) -> None:
    """The interval contains the true rank; and the truly first region is among those that may be first."""
    covers, first_found = [], []
    for first in range(0, WEEKS, MONTH):
        means = world.weeks(first, MONTH)
        complete = means.weeks == MONTH
        best, worst = rank_intervals(means.rows(complete), 0.9)
        true = world.true[complete]
        ranks = 1 + (true[None, :] > true[:, None]).sum(axis=1)
        covers.append((best <= ranks) & (ranks <= worst))
        first_found.append(best[np.argmax(true)] == 1)
        assert (worst - best).mean() < 0.6 * len(true)  # and it says something
    assert_rate(np.concatenate(covers), 0.9)
    assert_rate(np.array(first_found), 0.9)


@pytest.mark.parametrize("spec", SPECS)
def test_false_discoveries_are_controlled(tmp_path: Path, spec: str) -> None:
    """Of the changes with q <= 0.1, at most a tenth are false in the mean, when a third of the regions changed."""
    world, shares, found = World(tmp_path, spec, 0.005, changes=True), [], 0
    for first in range(0, WEEKS, 2):
        before, now = world.weeks(first), world.weeks(first + 1)
        both = (now.weeks > 0) & (before.weeks > 0)
        now, before, changed = now.rows(both), before.rows(both), (np.arange(COUNTIES) % 3 == 0)[both]
        discovered = q_values(p_values(now.value, now.arms, before.value, before.arms)) <= 0.1
        shares.append((discovered & ~changed).sum() / max(discovered.sum(), 1))
        found += int((discovered & changed).sum())
    assert np.mean(shares) <= 0.1 + 5 * np.std(shares) / np.sqrt(len(shares))
    assert found > 5 * len(shares)  # and changes are found


def test_regions_that_equal_the_others_are_rarely_told_apart() -> None:
    """The p-value against the mean of all others is uniform if all are equal."""
    random = np.random.default_rng(3)
    parts = Estimates(50 + 2 * random.normal(size=(40, 200)), np.full((40, 200), 4.0), np.zeros((40, 200)))
    p = [
        p_of_others(Means.of(Estimates(*(part[:, [i]] for part in (parts.value, parts.of_x, parts.of_y)))))
        for i in range(200)
    ]
    for level in (0.2, 0.05):
        assert_rate(np.concatenate(p) < level, 0.8 * level, 1.2 * level)


@given(st.floats(50, 1e6), st.floats(1e3, 1e7), st.floats(0.5, 5), st.floats(1, 100), st.sampled_from([0.5, 0.99]))
def test_the_published_ends_give_those_of_any_confidence(
    x: float, y: float, sigma_x: float, sigma_y: float, confidence: float
) -> None:
    """For all counts, Fieller's ends at one confidence follow from those at another."""
    scale = 100 * y / x

    def ends(at: float) -> tuple[Floats, Floats]:
        z = quantile(at)
        g, a = (z * sigma_y / y) ** 2, (z * sigma_x / x) ** 2
        root = np.sqrt(g + a * (1 - g))
        return np.array(x / y * scale * (1 - root) / (1 - g)), np.array(x / y * scale * (1 + root) / (1 - g))

    low, high = ends(0.8)
    down, up = estimates(np.array(100.0), low, high, 0.8).arms(quantile(confidence))
    assert np.allclose([100 - down, 100 + up], ends(confidence), rtol=1e-6)


def test_a_standard_error_is_half_the_width_over_the_quantile() -> None:
    """For a symmetric interval it is the standard deviation."""
    assert standard_errors(np.array([50 - 1.2815515655]), np.array([50 + 1.2815515655]), 0.8) == pytest.approx([1.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_q_values_are_those_of_benjamini_and_hochberg(p: list[float]) -> None:
    """For all p-values, q <= level selects what the step-up procedure selects at that level."""
    values, m = np.array(p), len(p)
    q = q_values(values)
    for level in (0.05, 0.1, 0.5):
        passing = [k for k in range(1, m + 1) if np.sort(values)[k - 1] * m / k <= level]
        limit = np.sort(values)[max(passing) - 1] if passing else -1.0
        assert ((q <= level) == (values <= limit)).all()
    assert (q >= values * (1 - 1e-12)).all()


def test_an_unbounded_interval_tells_nothing_apart() -> None:
    """Where the denominator may be 0 the arms have no end, so no difference is found."""
    vague = Estimates(np.array([[50.0]]), np.array([[1.0]]), np.array([[0.5]]))
    down, up = vague.arms(3.0)
    assert np.isinf([down, up]).all()
    sure = Means.of(Estimates(np.array([[80.0]]), np.array([[1.0]]), np.array([[0.0]])))
    means = Means.of(vague)
    assert p_values(means.value, means.arms, sure.value, sure.arms)[0] > 0.1
