"""Privacy loss distributions on a grid of losses: composed mechanisms, and a bound for many weeks.

Composed mechanisms (`composition.py`) are read as curves here: delta as a function of epsilon. The curve of a
composition tells everything about its privacy, and a pair of distributions whose curve is nowhere below another's
*dominates* it: composing the dominating pairs bounds composing the others (Zhu, Dong and Wang, 2022). The pointwise
maximum of several curves is again the curve of a pair. So for weeks that may each be of another case, the maximum over
the cases, composed with itself by dp-accounting, bounds every mixture. Taking the worst case in each week would not:
the discrete Gaussians of small sigmas differ in shape.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from search_insights.dp.composition import REACH, STEP, convolved
from search_insights.dp.library import library
from search_insights.support.arrays import Floats

# Compositions of very many or very small sigmas get a coarser grid instead of more points than this.
_MAX_POINTS = 2**20
# Maxima are taken at every so many points of the grid at least; it costs less than 1e-4 of epsilon in a thousand days.
_STRIDE = 5
# The share of delta that may be spent on cutting off the ends of a dominating distribution.
_CUT_SHARE = 1e-6
# The floating-point error of a delta, for each day: three times the largest seen in up to 10,000 days.
_ROUNDING = 1e-15


@dataclass(frozen=True)
class Losses:
    """A privacy loss distribution: the mass of each loss `step * (lowest + i)`, and the mass of an infinite loss."""

    step: float
    lowest: int
    masses: Floats
    infinite: float

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon, 0 or more, at this delta; infinity if there is none."""
        deltas, above, discounted = self._sums()
        if deltas[-1] > delta:
            return math.inf
        # Between two losses, and below the lowest, delta is linear in e^epsilon: these are the mass above the loss
        # from which the line starts, and the same mass discounted. Below the lowest loss all mass is above.
        i = np.flatnonzero(deltas > delta).max(initial=-1)
        start = max(i, 0)
        mass, less = above[start], discounted[start]
        if i < 0:
            mass, less = mass + self.masses[0], less + self.masses[0]
        if mass + self.infinite <= delta:
            return 0.0
        return max(0.0, self.step * float(self.lowest + start) + math.log((mass + self.infinite - delta) / less))

    def delta(self, epsilon: float) -> float:
        """Return the delta at this epsilon."""
        losses = self.step * (self.lowest + np.arange(self.masses.size))
        return self.infinite - float(np.expm1(np.minimum(epsilon - losses, 0.0)) @ self.masses)

    def curve(self) -> Floats:
        """Return the delta at each of the losses, taken as epsilon."""
        return self._sums()[0]

    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Return delta at each loss, the mass above it, and that mass with each loss discounted by e^-(its distance).

        Distances instead of losses: e^-loss is 0 for a loss of 750.
        """
        above = np.concatenate((np.cumsum(self.masses[:0:-1])[::-1], [0.0]))
        discounted = np.concatenate((math.exp(-self.step) * _discounted(self.masses[1:], self.step), [0.0]))
        return self.infinite + above - discounted, above, discounted

    def revealing(self, chance: float) -> "Losses":
        """Return the distribution of what tells everything with this chance, and otherwise what this one tells."""
        return Losses(self.step, self.lowest, (1 - chance) * self.masses, chance + (1 - chance) * self.infinite)

    def within(self, lowest: int, size: int) -> "Losses":
        """Return the same distribution on a larger part of the grid."""
        masses = np.zeros(size)
        begin = self.lowest - lowest
        masses[begin : begin + self.masses.size] = self.masses
        return Losses(self.step, lowest, masses, self.infinite)


def _discounted(masses: Floats, step: float) -> Floats:
    """Return for each mass the sum of itself and of those above it, each discounted by e^-(its distance).

    After each round the sums reach twice as far. Nothing is divided, so that no distance is too long for a computer.
    """
    sums, reach = masses.copy(), 1
    while reach < sums.size and (factor := math.exp(-reach * step)) > 0:
        sums[:-reach] += factor * sums[reach:]
        reach *= 2
    return sums


@dataclass(frozen=True, slots=True)
class Seen:
    """What sees a difference: discrete Gaussian mechanisms, and something that tells everything with a chance.

    The counts of `sigmas` change by `shift`, those of `by_one` by 1.
    """

    sigmas: tuple[float, ...]
    chance: float = 0.0
    shift: int = 1
    by_one: tuple[float, ...] = ()

    @property
    def step(self) -> float:
        """The step of the grid for its composition."""
        return step_for(self.sigmas, self.shift, self.by_one)

    def losses(self, step: float) -> Losses:
        """Return the distribution of all of it together."""
        return composed(self.sigmas, step, self.shift, self.by_one).revealing(self.chance)


def step_for(sigmas: Sequence[float], shift: int = 1, by_one: Sequence[float] = ()) -> float:
    """Return the step of the grid for a composition of mechanisms, whose counts change by `shift` or by 1."""
    reach = sum(
        change * (2 * math.ceil(REACH * sigma) + change) / (2 * sigma**2)
        for change, values in ((shift, sigmas), (1, by_one))
        for sigma in values
    )
    times = 2 * reach / (STEP * _MAX_POINTS)
    return STEP * 2.0 ** max(0, math.ceil(math.log2(max(times, 1.0))))


def composed(sigmas: Sequence[float], step: float, shift: int = 1, by_one: Sequence[float] = ()) -> Losses:
    """Return the distribution of discrete Gaussian mechanisms together, whose counts change by `shift` or by 1."""
    return _composed(tuple(sorted([*((sigma, shift) for sigma in sigmas), *((sigma, 1) for sigma in by_one)])), step)


@lru_cache(maxsize=8)
def _composed(mechanisms: tuple[tuple[float, int], ...], step: float) -> Losses:
    """Compose mechanisms; cached, because one release asks for one day, seven and all."""
    return Losses(step, *convolved(mechanisms, step))


def from_library(found: Any) -> Losses:
    """Read a distribution of dp-accounting; its public interface would take seconds for a curve."""
    dense = found._pmf_remove.to_dense_pmf()
    return Losses(dense._discretization, int(dense._lower_loss), np.asarray(dense._probs), float(dense._infinity_mass))


def epsilon_of_case(sigmas: Sequence[float], delta: float, chance: float = 0.0) -> float:
    """Return the epsilon of mechanisms with these sigmas together, and one that tells everything with a chance."""
    return _epsilon_of_case(tuple(sorted(sigmas)), delta, chance)


@lru_cache(maxsize=64)
def _epsilon_of_case(sigmas: tuple[float, ...], delta: float, chance: float) -> float:
    """Compute an epsilon; cached, because one process may ask for the same before each of many weeks."""
    return composed(sigmas, step_for(sigmas)).revealing(chance).epsilon(below(delta, 1))


def epsilon_of_mixtures(cases: Sequence[Seen], times: int, delta: float) -> float:
    """Return an epsilon that holds for a composition of `times` parts, each of any of these cases."""
    step = max(case.step for case in cases)
    found = [case.losses(step) for case in cases]
    dominating = _dominating(found, times, _CUT_SHARE * delta / times)
    together = library().pld.PrivacyLossDistribution(dominating).self_compose(times, _CUT_SHARE * delta)
    return from_library(together).epsilon(below(delta, times))


def below(delta: float, days: int) -> float:
    """Return a delta that is lower by the error of the computation, so that no epsilon comes out too low."""
    return delta - _ROUNDING * (days + 10)


def _dominating(cases: Sequence[Losses], days: int, cut: float) -> Any:
    """Return the pair whose curve is the maximum of the curves of all cases, connected by chords from point to point.

    Each curve is convex in e^epsilon, so none is above its chords. Masses under `cut` at the ends move up: at the
    lower end to the first point, at the upper end to infinity.
    """
    lowest = min(case.lowest for case in cases)
    points = max(case.lowest + case.masses.size for case in cases) - lowest
    stride = max(_STRIDE, math.ceil(points * math.sqrt(days) / (4 * _MAX_POINTS)))
    first = math.floor((lowest - 1) / stride)
    last = math.ceil((lowest + points) / stride)
    wide = [case.within(first * stride, (last - first) * stride + 1) for case in cases]
    deltas = np.max([case.curve()[::stride] for case in wide], axis=0)
    deltas = np.clip(np.minimum.accumulate(deltas), 0.0, 1.0)
    below = np.maximum.accumulate(np.max([np.cumsum(case.masses)[::stride] for case in wide], axis=0))
    begin = max(0, int(np.searchsorted(below, cut)) - 1)
    end = min(max(begin + 1, int(np.searchsorted(-deltas, -cut))), deltas.size - 1)  # it ends above 0 with a chance
    return library().pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        stride * cases[0].step, first + begin, first + end, deltas[begin : end + 1]
    )
