"""Drawing one day of a simulated log, column by column: who searches, when, from where, about what.

Each column is drawn for many events at once. Of every random 64-bit number each bit is used, because random numbers
and memory are what a day costs here.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from search_insights.simulation.interest import Interest, take_interest
from search_insights.simulation.population import AWAY, Floats, Indices, People, generator, plant, rank_of, settle
from search_insights.simulation.queries import QueryTexts, query_texts
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import WEEKDAYS
from search_insights.spec.weeks import Week

# Share of the events that are known to a coarser region only, by how many levels above the place it lies.
COARSE = {1: 0.03, 2: 0.01}

# How much is searched by hour of the day and by day of the week, Monday first; only the proportions matter.
HOURS = (30, 20, 14, 11, 11, 15, 25, 40, 55, 64, 69, 71, 72, 72, 72, 72, 72, 72, 73, 76, 78, 75, 64, 45)
DAYS = (1.04, 1.04, 1.03, 1.01, 0.96, 0.94, 0.98)

_BIN = timedelta(minutes=15)  # all changes of clocks are multiples of it
_CHUNK = 1 << 16  # events drawn at once: what fits into a core's cache
_SCRAMBLE = 0x9E3779B1  # odd, so that multiplying by it, modulo a power of 2, keeps users apart
_UNIT = 2.0**-32

Bits = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class World:
    """Everything that is drawn once for a whole log."""

    coverage: Coverage
    seed: int
    events_per_week: int
    people: People
    interest: Interest
    texts: QueryTexts | None

    @property
    def users(self) -> int:
        """The number of people who search."""
        return len(self.people.places)


@dataclass(frozen=True)
class Columns:
    """The events of a day in the order of time. `topic` is 0 for none, else its place in the spec's topics from 1;
    `text` and `name` number the query's text and the region whose name it holds, from 1."""

    user: Indices
    time: npt.NDArray[np.int64]
    region: Indices
    topic: npt.NDArray[np.uint8]
    text: Indices | None
    name: Indices | None


@dataclass(frozen=True)
class _Day:
    """What all events of a day share: the places of its people, the clock, and the bounds between topics."""

    places: Indices
    clock: Floats
    instants: Floats
    bounds: npt.NDArray[np.uint32]


def make_world(
    coverage: Coverage, seed: int, events_per_week: int, users: int, peak_share: float, queries: bool
) -> World:
    """Settle the people and draw what they are interested in."""
    tree = plant(coverage.geography)
    people = settle(tree, users, seed)
    interest = take_interest(coverage.spec, coverage.geography, tree, people.search_weights(), peak_share, seed)
    texts = query_texts(coverage.spec, seed) if queries else None
    return World(coverage, seed, events_per_week, people, interest, texts)


def events_on(world: World, week: Week, day: date) -> int:
    """Give the number of events of a day; those of a week add up to exactly what was asked for."""
    place = (day - week.first_day).days
    first = WEEKDAYS.index(world.coverage.spec.first_day_of_week)
    until = np.cumsum([0.0, *(DAYS[(first + i) % 7] for i in range(7))])
    bounds = np.rint(until / until[-1] * world.events_per_week).astype(np.int64)
    return int(bounds[place + 1] - bounds[place])


def day_columns(world: World, week: Week, day: date) -> Columns:
    """Draw all events of a day. It depends on the world and the date only."""
    rng = generator(world.seed, "day", day)
    clock, instants = _clock(week, day)
    shared = _Day(world.people.places_on(rng).ravel(), clock, instants, _bounds(world.interest.shares(week.first_day)))
    count = events_on(world, week, day) if len(clock) > 1 else 0  # some zones have skipped a whole day
    columns = _empty(count, queries=world.texts is not None)
    for start in range(0, count, _CHUNK):
        _draw(world, shared, rng, columns, start, min(start + _CHUNK, count))
    return columns


def _empty(count: int, *, queries: bool) -> Columns:
    return Columns(
        user=np.empty(count, dtype=np.int32),
        time=np.empty(count, dtype=np.int64),
        region=np.empty(count, dtype=np.int32),
        topic=np.zeros(count, dtype=np.uint8),
        text=np.zeros(count, dtype=np.int32) if queries else None,
        name=np.zeros(count, dtype=np.int32) if queries else None,
    )


