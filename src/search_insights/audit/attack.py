"""The attack of the audit: neighbouring logs that differ by one user-day, built to change as many counts as possible.

The user-day has thousands of searches in regions of every class, about every topic, repeated, at midnight and late in
the day. On the other days of the week the same user searches elsewhere, in both logs: if bounding reached past a day,
counts would change that the accounting does not cover.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from search_insights.dp.accounting import Case
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.spec.spec import WEEKDAYS, Spec
from search_insights.spec.weeks import Week, week_of
from search_insights.support.arrays import Counts
from search_insights.support.sql import connect, literal
from search_insights.support.working_folder import temporary_folder

ATTACKED_DAY = 1  # of the week, from 0
_EVENTS = 3_000  # of the attacking user-day
_MAX_TARGETS = 50  # roughly: the regions in which it searches about topics
_OTHER_USERS = 40  # who search on every day, in both logs
_LATEST = 23 * 3600 - 1  # the last second that every day has, even one of 23 hours


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a log: who, on which day of the week, at which second, where, about what."""

    user: int
    day: int
    second: int
    place: str
    category: str | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two log files of one week that differ by one user-day."""

    week: Week
    without: Path
    with_it: Path


def worst_user_day(coverage: Coverage, case: Case) -> list[Search]:
    """Return searches everywhere about anything, and about every topic in the regions of the case.

    The topics stay within one size class, so X4 removes none of them: that is the most a user-day can change.
    """
    spec = coverage.spec
    targets = _targets(coverage, case)
    rng = np.random.default_rng(0)  # a seed is fine here: it chooses the attacker's places, not noise
    places = [targets[i] for i in rng.integers(0, len(targets), _EVENTS // 2)]
    elsewhere = _random_places(coverage, rng, len(places)) if case.name in spec.class_names else places
    topics = [spec.topics[i] for i in rng.integers(0, len(spec.topics), len(places))]
    searches = [*zip(places, topics, strict=True), *((place, None) for place in elsewhere)]
    seconds = rng.choice([0, _LATEST, *rng.integers(0, _LATEST, 2)], len(searches))  # often midnight
    return [Search(0, ATTACKED_DAY, int(s), *search) for s, search in zip(seconds, searches, strict=True)]


def user_day_everywhere(coverage: Coverage, topics: Sequence[str | None]) -> list[Search]:
    """Return searches about these topics in regions of all classes."""
    rng = np.random.default_rng(2)
    return [
        Search(0, ATTACKED_DAY, 17 * i % _LATEST, place, topics[i % len(topics)])
        for i, place in enumerate(_random_places(coverage, rng, _EVENTS))
    ]


def target_of(coverage: Coverage, case: Case) -> Region | None:
    """Return a region that counts at every level of the case, or None."""
    return next(_target_regions(coverage, case), None)


def _targets(coverage: Coverage, case: Case) -> list[str]:
    """Return some of the regions that count at every level of the case, evenly spaced in the geography's order."""
    found = [region.place_id for region in _target_regions(coverage, case)]
    return found[:: max(1, len(found) // _MAX_TARGETS)]


def _target_regions(coverage: Coverage, case: Case) -> Iterator[Region]:
    """Yield the regions whose searches count, at each level, in a cell with the sigmas of the case; the last first."""
    spec, regions, cells = coverage.spec, coverage.geography.regions, CellList(coverage)
    everywhere = dict.fromkeys(spec.level_names, np.arange(len(regions)))
    first_cells = np.stack(list(cells.first_cells(everywhere).values()), axis=-1)
    wanted = {(s.level, s.size_class) for s in case.sigmas}
    for region, first in zip(reversed(regions), first_cells[::-1].tolist(), strict=True):
        counted = region.level in spec.level_names and coverage.standings[region.place_id].size_class
        of_case = (counted or None) == (case.name if case.name in spec.class_names else None)
        if of_case and {(cells.cells[n].region.level, cells.cells[n].size_class) for n in first if n >= 0} == wanted:
            yield region


def _random_places(coverage: Coverage, rng: np.random.Generator, n: int) -> list[str]:
    counted = [r.place_id for r in coverage.geography.regions if r.level in coverage.spec.level_names]
    return [counted[i] for i in rng.integers(0, len(counted), n)]


def _common_searches(coverage: Coverage) -> list[Search]:
    """Return what both logs hold: other users on every day, and the attacking user on the other days."""
    spec, rng = coverage.spec, np.random.default_rng(1)
    finest = [r.place_id for r in coverage.geography.regions if r.level == spec.level_names[-1]]
    others = [
        Search(user, day, user % 23 * 3600 + day, finest[(user * 97 + day) % len(finest)], None)
        for day in range(7)
        for user in range(1, _OTHER_USERS + 1)
    ]
    topics = (None, *spec.topics)
    elsewhere = [
        Search(0, day, 60 * i, place, topics[i % len(topics)])
        for day in range(7)
        if day != ATTACKED_DAY
        for i, place in enumerate(_random_places(coverage, rng, 20 * len(topics)))
    ]
    return others + elsewhere


@contextmanager
def neighbouring_logs(coverage: Coverage, attack: Sequence[Search]) -> Iterator[Neighbours]:
    """Write two logs that differ by the attack; remove them at the end."""
    week = past_week(coverage.spec)
    common = _common_searches(coverage)
    with temporary_folder("audit-") as folder:
        neighbours = Neighbours(week, folder / "without.parquet", folder / "with.parquet")
        _write_log(neighbours.without, week, common)
        _write_log(neighbours.with_it, week, [*common, *attack])
        yield neighbours


def past_week(spec: Spec) -> Week:
    """Return a week in the past, for any spec."""
    monday = date(2021, 3, 1)
    return week_of(spec, monday + timedelta(days=WEEKDAYS.index(spec.first_day_of_week)))


def _write_log(path: Path, week: Week, searches: Sequence[Search]) -> None:
    begins = [round(week.day_bounds(day)[0].timestamp()) for day in week.days]
    given = {
        "user_id": np.array([s.user for s in searches], dtype=np.int64),
        "micros": np.array([(begins[s.day] + s.second) * 1_000_000 for s in searches], dtype=np.int64),
        "region": np.array([s.place for s in searches], dtype=object),
        "category": np.array([s.category for s in searches], dtype=object),
    }
    with connect() as connection:
        connection.register("given", given)
        connection.execute(f"""
            COPY (SELECT user_id, make_timestamptz(micros) AS timestamp, region, category FROM given)
            TO {literal(str(path))} (FORMAT parquet)""")


def exact_counts(cells: CellList, log: Path, week: Week) -> Counts:
    """Count a log exactly, in the way the program counts any log before it adds noise."""
    coverage = cells.coverage
    names = region_names(coverage)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine:
        span = (week.begin, week.end)
        return count_week(engine, cells, names, week, span, Tolerance(), lambda day: None).counts
