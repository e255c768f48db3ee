"""A week is noised once, even if the store has lost it: the journal beside the store remembers it."""

import json
import shutil
import stat
from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.dataset.publication import publish
from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.journal import journal_path, read_journal, remember
from search_insights.store.ledger import FinalWeek
from search_insights.store.opening import create_or_open_store, open_store
from tests.lab.kill_cases import WEEKS, anonymize_words, new_folder
from tests.lab.kills import die_after_commit, run_process
from tests.support.logs import MONDAY, Publisher
from tests.support.stores import FIRST, add_weeks

SUMS = st.text("0123456789abcdef", min_size=64, max_size=64)


def checksums(store: Path) -> dict[date, str]:
    with open_store(store) as opened:
        return {entry.week: entry.checksum for entry in opened.entries()}


def test_every_committed_week_is_in_the_journal(tmp_path: Path, short_coverage: Coverage) -> None:
    """The journal names the release, then has one line for each week; only its owner can read it, beside the store."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    assert read_journal(store).checksums == checksums(store)
    path = journal_path(store)
    assert path == tmp_path / "store.db.journal"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with open_store(store) as opened:
        finals, mark = [entry.final for entry in opened.entries()], opened.mark
    release, *weeks = path.read_text().splitlines()
    assert release == f"release {mark}"
    assert [json.loads(line) for line in weeks] == [{**asdict(final), "week": str(final.week)} for final in finals]


def test_a_lost_week_is_not_noised_again(publisher: Publisher) -> None:
    """If the store that held a week is lost, the week is refused before the log is read; the line says what to do."""
    log = publisher.log()
    assert publisher.anonymize(log)[0] == 0
    publisher.store.unlink()
    code, out, err = publisher.anonymize(publisher.folder / "no such log.parquet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"does not hold week {MONDAY}, which {journal_path(publisher.store)} says was committed" in err
    assert "store restore" in err
    assert not publisher.store.exists()


def test_an_older_copy_accepts_new_weeks_only(tmp_path: Path, short_coverage: Coverage) -> None:
    """A copy without the second week, restored by hand, accepts the third week and refuses the second."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    shutil.copy(store, tmp_path / "copy.db")
    add_weeks(store, short_coverage, {}, start=1)
    shutil.copy(tmp_path / "copy.db", store)
    with pytest.raises(StoreError, match="does not hold week 2021-01-11"):
        add_weeks(store, short_coverage, {}, start=1)
    add_weeks(store, short_coverage, {}, start=2)
    assert [str(week) for week in checksums(store)] == ["2021-01-04", "2021-01-18"]


def test_days_of_a_lost_week_are_not_noised_again_either(tmp_path: Path, short_coverage: Coverage) -> None:
    """A week that shares days with a lost week is refused too."""
    store = tmp_path / "store.db"
    remember(store, [FinalWeek(date(2021, 1, 7), "0" * 64)])
    with pytest.raises(StoreError, match="does not hold week 2021-01-07"):
        add_weeks(store, short_coverage, {})


@pytest.mark.usefixtures("quick_accounting")
def test_a_store_with_other_noise_than_its_journal_is_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """Nothing is added to such a store and nothing is published from it."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    path = journal_path(store)
    path.write_text(f"2021-01-04 {'0' * 64}\n")
    with (
        pytest.raises(StoreError, match="week 2021-01-04 has other noise"),
        create_or_open_store(store, short_coverage),
    ):
        pass
    with pytest.raises(StoreError, match="week 2021-01-04 has other noise"):
        publish(store, tmp_path / "dataset")
    assert not (tmp_path / "dataset").exists()


@pytest.mark.usefixtures("quick_accounting")
def test_published_weeks_are_in_the_journal_first(store: Path) -> None:
    """A store without a journal, made by an older version or left by a crash, gets one before it is published."""
    journal_path(store).unlink()
    publish(store, store.parent / "dataset")
    assert read_journal(store).checksums == checksums(store)


def test_the_journal_lies_beside_the_file_itself(tmp_path: Path, short_coverage: Coverage) -> None:
    """A store that is opened through a link has the same journal."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "store.db")
    add_weeks(tmp_path / "link.db", short_coverage, {})
    assert sorted(p.name for p in (tmp_path / "real").iterdir()) == ["store.db", "store.db.journal"]


