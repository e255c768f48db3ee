"""Promises about the files of a simulated log: their columns, and the folder they go into."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from search_insights.errors import InputError
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.private.region_names import region_names
from search_insights.simulation.files import log_region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from tests.support.logs import numbers_of
from tests.support.simulated_logs import SUNDAY, US_EVENTS, Query, rows, simulate_small


def test_a_log_is_one_file_a_day_with_the_columns_of_an_event(us_log: Query) -> None:
    """A day's file holds user_id, timestamp, region and category. Times are instants; NULL means no topic."""
    types = [row[:2] for row in us_log("DESCRIBE log")]
    assert types == [
        ("user_id", "BIGINT"),
        ("timestamp", "TIMESTAMP WITH TIME ZONE"),
        ("region", "VARCHAR"),
        ("category", "VARCHAR"),
    ]
    found = us_log("SELECT DISTINCT category FROM log ORDER BY category NULLS FIRST")
    assert found == [(None,), ("A1",), ("A2",), ("A3",)]
    assert us_log("SELECT count(*), count(user_id), count(timestamp), count(region) FROM log") == [(US_EVENTS,) * 4]


@pytest.mark.parametrize("coverage", ["us_coverage", "other_coverage"])
def test_a_region_name_in_a_log_means_one_region(coverage: str, request: pytest.FixtureRequest) -> None:
    """A place_id means its region, and a code is used only if no two levels share codes: nothing is ambiguous."""
    given: Coverage = request.getfixturevalue(coverage)
    numbers = numbers_of(region_names(given))
    assert [numbers[name] for name in log_region_names(given)[1:]] == list(range(1, len(given.geography.regions)))


# Who may read it


@pytest.fixture
def open_mask() -> Iterator[None]:
    """The mask of someone whose files all may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_mask")
def test_a_log_and_its_truth_are_readable_by_their_owner_only(tmp_path: Path, other_coverage: Coverage) -> None:
    """They stand for private data, so folders have mode 0700 and files 0600, whatever the user's mask is."""
    log, truth = tmp_path / "new" / "log", tmp_path / "truth.parquet"
    (tmp_path / "named").mkdir()
    simulated = simulate(log, other_coverage, SUNDAY, 1, 1000, 1, queries=True, truth=truth, named=tmp_path / "named")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (log.parent, log)] == [0o700, 0o700]
    files = [*log.iterdir(), *(tmp_path / "named").iterdir(), truth]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    add_exact_counts(truth, tmp_path / "named", simulated.weeks, other_coverage, lambda step: None)
    assert stat.S_IMODE(truth.stat().st_mode) == 0o600
    assert os.umask(0) == 0  # the user's mask is as it was


# The folder


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 4}, "another simulation .seed differs."),
        ({"events_per_week": 8000, "users": 1750}, "another simulation .events_per_week differs."),
        ({"queries": True}, "another simulation .queries differs."),
        ({"peak_share": 0.2, "users": 9}, "another simulation .users, peak_share differ."),
    ],
)
def test_a_folder_with_another_simulation_is_refused(
    tmp_path: Path, other_coverage: Coverage, options: dict[str, Any], words: str
) -> None:
    """Two simulations never mix in one folder, and the existing log is not changed."""
    before = simulate_small(tmp_path / "log", other_coverage)
    with pytest.raises(InputError, match=words):
        simulate_small(tmp_path / "log", other_coverage, **options)
    assert {path.stem: rows(path) for path in (tmp_path / "log").iterdir()} == before


def test_a_folder_with_anything_else_is_refused(tmp_path: Path, other_coverage: Coverage) -> None:
    """A simulated log is never written next to a real one."""
    (tmp_path / "2023-10-01.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"holds 2023-10-01\.parquet, which is not from a simulation"):
        simulate(tmp_path, other_coverage, SUNDAY, 1, 1000, 1)
    with pytest.raises(InputError, match="cannot be used as a folder"):
        simulate(tmp_path / "2023-10-01.parquet", other_coverage, SUNDAY, 1, 1000, 1)


def test_a_file_is_written_completely_or_not_at_all(
    tmp_path: Path, other_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file cannot be finished, no part of it is left, and the error is one line."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="cannot be written"):
        simulate_small(tmp_path / "log", other_coverage)
    assert list((tmp_path / "log").iterdir()) == []


def test_the_leftovers_of_an_interrupted_run_are_overwritten(tmp_path: Path, other_coverage: Coverage) -> None:
    """The next run is not refused and replaces them."""
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / ".2023-10-01.parquet.part").write_bytes(b"half")
    simulate(tmp_path / "log", other_coverage, SUNDAY, 1, 1000, 1)
    assert sorted(path.name for path in (tmp_path / "log").iterdir())[0] == "2023-10-01.parquet"
