"""The attack of the audit: neighbouring logs that differ by one user-day which does the worst it can.

Thousands of searches in regions of every class, about every topic, repeated, at midnight and late in the day. On the
other days of the week the same user searches elsewhere, in both logs, so that a bounding which reaches past a day
would give the attacker more.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from search_insights.accounting import Case
from search_insights.cells import CellList
from search_insights.counting import Tolerance, count_week
from search_insights.coverage import Coverage
from search_insights.database import connect
from search_insights.duckdb_engine import open_duckdb_engine
from search_insights.errors import CheckFailed
from search_insights.geography import Region
from search_insights.log import LogSource
from search_insights.noise import Counts
from search_insights.quoting import literal
from search_insights.region_names import region_names
from search_insights.spec import WEEKDAYS, Spec
from search_insights.weeks import Week, week_of

_EVENTS = 3_000  # of the user-day that tries its worst
_OTHERS = 40  # users who search on every day, in both logs
_LATEST = 23 * 3600 - 1  # a second within every day, also one of 23 hours


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a log: by whom, on which day of the week, at which second, where, about what."""

    user: int
    day: int
    second: int
    place: str
    category: str | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two log files that differ by one user-day, and the week they are of."""

    week: Week
    without: Path
    with_it: Path


def worst_user_day(coverage: Coverage, case: Case) -> list[Search]:
    """Search everywhere about anything, and about every topic where the case's counts are."""
    spec = coverage.spec
    target = _target(coverage, case).place_id
    rng = np.random.default_rng(0)  # which places the attacker names is not random noise: any choice will do
    places = [target] * (_EVENTS // 2)
    topics: list[str | None] = [spec.topics[i % len(spec.topics)] for i in range(len(places))]
    if case.name in spec.class_names:
        places += _strewn(coverage, rng, _EVENTS - len(places))
    else:
        places += [target] * (_EVENTS - len(places))
    topics += [None] * (len(places) - len(topics))
    seconds = [(0, _LATEST, int(s))[i % 3] for i, s in enumerate(rng.integers(0, _LATEST, len(places)))]
    return [Search(0, 1, *search) for search in zip(seconds, places, topics, strict=True)]


def _target(coverage: Coverage, case: Case) -> Region:
    """Find a region that counts at every level of the case."""
    spec, geography = coverage.spec, coverage.geography
    wanted = {s.level for s in case.sigmas}
    for region in reversed(geography.regions):
        lineage = [r for r in geography.lineage(region) if r.level in spec.level_names]
        standings = {r.level: coverage.standings[r.place_id] for r in lineage}
        classed = [s.size_class for level, s in standings.items() if level in spec.classed_levels]
        if {level for level, s in standings.items() if s.reported} != wanted or len(lineage) < len(wanted):
            continue
        if all(c == case.name for c in classed) and bool(classed) == (case.name in spec.class_names):
            return region
    raise CheckFailed(
        f"{geography.source}: no region counts at the levels {', '.join(sorted(wanted))}; nothing to audit"
    )


def _strewn(coverage: Coverage, rng: np.random.Generator, n: int) -> list[str]:
    counted = [r.place_id for r in coverage.geography.regions if r.level in coverage.spec.level_names]
    return [counted[i] for i in rng.integers(0, len(counted), n)]


def _searches_of_both(coverage: Coverage) -> list[Search]:
    """Give what is in both logs: other users on every day, and the attacker on the days that are not attacked."""
    spec, rng = coverage.spec, np.random.default_rng(1)
    finest = [r.place_id for r in coverage.geography.regions if r.level == spec.level_names[-1]]
    others = [
        Search(user, day, user % 23 * 3600 + day, finest[(user * 97 + day) % len(finest)], None)
        for day in range(7)
        for user in range(1, _OTHERS + 1)
    ]
    topics = (None, *spec.topics)
    elsewhere = [
        Search(0, day, 60 * i, place, topics[i % len(topics)])
        for day in (0, 2, 3, 4, 5, 6)
        for i, place in enumerate(_strewn(coverage, rng, 2 * len(topics)))
    ]
    return others + elsewhere


@contextmanager
def neighbouring_logs(coverage: Coverage, attack: Sequence[Search]) -> Iterator[Neighbours]:
    """Write two logs that differ by the attack, and remove them at the end."""
    week = _past_week(coverage.spec)
    both = _searches_of_both(coverage)
    with tempfile.TemporaryDirectory(prefix="search-insights-audit-") as folder:
        neighbours = Neighbours(week, Path(folder) / "without.parquet", Path(folder) / "with.parquet")
        _write_log(neighbours.without, week, both)
        _write_log(neighbours.with_it, week, [*both, *attack])
        yield neighbours


def _past_week(spec: Spec) -> Week:
    """Give a week that is over, whenever and whatever the release is."""
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
    """Count a log exactly, as the program counts any log before it adds noise."""
    coverage = cells.coverage
    names = region_names(coverage)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine:
        span = (week.begin, week.end)
        return count_week(engine, cells, names, week, span, Tolerance(), lambda day: None).counts
