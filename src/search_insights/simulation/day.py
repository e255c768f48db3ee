"""Draw one day of a simulated log, column by column: who searches, when, from where, about what.

Each column is drawn for many events at once. Every bit of a random 64-bit number is used, because random numbers and
memory traffic are what limits the speed.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
import numpy.typing as npt

from search_insights.simulation.habits import forms, with_repeats
from search_insights.simulation.interest import Interest, draw_interest
from search_insights.simulation.places import Places, places_of
from search_insights.simulation.planted import Planted, plan, replaced_events
from search_insights.simulation.population import (
    AWAY_SHARE,
    Indices,
    People,
    build_tree,
    draw_people,
    generator,
    rank_of,
)
from search_insights.simulation.queries import QueryTexts, query_texts
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import WEEKDAYS
from search_insights.spec.straddling import Straddling
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone
from search_insights.support.arrays import Floats

# Share of the events whose region is known only this many levels above the place.
COARSE_SHARE = {1: 0.03, 2: 0.01}

# Relative search activity by hour of the day, and by day of the week from Monday.
HOURLY_ACTIVITY = (30, 20, 14, 11, 11, 15, 25, 40, 55, 64, 69, 71, 72, 72, 72, 72, 72, 72, 73, 76, 78, 75, 64, 45)
DAILY_ACTIVITY = (1.04, 1.04, 1.03, 1.01, 0.96, 0.94, 0.98)

_BIN = timedelta(minutes=15)  # every clock change is a multiple of it
_CHUNK = 1 << 16  # events drawn at once: they fit into a core's cache
_SCRAMBLE = 0x9E3779B1  # odd, so multiplying by it modulo a power of 2 keeps users distinct
_UNIT = 2.0**-32

Bits = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class World:
    """Everything that is drawn once for a whole log."""

    coverage: Coverage
    places: Places
    seed: int
    events_per_week: int
    people: People
    interest: Interest
    texts: QueryTexts | None
    planted: Planted | None

    @property
    def users(self) -> int:
        """The number of people who search."""
        return len(self.people.places)


@dataclass(frozen=True)
class Columns:
    """The events of a day in order of time.

    topic  0 for none, else the topic's position in the spec, from 1
    text   the number of the query's text, from 1
    name   the number of the region named in the query, from 1; 0 for none
    form   the number of the way in which the query is written, from 1; 0 for small letters
    """

    user: Indices
    time: npt.NDArray[np.int64]
    region: Indices
    topic: npt.NDArray[np.uint8]
    text: Indices | None
    name: Indices | None
    form: npt.NDArray[np.uint8] | None


@dataclass(frozen=True)
class _SharedByDay:
    """What all events of a day share: places of people, the clock, bounds between topics, texts by rank, the week."""

    places: Indices
    clock: Floats
    instants: Floats
    topic_bounds: npt.NDArray[np.uint32]
    ranked: Indices
    week: date


def make_world(
    coverage: Coverage,
    seed: int,
    events_per_week: int,
    users: int,
    peak_share: float,
    queries: bool,
    straddling: Straddling | None = None,
) -> World:
    """Draw the people, their interests and, if `queries`, the texts they type."""
    places = places_of(coverage, straddling)
    tree = build_tree(places.tree, places.region)
    people = draw_people(tree, users, seed)
    interest = draw_interest(coverage.spec, places.tree, tree, people.search_weights(), peak_share, seed)
    texts = query_texts(coverage.spec, seed) if queries else None
    planted = plan(people, seed) if queries else None
    return World(coverage, places, seed, events_per_week, people, interest, texts, planted)


def events_on(world: World, week: Week, day: date) -> int:
    """Return the number of events of a day. The days of a week add up to exactly `events_per_week`."""
    index = (day - week.first_day).days
    first = WEEKDAYS.index(world.coverage.spec.first_day_of_week)
    cumulative = np.cumsum([0.0, *(DAILY_ACTIVITY[(first + i) % 7] for i in range(7))])
    bounds = np.rint(cumulative / cumulative[-1] * world.events_per_week).astype(np.int64)
    return int(bounds[index + 1] - bounds[index])


def day_columns(world: World, week: Week, day: date) -> Columns:
    """Draw all events of a day. The result depends on the world and the date only."""
    rng = generator(world.seed, "day", day)
    clock, instants = _clock(week, day)
    places = world.people.places_on(rng).ravel()
    bounds = _topic_bounds(world.interest.shares(week.first_day))
    ranked = np.zeros(0, dtype=np.int32) if world.texts is None else world.texts.ranked(week.first_day)
    shared = _SharedByDay(places, clock, instants, bounds, ranked, week.first_day)
    count = events_on(world, week, day) if len(clock) > 1 else 0  # some zones have skipped a whole day
    columns = _empty_columns(count, queries=world.texts is not None)
    for start in range(0, count, _CHUNK):
        _draw_events(world, shared, rng, columns, start, min(start + _CHUNK, count))
    _plant(world, columns)
    return columns


def _empty_columns(count: int, *, queries: bool) -> Columns:
    return Columns(
        user=np.empty(count, dtype=np.int32),
        time=np.empty(count, dtype=np.int64),
        region=np.empty(count, dtype=np.int32),
        topic=np.zeros(count, dtype=np.uint8),
        text=np.zeros(count, dtype=np.int32) if queries else None,
        name=np.zeros(count, dtype=np.int32) if queries else None,
        form=np.zeros(count, dtype=np.uint8) if queries else None,
    )


def _clock(week: Week, day: date) -> tuple[Floats, Floats]:
    """Return the share of the day's searches made before each of some instants, and the instants.

    Instants are in microseconds since 1970. The day may have 23 or 25 hours; activity follows the local clock.
    """
    begin, end = week.day_bounds(day)
    local = zone(week.time_zone)
    bins = [begin + i * _BIN for i in range((end - begin) // _BIN)]
    activity = np.array([HOURLY_ACTIVITY[instant.astimezone(local).hour] for instant in bins], dtype=np.float64)
    before = np.concatenate([[0.0], np.cumsum(activity)])
    instants = np.array([(i - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1) for i in [*bins, end]])
    return before / before[-1] if bins else before, instants.astype(np.float64)


def _topic_bounds(shares: Floats) -> npt.NDArray[np.uint32]:
    """Turn the topics' shares into cumulative bounds, to compare a random 32-bit number with."""
    return np.asarray(np.cumsum(shares, axis=0) * 2.0**32).astype(np.uint32)


