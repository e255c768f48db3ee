"""A site is built from published datasets: the whole site or nothing, and no other file is lost."""

import json
import shutil
from pathlib import Path

import pytest

import search_insights
from search_insights.dashboards.site import dashboard
from tests.support.command_line import Run
from tests.support.dashboards import QAZARIA, US, data_folder, digests, read_json


def test_the_command_builds_a_site_and_says_how_to_serve_it(other_data: Path, tmp_path: Path, run: Run) -> None:
    """One line says what was built, the next what to type."""
    code, out, _ = run("dashboard", other_data, "--out", tmp_path / "my site")
    assert code == 0
    assert f"{QAZARIA};" in out
    assert f"search-insights serve '{tmp_path / 'my site'}'" in out


def test_the_python_api_has_the_function() -> None:
    """`search_insights.dashboard` is the function, whatever was imported before."""
    assert search_insights.dashboard is dashboard


def test_the_whole_dataset_can_be_downloaded(us_data: Path, us_site: Path) -> None:
    """The site carries the published files, byte for byte."""
    assert digests(us_site / "dataset" / US) == digests(us_data)


def test_the_data_folder_is_named_after_its_content(other_data: Path, zero_site: Path, other_site: Path) -> None:
    """Another release has other addresses, so that no browser mixes old and new files."""
    names = {data_folder(site, QAZARIA).name for site in (zero_site, other_site)}
    assert len(names) == 2
    assert all(name.startswith(QAZARIA) for name in names)


def test_building_again_replaces_the_site(other_data: Path, tmp_path: Path) -> None:
    """The same dataset gives the same bytes, and nothing remains of the old site."""
    first = digests(dashboard([other_data], tmp_path / "site").folder)
    (tmp_path / "site" / "data" / "old.gz").write_bytes(b"old")
    assert digests(dashboard([other_data], tmp_path / "site").folder) == first
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_that_cannot_be_built_leaves_the_old_one(other_data: Path, tmp_path: Path, run: Run) -> None:
    """A damaged table stops the build before anything is replaced."""
    site = dashboard([other_data], tmp_path / "site").folder
    before = digests(site)
    damaged = shutil.copytree(other_data, tmp_path / "damaged")
    (damaged / f"{QAZARIA}.parquet").write_bytes(b"PAR1 no")
    code, _, err = run("dashboard", damaged, "--out", site)
    assert (code, err.count("\n")) == (2, 1)
    assert digests(site) == before


def test_a_folder_that_is_not_a_dataset_is_refused_in_one_line(tmp_path: Path, run: Run) -> None:
    """Nothing is written, and the line names the folder."""
    (tmp_path / "empty").mkdir()
    code, out, err = run("dashboard", tmp_path / "empty", "--out", tmp_path / "site")
    assert (code, out) == (2, "")
    assert err == f"search-insights: {tmp_path / 'empty'}: not a dataset folder of 'search-insights publish'\n"
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("missing", [f"{QAZARIA}.parquet", f"{QAZARIA}.csv", "privacy.json"])
def test_a_dataset_that_lacks_a_file_is_refused(other_data: Path, tmp_path: Path, run: Run, missing: str) -> None:
    """An incomplete dataset is not shown."""
    half = shutil.copytree(other_data, tmp_path / "half")
    (half / missing).unlink()
    code, _, err = run("dashboard", half, "--out", tmp_path / "site")
    assert (code, err.count("\n")) == (2, 1)


def test_a_folder_with_other_files_is_not_replaced(other_data: Path, tmp_path: Path, run: Run) -> None:
    """A folder that holds anything but a site is refused, including the dataset's own folder."""
    for folder in (tmp_path, shutil.copytree(other_data, tmp_path / "dataset")):
        (folder / "thesis.txt").write_text("mine", encoding="utf-8")
        code, _, err = run("dashboard", other_data, "--out", folder)
        assert (code, "would be lost" in err) == (2, True)
        assert (folder / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_one_dataset_is_not_shown_twice(other_data: Path, tmp_path: Path, run: Run) -> None:
    """Two datasets with the same name would have the same address."""
    code, _, err = run("dashboard", other_data, other_data, "--out", tmp_path / "site")
    assert (code, "only once" in err) == (2, True)


def test_an_older_dataset_without_the_newer_statements_still_works(other_data: Path, tmp_path: Path) -> None:
    """The maximum of the scale and the reliability rule may be missing from datapackage.json."""
    old = shutil.copytree(other_data, tmp_path / "old")
    package = json.loads((old / "datapackage.json").read_text(encoding="utf-8"))
    del package["scaling"], package["reliability"]
    (old / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    dashboard([old], tmp_path / "site")
    index = read_json(data_folder(tmp_path / "site", QAZARIA) / "index.json.gz")
    assert (index["peak"], index["confidence"]) == (None, None)
