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
    epsilon_of,
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
    worst = max((case.sigmas for case in trend_cases(spec)), key=lambda sigmas: mu_of_sigmas(s.value for s in sigmas))
    shared = _scaled([s for s in spec.sigmas if s.size_class is None], _factor(spec, worst, (), promise))
    found = {s.key: s for s in shared}
    for size_class in spec.class_names:
        own = [s for s in spec.sigmas if s.size_class == size_class]
        if own:
            found |= {s.key: s for s in _scaled(own, _factor(spec, own, shared, promise))}
    new = replace(spec, promise=promise, sigmas=tuple(found[s.key] for s in spec.sigmas))
    require_promise(new)
    return new


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


def _factor(spec: Spec, own: Sequence[Sigma], others: Sequence[Sigma], promise: Promise) -> float:
    """Return the factor by which `own` is scaled to meet the promise together with `others`, which stay.

    The closed form for continuous noise gives a first guess; the accounting of the discrete noise decides.
    """
    fixed = mu_of_sigmas(s.value for s in (*others, *sigmas_of_texts(spec)))
    budget = mu_of_epsilon(promise.epsilon, promise.delta) ** 2 - fixed**2
    if budget <= 0:
        first = "the open levels leave" if others else "top searches leave"
        raise CheckFailed(f"epsilon {promise.epsilon:g}: {first} nothing of it for the size classes")
    guess = mu_of_sigmas(s.value for s in own) / math.sqrt(budget)
    largest = MAX_SIGMA / max(s.value for s in own)

    @cache
    def spent(factor: float) -> float:
        """Return the share of epsilon that is spent at a factor."""
        if factor > largest:
            raise CheckFailed(
                f"epsilon {promise.epsilon:g} at delta {promise.delta:g} needs sigmas above {MAX_SIGMA:,}; "
                "ask for a larger epsilon or delta"
            )
        found = with_texts(spec, Case("", (*_scaled(own, factor), *others)))
        return max(epsilon_of(case, promise.delta) for case in found) / promise.epsilon

    return _smallest_factor(spent, guess)


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
