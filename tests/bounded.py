"""Running the bounding on a handful of events, through the engine that the program uses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import duckdb
import numpy as np

from search_insights.cells import CellList
from search_insights.counting import add_contributions
from search_insights.coverage import Coverage
from search_insights.duckdb_engine import DuckDbEngine, register_names
from search_insights.log import LogSource, SearchLog
from search_insights.noise import Counts
from search_insights.region_names import NUMBER_BITS, RegionNames, region_names

DAY = date(2021, 3, 9)
NOON = datetime(2021, 3, 9, 20, tzinfo=UTC)
SPAN = (NOON - timedelta(hours=12), NOON + timedelta(hours=12))


@dataclass(frozen=True)
class Event:
    """One search: by whom, how many seconds after noon, where, and about what (None: nothing in particular)."""

    user: int
    second: int
    region: str
    category: str | None = None


@dataclass(frozen=True)
class Kept:
    """One contribution: the regions by which a user's search of a category is counted."""

    user: int
    category: int
    open_region: int
    classed_region: int | None


@dataclass(frozen=True)
class Bench:
    """An engine whose log is a table that tests fill."""

    engine: DuckDbEngine
    cells: CellList
    names: RegionNames

    def fill(self, events: Sequence[Event]) -> None:
        """Put these events, and no others, into the log."""
        connection = self.engine.connection
        connection.execute("DELETE FROM log")
        rows = [(e.user, NOON + timedelta(seconds=e.second), e.region, e.category) for e in events]
        if rows:
            connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)

    def count(self, events: Sequence[Event]) -> Counts:
        """Give the exact counts of all cells for a day of these events."""
        self.fill(events)
        counts = self.cells.zeros()
        found = self.engine.bound(DAY, *SPAN)
        add_contributions(counts, self.cells, self.names, found)
        return counts

    def kept(self) -> list[Kept]:
        """Look at the contributions of the last count one by one, as only a test may."""
        mask = (1 << NUMBER_BITS) - 1
        rows = self.engine.connection.execute(
            f"SELECT user_id, category, open_lot & {mask}, classed_lot & {mask} FROM contributions"
        ).fetchall()
        regions = self.names.region_of_number
        return [
            Kept(user, category, int(regions[open_]), None if classed is None else int(regions[classed]))
            for user, category, open_, classed in rows
        ]

    def cell_counts(self, counts: Counts) -> dict[tuple[str, str], int]:
        """Name the cells that are not 0 by (place_id, category)."""
        cells = self.cells.cells
        return {(cells[i].region.place_id, cells[i].category): int(counts[i]) for i in np.flatnonzero(counts)}


@contextmanager
def bench(coverage: Coverage) -> Iterator[Bench]:
    """Open an engine on an empty log."""
    names = region_names(coverage)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE log (user_id BIGINT, timestamp TIMESTAMPTZ, region TEXT, category TEXT)")
        register_names(connection, names)
        log = SearchLog(LogSource(()), (), "TIMESTAMP WITH TIME ZONE", "UTC")
        yield Bench(DuckDbEngine(connection, log, coverage.spec), CellList(coverage), names)
