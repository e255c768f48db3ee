"""No user-day in two weeks: however times are written, and whatever the spec, no instant is counted twice."""

import shutil
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from search_insights.errors import StoreError
from search_insights.spec import weeks
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import spec_toml
from search_insights.spec.zones import zone
from search_insights.store.backup import back_up, restore
from search_insights.store.journal import read_journal
from search_insights.store.opening import create_or_open_store
from search_insights.trends.scaling import scale_problems
from tests.support.logs import MONDAY, NEXT_WEEK, NOON, Publisher, assert_refused, searches
from tests.support.stores import add_weeks, short_window_coverage

SUNDAY_NIGHT = "2021-03-15 05:00:00"  # UTC: Sunday evening in California; Monday morning if it is read there
NEXT_MONDAY = str(NEXT_WEEK.first_day)
IN_PACIFIC = ("--naive-zone", "America/Los_Angeles")


def in_text(mark: str, week: int = 0) -> str:
    """Return a log of one week whose times are text, with or without a mark of UTC, and an event on Sunday night."""
    noon = f"TIMESTAMP '{MONDAY} 20:00:00' + to_days({7 * week} + i % 7)"
    time = f"CASE WHEN i = 0 THEN TIMESTAMP '{SUNDAY_NIGHT}' ELSE {noon} END"
    return searches(timestamp=f"strftime({time}, '%Y-%m-%dT%H:%M:%S{mark}')")


def typed(type_: str, week: int = 0) -> str:
    noon = f"TIMESTAMP '{MONDAY} 20:00:00' + to_days({7 * week} + i % 7)"
    time = f"CASE WHEN i = 0 THEN TIMESTAMP '{SUNDAY_NIGHT}' ELSE {noon} END"
    return searches(timestamp=f"({time})" if type_ == "TIMESTAMP" else f"({time}) AT TIME ZONE 'UTC'")


CHANGES = {
    "text loses its Z": ("csv", in_text("Z"), in_text("", 1), "text with offsets", "times without a zone"),
    "text gains a Z": ("csv", in_text(""), in_text("Z", 1), "times without a zone", "text with offsets"),
    "instants, then naive": ("parquet", typed("TIMESTAMPTZ"), typed("TIMESTAMP", 1), "instants", "times without a"),
    "naive, then instants": ("parquet", typed("TIMESTAMP"), typed("TIMESTAMPTZ", 1), "times without a", "instants"),
    "instants, then text": ("parquet", typed("TIMESTAMPTZ"), in_text("Z", 1), "instants", "text with offsets"),
}


