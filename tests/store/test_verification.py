"""A damaged or altered store is detected and never used silently."""

import json
from collections.abc import Callable
from dataclasses import astuple
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from search_insights.dataset.publication import publish
from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import spec_toml
from search_insights.spec.weeks import Week
from search_insights.store.journal import journal_path
from search_insights.store.ledger import ModelRecord, checksum
from search_insights.store.lost import lose
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.verification import problems
from search_insights.trends.release import make_release
from search_insights.trends.scaling import scale_problems
from tests.lab.damage import content, flips, refused
from tests.support.command_line import Run
from tests.support.stores import FIRST, USUAL, add_weeks, entry_for, released

# The tables as schema version 1 made them. Do not change this text: such stores exist.
VERSION_1 = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE regions (
    number INTEGER NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, level TEXT NOT NULL, parent TEXT,
    population BIGINT, land_area_km2 DOUBLE, latitude DOUBLE, longitude DOUBLE, place_id TEXT NOT NULL
);
CREATE TABLE cells (cell INTEGER NOT NULL, place_id TEXT NOT NULL, category TEXT NOT NULL, sigma DOUBLE NOT NULL);
CREATE TABLE counts (week DATE NOT NULL, cell INTEGER NOT NULL, noisy BIGINT NOT NULL);
CREATE TABLE ledger (
    week DATE PRIMARY KEY, committed_at TEXT NOT NULL, epsilon DOUBLE NOT NULL, delta DOUBLE NOT NULL,
    mechanism TEXT NOT NULL, cells INTEGER NOT NULL, checksum TEXT NOT NULL, spec TEXT NOT NULL,
    geography TEXT NOT NULL, engine TEXT NOT NULL, program TEXT NOT NULL, missing_days TEXT NOT NULL,
    classifier TEXT NOT NULL, naive_zone TEXT NOT NULL
);
CREATE TABLE scaling (
    factor DOUBLE NOT NULL, first_week DATE NOT NULL, last_week DATE NOT NULL, weeks INTEGER NOT NULL,
    fixed_at TEXT NOT NULL
);
CREATE TABLE sparsity (
    first_week DATE NOT NULL, last_week DATE NOT NULL, removed TEXT[] NOT NULL, fixed_at TEXT NOT NULL
);
CREATE TABLE corrections (recorded_at TEXT NOT NULL, changed_values INTEGER NOT NULL, reason TEXT NOT NULL);
"""


pytestmark = pytest.mark.usefixtures("quick_accounting")


@pytest.fixture
def store(store: Path) -> Path:
    """The store with two weeks, and with a fixed scale."""
    released(store)
    return store


def change(store: Path, sql: str) -> None:
    """Change the tables of a store without the program."""
    with duckdb.connect(str(store)) as connection:
        connection.execute(sql)


def problems_of(store: Path) -> list[str]:
    with open_store(store) as opened:
        return problems(opened, scale_problems)


def test_an_unchanged_store_is_verified(store: Path, run: Run) -> None:
    """`ledger --verify` says so in text and in JSON with exit code 0, and writes nothing."""
    before = store.read_bytes()
    code, out, err = run("ledger", "--store", store, "--verify")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("Verified: the counts of all 2 weeks are those that were committed")
    code, out, _ = run("ledger", "--store", store, "--verify", "--json")
    answer = json.loads(out)
    assert (code, answer["verified"], answer["problems"]) == (0, True, [])
    assert store.read_bytes() == before


CHANGES = {
    "a count": ("UPDATE counts SET noisy = noisy + 1 WHERE cell = 7 AND week = '2021-01-11'", "2021-01-11: the counts"),
    "two counts exchanged": (
        "UPDATE counts SET noisy = CASE cell WHEN 0 THEN 3000 ELSE 100000 END WHERE cell < 2 AND week = '2021-01-04'",
        "week 2021-01-04: the counts are not those",
    ),
    "a count removed": ("DELETE FROM counts WHERE cell = 7 AND week = '2021-01-04'", "the release has"),
    "a count doubled": ("INSERT INTO counts SELECT * FROM counts WHERE cell = 7", "the release has"),
    "a cell renamed": ("UPDATE counts SET cell = 9999 WHERE cell = 7", "the release has"),
    "counts without an entry": ("INSERT INTO counts VALUES ('2021-02-01', 0, 5)", "2021-02-01: has counts, but no"),
    "an entry without counts": ("DELETE FROM counts WHERE week = '2021-01-11'", "week 2021-01-11: 0 counts"),
    "a week removed": (
        "DELETE FROM counts WHERE week = '2021-01-11'; DELETE FROM ledger WHERE week = '2021-01-11'",
        "week 2021-01-11: is in store.db.journal, but not in the store",
    ),
    "epsilon": ("UPDATE ledger SET epsilon = 0.1", "epsilon and delta in the ledger are not those of the spec"),
    "cells in the ledger": ("UPDATE ledger SET cells = 3", "3 in the ledger"),
    "a fingerprint": ("UPDATE ledger SET spec = 'x' WHERE week = '2021-01-04'", "committed under another spec"),
    "a checksum": ("UPDATE ledger SET checksum = md5('x')", "not those that were committed (checksum)"),
    "the day of a week": ("UPDATE ledger SET week = '2021-01-12' WHERE week = '2021-01-11'", "not begin on Monday"),
    "an instant": (
        "UPDATE ledger SET ends_at = '2021-01-11T09:00:00Z' WHERE week = '2021-01-04'",
        "weeks 2021-01-04 and 2021-01-11 share instants",
    ),
    "a sigma": ("UPDATE cells SET sigma = 1 WHERE cell = 3", "the list of cells is not the one"),
    "the scale": ("UPDATE scaling SET factor = factor * 1.001", "the scaling factor is not the one that weeks"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_every_change_is_detected(store: Path, run: Run, what: str) -> None:
    """`ledger --verify` names the week and what is wrong with it, and ends with exit code 1."""
    sql, words = CHANGES[what]
    change(store, sql)
    code, out, _ = run("ledger", "--store", store, "--verify", "--json")
    answer = json.loads(out)
    assert (code, answer["verified"]) == (1, False)
    assert any(words in line for line in answer["problems"]), answer["problems"]


def test_problems_are_listed_with_what_to_do(store: Path, run: Run) -> None:
    """`ledger --verify` prints the problems below the ledger, one in a line, and says to restore a backup."""
    change(store, CHANGES["a count"][0])
    code, out, _ = run("ledger", "--store", store, "--verify")
    assert code == 1
    assert "NOT INTACT; restore a backup with 'search-insights store restore':\n  week 2021-01-11: the counts" in out


def test_shared_days_are_detected(store: Path) -> None:
    """Two weeks that share a day spend more on that day than was promised, so this is reported."""
    change(
        store, "INSERT INTO ledger SELECT * REPLACE (DATE '2021-01-08' AS week) FROM ledger WHERE week = '2021-01-04'"
    )
    assert any("weeks 2021-01-04 and 2021-01-08 share instants" in line for line in problems_of(store))


def test_noise_that_does_not_match_the_journal_is_detected(store: Path) -> None:
    """A store that was noised again, with matching checksums, still contradicts the journal."""
    path = journal_path(store)
    path.write_text(f"2021-01-04 {'0' * 64}\n")
    assert problems_of(store) == ["week 2021-01-04: has other noise than store.db.journal says was committed"]


def test_one_flipped_bit_is_detected_or_harmless(store: Path, tmp_path: Path) -> None:
    """Wherever in the file a bit is flipped, the store is refused or reads back as it was written."""
    size = store.stat().st_size
    places = [*range(0, 12_288, 1024), *range(12_288, size, size // 40)]
    found, harmless = flips(store, places, tmp_path)
    assert found + harmless == len(places)
    assert found >= 10


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_a_store_that_was_cut_short_is_refused(store: Path, tmp_path: Path, share: float) -> None:
    """A store of any shorter length is refused, or reads back as it was written."""
    copy = tmp_path / "cut.db"
    copy.write_bytes(store.read_bytes()[: int(share * store.stat().st_size)])
    assert refused(copy) or content(copy) == content(store)


def test_a_damaged_store_is_not_published(store: Path) -> None:
    """Publishing checks the counts that it uses against the ledger."""
    change(store, CHANGES["a count"][0])
    with pytest.raises(StoreError, match="week 2021-01-11 do not match the ledger"):
        publish(store, store.parent / "dataset")
    assert not (store.parent / "dataset").exists()


@pytest.mark.parametrize("command", ["ledger", "publish", "anonymize", "backup"])
def test_a_damaged_file_is_one_line_everywhere(store: Path, run: Run, command: str) -> None:
    """Whichever command meets the damage, it prints one line that says what to do, and no traceback."""
    data = bytearray(store.read_bytes())
    data[12_288 + 8 :: 4096] = bytes(255 - byte for byte in data[12_288 + 8 :: 4096])
    store.write_bytes(data)
    words: dict[str, tuple[str | Path, ...]] = {
        "ledger": ("ledger", "--store", store),
        "publish": ("publish", "--store", store, "--out", store.parent / "dataset"),
        "backup": ("store", "backup", "--store", store, "--out", store.parent / "b.db"),
        "anonymize": ("anonymize", "x.csv", "--store", store, "--week", "2021-01-18"),
    }
    code, out, err = run(*words[command])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{store}: the file is damaged; restore a backup with 'search-insights store restore'" in err
    assert store.read_bytes() == data


# Versions


def store_of_version_1(path: Path, coverage: Coverage) -> Path:
    """Make a store as the first version did, with its own SQL."""
    cells = CellList(coverage)
    noisy = np.tile(np.array(USUAL, dtype=np.int64), len(cells.regions))
    entry = entry_for(coverage, noisy, Week(FIRST, coverage.spec.time_zone))
    about = {
        "schema_version": "1",
        "spec": (path.parent / "spec.toml").read_text(),
        "spec_fingerprint": coverage.spec.fingerprint,
        "geography_source": "us",
        "geography_fingerprint": coverage.geography.fingerprint,
    }
    listed = [(i, cell.region.place_id, cell.category, cell.sigma) for i, cell in enumerate(cells.cells)]
    promise = coverage.spec.promise
    tables: dict[str, list[tuple[Any, ...]]] = {
        "about": list(about.items()),
        "regions": [(i, *region) for i, region in enumerate(coverage.geography.regions)],
        "cells": listed,
        "counts": [(FIRST, i, int(count)) for i, count in enumerate(noisy)],
        "ledger": [(FIRST, "2023-10-09T01:02:03+00:00", promise.epsilon, promise.delta, *astuple(entry)[4:14])],
    }
    with duckdb.connect(str(path)) as connection:
        connection.execute(VERSION_1)
        for table, rows in tables.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return path


@pytest.fixture
def first_store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A store that the first version made, without a journal."""
    (tmp_path / "spec.toml").write_text(spec_toml(short_coverage.spec), encoding="utf-8")
    return store_of_version_1(tmp_path / "first.db", short_coverage)


