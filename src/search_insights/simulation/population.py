"""The people of a simulated log: where they live, where else they search from, and how much they search.

Homes are drawn in proportion to population. Each person has a home and one other place, mostly in the same county; on
any day a few people are on a trip. Other places are drawn by population too, so searches are distributed like people.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from search_insights.spec.geography import Geography, Region
from search_insights.support.arrays import Floats

Indices = npt.NDArray[np.int32]

AWAY_SHARE = 0.22  # share of a person's searches that are made at the other place
TRIP_SHARE = 0.03  # share of people on a trip on any one day; the trip replaces their other place
# How far away the other place is: it is drawn in the region this many levels above home, with this probability.
USUAL_REACH = {1: 0.85, 2: 0.13, 3: 0.02}
TRIP_REACH = {2: 0.5, 3: 0.5}

# The rate of the person at rank share y is proportional to 1 / (y * _SPAN + _BUSIEST**3)**(2/3): a Pareto tail of
# index 1.5, cut off where a person searches about 900 times as much as the average.
_BUSIEST = 0.02
_SPAN = (1 + _BUSIEST) ** 3 - _BUSIEST**3


def generator(seed: int, purpose: str, day: date | None = None) -> np.random.Generator:
    """Return a random generator for one purpose and, if given, one day. No other purpose shares its numbers."""
    words = [seed, *purpose.encode(), 0 if day is None else day.toordinal()]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


@dataclass(frozen=True)
class Tree:
    """The geography as arrays indexed by region. Each region is an interval of the population.

    The intervals of the children fill that of their parent, so one uniform number draws a place in any region.
    People live in the leaves. `region` is the region that a log names: another one for the pieces of regions that
    straddle others (places.py), which come last.
    """

    parent: Indices
    depth: Indices
    weight: Floats
    begin: Floats
    leaves: Indices
    region: Indices

    @property
    def size(self) -> int:
        """The number of regions."""
        return len(self.parent)

    def ancestor(self, regions: Indices, steps: int) -> Indices:
        """Return the regions some levels up, at most the country."""
        for _ in range(steps):
            regions = np.maximum(self.parent[regions], 0)
        return regions

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether each region is a leaf."""
        mask = np.zeros(self.size, dtype=bool)
        mask[self.leaves] = True
        return mask

    def draw(self, rng: np.random.Generator, within: Indices) -> Indices:
        """Draw a leaf in each of the given regions, in proportion to population."""
        points = self.begin[within] + rng.random(len(within)) * self.weight[within]
        found = np.searchsorted(self.begin[self.leaves], points, side="right") - 1
        return self.leaves[np.maximum(found, 0)]

    def sum_upwards(self, values: Floats) -> Floats:
        """Add to each region the values of all regions below it; the last axis is the regions."""
        total = values.copy()
        for depth in range(int(self.depth.max()), 0, -1):
            here = np.flatnonzero(self.depth == depth)
            for row in total.reshape(-1, self.size):
                row += np.bincount(self.parent[here], row[here], self.size)
        return total

    def sum_by_region(self, values: Floats) -> Floats:
        """Add to each region the values of all regions below it and of its own pieces; pieces are left out."""
        total = self.sum_upwards(values)
        regions = int(self.region.max()) + 1
        for row in total.reshape(-1, self.size):
            row[:regions] += np.bincount(self.region[regions:], row[regions:], regions)
        return total[..., :regions]

    def sum_downwards(self, values: Floats) -> Floats:
        """Add to each region the values of all regions above it; the last axis is the regions."""
        total = values.copy()
        for depth in range(1, int(self.depth.max()) + 1):
            here = np.flatnonzero(self.depth == depth)
            total[..., here] += total[..., self.parent[here]]
        return total


def build_tree(geography: Geography, region: Indices | None = None) -> Tree:
    """Divide the country's people among the regions from the top down, by population where it is known.

    `region` says which regions are pieces of others; without it none is.
    """
    number = {region.place_id: i for i, region in enumerate(geography.regions)}
    parent = np.array([number[r.parent] if r.parent else -1 for r in geography.regions], dtype=np.int32)
    depth = np.array([geography.levels.index(r.level) for r in geography.regions], dtype=np.int32)
    weight = _weights(geography, parent)
    begin = np.zeros(len(parent))
    taken = np.zeros(len(parent))
    for i in range(1, len(parent)):  # parents come before their children
        begin[i] = taken[i] = taken[parent[i]]
        taken[parent[i]] += weight[i]
    inner = np.zeros(len(parent), dtype=bool)
    inner[parent[1:]] = True
    leaves = np.flatnonzero(~inner & (weight > 0))
    if region is None:
        region = np.arange(len(parent), dtype=np.int32)
    return Tree(parent, depth, weight, begin, leaves[np.argsort(begin[leaves])].astype(np.int32), region)


