"""The people of a simulated log: where they live, where else they search from, and how much they search.

People live in proportion to population. Each has a home and one other place, mostly in the same county; on any day a
few are on a trip. All other places are drawn by population too, so searches fall on regions as people do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from search_insights.spec.geography import Geography, Region

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]

AWAY = 0.22  # share of a person's searches that are made at the other place
TRIPS = 0.03  # share of people who are on a trip on any one day: that is then their other place
# How far the other place lies: how many levels above home the region is in which it is drawn, and how often.
USUAL_REACH = {1: 0.85, 2: 0.13, 3: 0.02}
TRIP_REACH = {2: 0.5, 3: 0.5}

# The rate of the person at rank share y is proportional to 1 / (y * _SPAN + _BUSIEST**3)**(2/3): a Pareto tail of
# index 1.5, cut where a person searches some 900 times as much as the average one.
_BUSIEST = 0.02
_SPAN = (1 + _BUSIEST) ** 3 - _BUSIEST**3


def generator(seed: int, purpose: str, day: date | None = None) -> np.random.Generator:
    """Give the random numbers for one purpose, and one day if it is a day's: no other purpose shares them."""
    words = [seed, *purpose.encode(), 0 if day is None else day.toordinal()]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))


@dataclass(frozen=True)
class Tree:
    """The geography as arrays, by the index of a region; each region is an interval of the population.

    The intervals of the children fill that of their parent, so one uniform number draws a place in any region.
    """

    parent: Indices
    depth: Indices
    weight: Floats
    begin: Floats
    leaves: Indices

    @property
    def size(self) -> int:
        """The number of regions."""
        return len(self.parent)

    def ancestor(self, regions: Indices, steps: int) -> Indices:
        """Go up some levels, but not past the country."""
        for _ in range(steps):
            regions = np.maximum(self.parent[regions], 0)
        return regions

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether people live in each region itself."""
        found = np.zeros(self.size, dtype=bool)
        found[self.leaves] = True
        return found

    def draw(self, rng: np.random.Generator, within: Indices) -> Indices:
        """Draw a place by population in each of the given regions."""
        points = self.begin[within] + rng.random(len(within)) * self.weight[within]
        found = np.searchsorted(self.begin[self.leaves], points, side="right") - 1
        return self.leaves[np.maximum(found, 0)]

    def gather(self, of_leaves: Floats) -> Floats:
        """Add the values of the leaves up to all regions; the last axis is the regions."""
        total = of_leaves.copy()
        for depth in range(int(self.depth.max()), 0, -1):
            here = np.flatnonzero(self.depth == depth)
            for row in total.reshape(-1, self.size):
                row += np.bincount(self.parent[here], row[here], self.size)
        return total

    def inherited(self, own: Floats) -> Floats:
        """Add to each region what those above it have; the last axis is the regions."""
        total = own.copy()
        for depth in range(1, int(self.depth.max()) + 1):
            here = np.flatnonzero(self.depth == depth)
            total[..., here] += total[..., self.parent[here]]
        return total


def plant(geography: Geography) -> Tree:
    """Share the country's people out from the top, by population where it is known; the leaves are where they live."""
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
    return Tree(parent, depth, weight, begin, leaves[np.argsort(begin[leaves])].astype(np.int32))


def _weights(geography: Geography, parent: Indices) -> Floats:
    known = _known_people(geography.regions, parent)
    children: dict[int, list[int]] = {}
    for i in range(1, len(parent)):
        children.setdefault(int(parent[i]), []).append(i)
    weight = np.zeros(len(parent))
    weight[0] = 1.0
    for above in sorted(children):
        weight[children[above]] = weight[above] * _shares([known.get(i) for i in children[above]])
    return weight


def _known_people(regions: tuple[Region, ...], parent: Indices) -> Mapping[int, int]:
    """Give each region its population or else the sum of what is known below it."""
    known = {i: region.population for i, region in enumerate(regions) if region.population is not None}
    below: dict[int, int] = {}
    for i in range(len(regions) - 1, 0, -1):
        people = known.get(i, below.get(i))
        if people is not None:
            below[int(parent[i])] = below.get(int(parent[i]), 0) + people
    return below | known


def _shares(known: list[int | None]) -> Floats:
    """Share one out among siblings; those of unknown population get what the others have on average."""
    given = [people for people in known if people is not None]
    average = sum(given) / len(given) if given else 1.0
    people = np.array([average if p is None else p for p in known], dtype=np.float64)
    total = people.sum()
    return people / total if total > 0 else np.full(len(known), 1 / len(known))


def rank_of(uniform: Floats, users: int) -> Floats:
    """Turn uniform numbers into the ranks of the people who search, the busiest first."""
    shifted = uniform + _BUSIEST
    return (shifted * shifted * shifted - _BUSIEST**3) * (users / _SPAN)


def rates(users: int) -> Floats:
    """Give the share of all searches that each person makes: the probabilities that `rank_of` draws with."""
    edges = np.cbrt(np.arange(users + 1) * (_SPAN / users) + _BUSIEST**3)
    return np.diff(edges)


@dataclass(frozen=True)
class People:
    """The users, by rank: column 0 of `places` is home, column 1 the other place."""

    tree: Tree
    places: npt.NDArray[np.int32]

    def places_on(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Send some people on a trip for a day: it takes the place of their other place."""
        places = self.places.copy()
        travellers = rng.integers(0, len(places), round(TRIPS * len(places)))
        places[travellers, 1] = _elsewhere(self.tree, rng, places[travellers, 0], TRIP_REACH)
        return places

    def search_weights(self) -> Floats:
        """Give the share of all searches that is expected from each place, over all trips that may be made."""
        share = rates(len(self.places))
        size = self.tree.size
        home: Floats = np.bincount(self.places[:, 0], share, size).astype(np.float64)
        usual = np.bincount(self.places[:, 1], share, size)
        return (1 - AWAY) * home + AWAY * ((1 - TRIPS) * usual + TRIPS * self._trips(home))

    def _trips(self, home: Floats) -> Floats:
        """Spread the people of each home over all places of the regions that their trips reach, by population."""
        tree, leaves = self.tree, self.tree.leaves
        start = np.zeros(tree.size)
        for steps, share in TRIP_REACH.items():
            start += share * np.bincount(tree.ancestor(leaves, steps), home[leaves], tree.size)
        density = tree.inherited(np.divide(start, tree.weight, out=np.zeros(tree.size), where=tree.weight > 0))
        return np.where(tree.is_leaf, density * tree.weight, 0.0)


def settle(tree: Tree, users: int, seed: int) -> People:
    """Give every user a home and another place. Who lives where has nothing to do with how much they search."""
    rng = generator(seed, "people")
    weight = tree.weight[tree.leaves]
    home = np.repeat(tree.leaves, rng.multinomial(users, weight / weight.sum()))
    places = np.column_stack([home, _elsewhere(tree, rng, home, USUAL_REACH)])
    return People(tree, places[rng.permutation(users)])  # neighbours are drawn together for speed, then scattered


def _elsewhere(tree: Tree, rng: np.random.Generator, home: Indices, reach: Mapping[int, float]) -> Indices:
    """Draw another place for each home, near or far."""
    steps = rng.choice(list(reach), len(home), p=list(reach.values()))
    within = np.empty_like(home)
    for distance in reach:
        chosen = steps == distance
        within[chosen] = tree.ancestor(home[chosen], distance)
    return tree.draw(rng, within)