def finals(weeks: dict[int, str]) -> list[FinalWeek]:
    """Return weeks of the journal, with their instants in UTC."""
    days = {date(2021, 1, 4) + timedelta(weeks=i): text for i, text in sorted(weeks.items())}
    return [
        FinalWeek(day, text, f"{day}T00:00:00Z", f"{day + timedelta(weeks=1)}T00:00:00Z", "clock", "UTC")
        for day, text in days.items()
    ]


@given(weeks=st.dictionaries(st.integers(0, 3000), SUMS, min_size=1), cut=st.integers(2, 300))
def test_a_line_that_a_crash_cut_off_is_written_again(
    tmp_path_factory: pytest.TempPathFactory, weeks: dict[int, str], cut: int
) -> None:
    """However much of the last line is missing, the lines before it are read, and the next write completes it."""
    store = tmp_path_factory.mktemp("journal") / "store.db"
    all_weeks = finals(weeks)
    remember(store, all_weeks)
    path = journal_path(store)
    *lines, last, _ = path.read_text().split("\n")
    path.write_text("".join(f"{line}\n" for line in lines) + last[: -min(cut - 1, len(last))])
    assert list(read_journal(store).weeks.values()) == all_weeks[:-1]
    remember(store, all_weeks)
    assert list(read_journal(store).weeks.values()) == all_weeks


@pytest.mark.parametrize("old", [False, True])
def test_a_last_line_without_its_end_counts(tmp_path: Path, short_coverage: Coverage, old: bool) -> None:
    """A whole line is a committed week, also if only its newline is missing; it is neither ignored nor erased."""
    store = tmp_path / "store.db"
    lost = FinalWeek(FIRST, "0" * 64, "2021-01-04T08:00:00Z", "2021-01-11T08:00:00Z", "instant")
    remember(store, [lost])
    path = journal_path(store)
    path.write_text(f"{FIRST} {'0' * 64}" if old else path.read_text().removesuffix("\n"))
    with pytest.raises(StoreError, match="does not hold week 2021-01-04"):
        add_weeks(store, short_coverage, {})
    later = FinalWeek(FIRST + timedelta(weeks=9), "1" * 64)
    remember(store, [later])
    assert read_journal(store).checksums == {FIRST: "0" * 64, later.week: "1" * 64}


@pytest.mark.parametrize("tail", ['{"week": "2021-01-04", "che', "2021-01-04 00", "\0\0\0", "{", "noise"])
def test_a_last_line_that_is_not_whole_is_an_error_with_a_way_out(
    tmp_path: Path, short_coverage: Coverage, tail: str
) -> None:
    """It may be a week that the store lost. Nothing is erased; the line says what to do, and doing it helps."""
    store = tmp_path / "store.db"
    journal_path(store).write_text(tail)
    with pytest.raises(StoreError, match=r"the last line is not whole.*complete the line or remove it"):
        add_weeks(store, short_coverage, {})
    assert journal_path(store).read_text() == tail
    journal_path(store).write_text("")
    add_weeks(store, short_coverage, {})
    assert read_journal(store).checksums == checksums(store)


