"""The difference of two independent values, its interval and its p-value; and many p-values at once.

The interval of a - b combines the sides that face each other (Zou and Donner, 2008): it reaches down by the root of
down(a)^2 + up(b)^2, and up by the root of up(a)^2 + down(b)^2. Two intervals may overlap although the values clearly
differ: so overlap is not the test. The p-value is that of the widest interval that does not contain 0.
"""

from collections.abc import Callable

import numpy as np

from search_insights.analysis.intervals import quantile
from search_insights.support.arrays import Floats

# Returns how far the intervals of quantile z, one for each value, reach down and up.
Arms = Callable[[Floats], tuple[Floats, Floats]]

_MOST = 38.0  # standard deviations: beyond, a p-value is 0 as a number
_HALVINGS = 40


def difference_interval(a: Floats, arms_a: Arms, b: Floats, arms_b: Arms, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of a - b."""
    z = np.full(np.shape(a), quantile(confidence))
    (down_a, up_a), (down_b, up_b) = arms_a(z), arms_b(z)
    return a - b - np.hypot(down_a, up_b), a - b + np.hypot(up_a, down_b)


def p_values(a: Floats, arms_a: Arms, b: Floats, arms_b: Arms) -> Floats:
    """Return how likely so large a difference is, in either direction, if there is none."""
    from scipy import special

    inside, outside = np.zeros(np.shape(a)), np.full(np.shape(a), _MOST)
    for _ in range(_HALVINGS):
        z = (inside + outside) / 2
        (down_a, up_a), (down_b, up_b) = arms_a(z), arms_b(z)
        reach = np.where(a >= b, np.hypot(down_a, up_b), np.hypot(up_a, down_b))
        excludes = np.abs(a - b) > reach
        inside, outside = np.where(excludes, z, inside), np.where(excludes, outside, z)
    values: Floats = 2 * special.ndtr(-inside)
    return values


def q_values(p: Floats) -> Floats:
    """Return p-values adjusted by Benjamini and Hochberg: of all with q <= 0.1, about a tenth are expected to be false.

    The errors must be independent, or correlated as values are that share a part of their noise.
    """
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty_like(p)
    q[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(q, 1.0)
