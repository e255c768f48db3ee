"""The reach of X - rY is as wide as noise of whole numbers needs it to be, and no wider: computed, not drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.trends.reach import reach_of
from search_insights.trends.reliability import interval
from tests.support.exact_coverage import Pair, interval_coverage, pairs_of, ratios_up_to, reach_coverage

CONFIDENCE = 0.80
PAIRS = list(pairs_of(load_spec()))
RATIOS = ratios_up_to(14)
# Ratios that are far from simple fractions, at which r sigma_y is at least a count for every pair.
PLAIN = np.array([0.0437, 0.0613, 0.0871, 0.1234, 0.2718, 0.4142])
TRUTHS = [(0, 1), (0, 2000), (1, 1), (2, 3), (7, 1500), (20, 1000), (40, 900), (100, 1000), (125, 1000), (510, 1006)]


def name_of(pair: Pair) -> str:
    return f"{pair.level} {pair.trend}"


def test_every_level_class_and_trend_of_the_spec_is_computed(paper: Spec) -> None:
    """Country, states, and all classes of counties and postal codes, each with C3 and with C1 and C2."""
    levels = ["country", "state", "county small", "county medium", "county large"]
    levels += ["postal_code medium", "postal_code large"]
    expected = [(level, trends) for level in levels for trends in ("C3", "C1, C2")]
    assert [(pair.level, pair.trend) for pair in pairs_of(paper)] == expected


@pytest.mark.parametrize("pair", PAIRS, ids=name_of)
def test_the_truth_is_within_reach_as_often_as_promised(pair: Pair) -> None:
    """At all simple fractions, where whole numbers matter most, X - rY is within reach with at least 80 %."""
    assert reach_coverage(pair, RATIOS, CONFIDENCE).min() >= CONFIDENCE


@pytest.mark.parametrize("pair", PAIRS, ids=name_of)
def test_the_reach_is_not_wider_than_it_must_be(pair: Pair) -> None:
    """Away from simple fractions it covers at most 80.25 %, and 1 % less of it covers less than 80 % everywhere."""
    assert reach_coverage(pair, PLAIN, CONFIDENCE).max() <= 0.8025
    assert reach_coverage(pair, PLAIN, CONFIDENCE, factor=0.99).max() < CONFIDENCE


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.sigmas[1] <= 40], ids=name_of)
def test_the_interval_covers_every_pair_of_true_counts(pair: Pair) -> None:
    """From the ends at every pair of noisy counts: at least 80 % for tiny counts, no count, and simple ratios."""
    assert min(interval_coverage(pair, x, y, CONFIDENCE) for x, y in TRUTHS) >= CONFIDENCE


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize(("sx", "sy"), [(0.1, 0.1), (0.3, 5.0), (0.6, 0.6), (1.0, 12.0), (12.0, 1.0), (900.0, 2.0)])
def test_other_sigmas_and_confidences_are_covered(sx: float, sy: float, confidence: float) -> None:
    """The rule is a computation, not a table for one spec: also tiny, equal and swapped sigmas keep the confidence."""
    found = reach_coverage(Pair("any", "any", (sx,), (sy,)), ratios_up_to(12, most=4), confidence)
    assert found.min() >= confidence


@pytest.mark.parametrize("sigma", [1.5, 2.0, 3.21])
def test_sums_of_counts_are_covered(sigma: float) -> None:
    """A sum of three discrete Gaussians from sigma 1.5 up is as good as one of the sum of their variances."""
    pair = Pair("any", "any", (sigma,) * 3, (9.0,) * 2)
    assert reach_coverage(pair, ratios_up_to(12), CONFIDENCE).min() >= CONFIDENCE


@settings(max_examples=50)
@given(
    number=st.integers(0, len(PAIRS) - 1),
    x=st.integers(-50, 3_000),
    y=st.integers(-50, 30_000),
    ratio=st.floats(0, 10),
)
def test_the_interval_contains_every_ratio_within_reach(number: int, x: int, y: int, ratio: float) -> None:
    """If |X - rY| is within the reach at r, then r is in the interval: so it covers at least as often."""
    sigmas = PAIRS[number].sigmas
    reach = reach_of(*sigmas, CONFIDENCE).at(np.array([ratio]))
    low, high = interval(np.array([float(x)]), np.array([float(y)]), *sigmas, CONFIDENCE)
    if abs(x - ratio * y) <= reach[0]:
        assert low[0] <= ratio <= high[0]


@pytest.mark.parametrize("pair", PAIRS, ids=name_of)
def test_the_interval_ends_where_the_reach_ends(pair: Pair) -> None:
    """For values that can be kept, |X - rY| is the reach at both ends r, within a hundredth of the width."""
    sigmas = pair.sigmas
    y = np.linspace(12, 400, 300) * sigmas[1]
    x = np.linspace(9, 60, 7)[:, None] * sigmas[0]
    reach = reach_of(*sigmas, CONFIDENCE)
    for end in interval(x, y, *sigmas, CONFIDENCE):
        np.testing.assert_allclose(np.abs(x - end * y), reach.at(end), rtol=0.01)


def test_the_reach_never_decreases_with_the_ratio() -> None:
    """The ends of an interval are found by this."""
    ratios = np.concatenate([np.linspace(0, 2, 20_000), np.geomspace(2, 1e9, 2_000)])
    for pair in PAIRS:
        assert (np.diff(reach_of(*pair.sigmas, CONFIDENCE).at(ratios)) >= 0).all()


def test_values_of_several_sigmas_are_assessed_by_their_own() -> None:
    """Values of different sigmas in one array have the reach that each has alone."""
    sx, sy = (np.array([float(pair.sigmas[i]) for pair in PAIRS]) for i in (0, 1))
    together = reach_of(sx, sy, CONFIDENCE)
    chosen = np.arange(sx.size) % 3 == 0
    alone = [float(reach_of(*pair.sigmas, CONFIDENCE).at(np.array([0.07]))[0]) for pair in PAIRS]
    np.testing.assert_array_equal(together.at(np.full(sx.size, 0.07)), alone)
    np.testing.assert_array_equal(together.of_values(chosen).at(np.full(chosen.sum(), 0.07)), np.array(alone)[chosen])
