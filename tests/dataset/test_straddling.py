"""A dataset says how much of a region's count comes from elsewhere, where the geography knows it."""

from pathlib import Path

import pytest

from search_insights.dashboards.downloads import write_downloads
from search_insights.dataset.folder import read_dataset
from search_insights.dataset.preview import preview
from search_insights.dataset.publication import publish
from search_insights.errors import GeographyError, InputError
from tests.support.datasets import contents, dataset_of, json_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A quarter of 94103 is in El Dorado County; so is all of its count that is not San Francisco's."""
    path = tmp_path / "straddling.csv"
    path.write_text("place_id,also_in,share\nzip/94103,geoId/06017,0.25\n", encoding="utf-8")
    return path


def test_the_dataset_says_what_is_counted_elsewhere(store: Path, table: Path, tmp_path: Path) -> None:
    """`datapackage.json` points to `straddling.json`, which has both shares of every region that is affected."""
    out = tmp_path / "dataset"
    publish(store, out, straddling=table)
    summary = json_of(out, "datapackage.json")["straddling"]
    assert (summary["path"], summary["level"], summary["regions"]) == ("straddling.json", "postal_code", 1)
    shares = json_of(out, "straddling.json")["regions"]
    assert set(shares) == {"geoId/06075", "geoId/06017"}
    assert shares["geoId/06075"]["from_elsewhere"] > 0
    assert shares["geoId/06075"]["counted_elsewhere"] == 0
    assert shares["geoId/06017"]["from_elsewhere"] == 0
    assert shares["geoId/06017"]["counted_elsewhere"] > 0


def test_the_tables_do_not_depend_on_it(store: Path, table: Path, tmp_path: Path) -> None:
    """Only the description differs; without a straddling table, nothing is said about it."""
    publish(store, tmp_path / "with", straddling=table)
    with_table, without = contents(tmp_path / "with"), contents(dataset_of(store, "without"))
    assert set(with_table) - set(without) == {"straddling.json"}
    assert {name for name in without if with_table[name] != without[name]} == {"datapackage.json"}


def test_a_dataset_with_it_is_read_replaced_and_offered(store: Path, table: Path, tmp_path: Path) -> None:
    """The file is one of the dataset: it does not stop the next publication, and a dashboard offers it."""
    out = tmp_path / "dataset"
    publish(store, out, straddling=table)
    offered = write_downloads(read_dataset(out), tmp_path / "downloads")
    assert (tmp_path / "downloads" / "straddling.json") in offered
    publish(store, out)
    assert not (out / "straddling.json").exists()


def test_a_straddling_file_of_another_form_is_refused(store: Path, table: Path, tmp_path: Path) -> None:
    """A folder may come from anyone."""
    out = tmp_path / "dataset"
    publish(store, out, straddling=table)
    (out / "straddling.json").write_text('{"level": "x", "applies_if": "y", "regions": []}', encoding="utf-8")
    with pytest.raises(InputError, match="key 'regions': expected an object"):
        read_dataset(out)


def test_a_bad_table_stops_a_publication_before_anything_is_written(store: Path, table: Path, tmp_path: Path) -> None:
    """So does it a dry run, in the same words."""
    table.write_text("place_id,also_in,share\nzip/94103,geoId/06075,0.25\n", encoding="utf-8")
    for job in (publish, preview):
        with pytest.raises(GeographyError, match="row 1: 'zip/94103' cannot also be in 'geoId/06075'"):
            job(store, tmp_path / "dataset", straddling=table)
    assert not (tmp_path / "dataset").exists()
