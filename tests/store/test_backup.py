"""A store can be backed up and restored, and no restore lets a week be noised twice."""

import shutil
import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import pytest

from search_insights.dataset.folder import published_weeks
from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed, SearchInsightsError, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.backup import back_up, restore
from search_insights.store.journal import journal_path, read_journal
from search_insights.store.opening import open_store
from search_insights.trends.scaling import scale_problems
from tests.support.command_line import Run
from tests.support.stores import add_weeks, held_by_another_process

FIRST, SECOND, THIRD = date(2021, 1, 4), date(2021, 1, 11), date(2021, 1, 18)


def tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every table of a store with its rows, and the schema with its constraints."""
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        found = {name: connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names}
        return found | {"schema": connection.execute("SELECT sql FROM duckdb_tables() ORDER BY ALL").fetchall()}


def weeks_of(path: Path) -> list[date]:
    with open_store(path) as opened:
        return [entry.week for entry in opened.entries()]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# Backup


def test_a_backup_has_everything_that_the_store_has(store: Path, run: Run) -> None:
    """A backup has every table, row and constraint; only its owner can read it, and no other file is written."""
    before = names(store.parent)
    out = store.parent / "backup.db"
    code, text, err = run("store", "backup", "--store", store, "--out", out)
    assert (code, err) == (0, "")
    assert text == f"{out}: 2 weeks, 2021-01-04 to 2021-01-11, copied and verified\n"
    assert tables(out) == tables(store)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert names(store.parent) == before | {"backup.db"}


@pytest.mark.parametrize("job", ["backup", "restore"])
def test_a_store_in_use_is_not_touched(store: Path, run: Run, job: str) -> None:
    """While another process uses the store, backup and restore say so in one line and change nothing."""
    back_up(store, store.parent / "old.db", scale_problems)
    before = names(store.parent)
    words = {
        "backup": ("--out", store.parent / "new.db"),
        "restore": (store.parent / "old.db", "--never-published", "--replace"),
    }[job]
    with held_by_another_process(store):
        code, out, err = run("store", job, "--store", store, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "another process is using this store; wait" in err
    assert names(store.parent) == before


def test_a_backup_overwrites_nothing(store: Path) -> None:
    """A path that exists already, or lies in a missing folder, is refused."""
    with pytest.raises(StoreError, match="give each backup its own name"):
        back_up(store, store, scale_problems)
    with pytest.raises(StoreError, match="no folder"):
        back_up(store, store.parent / "nowhere" / "backup.db", scale_problems)


def test_a_damaged_store_is_not_backed_up(store: Path) -> None:
    """A store is verified before it is backed up, so that good backups are not replaced by a damaged one."""
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE counts SET noisy = noisy + 1 WHERE cell = 3")
    with pytest.raises(CheckFailed, match="week 2021-01-04: the counts are not those that were committed"):
        back_up(store, store.parent / "backup.db", scale_problems)
    assert not (store.parent / "backup.db").exists()


# Restore


def test_a_lost_store_is_restored(store: Path, run: Run) -> None:
    """The restored store has the same content, and only its owner can read it."""
    back_up(store, store.parent / "backup.db", scale_problems)
    before = tables(store)
    store.unlink()
    code, out, err = run("store", "restore", store.parent / "backup.db", "--store", store, "--never-published")
    assert (code, err) == (0, "")
    assert out == f"{store}: 2 weeks, 2021-01-04 to 2021-01-11, restored and verified\n"
    assert tables(store) == before
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_a_damaged_store_is_replaced_only_with_the_option(store: Path, run: Run) -> None:
    """Without --replace nothing happens; with it the damaged file is kept as .old."""
    back_up(store, store.parent / "backup.db", scale_problems)
    good = tables(store)
    damaged = b"x" * 9000
    store.write_bytes(damaged)
    code, _, err = run("store", "restore", store.parent / "backup.db", "--store", store, "--never-published")
    assert code == 2
    assert "add --replace" in err
    assert store.read_bytes() == damaged
    assert (
        run("store", "restore", store.parent / "backup.db", "--store", store, "--never-published", "--replace")[0] == 0
    )
    assert tables(store) == good
    assert (store.parent / "store.db.old").read_bytes() == damaged


def test_a_newer_store_is_replaced_only_with_the_option(store: Path, short_coverage: Coverage, run: Run) -> None:
    """The line names a week that would be lost; with --replace it is lost, and cannot be noised again."""
    back_up(store, store.parent / "backup.db", scale_problems)
    add_weeks(store, short_coverage, {}, start=2)
    code, _, err = run("store", "restore", store.parent / "backup.db", "--store", store, "--never-published")
    assert code == 2
    assert "holds week 2021-01-18, which the backup does not" in err
    assert weeks_of(store) == [FIRST, SECOND, THIRD]
    code, _, err = run(
        "store", "restore", store.parent / "backup.db", "--store", store, "--never-published", "--replace"
    )
    assert code == 0
    assert "not in the store and will not be noised again: 2021-01-18" in err
    assert weeks_of(store) == [FIRST, SECOND]
    with pytest.raises(StoreError, match="does not hold week 2021-01-18"):
        add_weeks(store, short_coverage, {}, start=2)


def test_weeks_of_a_replaced_store_are_remembered_without_a_journal(store: Path, short_coverage: Coverage) -> None:
    """Even if its journal was lost, the weeks of the replaced store cannot be noised again."""
    back_up(store, store.parent / "backup.db", scale_problems)
    add_weeks(store, short_coverage, {}, start=2)
    journal_path(store).unlink()
    assert restore(store.parent / "backup.db", store, scale_problems, published=(), replace=True).lost == (THIRD,)


@pytest.mark.usefixtures("quick_accounting")
def test_published_weeks_are_remembered_from_the_dataset(
    store: Path, short_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On another machine there is no journal, but the published dataset says which weeks were released."""
    back_up(store, store.parent / "backup.db", scale_problems)
    add_weeks(store, short_coverage, {}, start=2)
    publish(store, store.parent / "dataset")
    there = tmp_path_factory.mktemp("elsewhere") / "store.db"
    restored = restore(
        store.parent / "backup.db", there, scale_problems, published=published_weeks(store.parent / "dataset").values()
    )
    assert (restored.weeks, restored.lost) == ((FIRST, SECOND), (THIRD,))
    with pytest.raises(StoreError, match="does not hold week 2021-01-18"):
        add_weeks(there, short_coverage, {}, start=2)


