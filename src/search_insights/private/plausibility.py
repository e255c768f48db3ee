"""Whether a week's counts are plausible next to those of the week before.

A naming error can lose a whole region for months, and nothing that reads one week alone notices. Next to the noisy
counts of another week, which cost nothing, it shows: a count is implausible if it differs by more than the noise
explains and by more than people do. Only any search is compared region by region: interest in a topic may change by any
factor overnight. A topic that is all but gone from the country is told, because a lost column or a wrong model
looks like that.

The exact counts are private. A refusal names regions, which are public, and no number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.geography import Region
from search_insights.support.arrays import Counts, Floats

# The kinds of warnings that a publisher may accept after a look, with what they say. What is not here has an option of
# its own, or cannot be right.
ACCEPTABLE = {
    "collapsed-total": "the country has far fewer searches than in the week before",
    "jumped-total": "the country has far more searches than in the week before",
    "collapsed-region": "a region has far fewer searches than in the week before",
    "jumped-region": "a region has far more searches than in the week before",
    "collapsed-topic": "a topic is all but gone from the country",
    "empty-region": "a region has no search at all",
    "shifted-times": "the week's first or last hours are empty, and rows lie beyond its other end",
}

# Beyond noise: it explains two in a thousand million counts. Beyond people: searches of a region do not double or halve
# in a week, and interest in a topic does not fall to a quarter; a holiday or the news changes them by less.
NOISE_SIGMAS = 6.0
LEAST, MOST = 0.5, 2.0
LEAST_TOPIC = 0.25
_NAMED = 3  # regions in a message


@dataclass(frozen=True, slots=True)
class Change:
    """A count that is implausible next to another week's. Private: `count` is exact; `before` has noise of `sigma`."""

    kind: str
    place_id: str
    name: str
    category: str
    count: int
    before: int
    sigma: float


@dataclass(frozen=True, slots=True)
class _Pair:
    """Exact counts and the noisy ones of another week, with the sigmas of their noise; axes (region, measure)."""

    new: Counts
    old: Counts
    sigmas: Floats

    def of_measures(self, chosen: list[int]) -> "_Pair":
        return _Pair(self.new[:, chosen], self.old[:, chosen], self.sigmas[:, chosen])

    def total(self) -> "_Pair":
        """Add up the regions; so do the variances."""
        sigmas = np.sqrt(np.square(self.sigmas).sum(axis=0, keepdims=True))
        return _Pair(self.new.sum(axis=0, keepdims=True), self.old.sum(axis=0, keepdims=True), sigmas)


def implausible_changes(cells: CellList, counts: Counts, before: Counts) -> tuple[Change, ...]:
    """Compare exact counts with the noisy ones of another week: the country, then its coarsest regions."""
    parts, spec = coarsest(cells), cells.coverage.spec
    new, old, sigmas = (v.reshape(-1, len(spec.measures))[parts] for v in (counts, before, cells.sigmas))
    pair = _Pair(new.astype(np.int64), old.astype(np.int64), sigmas.astype(np.float64))
    any_search = [0]
    topics = [i for i, measure in enumerate(spec.measures) if i and not measure.against]  # a signed one may be near 0
    country, regions = [cells.coverage.geography.country], [cells.regions[i] for i in parts]
    first, others = ([spec.measures[i].id for i in chosen] for chosen in (any_search, topics))
    return (
        *_changes("total", country, first, pair.total().of_measures(any_search), LEAST, MOST),
        *_changes("topic", country, others, pair.total().of_measures(topics), LEAST_TOPIC, np.inf),
        *_changes("region", regions, first, pair.of_measures(any_search), LEAST, MOST),
    )


def _changes(
    what: str, regions: Sequence[Region], categories: Sequence[str], pair: _Pair, least: float, most: float
) -> Iterator[Change]:
    """Yield the counts that differ by more than the noise explains, and by more than people do."""
    beyond = np.abs(pair.new - pair.old) > NOISE_SIGMAS * pair.sigmas
    collapsed, grown = beyond & (pair.new < least * pair.old), beyond & (pair.new > pair.old)
    jumped = grown & (pair.new / most > np.maximum(pair.old, 0))
    for i, c in np.argwhere(collapsed | jumped):
        region, kind = regions[i], f"{'collapsed' if collapsed[i, c] else 'jumped'}-{what}"
        new, old, sigma = int(pair.new[i, c]), int(pair.old[i, c]), float(pair.sigmas[i, c])
        yield Change(kind, region.place_id, region.name, categories[c], new, old, sigma)


def coarsest(cells: CellList) -> list[int]:
    """Return the numbers of the reported regions of the coarsest level, those that the country is the sum of."""
    level = cells.coverage.spec.total.sum_of
    return [i for i, region in enumerate(cells.regions) if region.level == level]


def totals(cells: CellList, counts: Counts) -> list[int]:
    """Return the counts of the country, one for each measure."""
    shaped = counts.reshape(-1, len(cells.coverage.spec.measures))[coarsest(cells)]
    return [int(count) for count in shaped.sum(axis=0)]


def empty_regions(cells: CellList, counts: Counts) -> tuple[Region, ...]:
    """Return the coarsest regions without a search."""
    searched = counts.reshape(-1, len(cells.coverage.spec.measures))[:, 0]
    return tuple(cells.regions[i] for i in coarsest(cells) if not searched[i])


def described_changes(kind: str, changes: Sequence[Change]) -> str:
    """Say which counts of one kind are implausible, without a number: `collapsed in Alabama (geoId/01)`."""
    verb, _, what = kind.partition("-")
    if what == "topic":
        return f"category {', '.join(change.category for change in changes)} {verb} in the whole country"
    named = ", ".join(f"{change.name} ({change.place_id})" for change in changes[:_NAMED])
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    return f"searches {verb} in {named}{more}"
