"""Backups of a store: a whole and verified copy, and the way back that noises no week a second time.

A copy of a store forgets the weeks that were committed after it was made. The journal beside the store does not (see
journal.py); so a restored store goes on from where it stands, but never noises what was released meanwhile.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.errors import CheckFailed, SearchInsightsError, StoreError
from search_insights.store.journal import read_journal, remember, remember_checksums
from search_insights.store.ledger import LedgerEntry
from search_insights.store.store import open_store
from search_insights.store.verification import damage
from search_insights.support.database import connect, private_files
from search_insights.support.quoting import literal
from search_insights.support.replace_folder import flush
from search_insights.support.working_folder import working_folder

# The same for all names, so that the next backup to a folder removes what a killed one left there.
_DRAFT = ".search-insights-copy-"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restored store holds, and the weeks that it lacks although they were committed once."""

    weeks: tuple[date, ...]
    lost: tuple[date, ...]


def back_up(store: Path, out: Path) -> tuple[date, ...]:
    """Copy a store to a new file and verify the copy; gives the weeks in it.

    The store is locked against writing meanwhile. The file appears at the end, whole, for its owner only.
    """
    if out.exists():
        raise StoreError(f"{out}: is there already; give each backup a name of its own")
    if not out.parent.is_dir():
        raise StoreError(f"{out}: no folder {out.parent}; make it first")
    entries = _verified(store)
    with working_folder(out.parent, _DRAFT) as folder:
        draft = folder / out.name
        _copy(store, draft)
        if _verified(draft) != entries:
            raise StoreError(f"{store}: changed while it was copied; nothing was written, run again")
        _put_in_place(draft, out)
    return tuple(entry.week for entry in entries)


def restore(backup: Path, store: Path, *, dataset: Path | None = None, replace: bool = False) -> Restored:
    """Put a backup in the place of a store, whose file stays beside it as `.old`.

    Weeks that a published dataset, the journal or the store itself know to be committed are written into the journal
    first. A store that holds more than the backup, or cannot be read, is replaced only if that is asked for.
    """
    if not backup.is_file():
        raise StoreError(f"{backup}: no such file; give one that 'store backup' made")
    if store.exists() and store.samefile(backup):
        raise StoreError(f"{backup}: is the store itself; give a file that 'store backup' made")
    entries = _verified(backup)
    mine = {entry.week: entry.checksum for entry in entries}
    if store.exists() and not replace:
        _refuse_to_lose_weeks(store, mine)
    _remember_what_was_there(store)
    if dataset:
        remember_checksums(store, published_checksums(dataset))
    with _locked(store), working_folder(store.parent, _DRAFT) as folder:
        draft = folder / store.name
        remember(store, entries)  # refuses a backup of another store
        _copy(backup, draft)
        _verified(draft)
        _move_aside(store)
        _put_in_place(draft, store)
    lost = sorted(read_journal(store).keys() - mine.keys())
    return Restored(tuple(mine), tuple(lost))


def published_checksums(dataset: Path) -> dict[date, str]:
    """Read from a published dataset which noise of which week it was made from."""
    try:
        ledger = json.loads((dataset / "privacy.json").read_text(encoding="utf-8"))["ledger"]
        return {date.fromisoformat(row["week"]): str(row["checksum"]) for row in ledger}
    except (OSError, ValueError, KeyError, TypeError):
        raise StoreError(f"{dataset}: not a dataset folder of 'search-insights publish'") from None


def _verified(store: Path) -> list[LedgerEntry]:
    """Open a store and check all of it; gives its ledger."""
    with open_store(store) as opened:
        wrong = damage(opened)
        if wrong:
            more = f" (and {len(wrong) - 1} more; 'ledger --verify' lists them)" if len(wrong) > 1 else ""
            raise CheckFailed(f"{store}: {wrong[0]}{more}")
        return opened.entries()


def _refuse_to_lose_weeks(store: Path, backup: dict[date, str]) -> None:
    try:
        with open_store(store) as opened:
            newer = [entry.week for entry in opened.entries() if backup.get(entry.week) != entry.checksum]
    except SearchInsightsError as error:
        raise StoreError(f"{error}; or, to replace it by this backup, add --replace") from None
    if newer:
        raise StoreError(
            f"{store}: holds week {newer[0]}, which the backup does not; a newer store is replaced only with "
            "--replace, and its weeks are then not noised again"
        )


def _remember_what_was_there(store: Path) -> None:
    """Write the weeks of a store that is to be replaced into the journal, as far as it can be read."""
    if store.exists():
        with suppress(SearchInsightsError), open_store(store) as opened:
            remember(store, opened.entries())


def _copy(store: Path, draft: Path) -> None:
    """Copy all tables as one transaction sees them, with what is still in the store's log of changes."""
    import duckdb

    try:
        with private_files(), connect() as connection:
            connection.execute(f"ATTACH {literal(str(store))} AS source (READ_ONLY)")
            connection.execute(f"ATTACH {literal(str(draft))} AS copy")
            connection.execute("COPY FROM DATABASE source TO copy")
            connection.execute("CHECKPOINT copy")  # into the file itself: its log of changes is not part of a backup
    except duckdb.Error:
        raise StoreError(f"{store}: cannot be copied to {draft.parent}; is it locked, or is the disk full?") from None


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Keep other processes from a store that is being replaced, also if it cannot be opened: DuckDB's own lock."""
    if not store.exists():
        yield
        return
    with store.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(f"{store}: another process is using this store; wait until it has finished") from None
        yield


def _move_aside(store: Path) -> None:
    """Keep the file that is replaced, and with it its log of changes, which must not be applied to the backup."""
    if not store.exists():
        return  # a restore that was killed here has moved it already
    old = store.with_name(f"{store.name}.old")
    old.with_name(f"{old.name}.wal").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        store.with_name(f"{store.name}.wal").rename(old.with_name(f"{old.name}.wal"))
    store.rename(old)


def _put_in_place(draft: Path, file: Path) -> None:
    flush(draft)
    draft.rename(file)
    flush(file.parent)
