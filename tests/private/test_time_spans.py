"""What Parquet files say of their times saves reading them, and is never wrong about an event."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import LogError
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.duckdb_readers import time_spans_query
from search_insights.private.engine import Unplaced
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from search_insights.support.sql import connect, literal
from tests.support.logs import MONDAY, WEEK

# Hours from the beginning of the week; the week has 168. None is a row without a time.
HOURS = st.lists(st.one_of(st.none(), st.integers(-30, 200)), min_size=1, max_size=40)
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
            ) TO {literal(str(file))} (FORMAT parquet, ROW_GROUP_SIZE 5)""",
            {"hours": hours},
        )


@given(st.sampled_from(TYPES), st.lists(HOURS, min_size=1, max_size=3))
def test_what_files_say_of_their_times_agrees_with_their_rows(
    coverage: Coverage, time_type: str, files: list[list[int | None]]
) -> None:
    """A day has at most as many events as the spans say; if they say that all rows are of the week, all are; and if
    they say which files hold events of the week, these do."""
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
            rows = sum(map(len, files))
            of_week = number_of(engine, log.count_query(WEEK.begin, WEEK.end))
            assert number_of(engine, log.all_between_query(WEEK.begin, WEEK.end)) == (of_week == rows)
            of_week_files = f"SELECT DISTINCT file FROM log_files WHERE {log.between(WEEK.begin, WEEK.end)}"
            told = engine._files_holding(WEEK.begin, WEEK.end)
            assert told is None or sorted(told) == sorted(file for (file,) in engine.ask(of_week_files))


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


def test_files_of_other_weeks_are_known_without_being_read(
    coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with a file for each week, that of a week is not searched for; its rows are counted."""
    files: dict[str, list[int | None]] = {
        "before": [-100, -1],
        "this": [0, 100],
        "after": [200, 300],
        "none": [None],
    }
    for name, hours in files.items():
        write(tmp_path / f"{name}.parquet", hours, "TIMESTAMPTZ")
    asked: list[str] = []
    ask = DuckDbEngine.ask

    def asking(engine: DuckDbEngine, sql: str) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return ask(engine, sql)

    monkeypatch.setattr(DuckDbEngine, "ask", asking)
    with open_duckdb_engine(LogSource((str(tmp_path),)), coverage.spec, region_names(coverage)) as engine:
        span = (WEEK.begin, WEEK.end)
        assert engine._files_holding(*span) == [str(tmp_path / "this.parquet")]
        assert engine.unused_rows(*span, span, 2, Unplaced()).rows == 2
        assert not any("DISTINCT file" in sql for sql in asked)
        with pytest.raises(LogError, match="the log changed while it was read"):
            engine.unused_rows(*span, span, 1, Unplaced())


@pytest.mark.parametrize(("stored_as", "ends"), [("INT64", "2021-03-09 00:00:00"), ("INT96", "None")])
def test_what_files_say_of_times_without_an_order_is_not_believed(stored_as: str, ends: str) -> None:
    """Parquet does not define the order of INT96, and programs have written wrong statistics of it."""
    row = f"('log.parquet', '{stored_as}', 5, 0, '2021-03-09 00:00:00', '2021-03-09 00:00:00', 'timestamp')"
    columns = "file_name, type, row_group_num_rows, stats_null_count, stats_min_value, stats_max_value, path_in_schema"
    query = time_spans_query(["log.parquet"], "timestamp", "TIMESTAMP")
    metadata = query.replace("parquet_metadata(['log.parquet'])", f"(VALUES {row}) AS found({columns})")
    with connect() as connection:
        ((*_, lowest, highest),) = connection.execute(metadata).fetchall()
    assert (str(lowest), str(highest)) == (ends, ends)


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
