"""A week in the store is complete, final and in the ledger, or it is not in the store."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import parse_spec, spec_toml
from search_insights.spec.weeks import Week
from search_insights.store.identity import new_identity
from search_insights.store.journal import journal_path
from search_insights.store.ledger import LostWeek, instants_of
from search_insights.store.opening import _create, create_or_open_store, open_store, read_ledger
from search_insights.store.store import Store
from search_insights.support.arrays import Counts
from tests.support.logs import MONDAY, Publisher, assert_refused, searches
from tests.support.other_country import OTHER_REGIONS, other_geography, other_spec, plain_spec, write_csv
from tests.support.stores import entry_for

WEEK = Week(date(2023, 10, 1), "Asia/Kathmandu")
NEXT = Week(date(2023, 10, 8), "Asia/Kathmandu")


def fill(path: Path, coverage: Coverage, change: str | None = None) -> None:
    """Make a store with one week, and change its tables if an SQL statement is given."""
    noisy = CellList(coverage).zeros()
    with create_or_open_store(path, coverage) as store:
        store.commit_week(WEEK, noisy, entry_for(coverage, noisy, WEEK))
        if change:
            store.connection.execute(change)


@pytest.fixture
def empty_store(tmp_path: Path, other_coverage: Coverage) -> Iterator[Store]:
    """An empty store of Qazaria."""
    with create_or_open_store(tmp_path / "store.db", other_coverage) as opened:
        yield opened


@pytest.fixture
def noisy(other_coverage: Coverage) -> Counts:
    """Counts that could have come out of the noise."""
    cells = CellList(other_coverage).cells
    return np.arange(len(cells), dtype=np.int64) * 7 - 50


def test_a_committed_week_reads_back_as_it_was(empty_store: Store, noisy: Counts, other_coverage: Coverage) -> None:
    """Each count is read back for its cell, and the ledger has the entry."""
    entry = entry_for(other_coverage, noisy, WEEK)
    empty_store.commit_week(WEEK, noisy, entry)
    np.testing.assert_array_equal(empty_store.noisy_counts(WEEK), noisy)
    assert empty_store.entries() == [entry]
    assert empty_store.holds(WEEK)


def test_counts_are_read_in_the_order_of_their_cells(
    empty_store: Store, noisy: Counts, other_coverage: Coverage
) -> None:
    """However the rows lie in the file, a count is that of its cell."""
    empty_store.commit_week(WEEK, noisy, entry_for(other_coverage, noisy, WEEK))
    empty_store.connection.execute(
        "CREATE TEMP TABLE turned AS FROM counts; DELETE FROM counts;"
        "INSERT INTO counts FROM turned ORDER BY cell % 3, cell DESC"
    )
    np.testing.assert_array_equal(empty_store.noisy_counts(WEEK), noisy)


def test_the_ledger_read_alone_is_that_of_the_store(tmp_path: Path, other_coverage: Coverage) -> None:
    """Without the geography it has the same spec, entries and lost weeks, and refuses what opening a store refuses."""
    path = tmp_path / "store.db"
    lost = LostWeek(NEXT.first_day, *instants_of(NEXT), "no log", "2023-10-09")
    with pytest.raises(StoreError, match="no such store"):
        read_ledger(path)
    fill(path, other_coverage)
    with open_store(path, writable=True) as store:
        store.lose(lost)
    with open_store(path) as store:
        ledger = read_ledger(path)
        assert (ledger.entries, ledger.lost) == (store.entries(), [lost])
        assert list(ledger.specs.values()) == [store.coverage.spec]
        assert list(ledger.sources.values()) == [store.coverage.geography.source]
    with duckdb.connect(str(path)) as connection:
        connection.execute("DELETE FROM ledger")
    with pytest.raises(StoreError, match="is empty"):
        read_ledger(path)


def test_a_week_is_committed_once(empty_store: Store, noisy: Counts, other_coverage: Coverage) -> None:
    """A second commit of a week is refused and does not change the first."""
    empty_store.commit_week(WEEK, noisy, entry_for(other_coverage, noisy, WEEK))
    with pytest.raises(StoreError, match="noised once"):
        empty_store.commit_week(WEEK, noisy + 1, entry_for(other_coverage, noisy + 1, WEEK))
    np.testing.assert_array_equal(empty_store.noisy_counts(WEEK), noisy)
    assert len(empty_store.entries()) == 1


@pytest.mark.parametrize("days", [-6, -1, 1, 6])
def test_weeks_in_the_store_share_no_day(
    empty_store: Store, noisy: Counts, other_coverage: Coverage, days: int
) -> None:
    """A week that overlaps another is refused: the promise for a user-day needs each day to be in one week only."""
    empty_store.commit_week(WEEK, noisy, entry_for(other_coverage, noisy, WEEK))
    shifted = Week(WEEK.first_day + timedelta(days=days), WEEK.time_zone)
    with pytest.raises(StoreError, match="noised once"):
        empty_store.commit_week(shifted, noisy, entry_for(other_coverage, noisy, shifted))
    assert len(empty_store.entries()) == 1


def test_counts_without_their_own_entry_are_refused(
    empty_store: Store, noisy: Counts, other_coverage: Coverage
) -> None:
    """A ledger entry belongs to its counts and its week by the checksum; any other combination is refused."""
    entry = entry_for(other_coverage, noisy, WEEK)
    for wrong_week, wrong_noisy, wrong_entry in (
        (WEEK, noisy + 1, entry),
        (Week(date(2023, 10, 8), WEEK.time_zone), noisy, entry),
        (WEEK, noisy, replace(entry, checksum="0")),
    ):
        with pytest.raises(StoreError, match="does not belong"):
            empty_store.commit_week(wrong_week, wrong_noisy, wrong_entry)
    assert empty_store.entries() == []


def test_a_failure_inside_a_commit_leaves_nothing(empty_store: Store, noisy: Counts, other_coverage: Coverage) -> None:
    """Counts and entry are committed together: if the ledger refuses the entry, the counts are not stored either."""
    entry = replace(entry_for(other_coverage, noisy, WEEK), engine=None)  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        empty_store.commit_week(WEEK, noisy, entry)
    assert not empty_store.holds(WEEK)
    assert empty_store.noisy_counts(WEEK).size == 0
    empty_store.commit_week(WEEK, noisy, entry_for(other_coverage, noisy, WEEK))


def test_a_store_contains_its_spec_and_geography(tmp_path: Path, other_coverage: Coverage) -> None:
    """Publishing needs only the store: spec and regions are read back from it unchanged."""
    fill(tmp_path / "store.db", other_coverage)
    with open_store(tmp_path / "store.db") as store:
        assert store.coverage.spec == other_coverage.spec
        assert store.coverage.geography.regions == other_coverage.geography.regions


def test_any_spec_survives_being_written_as_toml() -> None:
    """A spec that the program writes as TOML is read back as the same spec."""
    for spec in (other_spec(), plain_spec()):
        assert parse_spec(spec_toml(spec)) == spec


def test_another_spec_on_the_store_is_refused_with_the_difference(tmp_path: Path, other_coverage: Coverage) -> None:
    """The error names the key that differs, both values, and the command that records the change."""
    fill(tmp_path / "store.db", other_coverage)
    changed = replace(other_coverage.spec, min_area_km2=0.75)
    with (
        pytest.raises(
            StoreError, match=r"counting: min_area_km2: 0\.5 -> 0\.75.*store edition `store` .* `from_week` WEEK"
        ),
        create_or_open_store(tmp_path / "store.db", Coverage(changed, other_coverage.geography)),
    ):
        pass


def test_another_geography_on_the_store_is_refused_with_the_difference(
    tmp_path: Path, other_coverage: Coverage
) -> None:
    """A changed table of regions is refused; the error says what changed, where, and how to record it."""
    fill(tmp_path / "store.db", other_coverage)
    rows = [(*row[:5], 41.0, *row[6:]) if row[-1] == "qz/s/p01" else row for row in OTHER_REGIONS]
    changed = Coverage(other_coverage.spec, load_geography(write_csv(tmp_path / "changed.csv", rows)))
    with (
        pytest.raises(StoreError, match=r"words: regions\.qz/s/p01\.land_area_km2: 4.* -> 41\.0.*store edition"),
        create_or_open_store(tmp_path / "store.db", changed),
    ):
        pass


def test_the_same_release_from_other_files_is_the_same_release(tmp_path: Path, other_coverage: Coverage) -> None:
    """Fingerprints depend on the content only: the same rows from another file open the same store."""
    fill(tmp_path / "store.db", other_coverage)
    again = Coverage(other_spec(), load_geography(other_geography(tmp_path)))
    with create_or_open_store(tmp_path / "store.db", again) as store:
        assert len(store.entries()) == 1


def test_a_store_without_a_commit_is_removed(tmp_path: Path, other_coverage: Coverage) -> None:
    """A run that commits nothing leaves no file, so a run with a wrong spec does not decide the store's spec."""
    with create_or_open_store(tmp_path / "store.db", other_coverage):
        pass
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError), create_or_open_store(tmp_path / "store.db", other_coverage):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_store_with_a_week_is_never_removed(tmp_path: Path, other_coverage: Coverage) -> None:
    """An error after the commit does not remove the store."""
    with pytest.raises(duckdb.Error):
        fill(tmp_path / "store.db", other_coverage, "SELECT error('after the commit')")
    with open_store(tmp_path / "store.db") as store:
        assert store.holds(WEEK)


