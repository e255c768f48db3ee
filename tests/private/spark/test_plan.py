"""What Spark does with a day's searches: it shuffles them once, by user, and groups and joins them where they lie."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from search_insights.private.engine import Contributions
from search_insights.private.spark.engine import _SAME_NAME
from search_insights.private.spark.session import QUICKER_SETTINGS, private_session
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import load_spec
from tests.support.logs import WEEK, on_spark, searches, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("spec", ["vaccination-v1", "vaccination-v2"])
def test_searches_are_shuffled_once(session: "SparkSession", coverage: Coverage, tmp_path: Path, spec: str) -> None:
    """After the shuffle by user, no group or join of the bounding shuffles again, and none has to sort to group."""
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # as if the log were large; hints still count
    log = write_log(tmp_path / "log.parquet", searches())
    engine = on_spark(session, Coverage(load_spec(spec), coverage.geography), log)
    assert engine.bound(WEEK.days[0], *WEEK.day_bounds(WEEK.days[0])).events > 0
    ((plan,),) = engine.ask("EXPLAIN SELECT * FROM contributions")
    assert "REPARTITION_BY_COL" in plan
    assert "ENSURE_REQUIREMENTS" not in plan, "what Spark calls a shuffle that was not asked for"
    assert "HashAggregate(keys=[user_id" in plan
    assert "SortAggregate" not in plan
    assert "ObjectHashAggregate" not in plan


def test_regions_are_looked_up_by_number(session: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """Each search's region is looked up by its hash alone, and its name is compared with the one that was found."""
    engine = on_spark(session, coverage, write_log(tmp_path / "log.parquet", searches()))
    assert engine.bound(WEEK.days[0], *WEEK.day_bounds(WEEK.days[0])).events > 0
    ((plan,),) = engine.ask("EXPLAIN SELECT * FROM events")
    (join,) = [line for line in plan.splitlines() if "BroadcastHashJoin" in line]
    assert re.search(r"BroadcastHashJoin \[xxhash64\(region#\d+, 42\)\], \[hash#\d+L\], Inner", join)
    assert re.search(r"name#\d+ <= region#\d+\) AND \(name#\d+ >= region", join)


def test_regions_with_one_hash_are_told_apart(
    session: "SparkSession", coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search counts in the region that it names, also if other names have the same hash."""
    log = write_log(tmp_path / "log.parquet", searches())
    day = (WEEK.days[0], *WEEK.day_bounds(WEEK.days[0]))
    expected = on_spark(session, coverage, log).bound(*day)
    engine = on_spark(session, coverage, log)
    session.table("names").selectExpr("name", "0L AS hash", "bits").createOrReplaceTempView("names")
    hash_of_all = _SAME_NAME.replace("xxhash64(log.region)", "0L * length(log.region)")
    monkeypatch.setattr("search_insights.private.spark.engine._SAME_NAME", hash_of_all)
    found = engine.bound(*day)
    assert found.events == expected.events
    assert sums_of(found) == sums_of(expected)


def sums_of(found: Contributions) -> set[tuple[int, ...]]:
    """Return the rows of the contributions."""
    columns = (found.categories, found.open_places, found.classed_places, found.finest_places, found.user_days)
    return set(zip(*(column.tolist() for column in columns), strict=True))


def test_a_spark_that_refuses_a_setting_for_speed_is_used_all_the_same(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only settings that decide how a log is read are needed."""
    monkeypatch.setitem(QUICKER_SETTINGS, "spark.sql.warehouse.dir", "x")
    assert private_session(spark).conf.get("spark.sql.warehouse.dir") != "x"
