"""Simulating a search log: people of the real geography, searching by day and week about anything and the topics.

One Parquet file a day. A day depends on the seed, the options and its date only, never on the days before it or on
which thread made it, so the same seed gives the same log and a day can be made alone. Numbers are drawn in columns
with NumPy; DuckDB turns them into text and writes the file.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from search_insights.coverage import Coverage
from search_insights.errors import InputError
from search_insights.log import literal
from search_insights.simulate_day import Columns, World, day_columns, events_on, make_world
from search_insights.weeks import Week, week_of, weeks_between

if TYPE_CHECKING:
    import duckdb

PEAK_SHARE = 0.10
EVENTS_PER_USER = 4  # a week, on average: of those who search on a day, most do so once or twice
PRIVATE = "private: exact shares of a simulated log, for evaluation only; never publish it"

_SEED_LIMIT = 2**63
_USER_LIMIT = 2**31
_MOST_WORKERS = 4  # each holds a day in memory
_QUIET_SECONDS = 2.0
_PART = ".part"
# V2 packs numbers into as few bits as they need: smaller files, and faster to write and to read.
_PARQUET = "FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2, ROW_GROUP_SIZE 245760"


@dataclass(frozen=True)
class Simulation:
    """All that decides what a day of the log holds."""

    coverage: Coverage
    seed: int
    events_per_week: int
    users: int
    peak_share: float
    queries: bool

    def __post_init__(self) -> None:
        for name, value, limit in (
            ("events-per-week", self.events_per_week, _SEED_LIMIT),
            ("users", self.users, _USER_LIMIT),
        ):
            if not 0 < value < limit:
                raise InputError(f"--{name} {value}: expected a whole number from 1 up")
        if not 0 <= self.seed < _SEED_LIMIT:
            raise InputError(f"--seed {self.seed}: expected a whole number from 0 up")
        if not 0 < self.peak_share <= 0.5:
            raise InputError(f"--peak-share {self.peak_share}: expected a number above 0 and up to 0.5")

    @property
    def identity(self) -> dict[str, Any]:
        """What every file of the log carries, so that two simulations never mix in one folder."""
        return {
            "seed": self.seed,
            "spec": self.coverage.spec.fingerprint,
            "geography": self.coverage.geography.fingerprint,
            "events_per_week": self.events_per_week,
            "users": self.users,
            "peak_share": self.peak_share,
            "queries": self.queries,
        }


@dataclass(frozen=True, slots=True)
class SimulatedLog:
    """What was written."""

    folder: Path
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
    truth: Path | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> SimulatedLog:
    """Write a log of some weeks into the folder `out`, one file a day, and the expected shares into `truth`."""
    users = max(1, events_per_week // EVENTS_PER_USER) if users is None else users
    simulation = Simulation(coverage, seed, events_per_week, users, peak_share, queries)
    chosen = _weeks(coverage, first_week, weeks)
    _check_truth(truth, out)
    claim_folder(out, simulation)
    world = make_world(coverage, seed, events_per_week, users, peak_share, queries)
    days = [(week, day) for week in chosen for day in week.days]
    with _connect(world) as connection:
        sizes = _write_all(connection, simulation, world, days, out, progress)
        if truth is not None:
            write_truth(connection, world, chosen, truth)
    events = sum(events_on(world, week, day) for week, day in days)
    return SimulatedLog(out, len(days), events, sum(sizes), truth)


def _weeks(coverage: Coverage, first_week: date, weeks: int) -> tuple[Week, ...]:
    first = week_of(coverage.spec, first_week, "--from")
    try:
        last = first.first_day + timedelta(weeks=weeks - 1)
        _ = last + timedelta(weeks=1)  # the last day ends where the next one begins
    except OverflowError:
        raise InputError(f"--weeks {weeks}: the calendar ends before that") from None
    if weeks < 1:
        raise InputError(f"--weeks {weeks}: expected a whole number from 1 up")
    return tuple(weeks_between(coverage.spec, first.first_day, last))


def _check_truth(truth: Path | None, out: Path) -> None:
    """Refuse a name that would not be Parquet, or that would make the truth a part of the log."""
    if truth is None:
        return
    if truth.suffix != ".parquet":
        raise InputError(f"{truth}: the truth is written as Parquet; give a name that ends in .parquet")
    if out.resolve() in truth.resolve().parents:
        raise InputError(f"{truth}: the truth is no part of the log; give a file outside {out}")
    if not truth.parent.is_dir():
        raise InputError(f"{truth}: no folder {truth.parent}; make it first")


def claim_folder(out: Path, simulation: Simulation) -> None:
    """Make the log's folder; refuse one that holds anything but days of the same simulation."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made a folder ({error.strerror})") from None
    for path in sorted(out.iterdir()):
        if path.name.startswith(".") and path.name.endswith(_PART):
            continue  # left by a run that was interrupted
        found = _identity_of(path)
        if found is None:
            raise InputError(f"{out}: holds {path.name}, which is not of a simulation; give an empty folder")
        other = [name for name, value in simulation.identity.items() if found.get(name) != value]
        if other:
            raise InputError(f"{out}: holds another simulation ({', '.join(other)} differ); give an empty folder")


