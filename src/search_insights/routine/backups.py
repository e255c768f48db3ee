"""Dated backups of the store: one when the store has something that the newest backup lacks, and the newest kept."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from search_insights.errors import CheckFailed, InputError, SearchInsightsError
from search_insights.store.backup import back_up
from search_insights.store.opening import open_store
from search_insights.store.store import Store
from search_insights.store.verification import damage
from search_insights.support.files import private_files
from search_insights.trends.scaling import scale_problems


def dated_backups(store: Path, folder: Path) -> list[Path]:
    """Return the dated backups of a store in a folder, the oldest first; other files are none of them."""
    name = re.compile(rf"{re.escape(store.stem)}-(\d{{4}}-\d\d-\d\d)(?:-(\d+))?{re.escape(store.suffix)}")
    found = [(match[1], int(match[2] or 1), path) for path in _files(folder) if (match := name.fullmatch(path.name))]
    return [path for *_, path in sorted(found)]


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.iterdir() if p.is_file() and not p.is_symlink()] if folder.is_dir() else []


def backup_is_due(store: Path, folder: Path) -> bool:
    """Return whether the newest backup lacks anything that the store has, or cannot be read."""
    newest = dated_backups(store, folder)[-1:]
    with suppress(SearchInsightsError):
        return not newest or _records_at(newest[0]) != _records_at(store)
    return True


def _records_at(path: Path) -> tuple[Any, ...]:
    with open_store(path) as store:
        return _records(store)


def _records(store: Store) -> tuple[Any, ...]:
    """Return all that a store records; the checksums of its ledger stand for the counts."""
    decided = store.scalings(), store.sparsities(), store.corrections()
    return store.entries(), store.lost(), store.notes(), store.changes(), decided


def make_backup(store: Path, folder: Path) -> Path:
    """Copy the store to a new dated file and verify the copy."""
    try:
        with private_files():
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); make it first") from None
    to = _new_name(store, folder)
    back_up(store, to, scale_problems)
    return to


def _new_name(store: Path, folder: Path) -> Path:
    """Return a name by the day; a number follows where the day has a backup already."""
    today, number = f"{store.stem}-{datetime.now(UTC):%Y-%m-%d}", 1
    path = folder / f"{today}{store.suffix}"
    while path.exists():
        number += 1
        path = folder / f"{today}-{number}{store.suffix}"
    return path


def delete_surplus(store: Path, folder: Path, keep: int) -> list[Path]:
    """Delete the oldest dated backups beyond the number to keep, if the newest is intact and has all of the store."""
    backups = dated_backups(store, folder)
    surplus = backups[:-keep]
    if surplus:
        _require_complete(store, backups[-1])
    for path in surplus:
        path.unlink(missing_ok=True)
    return surplus


def _require_complete(store: Path, newest: Path) -> None:
    with open_store(newest) as backup:
        wrong = damage(backup, scale_problems)
        complete = _records(backup) == _records_at(store)
    if wrong or not complete:
        why = wrong[0] if wrong else "it lacks something that the store has"
        raise CheckFailed(f"{newest}: is the newest backup, but {why}; no older one was deleted. Move it away")
