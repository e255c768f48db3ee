"""How far the noise of a reconciled count lies from 0 with the stated probability: at least z standard deviations.

A reconciled count is a mean of many noisy counts, and a trend may add up halves of them. Its noise has two parts: that
of the region's own counts, which has steps, and that of all others, which is as good as normal. A mean of least
variance has the same covariance with the own count as with itself, so a = its variance / the own variance is the own
count's share of it: the own part has steps of a counts, and the rest has the variance (1 - a) Var.

Let s be the step, own and rest the sigmas of the parts and sigma that of both. By Poisson's summation formula the noise
has the normal density times 1 + 2 sum over n >= 1 of exp(-2 (pi n rest own / (s sigma))^2) cos(w x), with
w = 2 pi n own^2 / (s sigma^2). What these ripples take from the probability of |noise| <= t depends on where t lies
between two steps. They vanish where the rest is over half a step; where only a few other counts take part, z deviations
alone would cover 79.2 % instead of 80 % (halves of searches in small counties of vaccination-v2). So t is raised until
it covers, and never lowered: in X - rY the noise of Y smooths the steps for all ratios but the smallest.
"""

from statistics import NormalDist

import numpy as np

from search_insights.support.arrays import Floats

_RIPPLES = 12  # the most that matter for a rest of 0.05 steps
_SMOOTH, _STEPPED = 0.6, 0.05  # steps: a rest above the one leaves no ripples, below the other nothing but steps
_FINE = 2.5  # steps: with less own noise the ripples are too steep for what follows, so half a step is added
_HALVINGS = 10


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
    reach[rippled] = _least(reach[rippled], sigma[rippled], own[rippled], step[rippled], rest[rippled], confidence)
    return reach


def _least(start: Floats, sigma: Floats, own: Floats, step: Floats, rest: Floats, confidence: float) -> Floats:
    """Return the least reach from `start` up that covers. Half a step more is always enough."""
    from scipy import special

    n = np.arange(1, _RIPPLES + 1)
    frequency = 2 * np.pi * n * (own**2 / (step * sigma**2))[:, None]
    height = 2 * np.exp(-2 * np.square(np.pi * n * rest[:, None])) / frequency

    def covers(reach: Floats) -> Floats:
        density = np.exp(-np.square(reach / sigma) / 2) / np.sqrt(2 * np.pi) / sigma
        ripples = (height * np.sin(frequency * reach[:, None])).sum(axis=1)
        found: Floats = 2 * special.ndtr(reach / sigma) - 1 + 2 * density * ripples
        return found

    low, high = start, np.where(covers(start) >= confidence, start, start + step / 2)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = covers(middle) >= confidence
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
