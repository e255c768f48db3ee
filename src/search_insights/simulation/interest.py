"""What a simulated population searches for: the share of searches about each topic, by week and place.

Three factors multiply: a national curve (the original's, where the spec has its trends), constant differences between
regions, partly smooth over the map, and slow and weekly changes of each region. All of it is a function of the seed
and the week, so any week can be computed on its own.
"""

import csv
import math
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib import resources

import numpy as np

from search_insights.simulation.population import Tree, generator
from search_insights.spec.geography import Geography
from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec, Trend
from search_insights.support.arrays import Floats

# Standard deviations of the logarithm of a region's interest.
REGION_SPREAD = (0.16, 0.14, 0.10)  # by level below the country; the last one also for finer levels
MAP_SPREAD = 0.16  # the part that is smooth over the map
WAVE_SPREAD = 0.10  # slow changes of the two coarsest levels
WEEK_SPREAD = 0.04  # their changes from week to week

WAVE_WEEKS = 17
OWN_VARIANCE = 0.6  # share of a topic's variance that is its own; all topics have the rest in common
MAX_TOPIC_SHARE = 0.95  # nowhere are all searches about the topics

_WAVES = 6
_WEEK = 7


@dataclass(frozen=True)
class NationalCurve:
    """The share of each topic in the whole country's searches; all topics reach `peak_share` in the highest week."""

    spec: Spec
    peak_share: float

    def shares(self, week: date) -> Floats:
        """Return the share of each topic, in the order of the spec."""
        return self.peak_share * self._relative(week)

    def _relative(self, week: date) -> Floats:
        """Return each topic relative to the highest total: from the table if it covers the week, else synthetic."""
        day, table = week.toordinal(), self._table
        if table is not None and table[0, 0] <= day <= table[0, -1]:
            return np.array([np.interp(day, table[0], row) for row in table[1:]])
        return self._synthetic(day) / self._synthetic_peak

    @cached_property
    def _table(self) -> Floats | None:
        """Derive the topics' curves from the published trends, if the spec has trends of those names."""
        published = published_trends()
        topics: dict[str, Floats] = {}
        counted = {trend.name: counted_topics(self.spec, trend) for trend in self.spec.trends}
        for name, of_trend in sorted(counted.items(), key=lambda found: len(found[1])):  # single topics first
            rest = [topic for topic in of_trend if topic not in topics]
            if name in published and len(rest) == 1:
                known = sum((topics[t] for t in of_trend if t in topics), np.zeros(1))
                topics[rest[0]] = published[name] - known
        if set(topics) != set(self.spec.topics):
            return None
        curves = np.array([topics[topic] for topic in self.spec.topics])
        return np.vstack([published["date"], curves / curves.sum(axis=0).max()])

    def _synthetic(self, day: int) -> Floats:
        """Give each topic a season: a smooth bump once a year, later and lower from topic to topic."""
        count = len(self.spec.topics)
        order = np.arange(count)
        angle = 2 * math.pi * (day / 365.25 - (0.2 + 0.12 * order))
        bump = np.exp(3 * (np.cos(angle) - 1))
        return np.asarray((count - order) * (0.2 + 0.8 * bump))

    @cached_property
    def _synthetic_peak(self) -> float:
        return max(float(self._synthetic(day).sum()) for day in range(366))


def counted_topics(spec: Spec, trend: Trend) -> tuple[str, ...]:
    """Return the topics that a trend counts: a search about nothing else adds 1 to it."""
    if not spec.given_measures:
        return trend.sum_of
    numbers = [[measure.id for measure in spec.measures].index(measure) for measure in trend.sum_of]
    each = measure_values(spec.measures, spec.topics, 1 << np.arange(len(spec.topics)))[:, numbers]
    added = each @ np.array(trend.weights or np.ones(len(numbers)))
    return tuple(topic for topic, value in zip(spec.topics, added, strict=True) if value == 1)


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
    baseline: Floats
    phases: Floats
    seed: int

    def shares(self, week: date) -> Floats:
        """Return the share of each topic (rows) in each region (columns); 0 except in leaves, where people live."""
        leaves = self.tree.leaves
        relative = np.zeros_like(self.baseline)
        relative[:, leaves] = np.exp(self.baseline + self._change(week))[:, leaves]
        national = relative @ self.search_weights
        shares = relative * (self.curve.shares(week) / national)[:, None]
        return np.asarray(shares * np.minimum(1, MAX_TOPIC_SHARE / np.maximum(shares.sum(axis=0), MAX_TOPIC_SHARE)))

    def expected(self, week: date) -> Floats:
        """Return the expected share of each topic in all regions; NaN where nobody ever searches."""
        searches = self.tree.sum_by_region(self.search_weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            about = self.tree.sum_by_region(self.shares(week) * self.search_weights)
            return about / np.where(searches > 0, searches, np.nan)

    def _change(self, week: date) -> Floats:
        rng = generator(self.seed, "week", week)
        coarse = self.phases.shape[1]
        wave = math.sqrt(2) * np.cos(2 * math.pi * week.toordinal() / (_WEEK * WAVE_WEEKS) + self.phases)
        jitter = rng.standard_normal(self.phases.shape)
        change = np.zeros_like(self.baseline)
        change[:, :coarse] = WAVE_SPREAD * wave + WEEK_SPREAD * jitter
        return self.tree.sum_downwards(change)


def draw_interest(
    spec: Spec, geography: Geography, tree: Tree, search_weights: Floats, peak_share: float, seed: int
) -> Interest:
    """Draw the constant differences between the regions, and the phase of each region's slow changes."""
    rng = generator(seed, "regions")
    topics = len(spec.topics)
    own = np.zeros((topics, tree.size))
    for depth in range(1, int(tree.depth.max()) + 1):
        here = np.flatnonzero(tree.depth == depth)
        spread = REGION_SPREAD[min(depth, len(REGION_SPREAD)) - 1]
        own[:, here] = spread * _correlate(rng.standard_normal((topics + 1, len(here))))
    waves = np.array([_smooth_field(rng, *_map_points(geography)) for _ in range(topics + 1)])
    baseline = tree.sum_downwards(own) + MAP_SPREAD * _correlate(waves)
    phases = rng.uniform(0, 2 * math.pi, (topics, int((tree.depth <= 2).sum())))
    return Interest(NationalCurve(spec, peak_share), tree, search_weights, baseline, phases, seed)


def _correlate(normals: Floats) -> Floats:
    """Mix the first row into all others: a place that searches more for one topic does so for the others too."""
    return np.asarray(math.sqrt(1 - OWN_VARIANCE) * normals[0] + math.sqrt(OWN_VARIANCE) * normals[1:])


def _map_points(geography: Geography) -> tuple[Floats, Floats]:
    """Return each region's point on the map, or its parent's if unknown, in units of the country's extent."""
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
    """Add up a few long waves in random directions: expected variance 1, and neighbours are similar."""
    length = rng.uniform(2.0, 6.0, _WAVES)
    direction, phase = rng.uniform(0, 2 * math.pi, (2, _WAVES))
    along = np.outer(np.cos(direction), x) + np.outer(np.sin(direction), y)
    waves = np.cos(2 * math.pi * along / length[:, None] + phase[:, None])
    return np.asarray(waves.sum(axis=0) * math.sqrt(2 / _WAVES))
