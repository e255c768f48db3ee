"""Times that are whole numbers: the unit is found from the numbers, told and recorded, and an explicit one wins."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.errors import InputError, LogError
from search_insights.private.duckdb_log import SearchLog, open_log
from search_insights.private.log import LogSource
from search_insights.private.spark.session import private_session
from search_insights.private.times import DUCKDB, NUMBERS, Unit, form_of, read_as
from search_insights.spec.coverage import Coverage
from tests.support.logs import (
    MONDAY,
    NOON,
    WEEK,
    Publisher,
    ReadRow,
    assert_refused,
    by_cell,
    count,
    on_spark,
    read,
    searches,
    write_log,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNITS: dict[Unit, str] = {
    "s": "epoch_us({}) // 1000000",
    "ms": "epoch_us({}) // 1000",
    "us": "epoch_us({})",
    "ns": "epoch_us({}) * 1000",
}
SUFFIXES = ("parquet", "csv", "jsonl")
units = pytest.mark.parametrize("unit", UNITS)


def in_unit(unit: Unit, time: str = NOON) -> str:
    """Return the query of the usual log with times as numbers."""
    return searches(timestamp=f"({UNITS[unit].format(time)})::BIGINT")


def opened(log: Path, unit: Unit | None = None) -> SearchLog:
    """Open a log."""
    with duckdb.connect() as connection:
        return open_log(connection, LogSource((str(log),), time_unit=unit), "UTC")


def refusal(log: Path, unit: Unit | None = None) -> str:
    """Return the message with which a log is refused."""
    with pytest.raises(LogError) as refused:
        opened(log, unit)
    return str(refused.value)


@units
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_numbers_are_read_in_the_unit_that_fits(usual: list[ReadRow], tmp_path: Path, unit: Unit, suffix: str) -> None:
    """Seconds, milliseconds, microseconds and nanoseconds since 1970 give the same instants, in every format."""
    log = write_log(tmp_path / f"log.{suffix}", in_unit(unit))
    assert read(log) == usual
    assert opened(log).times.kind == f"epoch_{unit}"


@units
def test_numbers_that_are_text_are_read_too(usual: list[ReadRow], tmp_path: Path, unit: Unit) -> None:
    """Digits in a text column of Parquet, or in quotes in JSON, are numbers."""
    query = f"SELECT * REPLACE (timestamp::VARCHAR AS timestamp) FROM ({in_unit(unit)})"
    for suffix in ("parquet", "jsonl"):
        assert read(write_log(tmp_path / f"log.{suffix}", query)) == usual


@units
def test_spark_reads_the_same_numbers(spark: "SparkSession", coverage: Coverage, tmp_path: Path, unit: Unit) -> None:
    """The same searches lie on the same days as on DuckDB, from numbers and from text of digits."""
    session = private_session(spark)
    for name, query in {"a": in_unit(unit), "b": searches(timestamp=f"({UNITS[unit].format(NOON)})::VARCHAR")}.items():
        engine = on_spark(session, coverage, write_log(tmp_path / f"{name}.parquet", query))
        assert engine.log.times.kind == f"epoch_{unit}"
        days = [f"count(*) FILTER (WHERE {engine.log.between(*WEEK.day_bounds(day))})" for day in WEEK.days]
        (found,) = engine.session.sql(f"SELECT {', '.join(days)} FROM log").collect()
        assert list(found) == [20] * 7


@settings(max_examples=20)
@given(st.lists(st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 31, 23, 59, 59)), min_size=1), st.data())
def test_every_number_is_a_time_in_one_unit_at_most(moments: list[datetime], data: st.DataObject) -> None:
    """From 1990 to 2099 the units do not overlap, as numbers and as text; the instant is exact to the unit."""
    unit = data.draw(st.sampled_from(list(UNITS)))
    moments += [datetime(1990, 1, 1), datetime(2099, 12, 31, 23, 59, 59)]
    seconds = [int((moment - datetime(1970, 1, 1)).total_seconds()) for moment in moments]
    numbers = ", ".join(str(second * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]) for second in seconds)
    kind = next(kind for kind in NUMBERS if kind == f"epoch_{unit}")
    sql = f"""
        SELECT {form_of("n", DUCKDB, None, is_text=False)}, {form_of("t", DUCKDB, None, is_text=True)},
               epoch({read_as("n", kind, DUCKDB)})::BIGINT
        FROM (SELECT n, n::VARCHAR AS t FROM (SELECT unnest([{numbers}]::BIGINT[]) AS n))"""
    assert duckdb.execute(sql).fetchall() == [(NUMBERS[kind], NUMBERS[kind], second) for second in seconds]


def test_numbers_that_are_no_times_are_refused(tmp_path: Path) -> None:
    """Days of a spreadsheet, dates written as one number, and placeholders are not taken for seconds since 1970."""
    for number in ("0", "-1", "44263", "20210308", "202103081200", "20210308120000", "2" * 17):
        log = write_log(tmp_path / "log.parquet", searches(timestamp=f"{number}::BIGINT"))
        words = "its numbers are no times from 1990 to 2099 in seconds, milliseconds, microseconds, nanoseconds"
        assert words in refusal(log)
        log = write_log(tmp_path / "log.csv", searches(timestamp=f"{number}::BIGINT"))
        with duckdb.connect() as connection:
            open_log(connection, LogSource((str(log),)), "UTC")
            assert connection.execute("SELECT count(*), count(timestamp) FROM log").fetchall() == [(140, 0)]


def test_a_few_numbers_that_are_no_times_are_unused_rows(coverage: Coverage, tmp_path: Path) -> None:
    """0 for an unknown time does not hide the unit, and the row is not used."""
    time = f"CASE WHEN i < 7 THEN 0 ELSE {UNITS['ms'].format(NOON)} END"
    for suffix in SUFFIXES:
        found = count(coverage, write_log(tmp_path / f"log.{suffix}", searches(timestamp=time)))
        assert (found.unused.outside, found.unused.total) == (7, 7)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_numbers_in_two_units_are_refused(tmp_path: Path, suffix: str) -> None:
    """One row in another unit is enough; the error names both units and no number. A unit may be given then."""
    time = f"CASE WHEN i = 9 THEN {UNITS['s'].format(NOON)} ELSE {UNITS['ms'].format(NOON)} END"
    log = write_log(tmp_path / f"log.{suffix}", searches(timestamp=time))
    words = "its times are numbers in seconds and in milliseconds; write one unit, or say which with `time_unit`"
    assert refusal(log) == f"{log}: column 'timestamp': {words}"
    assert opened(log, "ms").times.unit == "ms"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_explicit_unit_wins(tmp_path: Path, suffix: str) -> None:
    """Numbers that are no times in it are refused, although they would be in another."""
    log = write_log(tmp_path / f"log.{suffix}", in_unit("s"))
    words = "its numbers are no times from 1990 to 2099 in milliseconds since 1970; leave `time_unit` out"
    assert words in refusal(log, "ms")
    assert opened(log, "s").times.unit == "s"


@pytest.mark.parametrize(("time", "words"), [(NOON, "its type is TIMESTAMP"), (f"'{MONDAY}T20:00:00Z'", "are text")])
def test_a_unit_for_other_times_is_refused(tmp_path: Path, time: str, words: str) -> None:
    """A unit has no meaning for timestamps or for text with dates."""
    found = refusal(write_log(tmp_path / "log.parquet", searches(timestamp=time)), "s")
    assert words in found
    assert "`time_unit` s is for times that are whole numbers: leave it out" in found


def test_an_unknown_unit_is_refused(tmp_path: Path) -> None:
    """From Python, the error names the parameter and the units."""
    with pytest.raises(InputError, match="`time_unit` min: expected s, ms, us or ns"):
        opened(write_log(tmp_path / "log.parquet"), "min")  # type: ignore[arg-type]


def test_the_unit_is_told_and_recorded(publisher: Publisher) -> None:
    """The operator reads the unit that was found; the ledger has it. An option may name it."""
    log = publisher.log(in_unit("ms"))
    assert_refused(publisher, publisher.anonymize(log, "--time-unit", "s"), "leave --time-unit out")
    code, out, err = publisher.anonymize(log)
    assert (code, err) == (0, f"week {MONDAY}: times were read as whole numbers in ms since 1970\n")
    assert "committed" in out
    assert [(entry.times, entry.naive_zone) for entry in publisher.ledger()] == [("epoch_ms", "")]


def week_two(unit: Unit | None) -> str:
    """Return the query of the next week's log, with times in a unit or as instants."""
    later = f"{NOON} + to_days(7)"
    return in_unit(unit, f"({later})") if unit else searches(timestamp=later)


