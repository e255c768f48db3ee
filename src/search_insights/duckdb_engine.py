"""The engine for one machine: DuckDB in memory, a day at a time.

What does not fit into memory goes to a folder that only this user can enter, and is removed at the end. It is not
encrypted there: DuckDB can do so only with an extension that is not part of it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.bounding import UNKNOWN_CATEGORY, bounding_sql, events_sql, sums_sql
from search_insights.classifier import PACKAGED_MODEL, Classifier, load_classifier_for
from search_insights.database import connect
from search_insights.engine import Contributions, LeftOut
from search_insights.errors import InputError, UsageError
from search_insights.log import LogSource, SearchLog, open_log, unreadable
from search_insights.quoting import literal
from search_insights.region_names import RegionNames
from search_insights.spec import Spec

if TYPE_CHECKING:
    import duckdb

DEFAULT_MEMORY = "2GB"

_TEXTS_AT_ONCE = 1 << 16  # of a day's distinct queries; no more of them are held outside the database


@contextmanager
def open_duckdb_engine(
    source: LogSource,
    spec: Spec,
    names: RegionNames,
    memory: str = DEFAULT_MEMORY,
    model: str | Path = PACKAGED_MODEL,
) -> Iterator["DuckDbEngine"]:
    """Open a log for counting; at the end, close the database and remove what it spilled.

    If the log has queries in place of categories, the model names them.
    """
    spill = tempfile.mkdtemp(prefix="search-insights-")  # made with mode 0700
    try:
        with _connect(spill, memory) as connection:
            log = open_log(connection, source, spec.time_zone)
            register_names(connection, names)
            yield DuckDbEngine(connection, log, spec, load_classifier_for(spec, model) if log.queries else None)
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _connect(spill: str, memory: str) -> "duckdb.DuckDBPyConnection":
    import duckdb

    try:
        return connect(
            temp_directory=spill,
            memory_limit=memory,
            # Two for each core: the day's users are then split finer, and each part fits the processor's cache.
            threads=2 * (os.cpu_count() or 1),
            preserve_insertion_order="false",
        )
    except duckdb.ParserException:
        raise UsageError(f"--memory {memory}: expected a size such as 500MB or 2GB") from None


def register_names(connection: "duckdb.DuckDBPyConnection", names: RegionNames) -> None:
    """Make the table that turns a region's name in the log into the fixed part of its lots."""
    given = {"name": np.array(names.names, dtype=object), "ticket": names.tickets}
    connection.register("names_given", given)
    connection.execute("CREATE TEMP TABLE names AS SELECT name, ticket FROM names_given")
    connection.unregister("names_given")


@dataclass(frozen=True)
class DuckDbEngine:
    """A log, open as the view `log` of a private database."""

    connection: "duckdb.DuckDBPyConnection"
    log: SearchLog
    spec: Spec
    model: Classifier | None = None

    name = "duckdb"

    @property
    def classifier(self) -> str:
        """The fingerprint of the model that names queries; empty if the log has categories."""
        return self.model.fingerprint if self.model else ""

    @property
    def naive_zone(self) -> str:
        """The zone that times without one are read in; empty if they carry their own."""
        return self.log.naive_zone

    def bound(self, day: date, begin: datetime, end: datetime) -> Contributions:
        """Bound the events of a day and add up the contributions."""
        of_day = self.log.between(begin, end)
        if self.model:
            self._name_queries(self.model, of_day)
        self._run(events_sql(self.spec, day, of_day, queries=self.model is not None))
        self._run(bounding_sql())
        sums = self._arrays(sums_sql())
        return Contributions(
            events=self._number("SELECT count(*) FROM events"),
            unknown_category=self._number(f"SELECT count(*) FROM events WHERE category = {UNKNOWN_CATEGORY}"),
            categories=sums["category"],
            open_regions=sums["open_region"],
            classed_regions=sums["classed_region"],
            user_days=sums["user_days"],
        )

    def _name_queries(self, model: Classifier, condition: str) -> None:
        """Classify each distinct text of a day once, a batch at a time, and keep those that have a topic.

        The model sees texts and nothing else: not whose they are, not how often they occur.
        """
        texts: list[str] = []
        numbers = [np.zeros(0, dtype=np.uint8)]
        with self._quietly():
            rows = self.connection.execute(f"SELECT DISTINCT query FROM log WHERE {condition} AND query IS NOT NULL")
            while batch := [text for (text,) in rows.fetchmany(_TEXTS_AT_ONCE)]:
                named = model.classify(batch)
                some = np.flatnonzero(named)
                texts.extend(batch[i] for i in some)
                numbers.append(named[some])
            given = {"query": np.array(texts, dtype=object), "category": np.concatenate(numbers)}
            self.connection.register("topics_given", given)
            columns = "CAST(query AS VARCHAR) AS query, category"
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE topics AS SELECT {columns} FROM topics_given")
            self.connection.unregister("topics_given")

    def left_out(self, begin: datetime, end: datetime, asked: tuple[datetime, datetime], used: int) -> LeftOut:
        """Look only as closely as needed: where all rows of all files were used, nothing was left out."""
        if used == self._number("SELECT count(*) FROM log"):
            return LeftOut(rows=used)
        of_week = self.log.between(begin, end)
        files = [file for (file,) in self._rows(f"SELECT DISTINCT file FROM log WHERE {of_week}")]
        if not files:
            no_time = self._number("SELECT count(*) FROM log WHERE timestamp IS NULL")
            return LeftOut(rows=no_time, outside=no_time)
        in_files = f"file IN ({', '.join(literal(file) for file in files)})"
        rows = self._number(f"SELECT count(*) FROM log WHERE {in_files} AND {of_week}")
        outside = self._number(f"SELECT count(*) FROM log WHERE {in_files}") - self._number(
            f"SELECT count(*) FROM log WHERE {in_files} AND {self.log.between(*asked)}"
        )
        no_user, no_region, unknown = self._reasons(of_week) if used < rows else (0, 0, 0)
        return LeftOut(rows + outside, no_user, no_region, unknown, outside)

    def _reasons(self, condition: str) -> tuple[int, int, int]:
        (row,) = self._rows(f"""
            SELECT count(*) FILTER (user_id IS NULL),
                   count(*) FILTER (user_id IS NOT NULL AND region IS NULL),
                   count(*) FILTER (user_id IS NOT NULL AND region IS NOT NULL AND name IS NULL)
            FROM log LEFT JOIN names ON names.name = log.region WHERE {condition}""")
        return row[0], row[1], row[2]

    def _run(self, sql: str) -> None:
        """Run statements over the log."""
        with self._quietly():
            self.connection.execute(sql)

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._quietly():
            return self.connection.execute(sql).fetchall()

    def _arrays(self, sql: str) -> dict[str, Any]:
        with self._quietly():
            return self.connection.execute(sql).fetchnumpy()

    def _number(self, sql: str) -> int:
        return int(self._rows(sql)[0][0])

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Keep DuckDB's errors here, because they quote values of the log; say what is wrong in other words."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise InputError("a day's work does not fit into memory and the temporary folder; raise --memory") from None
        except duckdb.Error:
            raise unreadable(self.connection, self.log.source) from None
        except RuntimeError:  # so DuckDB says that the operator has interrupted it
            raise KeyboardInterrupt from None
