"""How far the noise of a reconciled count lies from 0 with the stated probability: at least z standard deviations.

A reconciled count is a mean of many noisy counts, and a trend may add up halves of them. Its noise has two parts: that
of the region's own counts, which has steps, and that of all others, which is as good as normal. A mean of least
variance has the same covariance with the own count as with itself, so a = its variance / the own variance is the own
count's share of it: the own part has steps of a counts, and the rest has the variance (1 - a) Var.

Let s be the step, own and rest the sigmas of the parts and sigma that of both. By Poisson's summation formula the noise
has the normal density times 1 + 2 sum over n >= 1 of exp(-2 (pi n rest own / (s sigma))^2) cos(w x), with
w = 2 pi n own^2 / (s sigma^2). What these ripples take from the probability of |noise| <= t depends on where t lies
between two steps. They vanish where the rest is over half a step; where only a few other counts take part, z deviations
alone may cover less than 80 % (79.2 % for halves of searches with sigmas of 2.68 and 3.78). So t is raised until it
covers, and never lowered: in X - rY the noise of Y smooths the steps for all ratios but the smallest.
"""

from statistics import NormalDist

import numpy as np

from search_insights.support.arrays import Floats

_RIPPLES = 12  # the most that matter for a rest of 0.05 steps
_SMOOTH, _STEPPED = 0.6, 0.05  # steps: a rest above the one leaves no ripples, below the other nothing but steps
_FINE = 1.0  # steps: with less own noise than this, half a step is added
_HALVINGS = 14
_ALIKE = 9  # decimals


def reach_of_means(sigma: Floats, own: Floats, step: Floats, confidence: float) -> Floats:
    """Return the reach of noise of this sigma, of which a part has the sigma `own` and steps; a step of 0 is none."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    reach: Floats = z * sigma
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.sqrt(np.maximum(sigma**2 - own**2, 0.0)) * own / (sigma * step)
    uneven = (step > 0) & (rest < _SMOOTH)
    stepped = uneven & ((rest < _STEPPED) | (own < _FINE * step))
    rippled = uneven & ~stepped
    reach[stepped] += step[stepped] / 2
    parts = np.stack([of_all[rippled] for of_all in (reach, sigma, own, step, rest)])
    alike, number = np.unique(np.round(parts, _ALIKE), axis=1, return_inverse=True)  # many regions stand alike
    reach[rippled] = np.maximum(reach[rippled], _least(alike, confidence)[number])
    return reach


def _least(parts: Floats, confidence: float) -> Floats:
    """Return the least reach from the first row up that covers. Half a step more is always enough."""
    from scipy import special

    start, sigma, own, step, rest = parts
    n = np.arange(1, _RIPPLES + 1)
    turns = 2 * np.pi * n * (own**2 / (step * sigma))[:, None]  # w times sigma
    height = 2 * np.exp(-2 * np.square(np.pi * n * rest[:, None]))

    def covers(reach: Floats) -> Floats:
        # The integral of the density times cos(w x) is exp(-(w sigma)^2 / 2) Re erf(at): here without what overflows.
        at = ((reach / sigma)[:, None] + 1j * turns) / np.sqrt(2)
        beyond = np.exp(-(at.real**2) - 2j * at.real * at.imag) * special.wofz(1j * at)
        ripples = (height * (np.exp(-np.square(turns) / 2) - beyond.real)).sum(axis=1)
        found: Floats = 2 * special.ndtr(reach / sigma) - 1 + ripples
        return found

    low, high = start, np.where(covers(start) >= confidence, start, start + step / 2)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = covers(middle) >= confidence
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found: Floats = high
    return found
