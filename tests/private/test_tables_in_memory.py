"""A log may be a table in memory: a DataFrame of pandas or Polars, or a table, reader or dataset of Arrow."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import search_insights as si
from search_insights.errors import LogError
from search_insights.private.duckdb_log import open_log
from search_insights.private.spark.session import private_session
from search_insights.spec.coverage import Coverage
from tests.support.logs import MONDAY, SECRET, WEEK, Publisher, ReadRow, on_spark, searches, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "Arrow table": lambda table: table,
    "Arrow reader": lambda table: table.to_reader(),
    "Arrow dataset": ds.dataset,
    "pandas": lambda table: table.to_pandas(),
    "pandas, of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.from_arrow,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def table_of(folder: Path, query: str | None = None) -> pa.Table:
    """Return a log as an Arrow table."""
    return pq.read_table(write_log(folder / "log.parquet", query))


def read(data: Any, **how: Any) -> list[ReadRow]:
    """Return the rows that the program reads from a table."""
    with duckdb.connect() as connection:
        open_log(connection, si.LogSource(data=data, **how), "UTC")
        shown = "user_id::VARCHAR, epoch_us(timestamp)::VARCHAR, region, coalesce(category, 'none')"
        return connection.execute(f"SELECT {shown} FROM log ORDER BY ALL").fetchall()


def refusal(data: Any, **how: Any) -> str:
    """Return the message with which a table is refused; it never has a private value."""
    with pytest.raises(LogError) as refused:
        read(data, **how)
    assert SECRET not in str(refused.value)
    return str(refused.value)


@kinds
def test_every_kind_of_table_is_read(usual: list[ReadRow], tmp_path: Path, kind: str) -> None:
    """The rows are those of the same log in a file, whatever library holds the table."""
    assert read(KINDS[kind](table_of(tmp_path))) == usual


@pytest.mark.parametrize("kind", ["Arrow reader", "pandas"])
def test_a_table_is_anonymized(publisher: Publisher, tmp_path: Path, kind: str) -> None:
    """`anonymize` takes a table in place of files; a reader, which can be read once, is enough for a whole week."""
    source = si.LogSource(data=KINDS[kind](table_of(tmp_path)))
    (done,) = si.anonymize(source, publisher.store, [WEEK], publisher.coverage)
    assert (done.was_there, done.unused.rows, done.unused.total) == (False, 140, 0)
    assert [entry.times for entry in publisher.ledger()] == ["instant"]


@pytest.mark.parametrize(
    "time",
    [
        f"TIMESTAMP '{MONDAY} 20:00:00' + to_days((i % 7)::INTEGER)",
        f"strftime(TIMESTAMP '{MONDAY} 20:00:00' + to_days((i % 7)::INTEGER), '%Y-%m-%dT%H:%M:%SZ')",
        f"epoch_ms(TIMESTAMP '{MONDAY} 20:00:00' + to_days((i % 7)::INTEGER))",
    ],
    ids=["without a zone", "text", "milliseconds"],
)
@kinds
def test_times_of_a_table_have_the_forms_of_files(usual: list[ReadRow], tmp_path: Path, kind: str, time: str) -> None:
    """Clock times, text and numbers are read as in files."""
    assert read(KINDS[kind](table_of(tmp_path, searches(timestamp=time))), naive_zone="UTC") == usual


def test_columns_are_mapped_and_the_others_left_alone(usual: list[ReadRow], tmp_path: Path) -> None:
    """Roles are mapped by name; a column of another library's making does no harm."""
    table = table_of(tmp_path, f"SELECT * RENAME (user_id AS uid), [{{'a': 1}}] AS more FROM ({searches()})")
    assert read(table, columns={"user_id": "uid"}) == usual


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            searches(region="94103"),
            "column 'region': expected text, because codes have leading zeros; its type is INTEGER",
        ),
        (
            searches(user_id="i + 0.5::DOUBLE"),
            "column 'user_id': expected a whole number, text or UUID; its type is DOUBLE",
        ),
        (searches(user_id=""), "no column 'user_id' for user_id; the columns are timestamp, region, category"),
        (searches(category=""), "no column 'category' or 'query'"),
        (searches(timestamp="i"), "its numbers are no times from 1990 to 2099"),
    ],
)
def test_a_table_is_checked_like_a_file(tmp_path: Path, query: str, words: str) -> None:
    """The error says which table, by its kind, and what is wrong with which column."""
    assert refusal(table_of(tmp_path, query)).startswith("the Table given as data: ")
    assert words in refusal(pl.from_arrow(table_of(tmp_path, query)))


def test_a_column_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    """It is not known which of them is meant."""
    table = table_of(tmp_path).append_column("user_id", pa.array(["x"] * 140))
    assert "column 'user_id' occurs twice; keep one of them" in refusal(table)


def test_pandas_columns_of_mixed_types_are_refused(tmp_path: Path) -> None:
    """Their type is not guessed from the first rows, and no value is shown."""
    frame = table_of(tmp_path).to_pandas()
    frame["user_id"] = pd.Series([*range(139), f"{SECRET}"], dtype=object)
    assert "cannot be read as Arrow data; each column must have one type" in refusal(frame)


@pytest.mark.parametrize("data", [[{"user_id": 1}], "log.parquet", pl.LazyFrame({"user_id": [1]})])
def test_what_is_no_table_is_refused(data: Any) -> None:
    """Lists and names of files are not tables, and a LazyFrame has to be collected first."""
    assert "expected a DataFrame of pandas or Polars, or a table, reader or dataset of Arrow" in refusal(data)


def test_files_and_a_table_together_are_refused(tmp_path: Path) -> None:
    """A log is one or the other, and not nothing."""
    assert "there are files too (patterns)" in refusal(table_of(tmp_path), patterns=("log.parquet",))
    assert "no log is given" in refusal(None)


def test_a_source_never_shows_its_table(tmp_path: Path) -> None:
    """The text of a source, as a traceback or a debugger shows it, has no value of the log."""
    source = si.LogSource(data=table_of(tmp_path, searches(user_id=f"'{SECRET}' || i")))
    assert SECRET not in repr(source)


def test_a_table_is_refused_on_spark(spark: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """The engine for Spark reads what Spark reads."""
    with pytest.raises(LogError, match="on Spark a log is Parquet files or a table; use the duckdb engine"):
        on_spark(private_session(spark), coverage, data=table_of(tmp_path))


def test_polars_needs_no_pyarrow(tmp_path: Path) -> None:
    """The program does not depend on pyarrow: a table that speaks Arrow is enough."""
    log = write_log(tmp_path / "log.parquet")
    code = f"""
import sys
sys.modules["pyarrow"] = None
import duckdb, polars
from search_insights import LogSource
from search_insights.private.duckdb_log import open_log
with duckdb.connect() as connection:
    open_log(connection, LogSource(data=polars.read_parquet({str(log)!r})), "UTC")
    print(connection.execute("SELECT count(timestamp) FROM log").fetchone()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "140\n"
