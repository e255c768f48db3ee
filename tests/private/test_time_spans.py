"""What Parquet files say of their times saves reading them, and is never wrong about an event."""

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.private.counting import MARGIN
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.engine import Unplaced
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.private.unused_rows import find_unused_rows
from search_insights.spec.coverage import Coverage
from search_insights.support.sql import connect, literal
from tests.support.logs import MONDAY, WEEK

# Hours from the beginning of the week. None is a row without a time.
ANY_TIME, OF_THE_WEEK = st.one_of(st.none(), st.integers(-30, 200)), st.one_of(st.none(), st.integers(0, 166))
HOURS = st.one_of(*(st.lists(times, min_size=1, max_size=40) for times in (ANY_TIME, OF_THE_WEEK)))
PART = 2048  # rows; no part of a file that DuckDB writes has fewer, but the last
SPAN = (WEEK.begin, WEEK.end)
REQUESTED = (WEEK.begin - MARGIN, WEEK.end + MARGIN)
TYPES = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_S")


def write(file: Path, hours: list[int | None], time_type: str) -> None:
    """Write a log with these times, in parts of few rows."""
    begin = "TIMESTAMP '2021-03-08'" if time_type != "TIMESTAMPTZ" else literal(f"{WEEK.begin}") + "::TIMESTAMPTZ"
    with connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            f"""
            COPY (
                SELECT i AS user_id, CAST({begin} + to_hours(CAST(hour AS INTEGER)) AS {time_type}) AS timestamp,
                       'US-NM' AS region, NULL::VARCHAR AS category
                FROM (SELECT unnest(range(len($hours))) AS i, unnest($hours) AS hour)
            ) TO {literal(str(file))} (FORMAT parquet, ROW_GROUP_SIZE {PART})""",
            {"hours": hours},
        )


@given(st.sampled_from(TYPES), st.lists(HOURS, min_size=1, max_size=3))
def test_what_files_say_of_their_times_agrees_with_their_rows(
    coverage: Coverage, time_type: str, files: list[list[int | None]]
) -> None:
    """A day has at most as many events as the spans say; the rows that files tell of are those that are read."""
    with tempfile.TemporaryDirectory() as folder:
        for number, hours in enumerate(files):
            write(Path(folder) / f"{number}.parquet", hours, time_type)
        source = LogSource((folder,), naive_zone="America/Los_Angeles")
        with open_duckdb_engine(source, coverage.spec, region_names(coverage)) as engine:
            log = engine.log
            for begin, end in [WEEK.day_bounds(day) for day in WEEK.days]:
                assert number_of(engine, log.at_most_query(begin, end)) >= number_of(
                    engine, log.count_query(begin, end)
                )
            of_week, outside, tells = engine.ask(log.by_time_query(SPAN, REQUESTED))[0]
            length = 167 if time_type == "TIMESTAMPTZ" else 168  # clocks are set forward in this week
            read = [
                [sum(hour is not None and first <= hour < last for hour in hours) for hours in files]
                for first, last in ((0, length), (-24, length + 24))
            ]
            held = [i for i, rows in enumerate(read[0]) if rows]
            if tells:
                assert of_week == sum(read[0])
                assert outside == sum(len(files[i]) - read[1][i] for i in held)


@pytest.mark.parametrize("time_type", TYPES)
def test_rows_of_other_weeks_are_told_by_their_files(coverage: Coverage, tmp_path: Path, time_type: str) -> None:
    """A log whose parts lie on one side of the week's ends is not read again to count the rows that are not used."""
    write(tmp_path / "before.parquet", [-30, -29], time_type)
    write(tmp_path / "begins.parquet", [*[-26] * (PART - 1), None, 1, 2], time_type)
    write(tmp_path / "ends.parquet", [*[166] * PART, 189, 190], time_type)
    write(tmp_path / "after.parquet", [200], time_type)
    source = LogSource((str(tmp_path),), naive_zone="America/Los_Angeles")
    with open_duckdb_engine(source, coverage.spec, region_names(coverage)) as engine:
        of_week, of_requested = engine.log.between(*SPAN), engine.log.between(*REQUESTED)
        assert engine.ask(engine.log.by_time_query(SPAN, REQUESTED)) == [(PART + 2, PART, True)]
        read = find_unused_rows(engine.ask, of_week, of_requested, PART + 2, Unplaced())
        assert engine.unused_rows(*SPAN, REQUESTED, PART + 2, Unplaced()) == read
        assert (read.rows, read.outside) == (2 * PART + 2, PART)


@pytest.mark.parametrize("time_type", TYPES)
def test_a_day_is_not_read_to_be_counted(coverage: Coverage, tmp_path: Path, time_type: str) -> None:
    """Of a log whose parts are of one day each, the spans tell the rows of a day exactly."""
    for number in range(7):
        write(tmp_path / f"{number}.parquet", [24 * number + hour for hour in (1, 5, 20)], time_type)
    source = LogSource((str(tmp_path),), naive_zone="America/Los_Angeles")
    with open_duckdb_engine(source, coverage.spec, region_names(coverage)) as engine:
        assert engine.log.has_spans
        for day in WEEK.days:
            assert number_of(engine, engine.log.at_most_query(*WEEK.day_bounds(day))) == 3
        before = WEEK.begin - timedelta(days=1)
        assert number_of(engine, engine.log.at_most_query(before, WEEK.begin)) == 0


def test_times_of_which_the_form_must_be_found_have_no_spans(coverage: Coverage, tmp_path: Path) -> None:
    """Text is not compared as times are: its days are counted."""
    file = tmp_path / "log.parquet"
    with connect() as connection:
        connection.execute(f"""
            COPY (
                SELECT 1 AS user_id, '{MONDAY} 20:00:00+00' AS timestamp, 'US-NM' AS region, NULL::VARCHAR AS category
            ) TO {literal(str(file))} (FORMAT parquet)""")
    with open_duckdb_engine(LogSource((str(file),)), coverage.spec, region_names(coverage)) as engine:
        assert not engine.log.has_spans
        assert number_of(engine, engine.log.at_most_query(*WEEK.day_bounds(WEEK.first_day))) == 1


def number_of(engine: DuckDbEngine, query: str) -> int:
    """Return the one number that a query gives; nothing counts as 0."""
    return int(engine.ask(query)[0][0] or 0)
