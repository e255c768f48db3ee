"""A day that is too large for memory is bounded in parts or on disk, with the same counts."""

import stat
from pathlib import Path

import numpy as np
import pytest

from search_insights.private import duckdb_engine
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Contributions
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from tests.support.logs import MONDAY, WEEK, Publisher, counts_of, searches, write_log

DAY = WEEK.days[0]


def bound(coverage: Coverage, log: Path) -> Contributions:
    """Return the contributions of the first day of the week."""
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        return engine.bound(DAY, *WEEK.day_bounds(DAY))


def how_many_parts(found: Contributions) -> int:
    """Return how often the most common sum occurs: once for each part that has users with it."""
    sums = np.stack([found.categories, found.open_places, found.classed_places, found.finest_places])
    return int(np.unique(sums, axis=1, return_counts=True)[1].max())


@pytest.mark.parametrize(("bytes_an_event", "parts"), [(5e5, 3), (1e12, 6)])
def test_a_day_in_parts_has_the_counts_of_the_day_in_one(
    coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_an_event: float, parts: int
) -> None:
    """A user's events of the day are all in one part, so each draw is the same as without parts."""
    query = searches(
        rows=70_000,
        user_id="i % 2003",
        timestamp=f"TIMESTAMPTZ '{DAY} 20:00:00+00' + to_days(i % 7) + to_seconds(i % 3601)",
        region="['94103', '95667', 'geoId/06003', '94103', 'US-NM', 'US', NULL][1 + (hash(i) % 7)::BIGINT]",
        category="['A1', NULL, 'A2', NULL][1 + (hash(i, 2) % 4)::BIGINT]",
    )
    log = write_log(tmp_path / "log.parquet", query)
    whole = bound(coverage, log)
    assert how_many_parts(whole) == 1
    monkeypatch.setattr(duckdb_engine, "_BYTES_PER_EVENT", (bytes_an_event, bytes_an_event))
    split = bound(coverage, log)
    assert how_many_parts(split) == parts
    assert (split.events, split.unplaced) == (whole.events, whole.unplaced)
    assert whole.events + whole.unplaced.total == 10_000
    assert min(whole.unplaced.country_only, whole.unplaced.no_region) > 1_000
    np.testing.assert_array_equal(counts_of(coverage, split), counts_of(coverage, whole))


@pytest.mark.parametrize(
    ("memory", "database"), [("2.5GB", 2_200e6), ("1GB", 750e6), ("1 GiB", 805e6), ("400MB", 300e6), ("20mb", 15e6)]
)
def test_the_database_gets_the_memory_that_the_program_leaves(
    coverage: Coverage, tmp_path: Path, memory: str, database: float
) -> None:
    """`memory` is that of the run: the database has 300 MB less, or three quarters of less than 1.2 GB."""
    log = LogSource((str(write_log(tmp_path / "log.parquet")),))
    with open_duckdb_engine(log, coverage.spec, region_names(coverage), memory) as engine:
        ((limit,),) = engine.ask("SELECT parse_formatted_bytes(current_setting('memory_limit'))")
    assert limit == pytest.approx(database, rel=0.03)  # DuckDB rounds what it shows


@pytest.mark.parametrize(("users", "bytes_an_event"), [("i", (1e12, 0)), ("i::VARCHAR", (0, 1e12))])
def test_text_and_numbers_have_their_own_memory_estimates(
    coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: str, bytes_an_event: tuple[float, float]
) -> None:
    """The estimate of an event's memory depends on whether users are text or numbers."""
    log = write_log(tmp_path / "log.parquet", searches(user_id=users))
    monkeypatch.setattr(duckdb_engine, "_BYTES_PER_EVENT", bytes_an_event)
    assert how_many_parts(bound(coverage, log)) > 1
    monkeypatch.setattr(duckdb_engine, "_BYTES_PER_EVENT", bytes_an_event[::-1])
    assert how_many_parts(bound(coverage, log)) == 1


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.jsonl"])
def test_text_is_read_once(coverage: Coverage, tmp_path: Path, name: str) -> None:
    """A log of text is copied when it is opened, and its days are counted from the copy."""
    log = write_log(tmp_path / name)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        log.unlink()
        assert [engine.bound(day, *WEEK.day_bounds(day)).events for day in WEEK.days] == [20] * 7


def test_a_copy_that_does_not_fit_into_memory_is_spilled(publisher: Publisher, temporary: Path) -> None:
    """The copy of a log of text goes to the private folder where memory ends, and is removed with it."""
    coverage, rows = publisher.coverage, 1_000_000
    query = searches(user_id="md5(i::VARCHAR) || md5((i + 1)::VARCHAR)", rows=rows)
    source = LogSource((str(publisher.log(query, "log.csv")),))
    with open_duckdb_engine(source, coverage.spec, region_names(coverage), "120MB") as engine:
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert sum(path.stat().st_size for path in folder.iterdir()) > 1_000_000
        assert engine.connection.execute("SELECT count(DISTINCT user_id) FROM log").fetchall() == [(rows,)]
    assert list(temporary.iterdir()) == []


def test_a_day_that_does_not_fit_into_memory_is_counted(
    publisher: Publisher, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit, although it was expected to, is spilled to the private folder; the counts are correct."""
    monkeypatch.setattr(duckdb_engine, "_BYTES_PER_EVENT", (0, 0))
    coverage, rows = publisher.coverage, 2_000_000
    query = searches(user_id="'someone ' || i", timestamp=f"TIMESTAMPTZ '{MONDAY} 20:00:00+00'", rows=rows)
    source = LogSource((str(publisher.log(query)),))
    begin, end = WEEK.day_bounds(WEEK.first_day)
    with open_duckdb_engine(source, coverage.spec, region_names(coverage), "160MB") as engine:
        engine.connection.execute("SET threads = 2")  # each needs memory of its own
        found = engine.bound(WEEK.first_day, begin, end)
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert sum(path.stat().st_size for path in folder.iterdir()) > 1_000_000
    assert found.events == rows
    of_any = found.categories == 0
    assert int(found.user_days[of_any].sum()) == rows
    assert int(found.user_days[~of_any].sum()) == rows * 3 // 5
    assert list(temporary.iterdir()) == []