def test_a_backup_of_another_store_is_refused(store: Path, short_coverage: Coverage, tmp_path: Path) -> None:
    """A copy whose weeks have different noise than the journal records cannot replace the store."""
    (tmp_path / "other").mkdir()
    with open_store(store) as opened:
        identity = opened.identity  # or it is refused for that
    changed = {"zip/94103": (1, 2, 3, 4)}
    other = add_weeks(tmp_path / "other" / "store.db", short_coverage, changed, identity=identity)
    back_up(other, tmp_path / "other.db", scale_problems)
    before = tables(store)
    with pytest.raises(StoreError, match="week 2021-01-04 has other noise"):
        restore(tmp_path / "other.db", store, scale_problems, published=(), replace=True)
    assert tables(store) == before


def spoil(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM counts WHERE cell = 0")


@pytest.mark.parametrize("make", [None, spoil, lambda path: path.write_bytes(path.read_bytes()[:5000])])
def test_a_bad_backup_replaces_nothing(store: Path, make: Callable[[Path], None] | None) -> None:
    """A backup that is missing, altered or cut short is refused before the store is changed."""
    backup = store.parent / "backup.db"
    if make:
        back_up(store, backup, scale_problems)
        make(backup)
    before, there = tables(store), names(store.parent)
    with pytest.raises(SearchInsightsError):
        restore(backup, store, scale_problems, published=(), replace=True)
    assert tables(store) == before
    assert names(store.parent) == there


def test_a_store_is_not_its_own_backup(store: Path) -> None:
    """Restoring a store from itself is refused."""
    with pytest.raises(StoreError, match="is the store itself"):
        restore(store, store, scale_problems, published=(), replace=True)


def test_an_old_wal_file_is_not_applied_to_a_restored_store(store: Path) -> None:
    """A `.wal` file that a crash left belongs to the replaced store and is kept beside it as .old.wal."""
    back_up(store, store.parent / "backup.db", scale_problems)
    good = tables(store)
    wal = store.with_name("store.db.wal")
    wal.write_bytes(b"left by a crash")
    restore(store.parent / "backup.db", store, scale_problems, published=(), replace=True)
    assert not wal.exists()
    assert tables(store) == good
    assert (store.parent / "store.db.old.wal").read_bytes() == b"left by a crash"


def test_a_copy_made_by_hand_is_a_backup_too(store: Path) -> None:
    """A copy made with `cp` while the store was not in use can be restored, and matches the journal."""
    shutil.copy(store, store.parent / "copy.db")
    store.unlink()
    restore(store.parent / "copy.db", store, scale_problems, published=())
    assert list(read_journal(store).checksums) == weeks_of(store)


def test_a_refused_backup_removes_what_a_killed_one_left(store: Path) -> None:
    """A backup that was killed after the file was in place leaves its folder; the next one removes it all the same."""
    left = store.parent / ".search-insights-copy-abcdefgh"
    left.mkdir()
    with pytest.raises(StoreError, match="exists already"):
        back_up(store, store, scale_problems)
    assert not left.exists()
