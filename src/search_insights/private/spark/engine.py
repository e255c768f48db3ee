"""The engine for more than one machine: Apache Spark, one day at a time, with the bounding of bounding.sql.

Only sums leave it. A task that is retried, or that runs twice because it was slow, cannot change a choice, because a
draw is a function of the event. Nor can it count twice, because Spark takes each task's result once; so nothing here is
counted on the side (accumulators, observed metrics), where retries would add up.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.classifier.model import PACKAGED_MODEL, Classifier, load_classifier_for
from search_insights.classifier.topics import countable_texts, distinct_texts
from search_insights.classifier.vocabulary import Vocabulary
from search_insights.private.bounding import (
    EVENTS_VIEW,
    bounding_statements,
    contributions_of,
    row_counts_query,
    rows_query,
    sums_query,
)
from search_insights.private.engine import Contributions, Unplaced, UnusedRows
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.private.spark.log import SparkLog, explained, open_spark_log, require_unchanged
from search_insights.private.spark.session import Cluster, open_session
from search_insights.private.top_searches import day_statements, day_texts_query
from search_insights.private.unused_rows import find_unused_rows
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Numbers

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, SparkSession


_VIEW = re.compile(r"\s*CREATE OR REPLACE TEMP VIEW (?P<name>\w+) AS\s(?P<query>.*)", re.DOTALL)


@contextmanager
def open_spark_engine(
    source: LogSource,
    spec: Spec,
    names: RegionNames,
    cluster: Cluster | None = None,
    model: str | Path = PACKAGED_MODEL,
) -> Iterator["SparkEngine"]:
    """Start Spark or connect to it, and open a log for counting."""
    with open_session(cluster or Cluster()) as session:
        yield spark_engine(session, source, spec, names, model)


def spark_engine(
    session: "SparkSession", source: LogSource, spec: Spec, names: RegionNames, model: str | Path = PACKAGED_MODEL
) -> "SparkEngine":
    """Open a log for counting in a session, which gets the views `log` and `names`.

    If the log has queries instead of categories, the model classifies them on the cluster.
    """
    log = open_spark_log(session, source, spec.time_zone)
    with explained(source, "Spark does not accept the region names"):
        register_names(session, names)
    return SparkEngine(session, log, spec, names, load_classifier_for(spec, model) if log.queries else None)


def register_names(session: "SparkSession", names: RegionNames) -> None:
    """Create a view for each column that names regions: its names, and the bits that they give to a draw."""
    import pyarrow

    for column in names.columns:
        table = pyarrow.table({"name": list(column.names), "bits": column.bits})
        session.createDataFrame(table).createOrReplaceTempView(column.table)


def _sums_by_place(spec: Spec, names: RegionNames) -> str:
    """Sum on the cluster, open levels, classed levels and the finest of these separately.

    So the driver receives at most places times categories, however large the log is.
    """
    if spec.has_one_place:
        return sums_query(spec, names)
    return f"""
        SELECT category, coalesce(open_place, -1) AS open_place, coalesce(classed_place, -1) AS classed_place,
               coalesce(finest_place, -1) AS finest_place, sum(user_days) AS user_days
        FROM ({sums_query(spec, names)})
        GROUP BY GROUPING SETS ((category, open_place), (category, classed_place), (category, finest_place))"""


def _by_user(query: str) -> str:
    """Return a query whose rows are sent to where those of the same user are.

    It is the only time that a day's events are shuffled: everything in bounding.sql is grouped and joined by user. It
    takes less CPU than to add up what is together first, and more bytes (docs/performance.md has both).
    """
    return f"SELECT /*+ REPARTITION(user_id) */ * FROM ({query})"


def _random(key: int, mask: int) -> str:
    return f"(xxhash64(user_id, timestamp, CAST({key} AS BIGINT)) & CAST({mask} AS BIGINT))"


@dataclass(frozen=True)
class SparkEngine:
    """A log that is open as the view `log` of a session."""

    session: "SparkSession"
    log: SparkLog
    spec: Spec
    names: RegionNames
    model: Classifier | None
    kept: list[str] = field(default_factory=list)  # the views of the texts of the week's days

    name = "spark"

    def bound(self, day: date, begin: datetime, end: datetime, vocabulary: Vocabulary | None = None) -> Contributions:
        """Bound the events of a day and add up the contributions; with a vocabulary, keep one text of each user-day."""
        with self._explained():
            of_day = self.log.between(begin, end)
            if self.model:
                texts = self.session.sql(distinct_texts(f"SELECT query FROM log WHERE {of_day}"))
                _classified(texts, self.model, vocabulary).createOrReplaceTempView("topics")
            queries = self.model is not None
            with_texts = queries and vocabulary is not None
            rows = rows_query(self.spec, self.names, day, of_day, _random, queries=queries, texts=with_texts)
            by_user = self.session.sql(_by_user(rows))
            with _persisted(by_user):
                by_user.createOrReplaceTempView("rows_of_day")
                self._create_view(EVENTS_VIEW)
                if with_texts:
                    self._keep_texts()
                for statement in bounding_statements(self.spec):
                    self._create_view(statement)
                sums = _columns(self.session.sql(_sums_by_place(self.spec, self.names)))
                return contributions_of(self.ask(row_counts_query(self.names, knows_size=False))[0], sums)

    def _create_view(self, statement: str) -> None:
        """Create a view from its statement; as a frame, so that Spark keeps its plan.

        Of a view that SQL creates, Spark keeps the text, and reads it and all views below it again at each use.
        """
        created = _VIEW.fullmatch(statement)
        if created is None:
            raise RuntimeError("a statement of the bounding does not create a view")
        self.session.sql(created["query"]).createOrReplaceTempView(created["name"])

    def _keep_texts(self) -> None:
        """Keep one text of each user-day whose events are in `events`: on the cluster, until they are forgotten."""
        for statement in day_statements("struct(draw, text)"):
            self._create_view(statement)
        # By a name of its own: over Spark Connect a plan is read again at each use, when `day_texts` is another day's.
        view = f"texts_of_day_{len(self.kept)}"
        self.session.sql(day_texts_query(self.names)).createOrReplaceTempView(view)
        self.kept.append(view)
        self.session.sql(f"CACHE TABLE {view}").collect()  # now, while the day's events are there
        all_days = " UNION ALL ".join(f"SELECT * FROM {kept}" for kept in self.kept)
        self.session.sql(all_days).createOrReplaceTempView("week_texts")

    def forget_texts(self) -> None:
        """Forget the texts that were kept: a server may outlive this session, and would keep what it cached."""
        with self._explained():
            while self.kept:
                view = self.kept.pop()
                self.session.sql(f"UNCACHE TABLE IF EXISTS {view}").collect()
                self.session.sql(f"DROP VIEW IF EXISTS {view}").collect()

    def give(self, table: str, columns: Mapping[str, Numbers | Sequence[str]]) -> None:
        """Create or replace a small view."""
        import pyarrow

        types = {
            name: pyarrow.int64() if isinstance(values, np.ndarray) else pyarrow.string()
            for name, values in columns.items()
        }
        given = pyarrow.table({name: pyarrow.array(values, types[name]) for name, values in columns.items()})
        with self._explained():
            self.session.createDataFrame(given).createOrReplaceTempView(table)

    def give_texts(self, table: str, texts: Sequence[str]) -> None:
        """Create or replace a small view of texts."""
        self.give(table, {"text": texts, "number": np.arange(len(texts))})

    def candidates(self) -> dict[str, int]:
        """Return the users of each candidate, by its text."""
        return dict(self.ask("SELECT text, users FROM candidates"))

    def run(self, sql: str) -> None:
        """Run a statement."""
        with self._explained():
            self.session.sql(sql)

    def arrays(self, sql: str) -> dict[str, Any]:
        """Return the columns of a query."""
        with self._explained():
            return _columns(self.session.sql(sql))

    def unused_rows(
        self,
        begin: datetime,
        end: datetime,
        requested: tuple[datetime, datetime],
        used: int,
        unplaced: Unplaced,
    ) -> UnusedRows:
        """Count the rows that were not used, by reason."""
        require_unchanged(self.session, self.log)
        of_week, of_requested = self.log.between(begin, end), self.log.between(*requested)
        has_files = bool(self.log.files)
        return find_unused_rows(self.ask, of_week, of_requested, used, unplaced, has_files=has_files, slow_files=True)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._explained():
            return [tuple(row) for row in self.session.sql(sql).collect()]

    def batches(self, sql: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in batches."""
        with self._explained():
            rows = (tuple(row) for row in self.session.sql(sql).toLocalIterator())
            while batch := list(islice(rows, size)):
                yield batch

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace Spark's errors, which quote values of the log, with errors that do not."""
        trouble = (
            "Spark could not finish a day's work; give it more memory with `settings`, or look into the cluster's log"
        )
        with explained(self.log.source, trouble, self.log.files):
            yield


