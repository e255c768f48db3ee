"""Removing unreliable values (Section 4.2): each is assessed from noisy counts and public sigmas alone.

X and Y are a noisy count and its normalizing count, with independent Gaussian noise of known sigma around the true x*
and y*. Fieller's interval for x*/y* contains every ratio r that the data do not contradict. If r is the truth, X - rY
is Gaussian around 0 with variance sigma_x^2 + r^2 sigma_y^2; r is in the interval if X - rY lies within z standard
deviations of 0. So the interval covers the truth with the stated probability, whatever x* and y* are. If Y is not
clearly positive, the interval is unbounded, and the value is dropped.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from search_insights.spec.spec import Reliability
from search_insights.support.arrays import Bools, Floats

# The nodes, in units of its sigma, and weights for averaging over a noisy Y (Gauss-Hermite quadrature).
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)

# How much an interval is widened because the noise is whole numbers, in counts.
_STEP = 0.2


@dataclass(frozen=True, slots=True)
class Ratios:
    """Normalized popularities with their intervals, and which of them are reliable enough to be published."""

    value: Floats
    low: Floats
    high: Floats
    kept: Bools


def assess(x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, rule: Reliability) -> Ratios:
    """Divide noisy counts by noisy counts, and assess each ratio by its interval."""
    low, high = fieller(x, y, sigma_x, sigma_y, rule.confidence)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = x / y
    reach = rule.max_relative_error * value
    bounded = np.isfinite(low) & np.isfinite(high)
    # A count is never below 0, so two negative noisy counts do not make a positive ratio.
    positive = (x > 0) & (y > 0)
    with np.errstate(invalid="ignore"):
        kept = positive & bounded & (value - low <= reach) & (high - value <= reach)
    return Ratios(value, np.maximum(low, 0.0), high, kept)


def fieller(x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of Fieller's interval for x*/y*; infinite where Y is not clearly positive.

    The ends solve (X - rY)^2 = z^2 (sigma_x^2 + r^2 sigma_y^2) for r. That is exact for continuous noise. This noise is
    whole numbers, so the interval is widened by a fifth of a count. Near r = 0 only whole steps of X matter, and there
    it is widened up to the last step that the confidence needs.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(y > 0, np.abs(x) / y, np.inf)
        z_wide = z + _STEP / np.hypot(sigma_x, np.where(np.isfinite(ratio), ratio, 1.0) * sigma_y)
    vx, vy = np.maximum(z_wide * sigma_x, np.ceil(z * sigma_x - 0.5)) ** 2, (z_wide * sigma_y) ** 2
    leading = y**2 - vy
    clear = (y > 0) & (leading > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(vy * x**2 + vx * y**2 - vx * vy, 0.0))
        low = np.where(clear, (x * y - root) / leading, -np.inf)
        high = np.where(clear, (x * y + root) / leading, np.inf)
    return low, high


def chance_of_keeping(x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, rule: Reliability) -> Floats:
    """Return the probability that `assess` keeps a value whose exact counts are x and y.

    The interval reaches farther up than down. With a = (z sigma_x / X)^2 and g = (z sigma_y / Y)^2 its upper end is
    X/Y (1 + sqrt(g + a (1 - g))) / (1 - g). That is within the limit if X is above some number, so for each Y the
    probability is a normal tail.
    """
    from scipy import special

    z = NormalDist().inv_cdf((1 + rule.confidence) / 2)
    reach_x = np.maximum(z * sigma_x + _STEP, np.ceil(z * sigma_x - 0.5))
    noisy_y = np.asarray(y)[..., None] + _NODES * np.asarray(sigma_y)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.where(noisy_y > 0, (z * np.asarray(sigma_y)[..., None] / noisy_y) ** 2, np.inf)
        spare = (1 + rule.max_relative_error) * (1 - g) - 1
        a = np.where((spare > 0) & (g < 1), (spare**2 - g) / (1 - g), -1.0)
        limit = np.where(a > 0, np.asarray(reach_x)[..., None] / np.sqrt(np.maximum(a, 1e-300)), np.inf)
    tails = special.ndtr((np.asarray(x)[..., None] - limit) / np.asarray(sigma_x)[..., None])
    chances: Floats = tails @ (_WEIGHTS / _WEIGHTS.sum())
    return chances