@pytest.mark.parametrize(("form", "first", "second", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_a_change_of_reading_is_refused_unless_said(
    publisher: Publisher, form: str, first: str, second: str, before: str, after: str
) -> None:
    """The same search on Sunday night would count in both weeks. The refusal names both readings and the option."""
    assert publisher.anonymize(publisher.log(first, f"first.{form}"), *IN_PACIFIC)[0] == 0
    log = publisher.log(second, f"second.{form}")
    code, out, err = publisher.anonymize(log, week=NEXT_MONDAY)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"the times of week {MONDAY} were read as {before}" in err
    assert f"would be read as {after}" in err
    assert "--times-changed" in err
    assert publisher.anonymize(log, "--times-changed", *IN_PACIFIC, week=NEXT_MONDAY)[0] == 0
    assert len({entry.times for entry in publisher.ledger()}) == 2


def test_the_option_says_what_it_risks(publisher: Publisher) -> None:
    """Whoever vouches for the times reads what happens if they are wrong."""
    words = " ".join(publisher.run("anonymize", "--help")[1].split())
    assert "searches count in two weeks, and the promise does not hold" in words


def test_another_zone_for_times_without_one_is_refused(publisher: Publisher) -> None:
    """The refusal names the zone of the week before; with it, the next week is accepted."""
    first, second = typed("TIMESTAMP"), typed("TIMESTAMP", 1)
    assert publisher.anonymize(publisher.log(first, "first.parquet"), "--naive-zone", "UTC")[0] == 0
    log = publisher.log(second, "second.parquet")
    code, _, err = publisher.anonymize(log, week=NEXT_MONDAY)
    assert code == 2
    assert "in UTC, those of week 2021-03-15 would be read as times without a zone in America/Los_Angeles" in err
    assert "use --naive-zone UTC" in err
    assert publisher.anonymize(log, "--naive-zone", "UTC", week=NEXT_MONDAY)[0] == 0


def test_times_without_a_zone_need_one(publisher: Publisher) -> None:
    """Nobody's zone is assumed: the first week is refused until it is named, and the next ones are read in the same."""
    first, second = (publisher.log(typed("TIMESTAMP", week), f"{week}.parquet") for week in range(2))
    result = publisher.anonymize(first)
    assert_refused(publisher, result, "its times have no zone", "say which with --naive-zone America/Los_Angeles")
    assert publisher.anonymize(first, *IN_PACIFIC)[0] == 0
    assert publisher.anonymize(second, week=NEXT_MONDAY)[0] == 0
    assert [entry.naive_zone for entry in publisher.ledger()] == [IN_PACIFIC[1]] * 2


def test_a_week_between_two_others_is_read_as_both(publisher: Publisher) -> None:
    """A late week must agree with its neighbours on either side, not only with the newest."""
    later = f"{NEXT_WEEK.first_day + timedelta(weeks=1)}"
    assert publisher.anonymize(publisher.log(typed("TIMESTAMPTZ"), "first.parquet"))[0] == 0
    third = publisher.log(typed("TIMESTAMP", 2), "third.parquet")
    assert publisher.anonymize(third, "--times-changed", *IN_PACIFIC, week=later)[0] == 0
    for second in (typed("TIMESTAMPTZ", 1), typed("TIMESTAMP", 1)):
        assert publisher.anonymize(publisher.log(second, "second.parquet"), week=NEXT_MONDAY)[0] == 2


def test_a_lost_week_binds_its_neighbours_too(publisher: Publisher) -> None:
    """A week that a restore lost may be published: the next one is read like it, not like the last that is left."""
    later = f"{NEXT_WEEK.first_day + timedelta(weeks=1)}"
    first, second, third = (publisher.log(typed("TIMESTAMP", week), f"{week}.parquet") for week in range(3))
    backup = publisher.folder / "backup.db"
    assert publisher.anonymize(first, *IN_PACIFIC)[0] == 0
    back_up(publisher.store, backup, scale_problems)
    assert publisher.anonymize(second, "--naive-zone", "UTC", "--times-changed", week=NEXT_MONDAY)[0] == 0
    assert restore(backup, publisher.store, scale_problems, published=(), replace=True).lost == (NEXT_WEEK.first_day,)
    code, _, err = publisher.anonymize(third, week=later)
    assert code == 2
    assert f"the times of week {NEXT_MONDAY} were read as times without a zone in UTC" in err
    assert publisher.anonymize(third, "--naive-zone", "UTC", week=later)[0] == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["timestamp", "Timestamp", "time%73tamp"])
def test_times_are_not_taken_from_the_names_of_folders(publisher: Publisher, suffix: str, name: str) -> None:
    """A folder named timestamp=... would give all rows of a file that was counted already times of another week."""
    log = publisher.log(in_text(""), f"log.{suffix}")
    assert publisher.anonymize(log, *IN_PACIFIC)[0] == 0
    moved = publisher.folder / f"{name}={NEXT_MONDAY} 12:00:00" / "deeper" / log.name
    moved.parent.mkdir(parents=True)
    shutil.copy(log, moved)
    days = [f"--allow-missing-day={day}" for day in NEXT_WEEK.days]
    code, out, err = publisher.anonymize(publisher.folder / "*=*", *days, week=NEXT_MONDAY)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is below a folder that gives a value for 'timestamp'" in err
    assert len(publisher.ledger()) == 1


def test_times_of_another_column_are_refused_unless_said(publisher: Publisher) -> None:
    """By the clock of another column the same searches lie in the next week: a log may have several clocks."""
    log = publisher.log(searches(more=f"{NOON} + to_days(7) AS received"))
    other = (log, "--column", "timestamp=received")
    assert publisher.anonymize(log)[0] == 0
    code, out, err = publisher.anonymize(*other, week=NEXT_MONDAY)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"week {MONDAY} were read from column 'timestamp'" in err
    assert "would be read from column 'received'" in err
    assert "--column timestamp=timestamp" in err
    assert publisher.anonymize(*other, "--times-changed", week=NEXT_MONDAY)[0] == 0
    assert [entry.time_column for entry in publisher.ledger()] == ["timestamp", "received"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_text_of_the_rarer_form_is_not_read(publisher: Publisher, suffix: str) -> None:
    """Few rows of the other form cannot be used, many make the log unusable: each time is read in one way."""
    rare = "CASE WHEN i < 3 THEN '2021-03-08 20:00:00' ELSE '2021-03-08T20:00:00Z' END"
    weekly = searches(timestamp=f"replace({rare}, '-08', '-' || lpad((8 + i % 7)::TEXT, 2, '0'))")
    code, _, err = publisher.anonymize(publisher.log(weekly, f"log.{suffix}"))
    assert (code, "rows not used: 3 with no time" in err) == (0, True)
    assert [entry.times for entry in publisher.ledger()] == ["offset"]
    publisher.forget()
    half = weekly.replace("i < 3", "i < 70")
    result = publisher.anonymize(publisher.log(half, f"log.{suffix}"), *IN_PACIFIC)
    assert_refused(publisher, result, "70 of 140 rows cannot be used")


def test_a_spec_in_another_zone_cannot_count_the_same_hours_again(tmp_path: Path) -> None:
    """A new store with a UTC spec beside the journal of a Pacific one: the weeks share 16 hours, or 8, or none."""
    pacific = short_window_coverage(tmp_path)
    store = add_weeks(tmp_path / "store.db", pacific, {})
    store.unlink()
    utc = Coverage(replace(pacific.spec, time_zone="UTC"), pacific.geography)
    for start in (0, 1):  # the week itself; and the next, whose first 8 hours are the last of the Pacific week
        with pytest.raises(StoreError, match="does not hold week 2021-01-04"):
            add_weeks(store, utc, {}, start=start)
    add_weeks(store, utc, {}, start=2)


def test_a_spec_in_another_zone_is_refused_on_the_command_line(publisher: Publisher) -> None:
    """The store was removed, its journal was not: nothing is noised with any spec until the week is accounted for."""
    assert publisher.anonymize(publisher.log())[0] == 0
    publisher.store.unlink()
    spec = publisher.folder / "utc.toml"
    spec.write_text(spec_toml(replace(publisher.coverage.spec, time_zone="UTC")), encoding="utf-8")
    later = publisher.log(typed("TIMESTAMPTZ", 1), "second.parquet")
    assert_refused(publisher, publisher.anonymize(later, "--spec", spec, week=NEXT_MONDAY), f"not hold week {MONDAY}")


def test_ledger_and_journal_hold_the_instants_and_the_reading(publisher: Publisher) -> None:
    """The week of the change to summer time has 167 hours; the zone data's version is recorded."""
    assert publisher.anonymize(publisher.log(typed("TIMESTAMP")), *IN_PACIFIC)[0] == 0
    (entry,) = publisher.ledger()
    assert (entry.begins_at, entry.ends_at) == ("2021-03-08T08:00:00Z", "2021-03-15T07:00:00Z")
    assert (entry.times, entry.naive_zone) == ("clock", "America/Los_Angeles")
    assert entry.zone_data
    assert read_journal(publisher.store).weeks[date.fromisoformat(MONDAY)] == entry.final


def test_zone_data_that_moves_a_boundary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another version of the data moves the end of a counted week, nothing is added until the version is right."""
    coverage = short_window_coverage(tmp_path)
    store = add_weeks(tmp_path / "store.db", coverage, {})
    moved = {"America/Los_Angeles": zone("America/Denver")}
    monkeypatch.setattr(weeks, "zone", lambda name: moved.get(name) or zone(name))
    with (
        pytest.raises(StoreError, match=r"week 2021-01-04 begins or ends at another instant .* install the package"),
        create_or_open_store(store, coverage),
    ):
        pass
    monkeypatch.undo()
    add_weeks(store, coverage, {}, start=1)
