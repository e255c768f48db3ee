"""`anonymize`: its options, what it prints, and its defaults."""

import os
from pathlib import Path

import duckdb
import pytest

from search_insights.anonymization import LogSource, anonymize
from search_insights.errors import InputError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.store.journal import journal_path
from tests.support.command_line import Run
from tests.support.logs import (
    MONDAY,
    NEXT_WEEK,
    WEEK,
    Publisher,
    assert_refused,
    searches,
    searches_of_weeks,
    write_log,
)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--from", MONDAY),
        ("--to", MONDAY),
        ("--week", MONDAY, "--from", MONDAY, "--to", MONDAY),
        ("--week", MONDAY, "--from", MONDAY),
    ],
)
def test_weeks_are_given_in_one_of_two_ways(publisher: Publisher, options: tuple[str, ...]) -> None:
    """Weeks are given as one or more --week, or as --from and --to; anything else is refused."""
    result = publisher.anonymize(publisher.log(), *options, week=None)
    assert_refused(publisher, result, "say which weeks: one or more --week DAY, or --from DAY --to DAY")
    assert not publisher.store.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--week", "2021-03-10"), "--week 2021-03-10 is a Wednesday; weeks begin on Monday: use 2021-03-08"),
        (("--week", "last"), "--week last: expected a date such as 2021-03-08"),
        (("--from", "2021-03-15", "--to", MONDAY), "--to 2021-03-08 is before --from 2021-03-15"),
        (("--from", MONDAY, "--to", "2021-03-16"), "--to 2021-03-16 is a Tuesday"),
        (("--week", MONDAY, "--allow-missing-day", "friday"), "--allow-missing-day friday: expected a date"),
        (("--week", MONDAY, "--max-left-out", "5"), "--max-left-out 5.0: expected a share between 0 and 1"),
        (("--week", MONDAY, "--max-left-out", "nan"), "--max-left-out nan: expected a share between 0 and 1"),
        (("--week", MONDAY, "--memory", "lots"), "--memory lots: expected a size such as 500MB or 2GB"),
    ],
)
def test_a_wrong_option_is_refused(publisher: Publisher, options: tuple[str, ...], words: str) -> None:
    """The error repeats the option and says what is expected."""
    assert_refused(publisher, publisher.anonymize(publisher.log(), *options, week=None), words)


@pytest.mark.parametrize(
    "options",
    [
        ("--week", MONDAY, "--week", "2021-03-15", "--week", MONDAY),
        ("--week", "2021-03-15", "--week", MONDAY),
        ("--from", MONDAY, "--to", "2021-03-15"),
    ],
)
def test_several_weeks_are_committed_in_one_run(publisher: Publisher, options: tuple[str, ...]) -> None:
    """Each week gets its counts and its entry, in order of time, whatever the order and form of the options."""
    code, out, err = publisher.anonymize(publisher.log(searches_of_weeks(0, 1)), *options, week=None)
    assert (code, err) == (0, "")
    lines = [f"week {week}: committed to {publisher.store}" for week in (WEEK, NEXT_WEEK)]
    assert out.splitlines() == lines
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day, NEXT_WEEK.first_day]
    assert publisher.noisy(WEEK).size == publisher.noisy(NEXT_WEEK).size == len(CellList(publisher.coverage).cells)


