"""Sigmas that use a promise fully (Section 3.2): a spec's sigmas, scaled, with their proportions kept.

The cases of the accounting share the open levels. So the open levels are scaled first, by the factor at which the worst
case meets the promise; then the classed sigmas of each case by the factor at which that case meets it too. The case of
user-days known only at open levels is part of every other case, and stays below. Every case includes what top searches
cost; their own sigmas and threshold stay.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from search_insights.dp.accounting import (
    Case,
    epsilon_of_trend_case,
    require_promise,
    sigmas_of_texts,
    trend_cases,
    with_texts,
)
from search_insights.dp.gaussian import mu_of_epsilon, mu_of_sigmas
from search_insights.errors import CheckFailed
from search_insights.spec.spec import MAX_SIGMA, MIN_SIGMA, Promise, Sigma, Spec

# Sigmas are rounded up to this many digits before the accounting, so that what is written is what was accounted for.
_DIGITS = 6
# The share of epsilon that may stay unused. The discretisation of the accounting alone makes it jump by 0.0003.
_UNUSED_SHARE = 5e-4
_MAX_STEPS = 40


def calibrate(spec: Spec, promise: Promise) -> Spec:
    """Return the spec with this promise, and with sigmas at which every size class meets it."""
    if not spec.sigmas:
        raise CheckFailed(f"spec {spec.name!r} reports no region, so it has no sigmas to calibrate")
    _require_room_for_new_texts(spec, promise)
    found = replace(spec, promise=promise)
    worst = max(trend_cases(found), key=lambda case: mu_of_sigmas(s.value for s in case.sigmas))
    all_scaled = _meeting(found, worst.name, worst.sigmas)
    found = _with_values(found, [s for s in all_scaled if s.size_class is None])
    for size_class in found.class_names:
        own = [s for s in found.sigmas if s.size_class == size_class]
        if own:
            found = _with_values(found, _meeting(found, size_class, own))
    require_promise(found)
    return found


def _with_values(spec: Spec, sigmas: Sequence[Sigma]) -> Spec:
    """Return the spec with other values of some sigmas."""
    new = {s.key: s for s in sigmas}
    return replace(spec, sigmas=tuple(new.get(s.key, s) for s in spec.sigmas))


def _require_room_for_new_texts(spec: Spec, promise: Promise) -> None:
    """Refuse a threshold that shows a new text more often than delta allows, whatever the sigmas are."""
    chance = max(case.chance for case in with_texts(spec, Case("", ())))
    if chance >= promise.delta:
        raise CheckFailed(
            f"delta {promise.delta:g}: a new text of min_users users is shown with a chance of {chance:.3g}, which "
            "leaves nothing of it; raise total_threshold in [top_searches]"
        )


def _scaled(sigmas: Sequence[Sigma], factor: float) -> list[Sigma]:
    return [replace(s, value=max(MIN_SIGMA, _rounded_up(s.value * factor))) for s in sigmas]


def _rounded_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) + 1 - _DIGITS)
    return round(math.ceil(value / step) * step, 12)


def _meeting(spec: Spec, case: str, own: Sequence[Sigma]) -> list[Sigma]:
    """Return some of the sigmas of a case, scaled so that the case meets the promise; all others stay.

    The closed form for continuous noise gives a first guess; the accounting of the whole spec decides.
    """
    promise, scaled_keys = spec.promise, {s.key for s in own}
    in_case = next(c for c in trend_cases(spec) if c.name == case).sigmas
    others = [s.value for s in in_case if s.key not in scaled_keys]
    fixed = mu_of_sigmas([*others, *(s.value for s in sigmas_of_texts(spec))])
    budget = mu_of_epsilon(promise.epsilon, promise.delta) ** 2 - fixed**2
    if budget <= 0:
        first = "the open levels leave" if others else "top searches leave"
        raise CheckFailed(f"epsilon {promise.epsilon:g}: {first} nothing of it for the size classes")
    largest = MAX_SIGMA / max(s.value for s in own)

    @cache
    def spent(factor: float) -> float:
        """Return the share of epsilon that is spent at a factor."""
        if factor > largest:
            raise CheckFailed(
                f"epsilon {promise.epsilon:g} at delta {promise.delta:g} needs sigmas above {MAX_SIGMA:,}; "
                "ask for a larger epsilon or delta"
            )
        return epsilon_of_trend_case(_with_values(spec, _scaled(own, factor)), case) / promise.epsilon

    guess = mu_of_sigmas(s.value for s in own) / math.sqrt(budget)
    return _scaled(own, _smallest_factor(spent, guess))


def _smallest_factor(spent: Callable[[float], float], guess: float) -> float:
    """Return a factor that spends all of epsilon or a little less: bracket it around the guess, then bisect."""
    low, high, step = guess / 1.001, guess * 1.001, 1.01
    while spent(high) > 1:
        low, high, step = high, high * step, step**2
    step = 1.01
    while spent(low) <= 1 and low > guess / 1000:
        low, high, step = low / step, low, step**2
    for _ in range(_MAX_STEPS):
        if spent(high) >= 1 - _UNUSED_SHARE:
            break
        middle = math.sqrt(low * high)
        low, high = (middle, high) if spent(middle) > 1 else (low, middle)
    return high