@pytest.mark.parametrize("unit", ["s", None])
def test_another_unit_than_in_the_weeks_before_has_to_be_stated(publisher: Publisher, unit: Unit | None) -> None:
    """A clock that rounds otherwise could put searches near midnight into two weeks."""
    publisher.anonymize(publisher.log(in_unit("ms"), "one.parquet"))
    two = publisher.log(week_two(unit), "two.parquet")
    code, _, err = publisher.anonymize(two, week="2021-03-15")
    assert code == 2
    assert f"the times of week {MONDAY} were read as whole numbers in ms since 1970" in err
    assert publisher.anonymize(two, "--times-changed", week="2021-03-15")[0] == 0


def test_the_same_unit_in_another_format_is_the_same_reading(publisher: Publisher) -> None:
    """Milliseconds in Parquet, then in JSON: nothing has to be stated."""
    publisher.anonymize(publisher.log(in_unit("ms"), "one.parquet"))
    assert publisher.anonymize(publisher.log(week_two("ms"), "two.jsonl"), week="2021-03-15")[0] == 0


def test_numbers_among_text_are_not_read(coverage: Coverage, tmp_path: Path) -> None:
    """The form of most rows is the log's; a few numbers among text with offsets are unused rows."""
    text = f"strftime({NOON}, '%Y-%m-%dT%H:%M:%SZ')"
    time = f"CASE WHEN i < 7 THEN ({UNITS['s'].format(NOON)})::VARCHAR ELSE {text} END"
    for suffix in SUFFIXES:
        found = count(coverage, write_log(tmp_path / f"log.{suffix}", searches(timestamp=time, region="'US-NM'")))
        assert found.unused.outside == 7
        assert by_cell(coverage, found.counts)["geoId/35", "A0"] == 133


def test_files_with_numbers_of_two_types_are_refused(tmp_path: Path) -> None:
    """One type in all files, as for other columns."""
    write_log(tmp_path / "a.parquet", in_unit("s"))
    write_log(tmp_path / "b.parquet", searches(timestamp=f"({UNITS['s'].format(NOON)})::UINTEGER"))
    assert "its type is UINTEGER, in other files BIGINT" in refusal(tmp_path)
