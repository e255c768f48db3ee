"""`ledger` shows what was spent on each week, as text and as JSON."""

import json
from dataclasses import fields
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path

import duckdb
import pytest

from search_insights.spec.spec import Spec
from search_insights.spec.zones import zone_data_version
from search_insights.store.ledger import LedgerEntry, checksum
from tests.support.command_line import Run
from tests.support.logs import MONDAY, WEEK, Publisher, searches


@pytest.fixture
def released(publisher: Publisher) -> Publisher:
    """A publisher who has released two weeks, one of them without its Tuesday."""
    later = "TIMESTAMPTZ '2021-03-15 20:00:00+00' + to_days((i % 7)::INTEGER)"
    publisher.log(name="log/a.parquet")
    publisher.log(f"SELECT * FROM ({searches(timestamp=later)}) WHERE isodow(timestamp) != 2", "log/b.parquet")
    options = ("--week", "2021-03-15", "--allow-missing-day", "2021-03-16")
    assert publisher.anonymize(publisher.folder / "log", *options)[0] == 0
    return publisher


def test_json_has_an_entry_for_every_week(released: Publisher, paper: Spec) -> None:
    """The JSON has every field of the ledger under its own name, and the weeks in order."""
    code, out, err = released.run("ledger", "--store", released.store, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert set(answer) == {"spec", "weeks", "not_promised", "lost"}
    assert answer["spec"] == "vaccination-v1"
    assert [week["week"] for week in answer["weeks"]] == [MONDAY, "2021-03-15"]
    for week in answer["weeks"]:
        assert list(week) == [field.name for field in fields(LedgerEntry)]
        assert (week["epsilon"], week["delta"]) == (2.19, 1e-5)
        assert week["spec"] == paper.fingerprint
        assert week["geography"] == released.coverage.geography.fingerprint
        assert (week["mechanism"], week["engine"]) == ("discrete Gaussian, OpenDP", "duckdb")
        assert week["program"] == metadata.version("search-insights")
        assert date.fromisoformat(week["committed_at"]) <= datetime.now(UTC).date()
        assert (week["times"], week["naive_zone"], week["zone_data"]) == ("instant", "", zone_data_version())
        assert week["classifier"] == ""
    assert [week["missing_days"] for week in answer["weeks"]] == ["", "2021-03-16"]
    first = answer["weeks"][0]
    noisy = released.noisy(WEEK)
    assert (first["cells"], first["checksum"]) == (noisy.size, checksum(WEEK.first_day, noisy))


def test_json_has_the_epsilon_of_all_days(released: Publisher) -> None:
    """For a user active on all 14 days of two weeks epsilon is more than for a day, and is computed for two weeks."""
    _, out, _ = released.run("ledger", "--store", released.store, "--json")
    active = json.loads(out)["not_promised"]["user_active_on_all_days"]
    assert (active["days"], active["delta"]) == (14, 1e-5)
    assert active["epsilon"] == pytest.approx(36.648, abs=0.001)


def test_text_has_a_line_for_every_week(released: Publisher) -> None:
    """The text has week, epsilon, delta and time of each week, the privacy unit, and what is not promised."""
    code, out, err = released.run("ledger", "--store", released.store)
    assert (code, err) == (0, "")
    first, second = released.ledger()
    lines = out.splitlines()
    for entry in (first, second):
        (line,) = [line for line in lines if line.startswith(str(entry.week))]
        assert line.split()[1:4] == ["2.19", "1e-05", entry.committed_at]
        assert entry.checksum[:12] in line
    assert "Spec vaccination-v1" in lines[0]
    assert str(released.geography) in lines[0]
    assert "hold for each user-day" in out
    assert f"times read as instants; zone data {first.zone_data}: {MONDAY} to 2021-03-15 (2 weeks)" in lines
    assert "Not promised: a user active on all 14 days" in lines[-1]


def test_after_a_refused_log_there_is_no_store(publisher: Publisher) -> None:
    """A refused log spends nothing and leaves no store."""
    assert publisher.anonymize(publisher.log(searches(rows=0)))[0] == 2
    code, out, err = publisher.run("ledger", "--store", publisher.store)
    assert (code, out) == (2, "")
    assert "no such store" in err


def empty_database(path: Path) -> None:
    duckdb.connect(str(path)).close()


def other_database(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")


def text_file(path: Path) -> None:
    path.write_text("not a database\n" * 1000)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (None, "no such store; 'search-insights anonymize' makes one"),
        (Path.mkdir, "no such store"),
        (empty_database, "the store is empty; 'search-insights anonymize' fills it"),
        (other_database, "a DuckDB database, but not a store of this program"),
        (text_file, "not a store of this program"),
    ],
    ids=["missing", "folder", "empty", "other database", "text"],
)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_path_without_a_store_is_refused(
    run: Run, tmp_path: Path, make: object, words: str, options: tuple[str]
) -> None:
    """The error names the file and what is wrong with it; no file is made."""
    store = tmp_path / "store.db"
    if callable(make):
        make(store)
    code, out, err = run("ledger", "--store", store, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{store}: {words}" in err
    assert store.exists() is (make is not None)


def test_the_store_is_required(run: Run) -> None:
    """There is no default store, because an empty ledger shown by mistake would mislead."""
    code, out, err = run("ledger")
    assert (code, out) == (2, "")
    assert "required: --store" in err


def test_the_ledger_does_not_change_the_store(released: Publisher) -> None:
    """Showing the ledger does not write to the store."""
    before = released.store.read_bytes()
    released.run("ledger", "--store", released.store)
    assert released.store.read_bytes() == before