@contextmanager
def _persisted(frame: "DataFrame") -> Iterator[None]:
    """Keep the result of a query on the cluster while it is used, because X4 compares draws from several uses of it.

    If it were read again for each, a log that is being written could show a user in two size classes. What does not fit
    into the workers' memory goes to their disks.
    """
    frame.persist()
    try:
        yield
    finally:
        frame.unpersist()


def _classified(texts: "DataFrame", model: Classifier, vocabulary: Vocabulary | None) -> "DataFrame":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about pandas, which is not used here
        return texts.mapInArrow(_batch_classifier(model, vocabulary), "query STRING, category SMALLINT, text STRING")


def _batch_classifier(
    model: Classifier, vocabulary: Vocabulary | None
) -> "Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]":
    """Return what runs on the cluster: it yields the texts that have a topic, with its number. It sees only texts."""

    def classify(batches: "Iterator[RecordBatch]") -> "Iterator[RecordBatch]":
        import pyarrow

        for batch in batches:
            texts = batch.column(0)
            with_topic, numbers = model.topics_of(texts.to_pylist())
            kept = texts.take(pyarrow.array(with_topic))
            counted = countable_texts(model, vocabulary, kept.to_pylist()) if vocabulary else [None] * len(kept)
            columns = [kept, pyarrow.array(numbers.astype(np.int16)), pyarrow.array(counted, pyarrow.string())]
            yield pyarrow.record_batch(columns, ["query", "category", "text"])

    return classify


def _columns(frame: "DataFrame") -> dict[str, Any]:
    table = frame.toArrow()
    return {name: table.column(name).to_numpy() for name in table.column_names}
