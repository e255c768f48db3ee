"""Sigmas that use a promise fully (Section 3.2): the proportions of a spec are kept, its size is set.

The cases of the accounting share the open levels. So one factor for all sigmas is found first, by which the worst case
meets the promise; then the classed sigmas of every other case get a smaller factor of their own, by which it meets the
promise too. The case of user-days known to open levels only is part of every other one, and stays below.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from search_insights.accounting import cases, epsilon_of
from search_insights.errors import CheckFailed
from search_insights.gaussian import epsilon_of_mu, mu_of_epsilon, mu_of_sigmas
from search_insights.spec import MAX_SIGMA, Promise, Sigma, Spec

# Sigmas are rounded to a step before they are accounted for, so that what is written is what was accounted for.
_STEPS = 10_000  # in one
# How much of epsilon may stay unused. The accounting's own discretisation makes it jump by 0.0003 of itself.
_CLOSE = 5e-4


def calibrate(spec: Spec, promise: Promise) -> Spec:
    """Give the spec with sigmas by which every size class meets the promise, and with that promise."""
    whole = [case.sigmas for case in cases(spec) if case.name in spec.class_names or not spec.class_names]
    worst = max(whole, key=lambda sigmas: mu_of_sigmas(s.value for s in sigmas))
    factor = _factor(worst, (), promise)
    scaled = tuple(_scaled(s, factor) for s in spec.sigmas)
    shared = tuple(s for s in scaled if s.size_class is None)
    found = list(shared)
    for size_class in spec.class_names:
        own = tuple(s for s in scaled if s.size_class == size_class)
        if own:
            factor = _factor(own, shared, promise)
            found += [_scaled(s, factor) for s in own]
    order = {s.key: i for i, s in enumerate(spec.sigmas)}
    return replace(spec, promise=promise, sigmas=tuple(sorted(found, key=lambda s: order[s.key])))


def _scaled(sigma: Sigma, factor: float) -> Sigma:
    return replace(sigma, value=float(math.ceil(sigma.value * factor * _STEPS) / _STEPS))


def _factor(own: Sequence[Sigma], others: Sequence[Sigma], promise: Promise) -> float:
    """Find the factor for some sigmas by which they, with others that stay, meet the promise.

    The closed form for continuous noise says where to begin and how steep it is; the accounting of the discrete noise
    says when it is met.
    """
    mu = mu_of_epsilon(promise.epsilon, promise.delta)
    steepness = math.log(epsilon_of_mu(1.001 * mu, promise.delta) / promise.epsilon) / math.log(1.001)
    budget = mu**2 - mu_of_sigmas(s.value for s in others) ** 2
    factor = mu_of_sigmas(s.value for s in own) / math.sqrt(budget)
    while True:
        if factor * max(s.value for s in own) > MAX_SIGMA:
            raise CheckFailed(
                f"epsilon {promise.epsilon:g} at delta {promise.delta:g} needs sigmas above {MAX_SIGMA:,}; "
                "ask for a larger epsilon or delta"
            )
        found = epsilon_of([*(_scaled(s, factor) for s in own), *others], promise.delta) / promise.epsilon
        if 1 - _CLOSE <= found <= 1:
            return factor
        aimed_at = 1 - _CLOSE / 2
        factor *= (found / aimed_at) ** (1 / steepness)
