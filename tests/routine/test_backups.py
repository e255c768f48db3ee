"""Backups of the routine: dated, verified, and never fewer than are needed."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from search_insights.errors import CheckFailed
from search_insights.routine import backups
from search_insights.routine.backups import backup_is_due, dated_backups, delete_surplus, make_backup
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from tests.support.clocks import clock
from tests.support.stores import add_weeks

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A store with a week."""
    return add_weeks(tmp_path / "releases.db", short_coverage, {})


def test_a_backup_is_due_when_the_newest_lacks_something(
    tmp_path: Path, store: Path, short_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A week, or what a release fixed; a second backup of a day gets a number."""
    monkeypatch.setattr(backups, "datetime", clock(NOON))
    folder = tmp_path / "backups"
    assert backup_is_due(store, folder)
    first = make_backup(store, folder)
    assert first.name == "releases-2026-11-17.db"
    assert not backup_is_due(store, folder)
    add_weeks(store, short_coverage, {}, start=1)
    assert backup_is_due(store, folder)
    second = make_backup(store, folder)
    assert dated_backups(store, folder) == [first, second]
    assert second.name == "releases-2026-11-17-2.db"
    second.write_bytes(b"damaged")
    assert backup_is_due(store, folder)


def test_the_newest_backups_are_kept_and_other_files_never_deleted(tmp_path: Path, store: Path) -> None:
    """Only dated backups of this store count, by their names, the tenth of a day after the second."""
    folder = tmp_path / "backups"
    newest = make_backup(store, folder)
    others = ["releases-2021-03-01.txt", "releases-old.db", "other-2021-03-01.db", "xreleases-2021-03-01.db"]
    names = ["releases-2021-03-01.db", "releases-2021-03-01-2.db", "releases-2021-03-01-10.db"]
    for name in (*others, *names):
        (folder / name).write_text("x")
    (folder / "releases-2021-01-01.db").symlink_to(store)
    assert [path.name for path in delete_surplus(store, folder, 2)] == names[:2]
    assert {path.name for path in folder.iterdir()} == {*others, names[2], "releases-2021-01-01.db", newest.name}
    assert delete_surplus(store, folder, 2) == []


def test_no_backup_is_deleted_unless_the_newest_is_intact_and_complete(
    tmp_path: Path, store: Path, short_coverage: Coverage
) -> None:
    """A newest one that lacks a week, or is damaged, is no reason to delete an older one."""
    folder = tmp_path / "backups"
    newest = make_backup(store, folder)
    (folder / "releases-2021-03-01.db").write_bytes(newest.read_bytes())
    add_weeks(store, short_coverage, {}, start=1)
    with pytest.raises(CheckFailed, match="lacks something that the store has; no older one was deleted"):
        delete_surplus(store, folder, 1)
    newest.unlink()
    newest = make_backup(store, folder)
    with open_store(newest, writable=True) as opened:
        opened.connection.execute("UPDATE counts SET noisy = noisy + 1 WHERE cell = 0")
    with pytest.raises(CheckFailed, match=r"but week .*\(checksum\); no older one was deleted"):
        delete_surplus(store, folder, 1)
    assert len(dated_backups(store, folder)) == 2
