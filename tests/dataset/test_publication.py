"""The dataset: its form, what describes it, and that it is put in place whole, once, and never contradicts itself."""

import csv
import hashlib
import importlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest

from search_insights.dataset.publication import publish
from search_insights.dp import accounting
from search_insights.dp.accounting import Accounting
from search_insights.errors import CheckFailed, InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.store.store import open_store
from search_insights.support.quoting import literal
from tests.support.logs import LITTLE_REGIONS, Run
from tests.support.other_country import OTHER_REGIONS, write_csv
from tests.trends.test_derive import CITY, NOTHING, TOWN, USUAL, WeekCounts, add_weeks, little

# In these tests "search_insights.dataset.publication" may be the function of that name; this is the module.
MODULE = importlib.import_module("search_insights.dataset.publication")

HEADER = (
    "date,country_region,country_region_code,sub_region_1,sub_region_1_code,sub_region_2,sub_region_2_code,"
    "sub_region_3,sub_region_3_code,place_id,sni_covid19_vaccination,sni_vaccination_intent,sni_safety_side_effects"
)
STEM = "US_vaccination_search_insights"
FILES = {
    *(f"{STEM}.csv", f"{STEM}.parquet", "datapackage.json"),
    *("privacy.json", "PRIVACY.md", "summary.json", "summary.svg"),
}
COLUMNS = ("sni_covid19_vaccination", "sni_vaccination_intent", "sni_safety_side_effects")
NO_SAFETY = (100_000, 3_000, 0, 1_000)

_known: dict[object, Accounting] = {}


def account_once(spec: Spec) -> Accounting:
    """Account for a table of sigmas once for all tests."""
    key = (spec.sigmas, spec.promise)
    if key not in _known:
        _known[key] = accounting.account(spec)
    return _known[key]


def quick_accounting(patch: pytest.MonkeyPatch) -> None:
    """Spare the tests the accounting, which is not what they are about: the cases once, other units as 1 a day."""
    patch.setattr(MODULE, "account", account_once)
    patch.setattr("search_insights.dataset.statement.epsilon_of_days", lambda spec, days: float(days))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_accounting(monkeypatch)


@pytest.fixture
def coverage(tmp_path: Path) -> Coverage:
    """The little country, with a window of four weeks."""
    return little(tmp_path)


@pytest.fixture
def store(tmp_path: Path, coverage: Coverage) -> Path:
    """Two weeks; in the second one postal code has no value, the other none for one trend."""
    return add_weeks(tmp_path / "store.db", coverage, {}, {CITY: NOTHING, TOWN: NO_SAFETY})


def text_of(dataset: Path) -> str:
    [path] = dataset.glob("*.csv")
    return path.read_bytes().decode("utf-8")


def rows_of(dataset: Path) -> list[dict[str, str]]:
    """Read the CSV as any program would."""
    return list(csv.DictReader(text_of(dataset).splitlines()))


def parquet_rows(dataset: Path) -> list[dict[str, Any]]:
    [path] = dataset.glob("*.parquet")
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM {literal(str(path))}")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def json_of(dataset: Path, name: str) -> Any:
    return json.loads((dataset / name).read_text(encoding="utf-8"))


def dataset_of(store: Path, name: str = "dataset", correction: str | None = None) -> Path:
    """Publish a store beside it."""
    publish(store, store.parent / name, correction=correction)
    return store.parent / name


# The form of the CSV


def test_the_header_is_the_originals(store: Path) -> None:
    """Byte for byte the columns that the original has."""
    assert text_of(dataset_of(store)).split("\n")[0] == HEADER


def test_the_form_of_lines_and_values_is_the_originals(store: Path) -> None:
    """LF line ends, the date of the week's first day, 3 decimals, missing values empty."""
    text = text_of(dataset_of(store))
    assert "\r" not in text
    assert text.endswith("\n")
    assert not text.startswith("\ufeff")
    lines = text.split("\n")
    assert lines[1] == "2021-01-04,United States,US,,,,,,,country/USA,100.000,50.000,33.333"
    assert lines[-2] == (
        "2021-01-11,United States,US,California,US-CA,El Dorado,,postal_code,95667,zip/95667,66.667,50.000,"
    )


