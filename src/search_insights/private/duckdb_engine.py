"""The engine for one machine: DuckDB in memory, one day at a time.

What does not fit into memory spills to a folder that only this user can enter, and that is removed at the end. It is
not encrypted there: DuckDB would need an extension for that, which does not come with it.
"""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.classifier.model import PACKAGED_MODEL, Classifier, load_classifier_for
from search_insights.classifier.topics import create_topics_table
from search_insights.classifier.vocabulary import Vocabulary
from search_insights.errors import InputError
from search_insights.private.bounding import (
    EVENTS_VIEW,
    bounding_statements,
    contributions_of,
    row_counts_query,
    rows_query,
    sums_query,
)
from search_insights.private.duckdb_log import SearchLog, open_log
from search_insights.private.duckdb_readers import unreadable
from search_insights.private.engine import Contributions, Unplaced, UnusedRows, combined
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.private.top_searches import day_statements, day_texts_query
from search_insights.private.unused_rows import find_unused_rows
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Numbers
from search_insights.support.sql import connect
from search_insights.support.working_folder import temporary_folder

if TYPE_CHECKING:
    import duckdb

DEFAULT_MEMORY = "2.5GB"
_SIZE = re.compile(r"[0-9]+([.][0-9]+)? ?([KMGT]i?)?B", re.IGNORECASE)

# What the program and its libraries take beside the database, which gets the rest; of very little, a quarter.
_RESERVE = 300_000_000

# The memory that bounding needs per event, for users that are numbers and for users that are text (measured with 2.4
# events per user and day; with more it is less). Reading the log again costs about an eighth of spilling it.
_BYTES_PER_EVENT = (50, 120)
_TEXT_TYPES = ("VARCHAR", "BLOB")
_MAX_PARTS = 6

# A log with fewer rows is counted by one thread: the database gives a thread about as many rows at once, so that others
# would only take time to start.
_ROWS_OF_A_THREAD = 100_000

# A view of bounding.sql that two others read. As a table it is worked out once.
_KEPT = ("TEMP VIEW topic_draws AS", "TEMP TABLE topic_draws AS")

# Texts are numbers of 32 bits here; as a pair of columns they would be compared several times slower.
_DRAW_AND_TEXT = "(CAST(draw AS HUGEINT) << 32) | text"


@contextmanager
def open_duckdb_engine(
    source: LogSource,
    spec: Spec,
    names: RegionNames,
    memory: str = DEFAULT_MEMORY,
    model: str | Path = PACKAGED_MODEL,
) -> Iterator["DuckDbEngine"]:
    """Open a log for counting; at the end, close the database and remove what it spilled.

    If the log has queries instead of categories, the model classifies them.
    """
    with (
        temporary_folder() as spill,
        _connect(str(spill), memory) as connection,
    ):
        log = open_log(connection, source, spec.time_zone)
        register_names(connection, names)
        engine = DuckDbEngine(connection, log, spec, names, load_classifier_for(spec, model) if log.queries else None)
        if engine.ask(log.rows_query)[0][0] < _ROWS_OF_A_THREAD:
            engine.run("SET threads = 1")
        yield engine


def _connect(spill: str, memory: str) -> "duckdb.DuckDBPyConnection":
    import duckdb

    if not _SIZE.fullmatch(memory):  # DuckDB would take -1 for no limit, and 100% for all there is
        raise InputError(f"`memory` {memory}: expected a size such as 500MB or 2GB")
    connection = connect(
        temp_directory=spill,
        # Two per core: the day's users are then split into smaller parts, which fit the processor's cache.
        threads=2 * (os.cpu_count() or 1),
        preserve_insertion_order="false",
    )
    try:
        ((size,),) = connection.execute("SELECT parse_formatted_bytes(?)", [memory]).fetchall()
        connection.execute(f"SET memory_limit = '{size - min(_RESERVE, size // 4)}B'")
    except duckdb.Error:
        connection.close()
        raise InputError(f"`memory` {memory}: expected a size such as 500MB or 2GB") from None
    return connection


def register_names(connection: "duckdb.DuckDBPyConnection", names: RegionNames) -> None:
    """Create a table for each column that names regions: its names, and the bits that they give to a draw."""
    for column in names.columns:
        given = {"name": np.array(column.names, dtype=object), "bits": column.bits}
        connection.register("names_given", given)
        connection.execute(f"CREATE TEMP TABLE {column.table} AS SELECT name, bits FROM names_given")
        connection.unregister("names_given")


