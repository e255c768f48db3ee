"""An older copy of a store is refused by whatever knows more: its journal, a published folder, a newer backup."""

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest

from search_insights.anonymization import anonymize
from search_insights.dataset.folder import published_weeks
from search_insights.private.log import LogSource
from search_insights.store.backup import back_up
from search_insights.store.journal import journal_path, read_journal
from search_insights.trends.scaling import scale_problems
from tests.support.command_line import Run
from tests.support.logs import MONDAY, NEXT_WEEK, WEEK, Publisher, little_coverage, searches, write_log
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import copy_of_store

FIRST, SECOND = date.fromisoformat(MONDAY), NEXT_WEEK.first_day
THIRD = SECOND + timedelta(weeks=1)

pytestmark = pytest.mark.usefixtures("quick_accounting")


def log_of(folder: Path, week: date) -> Path:
    """Write the log of a week."""
    noon = f"TIMESTAMPTZ '{week} 20:00:00+00' + to_days((i % 7)::INTEGER)"
    return write_log(folder / f"{week}.parquet", searches(timestamp=noon, rows=14_000))


@pytest.fixture(scope="module")
def first_week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the first week, of which every test has a copy."""
    folder = tmp_path_factory.mktemp("first")
    store, log = folder / "store.db", LogSource((str(log_of(folder, FIRST)),))
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        anonymize(log, store, [WEEK], little_coverage(folder))
    return store


@pytest.fixture
def publisher(publisher: Publisher, first_week: Path) -> Publisher:
    """A publisher who has committed the first week."""
    assert copy_of_store(first_week, publisher.folder) == publisher.store
    return publisher


def add(publisher: Publisher, week: date) -> tuple[int, str, str]:
    """Anonymize a week that has its own log."""
    return publisher.anonymize(log_of(publisher.folder, week), week=str(week))


def copied(publisher: Publisher) -> list[tuple[Path, Path]]:
    """Copy the store and its journal with `cp`, as many do."""
    pairs = [(path, path.with_name(f"{path.name}.copy")) for path in (publisher.store, journal_path(publisher.store))]
    for path, copy in pairs:
        shutil.copy(path, copy)
    return pairs


def put_back(pairs: list[tuple[Path, Path]]) -> None:
    for path, copy in pairs:
        shutil.copy(copy, path)


def assert_behind(result: tuple[int, str, str], witness: Path) -> None:
    code, out, err = result
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"does not hold week {SECOND}, which {witness} says was committed: is this an older copy?" in err
    assert "store restore" in err


def publish(publisher: Publisher) -> Path:
    folder = publisher.folder / "dataset"
    assert publisher.run("publish", "--store", publisher.store, "--out", folder)[0] == 0
    return folder


def final_checksum(folder: Path) -> str:
    """Return the checksum of the second week in a published folder."""
    text = (folder / "privacy.json").read_text()
    return str(json.loads(text)["ledger"][1]["checksum"])


def test_the_published_folder_knows_weeks_that_store_and_journal_forgot(publisher: Publisher) -> None:
    """Store and journal are copied, a week is published, both are put back: neither that week nor another is noised."""
    folder = publish(publisher)
    pairs = copied(publisher)
    assert add(publisher, SECOND)[0] == 0
    publish(publisher)
    before = published_weeks(folder)
    put_back(pairs)
    for week in (SECOND, THIRD):
        assert_behind(add(publisher, week), folder)
    assert [entry.week for entry in publisher.ledger()] == [FIRST]
    assert published_weeks(folder) == before


@pytest.mark.parametrize("damage", ["cut", "checksum", "missing"])
def test_a_damaged_published_folder_is_no_licence(publisher: Publisher, damage: str) -> None:
    """If it cannot be read which weeks were published, none is noised: it may be one of them."""
    folder = publish(publisher)
    pairs = copied(publisher)
    assert add(publisher, SECOND)[0] == 0
    publish(publisher)
    put_back(pairs)
    statement = folder / "privacy.json"
    whole = statement.read_text()
    statement.write_text(whole[:-20] if damage == "cut" else whole.replace(final_checksum(folder), "abc"))
    if damage == "missing":
        statement.unlink()
    for week in (SECOND, THIRD):
        code, out, err = add(publisher, week)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "cannot be seen whether it is an older copy" in err
    folder.rename(folder.with_name("moved"))
    assert add(publisher, THIRD)[0] == 0


def test_a_dated_backup_knows_weeks_that_store_and_journal_forgot(publisher: Publisher) -> None:
    """The newest backup in the folder of an earlier one has a week that the old pair of files lacks."""
    backups = publisher.folder / "backups"
    backups.mkdir()
    back_up(publisher.store, backups / "2021-03-15.db", scale_problems)
    pairs = copied(publisher)
    assert add(publisher, SECOND)[0] == 0
    newest = backups / "2021-03-22.db"
    back_up(publisher.store, newest, scale_problems)
    (backups / "notes.txt").write_text("not a store")
    put_back(pairs)
    for week in (SECOND, THIRD):
        assert_behind(add(publisher, week), newest)


def test_the_journal_knows_weeks_that_the_store_forgot(publisher: Publisher) -> None:
    """An older copy of the store alone is refused as a whole, not only for the week that it lacks."""
    (store, copy), _ = copied(publisher)
    assert add(publisher, SECOND)[0] == 0
    shutil.copy(copy, store)
    for week in (SECOND, THIRD):
        assert_behind(add(publisher, week), journal_path(store))


def test_restoring_with_the_dataset_is_the_way_out(publisher: Publisher) -> None:
    """After it, the forgotten week is recorded as lost and never noised, and the series goes on."""
    folder = publish(publisher)
    backup = publisher.folder / "backup.db"
    back_up(publisher.store, backup, scale_problems)
    pairs = copied(publisher)
    assert add(publisher, SECOND)[0] == 0
    publish(publisher)
    put_back(pairs)
    code, _, err = publisher.run("store", "restore", backup, "--store", publisher.store, "--dataset", folder)
    assert code == 0
    assert f"will not be noised again: {SECOND}" in err
    assert set(read_journal(publisher.store).lost) == {SECOND}
    assert add(publisher, THIRD)[0] == 0
    assert_behind(add(publisher, SECOND), journal_path(publisher.store))
    assert publisher.run("ledger", "--store", publisher.store, "--verify")[0] == 0


def test_a_restore_learns_from_newer_backups_beside_it(publisher: Publisher) -> None:
    """On a new machine, without journal and dataset, the weeks of a newer backup in the folder are not noised again."""
    backups = publisher.folder / "backups"
    backups.mkdir()
    back_up(publisher.store, backups / "old.db", scale_problems)
    assert add(publisher, SECOND)[0] == 0
    back_up(publisher.store, backups / "new.db", scale_problems)
    publisher.forget()
    words = ("restore", backups / "old.db", "--store", publisher.store, "--never-published")
    code, _, err = publisher.run("store", *words)
    assert code == 0
    assert f"will not be noised again: {SECOND}" in err
    assert_behind(add(publisher, SECOND), journal_path(publisher.store))


def test_a_restore_asks_for_the_published_dataset(publisher: Publisher, run: Run) -> None:
    """Without the dataset, or the word that there is none, nothing is restored."""
    backup = publisher.folder / "backup.db"
    back_up(publisher.store, backup, scale_problems)
    publisher.store.unlink()
    code, out, err = run("store", "restore", backup, "--store", publisher.store)
    assert (code, out) == (2, "")
    assert "--dataset" in err
    assert "--never-published" in err
    assert not publisher.store.exists()


def test_a_folder_that_another_dataset_took_is_no_witness(publisher: Publisher) -> None:
    """The dataset was moved, and something else lies in its place: that says nothing about this store."""
    folder = publish(publisher)
    shutil.rmtree(folder)
    assert add(publisher, SECOND)[0] == 0
    folder.mkdir()
    (folder / "privacy.json").write_text('{"spec": {"fingerprint": "other"}, "ledger": []}')
    assert add(publisher, THIRD)[0] == 0


@pytest.mark.parametrize("is_there", [True, False])
def test_backups_in_a_folder_are_dated(publisher: Publisher, is_there: bool) -> None:
    """Given a folder, `store backup` names the file by the store and the day; `backups/` is made if it is not there."""
    backups = publisher.folder / "backups"
    if is_there:
        backups.mkdir()
    code, out, _ = publisher.run("store", "backup", "--store", publisher.store, "--out", f"{backups}/")
    assert code == 0
    (file,) = backups.iterdir()
    assert out.startswith(f"{file}: 1 week")
    assert date.fromisoformat(file.stem.removeprefix("store-")) >= date(2026, 1, 1)
