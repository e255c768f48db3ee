"""What a simulated population searches for: the share of searches about each topic, by week and place.

Three layers multiply: a national curve (the original's, where the spec has its trends), lasting differences between
regions, part of them smooth over the map, and slow and weekly movements of each region's own. All of it is a function
of the seed and the week, so any week can be computed alone.
"""

import csv
import math
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib import resources

import numpy as np

from search_insights.simulation.population import Floats, Tree, generator
from search_insights.spec.geography import Geography
from search_insights.spec.spec import Spec

REGION_SPREAD = (0.16, 0.14, 0.10)  # of the logarithm, for the levels below the country; finer ones as the last
MAP_SPREAD = 0.16  # of the part that is smooth over the map
WAVE_SPREAD = 0.10  # of the slow movements of the two coarsest levels
WEEK_SPREAD = 0.04  # of their movements from week to week
WAVE_WEEKS = 17
OWN_PART = 0.6  # how much of a topic's variance is its own; the rest is shared by all topics
MOST = 0.95  # no place searches for the topics only

_WAVES = 6
_WEEK = 7


@dataclass(frozen=True)
class NationalCurve:
    """The share of each topic in the searches of the whole country, its highest week at `peak_share`."""

    spec: Spec
    peak_share: float

    def shares(self, week: date) -> Floats:
        """Give the share of each topic, in the order of the spec."""
        return self.peak_share * self._relative(week)

    def _relative(self, week: date) -> Floats:
        """Give each topic relative to the highest total: from the table if it covers the week, else made up."""
        day, table = week.toordinal(), self._table
        if table is not None and table[0, 0] <= day <= table[0, -1]:
            return np.array([np.interp(day, table[0], row) for row in table[1:]])
        return self._made_up(day) / self._made_up_peak

    @cached_property
    def _table(self) -> Floats | None:
        """Derive the topics' curves from the published trends, if the spec's trends of those names allow it."""
        published = published_trends()
        topics: dict[str, Floats] = {}
        for trend in sorted(self.spec.trends, key=lambda t: len(t.sum_of)):  # single topics first
            rest = [topic for topic in trend.sum_of if topic not in topics]
            if trend.name in published and len(rest) == 1:
                known = sum((topics[t] for t in trend.sum_of if t in topics), np.zeros(1))
                topics[rest[0]] = published[trend.name] - known
        if set(topics) != set(self.spec.topics):
            return None
        curves = np.array([topics[topic] for topic in self.spec.topics])
        return np.vstack([published["date"], curves / curves.sum(axis=0).max()])

    def _made_up(self, day: int) -> Floats:
        """Let each topic have its season: a smooth bump once a year, later and lower from topic to topic."""
        count = len(self.spec.topics)
        order = np.arange(count)
        angle = 2 * math.pi * (day / 365.25 - (0.2 + 0.12 * order))
        bump = np.exp(3 * (np.cos(angle) - 1))
        return np.asarray((count - order) * (0.2 + 0.8 * bump))

    @cached_property
    def _made_up_peak(self) -> float:
        return max(float(self._made_up(day).sum()) for day in range(366))


def published_trends() -> dict[str, Floats]:
    """Read the packaged weekly values of the original's trends; `date` holds day numbers."""
    text = (resources.files("search_insights.simulation") / "national_curve.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    days = {"date": np.array([float(date.fromisoformat(row["date"]).toordinal()) for row in rows])}
    names = [name for name in rows[0] if name != "date"]
    return days | {name: np.array([float(row[name]) for row in rows]) for name in names}


@dataclass(frozen=True)
class Interest:
    """How likely a search from a place is about each topic."""

    curve: NationalCurve
    tree: Tree
    search_weights: Floats
    lasting: Floats
    phases: Floats
    seed: int

    def shares(self, week: date) -> Floats:
        """Give the share of each topic (rows) at each place (columns: regions; only leaves are places)."""
        leaves = self.tree.leaves
        appeal = np.zeros_like(self.lasting)
        appeal[:, leaves] = np.exp(self.lasting + self._movement(week))[:, leaves]
        national = appeal @ self.search_weights
        shares = appeal * (self.curve.shares(week) / national)[:, None]
        return np.asarray(shares * np.minimum(1, MOST / np.maximum(shares.sum(axis=0), MOST)))

    def expected(self, week: date) -> Floats:
        """Give the share of each topic in all regions; not a number where nobody ever searches."""
        here = self.tree.gather(self.search_weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.tree.gather(self.shares(week) * self.search_weights) / np.where(here > 0, here, np.nan)

    def _movement(self, week: date) -> Floats:
        rng = generator(self.seed, "week", week)
        coarse = self.phases.shape[1]
        wave = math.sqrt(2) * np.cos(2 * math.pi * week.toordinal() / (_WEEK * WAVE_WEEKS) + self.phases)
        jitter = rng.standard_normal(self.phases.shape)
        moved = np.zeros_like(self.lasting)
        moved[:, :coarse] = WAVE_SPREAD * wave + WEEK_SPREAD * jitter
        return self.tree.inherited(moved)


def take_interest(
    spec: Spec, geography: Geography, tree: Tree, search_weights: Floats, peak_share: float, seed: int
) -> Interest:
    """Draw the lasting differences between the regions, and when each one's slow movements have their crest."""
    rng = generator(seed, "regions")
    topics = len(spec.topics)
    own = np.zeros((topics, tree.size))
    for depth in range(1, int(tree.depth.max()) + 1):
        here = np.flatnonzero(tree.depth == depth)
        spread = REGION_SPREAD[min(depth, len(REGION_SPREAD)) - 1]
        own[:, here] = spread * _partly_shared(rng.standard_normal((topics + 1, len(here))))
    waves = np.array([_smooth_field(rng, *_map(geography)) for _ in range(topics + 1)])
    lasting = tree.inherited(own) + MAP_SPREAD * _partly_shared(waves)
    phases = rng.uniform(0, 2 * math.pi, (topics, int((tree.depth <= 2).sum())))
    return Interest(NationalCurve(spec, peak_share), tree, search_weights, lasting, phases, seed)


def _partly_shared(normals: Floats) -> Floats:
    """Mix the first row into all others, so that a place that searches more for one topic does so for the next."""
    return np.asarray(math.sqrt(1 - OWN_PART) * normals[0] + math.sqrt(OWN_PART) * normals[1:])


def _map(geography: Geography) -> tuple[Floats, Floats]:
    """Give each region a point on the map, its parent's if it has none, in units of the country's extent."""
    points: dict[str | None, tuple[float, float]] = {None: (0.0, 0.0)}
    for region in geography.regions:  # parents come before their children
        if region.longitude is None or region.latitude is None:
            points[region.place_id] = points[region.parent]
        else:
            points[region.place_id] = (region.longitude, region.latitude)
    table = np.array([points[region.place_id] for region in geography.regions])
    extent = table.std(axis=0)
    x, y = ((table - table.mean(axis=0)) / np.where(extent > 0, extent, 1.0)).T
    return x, y


def _smooth_field(rng: np.random.Generator, x: Floats, y: Floats) -> Floats:
    """Add up a few long waves in random directions: variance 1 over the draw, neighbours alike."""
    length = rng.uniform(2.0, 6.0, _WAVES)
    direction, phase = rng.uniform(0, 2 * math.pi, (2, _WAVES))
    along = np.outer(np.cos(direction), x) + np.outer(np.sin(direction), y)
    waves = np.cos(2 * math.pi * along / length[:, None] + phase[:, None])
    return np.asarray(waves.sum(axis=0) * math.sqrt(2 / _WAVES))