def test_a_store_of_the_first_version_can_still_be_used(first_store: Path, short_coverage: Coverage) -> None:
    """Its week is verified, released and added to the journal, and a new week can be added to the store."""
    before = first_store.read_bytes()
    assert problems_of(first_store) == []
    assert first_store.read_bytes() == before  # reading does not change it
    add_weeks(first_store, short_coverage, {}, start=1)
    first, second = make_release(first_store).entries
    assert (first.begins_at, first.ends_at, second.begins_at) == (
        "2021-01-04T08:00:00Z",
        "2021-01-11T08:00:00Z",
        "2021-01-11T08:00:00Z",
    )
    assert (first.committed_at, first.times, first.zone_data) == ("2023-10-09", "instant", "")
    assert len(journal_path(first_store).read_text().splitlines()) == 3  # the release, and two weeks
    assert problems_of(first_store) == []
    noisy = np.tile(np.array(USUAL, dtype=np.int64), len(CellList(short_coverage).regions))
    assert checksum(FIRST, noisy)[:8] == "22827e9c"


def test_a_store_of_the_first_version_can_lose_a_week(first_store: Path) -> None:
    """It has no such table until it is first written to; a refusal does not upgrade it."""
    before = first_store.read_bytes()
    with open_store(first_store) as opened:
        assert opened.lost() == []
    with pytest.raises(StoreError, match=f"holds week {FIRST}"):
        lose(first_store, FIRST, "no log")
    assert first_store.read_bytes() == before
    lost = lose(first_store, FIRST + timedelta(weeks=1), "no log")
    with open_store(first_store) as opened:
        assert opened.lost() == [lost]
    assert problems_of(first_store) == []


