"""A day that is too large for memory is bounded part by part, and nobody can tell from the counts."""

from pathlib import Path

import numpy as np
import pytest

from search_insights.private import duckdb_engine
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Contributions
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from tests.support.logs import WEEK, counts_of, searches, write_log

DAY = WEEK.days[0]


def bound(coverage: Coverage, log: Path) -> Contributions:
    """Bound the first day of the week."""
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        return engine.bound(DAY, *WEEK.day_bounds(DAY))


def how_many_parts(found: Contributions) -> int:
    """Tell by how often the commonest sum occurs, which is there once for each part that has users with it."""
    sums = np.stack([found.categories, found.open_regions, found.classed_regions])
    return int(np.unique(sums, axis=1, return_counts=True)[1].max())


@pytest.mark.parametrize(("bytes_an_event", "parts"), [(5e5, 3), (1e12, 6)])
def test_a_day_in_parts_has_the_counts_of_the_day_in_one(
    coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_an_event: float, parts: int
) -> None:
    """Every user falls into one part with all events of the day, so each draw is the one that it would have been."""
    query = searches(
        rows=70_000,
        user_id="i % 2003",
        timestamp=f"TIMESTAMPTZ '{DAY} 20:00:00+00' + to_days(i % 7) + to_seconds(i % 3601)",
        region="['94103', '95667', 'geoId/06003', '94103', 'US-NM'][1 + (hash(i) % 5)::BIGINT]",
        category="['A1', NULL, 'A2', NULL][1 + (hash(i, 2) % 4)::BIGINT]",
    )
    log = write_log(tmp_path / "log.parquet", query)
    whole = bound(coverage, log)
    assert how_many_parts(whole) == 1
    monkeypatch.setattr(duckdb_engine, "_BYTES_AN_EVENT", (bytes_an_event, bytes_an_event))
    split = bound(coverage, log)
    assert how_many_parts(split) == parts
    assert split.events == whole.events == 10_000
    np.testing.assert_array_equal(counts_of(coverage, split), counts_of(coverage, whole))


@pytest.mark.parametrize(("users", "bytes_an_event"), [("i", (1e12, 0)), ("i::VARCHAR", (0, 1e12))])
def test_text_is_reckoned_to_take_more_memory_than_numbers(
    coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, users: str, bytes_an_event: tuple[float, float]
) -> None:
    """Which of the two figures is used depends on the users' type."""
    log = write_log(tmp_path / "log.parquet", searches(user_id=users))
    monkeypatch.setattr(duckdb_engine, "_BYTES_AN_EVENT", bytes_an_event)
    assert how_many_parts(bound(coverage, log)) > 1
    monkeypatch.setattr(duckdb_engine, "_BYTES_AN_EVENT", bytes_an_event[::-1])
    assert how_many_parts(bound(coverage, log)) == 1


def test_csv_is_read_once(coverage: Coverage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer to read than to spill."""
    monkeypatch.setattr(duckdb_engine, "_BYTES_AN_EVENT", (1e12, 1e12))
    assert how_many_parts(bound(coverage, write_log(tmp_path / "log.csv"))) == 1
