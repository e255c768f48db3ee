"""Simulate a search log: people of a real geography who search about the topics and anything else.

The log has one Parquet file a day. A day depends on the seed, the options and its date only, not on earlier days or on
the thread that made it, so the same seed gives the same log and any day can be made on its own. NumPy draws columns of
numbers; DuckDB turns them into text and writes the file.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from search_insights.errors import InputError
from search_insights.simulation.day import World, events_on, make_world
from search_insights.simulation.files import open_writer, prepare_folder, write_day, write_truth
from search_insights.simulation.places import require_usable
from search_insights.spec.coverage import Coverage
from search_insights.spec.straddling import Straddling
from search_insights.spec.weeks import Week, week_of, weeks_between
from search_insights.support.files import private_files

PEAK_SHARE = 0.10
EVENTS_PER_USER = 4  # a week, on average; most people who search on a day do so once or twice

_LIMIT = 2**63
_USER_LIMIT = 2**30  # ranks are drawn from 32 random bits
_MAX_WORKERS = 4  # each holds a day in memory
_PROGRESS_SECONDS = 2.0


@dataclass(frozen=True)
class Simulation:
    """The options that determine what a day of the log holds."""

    coverage: Coverage
    seed: int
    events_per_week: int
    users: int
    peak_share: float
    queries: bool
    straddling: Straddling | None = None

    def __post_init__(self) -> None:
        for name, value, limit in (
            ("events_per_week", self.events_per_week, _LIMIT),
            ("users", self.users, _USER_LIMIT),
        ):
            if not 0 < value < limit:
                raise InputError(f"`{name}` {value}: expected a whole number from 1 to {limit - 1}")
        if not 0 <= self.seed < _LIMIT:
            raise InputError(f"`seed` {self.seed}: expected a whole number from 0 up")
        if not 0 < self.peak_share <= 0.5:
            raise InputError(f"`peak_share` {self.peak_share}: expected a number above 0 and up to 0.5")
        if self.straddling is not None:
            require_usable(self.coverage, self.straddling)

    @property
    def identity(self) -> dict[str, Any]:
        """The options as every file of the log carries them."""
        return {
            "seed": self.seed,
            "spec": self.coverage.spec.fingerprint,
            "geography": self.coverage.geography.fingerprint,
            "events_per_week": self.events_per_week,
            "users": self.users,
            "peak_share": self.peak_share,
            "queries": self.queries,
        } | ({"straddling": self.straddling.fingerprint} if self.straddling else {})


@dataclass(frozen=True, slots=True)
class SimulatedLog:
    """The log that was written: its folder, weeks, size and truth."""

    folder: Path
    weeks: tuple[Week, ...]
    files: int
    events: int
    bytes: int
    truth: Path | None


def simulate(
    out: Path,
    coverage: Coverage,
    first_week: date,
    weeks: int,
    events_per_week: int,
    seed: int,
    *,
    users: int | None = None,
    peak_share: float = PEAK_SHARE,
    queries: bool = False,
    straddling: Straddling | None = None,
    truth: Path | None = None,
    named: Path | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> SimulatedLog:
    """Write a log of some weeks into the folder `out`, one file a day, and the expected shares into `truth`.

    With a straddling table, people live in one of the counties that a ZIP extends into, and the log has a column for
    each level beside `region`. The folder `named` gets the same events with the categories they were drawn from, in
    place of texts. Only the owner can enter the folder, if it is made here, and read what is written.
    """
    users = max(1, events_per_week // EVENTS_PER_USER) if users is None else users
    simulation = Simulation(coverage, seed, events_per_week, users, peak_share, queries, straddling)
    chosen = _weeks(coverage, first_week, weeks)
    _check_truth(truth, out)
    days = [(week, day) for week in chosen for day in week.days]
    with private_files():  # also while the world is made: the mask is the process's, and days are written in threads
        prepare_folder(out, simulation.identity)
        world = make_world(coverage, seed, events_per_week, users, peak_share, queries, straddling)
        with open_writer(world) as connection:
            write = partial(write_day, connection, world, out=out, identity=simulation.identity, named=named)
            sizes = list(_with_progress(_in_parallel(write, days), world, days, progress))
            if truth is not None:
                write_truth(connection, world, chosen, truth, simulation.identity)
    events = sum(events_on(world, week, day) for week, day in days)
    return SimulatedLog(out, chosen, len(days), events, sum(sizes), truth)


def _weeks(coverage: Coverage, first_week: date, weeks: int) -> tuple[Week, ...]:
    first = week_of(coverage.spec, first_week)
    try:
        last = first.first_day + timedelta(weeks=weeks - 1)
        _ = last + timedelta(weeks=1)  # the last day ends where the next one begins
    except OverflowError:
        raise InputError(f"`weeks` {weeks}: the calendar ends before that") from None
    if weeks < 1:
        raise InputError(f"`weeks` {weeks}: expected a whole number from 1 up")
    return tuple(weeks_between(coverage.spec, first.first_day, last))


def _check_truth(truth: Path | None, out: Path) -> None:
    """Refuse a path that is not Parquet, that is in the log's folder, or whose folder does not exist."""
    if truth is None:
        return
    if truth.suffix != ".parquet":
        raise InputError(f"{truth}: the truth is a Parquet file; give a name that ends in .parquet")
    if out.resolve() in truth.resolve().parents:
        raise InputError(f"{truth}: the truth must not be part of the log; give a file outside {out}")
    if not truth.parent.is_dir():
        raise InputError(f"{truth}: there is no folder {truth.parent}; create it first")


def _in_parallel(write: Callable[[Week, date], int], days: Sequence[tuple[Week, date]]) -> Iterator[int]:
    """Write days in parallel, each in its own thread, and yield the size of each file in order."""
    pool = ThreadPoolExecutor(min(_MAX_WORKERS, os.cpu_count() or 1))
    try:
        yield from pool.map(write, *zip(*days, strict=True))
    finally:
        pool.shutdown(cancel_futures=True)


def _with_progress(
    sizes: Iterable[int], world: World, days: list[tuple[Week, date]], progress: Callable[[str], None]
) -> Iterator[int]:
    """Report progress, at most once per week of the log and every two seconds."""
    total, done, began = len(days) * world.events_per_week // 7, 0, monotonic()
    reported = began
    for (week, day), size in zip(days, sizes, strict=True):
        done += events_on(world, week, day)
        now = monotonic()
        if day == week.days[-1] and now - reported > _PROGRESS_SECONDS:
            speed = done / (now - began) / 1e6
            progress(f"simulated the week of {week}: {done:,} of {total:,} events, {speed:.1f} million a second")
            reported = now
        yield size
