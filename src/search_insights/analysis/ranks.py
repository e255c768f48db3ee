"""Ranks with intervals: by how many others a region is surely exceeded, and how many it surely exceeds.

A region's rank is one more than the number of regions above it. Each region is compared with all others, so strictly
that all of its comparisons hold together with the stated confidence (Bonferroni; Mogstad and others, 2024). Then at
least so many are above it as are clearly above, and at most all but those clearly below. So every interval covers its
region's true rank with at least that confidence, and the region that is truly first is among those whose interval
begins at 1.
"""

import numpy as np

from search_insights.analysis.differences import p_values
from search_insights.analysis.intervals import Means, quantile
from search_insights.support.arrays import Floats, Numbers

_ROWS = 512  # regions that are compared with all others at once: 12,000 regions are 144 million pairs


def rank_intervals(means: Means, confidence: float) -> tuple[Numbers, Numbers]:
    """Return the best and the worst rank that each region may have; 1 is the highest value."""
    number = len(means.value)
    down, up = means.arms(quantile(1 - (1 - confidence) / max(number - 1, 1)))
    value, best, worst = means.value, np.ones(number, dtype=np.int64), np.full(number, number)
    for start in range(0, number, _ROWS):
        own = slice(start, start + _ROWS)
        ahead = value[None, :] - value[own, None]
        best[own] += (ahead > np.hypot(down[None, :], up[own, None])).sum(axis=1)
        worst[own] -= (-ahead > np.hypot(up[None, :], down[own, None])).sum(axis=1)
    return best, worst


def p_of_others(means: Means) -> Floats:
    """Return, for each region, the p-value of its difference from the mean of all others: 1 if there are none."""
    number = len(means.value)
    if number < 2:
        return np.ones(number)
    others = (means.value.sum() - means.value) / (number - 1)
    # Their arms hardly depend on z, and are small: taken once, in units of z.
    down, up = (np.sqrt(np.maximum((arm**2).sum() - arm**2, 0.0)) / (number - 1) for arm in means.arms(1.0))
    return p_values(means.value, means.arms, others, lambda z: (z * down, z * up))
