"""Search logs and a little country for tests, and a publisher who anonymizes logs of that country.

The country has the levels of the packaged spec: three states, counties of each size class, and a code (35013) that a
county in one state shares with a postal code in another. Its logs are small enough to be counted by hand.
"""

import atexit
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pytest

from search_insights.private.counting import Tolerance, WeekCounts, add_contributions, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.duckdb_log import open_log
from search_insights.private.engine import Contributions
from search_insights.private.log import LogSource
from search_insights.private.region_names import CLASS_BITS, RegionNames, region_names
from search_insights.private.spark.engine import SparkEngine, spark_engine
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.journal import journal_path
from search_insights.store.ledger import LedgerEntry
from search_insights.store.opening import open_store
from search_insights.support.arrays import Counts
from search_insights.support.sql import literal
from tests.support.command_line import Run, assert_one_line
from tests.support.other_country import Row, write_csv
from tests.support.quick_accounting import patch_account

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CellCounts = dict[tuple[str, str], int]
ReadRow = tuple[str, str, str, str]

MONDAY = "2021-03-08"  # summer time begins on its Sunday
PACIFIC = ZoneInfo("America/Los_Angeles")  # the zone of the packaged release
WEEK = Week(date.fromisoformat(MONDAY), PACIFIC.key)
NEXT_WEEK = Week(date(2021, 3, 15), PACIFIC.key)
ROWS = 140  # of `searches`: 20 on each day, so that 7 of them are 5 %
NOON = f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days((i % 7)::INTEGER)"  # of the week's days in turn, as SQL
SECRET = "hushhush"  # stands for anything private; no output may contain it

LITTLE_REGIONS: tuple[Row, ...] = (
    ("US", "United States", "country", None, None, None, None, None, "country/USA"),
    ("US-AL", "Alabama", "state", "country/USA", None, 131_000.0, None, None, "geoId/01"),
    ("US-CA", "California", "state", "country/USA", None, 403_000.0, None, None, "geoId/06"),
    ("US-NM", "New Mexico", "state", "country/USA", None, 314_000.0, None, None, "geoId/35"),
    ("01009", "Blount", "county", "geoId/01", 57_840, 1_670.0, None, None, "geoId/01009"),  # small
    ("06003", "Alpine", "county", "geoId/06", 1_101, 1_912.0, None, None, "geoId/06003"),  # small
    ("06017", "El Dorado", "county", "geoId/06", 190_678, 4_422.0, None, None, "geoId/06017"),  # medium
    ("06075", "San Francisco", "county", "geoId/06", 883_305, 121.0, None, None, "geoId/06075"),  # large
    ("35013", "Doña Ana", "county", "geoId/35", 217_522, 9_862.0, None, None, "geoId/35013"),  # medium
    ("35013", "Allgood", "postal_code", "geoId/01009", None, 10.0, None, None, "zip/35013"),
    ("94103", "South of Market", "postal_code", "geoId/06075", None, 3.5, None, None, "zip/94103"),
    ("94104", "too small to report", "postal_code", "geoId/06075", None, 0.2, None, None, "zip/94104"),
    ("95667", "Placerville", "postal_code", "geoId/06017", None, 500.0, None, None, "zip/95667"),
    ("96120", "Markleeville", "postal_code", "geoId/06003", None, 900.0, None, None, "zip/96120"),
)


def little_geography(folder: Path) -> Path:
    """Write the little country as a file for commands."""
    return write_csv(folder / "little.csv", LITTLE_REGIONS)


def little_coverage(folder: Path) -> Coverage:
    """Return the packaged release of the little country."""
    return Coverage(load_spec(), load_geography(little_geography(folder)))


def searches(
    *,
    user_id: str = "i",
    timestamp: str = NOON,
    region: str = "['94103', '95667', 'geoId/06003', 'US-NM'][(i % 4) + 1]",
    category: str = "['A1', 'A2', 'A3', NULL, NULL][(i % 5) + 1]",
    more: str = "",
    rows: int = ROWS,
) -> str:
    """Return the query of a log: each row is a search by another user, at noon of the week's days in turn.

    Each column is an SQL expression in `i`, the number of the row; an empty expression omits the column.
    """
    roles = {"user_id": user_id, "timestamp": timestamp, "region": region, "category": category}
    columns = [f'{expression} AS "{role}"' for role, expression in roles.items() if expression]
    return f"SELECT {', '.join(columns)}{more and ', ' + more} FROM range({rows}) AS r(i)"


def searches_of_day(day: int) -> str:
    """Return the query of the usual log's searches on one day of the week, counted from 0."""
    return f"SELECT * FROM ({searches()}) WHERE date_diff('day', TIMESTAMPTZ '{MONDAY} 00:00:00+00', timestamp) = {day}"


def searches_of_weeks(*offsets: int) -> str:
    """Return the query of a log of several weeks, each given by its distance in weeks from the usual one."""
    return " UNION ALL ".join(searches(timestamp=f"{NOON} + to_days({7 * offset})") for offset in offsets)


def write_log(path: Path, query: str | None = None) -> Path:
    """Write a log in the format that the file's name says: .parquet, .csv, .tsv or .jsonl, the last three also .gz."""
    if path.name.endswith((".parquet", ".pq")):
        options = "FORMAT parquet"
    elif ".csv" not in path.name and ".tsv" not in path.name:
        options = f"FORMAT json, COMPRESSION {'gzip' if path.name.endswith('.gz') else 'none'}"
    else:
        delimiter = "\t" if ".tsv" in path.name else ","
        packed = "gzip" if path.name.endswith(".gz") else "none"
        options = f"FORMAT csv, HEADER, DELIMITER {literal(delimiter)}, COMPRESSION {packed}"
    path.parent.mkdir(parents=True, exist_ok=True)
    _writer().execute(f"COPY ({query or searches()}) TO {literal(str(path))} ({options})")
    return path