def _weights(geography: Geography, parent: Indices) -> Floats:
    known = _known_populations(geography.regions, parent)
    children: dict[int, list[int]] = {}
    for i in range(1, len(parent)):
        children.setdefault(int(parent[i]), []).append(i)
    weight = np.zeros(len(parent))
    weight[0] = 1.0
    for above in sorted(children):
        weight[children[above]] = weight[above] * _shares([known.get(i) for i in children[above]])
    return weight


def _known_populations(regions: tuple[Region, ...], parent: Indices) -> Mapping[int, int]:
    """Return each region's population, or the sum of what is known below it."""
    known = {i: region.population for i, region in enumerate(regions) if region.population is not None}
    below: dict[int, int] = {}
    for i in range(len(regions) - 1, 0, -1):
        people = known.get(i, below.get(i))
        if people is not None:
            below[int(parent[i])] = below.get(int(parent[i]), 0) + people
    return below | known


def _shares(known: list[int | None]) -> Floats:
    """Return the siblings' shares, which add up to 1; an unknown population counts as the average of the others."""
    given = [people for people in known if people is not None]
    average = sum(given) / len(given) if given else 1.0
    people = np.array([average if p is None else p for p in known], dtype=np.float64)
    total = people.sum()
    return people / total if total > 0 else np.full(len(known), 1 / len(known))


def rank_of(uniform: Floats, users: int) -> Floats:
    """Turn uniform numbers into the ranks of the people who search, most active first."""
    shifted = uniform + _BUSIEST
    return (shifted * shifted * shifted - _BUSIEST**3) * (users / _SPAN)


def rates(users: int) -> Floats:
    """Return the share of all searches that each person makes: the probabilities of the ranks that `rank_of` gives."""
    edges = np.cbrt(np.arange(users + 1) * (_SPAN / users) + _BUSIEST**3)
    return np.diff(edges)


@dataclass(frozen=True)
class People:
    """The users by rank. Column 0 of `places` is home, column 1 the other place."""

    tree: Tree
    places: npt.NDArray[np.int32]

    def places_on(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Return everyone's places on a day on which some people are on a trip, which replaces their other place."""
        places = self.places.copy()
        travellers = rng.integers(0, len(places), round(TRIP_SHARE * len(places)))
        places[travellers, 1] = _draw_other_places(self.tree, rng, places[travellers, 0], TRIP_REACH)
        return places

    def search_weights(self) -> Floats:
        """Return the share of all searches that is expected from each place, averaged over all possible trips."""
        share = rates(len(self.places))
        size = self.tree.size
        home: Floats = np.bincount(self.places[:, 0], share, size).astype(np.float64)
        usual = np.bincount(self.places[:, 1], share, size)
        return (1 - AWAY_SHARE) * home + AWAY_SHARE * ((1 - TRIP_SHARE) * usual + TRIP_SHARE * self._trips(home))

    def _trips(self, home: Floats) -> Floats:
        """Spread the people of each home over all places that their trips can reach, by population."""
        tree, leaves = self.tree, self.tree.leaves
        start = np.zeros(tree.size)
        for steps, share in TRIP_REACH.items():
            start += share * np.bincount(tree.ancestor(leaves, steps), home[leaves], tree.size)
        density = tree.sum_downwards(np.divide(start, tree.weight, out=np.zeros(tree.size), where=tree.weight > 0))
        return np.where(tree.is_leaf, density * tree.weight, 0.0)


def draw_people(tree: Tree, users: int, seed: int) -> People:
    """Draw a home and another place for every user, independently of how much they search."""
    rng = generator(seed, "people")
    weight = tree.weight[tree.leaves]
    home = np.repeat(tree.leaves, rng.multinomial(users, weight / weight.sum()))
    places = np.column_stack([home, _draw_other_places(tree, rng, home, USUAL_REACH)])
    return People(tree, places[rng.permutation(users)])  # drawn home by home for speed, then shuffled


def _draw_other_places(tree: Tree, rng: np.random.Generator, home: Indices, reach: Mapping[int, float]) -> Indices:
    """Draw another place for each home; `reach` says how far away."""
    steps = rng.choice(list(reach), len(home), p=list(reach.values()))
    within = np.empty_like(home)
    for distance in reach:
        chosen = steps == distance
        within[chosen] = tree.ancestor(home[chosen], distance)
    return tree.draw(rng, within)
