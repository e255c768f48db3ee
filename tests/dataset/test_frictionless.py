"""The published folder is a valid data package: the rules that `frictionless validate` checks, and those it tripped on.

The real program is too heavy for every run; docs/analysis.md has its command.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from search_insights.dataset.publication import publish
from search_insights.spec.coverage import Coverage
from tests.support.publisher import OFFICE
from tests.support.quick_accounting import patch_accounting
from tests.support.top_searches import add_texts, little_lists

NAME = re.compile(r"[-a-z0-9._/]+")  # of a package and of a resource
LICENSE = re.compile(r"[-a-zA-Z0-9._]+")
IN_PARQUET = {
    "date": {"DATE"}, "string": {"VARCHAR"}, "number": {"DOUBLE"}, "integer": {"BIGINT", "INTEGER"},
    "boolean": {"BOOLEAN"}, "any": {"VARCHAR[]"},
}  # fmt: skip
IN_CSV: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat, "string": str, "number": float, "integer": int, "array": json.loads,
    "boolean": {"true": True, "false": False}.__getitem__,
}  # fmt: skip


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with every table there is, and a publisher."""
    folder = tmp_path_factory.mktemp("package")
    coverage = little_lists(folder)
    named = Coverage(replace(coverage.spec, publisher=OFFICE), coverage.geography)
    texts = {"covid vaccine near me": (900, 300, 540, 4), "vaccines near me covid": (90, 0, 90, 0)}
    store = add_texts(folder / "store.db", named, texts, texts)
    blocklist = folder / "blocklist.txt"
    blocklist.write_text("nobody\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        publish(store, folder / "dataset", counts=True, blocklist=blocklist)
    return folder / "dataset"


@pytest.fixture(scope="module")
def package(published: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((published / "datapackage.json").read_text(encoding="utf-8"))
    return found


def test_the_package_says_who_published_what_under_which_licence(package: dict[str, Any]) -> None:
    """Version, licence, contributors and homepage are in the keys where catalogues look for them."""
    assert package["version"] == "1.2.0"  # the edition, its weeks, and what was recorded since
    assert package["homepage"] == OFFICE.address
    [licence] = package["licenses"]
    assert licence == {"name": "CC-BY-4.0", "path": "https://creativecommons.org/licenses/by/4.0/"}
    assert LICENSE.fullmatch(licence["name"])
    assert package["contributors"] == [{"title": OFFICE.name, "role": "publisher", "email": OFFICE.contact}]
    topics = {topic["id"]: topic for topic in package["classification"]["topics"]}
    assert all(topic["definition"] and topic["examples"] for topic in topics.values())
    about = {f["trend"]: f["topics"] for f in package["resources"][0]["schema"]["fields"] if "trend" in f}
    assert about["vaccination_intent"] == ["A1"]
    assert about["covid19_vaccination"] == ["A1", "A2", "A3"]


def test_names_and_keys_are_those_of_the_standard(package: dict[str, Any], published: Path) -> None:
    """Names are plain and each is there once; the size of a Parquet file is not in `bytes`; every file exists."""
    names = [resource["name"] for resource in package["resources"]]
    assert len(set(names)) == len(names) == 6
    assert all(NAME.fullmatch(name) for name in (package["name"], *names))
    for resource in package["resources"]:
        assert (published / resource["path"]).is_file()
        assert ("bytes" in resource) == (resource["format"] == "csv")
        names_of_fields = [field["name"] for field in resource["schema"]["fields"]]
        assert set(resource["schema"]["primaryKey"]) <= set(names_of_fields)
        for key in resource["schema"].get("foreignKeys", []):
            assert key["reference"]["resource"] in ("", *names)


def test_every_parquet_column_has_the_type_that_it_states(package: dict[str, Any], published: Path) -> None:
    """A list is of type `any`: the standard has no type for lists that are not text."""
    for resource in package["resources"]:
        if resource["format"] == "parquet":
            with duckdb.connect() as connection:
                found = connection.execute(f"DESCRIBE SELECT * FROM '{published / resource['path']}'").fetchall()
            assert [row[0] for row in found] == [field["name"] for field in resource["schema"]["fields"]]
            for (name, kind, *_), field in zip(found, resource["schema"]["fields"], strict=True):
                assert kind in IN_PARQUET[field["type"]], name


def test_every_csv_cell_has_the_type_that_it_states(package: dict[str, Any], published: Path) -> None:
    """And primary keys are unique, and the regions that a row or a region names are in the table of regions."""
    tables = {}
    for resource in (resource for resource in package["resources"] if resource["format"] == "csv"):
        text = (published / resource["path"]).read_text(encoding="utf-8")
        rows = tables[resource["name"]] = list(csv.DictReader(text.splitlines()))
        for field in resource["schema"]["fields"]:
            for row in rows:
                if row[field["name"]]:
                    IN_CSV[field["type"]](row[field["name"]])
        keys = [tuple(row[name] for name in resource["schema"]["primaryKey"]) for row in rows]
        assert len(set(keys)) == len(keys) > 0
    places = {row["place_id"] for row in tables["regions-csv"]}
    assert {row["parent"] for row in tables["regions-csv"]} <= places | {""}
    assert {row["place_id"] for row in tables["us-vaccination-search-insights-csv"]} <= places
    assert any(row["population"] for row in tables["regions-csv"])


def test_codes_keep_their_zeros_if_pandas_is_told_the_types(package: dict[str, Any], published: Path) -> None:
    """As docs/analysis.md says: the types of the columns are in datapackage.json."""
    codes = {}
    for table in package["resources"]:
        if table["format"] == "csv":
            text = {f["name"]: "string" for f in table["schema"]["fields"] if f["type"] == "string"}
            frame = pandas.read_csv(published / table["path"], dtype=text, keep_default_na=False, na_values=[""])
            codes[table["path"]] = {
                code for name in text if name.endswith("code") for code in frame[name].dropna().unique()
            }
    assert "06075" in codes["regions.csv"]
    assert "06075" in codes["US_vaccination_search_insights.csv"]
