"""How far X - rY lies from 0 with the stated probability, if r is the true ratio, for noise of whole numbers.

X - rY is then U - rV, where U and V are discrete Gaussians of known sigma. For continuous noise it is z standard
deviations. Whole numbers move it: by up to half a count where r is near 0, and by less near other simple fractions, up
or down. So it is computed from the distributions of U and V themselves, and tabulated by ratio.

Divided by its standard deviation, U - rV is (U / sigma_x) cos a - (V / sigma_y) sin a for an angle a that grows with r.
The angles from 0 to 90 degrees, which are all ratios from 0 to infinity, are divided into cells. If such a sinusoid of
the angle is within k at both ends of a cell, it is within k / cos(half the cell's width) everywhere in it. So the k
that has the stated probability of that at both ends at once is enough for every ratio of the cell.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from search_insights.support.arrays import Bools, Floats, Numbers

_CELLS = 512
_BINS = 512  # of V: a large sigma has more values than it is worth to tell apart
_TAIL = 4.5  # sigmas; V beyond it counts as not covered
_PRECISE = 5e-4  # standard deviations
_ROUNDING = 1e-9  # counts


@dataclass(frozen=True)
class Reach:
    """The reach of X - rY for values of several pairs of sigmas, from a table for each pair and cell.

    It never decreases with the ratio, and is between `least` and `most` standard deviations of X - rY.
    """

    sigma_x: Floats
    sigma_y: Floats
    table: Numbers  # where the pair's table begins
    deviations: Floats
    floor: Floats

    @property
    def least(self) -> Floats:
        """The least reach of each value's pair at any ratio, in standard deviations."""
        least: Floats = self.deviations.reshape(-1, _CELLS).min(axis=1)
        return least[self.table // _CELLS]

    @property
    def most(self) -> Floats:
        """The largest reach of each value's pair at any ratio, in standard deviations."""
        most: Floats = self.deviations.reshape(-1, _CELLS).max(axis=1)
        return most[self.table // _CELLS]

    def of_values(self, chosen: Bools) -> "Reach":
        """Return the reach for some of the values."""
        return replace(
            self,
            sigma_x=np.broadcast_to(self.sigma_x, chosen.shape)[chosen],
            sigma_y=np.broadcast_to(self.sigma_y, chosen.shape)[chosen],
            table=np.broadcast_to(self.table, chosen.shape)[chosen],
        )

    def at(self, ratio: Floats) -> Floats:
        """Return how far X - rY may lie from 0, for finite ratios r from 0 up."""
        spread = ratio * self.sigma_y
        share = spread / (spread + self.sigma_x)
        cell = self.table + np.minimum(_CELLS * share, _CELLS - 1).astype(np.int64)
        reach: Floats = np.maximum(self.floor[cell], self.deviations[cell] * np.hypot(spread, self.sigma_x))
        return reach


def reach_of(sigma_x: Floats, sigma_y: Floats, confidence: float) -> Reach:
    """Return the reach for these sigmas, with one table for each different pair of them."""
    sigma_x, sigma_y = np.broadcast_arrays(sigma_x, sigma_y)
    pairs, number = np.unique(sigma_x + 1j * sigma_y, return_inverse=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda pair: _table(float(pair.real), float(pair.imag), confidence), pairs)
        tables = np.stack(list(found), axis=1)
    table = number.reshape(sigma_x.shape) * _CELLS
    return Reach(sigma_x, sigma_y, table, tables[0].ravel(), tables[1].ravel())


def _ends() -> Floats:
    """Return the angles at which the cells end. A ratio's cell is found without an arc tangent."""
    share = np.linspace(0.0, 1.0, _CELLS + 1)
    return np.arctan2(share, 1.0 - share)


@lru_cache(maxsize=256)
def _table(sigma_x: float, sigma_y: float, confidence: float) -> Floats:
    """Return, by cell, the reach in standard deviations, and the largest reach, in counts, of all ratios below it."""
    ends = _ends()
    found = _within_both_ends(sigma_x, sigma_y, confidence) / np.cos(np.diff(ends) / 2)
    # The last cell ends at an infinite ratio.
    deviation = np.hypot(sigma_x, sigma_x * np.tan(ends[:-1]))
    before = np.concatenate([[0.0], found[:-1] * deviation[1:]])
    return np.stack([found, np.maximum.accumulate(before)])


def _within_both_ends(sigma_x: float, sigma_y: float, confidence: float) -> Floats:
    """Return, by cell, a number of deviations that X - rY is within at both ends with the probability asked for.

    It is found by bisection. What is returned has been tried, so that only its last digits depend on the first guess.
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    noise = _Noise.of(sigma_x, sigma_y)
    width = 0.5 * (np.cos(noise.starts) / sigma_x + np.sin(noise.stops) / sigma_y) + 4 / _CELLS
    low, high = np.maximum(z - width, 0.0), z + width
    while (short := noise.probability(high) < confidence).any():
        width = 2 * width
        high = np.where(short, high + width, high)
    for _ in range(max(1, int(np.ceil(np.log2((high - low).max() / _PRECISE))))):
        middle = (low + high) / 2
        enough = noise.probability(middle) >= confidence
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


@dataclass(frozen=True)
class _Noise:
    """The distributions of U and |V|, at the two ends of every cell.

    V is symmetric, so its sign is left out. Its values are in bins, of one value each where sigma_y is small. In a bin
    the probability is that of its worst value.
    """

    sigma_x: float
    starts: Floats
    stops: Floats
    below: Floats
    mass: Floats
    upward: Floats
    downward: tuple[Floats, Floats]

    @classmethod
    def of(cls, sigma_x: float, sigma_y: float) -> "_Noise":
        ends = _ends()
        starts, stops = ends[:-1], ends[1:]
        below, of_v = _cumulated(sigma_x), _cumulated(sigma_y)
        most = int(np.ceil(_TAIL * sigma_y))
        size = -(-(most + 1) // _BINS)
        first = np.arange(0, most + 1, size)
        last = np.minimum(first + size - 1, most)
        middle = of_v.size // 2
        mass = 2 * (of_v[middle + last] - of_v[middle + first - 1])
        mass[0] -= of_v[middle] - of_v[middle - 1]
        slopes = sigma_x / sigma_y * np.tan(ends)[:, None]
        return cls(sigma_x, starts, stops, below, mass, slopes[:-1] * first, (slopes[:-1] * last, slopes[1:] * last))

    def probability(self, deviations: Floats) -> Floats:
        """Return, by cell, a lower bound of the probability that U - rV is within so many deviations at both ends."""
        at_start, at_stop = (deviations * self.sigma_x / np.cos(ends) for ends in (self.starts, self.stops))
        above = self._cumulated(at_start[:, None] + self.upward)
        down = np.minimum(at_start[:, None] - self.downward[0], at_stop[:, None] - self.downward[1])
        probability: Floats = np.maximum(above + self._cumulated(down) - 1.0, 0.0) @ self.mass
        return probability

    def _cumulated(self, bound: Floats) -> Floats:
        """Return P(U <= bound)."""
        middle = self.below.size // 2
        number = np.clip(np.floor(bound - _ROUNDING), -middle, middle).astype(np.int64)
        return self.below[number + middle]


def _cumulated(sigma: float) -> Floats:
    """Return P(noise <= k) for k from far below 0 to far above it; beyond that, nothing is left to matter."""
    reach = int(np.ceil(2 * _TAIL * sigma)) + 2
    half = np.exp(-np.square(np.arange(reach + 1) / sigma) / 2)
    weights = np.concatenate([half[:0:-1], half])
    cumulated: Floats = np.cumsum(weights / weights.sum())
    return cumulated
