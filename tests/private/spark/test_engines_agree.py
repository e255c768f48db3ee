"""Spark and DuckDB give the same counts, even if tasks of Spark are killed."""

import os
import signal
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from search_insights.classifier.features import MAX_CHARACTERS
from search_insights.private.counting import add_contributions
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts
from tests.support.bounded import Event, bench
from tests.support.logs import PACIFIC, WEEK, counts_of, on_spark, searches, write_log

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession


def counted(engine: Engine, coverage: Coverage, day: date) -> Counts:
    """Return the exact counts of a day."""
    return counts_of(coverage, engine.bound(day, *WEEK.day_bounds(day)))


@pytest.fixture(scope="module")
def simulated(us_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated week of the United States in which users search in several places."""
    folder = tmp_path_factory.mktemp("simulated") / "log"
    simulate(folder, us_coverage, WEEK.first_day, 1, 30_000, seed=7)
    return folder


def one_place(log: Path, folder: Path) -> Path:
    """Keep only the searches in one place of each user-day, so that bounding has no choice."""
    query = f"""
        SELECT * FROM '{log}/*.parquet'
        QUALIFY region = first_value(region) OVER (
            PARTITION BY user_id, (timestamp AT TIME ZONE '{PACIFIC.key}')::DATE ORDER BY hash(region))"""
    return write_log(folder / "one-place.parquet", query)


def test_engines_agree_where_bounding_has_no_choice(
    session: "SparkSession", us_coverage: Coverage, simulated: Path, tmp_path: Path
) -> None:
    """A log in which nobody searches in two places on one day has the same counts on both engines."""
    log = one_place(simulated, tmp_path)
    session.conf.set("spark.sql.adaptive.enabled", "true")  # as outside the tests
    by_spark = on_spark(session, us_coverage, log)
    with open_duckdb_engine(LogSource((str(log),)), us_coverage.spec, region_names(us_coverage)) as by_duckdb:
        for day in WEEK.days[:2]:
            counts = counted(by_spark, us_coverage, day)
            assert counts.sum() > 3000
            np.testing.assert_array_equal(counts, counted(by_duckdb, us_coverage, day))


def test_engines_keep_the_same_number_of_user_days(
    session: "SparkSession", us_coverage: Coverage, simulated: Path
) -> None:
    """On both engines each category of a day has the same total at state level.

    The choices of bounding differ, because the engines hash differently.
    """
    cells = CellList(us_coverage)
    states = np.array([cell.region.level == "state" for cell in cells.cells])
    categories = np.array([cell.category for cell in cells.cells])
    by_spark = on_spark(session, us_coverage, simulated)
    with open_duckdb_engine(LogSource((str(simulated),)), us_coverage.spec, region_names(us_coverage)) as by_duckdb:
        one, other = (counted(engine, us_coverage, WEEK.first_day) for engine in (by_spark, by_duckdb))
    for category in set(categories):
        chosen = states & (categories == category)
        assert one[chosen].sum() == other[chosen].sum() > 0
    assert (one != other).any()


def test_engines_agree_on_a_log_with_columns_of_levels(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """Each level is counted by its own column on both engines, and rows without a known region are found by both."""
    counties = "['06017', '35013', '06075', NULL, 'Atlantis', 'US', NULL, '06017'][(i % 8) + 1] AS fips"
    codes = "['95667', '94103', '94104', '96120', NULL, 'Atlantis'][(i % 6) + 1] AS zip"
    log = write_log(tmp_path / "log.parquet", searches(region="", more=f"{counties}, {codes}"))
    columns = {"postal_code": "zip", "county": "fips"}
    source = LogSource((str(log),), columns)
    names = region_names(coverage, source)
    by_spark = on_spark(session, coverage, log, columns=columns)
    with open_duckdb_engine(source, coverage.spec, names) as by_duckdb:
        for day in WEEK.days[:2]:
            span = WEEK.day_bounds(day)
            one, other = by_spark.bound(day, *span), by_duckdb.bound(day, *span)
            assert (one.events, one.no_region, one.unplaced) == (other.events, other.no_region, other.unplaced)
            counts = counts_of(coverage, one, names)
            assert counts.any()
            np.testing.assert_array_equal(counts, counts_of(coverage, other, names))
            assert one.unplaced.total > 0
            asked = (*span, span, one.events, one.unplaced)
            assert by_spark.unused_rows(*asked) == by_duckdb.unused_rows(*asked)


def test_queries_are_classified_on_the_cluster_as_on_one_machine(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """A log with queries is classified by the same model on both engines, with the same counts."""
    texts = "['covid vaccine near me', 'covid vaccine side effects', 'weather', NULL, 'covid vaccine'][(i % 5) + 1]"
    log = write_log(tmp_path / "log.parquet", searches(category="", more=f"{texts} AS query"))
    by_spark = on_spark(session, coverage, log)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as by_duckdb:
        assert by_spark.model is not None
        assert by_duckdb.model is not None
        assert by_spark.model.fingerprint == by_duckdb.model.fingerprint
        for day in WEEK.days[:2]:
            counts = counted(by_spark, coverage, day)
            np.testing.assert_array_equal(counts, counted(by_duckdb, coverage, day))
        categories = np.array([cell.category for cell in CellList(coverage).cells])
        assert {category for category in categories if counts[categories == category].any()} == {"A0", "A1", "A2", "A3"}


def test_long_texts_are_read_to_the_same_character_on_both_engines(
    session: "SparkSession", coverage: Coverage, tmp_path: Path
) -> None:
    """What decides begins at each place near the last character that is read, after characters of one to four bytes."""
    start = f"covid vaccine near me 💉é{chr(0x2019) * MAX_CHARACTERS}"
    decisive = f"left('{start}', {MAX_CHARACTERS - 14} + i // 7) || ' is it safe' || repeat(' covid', i::INTEGER)"
    log = write_log(tmp_path / "log.parquet", searches(category="", region="'94103'", more=f"{decisive} AS query"))
    by_spark = on_spark(session, coverage, log)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as by_duckdb:
        counts = counted(by_spark, coverage, WEEK.days[0])
        np.testing.assert_array_equal(counts, counted(by_duckdb, coverage, WEEK.days[0]))
    categories = np.array([cell.category for cell in CellList(coverage).cells])
    assert counts[categories == "A1"].any()
    assert counts[categories == "A2"].any()


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_killed_task_changes_nothing(session: "SparkSession", us_coverage: Coverage, tmp_path: Path) -> None:
    """A worker that is killed after half of its rows is replaced; choices and counts do not change."""
    places = ["94103", "95023", "geoId/06017", "US-NM"]
    events = [
        Event(user, i, places[(user + i) % 4], ("A1", None, "A2")[i % 3]) for user in range(200) for i in range(5)
    ]
    killed = tmp_path / "killed"

    def die_once(batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        for batch in batches:
            yield batch.slice(0, batch.num_rows // 2)
            if not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch.slice(batch.num_rows // 2)

    with bench(us_coverage, session) as table:
        undisturbed = table.count(events)
        log = session.table("log").repartition(2)
        log.mapInArrow(die_once, log.schema).createOrReplaceTempView("log")
        found = table.table.engine.bound(WEEK.days[1], *WEEK.day_bounds(WEEK.days[1]))
        counts = table.cells.zeros()
        add_contributions(counts, table.cells, table.names, found)
    assert killed.exists()
    assert found.events == len(events)
    np.testing.assert_array_equal(counts, undisturbed)