def test_the_sparse_regions_of_the_first_version_are_kept(first_store: Path) -> None:
    """Which of them had been published is not known; what was decided stays, read-only and after an upgrade."""
    change(first_store, f"INSERT INTO sparsity VALUES ('{FIRST}', '{FIRST}', ['zip/1'], '2023-10-09T01:02:03+00:00')")
    for writable in (False, True):
        with open_store(first_store, writable=writable) as opened:
            record = opened.sparsity()
        assert record is not None
        assert (record.removed, record.withdrawn, record.fixed_at[:10]) == (["zip/1"], [], "2023-10-09")


def as_version_3(store: Path) -> None:
    """Make a store what the third version made: it had one spec and one geography, and no editions."""
    change(
        store,
        """
        INSERT INTO about SELECT unnest(['spec', 'spec_fingerprint']), unnest([toml, fingerprint]) FROM specs;
        INSERT INTO about SELECT unnest(['geography_source', 'geography_fingerprint']), unnest([source, fingerprint])
        FROM geographies;
        DROP TABLE specs; DROP TABLE geographies; DROP TABLE changes; DROP TABLE notes;
        DELETE FROM about WHERE key = 'identity';
        ALTER TABLE regions DROP COLUMN geography; ALTER TABLE cells DROP COLUMN edition;
        ALTER TABLE scaling DROP COLUMN change; ALTER TABLE scaling DROP COLUMN trend;
        ALTER TABLE sparsity DROP COLUMN change; ALTER TABLE sparsity DROP COLUMN edition;
        DROP TABLE top_texts; DROP TABLE top_weeks; DROP TABLE top_counts;
        ALTER TABLE ledger DROP COLUMN top_searches; ALTER TABLE ledger DROP COLUMN vocabulary;
        UPDATE about SET value = '3' WHERE key = 'schema_version'
        """,
    )


