"""The store: the only state. Noisy counts, the ledger, and the spec and geography that they belong to.

It is one DuckDB file. A week's counts and its ledger entry are committed in one transaction, so that a crash at any
moment leaves the whole week or nothing of it. DuckDB locks the file for one process; the lock is held from before the
log is read until after the commit, so that no two processes can noise the same week. What was committed is also
recorded in the journal beside the store (journal.py), in case the file is damaged or an older copy of it is restored.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from datetime import date
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
from search_insights.spec.weeks import DAYS_OF_WEEK, Week
from search_insights.store.file_errors import RESTORE_HINT, explained
from search_insights.store.journal import refuse_second_noise, remember
from search_insights.store.ledger import CorrectionRecord, LedgerEntry, ScalingRecord, SparsityRecord, checksum
from search_insights.support.arrays import Counts
from search_insights.support.files import private_files, put_if_absent
from search_insights.support.sql import connect
from search_insights.support.working_folder import remove_abandoned, working_folder

if TYPE_CHECKING:
    import duckdb

SCHEMA_VERSION = 1

# Rows inserted by one statement: DuckDB writes larger inserts to the file before they are committed, and noise that was
# never released should not be there.
_ROWS_PER_INSERT = 100_000

_region_values = attrgetter(*(field.name for field in fields(Region)))

_TABLES = {ScalingRecord: "scaling", SparsityRecord: "sparsity", CorrectionRecord: "corrections"}


@dataclass(frozen=True)
class Store:
    """An open store."""

    connection: "duckdb.DuckDBPyConnection"
    path: Path
    coverage: Coverage

    def entries(self) -> list[LedgerEntry]:
        """Return the ledger, the oldest week first."""
        return [LedgerEntry(*row) for row in self._rows("SELECT * FROM ledger ORDER BY week")]

    def holds(self, week: Week) -> bool:
        """Return whether a week was noised already."""
        return bool(self._rows("SELECT 1 FROM ledger WHERE week = ?", week.first_day))

    def _overlaps(self, week: Week) -> bool:
        """Return whether the ledger has any of the week's days."""
        sql = "SELECT 1 FROM ledger WHERE abs(week - CAST(? AS DATE)) < ?"
        return bool(self._rows(sql, week.first_day, DAYS_OF_WEEK))

    def commit_week(self, week: Week, noisy: Counts, entry: LedgerEntry) -> None:
        """Make a week final: commit its noisy counts and its ledger entry, both or neither, and only once."""
        if entry.week != week.first_day or entry.checksum != checksum(week.first_day, noisy):
            raise StoreError(f"{self.path}: the ledger entry does not belong to the counts of week {week}")
        given = {"cell": np.arange(noisy.size, dtype=np.int32), "noisy": noisy}
        with explained(self.path), _transaction(self.connection):
            if self._overlaps(week):
                raise StoreError(f"{self.path}: already has week {week} or some of its days; a week is noised once")
            refuse_second_noise(self.path, [week])
            self.connection.register("given", given)
            insert = "INSERT INTO counts SELECT CAST(? AS DATE), cell, noisy FROM given WHERE cell BETWEEN ? AND ?"
            for first in range(0, noisy.size, _ROWS_PER_INSERT):
                self.connection.execute(insert, [week.first_day, first, first + _ROWS_PER_INSERT - 1])
            marks = ", ".join("?" for _ in astuple(entry))
            self.connection.execute(f"INSERT INTO ledger VALUES ({marks})", list(astuple(entry)))
        self.connection.unregister("given")
        remember(self.path, [entry])

    def scaling(self) -> ScalingRecord | None:
        """Return the factor that the first release fixed, if there was one."""
        rows = self._rows("SELECT * FROM scaling")
        return ScalingRecord(*rows[0]) if rows else None

    def sparsity(self) -> SparsityRecord | None:
        """Return which regions were removed, if that was decided."""
        rows = self._rows("SELECT * FROM sparsity")
        return SparsityRecord(*rows[0]) if rows else None

    def corrections(self) -> list[CorrectionRecord]:
        """Return the recorded changes of published values."""
        return [CorrectionRecord(*row) for row in self._rows("SELECT * FROM corrections ORDER BY recorded_at")]

    def fix(self, record: ScalingRecord | SparsityRecord | CorrectionRecord) -> None:
        """Record what a release decided; once fixed, scaling and sparsity never change."""
        table = _TABLES[type(record)]
        values = list(astuple(record))
        with explained(self.path), _transaction(self.connection):
            if table != "corrections" and self.connection.execute(f"SELECT 1 FROM {table}").fetchall():
                raise StoreError(f"{self.path}: {table} is fixed already; it does not change")
            self.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in values)})", values)

    def noisy_counts(self, week: Week) -> Counts:
        """Return a week's noisy counts in the order of the cells."""
        sql = "SELECT noisy FROM counts WHERE week = ? ORDER BY cell"
        with explained(self.path):
            noisy: Counts = self.connection.execute(sql, [week.first_day]).fetchnumpy()["noisy"]
        return noisy

    def numbered_counts(self, week: date) -> tuple[Counts, Counts]:
        """Return the cell numbers and the noisy counts of the week that begins on a day."""
        with explained(self.path):
            columns = self.connection.execute(
                "SELECT cell, noisy FROM counts WHERE week = ? ORDER BY ALL", [week]
            ).fetchnumpy()
        return columns["cell"], columns["noisy"]

    def counted_weeks(self) -> list[date]:
        """Return the weeks that have counts."""
        return [week for (week,) in self._rows("SELECT DISTINCT week FROM counts ORDER BY week")]

    def cells(self) -> list[tuple[int, str, str, float]]:
        """Return the list of cells: number, place_id, category, sigma."""
        return [(row[0], row[1], row[2], row[3]) for row in self._rows("SELECT * FROM cells ORDER BY cell")]

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with explained(self.path):
            return self.connection.execute(sql, parameters).fetchall()