@pytest.mark.parametrize("tail", ["p", 'published "/da', "backed-", "lost 2021"])
def test_a_cut_line_that_is_no_week_is_dropped(tmp_path: Path, short_coverage: Coverage, tail: str) -> None:
    """Places and lost weeks are written again by the command that was cut off; no week depends on them."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    journal_path(store).write_text(journal_path(store).read_text() + tail)
    add_weeks(store, short_coverage, {}, start=1)
    assert read_journal(store).checksums == checksums(store)


@pytest.mark.parametrize(
    "instants", [("", ""), ("9999-01-01T00:00:00Z", "9999-01-08T00:00:00Z"), ("x", "y"), ("z", "a")]
)
def test_instants_that_cannot_be_right_do_not_free_a_week(
    tmp_path: Path, short_coverage: Coverage, instants: tuple[str, str]
) -> None:
    """A published folder that was changed cannot say that a week lay elsewhere: it and its neighbours are kept."""
    store = tmp_path / "store.db"
    remember(store, [FinalWeek(FIRST + timedelta(weeks=1), "0" * 64, *instants)])
    for start in (0, 1, 2):
        with pytest.raises(StoreError, match=r"does not hold week 2021-01-11|the journal is damaged"):
            add_weeks(store, short_coverage, {}, start=start)
    journal_path(store).unlink()


def test_a_journal_of_an_earlier_version_is_completed(tmp_path: Path, short_coverage: Coverage) -> None:
    """Its lines have no instants: they are added for the weeks of the store, beside the old lines."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    known = read_journal(store)
    journal_path(store).write_text(f"{FIRST} {known.checksums[FIRST]}\n")
    add_weeks(store, short_coverage, {}, start=1)
    assert read_journal(store).weeks[FIRST] == known.weeks[FIRST]


@pytest.mark.parametrize(
    "line", ["", "2021-01-04", "2021-01-04 abc", "x " + "0" * 64, "2021-01-04  " + "0" * 64, "\xff"]
)
def test_a_damaged_journal_is_refused(tmp_path: Path, line: str) -> None:
    """A line that cannot be read is an error that names the line."""
    store = tmp_path / "store.db"
    remember(store, [FinalWeek(date(2021, 1, 11), "0" * 64)])
    path = journal_path(store)
    path.write_bytes(line.encode("latin-1") + b"\n" + path.read_bytes())
    with pytest.raises(StoreError, match=r"line 1: expected a week and a checksum|cannot be read"):
        read_journal(store)


def test_a_week_with_two_checksums_in_the_journal_is_refused(tmp_path: Path) -> None:
    """The error names the line."""
    journal_path(tmp_path / "store.db").write_text(f"2021-01-04 {'0' * 64}\n2021-01-04 {'1' * 64}\n")
    with pytest.raises(StoreError, match="line 2: week 2021-01-04 is listed twice"):
        read_journal(tmp_path / "store.db")


@pytest.mark.parametrize("damage", ["deleted", "cut", "flipped"])
def test_a_week_lost_with_the_wal_file_is_not_noised_again(tmp_path: Path, damage: str) -> None:
    """A week committed just before a kill is in the `.wal` file; if that is lost or damaged, the week is refused."""
    folder = new_folder(tmp_path / "work", *WEEKS[:2])
    assert run_process(anonymize_words(WEEKS[0]), folder).code == 0
    assert run_process(anonymize_words(WEEKS[1]), folder, setup=die_after_commit).killed
    store, wal = folder / "store.db", folder / "store.db.wal"
    data = wal.read_bytes()
    if damage == "deleted":
        wal.unlink()
    elif damage == "cut":
        wal.write_bytes(data[: len(data) // 2])
    else:
        wal.write_bytes(bytes(byte ^ 0x10 if i == len(data) // 2 else byte for i, byte in enumerate(data)))
    again = run_process(anonymize_words(WEEKS[1]), folder)
    assert again.code == 2
    assert "does not hold week 2023-10-08" in again.text or "the file is damaged" in again.text
    assert read_journal(store).weeks.keys() == set(WEEKS[:2])


def test_a_week_in_the_wal_file_is_in_the_store(tmp_path: Path) -> None:
    """After a kill the next run applies the `.wal` file, and the week is in the store with the same noise."""
    folder = new_folder(tmp_path / "work", *WEEKS[:1])
    assert run_process(anonymize_words(WEEKS[0]), folder, setup=die_after_commit).killed
    assert (folder / "store.db.wal").stat().st_size > 0
    assert run_process(anonymize_words(WEEKS[0]), folder).code == 0
    assert read_journal(folder / "store.db").checksums == checksums(folder / "store.db")
