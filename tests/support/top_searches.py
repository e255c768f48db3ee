"""Small sections of top searches for tests, and the exact distributions of what the mechanism shows of one text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from search_insights.spec.spec import Spec
from search_insights.spec.top_searches import TopSearches
from search_insights.support.arrays import Counts, Floats, Numbers

SMALL = TopSearches(1, "users", 4, 2.0, 12, 1.5, 5, "vaccination")


def with_top_searches(spec: Spec, top: TopSearches = SMALL) -> Spec:
    """Return the spec with a section of top searches."""
    return replace(spec, top_searches=top)


def noise(sigma: float, counts: range, centre: int) -> Floats:
    """Return the probability of each noisy count, of an exact one with discrete Gaussian noise."""
    z = np.arange(-math.ceil(15 * sigma), math.ceil(15 * sigma) + 1)
    whole = np.exp(-((z / sigma) ** 2) / 2).sum()
    found: Floats = np.exp(-(((np.array(counts) - centre) / sigma) ** 2) / 2) / whole
    return found


def outcomes(top: TopSearches, users: int, in_region: int) -> Floats:
    """Return the probabilities of all outcomes for a new text: not shown, or shown with its noisy counts.

    The first is that of not being shown. The text is searched by so many users, and by so many in the one region that
    is looked at.
    """
    reach = math.ceil(12 * top.total_sigma), math.ceil(12 * top.region_sigma)
    largest = top.total_threshold + reach[0] + 40
    of_total = noise(top.total_sigma, range(top.total_threshold, largest), users)
    of_region = noise(top.region_sigma, range(-reach[1], in_region + reach[1] + 8), in_region)
    wide = np.zeros(2 * reach[1] + 40)
    wide[: of_region.size] = of_region
    shown = np.outer(of_total, wide) if users >= top.min_users else np.zeros((of_total.size, wide.size))
    return np.concatenate(([1 - shown.sum()], shown.ravel()))


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    """Return the delta at which the first distribution is within e^epsilon of the second."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@dataclass(frozen=True)
class Texts:
    """Exact numbers of users, as counting gives them."""

    texts: tuple[str, ...]
    categories: Numbers
    users: Counts
    text: Numbers
    region: Numbers
    users_there: Counts


def texts_of(users: Mapping[str, Mapping[int, int]], extra: int = 0) -> Texts:
    """Return texts with these users by region; `extra` users of each have no region."""
    names = sorted(users)
    entries = [(i, region, n) for i, name in enumerate(names) for region, n in users[name].items()]
    columns = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    totals = np.array([sum(users[name].values()) + extra for name in names], dtype=np.int64)
    return Texts(tuple(names), np.ones(len(names), dtype=np.int64), totals, *columns)