def _identity_of(path: Path) -> dict[str, Any] | None:
    """Read what a file of a simulated log carries; nothing if it is no such file."""
    import duckdb

    query = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'simulation'"
    try:
        with duckdb.connect() as connection:
            rows = connection.execute(query, [str(path)]).fetchall()
    except duckdb.Error:
        return None
    return dict(json.loads(rows[0][0])) if rows else None


def _connect(world: World) -> "duckdb.DuckDBPyConnection":
    """Open a database that knows the texts. One thread a query: the days themselves run side by side."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    _list_table(connection, "names", written=written_names(world.coverage), spoken=_spoken_names(world.coverage))
    if world.texts is not None:
        before, after = world.texts.halves()
        _list_table(connection, "texts", before=before, after=after)
    return connection


def _list_table(connection: "duckdb.DuckDBPyConnection", name: str, **lists: list[str]) -> None:
    """Make a table of one row with a list in each column, from which events take their texts by number."""
    columns: dict[str, Any] = {key: np.array(values, dtype=object) for key, values in lists.items()}
    connection.register("given", {"i": np.arange(len(next(iter(lists.values())))), **columns})
    chosen = ", ".join(f"list({key} ORDER BY i) AS {key}" for key in lists)
    connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM given")
    connection.unregister("given")


def written_names(coverage: Coverage) -> list[str]:
    """Name each region as a log does: by its code, or by its place_id at levels that share codes with another.

    Codes of the finest level are always bare: a reader takes a code that means two places for the finer one.
    """
    regions, finest = coverage.geography.regions, coverage.geography.levels[-1]
    levels: dict[str, set[str]] = {}
    for region in regions:
        levels.setdefault(region.code, set()).add(region.level)
    shared = {level for found in levels.values() if len(found) > 1 for level in found} - {finest}
    return [region.place_id if region.level in shared else region.code for region in regions]


def _spoken_names(coverage: Coverage) -> list[str]:
    return [region.name.lower() for region in coverage.geography.regions]


def _write_all(
    connection: "duckdb.DuckDBPyConnection",
    simulation: Simulation,
    world: World,
    days: list[tuple[Week, date]],
    out: Path,
    progress: Callable[[str], None],
) -> list[int]:
    """Write the days side by side; gives the size of each file."""
    pool = ThreadPoolExecutor(min(_MOST_WORKERS, os.cpu_count() or 1))
    try:
        sizes = pool.map(lambda day: _write_day(connection, simulation, world, *day, out), days)
        return list(_watched(sizes, world, days, progress))
    finally:
        pool.shutdown(cancel_futures=True)


def _watched(
    sizes: Iterable[int], world: World, days: list[tuple[Week, date]], progress: Callable[[str], None]
) -> Iterator[int]:
    """Tell how far the work is: at most once a week of the log, and every two seconds."""
    total, done, began = len(days) * world.events_per_week // 7, 0, monotonic()
    told = began
    for (week, day), size in zip(days, sizes, strict=True):
        done += events_on(world, week, day)
        now = monotonic()
        if day == week.days[-1] and now - told > _QUIET_SECONDS:
            speed = done / (now - began) / 1e6
            progress(f"simulated the week of {week}: {done:,} of {total:,} events, {speed:.1f} million a second")
            told = now
        yield size


def _write_day(
    connection: "duckdb.DuckDBPyConnection", simulation: Simulation, world: World, week: Week, day: date, out: Path
) -> int:
    path = out / f"{day}.parquet"
    columns = day_columns(world, week, day)
    with connection.cursor() as cursor:
        cursor.register("events", _arrays(columns))
        _copy(cursor, _select(world), path, {"simulation": json.dumps(simulation.identity)})
        cursor.unregister("events")
    return path.stat().st_size


def _arrays(columns: Columns) -> dict[str, npt.NDArray[Any]]:
    arrays = {"person": columns.user, "instant": columns.time, "region": columns.region, "topic": columns.topic}
    return arrays | ({"phrase": columns.text, "name": columns.name} if len(columns.text) else {})


def _select(world: World) -> str:
    """Turn numbers into what a log holds. A list gives NULL at 0: no topic, no place in the text."""
    if world.texts is None:
        topics = ", ".join(f"'{topic}'" for topic in world.coverage.spec.topics)
        about, tables = f"[{topics}][topic] AS category", "events, names"
    else:
        about = "concat(before[phrase], spoken[name], after[phrase]) AS query"
        tables = "events, names, texts"
    return f"""
        SELECT CAST(person AS BIGINT) AS user_id, make_timestamptz(instant) AS timestamp,
               written[region + 1] AS region, {about}
        FROM {tables}"""


def _copy(connection: "duckdb.DuckDBPyConnection", query: str, path: Path, facts: dict[str, str]) -> None:
    """Write a query's rows as Parquet, whole or not at all."""
    import duckdb

    part = path.with_name(f".{path.name}{_PART}")
    carried = ", ".join(f"{key}: {literal(value)}" for key, value in facts.items())
    try:
        connection.execute(f"COPY ({query}) TO {literal(str(part))} ({_PARQUET}, KV_METADATA {{{carried}}})")
        part.replace(path)
    except (duckdb.IOException, OSError):
        raise InputError(f"{path}: cannot be written; is there space, and is the folder yours to write?") from None
    finally:
        part.unlink(missing_ok=True)