def test_rows_of_each_level_fill_the_columns_of_their_level(store: Path) -> None:
    """State: ISO code. County: FIPS. Postal code: county's name, no county code, the word, the ZIP."""
    rows = {row["place_id"]: list(row.values())[1:10] for row in rows_of(dataset_of(store))}
    us = ["United States", "US"]
    assert rows["country/USA"] == [*us, "", "", "", "", "", "", "country/USA"]
    assert rows["geoId/06"] == [*us, "California", "US-CA", "", "", "", "", "geoId/06"]
    assert rows["geoId/06075"] == [*us, "California", "US-CA", "San Francisco", "06075", "", "", "geoId/06075"]
    assert rows[CITY] == [*us, "California", "US-CA", "San Francisco", "", "postal_code", "94103", CITY]


def test_rows_stand_in_the_order_of_levels_codes_and_dates(store: Path) -> None:
    """The order is that of the public list of regions, each with its weeks in order."""
    rows = rows_of(dataset_of(store))
    order = [row[-1] for row in LITTLE_REGIONS if row[-1] not in ("zip/35013", "zip/94104", "zip/96120")]
    assert list(dict.fromkeys(row["place_id"] for row in rows)) == order
    keys = [(order.index(row["place_id"]), row["date"]) for row in rows]
    assert keys == sorted(set(keys))


def test_missing_is_empty_and_never_0(store: Path) -> None:
    """A row without any value is not there; in others a missing value is empty."""
    rows = {(row["place_id"], row["date"]): row for row in rows_of(dataset_of(store))}
    assert (CITY, "2021-01-04") in rows
    assert (CITY, "2021-01-11") not in rows
    assert rows[TOWN, "2021-01-11"]["sni_safety_side_effects"] == ""
    values = [row[column] for row in rows.values() for column in COLUMNS]
    assert values.count("") == 1
    assert all(float(value) > 0 for value in values if value)


def test_regions_that_are_not_reported_have_no_row(store: Path) -> None:
    """Postal codes of small counties (X3) and those under 3 km2 are not in the dataset."""
    shown = {row["place_id"] for row in rows_of(dataset_of(store))}
    assert len(shown) == 1 + 3 + 5 + 2
    assert not shown & {"zip/35013", "zip/94104", "zip/96120"}


def test_the_first_maximum_is_100_and_later_values_may_lie_above(store: Path, coverage: Coverage) -> None:
    """100.000 stands in the file for the week of the most interest; a later one of twice that has 200.000."""
    country = [r for r in rows_of(dataset_of(store)) if r["place_id"] == "country/USA"]
    assert max(float(row[COLUMNS[0]]) for row in country) == 100.0
    assert country[0][COLUMNS[0]] == "100.000"
    add_weeks(store, coverage, {}, start=2, usual=(100_000, 6_000, 4_000, 2_000))
    country = [r for r in rows_of(dataset_of(store)) if r["place_id"] == "country/USA"]
    assert [row[COLUMNS[0]] for row in country] == ["100.000", "100.000", "200.000"]


def test_the_parquet_file_has_the_same_rows_with_intervals(store: Path) -> None:
    """Row by row the same places, dates and values, with level and code; each value lies in its interval."""
    dataset = dataset_of(store)
    wide = parquet_rows(dataset)
    assert len(wide) == len(rows_of(dataset))
    for row, full in zip(rows_of(dataset), wide, strict=True):
        assert full["date"] == date.fromisoformat(row["date"])
        for column in HEADER.split(",")[1:10]:
            assert (full[column] or "") == row[column]
        for column in COLUMNS:
            value, low, high = (full[column + end] for end in ("", "_low", "_high"))
            assert value == (float(row[column]) if row[column] else None)
            assert (low is None, high is None) == (value is None,) * 2
            assert value is None or 0 <= low <= value <= high
    levels = {full["place_id"]: (full["level"], full["code"]) for full in wide}
    assert levels["country/USA"] == ("country", "US")
    assert levels["geoId/35"] == ("state", "US-NM")
    assert levels["geoId/35013"] == ("county", "35013")
    assert levels[TOWN] == ("postal_code", "95667")


