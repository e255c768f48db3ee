"""Creating and opening a store: the file, its lock, its version, and whether it belongs to the spec that is asked for.

A store may be reached by a link. DuckDB keeps its write-ahead log beside the name by which it opens a file, so a store
is always opened by the name of the file itself: whoever opens it then finds every committed week, and the journal.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from importlib import resources
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, Region, build_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import parse_spec, spec_toml
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone_data_version
from search_insights.store.file_errors import RESTORE_HINT, explained, real_file
from search_insights.store.journal import remember
from search_insights.store.ledger import FinalWeek, LedgerEntry, LostWeek, instants_of
from search_insights.store.store import Store, entries_of, lost_of, transaction
from search_insights.store.upgrade import SCHEMA_VERSION, upgrade_file, upgrade_in_memory
from search_insights.support.files import is_text, private_files, put_if_absent
from search_insights.support.sql import connect
from search_insights.support.working_folder import remove_abandoned, working_folder

if TYPE_CHECKING:
    import duckdb

_MAGIC = slice(8, 12)  # where a file of DuckDB says what it is, after the checksum of its first block

_region_values = attrgetter(*(field.name for field in fields(Region)))


@contextmanager
def create_or_open_store(path: Path, coverage: Coverage) -> Iterator[Store]:
    """Open a store for writing, or create it; refuse one that belongs to another spec or geography.

    A new store to which no week was committed is removed again.
    """
    if not path.parent.is_dir():
        raise StoreError(f"{path}: no folder {path.parent}; make it first")
    _require_name(path)
    file = real_file(path)
    is_new = not file.exists()
    remove_abandoned(file.parent, _draft_prefix(file))
    if is_new:
        _create_file(file, coverage)
    with private_files(), _connect(path, read_only=False) as connection:
        try:
            with explained(path):
                if _is_unused(connection) and _stored_fingerprints(connection) != _fingerprints(coverage):
                    _create(connection, coverage)
                about = _upgraded(connection, path, read_only=False)
                if (about["spec_fingerprint"], about["geography_fingerprint"]) != _fingerprints(coverage):
                    raise _mismatch(Store(connection, path, _coverage(connection, about, path)), coverage)
                _reword(connection, about, coverage.spec)
            store = Store(connection, path, coverage)
            remember(path, [entry.final for entry in store.entries()], store.lost())
            _require_same_boundaries(store)
            yield store
        finally:
            if is_new and _can_be_removed(connection):
                file.unlink(missing_ok=True)  # while it is locked, so that no other process is using it


@contextmanager
def open_store(path: Path, writable: bool = False) -> Iterator[Store]:
    """Open an existing store for reading; if `writable`, also to record what a release fixed."""
    with _open_used(path, read_only=not writable) as (connection, about):
        with explained(path):
            store = Store(connection, path, _coverage(connection, about, path))
        yield store


@contextmanager
def _open_used(path: Path, read_only: bool) -> "Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, str]]]":
    """Open an existing store that has a week; yield it and what it says about itself."""
    if not path.is_file():
        raise StoreError(f"{path}: no such store; 'search-insights anonymize' makes one")
    with private_files(), _connect(path, read_only=read_only) as connection:
        with explained(path):
            if _is_unused(connection):
                raise StoreError(f"{path}: the store is empty; 'search-insights anonymize' fills it")
            about = _upgraded(connection, path, read_only=read_only)
        yield connection, about


@dataclass(frozen=True, slots=True)
class StoredLedger:
    """The ledger of a store, the weeks that were declared lost, and whose they are."""

    spec: Spec
    geography_source: str
    entries: list[LedgerEntry]
    lost: list[LostWeek]


def read_ledger(path: Path) -> StoredLedger:
    """Read the ledger of a store, without its geography, which has many more rows."""
    with _open_used(path, read_only=True) as (connection, about), explained(path):
        return StoredLedger(_spec(about, path), about["geography_source"], entries_of(connection), lost_of(connection))


def is_unused(path: Path) -> bool:
    """Return whether there is no store yet, or one to which no week was ever committed."""
    if not path.is_file():
        return True
    with _connect(path, read_only=True) as connection, explained(path):
        return _is_unused(connection)


@contextmanager
def open_store_if_any(path: Path, coverage: Coverage) -> Iterator[Store | None]:
    """Open a store for reading, as `create_or_open_store` would find it; None if it has no week or is not there.

    Refuse one that belongs to another spec or geography. Nothing is written.
    """
    if not path.exists():
        yield None
        return
    with private_files(), _connect(path, read_only=True) as connection:
        with explained(path):
            unused = _is_unused(connection)
            about = {} if unused else _upgraded(connection, path, read_only=True)
            if not unused and (about["spec_fingerprint"], about["geography_fingerprint"]) != _fingerprints(coverage):
                raise _mismatch(Store(connection, path, _coverage(connection, about, path)), coverage)
        yield None if unused else Store(connection, path, coverage)


def read_weeks(path: Path) -> tuple[tuple[str, str], list[FinalWeek]]:
    """Return the fingerprints of a store's spec and geography, and its weeks, without reading the rest of it."""
    with _connect(path, read_only=True) as connection, explained(path):
        about = _upgraded(connection, path, read_only=True)
        weeks = [entry.final for entry in entries_of(connection)]
        return (about["spec_fingerprint"], about["geography_fingerprint"]), weeks


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


