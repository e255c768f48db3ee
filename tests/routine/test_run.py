"""`run`: all that is due, in order, once, whatever happened before."""

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from search_insights.dataset.folder import published_weeks
from search_insights.routine.backups import dated_backups
from search_insights.routine.checks import answers
from search_insights.routine.memory import read_memory
from search_insights.spec.zones import zone
from search_insights.store.lost import lose
from tests.lab.kill_cases import week_query
from tests.lab.kills import digest
from tests.support.command_line import assert_one_line
from tests.support.other_country import other_spec
from tests.support.weekly import BY_WEEK, WEEKS, Weekly

ALL = 'dataset = "dataset"\nsite = "site"\n'
BACKUPS = '[backups]\nfolder = "backups"\nkeep = 2\n'
NO_USER = "SELECT 1 AS uid, TIMESTAMPTZ '{} 06:00:00+00' AS timestamp, 'qz/s/p01' AS region, 'H1' AS category"
FIRST, SECOND, THIRD = WEEKS


def days_of(week: date) -> list[date]:
    return [week + timedelta(days=i) for i in range(7)]


def week_of_today() -> date:
    """Return the first day of the week that is not over, in Qazaria."""
    today = datetime.now(zone(other_spec().time_zone)).date()
    return today - timedelta(days=(today.weekday() + 1) % 7)


# What is due


def test_a_run_does_all_that_is_due_and_the_next_changes_nothing(weekly: Weekly) -> None:
    """Weeks oldest first, then dataset, dashboard and backup, one line each; with nothing due nothing is written."""
    for week in (SECOND, FIRST):
        weekly.log(week, rows=20_000)
    weekly.settings(BY_WEEK + BACKUPS, top=ALL)
    code, lines, err = weekly.run()
    assert code == 0
    assert lines[:2] == [f"week {FIRST}: committed to store.db", f"week {SECOND}: committed to store.db"]
    warning = "Note: the scale is set by 2 weeks only, and fixed for good"
    assert lines[3].startswith(f"dataset: published, 2 weeks, the last {SECOND}. {warning}")
    assert lines[4] == "site: built"
    assert lines[5].startswith("backups: store-")
    assert err.startswith("settings: search-insights.toml (store, spec, geography, dataset, site, location, ")
    assert list(published_weeks(weekly.folder / "dataset")) == [FIRST, SECOND]
    before = digest(weekly.folder)
    code, lines, _ = weekly.run()
    assert code == 0
    assert lines[-1] == f"no week is due; the store has 2, the last {SECOND}"
    assert digest(weekly.folder) == before
    assert weekly.run("--dry-run")[1][-3:] == [f"{place}: is up to date" for place in ("dataset", "site", "backups")]


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(weekly: Weekly) -> None:
    """Not even a lock: the folder is byte for byte as it was."""
    weekly.log(FIRST)
    weekly.settings(BY_WEEK + BACKUPS, top=ALL)
    before = digest(weekly.folder)
    code, lines, _ = weekly.run("--dry-run")
    assert code == 0
    assert lines[0] == f"week {FIRST}: would be anonymized"
    assert lines[-3:] == ["dataset: would be published", "site: would be built", "backups: would get a backup"]
    assert digest(weekly.folder) == before


def test_a_week_that_is_not_over_is_not_due(weekly: Weekly) -> None:
    """A log that is there before its week has ended waits for the end."""
    this_week = week_of_today()
    weekly.log(this_week, rows=70)
    weekly.settings()
    code, lines, _ = weekly.run()
    assert (code, lines) == (0, ["no week is due"])
    assert weekly.weeks() == []


def test_a_refused_week_does_not_keep_later_ones_from_being_done(weekly: Weekly) -> None:
    """The exit code is 2, nothing is spent on the refused week, and what is there is published."""
    weekly.log(FIRST, query=NO_USER.format(FIRST))
    weekly.log(SECOND, rows=20_000)
    weekly.settings(top='dataset = "dataset"\n')
    code, lines, err = weekly.run()
    assert code == 2
    assert lines[0].startswith(f"week {FIRST}: refused: log/{FIRST}.parquet: no column 'user_id' for user_id")
    assert lines[0].endswith("map one with setting log.columns user_id=NAME")
    assert lines[1] == f"week {SECOND}: committed to store.db"
    assert "--column" not in err
    assert weekly.weeks() == list(published_weeks(weekly.folder / "dataset")) == [SECOND]
    assert list(read_memory(weekly.memory).weeks) == [SECOND]  # the first may be fixed and then anonymized by hand


def test_a_week_that_lacks_a_file_of_a_day_waits(weekly: Weekly) -> None:
    """It is told which, and not run until the file is there or the settings allow that it is not."""
    days = days_of(FIRST)
    weekly.day_logs(FIRST, [*days[:2], *days[3:]])
    text = '[log]\nlocation = "log/{date}.parquet"\n'
    weekly.settings(text)
    code, lines, err = weekly.run()
    assert code == 0
    assert lines[0] == f"week {FIRST}: waiting: no file of the log for {days[2]}"
    assert "log.missing_days" in err
    assert weekly.weeks() == []
    weekly.settings(f"{text}missing_days = [{days[2]}]\n")
    assert weekly.run()[1][0] == f"week {FIRST}: committed to store.db"
    assert weekly.ledger()[0].missing_days == str(days[2])