@cache
def _writer() -> "duckdb.DuckDBPyConnection":  # quoted: a cached function that holds DuckDB's class outlives it
    """Open a database for all logs, because a new one takes time to open."""
    atexit.register(_writer.cache_clear)  # while Python still runs: DuckDB complains about what is left
    connection = duckdb.connect(config={"enable_external_file_cache": "false"})  # some logs are made from others
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def write_rows(path: Path, rows: Sequence[tuple[object, ...]], types: Sequence[str]) -> Path:
    """Write a log of these rows (user_id, timestamp, region, category) with columns of these types."""
    listed = [f"CAST({_value(row[c])} AS {kind})" for row in rows for c, kind in enumerate(types)]
    width = len(types)
    values = ", ".join(f"({', '.join(listed[i : i + width])})" for i in range(0, len(listed), width))
    return write_log(path, f"SELECT * FROM (VALUES {values}) AS t(user_id, timestamp, region, category)")


def _value(value: object) -> str:
    return "NULL" if value is None else literal(str(value))


def read(*patterns: Path | str, columns: dict[str, str] | None = None) -> list[ReadRow]:
    """Return the rows that the program reads from a log, sorted: (user, time, region, category), all as text."""
    with duckdb.connect() as connection:
        open_log(connection, LogSource(tuple(str(p) for p in patterns), columns or {}), "UTC")
        shown = "user_id::VARCHAR, epoch_us(timestamp)::VARCHAR, region::VARCHAR, coalesce(category, 'none')"
        return connection.execute(f"SELECT {shown} FROM log ORDER BY ALL").fetchall()


def count(
    coverage: Coverage,
    *patterns: Path | str,
    week: Week = WEEK,
    columns: dict[str, str] | None = None,
    naive_zone: str | None = None,
    code_level: str | None = None,
    tolerance: Tolerance | None = None,
) -> WeekCounts:
    """Return the exact counts of a week, which only tests may see."""
    source = LogSource(tuple(str(p) for p in patterns), columns or {}, naive_zone, code_level)
    names = region_names(coverage, source)
    asked = (week.begin, week.end)
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        cells = CellList(coverage)
        return count_week(engine, cells, names, week, asked, tolerance or Tolerance(), lambda day: None)


def by_cell(coverage: Coverage, counts: Counts) -> CellCounts:
    """Return the counts that are not 0 by (place_id, category)."""
    cells = CellList(coverage).cells
    return {(cells[i].region.place_id, cells[i].category): int(counts[i]) for i in np.flatnonzero(counts)}


def counts_of(coverage: Coverage, found: Contributions, names: RegionNames | None = None) -> Counts:
    """Return the counts of all cells from the contributions of a day."""
    cells = CellList(coverage)
    counts = cells.zeros()
    add_contributions(counts, cells, names or region_names(coverage), found)
    return counts


def numbers_of(names: RegionNames) -> dict[str, int]:
    """Return the number of each name that a log with one column for regions may use."""
    (column,) = names.columns
    return dict(zip(map(str, column.names), (column.bits >> CLASS_BITS & column.mask).tolist(), strict=True))


def on_spark(session: "SparkSession", coverage: Coverage, *patterns: Path | str, **how: Any) -> SparkEngine:
    """Return an engine for a log on Spark."""
    source = LogSource(tuple(str(p) for p in patterns), **how)
    return spark_engine(session, source, coverage.spec, region_names(coverage, source))


@dataclass(frozen=True)
class Publisher:
    """A user of the program who has a folder and the geography of the little country."""

    folder: Path
    geography: Path
    run: Run

    @property
    def store(self) -> Path:
        """The path of the store."""
        return self.folder / "store.db"

    @property
    def coverage(self) -> Coverage:
        """The coverage of the store."""
        return Coverage(load_spec(), load_geography(self.geography))

    def log(self, query: str | None = None, name: str = "log.parquet") -> Path:
        """Write a log."""
        return write_log(self.folder / name, query)

    def anonymize(self, *arguments: Path | str, week: str | None = MONDAY) -> tuple[int, str, str]:
        """Run `anonymize` on the store; returns the exit code, standard output and standard error."""
        weeks = ("--week", week) if week else ()
        return self.run("anonymize", *arguments, "--store", self.store, "--geography", self.geography, *weeks)

    def ledger(self) -> list[LedgerEntry]:
        """Return the entries of the ledger; none if there is no store."""
        if not self.store.exists():
            return []
        with open_store(self.store) as store:
            return store.entries()

    def forget(self) -> None:
        """Delete the store and its journal, which nobody may do who has published a week."""
        self.store.unlink()
        journal_path(self.store).unlink()

    def noisy(self, week: Week = WEEK) -> Counts:
        """Return the stored counts of a week."""
        with open_store(self.store) as store:
            return store.noisy_counts(week)


def new_publisher(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Publisher:
    """Return a publisher. The accounting of a spec is done once for all tests, and progress is not shown."""
    patch_account(monkeypatch.setattr)
    return Publisher(folder, little_geography(folder), run)


def assert_refused(publisher: Publisher, result: tuple[int, str, str], *words: str) -> None:
    """Check that the run ended with exit code 2 and one line with these words, and that nothing was spent."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert_one_line(err)
    for word in words:
        assert word in err
    assert publisher.ledger() == []
