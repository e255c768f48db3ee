"""Creating and opening a store: the file, its lock, its version, and whether it belongs to the spec that is asked for.

A store may be reached by a link. DuckDB keeps its write-ahead log beside the name by which it opens a file, so a store
is always opened by the name of the file itself: whoever opens it then finds every committed week, and the journal.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.errors import StoreError
from search_insights.spec.changes import differences, kind_of
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import parse_spec
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone_data_version
from search_insights.store.coverages import add_change, fingerprints_of, keep_words, read_editions, read_specs
from search_insights.store.editions import Change
from search_insights.store.file_errors import RESTORE_HINT, explained, real_file
from search_insights.store.identity import Known, identity_of_earlier, new_identity
from search_insights.store.journal import read_journal, remember
from search_insights.store.ledger import FinalWeek, LedgerEntry, LostWeek, instants_of
from search_insights.store.store import Store, changes_of, entries_of, lost_of, transaction
from search_insights.store.upgrade import SCHEMA_VERSION, upgrade_file, upgrade_in_memory
from search_insights.support.files import is_text, private_files, put_if_absent
from search_insights.support.sql import connect
from search_insights.support.working_folder import remove_abandoned, working_folder

if TYPE_CHECKING:
    import duckdb

_SHOWN = 3  # differences in a message
_MAGIC = slice(8, 12)  # where a file of DuckDB says what it is, after the checksum of its first block


@contextmanager
def create_or_open_store(path: Path, coverage: Coverage, identity: str = "") -> Iterator[Store]:
    """Open a store for writing, or create it; refuse one that has no edition of this spec and geography.

    A new store gets the `identity`, or that of its journal, or a new one; an existing one of another identity is
    refused. A new store to which no week was committed is removed again.
    """
    if not path.parent.is_dir():
        raise StoreError(f"{path}: no folder {path.parent}; make it first")
    _require_name(path)
    file = real_file(path)
    is_new = not file.exists()
    remove_abandoned(file.parent, _draft_prefix(file))
    expected = identity or read_journal(path).identity
    if is_new:
        _create_file(file, coverage, expected or new_identity())
    with private_files(), _connect(path, read_only=False) as connection:
        try:
            with explained(path):
                if _is_unused(connection) and not _is_made_for(connection, coverage, expected):
                    _create(connection, coverage, expected or new_identity())
                _upgrade(connection, path, read_only=False)
                store = _store(connection, path, coverage)
                _require_identity(store, identity)
                _require_known(store, coverage)
                keep_words(connection, coverage.spec)
                connection.execute("INSERT OR IGNORE INTO about VALUES ('identity', ?)", [store.identity])
            remember(path, [entry.final for entry in store.entries()], store.lost(), store.mark)
            _require_same_boundaries(store)
            yield store
        finally:
            if is_new and _can_be_removed(connection):
                file.unlink(missing_ok=True)  # while it is locked, so that no other process is using it


@contextmanager
def open_store(path: Path, writable: bool = False, known: Coverage | None = None) -> Iterator[Store]:
    """Open an existing store for reading; if `writable`, also to record what a release fixed.

    What is the same in a coverage that is `known` is not read again.
    """
    with _open_used(path, read_only=not writable) as connection:
        with explained(path):
            store = _store(connection, path, known)
        yield store


@contextmanager
def _open_used(path: Path, read_only: bool) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Open an existing store that has a week, as one of the present version."""
    if not path.is_file():
        raise StoreError(f"{path}: no such store; 'search-insights anonymize' makes one")
    with private_files(), _connect(path, read_only=read_only) as connection:
        with explained(path):
            if _is_unused(connection):
                raise StoreError(f"{path}: the store is empty; 'search-insights anonymize' fills it")
            _upgrade(connection, path, read_only=read_only)
        yield connection


@dataclass(frozen=True, slots=True)
class StoredLedger:
    """The ledger of a store, the weeks that were declared lost, and what they were counted under.

    `specs` and `sources` (those of the geographies) are by fingerprint, in the order in which they were recorded.
    """

    specs: dict[str, Spec]
    sources: dict[str, str]
    entries: list[LedgerEntry]
    lost: list[LostWeek]


def read_ledger(path: Path) -> StoredLedger:
    """Read the ledger of a store, without its geographies, which have many more rows."""
    with _open_used(path, read_only=True) as connection, explained(path):
        specs, sources = read_specs(connection, path, changes_of(connection))
        return StoredLedger(specs, sources, entries_of(connection), lost_of(connection))


def is_unused(path: Path) -> bool:
    """Return whether there is no store yet, or one to which no week was ever committed."""
    if not path.is_file():
        return True
    with _connect(path, read_only=True) as connection, explained(path):
        return _is_unused(connection)


