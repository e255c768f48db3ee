"""Backups of a store: a complete, verified copy, and a restore that never noises a week a second time.

A copy of a store forgets the weeks that were committed after it was made. The journal beside the store does not (see
journal.py), nor do the published dataset and newer backups, from which the journal is completed. So a restored store
goes on from where it stands, but never noises a week that was released since.
"""

import fcntl
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.errors import CheckFailed, SearchInsightsError, StoreError
from search_insights.store.file_errors import real_file
from search_insights.store.journal import behind, read_journal, remember, remember_lost, remember_place
from search_insights.store.ledger import FinalWeek, LedgerEntry, LostWeek
from search_insights.store.older_copy import backups_in
from search_insights.store.opening import open_store, read_weeks
from search_insights.store.verification import DerivedCheck, damage
from search_insights.support.files import private_files, put_in_place
from search_insights.support.sql import connect, literal
from search_insights.support.working_folder import remove_abandoned, working_folder

# The same for every backup, so that the next one in a folder removes what a killed one left there.
_DRAFT_PREFIX = ".search-insights-copy-"


@dataclass(frozen=True, slots=True)
class Restored:
    """The weeks that a restored store holds, and the lost ones, which were committed once but are not in it."""

    weeks: tuple[date, ...]
    lost: tuple[date, ...]


def remove_unfinished_backups(folder: Path) -> None:
    """Remove what killed processes left in a folder of backups."""
    remove_abandoned(folder, _DRAFT_PREFIX)


def back_up(store: Path, out: Path, check_derived: DerivedCheck) -> tuple[date, ...]:
    """Copy a store to a new file and verify the copy; return its weeks.

    A store that lacks a week of a backup in the same folder is an older copy, and is refused. The store cannot be
    written while it is copied. The file appears when it is complete, for its owner only. The
    journal records the folder: the backups in it bear witness if an older copy of the store is put in its place.
    """
    remove_unfinished_backups(out.parent)  # before anything is refused: a killed backup may have been complete
    if out.exists():
        raise StoreError(f"{out}: exists already; give each backup its own name")
    if not out.parent.is_dir():
        raise StoreError(f"{out}: no folder {out.parent}; make it first")
    entries = _verified(store, check_derived)
    _refuse_to_hide_weeks(store, out.parent, {entry.week: entry.checksum for entry in entries})
    with working_folder(out.parent, _DRAFT_PREFIX) as folder:
        draft = folder / out.name
        _copy(store, draft)
        if _verified(draft, check_derived) != entries:
            raise StoreError(f"{store}: changed while it was copied; nothing was written, run again")
        put_in_place(draft, out)
    with suppress(StoreError):  # a store that cannot be written can be backed up all the same
        remember_place(store, "backed-up", out.parent)
    return tuple(entry.week for entry in entries)


def restore(
    backup: Path,
    store: Path,
    check_derived: DerivedCheck,
    *,
    published: Iterable[FinalWeek],
    replace: bool = False,
) -> Restored:
    """Restore a backup in place of a store, whose file is kept beside it as `.old`.

    Every week that is known to be committed is written to the journal first: those of the store, those of newer backups
    in the same folder, and those that were `published`. Which of them the backup does not have is recorded as lost. A
    store that holds more than the backup, or cannot be read, is replaced only with `replace`.
    """
    store = real_file(store)  # the journal lies beside the file, so the file is replaced, not a link to it
    remove_abandoned(store.parent, _DRAFT_PREFIX)
    if not backup.is_file():
        raise StoreError(f"{backup}: no such file; give one that 'store backup' made")
    if store.exists() and store.samefile(backup):
        raise StoreError(f"{backup}: is the store itself; give a file that 'store backup' made")
    entries = _verified(backup, check_derived)
    _refuse_other_release(backup, store)
    restored = {entry.week: entry.checksum for entry in entries}
    if store.exists() and not replace:
        _refuse_to_lose_weeks(store, restored)
    _remember_replaced_store(store)
    remember(store, published)
    _remember_other_backups(store, backup)
    with _locked(store), working_folder(store.parent, _DRAFT_PREFIX) as folder:
        draft = folder / store.name
        remember(store, [entry.final for entry in entries])  # refuses a backup of another store
        _copy(backup, draft)
        _verified(draft, check_derived)
        _move_aside(store)
        put_in_place(draft, store)
    lost = sorted(read_journal(store).weeks.keys() - restored.keys())
    remember_lost(store, [LostWeek(week) for week in lost])
    return Restored(tuple(restored), tuple(lost))


