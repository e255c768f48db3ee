"""Promises about rising searches: few of those that are called rising did not rise, and intervals contain the truth."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import InputError
from search_insights.support.arrays import Floats
from search_insights.trends.rising import (
    DEFAULT_RULE,
    RisingRule,
    changes,
    discoveries,
    least_growth_of_new,
    topic_growth,
)

SIGMA = 10.0
RHO = 1.3


def noisy(rng: np.random.Generator, rates: Floats) -> Floats:
    """Draw counts of people of these rates, with noise of whole numbers."""
    return np.asarray(rng.poisson(rates) + np.rint(rng.normal(0, SIGMA, rates.shape)), dtype=np.float64)


def week_pairs(seed: int, texts: int, growth: Floats, rho: float = RHO) -> tuple[Floats, Floats]:
    """Draw two weeks of texts with a realistic tail, each of which grows by its own factor beside the topic."""
    rng = np.random.default_rng(seed)
    before = 4000 / (np.arange(texts) + 2.0)
    return noisy(rng, before), noisy(rng, before * rho * growth)


@pytest.mark.parametrize("rho", [0.5, 2.0])
def test_if_no_text_rises_hardly_any_is_called_rising(rho: float) -> None:
    """The rule's share is then the chance that any text is called rising: 10 % of regions, whatever the topic did.

    The bound is 10 % plus 6 standard deviations of a share of 3,000. With the variance of the interval, which is too
    small where the topic grew and D is large by chance, the share would be 17 % for a topic that doubled.
    """
    regions = 3000
    wrong = sum(changes(*week_pairs(seed, 100, np.ones(100), rho), rho, SIGMA).rising.any() for seed in range(regions))
    assert wrong / regions < 0.10 + 6 * (0.1 * 0.9 / regions) ** 0.5


def test_of_the_texts_called_rising_at_most_a_tenth_did_not_rise() -> None:
    """And most of those that doubled are found. The mean of 200 regions is below 10 % and 6 standard errors."""
    growth = np.where(np.arange(200) % 5 == 0, 2.0, 1.0)
    false, found = [], []
    for seed in range(200):
        rising = changes(*week_pairs(seed, 200, growth), RHO, SIGMA).rising
        false.append((rising & (growth == 1)).sum() / max(rising.sum(), 1))
        found.append((rising & (growth > 1))[:50].sum() / (growth > 1)[:50].sum())
    assert np.mean(false) < 0.10 + 6 * np.std(false) / 200**0.5
    assert np.mean(found) > 0.8


@pytest.mark.parametrize("rate", [0.0, 5.0, 40.0, 3000.0])
@pytest.mark.parametrize("growth", [0.5, 1.0, 4.0])
def test_the_interval_contains_the_change_as_often_as_stated(rate: float, growth: float) -> None:
    """80 % at least, but for 2 points, as the variance of chance is estimated; also where nothing limits it above."""
    rng = np.random.default_rng(1)
    x1 = noisy(rng, np.full(20_000, rate))
    x2 = noisy(rng, np.full(20_000, rate * RHO * growth))
    found = changes(x1, x2, RHO, SIGMA)
    inside = (found.low <= growth - 1) & (growth - 1 <= found.high)
    assert inside.mean() > 0.78
    assert (found.low <= growth - 1).mean() > 0.88  # the lower end alone, by which texts are ranked


@given(
    st.lists(st.tuples(st.integers(-60, 5000), st.integers(-60, 5000), st.floats(1, 50)), min_size=10, max_size=30),
    st.floats(0.1, 10),
)
def test_the_interval_is_around_the_change_and_rising_is_ranked_by_its_lower_end(
    counts: list[tuple[int, int, float]], rho: float
) -> None:
    """For any noisy counts, also below 0: ends are in order, and what is called rising has the larger share now."""
    x1, x2, sigma = np.array(counts, dtype=np.float64).T
    found = changes(x1, x2, rho, sigma)
    assert (found.low >= -1).all()
    assert (found.low <= found.high).all()
    finite = np.isfinite(found.high)
    assert (found.value[finite] <= found.high[finite] + 1e-9).all()
    assert (found.low[finite] <= np.maximum(found.value[finite], -1) + 1e-9).all()
    assert sorted(found.order) == np.flatnonzero(found.rising).tolist()
    assert (np.diff(found.low[found.order]) <= 0).all()
    assert (x2[found.rising] > rho * x1[found.rising]).all()


def test_a_region_with_few_texts_has_no_rising_ones() -> None:
    """Small states: a rule for many texts says nothing about three. Texts that are too small do not count."""
    x1, x2 = np.full(DEFAULT_RULE.min_texts, 100.0), np.full(DEFAULT_RULE.min_texts, 100.0)
    x2[0] = 1000.0
    assert changes(x1, x2, 1.0, SIGMA).order.tolist() == [0]
    assert not changes(x1[1:], np.roll(x2, 1)[1:], 1.0, SIGMA).rising.any()
    small = np.append(np.full(50, 20.0), 20.0)
    assert not changes(small, np.append(np.full(50, 20.0), 39.0), 1.0, SIGMA).rising.any()


def test_without_a_positive_topic_nothing_rises() -> None:
    """A noisy count of the topic may be 0 or below; then nobody knows how the topic grew."""
    assert np.isnan(topic_growth(-3.0, 10.0))
    assert np.isnan(topic_growth(10.0, 0.0))
    assert topic_growth(10.0, 13.0) == 1.3
    assert not changes(np.full(20, 10.0), np.full(20, 1000.0), float("nan"), SIGMA).rising.any()


def test_the_variance_has_the_noise_and_the_chance_of_both_weeks() -> None:
    """A text alone among texts that do not move is called rising where D is beyond the rule's first bound, not below.

    The first bound of 10 texts is the normal quantile of 1 % above 0. Without the Poisson term it would be nearer.
    """
    x1 = np.full(10, 900.0)
    need = NormalDist().inv_cdf(0.99)
    edge = 900.0
    while edge - 900 < need * (edge + 900 + 2 * SIGMA**2) ** 0.5:
        edge += 1
    for last, rising in ((edge, True), (edge - 1, False)):
        assert changes(x1, np.append(np.full(9, 900.0), last), 1.0, SIGMA).rising[-1] == rising


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0.01, 0.5))
def test_discoveries_are_those_of_benjamini_and_hochberg(p: list[float], share: float) -> None:
    """All p-values up to the largest k-th smallest that is at most k/n of the share."""
    ordered = sorted(p)
    passing = [value for k, value in enumerate(ordered, start=1) if value <= share * k / len(p)]
    expected = [bool(passing) and value <= passing[-1] for value in p]
    assert discoveries(np.array(p), share).tolist() == expected


# New texts


@pytest.mark.parametrize("before", [0.0, 100.0, 150.0])
def test_a_new_text_grew_at_least_as_much_as_is_said(before: float) -> None:
    """Of texts that are shown and were not the week before, 90 % at least grew by L or more, whatever their rates."""
    rng, threshold, sigma = np.random.default_rng(3), 157.0, 30.0
    rate = np.full(20_000, before * RHO * 3 + 300)
    x1 = rng.poisson(before, rate.size) + np.rint(rng.normal(0, sigma, rate.size))
    x2 = rng.poisson(rate) + np.rint(rng.normal(0, sigma, rate.size))
    new = (x1 < threshold) & (x2 >= threshold)
    least = least_growth_of_new(np.asarray(x2[new], dtype=np.float64), RHO, sigma, threshold)
    with np.errstate(divide="ignore"):
        truth = rate[new] / (RHO * np.float64(before)) - 1
    assert (np.isnan(least) | (least <= truth)).mean() > 0.9
    assert np.isfinite(least).mean() > (0.5 if before == 150 else 0)


def test_a_new_text_near_the_threshold_is_only_new() -> None:
    """Nothing is said of its growth: it may have been just below the threshold before."""
    assert np.isnan(least_growth_of_new(np.array([160.0, 200.0]), 1.0, 30.0, 157.0)).all()
    assert (np.diff(least_growth_of_new(np.array([500.0, 1000.0]), 1.0, 30.0, 157.0)) > 0).all()


@pytest.mark.parametrize(("false_share", "confidence"), [(0.0, 0.8), (0.1, 1.0), (float("nan"), 0.8)])
def test_a_rule_out_of_range_is_refused(false_share: float, confidence: float) -> None:
    """A share is between 0 and 1."""
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        RisingRule(false_share, confidence)
