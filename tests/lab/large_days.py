"""Large days: one user or place with very many searches, or very many users, counted in a measured process."""

import json
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.support.sql import connect, literal
from tests.lab.fork_server import start_forked

WEEK = Week(date(2021, 3, 1), "America/Los_Angeles")
REGIONS = 5_000


@dataclass(frozen=True)
class LargeDay:
    """A day: who searches where, as SQL in `i`, and how many user-days each level must count for any search."""

    name: str
    user: str
    region: str
    counted: float  # as a share of the events; 0 for one user-day
    about: str = "CASE WHEN i % 10 = 0 THEN 'A1' END AS category"


LARGE_DAYS = (
    LargeDay("one user with all events", "42", "'94103'", 0),
    LargeDay("as many users as events", "i", "'94103'", 1),
    LargeDay("one user in 5,000 regions", "42", f"codes[1 + i % {REGIONS}]", 0),
    LargeDay("ten events a user in one ZIP", "i // 10", "'94103'", 0.1),
)

# As a file some hundred kB, because what repeats is packed; as texts 2 GB for a hundred thousand events.
LONG_TEXTS = LargeDay(
    "long texts, each with a topic", "i", "'94103'", 1, "'covid vaccine near me ' || i || repeat(' ', 20000) AS query"
)


@dataclass(frozen=True)
class Measured:
    """Time and memory that counting a day took, and the counts of each level: any search, and A1."""

    events: int
    seconds: float
    megabytes: int
    any_search: dict[str, int]
    topic: dict[str, int]

    def expected(self, large_day: LargeDay) -> int:
        """Return the number of user-days."""
        return max(1, round(large_day.counted * self.events))


def write_day(folder: Path, large_day: LargeDay, events: int) -> Path:
    """Write the log of one day; the other six days of the week have no events."""
    path = folder / "day.parquet"
    codes = [r.place_id for r in load_geography().regions if r.level == "postal_code"][:REGIONS]
    listed = ", ".join(literal(code) for code in codes)
    with connect() as connection:
        connection.execute("SET memory_limit = '3GB'; SET preserve_insertion_order = false")
        connection.execute(f"""
            COPY (SELECT {large_day.user} AS user_id, {large_day.region} AS region,
                         TIMESTAMPTZ '2021-03-01 12:00:00+00' + to_seconds(i % 40000) AS timestamp,
                         {large_day.about}
                  FROM range({events}) AS r(i), (SELECT [{listed}] AS codes))
            TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)""")
    return path


def measure(large_day: LargeDay, events: int, memory: str) -> Measured:
    """Write the log and count it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_day(Path(folder), large_day, events)
        answer = Path(folder) / "answer.json"
        process = start_forked(_count, path, memory, answer)
        process.join()
        if process.exitcode:
            raise AssertionError(f"{large_day.name}: exit code {process.exitcode}")
        return Measured(events, **json.loads(answer.read_text()))


def _count(path: Path, memory: str, answer: Path) -> None:
    coverage = Coverage(load_spec(), load_geography())
    cells, names, begin = CellList(coverage), region_names(coverage), time.monotonic()
    empty = frozenset(WEEK.first_day + timedelta(days=i) for i in range(1, 7))
    with open_duckdb_engine(LogSource((str(path),)), coverage.spec, names, memory) as engine:
        found = count_week(
            engine, cells, names, WEEK, (WEEK.begin, WEEK.end), Tolerance(missing_days=empty), lambda day: None
        )
    levels = np.array([cell.region.level for cell in cells.cells])
    categories = np.array([cell.category for cell in cells.cells])
    sums = [
        {level: int(found.counts[(levels == level) & (categories == category)].sum()) for level in set(levels)}
        for category in ("A0", "A1")
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1 << 20)
    values = {"seconds": time.monotonic() - begin, "megabytes": peak, "any_search": sums[0], "topic": sums[1]}
    answer.write_text(json.dumps(values))
