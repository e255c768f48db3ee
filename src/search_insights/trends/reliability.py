"""Removing unreliable values (Section 4.2): each is assessed from noisy counts and public sigmas alone.

X and Y are a noisy count and its normalizing count, with independent noise of known sigma around the true x* and y*.
Fieller's interval for x*/y* contains every ratio r that the data do not contradict. If r is the truth, X - rY is noise
around 0 with variance sigma_x^2 + r^2 sigma_y^2; r is in the interval if X - rY lies within the reach of that noise
(reach.py): about z standard deviations, and exactly as many as noise of whole numbers needs. So the interval covers the
truth with the stated probability, whatever x* and y* are. If Y is not clearly positive, the interval is unbounded, and
the value is dropped.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.spec.publication_rules import Reliability
from search_insights.support.arrays import Bools, Floats
from search_insights.trends.reach import Reach, reach_of

# The nodes, in units of its sigma, and weights for averaging over a noisy Y (Gauss-Hermite quadrature).
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)

Squares = tuple[Floats, Floats]  # of the reach of X and of that of Y

# How often the ends of an interval are refined. It must be odd: after an even number the low end may be too high.
_STEPS = 3


@dataclass(frozen=True, slots=True)
class Ratios:
    """Normalized popularities with their intervals, and which of them are reliable enough to be published.

    `positive` says where both counts are. A count is never below 0, so two negative noisy counts do not make a value.
    """

    value: Floats
    low: Floats
    high: Floats
    positive: Bools
    kept: Bools


def assess(
    x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, rule: Reliability, reach_x: Floats | None = None
) -> Ratios:
    """Divide noisy counts by noisy counts, and assess each ratio by its interval.

    Counts of three axes are of several weeks, the first.
    """
    x, y = np.broadcast_arrays(x, y)
    of_week = assessment(sigma_x, sigma_y, rule, reach_x)
    if x.ndim < 3:
        return of_week(x, y)
    return in_rows(lambda i: of_week(x[i], y[i]), len(x))


def assessment(
    sigma_x: Floats, sigma_y: Floats, rule: Reliability, reach_x: Floats | None = None
) -> Callable[[Floats, Floats], Ratios]:
    """Return the function that assesses the counts of a week: all weeks have the same noise.

    Where even the least reach is too wide, the value is dropped, and its ends are not refined. Where counts are not
    whole numbers, `reach_x` is how far the noise of X reaches (reach_of_means.py), and that of Y is as good as normal.
    """
    if reach_x is None:
        reach = reach_of(sigma_x, sigma_y, rule.confidence)
        ends = _squares(reach, reach.least), _squares(reach, reach.most)
        return lambda x, y: _assess(x, np.broadcast_to(y, x.shape), rule, reach, *ends)
    return lambda x, y: _assess_means(x, np.broadcast_to(y, x.shape), rule, reach_x, sigma_y)


def in_rows(of_week: Callable[[int], Ratios], weeks: int) -> Ratios:
    """Return the ratios of weeks as one, with the week as the first axis.

    A week at a time fits into the cache, and each core takes one.
    """
    first = _parts(of_week(0))
    rows = [np.empty((weeks, *part.shape), part.dtype) for part in first]

    def fill(week: int, parts: Sequence[npt.NDArray[Any]]) -> None:
        for row, part in zip(rows, parts, strict=True):
            row[week] = part

    fill(0, first)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda week: fill(week, _parts(of_week(week))), range(1, weeks)))  # an error is raised here
    return Ratios(*rows)


def _parts(ratios: Ratios) -> list[npt.NDArray[Any]]:
    return [getattr(ratios, field.name) for field in fields(Ratios)]


def _assess(x: Floats, y: Floats, rule: Reliability, reach: Reach, least: Squares, most: Squares) -> Ratios:
    value = _divided(x, y)
    narrow, (low, high) = _fieller(x, y, *least), _fieller(x, y, *most)
    positive = (x > 0) & (y > 0)
    kept = positive & np.isfinite(high) & _close(value, narrow[0], narrow[1], rule)
    _refine(x, y, low, high, narrow[0], reach, kept)
    kept[kept] = _close(value[kept], low[kept], high[kept], rule)
    return Ratios(value, np.maximum(low, 0.0), high, positive, kept)


def _assess_means(x: Floats, y: Floats, rule: Reliability, reach_x: Floats, sigma_y: Floats) -> Ratios:
    value, z = _divided(x, y), NormalDist().inv_cdf((1 + rule.confidence) / 2)
    low, high = _fieller(x, y, reach_x**2, (z * sigma_y) ** 2)
    positive = (x > 0) & (y > 0)
    kept = positive & np.isfinite(high) & _close(value, low, high, rule)
    return Ratios(value, np.maximum(low, 0.0), high, positive, kept)


def _divided(x: Floats, y: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value: Floats = x / y
    return value


def _close(value: Floats, low: Floats, high: Floats, rule: Reliability) -> Bools:
    limit = rule.max_relative_error * value
    with np.errstate(invalid="ignore"):
        close: Bools = (value - low <= limit) & (high - value <= limit)
    return close


def interval(x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval for x*/y*; infinite where Y is not clearly positive."""
    x, y = np.broadcast_arrays(x, y)
    reach = reach_of(sigma_x, sigma_y, confidence)
    (start, _), (low, high) = (_fieller(x, y, *_squares(reach, each)) for each in (reach.least, reach.most))
    _refine(x, y, low, high, start, reach, np.isfinite(high))
    return low, high


