"""Sigmas that publish the most values at the same promise, for a public profile of expected counts.

A value is published if its interval is narrow enough (reliability.py). For a given noisy normalizing count Y, that
is so if the noisy count X is above a limit; so its probability is a normal tail, averaged over Y. A case spends the sum
of 1 / sigma^2 over its mechanisms. Open levels are part of every case: what they spend is missing in every size class.
So each class is optimized within what the open levels leave, then the open levels against what the classes lose, and
both once more. At the end the sigmas are calibrated by the accounting itself.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.profile import Group, Profile
from search_insights.dp.accounting import sigmas_of_texts
from search_insights.dp.gaussian import mu_of_epsilon, mu_of_sigmas
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Promise, Spec
from search_insights.support.arrays import Floats
from search_insights.trends.derive import trend_counts, trend_variances
from search_insights.trends.reliability import chance_of_keeping

_ROUNDS = 2
_MAX_MOVE = 5.0  # how far, in the logarithm, a share may move in one optimization

# What a case spends, as 1 / sigma^2: by group, for each category.
Spending = dict[Group, Floats]
# Stands for all that the size classes spend, while the shares of the open levels are chosen.
_REST: Group = ("", None)


@dataclass(frozen=True)
class Expectation:
    """The expected number of values of each trend, by level and class."""

    spec: Spec
    points: dict[Group, Floats]

    @property
    def total(self) -> float:
        """The expected number of values in all."""
        return float(sum(of_group.sum() for of_group in self.points.values()))


def expect(spec: Spec, coverage: Coverage, profile: Profile) -> Expectation:
    """Return how many values a spec's sigmas are expected to publish, before sparsity."""
    sigmas = {g: np.array([spec.sigma(*g, c.id) for c in spec.measures]) for g in spec.reported_groups}
    return Expectation(spec, _Problem.of(spec, coverage, profile).points(sigmas))


def optimize(spec: Spec, promise: Promise, coverage: Coverage, profile: Profile) -> Spec:
    """Return the spec with the sigmas that are expected to publish the most values within the promise."""
    begin = calibrate(spec, promise)
    problem = _Problem.of(spec, coverage, profile)
    of_texts = mu_of_sigmas(s.value for s in sigmas_of_texts(spec))
    budget = mu_of_epsilon(promise.epsilon, promise.delta) ** 2 - of_texts**2
    spent = {g: np.array([begin.sigma(*g, c.id) ** -2 for c in spec.measures]) for g in spec.reported_groups}
    for _ in range(_ROUNDS):
        left = budget - sum(spent[g].sum() for g in spent if g[1] is None)
        for size_class in spec.class_names:
            spent |= _divide_budget(problem.worth, {g: s for g, s in spent.items() if g[1] == size_class}, left)
        spent |= _divide_open_levels(problem, spent, budget)
    values = {(*g, c.id): float(s) ** -0.5 for g in spent for c, s in zip(spec.measures, spent[g], strict=True)}
    sigmas = tuple(replace(s, value=values[s.level, s.size_class, s.category]) for s in spec.sigmas)
    best = calibrate(replace(spec, sigmas=sigmas), promise)
    return max(begin, best, key=lambda found: expect(found, coverage, profile).total)


@dataclass(frozen=True)
class _Problem:
    """What is to be published; the total is the sum of `parts` regions."""

    spec: Spec
    profile: Profile
    parts: int

    @classmethod
    def of(cls, spec: Spec, coverage: Coverage, profile: Profile) -> "_Problem":
        coarsest = [r for r in coverage.geography.regions if r.level == spec.total.sum_of]
        return cls(spec, profile, sum(coverage.standings[r.place_id].reported for r in coarsest))

    def points(self, sigmas: Mapping[Group, Floats]) -> dict[Group, Floats]:
        """Return the expected values of each trend, for each group of the profile whose sigmas are given."""
        total = (self.spec.total.level, None)
        coarsest = sigmas.get((self.spec.total.sum_of, None))
        known = dict(sigmas) if coarsest is None else {**sigmas, total: coarsest * math.sqrt(self.parts)}
        return {group: self._of_group(group, known[group]) for group in self.profile.counts if group in known}

    def _of_group(self, group: Group, sigmas: Floats) -> Floats:
        counts = self.profile.counts[group]
        sigma_x = np.sqrt(trend_variances(self.spec, sigmas[None] ** 2))
        chances = chance_of_keeping(
            trend_counts(self.spec, counts), counts[:, :1], sigma_x, sigmas[0], self.spec.reliability
        )
        points: Floats = self.profile.weights[group] @ chances
        return points

    def worth(self, spent: Spending) -> float:
        """Return how many values this spending is expected to publish."""
        return float(sum(p.sum() for p in self.points({g: s**-0.5 for g, s in spent.items()}).values()))


def _divide_open_levels(problem: _Problem, spent: Spending, budget: float) -> Spending:
    """Weigh what the open levels gain against what every class loses; the proportions within a class stay."""
    own = {g: s for g, s in spent.items() if g[1] is None}
    classed = {g: s for g, s in spent.items() if g[1] is not None}
    if not classed:
        return _divide_budget(problem.worth, own, budget)
    left = budget - sum(s.sum() for s in own.values())
    rest: Spending = {_REST: np.array([left])}

    def worth(divided: Spending) -> float:
        factor = divided[_REST][0] / left
        return problem.worth({g: divided[g] for g in own} | {g: s * factor for g, s in classed.items()})

    best = _divide_budget(worth, own | rest, budget)
    return {g: best[g] for g in own}


def _divide_budget(worth: Callable[[Spending], float], begin: Spending, budget: float) -> Spending:
    """Divide a budget among groups and categories so that it is worth the most, starting from a known division.

    Shares are the softmax of free numbers, so they are positive and add up to the budget whatever the numbers are.
    """
    from scipy import optimize, special

    if not begin:
        return {}
    ends = np.cumsum([s.size for s in begin.values()])[:-1]

    def divided(free: Floats) -> Spending:
        return dict(zip(begin, np.split(budget * special.softmax(free), ends), strict=True))

    start = np.log(np.concatenate(list(begin.values())))
    scale = max(1.0, worth(divided(start)))
    bounds = [(free - _MAX_MOVE, free + _MAX_MOVE) for free in start]
    found = optimize.minimize(lambda free: -worth(divided(free)) / scale, start, method="L-BFGS-B", bounds=bounds)
    return divided(found.x)
