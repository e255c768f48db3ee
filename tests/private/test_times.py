"""Each search counts on its day in the release's zone, however its time is written, on every engine."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from search_insights.private.spark.session import private_session
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from tests.support.logs import (
    MONDAY,
    PACIFIC,
    Publisher,
    assert_refused,
    by_cell,
    count,
    on_spark,
    searches,
    write_log,
    write_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def edges(first: date) -> list[tuple[object, datetime, str]]:
    """Return searches at the edges of days: (user, instant, region).

    Users in San Francisco search in the last second of a day and the first of the next: on two days each. Users in El
    Dorado search in the first and the last second of a day: on one day each. Others search a second outside the week.
    """
    midnights = [datetime.combine(first + timedelta(days=i), datetime.min.time(), PACIFIC) for i in range(8)]
    begins = [midnight.astimezone(UTC) for midnight in midnights]
    second = timedelta(seconds=1)
    rows: list[tuple[object, datetime, str]] = []
    for i in range(1, 7):
        rows += [(i, begins[i] - second, "geoId/06075"), (i, begins[i], "geoId/06075")]
    for i in range(7):
        rows += [(10 + i, begins[i], "geoId/06017"), (10 + i, begins[i + 1] - second, "geoId/06017")]
    return [*rows, (20, begins[0] - second, "US-NM"), (21, begins[7], "US-NM")]


def zoned(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%d %H:%M:%S+00")


def pacific(instant: datetime) -> str:
    return instant.astimezone(PACIFIC).strftime("%Y-%m-%d %H:%M:%S")


def greenwich(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%d %H:%M:%S")


def with_offset(instant: datetime) -> str:
    return instant.astimezone(ZoneInfo("Asia/Kathmandu")).isoformat()


def with_letter(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def in_int96(log: Path) -> Path:
    """Store the times of a log in Parquet's old type INT96, as Spark does by default."""
    pq.write_table(pq.read_table(log), log, use_deprecated_int96_timestamps=True)
    return log


def write_edges(folder: Path, first: date, kind: str, written: Callable[[datetime], str]) -> Path:
    """Write the searches at the edges of a week's days, with times of this type."""
    rows = [(user, written(instant), region, None) for user, instant, region in edges(first)]
    log = write_rows(
        folder / "log.parquet", rows, ("BIGINT", kind.replace("INT96", "TIMESTAMPTZ"), "VARCHAR", "VARCHAR")
    )
    return in_int96(log) if kind == "INT96" else log


seasons = pytest.mark.parametrize("first", [date(2021, 3, 8), date(2020, 10, 26)], ids=["spring", "autumn"])
WAYS = [
    ("TIMESTAMPTZ", zoned, None),
    ("TIMESTAMPTZ", zoned, "Asia/Kathmandu"),
    ("INT96", zoned, None),
    ("INT96", zoned, "UTC"),
    ("TIMESTAMP", pacific, None),
    ("TIMESTAMP_S", pacific, None),
    ("TIMESTAMP_MS", pacific, None),
    ("TIMESTAMP_NS", pacific, None),
    ("TIMESTAMP", greenwich, "UTC"),
    ("VARCHAR", with_offset, None),
    ("VARCHAR", with_letter, "Asia/Kathmandu"),
    ("VARCHAR", pacific, None),
    ("VARCHAR", greenwich, "UTC"),
]


@seasons
@pytest.mark.parametrize(("kind", "written", "naive_zone"), WAYS)
def test_days_are_those_of_the_release_however_times_are_written(
    coverage: Coverage,
    tmp_path: Path,
    first: date,
    kind: str,
    written: Callable[[datetime], str],
    naive_zone: str | None,
) -> None:
    """Each search counts on its day to the second; times without a zone are in the release's or the given zone."""
    log = write_edges(tmp_path, first, kind, written)
    found = count(coverage, log, week=Week(first, PACIFIC.key), naive_zone=naive_zone)
    assert by_cell(coverage, found.counts) == {
        ("geoId/06", "A0"): 19,
        ("geoId/06075", "A0"): 12,
        ("geoId/06017", "A0"): 7,
    }
    assert found.unused.total == 0  # the two outside the week are within a day of it


@seasons
@pytest.mark.parametrize(("kind", "written", "naive_zone"), [way for way in WAYS if way[0] != "TIMESTAMP_NS"])
def test_days_are_those_of_the_release_on_spark_too(
    spark: "SparkSession",
    coverage: Coverage,
    tmp_path: Path,
    first: date,
    kind: str,
    written: Callable[[datetime], str],
    naive_zone: str | None,
) -> None:
    """Spark counts the same searches on the same days; it does not read nanoseconds."""
    log = write_edges(tmp_path, first, kind, written)
    engine = on_spark(private_session(spark), coverage, log, naive_zone=naive_zone)
    week = Week(first, PACIFIC.key)
    days = [f"count(*) FILTER (WHERE {engine.log.between(*week.day_bounds(day))})" for day in week.days]
    (found,) = engine.session.sql(f"SELECT {', '.join(days)} FROM log").collect()
    assert list(found) == [3, 4, 4, 4, 4, 4, 3]
    has_own_zone = kind in ("TIMESTAMPTZ", "INT96") or written in (with_offset, with_letter)
    assert engine.log.times.naive_zone == ("" if has_own_zone else naive_zone or PACIFIC.key)


def test_int96_times_are_instants_like_others(publisher: Publisher) -> None:
    """The ledger records no zone for INT96, and weeks with another type for instants may follow."""
    assert publisher.anonymize(publisher.log(name="first.parquet"))[0] == 0
    later = searches(timestamp=f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days(7 + i % 7)")
    assert publisher.anonymize(in_int96(publisher.log(later, "second.parquet")), week="2021-03-15")[0] == 0
    assert [(entry.times, entry.naive_zone) for entry in publisher.ledger()] == [("instant", "")] * 2


def test_int96_times_are_never_read_in_another_zone(publisher: Publisher) -> None:
    """Spark cannot read INT96 in another zone, and an event near midnight could count in two weeks."""
    log = in_int96(publisher.log())
    result = publisher.anonymize(log, "--naive-zone", "Asia/Kathmandu")
    assert_refused(publisher, result, "column 'timestamp'", "INT96", "leave --naive-zone out")


def test_int96_times_beside_others_are_refused(publisher: Publisher) -> None:
    """DuckDB reads both as times without a zone, but they are in two zones."""
    write_log(publisher.folder / "log" / "a.parquet", searches(timestamp=f"TIMESTAMP '{MONDAY} 20:00:00'"))
    in_int96(write_log(publisher.folder / "log" / "b.parquet", searches()))
    result = publisher.anonymize(publisher.folder / "log")
    assert_refused(publisher, result, "b.parquet: column 'timestamp'", "INT96", "write one type in all files")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "PST8PDT7", "../UTC", "localtime", "posixrules", "Factory"])
def test_an_unknown_naive_zone_is_refused(publisher: Publisher, zone: str) -> None:
    """The error repeats the zone and shows what one looks like."""
    result = publisher.anonymize(publisher.log(), "--naive-zone", zone)
    assert_refused(publisher, result, f"--naive-zone {zone}: expected an IANA time zone such as UTC")


def test_times_in_an_unknown_form_are_unusable(publisher: Publisher) -> None:
    """A log whose times cannot be read is refused for unusable rows, not for missing days."""
    log = publisher.log(searches(timestamp="'03/08/2021 12:00'"), "log.csv")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "140 of 140 rows cannot be used (140 with no time, or a time outside")