def _squares(reach: Reach, deviations: Floats) -> Squares:
    """Return the squares of how far X and Y reach with so many standard deviations: the same in all weeks."""
    return (deviations * reach.sigma_x) ** 2, (deviations * reach.sigma_y) ** 2


def _fieller(x: Floats, y: Floats, vx: Floats, vy: Floats) -> tuple[Floats, Floats]:
    """Return the ends for X and Y whose reaches have these squares: the solutions r of (X - rY)^2 = vx + r^2 vy."""
    leading = y**2 - vy
    clear = (y > 0) & (leading > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(vy * x**2 + vx * leading, 0.0))
        low = np.where(clear, (x * y - root) / leading, -np.inf)
        high = np.where(clear, (x * y + root) / leading, np.inf)
    return low, high


def _refine(x: Floats, y: Floats, low: Floats, high: Floats, above: Floats, reach: Reach, where: Bools) -> None:
    """Bring the ends of some intervals closer, so that they contain every ratio r from 0 up with |X - rY| <= reach(r).

    They begin below and above all of these; `above` is at or above the least of them. The reach never decreases with r.
    So none is above (X + reach(high)) / Y, and none below (X - reach(above)) / Y. Each step comes several times closer.
    """
    x, y, first, last, below = (of_all[where] for of_all in (x, y, above, high, low))
    reach = reach.of_values(where)
    for _ in range(_STEPS):
        first = np.maximum((x - reach.at(np.maximum(first, 0.0))) / y, below)
        last = np.minimum((x + reach.at(np.maximum(last, 0.0))) / y, last)
    low[where], high[where] = first, last


def whole_reaches(x: Floats, y: Floats, sigma_x: Floats, sigma_y: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return how far noise of whole numbers reaches in X and Y, at the ratio x / y."""
    sigma_x, sigma_y = np.broadcast_arrays(sigma_x, sigma_y)
    ratio = np.maximum(x, 0.0) / np.maximum(y, 1.0)
    deviations = reach_of(sigma_x, sigma_y, confidence).at(ratio) / np.hypot(sigma_x, ratio * sigma_y)
    return deviations * sigma_x, deviations * sigma_y


def chance_of_keeping(
    x: Floats,
    y: Floats,
    sigma_x: Floats,
    sigma_y: Floats,
    rule: Reliability,
    reach_x: Floats | None = None,
    reach_y: Floats | None = None,
) -> Floats:
    """Return the probability that `assess` keeps a value whose exact counts are x and y.

    A reach that is not given is z deviations. The interval reaches farther up than down. With a = (reach_x / X)^2 and
    g = (reach_y / Y)^2 its upper end is X/Y (1 + sqrt(g + a (1 - g))) / (1 - g). That is within the limit if X is above
    some number, so for each Y the probability is a normal tail.
    """
    from scipy import special

    z = NormalDist().inv_cdf((1 + rule.confidence) / 2)
    of_x, of_y = (
        z * np.asarray(sigma) if reach is None else np.asarray(reach)
        for sigma, reach in ((sigma_x, reach_x), (sigma_y, reach_y))
    )
    noisy_y = np.asarray(y)[..., None] + _NODES * np.asarray(sigma_y)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.where(noisy_y > 0, (of_y[..., None] / noisy_y) ** 2, np.inf)
        spare = (1 + rule.max_relative_error) * (1 - g) - 1
        a = np.where((spare > 0) & (g < 1), (spare**2 - g) / (1 - g), -1.0)
        limit = np.where(a > 0, of_x[..., None] / np.sqrt(np.maximum(a, 1e-300)), np.inf)
    tails = special.ndtr((np.asarray(x)[..., None] - limit) / np.asarray(sigma_x)[..., None])
    chances: Floats = tails @ (_WEIGHTS / _WEIGHTS.sum())
    return chances