@contextmanager
def open_store_if_any(path: Path, coverage: Coverage) -> Iterator[Store | None]:
    """Open a store for reading, as `create_or_open_store` would find it; None if it has no week or is not there.

    Refuse one that has no edition of this spec and geography. Nothing is written.
    """
    if not path.exists():
        yield None
        return
    with private_files(), _connect(path, read_only=True) as connection:
        with explained(path):
            store = None
            if not _is_unused(connection):
                _upgrade(connection, path, read_only=True)
                store = _store(connection, path, coverage)
                _require_known(store, coverage)
        yield store


def read_weeks(path: Path) -> tuple[Known, list[FinalWeek]]:
    """Return by what a store is known, and its weeks, without reading the rest of it."""
    with _connect(path, read_only=True) as connection, explained(path):
        recorded = _about(connection, path).get("identity", "")
        _upgrade(connection, path, read_only=True)
        changes, weeks = changes_of(connection), [entry.final for entry in entries_of(connection)]
        specs, geographies = (frozenset(getattr(c, key) for c in changes) for key in ("spec", "geography"))
        return Known(recorded, specs, geographies), weeks


def _store(connection: "duckdb.DuckDBPyConnection", path: Path, given: Coverage | None = None) -> Store:
    editions = read_editions(connection, path, changes_of(connection), given)
    return Store(connection, path, editions, _identity(connection, path))


def _identity(connection: "duckdb.DuckDBPyConnection", path: Path) -> str:
    """Return the identity that a store has, or that one of an earlier version gets: the same in all its copies."""
    if recorded := (_read_about(connection) or {}).get("identity"):
        return recorded
    with suppress(StoreError):  # what is wrong with a journal is told where it is needed
        if noted := read_journal(path).identity:
            return noted
    return identity_of_earlier(entries_of(connection)[0].checksum)


def _require_identity(store: Store, identity: str) -> None:
    """Refuse a store of another release than the one that is meant."""
    if identity not in ("", store.identity):
        raise StoreError(
            f"{store.path}: is of release {store.identity}, not of release {identity}, which the settings name; use "
            "the store of that release, or settings with the identity of this store"
        )


def _connect(path: Path, read_only: bool) -> "duckdb.DuckDBPyConnection":
    file = real_file(path)
    _refuse_stray_log(path, file)
    _require_name(path)
    _require_database(path)
    if not read_only:
        require_one_name(path)
    with explained(path):
        return connect(str(file), read_only=read_only)


def _require_name(path: Path) -> None:
    """Refuse a name that DuckDB cannot take."""
    if not is_text(real_file(path)):
        raise StoreError(f"{path}: the name of this file or of its folder is not text in UTF-8; rename it")


def _require_database(path: Path) -> None:
    """Refuse a file of another format: DuckDB opens Parquet too, as a database in memory that forgets every week."""
    with suppress(OSError), path.open("rb") as file:  # DuckDB explains better why a file cannot be opened
        if file.read(_MAGIC.stop)[_MAGIC] not in (b"DUCK", b""):
            raise StoreError(f"{path}: not a store of this program, or damaged; {RESTORE_HINT}")


def _refuse_stray_log(path: Path, file: Path) -> None:
    """Refuse a write-ahead log beside a link: an earlier version left it there, and it may hold a committed week."""
    stray = path.with_name(f"{path.name}.wal")
    if path.is_symlink() and stray.exists() and stray.resolve() != file.with_name(f"{file.name}.wal"):
        raise StoreError(
            f"{stray}: the write-ahead log of {file}, which does not find it there; move it to {file}.wal, or away if "
            "it belongs to another store"
        )


def require_one_name(path: Path) -> None:
    """Refuse a file that has a second name: by that name it would have another write-ahead log and another journal."""
    for _ in range(50):
        if path.stat().st_nlink == 1:
            return
        time.sleep(0.02)  # another process may be creating it
    raise StoreError(
        f"{path}: the file has a second name (a hard link); copy it with 'store backup' instead of linking"
    )


def _upgrade(connection: "duckdb.DuckDBPyConnection", path: Path, read_only: bool) -> None:
    """Bring a store of an earlier version to the present one."""
    about = _about(connection, path)
    if about["schema_version"] != str(SCHEMA_VERSION):
        time_zone = parse_spec(about["spec"], f"{path} (spec)").time_zone
        with transaction(connection):
            (upgrade_in_memory if read_only else upgrade_file)(connection, about, time_zone)


def _require_same_boundaries(store: Store) -> None:
    """Refuse zone data by which a week of the store would begin or end at another instant: weeks might then overlap."""
    for entry in store.entries():
        time_zone = store.edition_of(entry.week).counted.spec.time_zone
        if instants_of(Week(entry.week, time_zone)) != (entry.begins_at, entry.ends_at):
            raise StoreError(
                f"{store.path}: by the time zone data {zone_data_version()}, week {entry.week} begins or ends at "
                f"another instant than when it was counted, by {entry.zone_data or 'another version'}; install the "
                "package tzdata of that version"
            )


