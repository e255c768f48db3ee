"""Floats that let the most data points be published, at the same promise, for a public profile of expected counts.

A data point is published where its interval is narrow enough (reliability.py). Given the noisy normalizing count Y,
that is so if the noisy count X is above a limit, so its probability is a normal tail, averaged over Y. What each case
may spend is the sum of 1 / sigma^2 over its mechanisms. Open levels are part of every case: what they spend, all
size classes lack. So the classes are optimized one by one for what open levels leave them, then the open
levels for what the classes lose by them, and once more. At the end the sigmas are calibrated by the accounting itself.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.profile import Group, Profile
from search_insights.dp.gaussian import mu_of_epsilon
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Promise, Spec
from search_insights.support.arrays import Floats
from search_insights.trends.derive import trend_counts
from search_insights.trends.reliability import chance_of_keeping

_ROUNDS = 2
_FAR = 5.0  # how far, in the logarithm, a share may move in one climb

# What a case spends is the sum of 1 / sigma^2: here by group, for each category.
Spending = dict[Group, Floats]
# Stands for all that size classes spend, while open levels are shared out.
_REST: Group = ("", None)


@dataclass(frozen=True)
class Expectation:
    """How many data points of each trend are expected, by level and class."""

    spec: Spec
    points: dict[Group, Floats]

    @property
    def total(self) -> float:
        """All of them."""
        return float(sum(of_group.sum() for of_group in self.points.values()))


def expect(spec: Spec, coverage: Coverage, profile: Profile) -> Expectation:
    """Say how many data points a spec's sigmas are expected to publish, before sparsity."""
    sigmas = {g: np.array([spec.sigma(*g, c.id) for c in spec.categories]) for g in spec.reported_groups}
    return Expectation(spec, _Problem.of(spec, coverage, profile).points(sigmas))


def optimize(spec: Spec, promise: Promise, coverage: Coverage, profile: Profile) -> Spec:
    """Give the spec with the sigmas that publish the most expected data points while keeping the promise."""
    begin = calibrate(spec, promise)
    problem = _Problem.of(spec, coverage, profile)
    budget = mu_of_epsilon(promise.epsilon, promise.delta) ** 2
    spent = {g: np.array([begin.sigma(*g, c.id) ** -2 for c in spec.categories]) for g in spec.reported_groups}
    for _ in range(_ROUNDS):
        left = budget - sum(spent[g].sum() for g in spent if g[1] is None)
        for size_class in spec.class_names:
            spent |= _climb(problem.worth, {g: s for g, s in spent.items() if g[1] == size_class}, left)
        spent |= _best_of_open(problem, spent, budget)
    values = {(*g, c.id): float(s) ** -0.5 for g in spent for c, s in zip(spec.categories, spent[g], strict=True)}
    sigmas = tuple(replace(s, value=values[s.level, s.size_class, s.category]) for s in spec.sigmas)
    best = calibrate(replace(spec, sigmas=sigmas), promise)
    return max(begin, best, key=lambda found: expect(found, coverage, profile).total)


@dataclass(frozen=True)
class _Problem:
    """What is to be published, and of how many coarsest regions the total is the sum."""

    spec: Spec
    profile: Profile
    parts: int

    @classmethod
    def of(cls, spec: Spec, coverage: Coverage, profile: Profile) -> "_Problem":
        coarsest = [r for r in coverage.geography.regions if r.level == spec.total.sum_of]
        return cls(spec, profile, sum(coverage.standings[r.place_id].reported for r in coarsest))

    def points(self, sigmas: Mapping[Group, Floats]) -> dict[Group, Floats]:
        """Expect data points for each trend, in every group of the profile whose sigmas are given."""
        total = (self.spec.total.level, None)
        coarsest = sigmas.get((self.spec.total.sum_of, None))
        given = dict(sigmas) if coarsest is None else {**sigmas, total: coarsest * math.sqrt(self.parts)}
        return {group: self._of_group(group, given[group]) for group in self.profile.counts if group in given}

    def _of_group(self, group: Group, sigmas: Floats) -> Floats:
        counts = self.profile.counts[group]
        sigma_x = np.sqrt(trend_counts(self.spec, sigmas[None] ** 2))
        chances = chance_of_keeping(
            trend_counts(self.spec, counts), counts[:, :1], sigma_x, sigmas[0], self.spec.reliability
        )
        points: Floats = self.profile.weights[group] @ chances
        return points

    def worth(self, spent: Spending) -> float:
        """Add up the data points that a spending of 1 / sigma^2 is expected to bring."""
        return float(sum(p.sum() for p in self.points({g: s**-0.5 for g, s in spent.items()}).values()))


def _best_of_open(problem: _Problem, spent: Spending, budget: float) -> Spending:
    """Weigh what open levels bring against what every class loses by it, its proportions kept."""
    own = {g: s for g, s in spent.items() if g[1] is None}
    classed = {g: s for g, s in spent.items() if g[1] is not None}
    if not classed:
        return _climb(problem.worth, own, budget)
    left = budget - sum(s.sum() for s in own.values())
    rest: Spending = {_REST: np.array([left])}

    def worth(shared: Spending) -> float:
        factor = shared[_REST][0] / left
        return problem.worth({g: shared[g] for g in own} | {g: s * factor for g, s in classed.items()})

    best = _climb(worth, own | rest, budget)
    return {g: best[g] for g in own}


def _climb(worth: Callable[[Spending], float], begin: Spending, budget: float) -> Spending:
    """Share a budget out among groups and categories so that it is worth the most, beginning near a known way.

    Shares are the softmax of free numbers, so that they are positive and add up whatever the numbers are.
    """
    from scipy import optimize, special

    if not begin:
        return {}
    ends = np.cumsum([s.size for s in begin.values()])[:-1]

    def shared(free: Floats) -> Spending:
        return dict(zip(begin, np.split(budget * special.softmax(free), ends), strict=True))

    start = np.log(np.concatenate(list(begin.values())))
    scale = max(1.0, worth(shared(start)))
    bounds = [(free - _FAR, free + _FAR) for free in start]
    found = optimize.minimize(lambda free: -worth(shared(free)) / scale, start, method="L-BFGS-B", bounds=bounds)
    return shared(found.x)
