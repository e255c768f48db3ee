"""Promises about a simulated log as a whole: its size, what a rerun does, what is refused, and the command."""

import argparse
import math
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.commands import simulate as command
from search_insights.errors import InputError, SearchInsightsError
from search_insights.simulation import simulation as simulate_module
from search_insights.simulation.files import log_region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from tests.support.other_country import other_geography, other_spec, other_spec_file, plain_spec
from tests.support.simulated_logs import MONDAY, SUNDAY, simulate_small


def test_a_week_has_exactly_the_requested_number_of_events(tmp_path: Path, other_coverage: Coverage) -> None:
    """Rounding by day loses no event."""
    for events in (1, 6, 7001):
        days = simulate_small(tmp_path / str(events), other_coverage, events_per_week=events)
        assert len(days) == 7
        assert sum(len(day) for day in days.values()) == events


# The same seed, the same log


def test_the_same_seed_gives_the_same_log_and_another_seed_another(tmp_path: Path, us_coverage: Coverage) -> None:
    """Row by row, in whatever order the threads ran."""
    options: dict[str, Any] = {"first_week": MONDAY, "events_per_week": 70_000}
    one, two, other = (
        simulate_small(tmp_path / name, us_coverage, seed=seed, **options)
        for name, seed in (("1", 3), ("2", 3), ("3", 4))
    )
    assert one == two
    assert all(one[day] != other[day] for day in one)


def test_running_again_writes_the_same_log(tmp_path: Path, other_coverage: Coverage) -> None:
    """A run into the folder of its own log is not an error."""
    first = simulate_small(tmp_path / "log", other_coverage)
    assert simulate_small(tmp_path / "log", other_coverage) == first


def test_a_week_on_its_own_is_the_same_as_in_a_longer_log(tmp_path: Path, other_coverage: Coverage) -> None:
    """A day depends on no other day, so a log can be extended and a lost day can be made again."""
    together = simulate_small(tmp_path / "both", other_coverage, weeks=2)
    alone = simulate_small(tmp_path / "second", other_coverage, SUNDAY + timedelta(weeks=1))
    assert alone == {day: together[day] for day in alone}
    assert len(together) == 14


def test_a_log_can_be_extended_week_by_week(tmp_path: Path, other_coverage: Coverage) -> None:
    """More weeks of the same simulation can go into the same folder."""
    simulate_small(tmp_path / "log", other_coverage)
    assert len(simulate_small(tmp_path / "log", other_coverage, SUNDAY + timedelta(weeks=1))) == 14


# Another release, another country


@pytest.mark.parametrize("spec", [other_spec(), plain_spec()])
@pytest.mark.parametrize("queries", [False, True])
def test_any_spec_and_geography_can_be_simulated(tmp_path: Path, spec: Spec, queries: bool) -> None:
    """Other levels, topics, time zone and first day of the week, and names that need quoting."""
    coverage = Coverage(spec, load_geography(other_geography(tmp_path)))
    first = SUNDAY if spec.first_day_of_week == "sunday" else date(2024, 1, 6)
    truth = tmp_path / "truth.parquet"
    days = simulate_small(tmp_path / "log", coverage, first, queries=queries, truth=truth)
    events = [row for day in days.values() for row in day]
    known = set(log_region_names(coverage)) - {"QZ"}
    assert {row[2] for row in events} <= known
    assert len({row[2] for row in events}) > 10
    if not queries:
        assert {row[3] for row in events} == {None, *spec.topics}
    with duckdb.connect() as connection:
        connection.read_parquet(str(truth)).create_view("t")
        levels = {row[0] for row in connection.execute("SELECT DISTINCT level FROM t").fetchall()}
    assert levels == {"nation", *spec.level_names}


# What is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first_week": SUNDAY + timedelta(days=1)}, "Monday; weeks begin on Sunday"),
        ({"weeks": 0}, "`weeks` 0: expected"),
        ({"weeks": 10**7}, "`weeks` 10000000: the calendar ends"),
        ({"events_per_week": 0}, "`events_per_week` 0: expected"),
        ({"users": 0}, "`users` 0: expected"),
        ({"seed": -1}, "`seed` -1: expected"),
        ({"peak_share": 0.0}, "`peak_share` 0.0: expected"),
        ({"peak_share": 0.6}, "`peak_share` 0.6: expected"),
        ({"peak_share": math.nan}, "`peak_share` nan: expected"),
    ],
)
def test_options_out_of_range_are_refused(
    tmp_path: Path, other_coverage: Coverage, options: dict[str, Any], words: str
) -> None:
    """One line says what was expected, and nothing is written."""
    with pytest.raises(InputError, match=words):
        simulate_small(tmp_path / "log", other_coverage, **options)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("truth.csv", r"a name that ends in \.parquet"),
        ("log/truth.parquet", "a file outside"),
        ("nowhere/truth.parquet", "no folder"),
    ],
)
def test_a_truth_file_in_the_wrong_place_is_refused(
    tmp_path: Path, other_coverage: Coverage, truth: str, words: str
) -> None:
    """The truth must be Parquet and outside the log's folder; this is checked before any work is done."""
    with pytest.raises(InputError, match=words):
        simulate_small(tmp_path / "log", other_coverage, truth=tmp_path / truth)
    assert not (tmp_path / "log").exists()


# The command


def run_command(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(argument) for argument in arguments]))


def test_the_command_writes_the_log_and_says_that_the_truth_is_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints where the log is, how large it is, and that the truth is for evaluation only."""
    monkeypatch.setattr("search_insights.commands.console.PATIENCE", math.inf)  # however busy the machine is
    where = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path))
    what = ("--from", "2023-10-01", "--weeks", "2", "--events-per-week", "7000", "--seed", "3")
    code = run_command("--out", tmp_path / "log", *what, *where, "--truth", tmp_path / "t.parquet")
    printed = capsys.readouterr()
    assert code == 0
    assert f"{tmp_path / 'log'}: 14 days, 14,000 events" in printed.out
    assert "private, for evaluation only" in printed.out
    assert len(list((tmp_path / "log").iterdir())) == 14
    assert printed.err == ""


def test_the_command_refuses_an_invalid_date(tmp_path: Path) -> None:
    """The error is one line that names the option."""
    with pytest.raises(SearchInsightsError, match="--from someday: expected a date"):
        run_command("--out", tmp_path / "log", "--from", "someday", "--seed", "3")


def test_progress_is_reported_at_most_once_a_week(
    tmp_path: Path, other_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that finishes quickly reports nothing."""
    lines: list[str] = []
    simulate_small(tmp_path / "quick", other_coverage, progress=lines.append)
    assert lines == []
    clock = iter(range(0, 10**6, 10))
    monkeypatch.setattr(simulate_module, "monotonic", lambda: next(clock))
    simulate_small(tmp_path / "slow", other_coverage, weeks=3, progress=lines.append)
    assert len(lines) == 3
    assert "21,000 of 21,000 events" in lines[-1]