def write_truth(connection: "duckdb.DuckDBPyConnection", world: World, weeks: Iterable[Week], path: Path) -> None:
    """Write the share of each category expected in each reported region and week. It is private."""
    coverage, regions = world.coverage, world.coverage.geography.regions
    reported = np.array([i for i, r in enumerate(regions) if coverage.standings[r.place_id].reported])
    _list_table(connection, "places", place_id=[r.place_id for r in regions], level=[r.level for r in regions])
    shares = np.array([_all_categories(world.interest.expected(week.first_day))[:, reported] for week in weeks])
    week, category, place = (axis.ravel() for axis in np.indices(shares.shape, dtype=np.int32))
    table = {"week": week, "category": category, "region": reported[place], "ratio": shares.ravel()}
    connection.register("shares", table)
    days = ", ".join(f"DATE '{week}'" for week in weeks)
    ids = ", ".join(f"'{category.id}'" for category in coverage.spec.categories)
    query = f"""
        SELECT [{days}][week + 1] AS week, level[region + 1] AS level, place_id[region + 1] AS place_id,
               [{ids}][category + 1] AS category, CASE WHEN NOT isnan(ratio) THEN ratio END AS expected_ratio
        FROM shares, places ORDER BY week, region, shares.category"""
    _copy(connection, query, path, {"notice": PRIVATE})


def _all_categories(topics: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Put the category of any search before the topics: its share is 1 wherever anyone searches."""
    return np.vstack([np.where(np.isnan(topics[:1]), np.nan, 1.0), topics])
