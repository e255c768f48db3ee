"""Rising searches: which texts have a larger share of their topic than the week before, beyond noise and chance.

X1 and X2 are the noisy counts of a text in two weeks, Y1 and Y2 those of its topic, and rho = Y2 / Y1 is how the topic
as a whole grew. If the text only grew with its topic, D = X2 - rho X1 is around 0, with the variance of the noise and
of people's chance, as counts of people are Poisson: x2* + sigma^2 + rho^2 (x1* + sigma^2).

For the interval of a change, X1 and X2 stand for the true x1* and x2*. For the question whether a text rose, that is
not good enough: where D is large by chance, X1 tends to be small, and with rho above 1 so does the estimate. Where a
topic doubled, up to 17 % instead of 10 % would be wrong. So there the variance is that of a text that did not rise,
x2* = rho x1*, of which X1 + X2 says all that is known: rho (X1 + X2) + (1 + rho^2) sigma^2.

Of the texts whose X1 + X2 is large, which says next to nothing about D, the rule of Benjamini and Hochberg chooses
those that rose, so that of the texts called rising the stated share did not rise. All of it is post-processing.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from search_insights.errors import InputError
from search_insights.support.arrays import Bools, Floats, Numbers

_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class RisingRule:
    """The numbers of the rule.

    false_share  the largest share of texts that did not rise, of those called rising
    confidence   of the interval of a change
    min_sum      X1 + X2 of a text that is looked at, in units of its sigma: what is smaller only costs power
    min_texts    that are looked at in a region; with fewer, as in small states, nothing is called rising
    """

    false_share: float = 0.10
    confidence: float = 0.80
    min_sum: float = 6.0
    min_texts: int = 10

    def __post_init__(self) -> None:
        for name, share in (("false_share", self.false_share), ("confidence", self.confidence)):
            if not 0 < share < 1:
                raise InputError(f"`{name}` {share}: expected a number between 0 and 1")


DEFAULT_RULE = RisingRule()


@dataclass(frozen=True, slots=True)
class Changes:
    """How the shares of texts in their topic changed: 0.5 is half as much again, -1 is gone.

    value, low, high  the change and its interval. Where X1 is not clearly above 0, nothing limits the change from
                      above, and `high` is infinite; `low` holds all the same
    rising            the texts called rising
    order             their indices, the largest `low` first
    """

    value: Floats
    low: Floats
    high: Floats
    rising: Bools
    order: Numbers


def topic_growth(y1: float, y2: float) -> float:
    """Return rho, how much the topic as a whole grew; NaN if a noisy count of it is not positive."""
    return y2 / y1 if y1 > 0 and y2 > 0 else float("nan")


def changes(x1: Floats, x2: Floats, rho: float, sigma: Floats | float, rule: RisingRule = DEFAULT_RULE) -> Changes:
    """Return the changes of one region's texts between two weeks, and which texts are rising.

    `sigma` is that of the noise of each count: one number, or one for each text (of a cluster, that of its sum). Texts
    that have no X1, because they are new, are not given here: see `least_growth_of_new`.
    """
    x1, x2, sigma = np.broadcast_arrays(*(np.asarray(given, dtype=np.float64) for given in (x1, x2, sigma)))
    low, high = _interval(x1, x2, rho, sigma, NormalDist().inv_cdf((1 + rule.confidence) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(x1 > 0, x2 / (rho * x1), np.inf)
    rising = _rising(x1, x2, rho, sigma, rule)
    found = np.flatnonzero(rising)
    order = found[np.lexsort((-x2[found], -low[found]))]
    return Changes(value - 1, low - 1, high - 1, rising, order)


def _variances(x1: Floats, x2: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Return the variance of each count: of the noise, and of a number of people."""
    return np.maximum(x1, 0.0) + sigma**2, np.maximum(x2, 0.0) + sigma**2


def _rising(x1: Floats, x2: Floats, rho: float, sigma: Floats, rule: RisingRule) -> Bools:
    looked_at = x1 + x2 >= rule.min_sum * sigma
    rising = np.zeros(x1.size, dtype=np.bool_)
    if not np.isfinite(rho) or np.count_nonzero(looked_at) < max(rule.min_texts, 1):
        return rising
    variance = rho * np.maximum(x1 + x2, 0.0) + (1 + rho**2) * sigma**2
    deviations = (x2 - rho * x1) / np.sqrt(np.maximum(variance, _TINY))
    rising[looked_at] = discoveries(_upper_tail(deviations[looked_at]), rule.false_share)
    return rising


def _upper_tail(deviations: Floats) -> Floats:
    from scipy import special

    tails: Floats = special.ndtr(-deviations)
    return tails


def discoveries(p: Floats, false_share: float) -> Bools:
    """Apply the rule of Benjamini and Hochberg to p-values: all up to the last that is below its part of the share."""
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= false_share * np.arange(1, p.size + 1) / max(p.size, 1))
    if not below.size:
        return np.zeros(p.size, dtype=np.bool_)
    found: Bools = p <= ordered[below[-1]]
    return found


def _interval(x1: Floats, x2: Floats, rho: float, sigma: Floats, z: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval for x2* / (rho x1*): the r from 0 up with (X2 - r rho X1)^2 <= z^2 variance.

    That is a r^2 - 2 b r + c <= 0. With c > 0 the lower end is c / (b + root), whatever the sign of a; with c <= 0 the
    count of the second week may be 0, and so may r. With a <= 0 that of the first week may be, and r has no upper end.
    """
    v1, v2 = _variances(x1, x2, sigma)
    a, b, c = (rho * x1) ** 2 - z**2 * rho**2 * v1, rho * x1 * x2, x2**2 - z**2 * v2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where((c > 0) & (x2 > 0) & (b + root > 0), c / (b + root), 0.0)
        high = np.where((a > 0) & (x1 > 0), np.maximum(b + root, 0.0) / a, np.inf)
    return low, high


def least_growth_of_new(
    x2: Floats, rho: float, sigma: Floats | float, threshold: Floats | float, rule: RisingRule = DEFAULT_RULE
) -> Floats:
    """Return how much new texts grew at least: the L of "new, at least +L %", as 0.5 for 50 %; NaN if that is unknown.

    A new text was not shown the week before: then its noisy count was below the threshold (or fewer people than the
    floor typed it, which is less). An old week is never noised again, so no more is known. The probability of an error
    is that of one end of the interval, one half of it for each week. For the sum of several new texts, `sigma` is that
    of the sum, and `threshold` the sum of theirs.
    """
    z = NormalDist().inv_cdf(1 - (1 - rule.confidence) / 4)
    x2 = np.asarray(x2, dtype=np.float64)
    least = x2 - z * np.sqrt(np.maximum(x2, 0.0) + sigma**2)
    most_before = threshold + z * np.sqrt(threshold + sigma**2)
    growth = least / (rho * most_before) - 1
    known: Floats = np.where(growth > 0, growth, np.nan)
    return known