def _clock(week: Week, day: date) -> tuple[Floats, Floats]:
    """Give instants (microseconds since 1970) and the share of the day's searches made before each.

    The day may have 23 or 25 hours; people go by the hour that the clock shows.
    """
    begin, end = week.day_bounds(day)
    zone = ZoneInfo(week.time_zone)
    bins = [begin + i * _BIN for i in range((end - begin) // _BIN)]
    busy = np.array([HOURS[instant.astimezone(zone).hour] for instant in bins], dtype=np.float64)
    before = np.concatenate([[0.0], np.cumsum(busy)])
    instants = np.array([(i - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1) for i in [*bins, end]])
    return before / before[-1] if bins else before, instants.astype(np.float64)


def _bounds(shares: Floats) -> npt.NDArray[np.uint32]:
    """Turn the shares of the topics into bounds that a random 32-bit number is compared with, topic by topic."""
    return np.asarray(np.cumsum(shares, axis=0) * 2.0**32).astype(np.uint32)


def _draw(world: World, day: _Day, rng: np.random.Generator, columns: Columns, start: int, stop: int) -> None:
    """Draw the events from `start` to `stop` into the columns."""
    who, where, what, when = _bits(rng, stop - start)
    rank = rank_of(who * _UNIT, world.users).astype(np.int32)
    small = where.view(np.uint16)  # two random numbers of 16 bits: whether away, and how well the place is known
    place = day.places.take(rank * 2 + (small[::2] < round(AWAY * 2**16)))
    here = slice(start, stop)
    columns.user[here] = _user_ids(rank, world.users)
    columns.time[here] = _times(day, when, start, len(columns.time))
    columns.topic[here] = topic = _topics(day.bounds, what, place)
    columns.region[here] = _known(world, place, small[1::2])
    if world.texts is not None and columns.text is not None and columns.name is not None:
        which, own = world.texts.draw(_bits(rng, stop - start), topic)
        columns.text[here] = which
        columns.name[here] = np.where(own, _named(world, place, when) + 1, 0)


def _bits(rng: np.random.Generator, count: int) -> Bits:
    """Draw four random 32-bit numbers for each event."""
    return rng.integers(0, 2**64, 2 * count, dtype=np.uint64).view(np.uint32).reshape(4, count)


def _user_ids(rank: Indices, users: int) -> Indices:
    """Number users so that a number does not tell how much its user searches."""
    mask = (1 << (users - 1).bit_length()) - 1
    return np.asarray((rank.astype(np.uint32) * np.uint32(_SCRAMBLE)) & np.uint32(mask)).astype(np.int32)


def _times(day: _Day, when: Bits, start: int, count: int) -> npt.NDArray[np.int64]:
    """Spread the events over the day, each a random bit after the one before, denser in the busy hours."""
    share = (np.arange(start, start + len(when)) + when * _UNIT) / count
    times = np.interp(share, day.clock, day.instants).astype(np.int64)
    return np.minimum(times, int(day.instants[-1]) - 1)  # rounding must not reach the next day


def _topics(bounds: npt.NDArray[np.uint32], what: Bits, place: Indices) -> npt.NDArray[np.uint8]:
    """Give each event a topic or none; most have none and are done after one comparison."""
    topics = np.zeros(len(what), dtype=np.uint8)
    some = np.flatnonzero(what < bounds[-1].take(place))
    chosen, at = what[some], place[some]
    topics[some] = 1 + sum((chosen >= bound[at]).astype(np.uint8) for bound in bounds[:-1])
    return topics


def _known(world: World, place: Indices, how_well: npt.NDArray[np.uint16]) -> Indices:
    """Give the finest region that is known of each event: the place itself, or for a few a region above it."""
    tree, region, upto = world.people.tree, place.copy(), 0.0
    for steps, share in COARSE.items():
        begin, upto = upto, upto + share
        few = np.flatnonzero((how_well >= round(begin * 2**16)) & (how_well < round(upto * 2**16)))
        above = tree.ancestor(place[few], steps)
        region[few] = np.where(above > 0, above, place[few])  # the country alone would count nowhere
    return region


def _named(world: World, place: Indices, coin: Bits) -> Indices:
    """Choose whose name a local query holds: the place's or, as often, that of the region around it."""
    return np.where(coin & 1, place, world.people.tree.ancestor(place, 1)).astype(np.int32)
