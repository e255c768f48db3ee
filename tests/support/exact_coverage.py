"""How often intervals contain the truth, summed exactly over the noise of both counts instead of drawn."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats
from search_insights.trends.reach import reach_of
from search_insights.trends.reliability import interval

_TAIL = 6  # sigmas; beyond it the noise counts as not covered
STATES = 51


@dataclass(frozen=True)
class Pair:
    """The noise of a trend's count and of its denominator at one level and class: sums of discrete Gaussians."""

    level: str
    trend: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    @property
    def sigmas(self) -> tuple[Floats, Floats]:
        """The standard deviations that post-processing uses."""
        return np.array(math.hypot(*self.x)), np.array(math.hypot(*self.y))


def pairs_of(spec: Spec) -> Iterator[Pair]:
    """List every level and class with every trend; trends of the same noise once."""
    total = (spec.total.level, None)
    for group in (total, *spec.reported_groups):
        level, size_class = (spec.total.sum_of, None) if group == total else group
        times = STATES if group == total else 1
        known: dict[tuple[float, ...], list[str]] = {}
        for trend in spec.trends:
            known.setdefault(tuple(spec.sigma(level, size_class, c) for c in trend.sum_of), []).append(trend.id)
        y = (spec.sigma(level, size_class, spec.categories[0].id),)
        for x, trends in known.items():
            yield Pair(" ".join(filter(None, group)), ", ".join(trends), x * times, y * times)


def law(sigmas: Sequence[float]) -> Floats:
    """Return the probabilities of a sum of discrete Gaussians, for the numbers from -k to k."""
    reach = math.ceil(_TAIL * math.hypot(*sigmas)) + 2
    size = 2 ** math.ceil(math.log2(2 * reach + 1))
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for sigma in set(sigmas):
        numbers = np.arange(-size // 2, size // 2)
        weights = np.exp(-np.square(numbers / sigma) / 2)
        transform *= np.fft.rfft(np.roll(weights / weights.sum(), size // 2)) ** sigmas.count(sigma)
    found = np.fft.irfft(transform, size)
    centred: Floats = np.concatenate([found[-reach:], found[: reach + 1]])
    return np.maximum(centred, 0.0)


def reach_coverage(pair: Pair, ratios: Floats, confidence: float, factor: float = 1.0) -> Floats:
    """Return the probability that X - rY is within its reach, for true ratios r; the reach can be made smaller.

    X - rY depends on the true counts only through their ratio, so this is the least coverage of all counts of it.
    """
    return chance_within(pair, ratios, factor * reach_of(*pair.sigmas, confidence).at(ratios))


def chance_within(pair: Pair, ratios: Floats, reach: Floats) -> Floats:
    """Return the probability that X - rY is so close to 0, for true ratios r: a sum over the noise of Y."""
    of_x, of_y = law(pair.x), law(pair.y)
    middle, other = of_x.size // 2, of_y.size // 2
    below = np.concatenate([[0.0], np.cumsum(of_x)])
    v = np.arange(-other, other + 1)
    found = []
    for ratio, limit in zip(ratios, reach, strict=True):
        last, first = np.floor(ratio * v + limit) + 1, np.ceil(ratio * v - limit)
        last, first = (np.clip(n + middle, 0, of_x.size).astype(np.int64) for n in (last, first))
        found.append(float((below[last] - below[first]) @ of_y))
    return np.array(found)


def interval_coverage(pair: Pair, x: int, y: int, confidence: float) -> float:
    """Return the probability that the interval contains x / y, from its ends at every pair of noisy counts."""
    of_x, of_y = law(pair.x), law(pair.y)
    noisy = [np.arange(p.size, dtype=np.float64) - p.size // 2 + true for p, true in ((of_x, x), (of_y, y))]
    low, high = interval(noisy[0][:, None], noisy[1][None, :], *pair.sigmas, confidence)
    return float(of_x @ ((low <= x / y) & (x / y <= high)) @ of_y)


def ratios_up_to(denominator: int, most: int = 2) -> Floats:
    """Return every fraction from 0 to `most` with so small a denominator, and tiny ones."""
    found = {Fraction(p, q) for q in range(1, denominator + 1) for p in range(most * q + 1)}
    return np.array(sorted(float(f) for f in found | {Fraction(1, n) for n in (300, 1_000, 3_000, 10_000, 10**6)}))