def test_a_store_without_weeks_is_made_again(tmp_path: Path, other_coverage: Coverage) -> None:
    """A store without weeks, left by a killed run, does not decide the spec of the next run."""
    with duckdb.connect(str(tmp_path / "store.db")) as connection:
        _create(connection, other_coverage, new_identity())
    changed = Coverage(replace(other_coverage.spec, min_area_km2=0.75), other_coverage.geography)
    fill(tmp_path / "store.db", changed)
    with open_store(tmp_path / "store.db") as store:
        assert store.coverage.spec == changed.spec


def test_a_file_that_is_not_a_store_is_refused(tmp_path: Path, other_coverage: Coverage) -> None:
    """A text file and another database are refused and not changed."""
    text = tmp_path / "notes.txt"
    text.write_text("not a store " * 1000)
    with duckdb.connect(str(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
    for path in (text, tmp_path / "other.db"):
        before = path.read_bytes()
        with pytest.raises(StoreError, match="not a store of this program"), create_or_open_store(path, other_coverage):
            pass
        assert path.read_bytes() == before


def test_a_log_is_not_taken_for_a_store(publisher: Publisher) -> None:
    """DuckDB opens Parquet as a database in memory: the week would be final in the journal, and its counts lost."""
    log = publisher.log()
    content = log.read_bytes()
    arguments = ("anonymize", log, "--store", log, "--geography", publisher.geography, "--week", MONDAY)
    assert_refused(publisher, publisher.run(*arguments), "log.parquet: not a store of this program")
    assert log.read_bytes() == content
    assert not journal_path(log).exists()


def test_a_store_may_have_any_name(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means an address or memory to DuckDB is that of a file here, also for its backup."""
    monkeypatch.chdir(publisher.folder)
    log = publisher.log()
    for name in ("md:x", "sqlite:x", ":memory:", "s3:x", "x.csv"):
        arguments = ("anonymize", log, "--store", name, "--geography", publisher.geography, "--week", MONDAY)
        assert publisher.run(*arguments, "--another-release")[0] == 0
        assert publisher.run("store", "backup", "--store", name, "--out", f"{name}.copy")[0] == 0


def test_a_store_of_a_later_schema_is_refused(tmp_path: Path, other_coverage: Coverage) -> None:
    """A store with records that this program does not know is refused."""
    fill(tmp_path / "store.db", other_coverage, "UPDATE about SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(StoreError, match="schema version 99"), open_store(tmp_path / "store.db"):
        pass


def test_a_store_whose_spec_was_changed_is_refused(tmp_path: Path, other_coverage: Coverage) -> None:
    """The stored spec must have the fingerprint that was recorded when the store was made."""
    change = "UPDATE specs SET toml = replace(toml, '3.3', '3.4')"
    fill(tmp_path / "store.db", other_coverage, change)
    with pytest.raises(StoreError, match="not the one that it was made with"), open_store(tmp_path / "store.db"):
        pass


def test_an_interrupted_creation_leaves_an_empty_store(tmp_path: Path, other_coverage: Coverage) -> None:
    """A store file that was created but not filled is refused for reading and filled by the next run."""
    with duckdb.connect(str(tmp_path / "store.db")):
        pass
    with pytest.raises(StoreError, match="empty"), open_store(tmp_path / "store.db"):
        pass
    with create_or_open_store(tmp_path / "store.db", other_coverage) as store:
        assert store.entries() == []


@pytest.mark.usefixtures("quick_accounting")
def test_the_store_knows_days_and_no_times(publisher: Publisher) -> None:
    """A time of day would tell how long a run took, and so how large the log is; the instants of a week are public."""
    assert publisher.anonymize(publisher.log(searches(rows=14_000)))[0] == 0
    assert publisher.run("publish", "--store", publisher.store, "--out", publisher.folder / "dataset")[0] == 0
    found: list[str] = []
    with duckdb.connect(str(publisher.store), read_only=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
        for table, column in columns:
            if column not in ("begins_at", "ends_at"):
                values = connection.execute(f'SELECT DISTINCT CAST("{column}" AS TEXT) FROM {table}').fetchall()
                found += [f"{table}.{column}: {v}" for (v,) in values if re.search(r"\d\d:\d\d", v or "")]
    journal = re.sub(r'"(begins|ends)_at": "[^"]*"', "", journal_path(publisher.store).read_text())
    assert found == []
    assert not re.search(r"\d\d:\d\d", journal)
