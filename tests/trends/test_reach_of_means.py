"""Intervals of reconciled counts cover the truth as often as they say, at every level and for every trend."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from search_insights.spec.cells import CellList
from search_insights.support.arrays import Counts, Floats
from search_insights.trends.derive import estimates, trend_counts, trend_reaches, trend_variances
from search_insights.trends.reach_of_means import reach_of_means
from search_insights.trends.reliability import assess
from tests.support.trees import tree_of_cells

Z = float(stats.norm.ppf(0.9))
DRAWS = 20_000


def chance_within(reach: float, own: float, step: float, rest: float) -> float:
    """Return the exact probability that noise is so close to 0: whole steps of noise, and a normal rest."""
    sigma = own / step
    k = np.arange(-int(9 * sigma) - 3, int(9 * sigma) + 4)
    weights = np.exp(-np.square(k / sigma) / 2)
    chances = ndtr((reach - k * step) / rest) - ndtr((-reach - k * step) / rest)
    return float(chances @ weights / weights.sum())


@given(
    sigma=st.floats(0.3, 40.0),
    share=st.floats(0.05, 1.0),
    weight=st.sampled_from([0.5, 1.0]),
    rest=st.floats(0.01, 2.0),
)
@example(sigma=2.74, share=0.9971, weight=1.0, rest=0.148)  # z deviations end between two steps, and are enough
def test_the_reach_covers_what_has_steps_and_what_has_none(
    sigma: float, share: float, weight: float, rest: float
) -> None:
    """For any noise of own steps and of others, 79.95 % or more is within the reach; what was raised holds 80 %."""
    step = share * weight
    own, rest = sigma * step, rest * step
    (reach,) = reach_of_means(np.array([np.hypot(own, rest)]), np.array([own]), np.array([step]), 0.80)
    assert Z * np.hypot(own, rest) <= reach <= Z * np.hypot(own, rest) + step / 2 + 1e-9
    covered = chance_within(float(reach), own, step, rest)
    assert covered >= 0.7995
    if own >= step and rest * own >= 0.05 * step * np.hypot(own, rest) and reach > 1.0001 * Z * np.hypot(own, rest):
        assert covered <= 0.8005


def test_z_deviations_alone_would_not_cover() -> None:
    """Where little else takes part, halves of searches with the sigmas of small counties need a little more."""
    own, step, rest = float(np.hypot(2.68, 3.78)) / 2, 0.499, 0.05
    sigma = np.hypot(own, rest)
    (reach,) = reach_of_means(np.array([sigma]), np.array([own]), np.array([step]), 0.80)
    assert chance_within(Z * sigma, own, step, rest) < 0.793
    assert chance_within(float(reach), own, step, rest) == pytest.approx(0.80, abs=0.002)
    assert reach < 1.02 * Z * sigma


def test_noise_without_steps_reaches_z_deviations() -> None:
    """The total has no count of its own; it is the mean of very many."""
    found = reach_of_means(np.array([3.0, 200.0]), np.array([0.0, 0.0]), np.array([0.0, 0.0]), 0.80)
    np.testing.assert_allclose(found, [3 * Z, 200 * Z])


def discrete_gaussian(rng: np.random.Generator, sigmas: Floats, draws: int) -> Floats:
    """Draw whole-number noise by its exact probabilities; a seed is fine in a test."""
    found = np.empty((draws, sigmas.size))
    for sigma in np.unique(sigmas):
        k = np.arange(-int(9 * sigma), int(9 * sigma) + 1)
        weights = np.cumsum(np.exp(-np.square(k / sigma) / 2))
        here = np.flatnonzero(sigmas == sigma)
        found[:, here] = k[np.searchsorted(weights, rng.random((draws, here.size)) * weights[-1])]
    return found


def exact_counts(cells: CellList, topic: float) -> Floats:
    """Return counts that add up, the same in every leaf: 40,000 of any search, and so many of any topic."""
    leaves = ~np.isin(np.arange(len(cells.nodes)), cells.parents)
    exact = np.zeros((len(cells.nodes), 4))
    exact[leaves] = [40_000, topic, -np.rint(0.2 * topic), -np.rint(0.6 * topic)]
    for level in ("postal_code", "county"):
        of_level = [i for i, node in enumerate(cells.nodes) if node.level == level]
        np.add.at(exact, cells.parents[of_level], exact[of_level])
    return exact


def covered(cells: CellList, noisy: Floats, true: Floats, factor: float = 1.0) -> Counts:
    """Return how often the intervals of each region and trend contain the truth; they can be made narrower."""
    spec = cells.coverage.spec
    counts, variances = estimates(cells, noisy)
    reach = trend_reaches(cells, variances)
    assert reach is not None
    x_sigma, y_sigma = np.sqrt(trend_variances(spec, variances)), np.sqrt(variances[:, :1])
    x, y = trend_counts(spec, counts), counts[:, :, :1]
    found = assess(x, y, x_sigma, factor * y_sigma, spec.reliability, factor * reach)
    hits: Counts = ((found.low[:, 1:] <= true) & (true <= found.high[:, 1:])).sum(axis=0)
    return hits


@pytest.mark.parametrize("share", [0.02, *(pytest.param(s, marks=pytest.mark.thorough) for s in (0.002, 0.1))])
def test_intervals_of_reconciled_counts_cover_at_every_level_and_trend(tmp_path: Path, share: float) -> None:
    """In a small tree coverage is within 79.5 and 84 % for every region and trend, in 20,000 simulated weeks.

    Each binomial test is at 1e-8, and the seed is fixed. Intervals that are 10 % narrower are rejected everywhere.
    """
    cells = tree_of_cells(tmp_path)
    exact = exact_counts(cells, np.rint(40_000 * share))
    of_regions = exact[: len(cells.regions)]
    true = trend_counts(cells.coverage.spec, of_regions) / of_regions[:, :1]
    noisy = exact.ravel() + discrete_gaussian(np.random.default_rng(18), cells.sigmas, DRAWS)
    hits = covered(cells, noisy, true)
    assert stats.binom.cdf(hits.min(), DRAWS, 0.795) > 1e-8
    assert stats.binom.sf(hits.max(), DRAWS, 0.84) > 1e-8
    assert stats.binom.cdf(covered(cells, noisy, true, 0.9).max(), DRAWS, 0.795) < 1e-8
