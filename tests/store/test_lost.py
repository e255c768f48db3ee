"""A week that will never come can be declared lost: with a reason, once, and for good."""

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.backup import back_up, restore
from search_insights.store.journal import journal_path, read_journal, refuse_second_noise
from search_insights.store.ledger import LostWeek
from search_insights.store.lost import lose
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems
from tests.support.command_line import Run, assert_one_line
from tests.support.logs import MONDAY, Publisher
from tests.support.stores import FIRST, add_weeks

THIRD = FIRST + timedelta(weeks=2)
REASON = "the log was deleted"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lost_in(store: Path) -> list[LostWeek]:
    with open_store(store) as opened:
        return opened.lost()


def problems_of(store: Path) -> list[str]:
    with open_store(store) as opened:
        return problems(opened, scale_problems)


def test_a_lost_week_is_recorded_in_store_and_journal(store: Path, run: Run) -> None:
    """Store and journal have its instants; the store also has the reason and the day."""
    code, out, err = run("store", "lose", "--store", store, "--week", THIRD, "--reason", f" {REASON} ")
    assert (code, err) == (0, "")
    assert out.startswith(f"week {THIRD}: declared lost in {store}")
    [lost] = lost_in(store)
    instants = ("2021-01-18T08:00:00Z", "2021-01-25T08:00:00Z")
    assert (lost.week, lost.begins_at, lost.ends_at, lost.reason) == (THIRD, *instants, REASON)
    assert date.fromisoformat(lost.recorded_at) >= date(2026, 1, 1)
    assert read_journal(store).lost == {THIRD: LostWeek(THIRD, *instants)}
    assert journal_path(store).read_text().splitlines()[-1] == " ".join(("lost", str(THIRD), *instants))


def test_a_lost_week_is_verified_and_shown(store: Path, run: Run) -> None:
    """`ledger` shows the reason, as text and as JSON, and `--verify` accepts the store."""
    lost = lose(store, THIRD, REASON)
    code, out, err = run("ledger", "--store", store, "--verify")
    assert (code, err) == (0, "")
    assert f"week {THIRD} is lost (declared on {lost.recorded_at}): {REASON}" in out.splitlines()
    code, out, _ = run("ledger", "--store", store, "--verify", "--json")
    answer = json.loads(out)
    assert (code, answer["verified"]) == (0, True)
    [shown] = answer["lost"]
    assert (shown["week"], shown["reason"], shown["recorded_at"]) == (str(THIRD), REASON, lost.recorded_at)


def test_a_lost_week_is_never_noised(store: Path, short_coverage: Coverage) -> None:
    """Its neighbours are; the journal alone refuses it too, and so does the store alone."""
    lose(store, THIRD, REASON)
    with pytest.raises(StoreError, match=rf"week {THIRD} is lost.*never noised"):
        add_weeks(store, short_coverage, {}, start=2)
    add_weeks(store, short_coverage, {}, start=3)
    journal_path(store).unlink()
    with pytest.raises(StoreError, match=rf"week {THIRD} is lost.*never noised"):
        add_weeks(store, short_coverage, {}, start=2)
    store.unlink()
    with pytest.raises(StoreError, match=r"says was committed|is lost"):
        add_weeks(store, short_coverage, {}, start=2)


def test_instants_of_a_lost_week_are_not_noised_in_another_zone(store: Path, other_coverage: Coverage) -> None:
    """A week of another spec that shares an hour with a lost one is refused; one that does not is accepted."""
    from search_insights.spec.weeks import Week

    lose(store, THIRD, REASON)
    store_of_journal = store.with_name("new.db")
    journal_path(store_of_journal).write_text(journal_path(store).read_text().splitlines()[-1] + "\n")
    zone = other_coverage.spec.time_zone
    for sunday in (date(2021, 1, 17), date(2021, 1, 24)):
        with pytest.raises(StoreError, match=f"shares instants with week {THIRD}"):
            refuse_second_noise(store_of_journal, [Week(sunday, zone)])
    refuse_second_noise(store_of_journal, [Week(date(2021, 1, 10), zone), Week(date(2021, 1, 31), zone)])


def test_a_lost_week_is_refused_before_the_log_is_read(publisher: Publisher) -> None:
    """`anonymize` says that the week is lost, whatever the log is."""
    assert publisher.anonymize(publisher.log())[0] == 0
    later = date.fromisoformat(MONDAY) + timedelta(weeks=1)
    lose(publisher.store, later, REASON)
    words = ("anonymize", "no such log.csv", "--store", publisher.store, "--week", str(later))
    code, out, err = publisher.run(*words, "--geography", publisher.geography)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert f"week {later} is lost" in err