def _is_unused(connection: "duckdb.DuckDBPyConnection") -> bool:
    """Return whether a database is empty, or a store to which no week was ever committed."""
    import duckdb

    try:
        return not connection.execute("SELECT 1 FROM ledger, (SELECT count(*) FROM about) LIMIT 1").fetchall()
    except duckdb.CatalogException:  # not a store; to ask for its tables first would double the time of every opening
        return not connection.execute("SELECT 1 FROM duckdb_tables()").fetchall()


def _can_be_removed(connection: "duckdb.DuckDBPyConnection") -> bool:
    """Return whether a new store has no week; one that can no longer be read is not removed."""
    import duckdb

    try:
        return _is_unused(connection)
    except duckdb.Error:
        return False


def _create_file(path: Path, coverage: Coverage, identity: str) -> None:
    """Create the file of a store without weeks, as a whole or not at all."""
    write_ahead_log = path.with_name(f"{path.name}.wal")
    if write_ahead_log.exists():
        raise StoreError(
            f"{write_ahead_log}: the write-ahead log of a store that no longer exists; {RESTORE_HINT}, or move it away"
        )
    with private_files(), explained(path), working_folder(path.parent, _draft_prefix(path)) as folder:
        with connect(str(folder / path.name)) as connection:
            _create(connection, coverage, identity)
            connection.execute("CHECKPOINT")  # into the file itself: only the file is put in place
        put_if_absent(folder / path.name, path)


def _draft_prefix(path: Path) -> str:
    return f".{path.name}.draft-"


def _is_made_for(connection: "duckdb.DuckDBPyConnection", coverage: Coverage, identity: str) -> bool:
    """Return whether an unused database is a store of this spec, geography and, if it is known, identity."""
    about = _read_about(connection) or {}
    if about.get("schema_version") != str(SCHEMA_VERSION) or identity not in ("", about.get("identity")):
        return False
    changes = changes_of(connection)
    return len(changes) == 1 and (changes[0].spec, changes[0].geography) == fingerprints_of(coverage)


def _read_about(connection: "duckdb.DuckDBPyConnection") -> dict[str, str] | None:
    """Return what a store says about itself; None if the database is not a store."""
    import duckdb

    try:
        return dict(connection.execute("SELECT key, value FROM about").fetchall())
    except duckdb.CatalogException:
        return None


def _create(connection: "duckdb.DuckDBPyConnection", coverage: Coverage, identity: str) -> None:
    schema = (resources.files("search_insights.store") / "schema.sql").read_text(encoding="utf-8")
    beginning = Change(1, "counting", None, *fingerprints_of(coverage), "", datetime.now(UTC).date().isoformat())
    with transaction(connection):
        connection.execute(schema)
        about = [("schema_version", str(SCHEMA_VERSION)), ("identity", identity)]
        connection.executemany("INSERT INTO about VALUES (?, ?)", about)
        add_change(connection, beginning, coverage, edition=1)


def _about(connection: "duckdb.DuckDBPyConnection", path: Path) -> dict[str, str]:
    about = _read_about(connection)
    if about is None:
        raise StoreError(f"{path}: a DuckDB database, but not a store of this program")
    version = about.get("schema_version", "none")
    if version not in (str(known) for known in range(1, SCHEMA_VERSION + 1)):
        raise StoreError(
            f"{path}: made with schema version {version}; this program knows versions 1 to {SCHEMA_VERSION}: "
            "use the version of this program that made it (each ledger entry names it), or a newer one"
        )
    return about


def _require_known(store: Store, wanted: Coverage) -> None:
    """Refuse a spec and geography of which the store has no edition, with what differs and the way out."""
    if any(fingerprints_of(wanted) in edition.fingerprints for edition in store.editions):
        return
    found = differences(store.editions[-1].counted, wanted)
    shown = [f"{d.key}: {d.old} -> {d.new}" if d.old else f"{d.key}: {d.new}" for d in found[:_SHOWN]]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    kind = kind_of(found) if found else "words"
    present = fingerprints_of(store.editions[-1].counted)
    named = zip(("`spec`", "`geography`"), present, fingerprints_of(wanted), strict=True)
    files = "".join(f" {name} FILE" for name, old, new in named if old != new)
    raise StoreError(
        f"{store.path}: the store was made with another spec or geography ({kind}: {'; '.join(shown)}{more}). Use the "
        f"same, or record the change: search-insights store edition `store` {store.path}{files}"
        f"{' `from_week` WEEK' if kind == 'counting' else ''} `reason` TEXT"
    )
