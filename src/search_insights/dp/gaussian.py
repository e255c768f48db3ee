"""Gaussian privacy in closed form (Balle and Wang, 2018; Dong, Roth and Su, 2019).

Gaussian mechanisms of sensitivity 1 are together as private as a single one of mu, where mu^2 is the sum of their
1 / sigma^2. The accounting uses the discrete noise itself; this is for a first guess, and for reading experiments.
"""

import math
from collections.abc import Iterable


def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the epsilon of mu-Gaussian privacy at this delta (the closed form of the Gaussian mechanism)."""
    from scipy import optimize, stats

    def excess(epsilon: float) -> float:
        tail = stats.norm.logcdf(-mu / 2 - epsilon / mu) + epsilon
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(tail) - delta)

    if mu <= 0 or excess(0.0) <= 0:
        return 0.0
    if math.isinf(mu):
        return math.inf
    return float(optimize.brentq(excess, 0.0, mu * mu + 40 * mu + 1))


def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the mu that has this epsilon at this delta."""
    from scipy import optimize

    high = 1.0
    while epsilon_of_mu(high, delta) < epsilon:
        high *= 2
    return float(optimize.brentq(lambda mu: epsilon_of_mu(mu, delta) - epsilon, 0.0, high, xtol=1e-12))


def mu_of_advantage(advantage: float) -> float:
    """Return the mu at which the best test has this advantage over guessing."""
    from scipy import stats

    return float(2 * stats.norm.ppf((1 + advantage) / 2))


def mu_of_sigmas(sigmas: Iterable[float]) -> float:
    """Return the mu of composed mechanisms of sensitivity 1."""
    return math.sqrt(sum(sigma**-2 for sigma in sigmas))
