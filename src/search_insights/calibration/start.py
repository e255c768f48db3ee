"""Sigmas from nothing: proportions that suit the expected counts, then calibrated to the promise.

A value is a ratio of a topic's count x to that of any search, y; the variance of its relative error is about
(sigma_x / x)^2 + (sigma_y / y)^2. What a case spends is the sum of 1 / sigma^2. So:

- Within a level and class, the variances of its k topics have the smallest sum for what is spent there, b, if sigma_x^2
  is proportional to x, and sigma_y^2 to y / sqrt(k). The sum is then K^2 / b, with K = sum of 1/x, plus sqrt(k) / y.
- Between levels, the sum of the relative errors, K / sqrt(b), is smallest if b is proportional to K^(2/3).

The paper's table is close to both. Expected counts are public knowledge, never the log's: those of a profile, or else
populations, with the same share of all searches for every topic. Only their proportions matter, because the calibration
scales the sigmas.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.profile import Profile
from search_insights.calibration.region_noise import Group
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography
from search_insights.spec.spec import MIN_SIGMA, Promise, Spec
from search_insights.support.arrays import Floats

# The share of searches that a topic has, if nothing is known of it.
_SHARE = 0.01
# The largest sigma before the calibration; any would do.
_LARGEST = 1_000.0


def start(coverage: Coverage, promise: Promise, profile: Profile | None = None) -> Spec:
    """Return the spec of a coverage with sigmas found from nothing; those that it has are not looked at."""
    spec = coverage.spec
    counts = _counts_of_profile(profile) if profile else _counts_of_populations(coverage)
    variances = {group: _variances(counts[group]) for group in spec.reported_groups}
    largest = max((float(v.max()) for v in variances.values()), default=1.0)
    values = {
        (*group, category.id): max(MIN_SIGMA, _LARGEST * math.sqrt(variance / largest))
        for group in variances
        for category, variance in zip(spec.measures, variances[group], strict=True)
    }
    sigmas = tuple(replace(s, value=values[s.level, s.size_class, s.category]) for s in spec.sigmas)
    return calibrate(replace(spec, sigmas=sigmas), promise)


def _variances(counts: Floats) -> Floats:
    """Return sigma^2 of each category of a group, up to a factor that all groups share."""
    root = math.sqrt(counts.size - 1)
    within = np.array([counts[0] / root, *counts[1:]])
    spent = (root / counts[0] + (1 / counts[1:]).sum()) ** (2 / 3)
    variances: Floats = within * (1 / within).sum() / spent
    return variances


def _counts_of_profile(profile: Profile) -> Mapping[Group, Floats]:
    """Return the typical expected counts of each group: the mean in the logarithm, weighted."""
    return {
        group: np.exp(np.average(np.log1p(np.abs(counts)), axis=0, weights=np.maximum(profile.weights[group], 1e-9)))
        for group, counts in profile.counts.items()
    }


def _counts_of_populations(coverage: Coverage) -> Mapping[Group, Floats]:
    """Return counts in proportion to the population of the typical region of each group."""
    spec = coverage.spec
    shares = np.array([1.0, *[_SHARE] * (len(spec.measures) - 1)])
    of_group: dict[Group, list[float]] = {group: [] for group in spec.reported_groups}
    for place_id, population in estimated_populations(coverage.geography).items():
        level = coverage.geography.by_place_id[place_id].level
        classed = level in spec.classed_levels
        standing = coverage.standings[place_id]
        group = (level, standing.size_class if classed else None)
        if standing.reported and group in of_group:
            of_group[group].append(population)
    return {g: shares * max(1.0, float(np.median(of_group[g] or [1.0]))) for g in of_group}


def estimated_populations(geography: Geography) -> dict[str, float]:
    """Return the population of each region; where it is not known, the sum of those below, or a part of that above."""
    found = {r.place_id: float(r.population) for r in geography.regions if r.population is not None}
    _fill_from_below(found, geography)
    found.setdefault(geography.country.place_id, float(len(geography.regions)))
    parts = Counter(r.parent for r in geography.regions)
    for region in geography.regions:  # parents come before their children
        if region.place_id not in found:
            found[region.place_id] = found[region.parent or ""] / parts[region.parent]
    return found


def _fill_from_below(found: dict[str, float], geography: Geography) -> None:
    """Add the regions whose population is not known, but that of regions below them: as if all of those were alike."""
    below: dict[str | None, list[float]] = {}
    parts = Counter(r.parent for r in geography.regions)
    for region in reversed(geography.regions):  # children come before their parents
        known = below.get(region.place_id)
        if region.place_id not in found and known:
            found[region.place_id] = sum(known) / len(known) * parts[region.place_id]
        if region.place_id in found:
            below.setdefault(region.parent, []).append(found[region.place_id])