def _verified(store: Path, check_derived: DerivedCheck) -> list[LedgerEntry]:
    """Open a store and check all of it; return its ledger."""
    with open_store(store) as opened:
        wrong = damage(opened, check_derived)
        if wrong:
            more = f" (and {len(wrong) - 1} more; verify the store to list them)" if len(wrong) > 1 else ""
            raise CheckFailed(f"{store}: {wrong[0]}{more}")
        return opened.entries()


def _refuse_other_release(backup: Path, store: Path) -> None:
    """Refuse a backup of another release than that of the journal, which stays where it is."""
    known, _ = read_weeks(backup)
    identity = read_journal(store).identity
    if known.identity and identity not in ("", known.identity):
        raise StoreError(
            f"{backup}: is a backup of release {known.identity}, and the journal of {store.name} is of release "
            f"{identity}; give a backup of that release, or another place for the store"
        )


def _refuse_to_hide_weeks(store: Path, folder: Path, held: Mapping[date, str]) -> None:
    """Refuse to put an older copy of a store above a backup that continues it: only the newest backup bears witness."""
    known, _ = read_weeks(store)
    expected: Collection[date] = held
    with suppress(StoreError):  # a store can be backed up although its journal cannot be read
        expected = {*held, *read_journal(store).lost}
    for path, weeks in backups_in(folder, known):
        newer = sorted(weeks.keys() - expected)
        if newer and _continues(weeks, held):
            raise behind(store, newer[0], path)


def _continues(others: Mapping[date, FinalWeek], own: Mapping[date, str]) -> bool:
    """Return whether the weeks of a backup include all of these: it is not one of another store."""
    return all(week in others and others[week].checksum == checksum for week, checksum in own.items())


def _refuse_to_lose_weeks(store: Path, backup: dict[date, str]) -> None:
    try:
        with open_store(store) as opened:
            newer = [entry.week for entry in opened.entries() if backup.get(entry.week) != entry.checksum]
    except SearchInsightsError as error:
        raise StoreError(f"{error}; or, to replace it with this backup, add `replace`") from None
    if newer:
        raise StoreError(
            f"{store}: holds week {newer[0]}, which the backup does not; a newer store is replaced only with "
            "`replace`, and its weeks are then not noised again"
        )


def _remember_replaced_store(store: Path) -> None:
    """Write the weeks of the store that will be replaced to the journal, if it can be read."""
    if store.exists():
        with suppress(SearchInsightsError), open_store(store) as opened:
            remember(store, [entry.final for entry in opened.entries()])


def _remember_other_backups(store: Path, backup: Path) -> None:
    """Write the weeks of newer backups in the same folder to the journal, if they continue this one."""
    known, weeks = read_weeks(backup)
    own = {week.week: week.checksum for week in weeks}
    for _, others in backups_in(backup.parent, known):
        if _continues(others, own):
            remember(store, others.values())


def _copy(store: Path, draft: Path) -> None:
    """Copy all tables as one transaction sees them, including what is still in the store's write-ahead log."""
    import duckdb

    try:
        with private_files(), connect() as connection:
            # By the whole path: DuckDB takes a name such as md:x for an address of elsewhere.
            connection.execute(f"ATTACH {literal(str(real_file(store)))} AS source (READ_ONLY)")
            connection.execute(f"ATTACH {literal(str(draft.resolve()))} AS copy")
            connection.execute("COPY FROM DATABASE source TO copy")
            connection.execute("CHECKPOINT copy")  # into the file itself: a backup has no write-ahead log
    except duckdb.Error:
        raise StoreError(f"{store}: cannot be copied to {draft.parent}; is it locked, or is the disk full?") from None


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Lock a store that is being replaced, even one that cannot be opened: this is the lock that DuckDB uses."""
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
    """Keep the replaced file together with its write-ahead log, which must not be applied to the backup."""
    if not store.exists():
        return  # a restore that was killed here has moved it already
    old = store.with_name(f"{store.name}.old")
    old.with_name(f"{old.name}.wal").unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        store.with_name(f"{store.name}.wal").rename(old.with_name(f"{old.name}.wal"))
    store.rename(old)
