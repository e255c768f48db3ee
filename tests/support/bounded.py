"""Bounding of a few events with the engines that the program uses."""

import atexit
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_insights.private.counting import add_contributions
from search_insights.private.duckdb_engine import DuckDbEngine
from search_insights.private.duckdb_engine import register_names as register_names_in_duckdb
from search_insights.private.duckdb_log import SearchLog
from search_insights.private.engine import Contributions, Engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import CLASS_BITS, RegionNames, region_names
from search_insights.private.spark.engine import SparkEngine
from search_insights.private.spark.engine import register_names as register_names_in_spark
from search_insights.private.spark.log import SparkLog
from search_insights.private.times import TimeReading
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Tests with this mark run on Spark every time; the others that have an engine only by `make thorough`.
on_every_engine = pytest.mark.parametrize("engine_session", ["duckdb", "spark"], indirect=True)

DAY = date(2021, 3, 9)
INSTANTS = TimeReading("UTC", "instant")
NOON = datetime(2021, 3, 9, 20, tzinfo=UTC)
SPAN = (NOON - timedelta(hours=12), NOON + timedelta(hours=12))


@dataclass(frozen=True)
class Event:
    """One search: the user, seconds after noon, the region, and the category (None: no topic).

    In a log with columns of levels, the region is a name or None for each column.
    """

    user: int
    second: int
    region: str | tuple[str | None, ...]
    category: str | None = None


@dataclass(frozen=True)
class Kept:
    """One contribution: the regions in which a user's search of a category counts."""

    user: int
    category: int
    open_region: int
    classed_region: int | None
    finest_region: int | None


def arrow_table(events: Sequence[Event], source: LogSource) -> pyarrow.Table:
    """Return events as a table."""
    times = [NOON + timedelta(seconds=e.second) for e in events]
    regions = [e.region if isinstance(e.region, tuple) else (e.region,) for e in events]
    return pyarrow.table(
        {
            "user_id": pyarrow.array([e.user for e in events], pyarrow.int64()),
            "timestamp": pyarrow.array(times, pyarrow.timestamp("us", "UTC")),
            **{
                column: pyarrow.array([named[i] for named in regions], pyarrow.string())
                for i, column in enumerate(source.places.values())
            },
            "category": pyarrow.array([e.category for e in events], pyarrow.string()),
        }
    )


class LogTable(Protocol):
    """An engine whose log is a table that tests can fill."""

    @property
    def engine(self) -> Engine:
        """The engine."""

    def fill(self, events: Sequence[Event], times: int) -> None:
        """Replace the rows of the log by these events, each repeated so many times."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query on the engine, which only tests may do."""


@dataclass(frozen=True)
class DuckDbTable:
    """A log in DuckDB."""

    engine: DuckDbEngine

    def fill(self, events: Sequence[Event], times: int) -> None:
        """Replace the rows."""
        connection = self.engine.connection
        connection.execute("DELETE FROM log")
        connection.register("given", arrow_table(events, self.engine.log.source))
        connection.execute("INSERT INTO log SELECT * FROM given")
        connection.execute(f"INSERT INTO log SELECT log.* FROM log, range({times - 1})")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self.engine.connection.execute(sql).fetchall()


@dataclass(frozen=True)
class SparkTable:
    """A log in Spark."""

    engine: SparkEngine

    def fill(self, events: Sequence[Event], times: int) -> None:
        """Replace the view, in two partitions, so that a user's events are in both."""
        session = self.engine.session
        frame = session.createDataFrame(arrow_table(events, self.engine.log.source))
        if times > 1:
            frame = session.range(0, times, 1, 2).select().crossJoin(frame)
        frame.createOrReplaceTempView("log")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        return [tuple(row) for row in self.engine.session.sql(sql).collect()]


@dataclass(frozen=True)
class Bench:
    """A release, and an engine with a log that tests can fill."""

    table: LogTable
    cells: CellList
    names: RegionNames

    def bound(self, events: Sequence[Event], times: int = 1, day: date = DAY) -> Contributions:
        """Return the contributions of a day with these events."""
        self.table.fill(events, times)
        return self.table.engine.bound(day, *SPAN)

    def count(self, events: Sequence[Event], times: int = 1) -> Counts:
        """Return the exact counts of all cells for a day with these events."""
        counts = self.cells.zeros()
        add_contributions(counts, self.cells, self.names, self.bound(events, times))
        return counts

    def kept(self) -> list[Kept]:
        """Return the contributions of the last count one by one."""
        places = [
            f"({which}_draw >> {CLASS_BITS}) & {self.names.columns[0].mask}" for which in ("open", "classed", "finest")
        ]
        rows = self.table.rows(f"SELECT user_id, category, {', '.join(places)} FROM contributions")
        return [Kept(*row) for row in rows]

    def cell_counts(self, counts: Counts) -> dict[tuple[str, str], int]:
        """Return the counts that are not 0 by (place_id, category)."""
        cells = self.cells.cells
        return {(cells[i].region.place_id, cells[i].category): int(counts[i]) for i in np.flatnonzero(counts)}


@contextmanager
def bench(coverage: Coverage, session: "SparkSession | None" = None, levels: Sequence[str] = ()) -> Iterator[Bench]:
    """Open an engine on an empty log: Spark's if there is a session, otherwise DuckDB's.

    The log has a column for each of these levels, or one column for regions if there are none.
    """
    source = LogSource(("the table",), {level: level for level in levels})
    names, cells = region_names(coverage, source), CellList(coverage)
    if session is not None:
        session.createDataFrame(arrow_table([], source)).createOrReplaceTempView("log")
        register_names_in_spark(session, names)
        spark_log = SparkLog(source, (), {}, INSTANTS, queries=False)
        yield Bench(SparkTable(SparkEngine(session, spark_log, coverage.spec, names, model=None)), cells, names)
        return
    with _database() as connection:
        regions = ", ".join(f"{column} TEXT" for column in source.places.values())
        connection.execute(f"CREATE TABLE log (user_id BIGINT, timestamp TIMESTAMPTZ, {regions}, category TEXT)")
        register_names_in_duckdb(connection, names)
        log = SearchLog(source, (), (), INSTANTS, "BIGINT", queries=False)
        yield Bench(DuckDbTable(DuckDbEngine(connection, log, coverage.spec, names, model=None)), cells, names)


_numbers = itertools.count()


@contextmanager
def _database() -> "Iterator[duckdb.DuckDBPyConnection]":
    """Give an empty database. All share one instance: a new one takes time to open, for each of many examples."""
    name = f"bench_{next(_numbers)}"
    with _instance().cursor() as connection:
        connection.execute(f"ATTACH ':memory:' AS {name}")
        connection.execute(f"USE {name}")
        try:
            yield connection
        finally:
            connection.execute("USE memory")
            connection.execute(f"DETACH {name}")


@cache
def _instance() -> "duckdb.DuckDBPyConnection":  # quoted: a cached function that holds DuckDB's class outlives it
    atexit.register(_instance.cache_clear)  # while Python still runs: DuckDB complains about what is left
    return duckdb.connect()


def for_all(session: "SparkSession | None", examples: int, rule: Callable[[st.DataObject], None]) -> None:
    """Test a rule on many examples, or on a few on Spark, where each takes seconds."""
    tried = settings(max_examples=examples if session is None else 2, suppress_health_check=[HealthCheck.too_slow])
    tried(given(data=st.data())(lambda data: rule(data)))()
