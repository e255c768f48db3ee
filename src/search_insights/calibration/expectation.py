"""How many values a table of sigmas is expected to publish, before sparsity, for a public profile of expected counts.

A value is published if its interval is narrow enough (reliability.py). For a given noisy count of any search, Y, that
is so if the noisy count of the trend, X, is above a limit; so its probability is a normal tail, averaged over Y. The
noise is that of the region (region_noise.py), reconciled where the spec reconciles. A profile that does not say which
regions its rows are of is taken to mean every region of the level and class alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search_insights.calibration.profile import Profile
from search_insights.calibration.region_noise import Group, Noise, RegionNoise, table_of
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats, Numbers
from search_insights.trends.derive import trend_counts
from search_insights.trends.reliability import chance_of_keeping, whole_reaches

# Counts that differ by less than this (in the logarithm) are merged. At the limit of what is published noise is about
# 0.12, for a maximum error of 15 % with 80 % confidence.
_WIDTH = 0.08
# While sigmas are being looked for less will do; also for variances.
_COARSE_WIDTH, _NOISE_WIDTH = 0.25, 0.1


@dataclass(frozen=True)
class Expectation:
    """The expected number of values of each trend, by level and class."""

    spec: Spec
    points: dict[Group, Floats]

    @property
    def total(self) -> float:
        """The expected number of values in all."""
        return float(sum(of_group.sum() for of_group in self.points.values()))

    @cached_property
    def of_levels(self) -> dict[tuple[str, str], float]:
        """The expected number of values of each level and trend."""
        found: dict[tuple[str, str], float] = {}
        for (level, _), of_trends in self.points.items():
            for trend, points in zip(self.spec.trends, of_trends.tolist(), strict=True):
                found[level, trend.id] = found.get((level, trend.id), 0.0) + points
        return found


def expect(spec: Spec, coverage: Coverage, profile: Profile) -> Expectation:
    """Return how many values a spec's sigmas are expected to publish, before sparsity.

    The profile has the measures of the coverage's spec. If the spec counts others, its trends are taken to have the
    same counts.
    """
    return Outlook.of(spec, coverage, profile).expect(table_of(spec))


@dataclass(frozen=True)
class Outlook:
    """The expected counts of a release: a row for similar counts of regions of one kind.

    In a coarse one, noise of whole numbers reaches as far as continuous noise does: its tables take time (reach.py).
    """

    noise: RegionNoise
    kind: Numbers
    x: Floats
    y: Floats
    weight: Floats
    is_coarse: bool = False

    @classmethod
    def of(cls, spec: Spec, coverage: Coverage, profile: Profile) -> "Outlook":
        """Return the outlook of a spec for a profile, with similar rows merged."""
        noise = RegionNoise(CellList(Coverage(spec, coverage.geography)))
        parts = [_rows(noise, coverage, profile, group) for group in dict.fromkeys(noise.groups)]
        kind, counts, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
        kind, counts, weight = _merged(kind, counts, weight, _WIDTH)
        return cls(noise, kind, counts[:, 1:], counts[:, :1], weight)

    def scaled(self, any_search: float, topics: float) -> "Outlook":
        """Return the outlook of a log with other numbers of searches."""
        return replace(self, x=self.x * topics, y=self.y * any_search)

    def coarse(self, table: Floats) -> "Outlook":
        """Return a smaller outlook, in which kinds whose noise is nearly equal at this table are taken for one."""
        variances = self.noise.of(table).variances
        similar = np.round(np.log(variances) / _NOISE_WIDTH)
        groups = [self.noise.groups.index(group) for group in self.noise.groups]
        _, cluster = np.unique(np.column_stack([groups, similar]), axis=0, return_inverse=True)
        cluster = cluster.ravel()
        by_weight = np.argsort(np.bincount(self.kind, self.weight, minlength=len(groups)), kind="stable")
        example = np.zeros(len(groups), dtype=np.int64)
        example[cluster[by_weight]] = by_weight  # the kind of most weight comes last, and stays
        counts = np.concatenate([self.y, self.x], axis=1)
        kind, counts, weight = _merged(example[cluster][self.kind], counts, self.weight, _COARSE_WIDTH)
        return replace(self, kind=kind, x=counts[:, 1:], y=counts[:, :1], weight=weight, is_coarse=True)

    def expect(self, table: Floats) -> Expectation:
        """Return the expected number of values for a table of sigmas."""
        of_kinds = self.summed(self.chances(self.noise.of(table)))
        points: dict[Group, Floats] = {}
        for group, of_trends in zip(self.noise.groups, of_kinds, strict=True):
            points[group] = points.get(group, 0.0) + of_trends
        return Expectation(self.noise.spec, points)

    def chances(self, noise: Noise) -> Floats:
        """Return, by row and trend, the probability that a value is published."""
        rule, sigma_x, sigma_y = self.noise.spec.reliability, noise.sigma_x[self.kind], noise.sigma_y[self.kind]
        reach_x, reach_y = None if noise.reach_x is None else noise.reach_x[self.kind], None
        if reach_x is None and not self.is_coarse:
            reach_x, reach_y = whole_reaches(self.x, self.y, sigma_x, sigma_y, rule.confidence)
        return chance_of_keeping(self.x, self.y, sigma_x, sigma_y, rule, reach_x, reach_y)

    def summed(self, of_rows: Floats) -> Floats:
        """Add up the rows of each kind, by their weights."""
        found = np.zeros((len(self.noise.groups), of_rows.shape[1]))
        np.add.at(found, self.kind, of_rows * self.weight[:, None])
        return found


def _rows(noise: RegionNoise, coverage: Coverage, profile: Profile, group: Group) -> tuple[Numbers, Floats, Floats]:
    """Return the rows of a level and class: kinds of regions, counts of any search and of each trend, and weights."""
    if group not in profile.counts:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 1 + len(noise.spec.trends))), np.zeros(0)
    counts, weights = _counts(noise.spec, coverage.spec, profile.counts[group]), profile.weights[group]
    if group not in profile.regions:
        kinds = np.array([kind for kind, of_kind in enumerate(noise.groups) if of_kind == group])
        share = np.bincount(noise.kinds, minlength=len(noise.groups))[kinds]
        weights = np.outer(weights, share / share.sum()).ravel()
        return np.tile(kinds, len(counts)), counts.repeat(len(kinds), axis=0), weights
    kinds = _kinds_by_number(noise)[profile.regions[group]]
    here = kinds >= 0
    return kinds[here], counts[here], weights[here]


def _counts(spec: Spec, counted: Spec, counts: Floats) -> Floats:
    """Return the counts of any search and of each trend of a spec, from those of the measures of another."""
    if spec.measures == counted.measures:
        return np.concatenate([counts[:, :1], trend_counts(spec, counts)], axis=1)
    known: Sequence[str] = [trend.id for trend in counted.trends]
    of_trends = trend_counts(counted, counts)[:, [known.index(trend.id) for trend in spec.trends]]
    return np.concatenate([counts[:, :1], of_trends], axis=1)


def _kinds_by_number(noise: RegionNoise) -> Numbers:
    """Return the kind of each region of the geography; -1 if it is not reported."""
    geography = noise.cells.coverage.geography
    numbers = {region.place_id: i for i, region in enumerate(geography.regions)}
    found = np.full(len(numbers), -1, dtype=np.int64)
    found[[numbers[region.place_id] for region in (geography.country, *noise.cells.regions)]] = noise.kinds
    return found


def _merged(kind: Numbers, counts: Floats, weight: Floats, width: float) -> tuple[Numbers, Floats, Floats]:
    """Return the averages of similar rows of one kind, and their weights together."""
    bins = np.round(np.sign(counts) * np.log1p(np.abs(counts)) / width)  # noise may take a count below 0
    keys, row_of = np.unique(np.column_stack([kind, bins]).astype(np.int64), axis=0, return_inverse=True)
    row_of, sums, weights = row_of.ravel(), np.zeros((len(keys), counts.shape[1])), np.zeros(len(keys))
    np.add.at(sums, row_of, counts * weight[:, None])
    np.add.at(weights, row_of, weight)
    used = weights > 0
    return keys[used, 0], sums[used] / weights[used, None], weights[used]