def _draw_events(
    world: World, day: _SharedByDay, rng: np.random.Generator, columns: Columns, start: int, stop: int
) -> None:
    """Draw the events from `start` to `stop` into the columns."""
    who, where, what, when = _random_bits(rng, stop - start)
    rank = rank_of(who * _UNIT, world.users).astype(np.int32)
    halves = where.view(np.uint16)  # two random 16-bit numbers: one for being away, one for the known level
    place = day.places.take(rank * 2 + (halves[::2] < round(AWAY_SHARE * 2**16)))
    here = slice(start, stop)
    columns.user[here] = _user_ids(rank, world.users)
    columns.time[here] = _times(day, when, start, len(columns.time))
    columns.topic[here] = topic = _topics(day.topic_bounds, what, place)
    columns.region[here] = _known_regions(world, place, halves[1::2])
    if world.texts is not None and columns.text is not None and columns.name is not None and columns.form is not None:
        fresh, chance, _, _ = _random_bits(rng, stop - start)
        bits = with_repeats(fresh, chance, rank, topic, day.week)
        columns.text[here], names_place = world.texts.draw(bits, topic, day.ranked)
        columns.name[here] = np.where(names_place, _regions_named(world, place, bits) + 1, 0)
        columns.form[here] = forms(chance)


def _plant(world: World, columns: Columns) -> None:
    """Replace a few events of the first topic by personal searches, in a log of texts."""
    if world.texts is None or world.planted is None or columns.text is None or columns.name is None:
        return
    events = replaced_events(columns.topic, world.planted)
    here = slice(0, events.size)
    columns.user[events] = _user_ids(world.planted.user[here], world.users)
    columns.region[events] = world.planted.place[here]
    columns.text[events] = world.texts.personal + 1 + world.planted.text[here]
    columns.name[events] = 0


def _random_bits(rng: np.random.Generator, count: int) -> Bits:
    """Draw four random 32-bit numbers for each event."""
    return rng.integers(0, 2**64, 2 * count, dtype=np.uint64).view(np.uint32).reshape(4, count)


def _user_ids(rank: Indices, users: int) -> Indices:
    """Number the users so that an id does not reveal how much its user searches."""
    mask = (1 << (users - 1).bit_length()) - 1
    return np.asarray((rank.astype(np.uint32) * np.uint32(_SCRAMBLE)) & np.uint32(mask)).astype(np.int32)


def _times(day: _SharedByDay, when: Bits, start: int, count: int) -> npt.NDArray[np.int64]:
    """Spread the events over the day in order of time, with random gaps, denser in busy hours."""
    share = (np.arange(start, start + len(when)) + when * _UNIT) / count
    times = np.interp(share, day.clock, day.instants).astype(np.int64)
    return np.minimum(times, int(day.instants[-1]) - 1)  # rounding must not reach the next day


def _topics(bounds: npt.NDArray[np.uint32], what: Bits, place: Indices) -> npt.NDArray[np.uint8]:
    """Give each event a topic or none. Most have none and need only one comparison."""
    topics = np.zeros(len(what), dtype=np.uint8)
    with_topic = np.flatnonzero(what < bounds[-1].take(place))
    chosen, at = what[with_topic], place[with_topic]
    topics[with_topic] = 1 + sum((chosen >= bound[at]).astype(np.uint8) for bound in bounds[:-1])
    return topics


def _known_regions(world: World, place: Indices, bits: npt.NDArray[np.uint16]) -> Indices:
    """Return the finest known region of each event: the place itself or, for a few, a region above it."""
    tree, region, upper = world.people.tree, place.copy(), 0.0
    for steps, share in COARSE_SHARE.items():
        lower, upper = upper, upper + share
        coarse = np.flatnonzero((bits >= round(lower * 2**16)) & (bits < round(upper * 2**16)))
        above = tree.ancestor(place[coarse], steps)
        region[coarse] = np.where(above > 0, above, place[coarse])  # the country alone would count nowhere
    return region


def _regions_named(world: World, place: Indices, bits: Bits) -> Indices:
    """Choose which region a local query names: the place or its parent, equally often."""
    return np.where(bits & 1, place, world.people.tree.ancestor(place, 1)).astype(np.int32)