def _random(key: int, mask: int) -> str:
    """Return the hash of an event. DuckDB only combines the hashes of columns; a second hash makes draws fair."""
    return f"CAST(hash(xor(hash(user_id, timestamp), {key}::UBIGINT)) & {mask}::UBIGINT AS BIGINT)"


@dataclass(frozen=True)
class DuckDbEngine:
    """A log that is open as the view `log` of a private database."""

    connection: "duckdb.DuckDBPyConnection"
    log: SearchLog
    spec: Spec
    names: RegionNames
    model: Classifier | None
    # The statements of the views that were created: they depend on the spec alone, and are the same on all days.
    made: set[str] = field(default_factory=set, init=False, repr=False)

    name = "duckdb"

    def bound(self, day: date, begin: datetime, end: datetime, vocabulary: Vocabulary | None = None) -> Contributions:
        """Bound the events of a day and add up the contributions; with a vocabulary, keep one text of each user-day.

        A day too large for memory is bounded in parts, each with all events of some users. Up to a number of parts,
        reading the log again for each is cheaper than letting the database spill.
        """
        of_day = self.log.between(begin, end)
        if self.model:
            self._classify_queries(self.model, of_day, vocabulary)
        texts = self.model is not None and vocabulary is not None
        parts = self._parts(begin, end)
        if parts == 1:
            return self._bound_users(day, of_day, texts)
        # Hashed twice: the database distributes users by their hash, and the users of a part should be spread evenly.
        users = [f"hash(hash(user_id)) % {parts} = {part}" for part in range(parts)]
        return combined([self._bound_users(day, f"{of_day} AND {condition}", texts) for condition in users])

    def _parts(self, begin: datetime, end: datetime) -> int:
        """Return in how many parts a day is bounded; its events are counted only if it may need more than one."""
        for query in (self.log.at_most_query(begin, end), self.log.count_query(begin, end)):
            needed = _BYTES_PER_EVENT[self.log.user_type in _TEXT_TYPES] * self._number(query)
            if needed <= self._memory:
                return 1
        return min(math.ceil(needed / self._memory), _MAX_PARTS)

    @cached_property
    def _memory(self) -> int:
        return self._number("SELECT parse_formatted_bytes(current_setting('memory_limit'))")

    def _bound_users(self, day: date, condition: str, texts: bool) -> Contributions:
        queries = self.model is not None
        rows = rows_query(self.spec, self.names, day, condition, _random, queries=queries, texts=texts)
        self.run(f"CREATE OR REPLACE TEMP TABLE rows_of_day AS {rows}")
        self.run(EVENTS_VIEW)
        if texts:
            self._keep_texts()
        for statement in bounding_statements(self.spec):
            self._create(statement)
        # One after the other: any search is most of the rows, and is added up faster by itself.
        views = ("contributions",) if self.spec.has_one_place else ("any_contributions", "topic_contributions")
        parts = [self.arrays(sums_query(self.spec, self.names, view)) for view in views]
        sums = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return contributions_of(self.ask(row_counts_query(self.names, knows_size=True))[0], sums)

    def _create(self, statement: str) -> None:
        """Run a statement of the bounding: create a view, or work out the table that stands for one."""
        kept = statement.replace(*_KEPT)
        if kept != statement or statement not in self.made:
            self.run(kept)
            self.made.add(statement)

    def _keep_texts(self) -> None:
        """Keep one text of each user-day whose events are in `events`."""
        for statement in day_statements(_DRAW_AND_TEXT):
            self.run(statement)
        kept = f"""
            SELECT kept.user_id, topic_texts.of_week AS text, kept.place
            FROM ({day_texts_query(self.names)}) AS kept JOIN topic_texts ON topic_texts.number = kept.text"""
        self.run(f"CREATE TEMP TABLE IF NOT EXISTS week_texts AS SELECT * FROM ({kept}) WHERE FALSE")
        self.run(f"INSERT INTO week_texts {kept}")

    def forget_texts(self) -> None:
        """Forget the texts that were kept."""
        self.run("DROP TABLE IF EXISTS week_texts")
        self.run("DROP TABLE IF EXISTS texts_of_week")

    def give_texts(self, table: str, texts: Sequence[str]) -> None:
        """Create or replace a small table of texts by their numbers of the week; no row for one that has none."""
        self.give("texts_given", {"text": texts, "number": np.arange(len(texts))})
        self.run(f"""
            CREATE OR REPLACE TEMP TABLE {table} AS
            SELECT texts_of_week.number AS text, texts_given.number FROM texts_given JOIN texts_of_week USING (text)""")

    def candidates(self) -> dict[str, int]:
        """Return the users of each candidate, by its text."""
        return dict(
            self.ask("""
                SELECT texts_of_week.text, candidates.users
                FROM candidates JOIN texts_of_week ON texts_of_week.number = candidates.text""")
        )

    def give(self, table: str, columns: Mapping[str, Numbers | Sequence[str]]) -> None:
        """Create or replace a small table."""
        types = {name: "BIGINT" if isinstance(values, np.ndarray) else "VARCHAR" for name, values in columns.items()}
        given = {
            name: np.array(values, dtype=object if types[name] == "VARCHAR" else np.int64)
            for name, values in columns.items()
        }
        self.connection.register("given", given)
        chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items())
        self.run(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT {chosen} FROM given")
        self.connection.unregister("given")

    def _classify_queries(self, model: Classifier, condition: str, vocabulary: Vocabulary | None) -> None:
        """Classify the distinct texts of a day into the table `topics`.

        The model sees nothing but texts: not whose they are, not how often they occur.
        """
        with self._explained():
            create_topics_table(self.connection, model, f"SELECT query FROM log WHERE {condition}", vocabulary)
        if vocabulary:
            self._number_texts()

    def _number_texts(self) -> None:
        """Replace the texts in `topics` by numbers, which are smaller and compared faster.

        Within a day they are in the order of texts, which decides between equal draws. `of_week` are the numbers that a
        text has on all days.
        """
        self.run("CREATE TEMP TABLE IF NOT EXISTS texts_of_week (text VARCHAR, number INTEGER)")
        self.run("""
            CREATE OR REPLACE TEMP TABLE texts_of_day AS
            SELECT text, CAST(row_number() OVER (ORDER BY text) AS INTEGER) AS number
            FROM (SELECT DISTINCT text FROM topics WHERE text IS NOT NULL)""")
        self.run("""
            INSERT INTO texts_of_week
            SELECT text, number + (SELECT coalesce(max(number), 0) FROM texts_of_week)
            FROM texts_of_day ANTI JOIN texts_of_week USING (text)""")
        self.run("""
            CREATE OR REPLACE TEMP TABLE topic_texts AS
            SELECT text, texts_of_day.number, texts_of_week.number AS of_week
            FROM texts_of_day JOIN texts_of_week USING (text)""")
        self.run("""
            CREATE OR REPLACE TABLE topics AS
            SELECT query, category, number AS text FROM topics LEFT JOIN topic_texts USING (text)""")

    def unused_rows(
        self,
        begin: datetime,
        end: datetime,
        requested: tuple[datetime, datetime],
        used: int,
        unplaced: Unplaced,
    ) -> UnusedRows:
        """Count the rows that were not used, by reason."""
        self.log.require_unchanged()
        of_week, of_requested = self.log.between(begin, end), self.log.between(*requested)
        all_of_week = bool(self.log.has_spans and self.ask(self.log.all_between_query(begin, end))[0][0])
        files = self._files_holding(begin, end)
        return find_unused_rows(self.ask, of_week, of_requested, used, unplaced, all_of_week=all_of_week, files=files)

    def _files_holding(self, begin: datetime, end: datetime) -> list[str] | None:
        """Return the files that hold events between two instants; None if they would have to be read to tell."""
        if not self.log.has_spans:
            return None
        found = self.ask(self.log.holding_query(begin, end))
        return [file for file, holds, _ in found if holds] if all(holds or not may for _, holds, may in found) else None

    def run(self, sql: str) -> None:
        """Run a statement."""
        with self._explained():
            self.connection.execute(sql)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._explained():
            return self.connection.execute(sql).fetchall()

    def batches(self, sql: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in batches."""
        with self._explained():
            rows = self.connection.execute(sql)
            while batch := rows.fetchmany(size):
                yield batch

    def arrays(self, sql: str) -> dict[str, Any]:
        """Return the columns of a query."""
        with self._explained():
            return self.connection.execute(sql).fetchnumpy()

    def _number(self, sql: str) -> int:
        return int(self.ask(sql)[0][0] or 0)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace DuckDB's errors, which quote values of the log, with errors that do not."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise InputError("a day's data does not fit into memory and the temporary folder; raise `memory`") from None
        except duckdb.Error:
            raise unreadable(self.connection, self.log.source) from None
        except RuntimeError:  # how DuckDB reports that the operator interrupted it
            raise KeyboardInterrupt from None