def test_the_four_levels_and_hostile_names_of_another_country_survive(tmp_path: Path, other_coverage: Coverage) -> None:
    """A release of four levels gets a fourth pair of columns, and every name comes back from the CSV as it was."""
    dataset = dataset_of(add_weeks(tmp_path / "store.db", other_coverage, {}))
    assert text_of(dataset).split("\n")[0] == HEADER.replace(
        "sub_region_3_code,", "sub_region_3_code,sub_region_4,sub_region_4_code,"
    ).replace(",".join(COLUMNS), "index_firewood,index_keeping_warm")
    assert (dataset / "QZ_heating_search_trends.csv").exists()
    names = {str(row[-1]): (row[1], row[0]) for row in OTHER_REGIONS}
    depths = {"qz/p": 1, "qz/c": 2, "qz/m": 3, "qz/s": 4}
    rows = [row for row in rows_of(dataset) if row["place_id"] != "qz"]
    assert len(rows) == 3 + 5 + 8 + 7
    for row in rows:
        depth = depths[row["place_id"][:4]]
        assert (row[f"sub_region_{depth}"], row[f"sub_region_{depth}_code"]) == names[row["place_id"]]
        assert [bool(row[f"sub_region_{i}"]) for i in range(1, 5)] == [i <= depth for i in range(1, 5)]
    again = dataset_of(tmp_path / "store.db")
    assert rows_of(again)[1:] == rows, "comparing with what is published reads these names too"


@pytest.mark.parametrize("column", ["order", "vaccine-index", "Select"])
def test_a_column_may_have_any_name_that_a_spec_allows(tmp_path: Path, column: str) -> None:
    """Words that mean something to SQL, and hyphens, are only names here."""
    base = little(tmp_path)
    trend = replace(base.spec.trends[0], column=column)
    spec = replace(base.spec, trends=(trend, *base.spec.trends[1:]))
    dataset = dataset_of(add_weeks(tmp_path / "store.db", Coverage(spec, base.geography), {}))
    assert rows_of(dataset)[0][column] == "100.000"
    assert parquet_rows(dataset)[0][f"{column}_low"] < 100
    dataset_of(tmp_path / "store.db")


def test_a_country_code_that_is_no_file_name_stays_in_the_folder(tmp_path: Path) -> None:
    """The code of the country is a part of the file's name and must not lead out of the dataset."""
    rows = [("../U S", *row[1:]) if row[0] == "US" else row for row in LITTLE_REGIONS]
    strange = Coverage(little(tmp_path).spec, load_geography(write_csv(tmp_path / "strange.csv", rows)))
    dataset = dataset_of(add_weeks(tmp_path / "store.db", strange, {}))
    assert {p.name for p in dataset.glob("*_search_insights.*")} == {
        ".._U_S_vaccination_search_insights.csv",
        ".._U_S_vaccination_search_insights.parquet",
    }
    assert rows_of(dataset)[0]["country_region_code"] == "../U S"


# Made from the store alone, and the same however often


def test_publishing_twice_gives_the_same_bytes(store: Path) -> None:
    """Every file, the picture too."""
    first = contents(dataset_of(store))
    assert set(first) == FILES
    assert contents(dataset_of(store)) == first
    assert contents(dataset_of(store, "elsewhere")) == first