def _upgraded(connection: "duckdb.DuckDBPyConnection", path: Path, read_only: bool) -> dict[str, str]:
    """Bring a store of an earlier version to the present one; return what it says about itself."""
    about = _about(connection, path)
    if about["schema_version"] != str(SCHEMA_VERSION):
        time_zone = _spec(about, path).time_zone
        with transaction(connection):
            (upgrade_in_memory if read_only else upgrade_file)(connection, int(about["schema_version"]), time_zone)
    return about


def _require_same_boundaries(store: Store) -> None:
    """Refuse zone data by which a week of the store would begin or end at another instant: weeks might then overlap."""
    for entry in store.entries():
        if instants_of(Week(entry.week, store.coverage.spec.time_zone)) != (entry.begins_at, entry.ends_at):
            raise StoreError(
                f"{store.path}: by the time zone data {zone_data_version()}, week {entry.week} begins or ends at "
                f"another instant than when it was counted, by {entry.zone_data or 'another version'}; install the "
                "package tzdata of that version"
            )


def _is_unused(connection: "duckdb.DuckDBPyConnection") -> bool:
    """Return whether a database is empty, or a store to which no week was ever committed."""
    tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not {"about", "ledger"} <= tables:
        return not tables
    return not connection.execute("SELECT 1 FROM ledger LIMIT 1").fetchall()


def _can_be_removed(connection: "duckdb.DuckDBPyConnection") -> bool:
    """Return whether a new store has no week; one that can no longer be read is not removed."""
    import duckdb

    try:
        return _is_unused(connection)
    except duckdb.Error:
        return False


def _create_file(path: Path, coverage: Coverage) -> None:
    """Create the file of a store without weeks, as a whole or not at all."""
    write_ahead_log = path.with_name(f"{path.name}.wal")
    if write_ahead_log.exists():
        raise StoreError(
            f"{write_ahead_log}: the write-ahead log of a store that no longer exists; {RESTORE_HINT}, or move it away"
        )
    with private_files(), explained(path), working_folder(path.parent, _draft_prefix(path)) as folder:
        with connect(str(folder / path.name)) as connection:
            _create(connection, coverage)
            connection.execute("CHECKPOINT")  # into the file itself: only the file is put in place
        put_if_absent(folder / path.name, path)


def _draft_prefix(path: Path) -> str:
    return f".{path.name}.draft-"


def _reword(connection: "duckdb.DuckDBPyConnection", about: dict[str, str], spec: Spec) -> None:
    """Keep the present words of the same spec: definitions of topics are no part of its fingerprint."""
    if about["spec"] != spec_toml(spec):
        connection.execute("UPDATE about SET value = ? WHERE key = 'spec'", [spec_toml(spec)])


def _stored_fingerprints(connection: "duckdb.DuckDBPyConnection") -> tuple[str | None, str | None]:
    """Return the fingerprints of a store's spec and geography; None if the database is not a store."""
    about = _read_about(connection) or {}
    return about.get("spec_fingerprint"), about.get("geography_fingerprint")