def test_weeks_before_the_first_and_lost_weeks_are_left_out(weekly: Weekly) -> None:
    """`first_week` keeps an archive of old logs from being released; a lost week is never noised."""
    for week in WEEKS:
        weekly.log(week)
    weekly.settings(f"{BY_WEEK}first_week = {SECOND}\n")
    (weekly.folder / "log" / f"{THIRD}.parquet").rename(weekly.folder / "later")
    assert weekly.run()[0] == 0
    lose(weekly.folder / "store.db", THIRD, "the log came too late")
    (weekly.folder / "later").rename(weekly.folder / "log" / f"{THIRD}.parquet")
    assert weekly.run()[1][-1].startswith("no week is due")
    assert weekly.weeks() == [SECOND]
    weekly.settings(f"{BY_WEEK}first_week = {SECOND + timedelta(days=1)}\n")
    code, _, err = weekly.run()
    assert code == 2
    assert f"key 'log.first_week': {SECOND + timedelta(days=1)} is a Monday" in err


def test_a_log_whose_names_tell_no_week_is_read_from_where_the_store_ends(weekly: Weekly) -> None:
    """Without a store the first week must be given; a week of which there is no event yet is not refused."""
    weekly.log(FIRST, name="all.parquet")
    text = '[log]\nlocation = "log"\n'
    weekly.settings(text)
    code, lines, err = weekly.run()
    assert (code, lines) == (2, [])
    assert "write {date} or {week} in 'log.location', or give the first week as 'log.first_week'" in err
    before_last = week_of_today() - timedelta(days=14)
    weekly.log(before_last, name="all.parquet")
    weekly.settings(f"{text}first_week = {before_last}\n")
    code, lines, _ = weekly.run()
    assert code == 0
    assert lines == [
        f"week {before_last}: committed to store.db",
        f"week {before_last + timedelta(days=7)}: not there yet: the log has no event of this week",
    ]


# Logs that change


def test_a_changed_log_of_a_released_week_is_told_until_it_is_accepted(weekly: Weekly) -> None:
    """Its noise stays, and the exit code is 0; the same content with another time is no change."""
    path = weekly.log(FIRST)
    weekly.settings()
    weekly.run()
    assert stat.S_IMODE(weekly.memory.stat().st_mode) == 0o600
    noise = weekly.ledger()
    os.utime(path, (0, 0))
    assert "changed" not in " ".join(weekly.run("--dry-run")[1])
    weekly.log(FIRST, rows=770)
    for _ in range(2):
        code, lines, err = weekly.run("--dry-run")
        assert code == 0
        assert lines[0].startswith(f"week {FIRST}: is in the store, but its log has changed since: log/{FIRST}.parquet")
        assert "--accept-changes" in err
    weekly.run("--accept-changes")
    assert "changed" not in " ".join(weekly.run("--dry-run")[1])
    assert weekly.ledger() == noise


def test_a_memory_that_cannot_be_read_never_stops_a_run(weekly: Weekly) -> None:
    """It is told, and changes are noticed from then on."""
    weekly.log(FIRST)
    weekly.settings()
    weekly.run()
    weekly.memory.write_text("{}")
    code, lines, _ = weekly.run()
    assert code == 0
    assert lines[0].startswith("search-insights.memory.json: cannot be read (")
    assert lines[0].endswith("changes of logs are noticed from now on")
    assert lines[1].startswith("logs of weeks in the store that were not remembered: 1;")
    weekly.log(FIRST, rows=770)
    assert "its log has changed since" in weekly.run()[1][0]


# Two at once, failures, checks


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of another run."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(lock)


def test_a_second_run_at_the_same_time_says_so_and_does_nothing(weekly: Weekly) -> None:
    """Its exit code is 0: what it would do is being done."""
    weekly.log(FIRST)
    weekly.settings()
    with held(weekly.folder / "search-insights.lock"):
        code, lines, _ = weekly.run()
    assert (code, lines) == (0, ["another run with search-insights.toml is under way; nothing was done"])
    assert weekly.weeks() == []
    assert weekly.run()[1][0] == f"week {FIRST}: committed to store.db"


def test_a_step_that_fails_does_not_keep_the_store_from_being_backed_up(weekly: Weekly) -> None:
    """The backup is made, then the error of the publication is the one line; the next run tries again."""
    weekly.log(FIRST)  # too few searches for any value
    weekly.settings(BY_WEEK + BACKUPS, top='dataset = "dataset"\n')
    code, lines, err = weekly.run()
    assert code == 2
    assert "no week has a reliable nation value of trend 'warmth'" in err
    assert lines[-1].startswith("backups: store-")
    assert len(dated_backups(weekly.folder / "store.db", weekly.folder / "backups")) == 1


