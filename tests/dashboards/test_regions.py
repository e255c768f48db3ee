"""The regions of a dashboard come from a known geography, from the dataset's table of regions, or from its rows."""

import json
import shutil
from pathlib import Path

import pytest

from search_insights.dashboards.regions import find_places
from search_insights.dashboards.site import dashboard, packaged_specs
from search_insights.dataset.folder import read_dataset
from search_insights.errors import InputError
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from tests.support.command_line import Run
from tests.support.dashboards import QAZARIA, data_folder, read_json
from tests.support.datasets import json_of
from tests.support.other_country import other_geography, other_spec_file

# A commune that has no value in any week, and is known only from the rows of its parishes.
MADE_UP = 'region/Qazaria/North, "Upper" Province/नमस्ते नगर/a\\b'


def test_without_a_geography_the_regions_come_from_the_table_of_regions(other_site: Path) -> None:
    """All regions of an unknown country are known, also those without a value, and why some are not reported."""
    data = data_folder(other_site, QAZARIA)
    index, columns = read_json(data / "index.json.gz"), read_json(data / "regions.json.gz")
    geography = load_geography(other_geography(other_site.parent))
    assert columns["id"] == [region.place_id for region in geography.regions]
    why = {i: index["reasons"][w - 1] for i, w in zip(columns["id"], columns["why"], strict=True) if w}
    assert why["qz/s/p07"] == {"say": "why_area", "area": {"number": 0.5}}
    assert "qz/m/0112" not in why, "it is reported, but has no value"
    assert (index["hasMap"], index["knowsUnreported"], index["lives"]) == (False, True, [])


@pytest.mark.parametrize("name", PACKAGED_SPECS)
def test_the_regions_that_a_packaged_spec_never_reports_are_known(us_data: Path, tmp_path: Path, name: str) -> None:
    """A dataset names its spec by the fingerprint; of a packaged one it is known why a region is not reported."""
    dataset = shutil.copytree(us_data, tmp_path / name)
    package = json_of(dataset, "datapackage.json")
    package["spec"]["fingerprint"] = load_spec(name).fingerprint
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    places = find_places(read_dataset(dataset), (), packaged_specs())
    assert places.not_reported


def test_without_either_the_regions_come_from_the_rows(other_data: Path, tmp_path: Path) -> None:
    """Levels, names and parents of an unknown country come from the columns of a dataset of an earlier version."""
    dataset = shutil.copytree(other_data, tmp_path / "earlier")
    package = json_of(dataset, "datapackage.json")
    package["resources"] = package["resources"][:2]
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    (dataset / "regions.csv").unlink()
    other_site = dashboard([dataset], tmp_path / "site").folder
    data = data_folder(other_site, QAZARIA)
    index, columns = read_json(data / "index.json.gz"), read_json(data / "regions.json.gz")
    assert [level["label"] for level in index["levels"]] == ["nation", "province", "canton", "commune", "parish"]
    assert (index["hasMap"], index["knowsUnreported"]) == (False, False)
    parents = {i: columns["id"][p] if p >= 0 else None for i, p in zip(columns["id"], columns["parent"], strict=True)}
    geography = load_geography(other_geography(other_site.parent))
    true = {place: region.parent for place, region in geography.by_place_id.items() if place in parents}
    assert parents == true | {"qz/s/p03": MADE_UP, "qz/s/p04": MADE_UP, MADE_UP: "qz/c/011"}
    names = dict(zip(columns["id"], columns["name"], strict=True))
    assert names["qz/p/02"] == "<b>Midland</b>"
    assert names[MADE_UP] == "a\\b"


def test_a_given_geography_and_spec_add_the_regions_without_any_value(
    other_data: Path, tmp_path: Path, run: Run
) -> None:
    """With them the page knows every region, and why a region is not reported."""
    options = ("--geography", other_geography(tmp_path), "--spec", other_spec_file(tmp_path))
    code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", *options)
    assert (code, err) == (0, "")
    data = data_folder(tmp_path / "site", QAZARIA)
    index, columns = read_json(data / "index.json.gz"), read_json(data / "regions.json.gz")
    why = {i: index["reasons"][w - 1] for i, w in zip(columns["id"], columns["why"], strict=True) if w}
    assert why["qz/s/p07"] == {"say": "why_area", "area": {"number": 0.5}}
    assert why["qz/s/p05"]["people"] == 10_000
    assert "qz/m/0112" in columns["id"]
    assert "qz/m/0112" not in why


def test_a_geography_that_does_not_fit_is_refused(other_data: Path, tmp_path: Path) -> None:
    """A geography that lacks a region of the dataset is not the one it was made with."""
    rows = other_geography(tmp_path).read_text(encoding="utf-8").splitlines()
    (tmp_path / "part.csv").write_text("\n".join(row for row in rows if "/s/" not in row), encoding="utf-8")
    with pytest.raises(InputError, match="has no region 'qz/s/031'"):
        dashboard([other_data], tmp_path / "site", geographies=[load_geography(tmp_path / "part.csv")])
