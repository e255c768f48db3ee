"""Columns and values that cannot be used are refused in one line that shows no value of the log."""

from pathlib import Path
from typing import cast

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from search_insights.errors import LogError
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.duckdb_log import SearchLog
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from tests.support.bounded import INSTANTS
from tests.support.logs import MONDAY, SECRET, WEEK, Publisher, assert_refused, searches, searches_of_day, write_log


@pytest.mark.parametrize("role", ["user_id", "timestamp", "region"])
def test_a_missing_column_is_refused(publisher: Publisher, role: str) -> None:
    """The error names the file, the column, the columns of the file, and the option that maps one."""
    log = publisher.log(f"SELECT * EXCLUDE ({role}) FROM ({searches()})")
    there = ", ".join(c for c in ("user_id", "timestamp", "region", "category") if c != role)
    words = f"{log}: no column {role!r} for {role}; the columns are {there}; map one with --column {role}=NAME"
    assert_refused(publisher, publisher.anonymize(log), words)


def test_a_missing_mapped_column_is_refused_by_its_name(publisher: Publisher) -> None:
    """The error has the column's name that the publisher gave."""
    log = publisher.log()
    result = publisher.anonymize(log, "--column", "user_id=uid")
    assert_refused(publisher, result, f"{log}: no column 'uid' for user_id")
    result = publisher.anonymize(log, "--column", "category=topic")
    assert_refused(publisher, result, f"{log}: no column 'topic' or 'query'", "--column category=NAME")


@pytest.mark.parametrize("column", ["timestamp", "region"])
def test_a_column_of_two_roles_is_refused(publisher: Publisher, column: str) -> None:
    """With its times taken for users, each search would be a user of its own, and X1 would bound nothing."""
    log = publisher.log()
    result = publisher.anonymize(log, "--column", f"user_id={column}")
    words = f"is given for user_id and for {column}; name another one with --column {column}=NAME"
    assert_refused(publisher, result, f"{log}: column ", words)


def test_csv_without_a_header_does_not_show_its_first_line(publisher: Publisher) -> None:
    """Without a header the first line is someone's search, so the error does not list it as column names."""
    log = publisher.folder / "log.csv"
    log.write_text(f"{SECRET}1,2021-03-08 12:00,{SECRET}2,{SECRET}3\n" * 50)
    code, out, err = publisher.anonymize(log)
    assert_refused(publisher, (code, out, err), f"{log}: no column 'user_id'", "the first line must name the columns")
    assert SECRET not in err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_occurs_twice_is_refused_in_whichever_file(publisher: Publisher, suffix: str) -> None:
    """DuckDB would take the first of the two, so a mistake in one file would make its users others. It is named."""
    folder = publisher.folder / "log"
    write_log(folder / f"1.{suffix}")
    columns = {"user_id": ["1"], "timestamp": ["2021-03-08 12:00"], "region": ["94103"], "category": ["A1"]}
    table = pa.table([["2"], *columns.values()], names=["user_id", *columns])
    with (folder / f"2.{suffix}").open("wb") as file:
        (pq.write_table if suffix == "parquet" else pa_csv.write_csv)(table, file)
    words = f"log/2.{suffix}: column 'user_id' occurs twice; keep one of them"
    assert_refused(publisher, publisher.anonymize(folder), words)


@pytest.mark.parametrize(
    ("role", "expression", "words"),
    [
        ("user_id", "i::DOUBLE", "expected a whole number, text or UUID; its type is DOUBLE"),
        ("user_id", "[i]", "expected a whole number, text or UUID; its type is BIGINT[]"),
        ("region", "94103", "expected text, because codes have leading zeros; its type is INTEGER"),
        ("region", "94103::BIGINT", "expected text, because codes have leading zeros; its type is BIGINT"),
        ("timestamp", "1615233600::DOUBLE", "expected a timestamp, a whole number or text; its type is DOUBLE"),
        ("timestamp", f"DATE '{MONDAY}'", "expected a timestamp, a whole number or text; its type is DATE"),
        ("timestamp", "TIME '12:00'", "expected a timestamp, a whole number or text; its type is TIME"),
    ],
)
def test_a_column_of_the_wrong_type_is_refused(publisher: Publisher, role: str, expression: str, words: str) -> None:
    """The error names the file, the column, the expected type and the actual type."""
    log = publisher.log(f"SELECT * REPLACE ({expression} AS {role}) FROM ({searches()}), range(1) AS r(i)")
    assert_refused(publisher, publisher.anonymize(log), f"{log}: column {role!r}: {words}")


def test_neither_category_nor_query_is_refused(publisher: Publisher) -> None:
    """A log needs a category or a query; the error names both and the option that maps one."""
    log = publisher.log(searches(category=""))
    assert_refused(
        publisher, publisher.anonymize(log), f"{log}: no column 'category' or 'query'; map one with --column"
    )


