"""How often intervals of reconciled counts contain the truth, computed from the noise of all counts instead of drawn.

A reconciled count is a linear function of the noisy counts of its measure. Its weights are found by giving the program
a count of 1 in one cell and of 0 in all others, cell by cell. So X - rY, at the true ratio r, is a sum of independent
discrete Gaussians, each times a known weight. The characteristic function of such a sum is a product of known ones, and
a Fourier series gives the probability that the sum is within a reach.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.spec import Trend
from search_insights.support.arrays import Floats, Numbers
from search_insights.trends.derive import estimates, trend_reaches

_ALIKE = 9  # digits to which variances are equal where regions stand alike in the tree
_STEPS = 60  # of the largest weight: finer ones than a 60th of it are not looked for
_SMALL, _NORMAL = 0.05, 2.0  # weights next to the largest, and their arguments, below which noise is normal (to 1e-15)
_NOTHING = 6.5  # sigmas at which a normal characteristic function has vanished (7e-10)
_VANISHED = 1e-10
_PERIOD = 12.0  # sigmas: the series takes the noise on a circle of this length
_IMAGES = np.arange(-2, 3)


@dataclass(frozen=True)
class Sum:
    """A sum of independent discrete Gaussians, each times its weight; equal ones are listed once, with their number."""

    weights: Floats
    sigmas: Floats
    times: Floats

    @classmethod
    def of(cls, weights: Floats, sigmas: Floats) -> "Sum":
        """List what is summed, with the most variance first; what has no weight is left out."""
        kept = np.stack([np.round(np.abs(weights), 12), sigmas])[:, np.abs(weights) > 1e-9]
        found, times = np.unique(kept, axis=1, return_counts=True)
        order = np.argsort(-times * np.square(found[0] * found[1]))
        return cls(found[0, order], found[1, order], times[order].astype(np.float64))

    @property
    def variances(self) -> Floats:
        """The variance of each part: that of a discrete Gaussian is sigma^2, to 1e-9 of it for a sigma from 1.1 up."""
        return self.times * np.square(self.weights * self.sigmas)

    @property
    def end(self) -> float:
        """From where on the characteristic function is left out: small weights made it vanish, or it has tiny steps."""
        largest = float(self.weights.max())
        small = float(np.sqrt(self.variances[self.weights < _SMALL * largest].sum()))
        vanished = _NOTHING / small if small * _NORMAL > _NOTHING * _SMALL * largest else np.inf
        return min(vanished, 2 * np.pi * _STEPS / largest)

    def characteristic(self, t: Floats) -> Floats:
        """Return the characteristic function; 0 where it has vanished."""
        t, shape = t.ravel(), t.shape
        rough = self.weights * t.max() >= _NORMAL
        found: Floats = np.exp(-self.variances[~rough].sum() * np.square(t) / 2)
        left = np.flatnonzero(found >= _VANISHED)
        for weight, sigma, times in zip(self.weights[rough], self.sigmas[rough], self.times[rough], strict=True):
            found[left] *= _of_discrete_gaussian(weight * t[left], sigma) ** times
            left = left[np.abs(found[left]) >= _VANISHED]
        return np.where(np.abs(found) >= _VANISHED, found, 0.0).reshape(shape)


def _of_discrete_gaussian(t: Floats, sigma: float) -> Floats:
    """Return the characteristic function of a discrete Gaussian: normal ones at every multiple of 2 pi, by Poisson."""
    t = t - 2 * np.pi * np.round(t / (2 * np.pi))
    images = np.exp(-np.square(sigma * (t[:, None] - 2 * np.pi * _IMAGES)) / 2).sum(axis=1)
    found: Floats = images / np.exp(-np.square(2 * np.pi * sigma * _IMAGES) / 2).sum()
    return found


def chance_within(x: Sum, y: Sum, ratios: Floats, reach: Floats) -> Floats:
    """Return the probability that the noise of X - rY is within its reach, for true ratios r of about the same size."""
    period = _PERIOD * float(np.sqrt(x.variances.sum() + ratios.max() ** 2 * y.variances.sum()))
    n = np.arange(1, int(x.end * period / (2 * np.pi)) + 2)
    of_x = x.characteristic(2 * np.pi / period * n.astype(np.float64))
    n, of_x = n[of_x != 0], of_x[of_x != 0]
    t: Floats = 2 * np.pi / period * n
    series: Floats = (of_x * y.characteristic(ratios[:, None] * t) * np.sin(t * reach[:, None]) / n).sum(axis=1)
    return 2 * reach / period + 2 / np.pi * series


@dataclass(frozen=True)
class Kind:
    """Regions that stand alike in the tree, so that their values have the same noise."""

    level: str
    size_class: str | None
    region: int  # one of them: its number, with the total as 0
    regions: int

    @property
    def name(self) -> str:
        """The level and class, as in other tables."""
        return " ".join(filter(None, (self.level, self.size_class)))


def kinds_of(cells: CellList) -> list[Kind]:
    """Return every kind of region. Regions of the same level, class and variances stand alike."""
    variances = estimates(cells, np.zeros((1, cells.sigmas.size)))[1]
    spec, standings = cells.coverage.spec, cells.coverage.standings
    found: dict[tuple[str, str | None, tuple[str, ...]], list[int]] = {}
    for i, region in enumerate((cells.coverage.geography.country, *cells.regions)):
        size_class = standings[region.place_id].size_class if region.level in spec.classed_levels else None
        alike = tuple(f"{variance:.{_ALIKE}g}" for variance in variances[i])
        found.setdefault((region.level, size_class, alike), []).append(i)
    return [Kind(level, of_class, alike[0], len(alike)) for (level, of_class, _), alike in found.items()]


def weights_of(cells: CellList, regions: Sequence[int]) -> Iterator[Floats]:
    """List, for regions, the weights of all nodes in their reconciled counts, with the axes (node, measure).

    Regions of the coarsest level share nothing, because the total has no count of its own. So a node of each of them is
    tried at once, and the total is their sum.
    """
    tops = _tops(cells)
    rank = np.empty_like(tops)
    for top in np.unique(tops):
        rank[tops == top] = np.arange((tops == top).sum())
    measures = len(cells.coverage.spec.measures)
    ones = (np.repeat(rank == i, measures).astype(np.float64)[None] for i in range(rank.max() + 1))
    needed, number = np.unique([*regions, *(1 + tops)], return_inverse=True)
    found = np.concatenate([estimates(cells, each)[0][:, needed] for each in ones])
    own, above = number[: len(regions)], number[len(regions) :]
    for region, column in zip(regions, own, strict=True):
        inside = (tops == tops[region - 1])[:, None]
        yield found[rank, above] if region == 0 else found[rank, column] * inside


def _tops(cells: CellList) -> Numbers:
    """Return the region of the coarsest level that each node is in."""
    tops = np.arange(len(cells.nodes))
    for _ in cells.coverage.spec.level_names:
        tops = np.where(cells.parents[tops] >= 0, cells.parents[tops], tops)
    return tops


@dataclass(frozen=True)
class Value:
    """The noise of the two counts of a value, and how far the program says that it reaches."""

    kind: Kind
    trends: str
    x: Sum
    y: Sum
    reach_x: float
    reach_y: float

    def coverage(self, ratios: Floats, variance: float = 1.0) -> Floats:
        """Return the coverage at true ratios; the variances that the program states can be wrong by a factor."""
        reach = np.sqrt(variance * (self.reach_x**2 + np.square(ratios * self.reach_y)))
        return chance_within(self.x, self.y, ratios, reach)


def values_of(cells: CellList, kinds: Sequence[Kind]) -> Iterator[Value]:
    """List the values of each kind of region: those of each trend, of trends with the same noise once."""
    spec = cells.coverage.spec
    sigmas = cells.sigmas.reshape(len(cells.nodes), -1)
    variances = estimates(cells, np.zeros((1, cells.sigmas.size)))[1]
    reaches = trend_reaches(cells, variances)
    if reaches is None:
        raise ValueError("the counts of this spec are whole numbers")
    z = NormalDist().inv_cdf((1 + spec.reliability.confidence) / 2)
    for kind, weights in zip(kinds, weights_of(cells, [kind.region for kind in kinds]), strict=True):
        y = Sum.of(weights[:, 0], sigmas[:, 0])
        reach_y = z * float(np.sqrt(variances[kind.region, 0]))
        for trends in _alike(cells):
            parts = [[measure.id for measure in spec.measures].index(each) for each in trends[0].sum_of]
            times = np.array(trends[0].weights or (1.0,) * len(parts))
            x = Sum.of((weights[:, parts] * times).ravel(), sigmas[:, parts].ravel())
            reach_x = float(reaches[kind.region, spec.trends.index(trends[0])])
            yield Value(kind, ", ".join(trend.id for trend in trends), x, y, reach_x, reach_y)


def _alike(cells: CellList) -> list[list[Trend]]:
    """Return the trends, those with the same noise in every cell together."""
    spec = cells.coverage.spec
    found: dict[object, list[Trend]] = {}
    for trend in spec.trends:
        sigmas = tuple(spec.sigma(*group, measure) for group in spec.reported_groups for measure in trend.sum_of)
        found.setdefault((sigmas, trend.weights), []).append(trend)
    return list(found.values())
