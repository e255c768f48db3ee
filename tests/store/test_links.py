"""A store that is reached by a link: all that belongs to it lies beside the file itself."""

import os
from pathlib import Path

import pytest

from search_insights.store.backup import back_up
from search_insights.store.journal import journal_path
from search_insights.trends.scaling import scale_problems
from tests.lab.kill_cases import WEEKS, anonymize_words, new_folder
from tests.lab.kills import die_after_commit, run_process
from tests.support.logs import MONDAY, NEXT_WEEK, Publisher, searches


@pytest.fixture
def link(publisher: Publisher) -> Path:
    """A link to the store, from another folder."""
    (publisher.folder / "elsewhere").mkdir()
    link = publisher.folder / "elsewhere" / "link.db"
    link.symlink_to(publisher.store)
    return link


def anonymize(publisher: Publisher, store: Path, week: str) -> tuple[int, str, str]:
    """Anonymize a week of its own log into the store of this name."""
    noon = f"TIMESTAMPTZ '{week} 20:00:00+00' + to_days((i % 7)::INTEGER)"
    log = publisher.log(searches(timestamp=noon), f"{week}.parquet")
    return publisher.run("anonymize", log, "--store", store, "--geography", publisher.geography, "--week", week)


SECOND = str(NEXT_WEEK.first_day)


def test_everything_lies_beside_the_file_itself(publisher: Publisher, link: Path) -> None:
    """A store made and used through a link leaves nothing beside the link."""
    for week in (MONDAY, SECOND):
        assert anonymize(publisher, link, week)[0] == 0
    assert [path.name for path in link.parent.iterdir()] == ["link.db"]
    assert [str(entry.week) for entry in publisher.ledger()] == [MONDAY, SECOND]


def test_a_week_committed_through_a_link_is_not_hidden_by_a_kill(tmp_path: Path) -> None:
    """Killed between commit and journal, the week is in the write-ahead log, which every name of the store finds."""
    folder = new_folder(tmp_path / "work", *WEEKS[:1])
    real = folder / "tmp" / "real.db"
    (folder / "store.db").symlink_to(real)
    assert run_process(anonymize_words(WEEKS[0]), folder, setup=die_after_commit).killed
    assert (real.with_name("real.db.wal").stat().st_size > 0, (folder / "store.db.wal").exists()) == (True, False)
    by_its_own_name = [str(real) if word == "store.db" else word for word in anonymize_words(WEEKS[0])]
    again = run_process(by_its_own_name, folder)
    assert (again.code, "is in the store already" in again.text) == (0, True)


def test_a_log_left_beside_a_link_is_not_overlooked(publisher: Publisher, link: Path) -> None:
    """It may hold a committed week that the file does not have: the line says where to move it."""
    assert anonymize(publisher, link, MONDAY)[0] == 0
    link.with_name("link.db.wal").write_bytes(b"left by a kill")
    code, _, err = anonymize(publisher, link, SECOND)
    assert code == 2
    assert f"move it to {publisher.store}.wal" in err


def test_a_restore_through_a_link_keeps_the_journal(publisher: Publisher, link: Path) -> None:
    """The file is replaced, not the link, so the journal beside the file still holds."""
    assert anonymize(publisher, link, MONDAY)[0] == 0
    backup = publisher.folder / "backup.db"
    back_up(link, backup, scale_problems)
    assert anonymize(publisher, link, SECOND)[0] == 0
    code, _, err = publisher.run("store", "restore", backup, "--store", link, "--never-published", "--replace")
    assert (code, f"will not be noised again: {SECOND}" in err) == (0, True)
    assert link.is_symlink()
    for store in (link, publisher.store):
        code, _, err = anonymize(publisher, store, SECOND)
        assert (code, f"{journal_path(publisher.store)} says was committed" in err) == (2, True)


def test_a_store_with_a_second_name_is_refused(publisher: Publisher) -> None:
    """By a hard link it would have another journal and another write-ahead log."""
    assert anonymize(publisher, publisher.store, MONDAY)[0] == 0
    second = publisher.folder / "second.db"
    os.link(publisher.store, second)
    code, _, err = anonymize(publisher, second, SECOND)
    assert (code, "second name (a hard link)" in err) == (2, True)
    second.unlink()
    assert anonymize(publisher, publisher.store, SECOND)[0] == 0


@pytest.mark.parametrize("words", [("ledger",), ("publish", "--out", "out"), ("store", "backup", "--out", "out")])
def test_a_link_that_leads_in_a_circle_is_one_line(publisher: Publisher, words: tuple[str, ...]) -> None:
    """Exit code 2 and a word about the link, whatever is done with it."""
    publisher.store.symlink_to(publisher.store)
    for result in (
        anonymize(publisher, publisher.store, MONDAY),
        publisher.run(*words, "--store", publisher.store),
    ):
        code, out, err = result
        assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_journal_without_end_is_one_line(publisher: Publisher) -> None:
    """A file larger than any journal is refused before it is read into memory."""
    with journal_path(publisher.store).open("wb") as file:
        file.truncate(1 << 40)
    code, out, err = anonymize(publisher, publisher.store, MONDAY)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be read" in err
