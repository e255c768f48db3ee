"""The same accounting by dp-accounting, the library that the paper cites: it makes each mechanism and composes them.

`composition.py` does the same in a fraction of the time, for every command. `privacy` does both and compares.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from search_insights.dp.accounting import Accounting
from search_insights.dp.composition import CLOSE_LOSSES, STEP, on_grid
from search_insights.dp.library import library
from search_insights.dp.losses import below, from_library, step_for
from search_insights.errors import CheckFailed

# Both compute with floating-point numbers in another order, so that their deltas differ by some 1e-14.
_SAME, _SAME_DELTA = 1e-6, 1e-13


def require_reference(accounting: Accounting) -> None:
    """Refuse an accounting that dp-accounting does not confirm, case by case."""
    for found in accounting.cases:
        sigmas = [sigma.value for sigma in found.case.sigmas]
        epsilon = reference_epsilon(sigmas, accounting.promise.delta, found.case.chance)
        if not is_same(epsilon, found.epsilon, accounting.promise.delta):
            raise CheckFailed(
                f"case {found.case.name!r}: dp-accounting composes its mechanisms to epsilon {epsilon:.6f}, this "
                f"program to {found.epsilon:.6f}; do not publish, and report it with the spec"
            )


def is_same(epsilon: float, other: float, delta: float) -> bool:
    """Return whether two epsilons at this delta are the same, as far as floating-point numbers go."""
    tolerance = _SAME + _SAME_DELTA / delta
    return math.isclose(epsilon, other, rel_tol=tolerance, abs_tol=tolerance)


def reference_epsilon(sigmas: Sequence[float], delta: float, chance: float = 0.0) -> float:
    """Return the epsilon of mechanisms with these sigmas together, and one that tells everything with a chance."""
    step = step_for(sigmas)
    parts = [_repeated(sigma, times, step) for sigma, times in sorted(Counter(sigmas).items())]
    parts = parts or [library().pld.identity(value_discretization_interval=step)]
    while len(parts) > 1:  # in pairs, so that most compositions are of few points
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [a.compose(b, 0.0) for a, b in pairs] + parts[len(parts) // 2 * 2 :]
    return from_library(parts[0]).revealing(chance).epsilon(below(delta, 1))


@lru_cache(maxsize=64)
def _repeated(sigma: float, times: int, step: float) -> Any:
    """Return the privacy loss distribution of equal mechanisms together; cached, because cases share many."""
    one = _mechanism(sigma, step)
    return one if times == 1 else one.self_compose(times, 0.0)


def _mechanism(sigma: float, step: float) -> Any:
    """Return the distribution of one mechanism: the library's own, unless that would be too coarse or too slow."""
    pld, pmf = library()
    if step == STEP and sigma <= CLOSE_LOSSES:
        return pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=step)
    return pld.PrivacyLossDistribution(pmf.DensePLDPmf(step, *on_grid(sigma, 1, step), pessimistic_estimate=True))
