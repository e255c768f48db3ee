"""Search logs and a little country for tests, and a publisher who anonymizes the one with the other.

The country has the levels of the packaged spec: three states, counties of each size class, and a code (35013) that a
county in one state shares with a postal code in another. Its logs are small enough to be counted by hand.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pytest

from search_insights.commands.console import Steps
from search_insights.dp import accounting
from search_insights.private.counting import Tolerance, WeekCounts, add_contributions, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Contributions
from search_insights.private.log import LogSource, open_log
from search_insights.private.region_names import region_names
from search_insights.private.spark.engine import SparkEngine, spark_engine
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.journal import journal_path
from search_insights.store.ledger import LedgerEntry
from search_insights.store.store import open_store
from search_insights.support.arrays import Counts
from search_insights.support.quoting import literal
from tests.support.other_country import Row, write_csv

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Run = Callable[..., tuple[int, str, str]]
CellCounts = dict[tuple[str, str], int]

MONDAY = "2021-03-08"  # summer time begins on its Sunday
PACIFIC = ZoneInfo("America/Los_Angeles")  # the zone of the packaged release
WEEK = Week(date.fromisoformat(MONDAY), PACIFIC.key)
ROWS = 140  # of `searches`: 20 on each day, so that 7 of them are 5 %

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

_account_once = cache(accounting.account)


def little_geography(folder: Path) -> Path:
    """Write the little country for commands to read."""
    return write_csv(folder / "little.csv", LITTLE_REGIONS)


def little_coverage(folder: Path) -> Coverage:
    """Apply the packaged spec to the little country."""
    return Coverage(load_spec(), load_geography(little_geography(folder)))


def searches(
    *,
    user_id: str = "i",
    timestamp: str = f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days((i % 7)::INTEGER)",
    region: str = "['94103', '95667', 'geoId/06003', 'US-NM'][(i % 4) + 1]",
    category: str = "['A1', 'A2', 'A3', NULL, NULL][(i % 5) + 1]",
    more: str = "",
    rows: int = ROWS,
) -> str:
    """Write the query of a log: a search of another user in each row, about noon, day after day of the week.

    Each column is an SQL expression in `i`, the number of the row; an empty one leaves the column out.
    """
    roles = {"user_id": user_id, "timestamp": timestamp, "region": region, "category": category}
    columns = [f'{expression} AS "{role}"' for role, expression in roles.items() if expression]
    return f"SELECT {', '.join(columns)}{more and ', ' + more} FROM range({rows}) AS r(i)"


def write_log(path: Path, query: str | None = None) -> Path:
    """Write a log as its name says: .parquet, .csv, .csv.gz or .tsv."""
    if path.name.endswith((".parquet", ".pq")):
        options = "FORMAT parquet"
    else:
        delimiter = "\t" if ".tsv" in path.name else ","
        packed = "gzip" if path.name.endswith(".gz") else "none"
        options = f"FORMAT csv, HEADER, DELIMITER {literal(delimiter)}, COMPRESSION {packed}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY ({query or searches()}) TO {literal(str(path))} ({options})")
    return path


def write_rows(path: Path, rows: Sequence[tuple[object, ...]], types: Sequence[str]) -> Path:
    """Write a log of these rows (user_id, timestamp, region, category), with columns of these types."""
    listed = [f"CAST({_value(row[c])} AS {kind})" for row in rows for c, kind in enumerate(types)]
    width = len(types)
    values = ", ".join(f"({', '.join(listed[i : i + width])})" for i in range(0, len(listed), width))
    return write_log(path, f"SELECT * FROM (VALUES {values}) AS t(user_id, timestamp, region, category)")


def _value(value: object) -> str:
    return "NULL" if value is None else literal(str(value))


def read(*patterns: Path | str, columns: dict[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    """Read what the program sees of a log, in order: (user, time, region, category), all as text."""
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
    """Count a week exactly, as only a test may look at it."""
    source = LogSource(tuple(str(p) for p in patterns), columns or {}, naive_zone, code_level)
    names = region_names(coverage, code_level)
    asked = (week.begin, week.end)
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        cells = CellList(coverage)
        return count_week(engine, cells, names, week, asked, tolerance or Tolerance(), lambda day: None)


def by_cell(coverage: Coverage, counts: Counts) -> CellCounts:
    """Name the cells that are not 0 by (place_id, category)."""
    cells = CellList(coverage).cells
    return {(cells[i].region.place_id, cells[i].category): int(counts[i]) for i in np.flatnonzero(counts)}


def counts_of(coverage: Coverage, found: Contributions) -> Counts:
    """Count what a day contributes, cell by cell."""
    cells = CellList(coverage)
    counts = cells.zeros()
    add_contributions(counts, cells, region_names(coverage), found)
    return counts


def on_spark(session: "SparkSession", coverage: Coverage, *patterns: Path | str, **how: Any) -> SparkEngine:
    """Open a log on Spark."""
    source = LogSource(tuple(str(p) for p in patterns), **how)
    return spark_engine(session, source, coverage.spec, region_names(coverage))


@dataclass(frozen=True)
class Publisher:
    """Someone with a folder, the little country, and the program."""

    folder: Path
    geography: Path
    run: Run

    @property
    def store(self) -> Path:
        """Where the weeks go."""
        return self.folder / "store.db"

    @property
    def coverage(self) -> Coverage:
        """What the store's weeks cover."""
        return Coverage(load_spec(), load_geography(self.geography))

    def log(self, query: str | None = None, name: str = "log.parquet") -> Path:
        """Write a log."""
        return write_log(self.folder / name, query)

    def anonymize(self, *arguments: Path | str, week: str | None = MONDAY) -> tuple[int, str, str]:
        """Run `anonymize` on the store; gives the exit code, standard output and standard error."""
        weeks = ("--week", week) if week else ()
        return self.run("anonymize", *arguments, "--store", self.store, "--geography", self.geography, *weeks)

    def ledger(self) -> list[LedgerEntry]:
        """Read what was spent; nothing if there is no store."""
        if not self.store.exists():
            return []
        with open_store(self.store) as store:
            return store.entries()

    def forget(self) -> None:
        """Begin anew, as nobody does whose weeks may have been published."""
        self.store.unlink()
        journal_path(self.store).unlink()

    def noisy(self, week: Week = WEEK) -> Counts:
        """Read the stored counts of a week."""
        with open_store(self.store) as store:
            return store.noisy_counts(week)


def new_publisher(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Publisher:
    """Set a publisher up. The accounting of a spec is done once for all tests, and progress is not shown."""
    monkeypatch.setattr(accounting, "account", _account_once)
    monkeypatch.setattr("search_insights.commands.anonymize.Steps", lambda: Steps(patience=math.inf))
    return Publisher(folder, little_geography(folder), run)


def assert_refused(publisher: Publisher, result: tuple[int, str, str], *words: str) -> None:
    """The refusal is one line with these words and exit code 2, and nothing was spent."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("search-insights: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for word in words:
        assert word in err
    assert publisher.ledger() == []