def test_publishing_needs_nothing_but_the_store(store: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A copy of the store in an empty folder, with log, geography and spec gone, gives the same bytes."""
    there = tmp_path_factory.mktemp("alone")
    shutil.copy(store, there / "store.db")
    first = contents(dataset_of(store))
    shutil.rmtree(store.parent)
    copy = contents(dataset_of(there / "store.db"))
    assert copy == first
    assert sorted(path.name for path in there.iterdir()) == ["dataset", "store.db", "store.db.journal"]


def test_adding_weeks_changes_no_old_row(store: Path, coverage: Coverage) -> None:
    """Each line of the first release stands in the next, also when the new weeks complete the window."""
    before = text_of(dataset_of(store)).splitlines()
    add_weeks(store, coverage, {TOWN: (100, 1, 1, 1)}, {}, start=2, usual=(100_000, 9_000, 4_000, 2_000))
    after = text_of(dataset_of(store)).splitlines()
    assert len(after) > len(before)
    assert [line for line in before if line not in after] == []


# What describes it


def test_the_datapackage_describes_every_file_and_column(store: Path) -> None:
    """Each table with its size, checksum and fields, in the order of the table, each with words to it."""
    dataset = dataset_of(store)
    package = json_of(dataset, "datapackage.json")
    assert package["name"] == "us-vaccination-search-insights"
    by_form = {resource["format"]: resource for resource in package["resources"]}
    for form, columns in (("csv", HEADER.split(",")), ("parquet", list(parquet_rows(dataset)[0]))):
        resource = by_form[form]
        content = (dataset / resource["path"]).read_bytes()
        assert resource["bytes"] == len(content)
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == columns
        assert all(field["description"] and field["type"] for field in fields)
        assert resource["schema"]["missingValues"] == [""]


def test_the_datapackage_names_levels_and_trends(store: Path) -> None:
    """A program learns from it which levels there are, and which column holds which trend."""
    package = json_of(dataset_of(store), "datapackage.json")
    fields = {field["name"]: field for field in package["resources"][1]["schema"]["fields"]}
    assert fields["level"]["constraints"]["enum"] == ["country", "state", "county", "postal_code"]
    assert fields["sni_vaccination_intent"]["trend"] == "vaccination_intent"


def test_the_statement_has_the_accounting_case_by_case(store: Path, coverage: Coverage) -> None:
    """Epsilon of every case is what the accounting computes, at the promised delta, for programs and people."""
    dataset = dataset_of(store)
    loss = json_of(dataset, "privacy.json")["privacy_loss"]
    expected = account_once(coverage.spec)
    assert (loss["epsilon"], loss["delta"], loss["holds"]) == (2.19, 1e-5, True)
    assert [case["name"] for case in loss["cases"]] == ["small", "medium", "large", "state_only"]
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    for case, computed in zip(loss["cases"], expected.cases, strict=True):
        assert case["epsilon"] == pytest.approx(computed.epsilon, abs=1e-6)
        assert case["sigmas"] == [sigma.value for sigma in computed.case.sigmas]
        assert f"| {case['name']} | {computed.epsilon:.3f} | 1e-05 |" in page


def test_the_statement_says_unit_neighbours_and_bounds(store: Path) -> None:
    """Who is protected, from what difference, and X1 to X4, for programs and people."""
    dataset = dataset_of(store)
    flavor = json_of(dataset, "privacy.json")["flavor"]
    assert flavor["privacy_unit"].startswith("user-day")
    assert "adding or removing one user's searches of one day" in flavor["neighbouring_relation"]
    assert [bound[:3] for bound in flavor["bounds"]] == ["X1:", "X2:", "X3:", "X4:"]
    assert flavor["bounds"][2] == "X3: no postal_code counts of size class small"
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    for words in (flavor["privacy_unit"], flavor["neighbouring_relation"], *flavor["bounds"]):
        assert words in page


def test_the_statement_has_the_ledger(store: Path) -> None:
    """Every week of the store's ledger with what was spent and the checksum of its counts."""
    statement = json_of(dataset_of(store), "privacy.json")
    with open_store(store) as opened:
        entries, scaling = opened.entries(), opened.scaling()
    assert [row["week"] for row in statement["ledger"]] == ["2021-01-04", "2021-01-11"]
    for row, entry in zip(statement["ledger"], entries, strict=True):
        assert row["missing_days"] == entry.missing_days.split()
        for key in ("epsilon", "delta", "cells", "engine", "program", "checksum"):
            assert row[key] == getattr(entry, key)
    assert scaling is not None
    assert statement["scaling"]["factor"] == scaling.factor
    assert statement["sparsity"] == {"decided": False, "regions_removed": 0}


def test_the_dataset_says_the_day_of_a_commit_and_no_time(store: Path) -> None:
    """When a run began may be known; when it ended, to the second, would tell how large the log is."""
    with duckdb.connect(store) as connection:
        connection.execute("UPDATE ledger SET committed_at = '2021-02-03T04:05:06+00:00'")
    dataset = dataset_of(store)
    assert json_of(dataset, "privacy.json")["ledger"][0]["committed_on"] == "2021-02-03"
    for path in dataset.rglob("*"):
        assert b"04:05" not in path.read_bytes(), path.name


def test_the_statement_says_what_is_not_promised(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same noise for a user of 7 and of all days, by the real accounting: more than a day, less than the sum."""
    monkeypatch.setattr("search_insights.dataset.statement.epsilon_of_days", accounting.epsilon_of_days)
    statement = json_of(dataset_of(store), "privacy.json")
    week, all_days = statement["not_promised"].values()
    assert all_days["days"] == 14
    assert 2.19 < week["epsilon"] < all_days["epsilon"] < 14 * 2.19
    assert statement["not_covered"]


def test_the_summary_adds_up_and_agrees_with_the_tables(store: Path, coverage: Coverage) -> None:
    """By level and trend, published and dropped values make weeks x regions, and the published are in the CSV."""
    add_weeks(store, coverage, {CITY: NOTHING, TOWN: (100, 1, 1, 1)}, {CITY: NOTHING}, start=2)
    dataset = dataset_of(store)
    summary = json_of(dataset, "summary.json")
    regions = {"country": 1, "state": 3, "county": 5, "postal_code": 2}
    assert [(row["level"], row["trend"]) for row in summary] == [
        (level, trend.name) for level in regions for trend in coverage.spec.trends
    ]
    table = parquet_rows(dataset)
    for row, column in zip(summary, COLUMNS * 4, strict=True):
        outcomes = [row[reason] for reason in ("published", "sparse region", "not positive", "too uncertain")]
        assert sum(outcomes) == 4 * regions[row["level"]]
        shown = [r for r in table if r["level"] == row["level"] and r[column] is not None]
        assert row["published"] == len(shown)
        assert row["regions_with_a_value"] == len({r["place_id"] for r in shown})
    assert [row["sparse region"] for row in summary] == [0] * 9 + [4] * 3
    assert summary[11]["not positive"] == 1, "no search about safety in the town's second week"
    assert summary[9]["too uncertain"] == 1, "hardly any search in its third"


def test_the_picture_is_an_svg_without_foreign_parts(store: Path) -> None:
    """summary.svg is well-formed SVG that names the levels and loads nothing."""
    text = (dataset_of(store) / "summary.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "postal_code" in text
    assert "<script" not in text
    assert "<image" not in text


# Whole or not at all


@pytest.mark.parametrize("part", ["write_tables", "privacy_page", "save_summary_chart", "record_decisions"])
def test_a_failure_while_writing_leaves_the_old_dataset(
    store: Path, coverage: Coverage, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Whatever fails, the folder holds the older dataset, untouched, and nothing is left beside it."""
    dataset = dataset_of(store)
    before = contents(dataset)
    add_weeks(store, coverage, {}, start=2)

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(MODULE, part, fail)
    with pytest.raises(RuntimeError):
        publish(store, dataset)
    assert contents(dataset) == before
    assert sorted(path.name for path in store.parent.iterdir()) == [
        "dataset",
        "little.csv",
        "store.db",
        "store.db.journal",
    ]


def test_a_full_disk_is_one_line(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written is said, with where, and nothing is left."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MODULE, "save_summary_chart", full)
    code, out, err = run("publish", "--store", store, "--out", store.parent / "dataset")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be written" in err
    assert "No space left on device" in err
    assert not (store.parent / "dataset").exists()


def test_a_release_that_is_not_published_fixes_nothing(store: Path, coverage: Coverage) -> None:
    """A slip in --out does not make two weeks the first release: scale and sparsity are still open."""
    (store.parent / "file").write_text("in the way")
    add_weeks(store, coverage, {}, {}, start=2)
    for out in ("file", "nowhere/dataset"):
        with pytest.raises(InputError):
            publish(store, store.parent / out)
    with open_store(store) as opened:
        assert (opened.scaling(), opened.sparsity()) == (None, None)


@pytest.mark.parametrize(
    ("out", "words"),
    [("file", "is a file; give a folder"), ("nowhere/dataset", "no folder"), (".", "holds file")],
)
def test_a_place_that_is_no_folder_for_a_dataset_is_refused(store: Path, run: Run, out: str, words: str) -> None:
    """A file, a folder in a missing folder, and a folder with other things in it, each in one line with exit 2."""
    (store.parent / "file").write_text("in the way")
    before = contents(store.parent)
    code, printed, err = run("publish", "--store", store, "--out", store.parent / out)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert words in err
    assert contents(store.parent) == before


def test_a_folder_that_holds_the_store_is_refused(store: Path) -> None:
    """The folder is replaced whole; the store, which cannot be made again, must not be in it."""
    home = store.parent / "home"
    home.mkdir()
    shutil.move(store, home / "store.db")
    with pytest.raises(InputError, match=r"holds store\.db, which is no part of this dataset"):
        publish(home / "store.db", home)
    assert sorted(path.name for path in home.iterdir()) == ["store.db", "store.db.journal"]


def test_a_dataset_that_cannot_be_read_is_not_replaced(store: Path) -> None:
    """If nobody can say what was published, nobody can say that it stays the same."""
    dataset = dataset_of(store)
    (dataset / f"{STEM}.csv").write_text("something else\n1\n")
    with pytest.raises(InputError, match="cannot be read as this dataset"):
        publish(store, dataset)
    assert (dataset / f"{STEM}.csv").read_text() == "something else\n1\n"


# Published values do not change


@pytest.fixture
def other_store(store: Path, coverage: Coverage) -> Path:
    """A store of the same release with other noise in one cell of its second week: a changed count of one county."""
    changed = {CITY: NOTHING, TOWN: NO_SAFETY, "geoId/06003": (100_000, 3_100, 2_000, 1_000)}
    return add_weeks(store.parent / "other.db", coverage, {}, changed)


def alter(dataset: Path) -> None:
    """Change two published values, as if an earlier version of the program had derived them otherwise."""
    csv = next(dataset.glob("*.csv"))
    lines = csv.read_text(encoding="utf-8").split("\n")
    lines[1:3] = [",".join([*line.split(",")[:-3], "77.777", *line.split(",")[-2:]]) for line in lines[1:3]]
    csv.write_text("\n".join(lines), encoding="utf-8")


def test_a_publish_that_would_change_a_value_is_refused(store: Path, run: Run) -> None:
    """Exit 1, one line with how many values, and the dataset and the store are as they were."""
    dataset = dataset_of(store)
    alter(dataset)
    before, store_before = contents(dataset), store.read_bytes()
    code, out, err = run("publish", "--store", store, "--out", dataset)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "2 published values would change or disappear" in err
    assert "--correction" in err
    assert contents(dataset) == before
    assert store.read_bytes() == store_before


def test_a_publish_that_would_drop_a_week_is_refused(store: Path, coverage: Coverage) -> None:
    """A store that lacks a published week is not published over it."""
    dataset = dataset_of(store)
    fewer = add_weeks(store.parent / "fewer.db", coverage, {})
    with pytest.raises(CheckFailed, match="29 published values would change or disappear"):
        publish(fewer, dataset)


def test_a_second_noise_for_a_published_week_is_refused(store: Path, other_store: Path) -> None:
    """Two draws for one week promise less than one: not even a correction publishes the second."""
    dataset = dataset_of(store)
    before = contents(dataset)
    for correction in (None, "the store was lost"):
        with pytest.raises(CheckFailed, match="was published with other noise"):
            publish(other_store, dataset, correction=correction)
    assert contents(dataset) == before


def test_a_correction_is_published_with_its_reason(store: Path, run: Run) -> None:
    """The store keeps when, how many and why; the statement says how many and why, in later releases too."""
    dataset = dataset_of(store)
    alter(dataset)
    reason = 'an earlier version rounded <down> "halves"'
    code, _, err = run("publish", "--store", store, "--out", dataset, "--correction", reason)
    assert (code, err) == (0, "")
    expected = [{"changed_values": 2, "reason": reason}]
    assert json_of(dataset, "privacy.json")["corrections"] == expected
    with open_store(store) as opened:
        [record] = opened.corrections()
    assert (record.changed_values, record.reason) == (2, reason)
    publish(store, dataset)
    assert json_of(dataset, "privacy.json")["corrections"] == expected


def test_a_correction_that_changes_nothing_is_none(store: Path) -> None:
    """A reason given in vain is not recorded."""
    dataset = dataset_of(store)
    publish(store, dataset, correction="just in case")
    with open_store(store) as opened:
        assert opened.corrections() == []
    assert json_of(dataset, "privacy.json")["corrections"] == []


def test_a_correction_without_a_reason_is_refused(store: Path, other_store: Path) -> None:
    """An empty reason explains nothing."""
    dataset = dataset_of(store)
    with pytest.raises(InputError, match="`correction`: say"):
        publish(other_store, dataset, correction=" ")


def test_regions_removed_for_sparsity_vanish_without_a_correction(store: Path, coverage: Coverage) -> None:
    """Once the window is complete, a sparse region goes with its old rows; no other row changes."""
    before = text_of(dataset_of(store)).splitlines()
    add_weeks(store, coverage, *[{CITY: NOTHING}] * 2, start=2)
    dataset = dataset_of(store)
    after = text_of(dataset).splitlines()
    gone = [line for line in before if line not in after]
    assert len(gone) == 1
    assert CITY in gone[0]
    statement = json_of(dataset, "privacy.json")
    assert statement["sparsity"] == {"decided": True, "regions_removed": 1}
    assert statement["corrections"] == []


# The command


def test_the_command_tells_what_was_published_and_dropped(store: Path, run: Run) -> None:
    """A line for each level and trend, then the file, its rows and its weeks."""
    dataset = store.parent / "dataset"
    code, out, err = run("publish", "--store", store, "--out", dataset)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert " ".join(lines[0]) == "level trend regions published sparse region not positive too uncertain"
    assert ["postal_code", "safety_side_effects", "2", "2", "0", "2", "0"] in lines
    assert f"{dataset / STEM}.csv: 21 rows, 2 weeks, 2021-01-04 to 2021-01-11" in out


def test_the_packaged_window_is_22_weeks_and_its_limit_3_points(tmp_path: Path, paper: Spec) -> None:
    """January to May 2021: after 21 weeks nothing is decided; after 22 a region with 3 points goes, with 4 stays."""
    coverage = Coverage(paper, little(tmp_path).geography)
    few: Sequence[WeekCounts] = [{}] * 3 + [{CITY: NOTHING}] + [{CITY: NOTHING, TOWN: NOTHING}] * 17
    path = add_weeks(tmp_path / "store.db", coverage, *few)
    dataset = dataset_of(path)
    assert json_of(dataset, "privacy.json")["sparsity"] == {"decided": False, "regions_removed": 0}
    add_weeks(path, coverage, {CITY: NOTHING, TOWN: NOTHING}, start=21)
    dataset_of(path)
    assert json_of(dataset, "privacy.json")["sparsity"] == {"decided": True, "regions_removed": 1}
    shown = [row["place_id"] for row in rows_of(dataset) if row["place_id"].startswith("zip/")]
    assert shown == [TOWN] * 4


def test_random_counts_keep_every_promise_of_the_table(tmp_path: Path, coverage: Coverage) -> None:
    """Whatever the noise did, values are positive, lie in their intervals, and agree between the two files."""
    rng = np.random.default_rng(4)
    regions = [str(row[-1]) for row in LITTLE_REGIONS]

    def draw() -> tuple[int, ...]:
        return int(rng.integers(-50, 9_000)), *map(int, rng.integers(-20, 300, 3))

    states = {"geoId/01": USUAL, "geoId/06": USUAL, "geoId/35": USUAL}
    weeks = [{place: draw() for place in regions} | states for _ in range(6)]
    dataset = dataset_of(add_weeks(tmp_path / "store.db", coverage, *weeks))
    table = parquet_rows(dataset)
    values = [(row[c], row[f"{c}_low"], row[f"{c}_high"]) for row in table for c in COLUMNS if row[c] is not None]
    assert 20 < len(values) < 3 * 6 * 11
    assert all(value > 0 and low <= value <= high for value, low, high in values)
    assert [[row[c] or "" for c in COLUMNS] for row in rows_of(dataset)] == [
        ["" if row[c] is None else f"{row[c]:.3f}" for c in COLUMNS] for row in table
    ]