def as_version_2(store: Path) -> None:
    """Make a store what the second version made: it had no table of models."""
    as_version_3(store)
    change(store, "DROP TABLE models; UPDATE about SET value = '2' WHERE key = 'schema_version'")


def test_a_store_of_the_third_version_becomes_the_first_edition(store: Path, short_coverage: Coverage) -> None:
    """Its spec and geography are those of edition 1, with the same weeks; reading does not change the file."""
    with open_store(store) as opened:
        entries = opened.entries()
    as_version_3(store)
    before = store.read_bytes()
    assert problems_of(store) == []
    assert store.read_bytes() == before
    for writable in (False, True):  # as it is, and upgraded
        with open_store(store, writable=writable) as opened:
            (edition,) = opened.editions
            assert (edition.counted, edition.first_week) == (short_coverage, None)
            assert opened.entries() == entries
            assert opened.changes()[0].recorded_at == min(entry.committed_at for entry in entries)
            assert (opened.shown_texts(), opened.top_searches(FIRST)) == ((), None)
    add_weeks(store, short_coverage, {}, start=2)
    assert problems_of(store) == []


def test_a_store_of_the_second_version_can_still_be_used(store: Path, short_coverage: Coverage) -> None:
    """It has no models: read-only it shows none and does not change; the next week is committed with its model."""
    as_version_2(store)
    before = store.read_bytes()
    assert problems_of(store) == []
    assert make_release(store, only_look=True).models == ()
    assert store.read_bytes() == before
    add_weeks(store, short_coverage, {}, start=2, model=ModelRecord("ab" * 32, "{}"))
    assert make_release(store).models == (ModelRecord("ab" * 32, "{}"),)
    assert problems_of(store) == []


def test_a_model_that_classified_no_week_is_found(store: Path) -> None:
    """A model is recorded with the week that it classified, in one transaction; alone it is damage, as is no JSON."""
    change(store, "INSERT INTO models VALUES ('abc', 'x')")
    assert problems_of(store) == ["model abc: classified no week of the store", "model abc: its facts are not readable"]


def newer(store: Path) -> None:
    change(store, "UPDATE about SET value = '5' WHERE key = 'schema_version'")


def no_version(store: Path) -> None:
    change(store, "DELETE FROM about WHERE key = 'schema_version'")


@pytest.mark.parametrize(("make", "version"), [(newer, "5"), (no_version, "none")])
def test_a_store_of_an_unknown_version_is_refused(
    first_store: Path, short_coverage: Coverage, make: Callable[[Path], None], version: str
) -> None:
    """The error names the version and says to use the program that made the store; the file is not changed."""
    make(first_store)
    before = first_store.read_bytes()
    words = f"made with schema version {version}; this program knows versions 1 to 4: use the version of this"
    with pytest.raises(StoreError, match=words), open_store(first_store):
        pass
    with pytest.raises(StoreError, match=words), create_or_open_store(first_store, short_coverage):
        pass
    assert first_store.read_bytes() == before


def test_a_file_of_a_newer_duckdb_is_refused(first_store: Path) -> None:
    """The file's header has the version of its format; the error says what to do."""
    data = bytearray(first_store.read_bytes())
    data[12:20] = (10_000).to_bytes(8, "little")
    first_store.write_bytes(data)
    with pytest.raises(StoreError, match=r"another version of DuckDB|damaged"), open_store(first_store):
        pass