def test_progress_goes_to_standard_error_day_by_day(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run reports each day on standard error; standard output has only the result."""
    monkeypatch.setattr("search_insights.commands.console.PATIENCE", 0)
    code, out, err = publisher.anonymize(publisher.log())
    assert code == 0
    assert out == f"week {WEEK}: committed to {publisher.store}\n"
    steps = [line.partition("] ")[2] for line in err.splitlines()]
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert steps == ["reading the log", *(f"week {WEEK}: {step}" for step in ("counting", *days, "committed"))]


def test_too_little_memory_is_one_line(publisher: Publisher) -> None:
    """A memory limit that is too low is bad input: the one-line error names the option to raise."""
    result = publisher.anonymize(publisher.log(searches(rows=200_000)), "--memory", "1MB")
    assert_refused(publisher, result, "raise --memory")


def test_a_store_in_a_missing_folder_is_refused(publisher: Publisher) -> None:
    """The error names the folder."""
    folder = publisher.folder / "nowhere"
    code, out, err = publisher.run(
        "anonymize", publisher.log(), "--store", folder / "s.db", "--geography", publisher.geography, "--week", MONDAY
    )
    assert (code, out) == (2, "")
    assert err == f"search-insights: {folder / 's.db'}: no folder {folder}; make it first\n"


def test_a_file_that_is_not_a_store_is_refused_and_not_changed(publisher: Publisher) -> None:
    """A text file is neither a store nor a store in use, even if its folder is called block."""
    folder = publisher.folder / "block"
    folder.mkdir()
    text = folder / "notes.txt"
    text.write_text("do not lose me\n" * 500)
    code, out, err = publisher.run(
        "anonymize", publisher.log(), "--store", text, "--geography", publisher.geography, "--week", MONDAY
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{text}: not a store of this program" in err
    assert text.read_text() == "do not lose me\n" * 500


def test_the_packaged_country_is_the_default(run: Run, tmp_path: Path, us_coverage: Coverage) -> None:
    """Without --geography and --spec the release is that of the United States, with all its cells in the store."""
    store = tmp_path / "store.db"
    code, out, _ = run("anonymize", write_log(tmp_path / "log.parquet"), "--store", store, "--week", MONDAY)
    assert (code, out) == (0, f"week {WEEK}: committed to {store}\n")
    with duckdb.connect(str(store), read_only=True) as connection:
        (found,) = connection.execute("SELECT count(*), min(cell), max(cell) FROM counts").fetchall()
    cells = len(CellList(us_coverage).cells)
    assert found == (cells, 0, cells - 1)


def test_the_same_regions_in_another_format_are_the_same_geography(publisher: Publisher) -> None:
    """A store that was made with a CSV file of regions accepts a Parquet file of the same regions."""
    publisher.anonymize(publisher.log(searches_of_weeks(0, 1)), "--other-weeks")
    parquet = publisher.folder / "little.parquet"
    duckdb.read_csv(str(publisher.geography), all_varchar=True).write_parquet(str(parquet))
    assert load_geography(parquet).fingerprint == publisher.coverage.geography.fingerprint
    arguments = ("--store", publisher.store, "--geography", parquet, "--week", str(NEXT_WEEK), "--other-weeks")
    assert publisher.run("anonymize", publisher.folder / "log.parquet", *arguments)[0] == 0


def test_a_name_that_is_not_text_is_refused_in_one_line(publisher: Publisher) -> None:
    """A name may be any bytes to a file system, on the command line and in a folder that is given."""
    name = os.fsdecode(b"\xff")
    log = publisher.log(name="log/x.parquet")
    log = log.rename(log.with_name(f"{name}.parquet"))
    store, geography = publisher.store, publisher.geography
    assert_refused(publisher, publisher.anonymize(log), "not text in UTF-8")
    assert_refused(publisher, publisher.anonymize(log.parent), "its name is not text in UTF-8")
    usual = publisher.log()
    assert_refused(publisher, publisher.anonymize(usual, "--memory", name), "not text in UTF-8")
    arguments = ("anonymize", usual, "--geography", geography, "--week", MONDAY, "--store")
    assert_refused(publisher, publisher.run(*arguments, store.with_name(name)), "not text in UTF-8")
    with pytest.raises(InputError, match="not text in UTF-8"):
        anonymize(LogSource((str(usual),)), store.with_name(name), [WEEK], publisher.coverage)
    with journal_path(store).open("a") as journal:
        journal.write('backed-up "\\ud800"\nbacked-up "\\u0000"\n')
    assert publisher.anonymize(usual)[0] == 0