@pytest.mark.parametrize(
    ("week", "reason", "words"),
    [
        ("2021-01-11", REASON, "holds week 2021-01-11"),
        ("2021-01-19", REASON, "--week: 2021-01-19 is a Tuesday; weeks begin on Monday: use 2021-01-18"),
        ("2999-01-07", REASON, "week 2999-01-07 is not over"),
        ("9999-12-27", REASON, "--week: 9999-12-27"),
        ("0001-01-01", REASON, "--week: 0001-01-01"),
        ("1801-01-05", REASON, "--week: 1801-01-05: is outside the calendar of searches"),
        ("yesterday", REASON, "--week yesterday: expected a date such as 2021-03-08"),
        ("2021-01-18", "", "--reason: say briefly why"),
        ("2021-01-18", " \t ", "--reason: say briefly why"),
        ("2021-01-18", "a\nb", "--reason: U+000A cannot be shown"),
        ("2021-01-18", "a\x1b[31mb", "--reason: U+001B cannot be shown"),
        ("2021-01-18", "a\u202eb", "--reason: U+202E cannot be shown"),
        ("2021-01-18", "x" * 501, "--reason: 501 characters; use at most 500"),
    ],
)
def test_a_bad_week_or_reason_is_refused(store: Path, run: Run, week: str, reason: str, words: str) -> None:
    """One line names the option and says what is wrong; store and journal do not change by a byte."""
    before = files(store.parent)
    code, out, err = run("store", "lose", "--store", store, "--week", week, "--reason", reason)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert words in err
    assert files(store.parent) == before


def test_a_week_is_lost_once(store: Path, run: Run) -> None:
    """The second reason is refused, and the first one stays."""
    lose(store, THIRD, REASON)
    before = files(store.parent)
    code, out, err = run("store", "lose", "--store", store, "--week", THIRD, "--reason", "another")
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert f"week {THIRD} was declared lost on" in err
    assert files(store.parent) == before


def test_a_store_that_is_not_there_loses_nothing(tmp_path: Path, run: Run) -> None:
    """One line, and no file is made."""
    code, _, err = run("store", "lose", "--store", tmp_path / "no.db", "--week", THIRD, "--reason", REASON)
    assert code == 2
    assert_one_line(err)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_lacks_a_lost_week_gets_it(store: Path, short_coverage: Coverage) -> None:
    """A process that was killed after the transaction left no line; the next one that writes adds it."""
    lose(store, THIRD, REASON)
    path = journal_path(store)
    whole = path.read_text()
    for cut in (whole[: whole.index("lost")], whole[:-30], whole[: whole.index("lost") + len(f"lost {THIRD}")]):
        path.write_text(cut)
        with create_or_open_store(store, short_coverage):
            pass
        assert read_journal(store).lost[THIRD].begins_at == "2021-01-18T08:00:00Z"
        assert problems_of(store) == []


def test_a_week_lost_by_a_restore_can_be_given_a_reason(store: Path, short_coverage: Coverage, run: Run) -> None:
    """Until then `ledger` says that there is none. It stays lost, and the series goes on."""
    back_up(store, store.parent / "backup.db", scale_problems)
    add_weeks(store, short_coverage, {}, start=2)
    restored = restore(store.parent / "backup.db", store, scale_problems, published=(), replace=True)
    assert restored.lost == (THIRD,)
    assert f"week {THIRD} is lost: no reason was given" in run("ledger", "--store", store)[1]
    lose(store, THIRD, "the disk failed")
    code, out, _ = run("ledger", "--store", store, "--verify")
    assert code == 0
    assert ": the disk failed" in out
    with pytest.raises(StoreError, match=f"does not hold week {THIRD}"):
        add_weeks(store, short_coverage, {}, start=2)
    add_weeks(store, short_coverage, {}, start=3)


def test_a_week_that_only_an_older_copy_lacks_is_not_lost(store: Path, short_coverage: Coverage) -> None:
    """A committed week may be in a backup: it must be restored, or found to be lost, before it can be given up."""
    shutil.copy(store, store.with_name("copy.db"))
    add_weeks(store, short_coverage, {}, start=2)
    shutil.copy(store.with_name("copy.db"), store)
    before = files(store.parent)
    with pytest.raises(StoreError, match=f"does not hold week {THIRD}, which .* says was committed"):
        lose(store, THIRD, REASON)
    assert files(store.parent) == before


def test_a_backup_keeps_lost_weeks(store: Path) -> None:
    """A copy has the week and its reason."""
    lost = lose(store, THIRD, REASON)
    back_up(store, store.parent / "backup.db", scale_problems)
    assert lost_in(store.parent / "backup.db") == [lost]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE lost SET week = '2021-01-19'", "lost week 2021-01-19: does not begin on Monday"),
        ("UPDATE lost SET ends_at = '2021-01-25T09:00:00Z'", "begins or ends at another instant"),
        ("UPDATE lost SET reason = ' '", "has no reason"),
        ("UPDATE lost SET week = '2021-01-11'", "week 2021-01-11: is in the store, although"),
    ],
)
def test_a_changed_record_of_a_lost_week_is_detected(store: Path, run: Run, sql: str, words: str) -> None:
    """`ledger --verify` names the week, with exit code 1."""
    lose(store, THIRD, REASON)
    with duckdb.connect(str(store)) as connection:
        connection.execute(sql)
    code, out, _ = run("ledger", "--store", store, "--verify")
    assert code == 1
    assert words in out
