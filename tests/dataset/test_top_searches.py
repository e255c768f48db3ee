"""Promises about the published tables of top searches: their form, their words, and that they do not change."""

import csv
import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.dataset.folder import read_dataset
from search_insights.dataset.loading import load_top_searches
from search_insights.dataset.pages import privacy_page
from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed, InputError
from search_insights.routine.steps import blocklist_is_current
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from search_insights.store.verification import problems
from search_insights.support.sql import literal
from search_insights.trends.scaling import scale_problems
from tests.support.command_line import Run
from tests.support.datasets import HEADER, STEM, contents, dataset_of, json_of
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import FIRST, add_weeks, changed, copy_of_store
from tests.support.top_searches import add_texts, little_lists

NEAR, SAME, SAFE = "covid vaccine near me", "vaccines near me covid", "is the vaccine safe"
WHERE = HEADER.split(",")[:-3]
COLUMNS = (
    *WHERE, "category", "query_type", "rank", "query", "members", "value", "value_low", "value_high", "change",
    "change_low", "change_high", "is_new",
)  # fmt: skip
KEY = ("date", "place_id", "category", "query_type", "rank")


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    return little_lists(tmp_path_factory.mktemp("country"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, coverage: Coverage) -> Path:
    """Two weeks; in the second a text of A2 is new."""
    first = {NEAR: (900, 300, 540, 4), SAME: (90, 0, 90, 0)}
    second = {NEAR: (450, 300, 100, 4), SAME: (90, 0, 90, 0), SAFE: (600, 200, 200, 200)}
    return add_texts(tmp_path_factory.mktemp("made") / "store.db", coverage, first, second, topics={SAFE: "A2"})


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return copy_of_store(made, tmp_path)


@pytest.fixture(scope="module")
def published(made: Path) -> Path:
    """The dataset of that store."""
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return dataset_of(made)


@pytest.fixture
def dataset(published: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(published, tmp_path / "dataset"))


def lines_of(dataset: Path) -> list[dict[str, str]]:
    """Return the rows of the CSV file, read as any program would."""
    with (dataset / f"{STEM}_top_searches.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parquet_of(dataset: Path) -> list[dict[str, Any]]:
    path = literal(str(dataset / f"{STEM}_top_searches.parquet"))
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM {path}")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def blocklist(folder: Path, text: str) -> Path:
    (folder / "blocklist.txt").write_text(text, encoding="utf-8")
    return folder / "blocklist.txt"


def test_both_tables_have_the_same_lines_each_once(dataset: Path) -> None:
    """One row for each week, region, category, kind and rank; members are a list in Parquet; missing is empty."""
    rows, parquet = lines_of(dataset), parquet_of(dataset)
    assert tuple(rows[0]) == COLUMNS
    assert tuple(parquet[0]) == (*WHERE, "level", "code", *COLUMNS[len(WHERE) :])
    assert len({tuple(row[name] for name in KEY) for row in rows}) == len(rows) == len(parquet)
    for row, same in zip(rows, parquet, strict=True):
        assert row["members"].split(" | ") == same["members"]
        assert row["members"].split(" | ")[0] == row["query"]
        for name in COLUMNS[-7:-1]:
            assert (float(row[name]) if row[name] else None) == same[name]
        assert (row["query_type"], row["rank"], row["is_new"]) == (same["query_type"], str(same["rank"]), str(same["is_new"]).lower())  # fmt: skip # noqa: E501
    first = rows[0]
    assert (first["date"], first["place_id"], first["category"]) == ("2021-01-04", "country/USA", "covid19_vaccination")
    assert (first["value"], first["change"], first["is_new"]) == ("5.500", "", "false")
    assert {row["sub_region_1_code"] for row in rows} <= {"", "US-AL", "US-CA", "US-NM"}
    [new] = [r for r in rows if r["query_type"] == "rising" and r["category"] == "safety_side_effects"]
    assert (new["query"], new["change"], new["change_high"], new["is_new"]) == (SAFE, "", "", "true")
    assert float(new["change_low"]) > 100


def test_the_folder_describes_the_tables(dataset: Path) -> None:
    """Its reader finds both, with every column described; the statement has the numbers, and the page says them."""
    found = read_dataset(dataset)
    assert found.top_searches is not None
    assert [table.path.name for table in found.top_searches] == [f"{STEM}_top_searches.{e}" for e in ("csv", "parquet")]
    resources = {r["path"]: r for r in json_of(dataset, "datapackage.json")["resources"]}
    for path, names in ((f"{STEM}_top_searches.csv", COLUMNS), (f"{STEM}_top_searches.parquet", tuple(parquet_of(dataset)[0]))):  # fmt: skip # noqa: E501
        fields = resources[path]["schema"]["fields"]
        assert tuple(field["name"] for field in fields) == names
        assert all(len(field["description"]) > 10 for field in fields)
        assert resources[path]["schema"]["primaryKey"] == list(KEY)
    privacy = json_of(dataset, "privacy.json")
    assert privacy["top_searches"]["texts"] == 3
    assert (privacy["top_searches"]["weeks"], privacy["top_searches"]["weeks_without"]) == (2, 0)
    assert all(len(row["top_searches"]) == 64 for row in privacy["ledger"])
    page = " ".join((dataset / "PRIVACY.md").read_text(encoding="utf-8").split())
    assert "only if at least 4 users searched for it in one week" in page
    assert "is 16 or more" in page
    assert "3 texts have become public" in page


def test_publishing_again_changes_nothing(store: Path, dataset: Path, coverage: Coverage) -> None:
    """Nor does a new week change a line of the others."""
    before = contents(dataset), lines_of(dataset)
    publish(store, dataset)
    assert contents(dataset) == before[0]
    add_texts(store, coverage, {NEAR: (5000, 9, 9, 9), "covid near me vaccine": (800, 9, 9, 9)}, start=2)
    publish(store, dataset)
    assert [row for row in lines_of(dataset) if row["date"] < "2021-01-18"] == before[1]
    assert json_of(dataset, "privacy.json")["corrections"] == []


def test_a_blocklist_that_comes_later_is_a_correction(store: Path, dataset: Path, tmp_path: Path, run: Run) -> None:
    """Lines that were published vanish only with a reason, which is recorded with their number."""
    before, own = contents(dataset), blocklist(tmp_path, "# not to be shown\nsafe\n")
    gone = [row for row in lines_of(dataset) if row["query"] == SAFE]
    words = ("publish", "--store", store, "--out", dataset, "--blocklist", own)
    code, _, err = run(*words)
    assert code == 1
    assert f"{len(gone)} published values would change or disappear" in err
    assert contents(dataset) == before
    code, _, err = run(*words, "--correction", "a word of the blocklist")
    assert (code, err.count("Traceback")) == (0, 0)
    assert [row for row in lines_of(dataset) if row["query"] == SAFE] == []
    privacy = json_of(dataset, "privacy.json")
    assert privacy["corrections"] == [{"changed_values": len(gone), "reason": "a word of the blocklist"}]
    assert privacy["top_searches"]["blocklist"]["entries"] == 1
    # Once used, it cannot be forgotten; an empty one is another correction.
    code, _, err = run(*words[:-2])
    assert code == 1
    assert "was published with a blocklist of 1 entries" in err
    assert "--blocklist" in err
    with pytest.raises(CheckFailed, match=f"{len(gone)} published values would change"):
        publish(store, dataset, blocklist=blocklist(tmp_path, "# nothing\n"))


def test_a_run_notices_another_blocklist(dataset: Path, tmp_path: Path) -> None:
    """Then the dataset is due, and is published, or refused for want of a reason; a comment alone changes nothing."""
    assert blocklist_is_current(dataset, None)
    assert blocklist_is_current(dataset, blocklist(tmp_path, "# nothing\n"))
    assert not blocklist_is_current(dataset, blocklist(tmp_path, "safe\n"))


def test_a_dry_run_shows_the_texts_that_nobody_has_seen(
    store: Path, published: Path, coverage: Coverage, run: Run
) -> None:
    """All of them before the first publication, later the new ones, and none that the blocklist leaves out."""
    dataset, words = store.parent / "dataset", ("publish", "--store", store, "--out", store.parent / "dataset")
    _, out, _ = run(*words, "--dry-run")
    assert "texts that were not shown before: 3\n" in out
    assert all(f"  {text}\n" in out for text in (NEAR, SAME, SAFE))
    assert not dataset.exists()
    _, out, _ = run(*words, "--dry-run", "--blocklist", blocklist(store.parent, "near me\n"))
    assert f"texts that were not shown before: 1\n  {SAFE}\n" in out
    shutil.copytree(published, dataset)
    add_texts(store, coverage, {"vaccine hives": (800, 9, 9, 9)}, start=2)
    _, out, _ = run(*words, "--dry-run")
    assert "texts that were not shown before: 1\n  vaccine hives\n" in out


def test_a_log_without_texts_has_no_lists(tmp_path: Path, coverage: Coverage) -> None:
    """There are no such tables, and the statement says why; a spec without top searches does not speak of them."""
    dataset = dataset_of(add_texts(tmp_path / "none.db", coverage, None))
    assert not list(dataset.glob("*top_searches*"))
    assert json_of(dataset, "privacy.json")["top_searches"]["weeks"] == 0
    assert "no lists of top searches" in (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    assert read_dataset(dataset).top_searches is None
    with pytest.raises(InputError, match="has no top searches"):
        load_top_searches(dataset, "country", "vaccination_intent")
    privacy = json_of(dataset, "privacy.json")
    del privacy["top_searches"]
    assert "## Top searches" not in privacy_page(privacy)


def test_a_spec_without_top_searches_says_nothing_of_them(tmp_path: Path, short_coverage: Coverage) -> None:
    """The packaged `vaccination-v1` is published as before."""
    dataset = dataset_of(add_weeks(tmp_path / "plain.db", short_coverage, {}))
    assert "top_searches" not in (dataset / "privacy.json").read_text(encoding="utf-8")
    assert not list(dataset.glob("*top_searches*"))


def test_a_damaged_table_is_refused_in_one_line(store: Path, dataset: Path) -> None:
    """Nothing can be compared with it: not with a column less, and not if it is no table."""
    table = dataset / f"{STEM}_top_searches.csv"
    before = table.read_text(encoding="utf-8")
    for damaged in (before.replace(",is_new", ",new", 1), ""):
        table.write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match="cannot be read as the top searches of this dataset"):
            publish(store, dataset)


def test_lists_that_would_vanish_are_a_correction(store: Path, dataset: Path, coverage: Coverage) -> None:
    """A store of the same weeks without texts is refused, as one that lacks values is."""
    with open_store(store) as opened:
        identity = opened.identity
    other = add_texts(store.parent / "other.db", coverage, None, None, identity=identity)
    with pytest.raises(CheckFailed, match=f"{len(lines_of(dataset))} published values would change or disappear"):
        publish(other, dataset)


def test_an_analyst_reads_one_list_at_a_time(dataset: Path) -> None:
    """By level, trend and kind, with numbers; a kind that does not exist is refused."""
    pytest.importorskip("polars")
    found = load_top_searches(dataset, "state", "sni_vaccination_intent", frame="polars")
    assert found["name"].unique().sort().to_list() == ["Alabama", "California"]
    assert found.row(0, named=True)["members"] == [NEAR, SAME]
    rising = load_top_searches(dataset, "country", "safety_side_effects", "rising", frame="polars")
    assert rising["query"].to_list() == [SAFE]
    with pytest.raises(InputError, match="no list 'falling'; the lists are top and rising"):
        load_top_searches(dataset, "country", "safety_side_effects", "falling")  # type: ignore[arg-type]


def test_a_renamed_trend_is_no_correction(store: Path, dataset: Path) -> None:
    """A category is known by the id of its trend, as columns are: another name moves no line."""
    package = json_of(dataset, "datapackage.json")
    for resource in package["resources"]:
        for field in resource["schema"]["fields"]:
            if field.get("trend") == "vaccination_intent":
                field["trend"] = "wish"
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    table = dataset / f"{STEM}_top_searches.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",vaccination_intent,", ",wish,"), encoding="utf-8")
    publish(store, dataset)
    with open_store(store) as opened:
        assert opened.corrections() == []
    assert "vaccination_intent" in {row["category"] for row in lines_of(dataset)}


def test_only_the_weeks_of_an_edition_with_top_searches_have_lists(tmp_path: Path, coverage: Coverage) -> None:
    """A change of the spec brings them; earlier weeks have none, and the first week is compared with nothing.

    The public list goes on in an edition with other rules, and there too the first week is compared with nothing.
    """
    assert coverage.spec.top_searches is not None
    plain = Coverage(replace(coverage.spec, top_searches=None), coverage.geography)
    other = replace(coverage.spec.top_searches, region_shown_from=6, min_users=coverage.spec.top_searches.min_users + 3)
    later = Coverage(replace(coverage.spec, top_searches=other), coverage.geography)
    path, near = add_texts(tmp_path / "store.db", plain, None), {NEAR: (900, 300, 540, 60)}
    add_texts(changed(path, coverage, from_week=FIRST + timedelta(weeks=1)), coverage, near, near, start=1)
    add_texts(changed(path, later, from_week=FIRST + timedelta(weeks=3)), later, near, start=3)
    dataset = dataset_of(path)
    rows = [
        row for row in lines_of(dataset) if (row["place_id"], row["category"]) == ("geoId/06", "vaccination_intent")
    ]
    assert [(row["date"], row["change"]) for row in rows] == [
        ("2021-01-11", ""),
        ("2021-01-18", "0.000"),
        ("2021-01-25", ""),
    ]
    assert not any(row["is_new"] == "true" for row in rows)
    found = json_of(dataset, "privacy.json")["top_searches"]
    assert (found["weeks"], found["weeks_without"], found["texts"], found["region_shown_from"]) == (3, 1, 1, 6)
    words = " ".join((dataset / "PRIVACY.md").read_text(encoding="utf-8").split())
    assert "1 week has no lists" in words
    # The rules of earlier weeks are told too: what holds for the latest is not said of all.
    assert [(rule["last_week"], rule["min_users"]) for rule in found["earlier"]] == [
        ("2021-01-18", other.min_users - 3)
    ]
    assert f"only if at least {other.min_users} users" in words
    assert f"In the weeks from 2021-01-11 to 2021-01-18 it took {other.min_users - 3} users" in words
    with open_store(path) as opened:
        assert problems(opened, scale_problems) == []


def test_a_week_in_which_no_text_is_shown_has_empty_tables(tmp_path: Path, coverage: Coverage) -> None:
    """The tables are there, with their columns and no line: nothing reached the threshold yet."""
    dataset = dataset_of(add_texts(tmp_path / "store.db", coverage, {}))
    assert lines_of(dataset) == parquet_of(dataset) == []
    header = (dataset / f"{STEM}_top_searches.csv").read_text(encoding="utf-8")
    assert header == ",".join(COLUMNS) + "\n"
    assert json_of(dataset, "privacy.json")["top_searches"]["weeks"] == 1