def test_a_warning_of_check_keeps_a_week_from_being_spent(weekly: Weekly) -> None:
    """Unless its kind is accepted. Only the kind is told: the text is private, and schedulers keep what is printed."""
    somewhere = f"SELECT * REPLACE ('qz/s/p01' AS region) FROM ({week_query(FIRST, 700)})"  # the others are empty
    weekly.log(FIRST, query=somewhere)
    weekly.settings()
    code, lines, err = weekly.run()
    assert code == 2
    assert "'check' warns of empty-region" in lines[0]
    assert lines[0].endswith("fix the log, or accept empty-region in 'log.accept'")
    assert "qz/" not in "".join(lines) + err
    assert "700" not in "".join(lines) + err
    assert weekly.weeks() == []
    weekly.settings(f'{BY_WEEK}accept = ["empty-region"]\n')
    assert weekly.run()[0] == 0
    assert weekly.weeks() == [FIRST]


def test_run_prints_no_count_of_a_log_that_cannot_be_used(weekly: Weekly) -> None:
    """Also of one file for all weeks, in which a week without a row is simply not there yet: this one has rows."""
    week = week_of_today() - timedelta(days=7)
    query = f"SELECT * REPLACE ('qz/x/4711' AS region) FROM ({week_query(week, 4711)})"
    weekly.log(week, name="all.parquet", query=query)
    weekly.settings(f'[log]\nlocation = "log/all.parquet"\nfirst_week = {week}\n')
    code, lines, err = weekly.run()
    assert code == 2
    assert "'check' warns of unused-rows, " in lines[0]
    assert not {"4711", "4,711"} & {*re.findall(r"[0-9,]+", "".join(lines) + err)}


# A store that is not the one it was


@pytest.mark.parametrize("witness", ["dataset", "backups"])
def test_a_store_that_is_gone_is_not_begun_anew(weekly: Weekly, witness: str) -> None:
    """A disk is not mounted, and the journal is on it: the dataset and the backups know that weeks were released."""
    weekly.log(FIRST, rows=20_000)
    both = {"dataset": (BY_WEEK, 'dataset = "dataset"\n'), "backups": (f"{BY_WEEK}{BACKUPS}", "")}
    weekly.settings(*both[witness])
    assert weekly.run()[0] == 0
    (weekly.folder / "store.db").unlink()
    (weekly.folder / "store.db.journal").unlink()
    before = digest(weekly.folder)
    for options in ((), ("--dry-run",)):
        code, lines, err = weekly.run(*options)
        assert code == 2
        assert not lines
        assert f"store.db: does not hold week {FIRST}, which {witness}" in err
    assert digest(weekly.folder) == before


def test_a_damaged_dataset_without_a_store_is_no_licence(weekly: Weekly) -> None:
    """It cannot be seen which weeks were released, so none is noised."""
    weekly.log(FIRST)
    weekly.settings(top='dataset = "dataset"\n')
    (weekly.folder / "dataset").mkdir()
    (weekly.folder / "dataset" / "privacy.json").write_text("{", encoding="utf-8")
    code, lines, err = weekly.run()
    assert (code, lines, weekly.weeks()) == (2, [], [])
    assert "privacy.json" in err


def test_a_run_does_not_overwrite_the_memory_of_its_backups(weekly: Weekly) -> None:
    """Store and journal are put back from an older `cp`; a backup of that would hide the one that knows more."""
    weekly.log(FIRST)
    weekly.settings(BY_WEEK + BACKUPS)
    weekly.run()
    files = [weekly.folder / name for name in ("store.db", "store.db.journal")]
    older = [file.read_bytes() for file in files]
    weekly.log(SECOND)
    weekly.run()
    for file, content in zip(files, older, strict=True):
        file.write_bytes(content)
    for _ in range(2):
        code, _, err = weekly.run()
        assert code == 2
        assert f"does not hold week {SECOND}, which backups" in err
    assert weekly.weeks() == [FIRST]
    assert len(dated_backups(files[0], weekly.folder / "backups")) == 2


def test_a_file_of_no_day_of_searches_does_not_stop_a_run(weekly: Weekly) -> None:
    """Who can put a file beside the log cannot stop the release: a day whose week has no beginning is no day."""
    for name in ("0001-01-01", "9999-12-31"):
        weekly.log(FIRST, rows=7, name=f"{name}.parquet")
    weekly.settings()
    assert weekly.run()[:2] == (0, ["no week is due"])


def test_run_without_settings_says_what_to_do(weekly: Weekly) -> None:
    """One line, whether there is no file, no store or no log in it."""
    code, lines, err = weekly.run()
    assert (code, lines) == (2, [])
    assert_one_line(err)
    assert "no search-insights.toml in this folder" in err
    weekly.settings("")
    assert "key 'log.location' is missing" in weekly.run()[2]


def test_a_warning_that_cannot_be_accepted_is_answered_by_its_setting() -> None:
    """Each kind is told with the setting that answers it; nobody is sent to a list that would refuse the kind."""
    assert answers(["naive-times"]) == "fix the log, or set 'log.naive_zone'"
    assert answers(["noised-before"]) == "fix the log"
    both = answers(["unused-rows", "unknown-regions", "empty-region"])
    assert both == "fix the log, or set 'log.max_unused' and accept empty-region in 'log.accept'"
