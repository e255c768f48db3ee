"""How often intervals of reconciled counts contain the truth, computed from the noise of every count: not drawn."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from search_insights.spec.cells import CellList
from search_insights.support.arrays import Floats
from search_insights.trends.derive import estimates
from search_insights.trends.reliability import assess
from tests.support.exact_means import Sum, Value, chance_within, kinds_of, values_of, weights_of
from tests.support.trees import tree_of_cells

RATIOS = np.array([0.0, 1e-4, 0.003, 0.01, 0.02, 1 / 30, 0.05, 0.1, 0.125, 0.25, 1 / 3, 0.5, 1.0, 2.0])
# At these the noise of Y is at least two thirds of a count, so that steps of X no longer matter.
SMOOTH = np.array([0.0741, 0.0913, 0.1234, 0.1718, 0.2236])


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> CellList:
    """A small country of vaccination-v2, in which every level and class has regions."""
    return tree_of_cells(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def values(cells: CellList) -> list[Value]:
    """The values of every kind of region in it."""
    return list(values_of(cells, kinds_of(cells)))


def coverage(values: list[Value], ratios: Floats, variance: float = 1.0) -> Floats:
    return np.stack([value.coverage(ratios, variance) for value in values])


def test_every_level_class_and_trend_is_computed(values: list[Value]) -> None:
    """Country, states, and all classes of counties and postal codes, each with C3 and with C1 and C2."""
    levels = ["country", "state", "county small", "county medium", "county large"]
    levels += ["postal_code medium", "postal_code large"]
    assert {(value.kind.name, value.trends) for value in values} == {(n, t) for n in levels for t in ("C3", "C1, C2")}


def test_intervals_of_reconciled_counts_cover_whatever_the_truth_is(values: list[Value]) -> None:
    """From no topic at all to two topics a search, coverage is within 79.5 and 84 % at every level, class and trend."""
    found = coverage(values, RATIOS)
    assert found.min() >= 0.795
    assert found.max() <= 0.84


def test_variances_that_are_ten_percent_off_would_be_noticed(values: list[Value]) -> None:
    """Away from the smallest ratios coverage is 80 % within 0.3: wrong variances are off by 1.5 or more everywhere."""
    found = coverage(values, SMOOTH)
    assert found.min() >= 0.797
    assert found.max() <= 0.803
    assert coverage(values, SMOOTH, 1 / 1.1).max() < 0.785
    assert coverage(values, SMOOTH, 1.1).min() > 0.815


def test_the_interval_holds_the_ratios_within_reach(values: list[Value], cells: CellList) -> None:
    """|X - rY| is the reach at both ends r of an interval, so that the computed coverage is that of intervals."""
    rule = cells.coverage.spec.reliability
    for value in values:
        sigma_y = value.reach_y / float(stats.norm.ppf(0.9))
        x, y = np.meshgrid([-2.0, 1.0, 30.0, 1e4], np.array([2.0, 40.0, 1e4]) * sigma_y)
        unused = np.array(value.reach_x)  # the sigma of X, where its reach is given
        found = assess(x, y, unused, np.array(sigma_y), rule, np.array(value.reach_x))
        assert np.isfinite(found.high).all()
        for end in (found.low[found.low > 0], found.high):
            at = (x, y) if end is found.high else (x[found.low > 0], y[found.low > 0])
            np.testing.assert_allclose(np.abs(at[0] - end * at[1]), np.hypot(value.reach_x, end * value.reach_y))


def test_weights_give_back_what_the_program_reconciles(cells: CellList) -> None:
    """For any counts, the weighted sums are the program's estimates; no count of another state takes part."""
    rng = np.random.default_rng(4)
    counts = rng.normal(0, 100, (1, cells.sigmas.size))
    wanted = estimates(cells, counts)[0][0]
    regions = range(len(wanted))
    of_nodes = counts.reshape(len(cells.nodes), -1)
    found = [(weights * of_nodes).sum(axis=0) for weights in weights_of(cells, regions)]
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize(("sigma", "small"), [(2.68, 0.01), (2.68, 0.03), (9.0, 0.02)])
def test_the_series_agrees_with_a_convolution(sigma: float, small: float) -> None:
    """Noise of one count and of 400 others with small weights: summed over the steps of the one, with a normal rest."""
    noise = Sum.of(np.array([0.97, *[small] * 400]), np.full(401, sigma))
    rest = small * 20 * sigma
    k = np.arange(-int(9 * sigma), int(9 * sigma) + 1)
    weights = np.exp(-np.square(k / sigma) / 2)
    for reach in np.linspace(0.3, 3.0, 7) * sigma:
        chances = ndtr((reach - 0.97 * k) / rest) - ndtr((-reach - 0.97 * k) / rest)
        found = chance_within(noise, Sum.of(np.array([1.0]), np.array([9.0])), np.zeros(1), np.array([reach]))
        assert found[0] == pytest.approx(float(chances @ weights / weights.sum()), abs=1e-6)


def test_the_series_finds_steps() -> None:
    """Two counts of equal weight, and one of half a weight: a convolution of three, whose steps are half a count."""
    sigmas, reach = np.array([2.0, 2.0, 3.0]), np.array([0.2, 2.7, 4.1, 6.3])
    k = np.arange(-60, 61)
    one, other = (np.exp(-np.square(k / s) / 2) / np.exp(-np.square(k / s) / 2).sum() for s in (2.0, 3.0))
    twice = np.convolve(one, one)
    at = np.abs(np.arange(-120, 121)[:, None] + 0.5 * k)
    wanted = [float(twice @ (at <= limit) @ other) for limit in reach]
    found = chance_within(Sum.of(np.array([1.0, 1.0, 0.5]), sigmas), Sum.of(np.ones(1), sigmas[:1]), np.zeros(1), reach)
    np.testing.assert_allclose(found, wanted, atol=0.003)