def test_files_of_types_that_do_not_agree_are_refused(publisher: Publisher) -> None:
    """A column that is a time in one file and a list in another is refused."""
    publisher.log(searches_of_day(0), "log/0.parquet")
    publisher.log(f"SELECT * REPLACE ([1.5] AS timestamp) FROM ({searches_of_day(1)})", "log/1.parquet")
    code, out, err = publisher.anonymize(publisher.folder / "log")
    assert_refused(publisher, (code, out, err), "log")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("debug", [(), ("--debug",)], ids=["plain", "debug"])
def test_an_unknown_category_is_refused_without_being_shown(
    publisher: Publisher, suffix: str, debug: tuple[str, ...]
) -> None:
    """The error names the column, the day and the known categories; it and a traceback show no value of the log."""
    query = searches(
        user_id=f"'{SECRET}-user-' || i",
        category=f"CASE WHEN i % 7 = 4 THEN '{SECRET}-category' WHEN i % 7 = 3 THEN 'A1' END",
        region=f"CASE WHEN i = 1 THEN '{SECRET}-region' ELSE '94103' END",
    )
    code, out, err = publisher.anonymize(publisher.log(query, f"log.{suffix}"), *debug)
    last = err.splitlines(keepends=True)[-1]
    words = "column 'category': rows of 2021-03-12 have an unknown value; expected A1 or vaccination_intent"
    assert_refused(publisher, (code, out, last), words)
    assert SECRET not in err


@pytest.mark.parametrize("word", ["a1", " A1", "A1 ", "Vaccination_Intent", "C1", "none", "0"])
def test_a_category_must_match_exactly(publisher: Publisher, word: str) -> None:
    """A text that is nearly a category is refused, because a guess could count the wrong topic."""
    result = publisher.anonymize(publisher.log(searches(category=f"CASE WHEN i = 9 THEN '{word}' END")))
    assert_refused(publisher, result, "rows of 2021-03-10 have an unknown value")


def test_a_database_error_shows_no_value(coverage: Coverage, tmp_path: Path) -> None:
    """DuckDB's errors while a day is read quote values of the log; they are replaced by one that does not."""
    log = write_log(tmp_path / "log.csv")
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        engine.connection.execute(f"""
            CREATE OR REPLACE TEMP VIEW log AS
            SELECT 1 AS user_id, TIMESTAMPTZ '2021-03-09 20:00:00+00' AS timestamp, '94103' AS region,
                   CAST(CAST('{SECRET}' AS INTEGER) AS VARCHAR) AS category""")
        with pytest.raises(LogError) as refused:
            engine.bound(WEEK.first_day, WEEK.begin, WEEK.end)
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__


def test_an_interrupt_during_a_query_is_an_interrupt(coverage: Coverage) -> None:
    """Ctrl-C during a query of DuckDB ends the run as interrupted, not with a fault."""

    class Interrupted:
        def execute(self, sql: str) -> None:
            raise RuntimeError("Query interrupted")  # as DuckDB does

    log = SearchLog(LogSource(()), (), (), INSTANTS, "BIGINT", queries=False)
    engine = DuckDbEngine(
        cast(duckdb.DuckDBPyConnection, Interrupted()), log, coverage.spec, region_names(coverage), model=None
    )
    with pytest.raises(KeyboardInterrupt):
        engine.bound(WEEK.first_day, WEEK.begin, WEEK.end)


@pytest.mark.parametrize(
    ("one", "other"), [("123::DOUBLE", "'123'"), ("123", "'123'"), ("123::DECIMAL(9, 2)", "'123'")]
)
def test_users_of_another_type_in_one_of_the_files_are_refused(publisher: Publisher, one: str, other: str) -> None:
    """123 and '123.0' would be two users to X1, so users must have the same type in all files."""
    publisher.log(searches(user_id=one), "a.parquet")
    publisher.log(searches(user_id=other), "b.parquet")
    result = publisher.anonymize(publisher.folder / "[ab].parquet")
    assert_refused(publisher, result, "b.parquet: column 'user_id': its type is VARCHAR, in other files")


def test_the_fields_of_a_structure_are_not_shown(publisher: Publisher) -> None:
    """Their names may be values: a type is named without them, for one file and where files differ."""
    publisher.log(searches(region=f"{{'{SECRET}': i}}"), "a.parquet")
    assert_refused(publisher, publisher.anonymize(publisher.folder / "a.parquet"), "its type is STRUCT")
    publisher.log(searches(), "b.parquet")
    result = publisher.anonymize(publisher.folder / "[ab].parquet")
    assert_refused(publisher, result, "its type is VARCHAR, in other files STRUCT;")
    assert SECRET not in result[2]
