"""Top searches: the chance that a threshold shows a text which it should not (Section 3.2 says nothing of texts).

A text that is not public has no public cell, so that it is shown at all tells something. Take two logs that differ by
one user-day, and a text with n users in one log and n + 1 in the other. The floor is m users.

    n + 1 < m   the text is shown in neither log
    n + 1 = m   it is shown in one log only, with the chance P(m + Z >= threshold): Z is the noise of the total
    n >= m      what is shown, or not, is computed from the noisy count of the total, which changes by 1, and from
                the noisy counts of the regions, one of which changes by 1

So the second line alone needs a delta, and the third is the case of a public text.
"""

import math

import numpy as np

from search_insights.spec.top_searches import TopSearches

# Noise beyond this many sigmas has a probability under 1e-40, which no delta of a spec can tell from 0.
_REACH = 14.0
# Raises a computed probability by more than the error of floating-point numbers.
_UP = 1 + 1e-12


def chance_of_showing(top: TopSearches) -> float:
    """Return the chance that a new text of the least number of users, `min_users`, is shown."""
    return tail(top.total_sigma, top.total_threshold - top.min_users)


def tail(sigma: float, least: int) -> float:
    """Return P(Z >= least), for least >= 0 and the discrete Gaussian Z with this sigma."""
    # Its weights are exp(-z^2 / 2 sigma^2); both sums are of all that is not negligible.
    end = math.ceil(_REACH * sigma) + 2
    if least > end:
        return 1e-40
    weights = np.exp(-np.square(np.arange(end + 1) / sigma) / 2)
    whole = 2 * math.fsum(weights[1:]) + 1
    return min(1.0, math.fsum(weights[least:]) / whole * _UP + 1e-40)