def _read_about(connection: "duckdb.DuckDBPyConnection") -> dict[str, str] | None:
    """Return what a store says about itself; None if the database is not a store."""
    import duckdb

    try:
        return dict(connection.execute("SELECT key, value FROM about").fetchall())
    except duckdb.CatalogException:
        return None


def _create(connection: "duckdb.DuckDBPyConnection", coverage: Coverage) -> None:
    about = {
        "schema_version": str(SCHEMA_VERSION),
        "spec": spec_toml(coverage.spec),
        "geography_source": coverage.geography.source,
        **dict(zip(("spec_fingerprint", "geography_fingerprint"), _fingerprints(coverage), strict=True)),
    }
    schema = (resources.files("search_insights.store") / "schema.sql").read_text(encoding="utf-8")
    regions, cells = coverage.geography.regions, CellList(coverage)
    region_columns = zip(*((i, *_region_values(region)) for i, region in enumerate(regions)), strict=True)
    measures = [measure.id for measure in coverage.spec.measures]
    with transaction(connection):
        connection.execute(schema)
        connection.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))
        _insert(connection, "regions", [np.array(values, dtype=object) for values in region_columns])
        _insert(
            connection,
            "cells",
            [
                np.arange(cells.sigmas.size, dtype=np.int32),
                np.repeat(np.array([node.place_id for node in cells.nodes], dtype=object), len(measures)),
                np.tile(np.array(measures, dtype=object), len(cells.nodes)),
                cells.sigmas,
            ],
        )


def _insert(connection: "duckdb.DuckDBPyConnection", table: str, columns: list[Any]) -> None:
    """Insert many rows at once, column by column."""
    connection.register("given", {f"c{i}": values for i, values in enumerate(columns)})
    connection.execute(f"INSERT INTO {table} SELECT * FROM given")
    connection.unregister("given")


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


def _coverage(connection: "duckdb.DuckDBPyConnection", about: dict[str, str], path: Path) -> Coverage:
    """Return the spec and the geography that the store was made with."""
    return Coverage(_spec(about, path), _geography(connection, about, path))


def _fingerprints(coverage: Coverage) -> tuple[str, str]:
    return coverage.spec.fingerprint, coverage.geography.fingerprint


def _spec(about: dict[str, str], path: Path) -> Spec:
    spec = parse_spec(about["spec"], f"{path} (spec)")
    if spec.fingerprint != about["spec_fingerprint"]:
        raise StoreError(f"{path}: the spec in the store is not the one that it was made with; {RESTORE_HINT}")
    return spec


def _geography(connection: "duckdb.DuckDBPyConnection", about: dict[str, str], path: Path) -> Geography:
    rows = connection.execute("SELECT * EXCLUDE (number) FROM regions ORDER BY number").fetchall()
    geography = build_geography([Region(*row) for row in rows], about["geography_source"])
    if geography.fingerprint != about["geography_fingerprint"]:
        raise StoreError(f"{path}: the geography in the store is not the one that it was made with; {RESTORE_HINT}")
    return geography


def _mismatch(store: Store, wanted: Coverage) -> StoreError:
    """Return the error that says how a store differs from what is wanted: releases are not mixed in one store."""
    stored = store.coverage
    if stored.spec.fingerprint != wanted.spec.fingerprint:
        return StoreError(
            f"{store.path}: the store was made with another spec: {_difference(stored.spec, wanted.spec)}; "
            "use the same spec, or a new store"
        )
    old, new = (set(coverage.geography.regions) for coverage in (stored, wanted))
    return StoreError(
        f"{store.path}: the store was made with another geography ({stored.geography.source}): {len(new - old):,} "
        f"regions are new or changed, {len(old - new):,} are missing or changed; use the same one, or a new store"
    )


def _difference(stored: Spec, wanted: Spec) -> str:
    """Return the keys in which two specs differ, with both values."""
    old, new = (_flat(json.loads(spec.canonical())) for spec in (stored, wanted))
    keys = [key for key in sorted(old | new) if old.get(key) != new.get(key)]
    shown = [f"{key} is {old.get(key)} in the store, {new.get(key)} now" for key in keys[:3]]
    return "; ".join(shown) + (f"; and {len(keys) - 3} more" if len(keys) > 3 else "")


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return nested values by their paths, such as promise.epsilon."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {path: value}
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat |= _flat(inner, f"{path}.{key}" if path else str(key))
    return flat
