"""Intervals cover the truth as often as they say, whatever the truth is, and decide which values are kept."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from search_insights.dp.noise import add_noise
from search_insights.spec.publication_rules import Reliability
from search_insights.trends.reliability import assess, interval

RULE = Reliability(0.80, 0.15)
DRAWS = 30_000

# True counts from 0 to a million, and sigmas from the smallest to the largest of the paper, with C3 and the country.
GRID = [
    (x, y, sx, sy)
    for x, y in [(0, 1), (0, 5), (1, 1), (3, 20), (20, 30), (40, 400), (90, 2000), (0, 10**6), (5 * 10**4, 10**6)]
    for sx, sy in [(3.21, 28.0), (5.56, 28.0), (3.25, 35.0), (20.0, 180.0), (35.0, 450.0), (250.0, 3214.0)]
]


def noisy(true: int, sigma: float) -> npt.NDArray[np.float64]:
    """Draw noisy counts as the program does."""
    return add_noise(np.full(DRAWS, true, dtype=np.int64), np.full(DRAWS, sigma)).astype(float)


def test_the_interval_covers_the_truth_as_often_as_promised_and_not_much_more_often() -> None:
    """For true counts of any size coverage is at least 80 %; where Y is far from 0 it is at most 82 %.

    Coverage is measured on 30,000 draws of the program's own noise for each point; a binomial test at 1e-8 for each
    point and side keeps false alarms under 1e-6 for the whole grid. Where Y may be near 0 the interval is unbounded,
    which covers. Where sigma is small compared with the steps between whole numbers, coverage cannot be close to 80 %.
    """
    noise = {sigma: noisy(0, sigma) for sigma in {sigma for point in GRID for sigma in point[2:]}}
    for x, y, sx, sy in GRID:
        low, high = interval(x + noise[sx], y + noise[sy][::-1], np.array(sx), np.array(sy), RULE.confidence)
        covered = int(((low <= x / y) & (x / y <= high)).sum())
        assert stats.binom.cdf(covered, DRAWS, 0.80) > 1e-8, (x, y, sx, sy, covered / DRAWS)
        smooth = sx >= 8 or sy * x / y >= 1
        if y > 10 * sy and smooth:
            assert stats.binom.sf(covered, DRAWS, 0.82) > 1e-8, (x, y, sx, sy, covered / DRAWS)


@pytest.mark.parametrize("sigma", [0.6, 1.5, 3.21, 3.5, 3.9, 8.0, 20.0, 35.0])
def test_coverage_is_sufficient_for_noise_of_whole_numbers(sigma: float) -> None:
    """If a large region has no search, the interval contains 0 with at least 80 %, computed exactly."""
    k = np.arange(-400, 401)
    weights = np.exp(-np.square(k) / (2 * sigma**2))
    low, high = interval(k.astype(float), np.full(k.size, 1e9), np.full(k.size, sigma), np.ones(k.size), 0.80)
    assert weights[(low <= 0) & (high >= 0)].sum() / weights.sum() >= 0.80


@pytest.mark.parametrize(("factor", "expected"), [(0.9, "too narrow"), (1.1, "too wide")])
def test_the_coverage_test_rejects_an_interval_that_is_off_by_10_percent(factor: float, expected: str) -> None:
    """The coverage test rejects sigmas that are 10 % too small as too narrow and 10 % too large as too wide."""
    x, y, sx, sy = 5 * 10**4, 10**6, 35.0, 450.0
    low, high = interval(x + noisy(0, sx), y + noisy(0, sy), np.array(factor * sx), np.array(factor * sy), 0.80)
    covered = int(((low <= x / y) & (x / y <= high)).sum())
    if expected == "too narrow":
        assert stats.binom.cdf(covered, DRAWS, 0.80) < 1e-8
    else:
        assert stats.binom.sf(covered, DRAWS, 0.82) < 1e-8


def test_the_ends_solve_fiellers_equation() -> None:
    """Where steps of whole numbers are small, each end r solves |X - rY| = z sqrt(sx^2 + r^2 sy^2), within 0.5 %."""
    x, y, sx, sy = (np.array([v]) for v in (1200.0, 9000.0, 50.0, 400.0))
    z = stats.norm.ppf(0.9)
    for end in interval(x, y, sx, sy, 0.80):
        np.testing.assert_allclose(abs(x - end * y), z * np.hypot(sx, end * sy), rtol=0.005)


@given(x=st.floats(-1e6, 1e6), y=st.floats(-1e6, 1e6), sx=st.floats(0.1, 1e4), sy=st.floats(0.1, 1e4))
def test_only_positive_bounded_and_close_values_are_kept(x: float, y: float, sx: float, sy: float) -> None:
    """A kept value is positive, and its interval is finite, contains it, and extends at most 15 % to either side."""
    ratios = assess(np.array([x]), np.array([y]), np.array([sx]), np.array([sy]), RULE)
    if not ratios.kept[0]:
        return
    value, low, high = ratios.value[0], ratios.low[0], ratios.high[0]
    assert x > 0 < y
    assert 0 <= low <= value <= high < np.inf
    assert value - low <= 0.15 * value * (1 + 1e-9)
    assert high - value <= 0.15 * value * (1 + 1e-9)


def test_values_without_a_clearly_positive_denominator_are_dropped() -> None:
    """If Y is near 0 or negative, the interval is unbounded and the value is dropped, however large X is."""
    y = np.array([0.0, 30.0, -500.0, 35.0])
    ratios = assess(np.full(4, 1e6), y, np.full(4, 3.0), np.full(4, 28.0), RULE)
    assert not ratios.kept.any()
    assert np.isinf(ratios.high).all()


def test_two_negative_counts_do_not_make_a_value() -> None:
    """If both counts are negative, X/Y is positive, but the value is dropped."""
    ratios = assess(np.array([-1e4]), np.array([-1e5]), np.array([1.0]), np.array([1.0]), RULE)
    assert not ratios.kept[0]
    assert not ratios.positive[0]


def test_a_large_count_is_kept_and_a_small_one_dropped() -> None:
    """By the paper's rule, at sigma 3.21 a value from 40 searches is kept and one from 20 is dropped."""
    ratios = assess(np.array([40.0, 20.0]), np.array([1e5, 1e5]), np.full(2, 3.21), np.full(2, 28.0), RULE)
    assert ratios.kept.tolist() == [True, False]


def test_a_value_is_kept_if_and_only_if_its_own_interval_is_close() -> None:
    """The ends are worked out only for values that may be kept; the others would not be kept with theirs either."""
    rng = np.random.default_rng(4)
    y = rng.integers(1, 3_000, 100_000).astype(float)
    x = np.rint(y * rng.uniform(0, 0.2, y.size))
    sx, sy = np.array(3.25), np.array(35.0)
    ratios, (low, high) = assess(x, y, sx, sy, RULE), interval(x, y, sx, sy, RULE.confidence)
    with np.errstate(invalid="ignore"):
        close = (x > 0) & (x / y - low <= 0.15 * x / y) & (high - x / y <= 0.15 * x / y)
    np.testing.assert_array_equal(ratios.kept, close)
    np.testing.assert_array_equal(ratios.low[close], low[close])
    np.testing.assert_array_equal(ratios.high[close], high[close])
    assert (ratios.low <= np.maximum(low, 0)).all()
    assert (ratios.high >= high).all()
    assert 0.1 < close.mean() < 0.9
