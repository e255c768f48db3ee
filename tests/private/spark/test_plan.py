"""What Spark does with a day's searches: it shuffles them once, by user, and groups and joins them where they lie."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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


def test_a_spark_that_refuses_a_setting_for_speed_is_used_all_the_same(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only settings that decide how a log is read are needed."""
    monkeypatch.setitem(QUICKER_SETTINGS, "spark.sql.warehouse.dir", "x")
    assert private_session(spark).conf.get("spark.sql.warehouse.dir") != "x"