@contextmanager
def _transaction(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    connection.begin()
    try:
        yield
    except BaseException:
        with suppress(Exception):  # a database that failed completely has rolled back already
            connection.rollback()
        raise
    connection.commit()


@contextmanager
def create_or_open_store(path: Path, coverage: Coverage) -> Iterator[Store]:
    """Open a store for writing, or create it; refuse one that belongs to another spec or geography.

    A new store to which no week was committed is removed again.
    """
    if not path.parent.is_dir():
        raise StoreError(f"{path}: no folder {path.parent}; make it first")
    is_new = not path.exists()
    remove_abandoned(path.parent, _draft_prefix(path))
    if is_new:
        _create_file(path.resolve(), coverage)
    with private_files(), _connect(path, read_only=False) as connection:
        try:
            with explained(path):
                if _is_unused(connection) and _stored_fingerprints(connection) != _fingerprints(coverage):
                    _create(connection, coverage)
                about = _about(connection, path)
                if (about["spec_fingerprint"], about["geography_fingerprint"]) != _fingerprints(coverage):
                    raise _mismatch(Store(connection, path, _coverage(connection, about, path)), coverage)
            store = Store(connection, path, coverage)
            remember(path, store.entries())
            yield store
        finally:
            if is_new and _can_be_removed(connection):
                path.unlink(missing_ok=True)  # while it is locked, so that no other process is using it


@contextmanager
def open_store(path: Path, writable: bool = False) -> Iterator[Store]:
    """Open an existing store for reading; if `writable`, also to record what a release fixed."""
    if not path.is_file():
        raise StoreError(f"{path}: no such store; 'search-insights anonymize' makes one")
    with private_files(), _connect(path, read_only=not writable) as connection:
        with explained(path):
            if _is_unused(connection):
                raise StoreError(f"{path}: the store is empty; 'search-insights anonymize' fills it")
            store = Store(connection, path, _coverage(connection, _about(connection, path), path))
        yield store


def _connect(path: Path, read_only: bool) -> "duckdb.DuckDBPyConnection":
    with explained(path):
        return connect(str(path), read_only=read_only)


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
    categories = [c.id for c in coverage.spec.categories]
    with _transaction(connection):
        connection.execute(schema)
        connection.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))
        _insert(connection, "regions", [np.array(values, dtype=object) for values in region_columns])
        _insert(
            connection,
            "cells",
            [
                np.arange(cells.sigmas.size, dtype=np.int32),
                np.repeat(np.array([r.place_id for r in cells.regions], dtype=object), len(categories)),
                np.tile(np.array(categories, dtype=object), len(cells.regions)),
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
    if version != str(SCHEMA_VERSION):
        raise StoreError(
            f"{path}: made with schema version {version}; this program knows version {SCHEMA_VERSION}: "
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
