"""The specs, geographies and cells in a store: what its weeks are counted under, each kept once by its fingerprint."""

from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, Region, build_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import parse_spec, spec_toml
from search_insights.store.editions import Change, Edition, ReadCoverage, editions_of
from search_insights.store.file_errors import RESTORE_HINT

if TYPE_CHECKING:
    import duckdb


def add_change(connection: "duckdb.DuckDBPyConnection", change: Change, coverage: Coverage, edition: int) -> None:
    """Record a change and what it is a change to, inside the caller's transaction.

    One of counting begins the edition of that number, whose cells are listed.
    """
    _add_spec(connection, coverage.spec)
    _add_geography(connection, coverage.geography)
    values = list(astuple(change))
    connection.execute(f"INSERT INTO changes VALUES ({', '.join('?' for _ in values)})", values)
    if change.kind == "counting":
        _add_cells(connection, CellList(coverage), edition)


def keep_words(connection: "duckdb.DuckDBPyConnection", spec: Spec) -> None:
    """Keep the present words of the same spec: definitions and translations are no part of its fingerprint."""
    rows = connection.execute("SELECT toml FROM specs WHERE fingerprint = ?", [spec.fingerprint]).fetchall()
    if rows != [(spec_toml(spec),)]:
        connection.execute("UPDATE specs SET toml = ? WHERE fingerprint = ?", [spec_toml(spec), spec.fingerprint])


def fingerprints_of(coverage: Coverage) -> tuple[str, str]:
    """Return the fingerprints of a coverage's spec and geography."""
    return coverage.spec.fingerprint, coverage.geography.fingerprint


def read_editions(
    connection: "duckdb.DuckDBPyConnection", path: Path, changes: list[Change], given: Coverage | None = None
) -> tuple[Edition, ...]:
    """Return the editions of a store. What is the same in a coverage that is given is not read again."""
    if not changes or changes[0].kind != "counting":
        raise StoreError(f"{path}: does not say what its weeks were counted under; {RESTORE_HINT}")
    return editions_of(changes, coverage_reader(connection, path, [given] if given else []))


def coverage_reader(
    connection: "duckdb.DuckDBPyConnection", path: Path, known: Iterable[Coverage] = ()
) -> ReadCoverage:
    """Return what reads a coverage by its fingerprints, each part once. What is known already is not read again."""
    known = list(known)
    specs: dict[str, Spec] = {coverage.spec.fingerprint: coverage.spec for coverage in known}
    geographies: dict[str, Geography] = {each.geography.fingerprint: each.geography for each in known}
    coverages = {fingerprints_of(coverage): coverage for coverage in known}

    def read(spec: str, geography: str) -> Coverage:
        if coverage := coverages.get((spec, geography)):
            return coverage
        if spec not in specs:
            specs[spec] = _spec(connection, spec, path)
        if geography not in geographies:
            geographies[geography] = _geography(connection, geography, path)
        return Coverage(specs[spec], geographies[geography])

    return read


def read_specs(
    connection: "duckdb.DuckDBPyConnection", path: Path, changes: list[Change]
) -> tuple[dict[str, Spec], dict[str, str]]:
    """Return the specs of recorded changes, and the sources of their geographies, by fingerprint."""
    sources = dict(connection.execute("SELECT fingerprint, source FROM geographies").fetchall())
    specs = dict.fromkeys(change.spec for change in changes)
    return {spec: _spec(connection, spec, path) for spec in specs}, {c.geography: sources[c.geography] for c in changes}


def _spec(connection: "duckdb.DuckDBPyConnection", fingerprint: str, path: Path) -> Spec:
    rows = connection.execute("SELECT toml FROM specs WHERE fingerprint = ?", [fingerprint]).fetchall()
    spec = parse_spec(rows[0][0], f"{path} (spec)") if rows else None
    if spec is None or spec.fingerprint != fingerprint:
        raise StoreError(f"{path}: the spec in the store is not the one that it was made with; {RESTORE_HINT}")
    return spec


def _geography(connection: "duckdb.DuckDBPyConnection", fingerprint: str, path: Path) -> Geography:
    columns = "SELECT * EXCLUDE (number, geography) FROM regions WHERE geography = ? ORDER BY number"
    rows = connection.execute(columns, [fingerprint]).fetchall()
    sources = connection.execute("SELECT source FROM geographies WHERE fingerprint = ?", [fingerprint]).fetchall()
    geography = build_geography(list(map(Region._make, rows)), sources[0][0]) if rows and sources else None
    if geography is None or geography.fingerprint != fingerprint:
        raise StoreError(f"{path}: the geography in the store is not the one that it was made with; {RESTORE_HINT}")
    return geography


def _add_spec(connection: "duckdb.DuckDBPyConnection", spec: Spec) -> None:
    connection.execute("INSERT OR REPLACE INTO specs VALUES (?, ?)", [spec.fingerprint, spec_toml(spec)])


def _add_geography(connection: "duckdb.DuckDBPyConnection", geography: Geography) -> None:
    known = connection.execute("SELECT 1 FROM geographies WHERE fingerprint = ?", [geography.fingerprint]).fetchall()
    if known:
        return
    connection.execute("INSERT INTO geographies VALUES (?, ?)", [geography.fingerprint, geography.source])
    facts = [np.array(values, dtype=object) for values in zip(*geography.regions, strict=True)]
    numbers, of_geography = np.arange(len(geography.regions)), np.full(len(geography.regions), geography.fingerprint)
    _insert(connection, "regions", [numbers, *facts, of_geography.astype(object)])


def _add_cells(connection: "duckdb.DuckDBPyConnection", cells: CellList, edition: int) -> None:
    measures = [measure.id for measure in cells.coverage.spec.measures]
    columns = [
        np.arange(cells.sigmas.size, dtype=np.int32),
        np.repeat(np.array([node.place_id for node in cells.nodes], dtype=object), len(measures)),
        np.tile(np.array(measures, dtype=object), len(cells.nodes)),
        cells.sigmas,
        np.full(cells.sigmas.size, edition, dtype=np.int32),
    ]
    _insert(connection, "cells", columns)


def _insert(connection: "duckdb.DuckDBPyConnection", table: str, columns: list[Any]) -> None:
    """Insert many rows at once, column by column."""
    connection.register("given", {f"c{i}": values for i, values in enumerate(columns)})
    connection.execute(f"INSERT INTO {table} SELECT * FROM given")
    connection.unregister("given")
