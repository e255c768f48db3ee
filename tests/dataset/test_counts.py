"""`publish` with counts: every noisy count with its sigma, for readers who want sums; off unless asked for."""

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from search_insights.analysis.sums import aggregate
from search_insights.dashboards.downloads import write_downloads
from search_insights.dataset.folder import read_dataset
from search_insights.dataset.loading import load
from search_insights.dataset.publication import publish
from search_insights.support.arrays import Counts
from tests.support.command_line import Run
from tests.support.datasets import STEM
from tests.support.many_counties import Truth, many_counties, publish_counties
from tests.support.quick_accounting import patch_accounting

NAME = f"{STEM}_counts.parquet"


class Published:
    """A dataset with counts, and the noisy counts of its store."""

    def __init__(self, folder: Path) -> None:
        self.cells = many_counties(folder, [20_000, 300_000, 900_000], "vaccination-v2")
        truth = Truth(np.array([4e3, 6e4, 2e5]), 0.02 * np.ones((2, 3)))
        self.noisy: Counts = truth.noisy(self.cells, np.random.default_rng(1))
        self.dataset = publish_counties(folder, self.cells, self.noisy, counts=True)
        self.store = folder / "store.db"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Two weeks of a country of three counties, with rests; its counts are published."""
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return Published(tmp_path_factory.mktemp("counts"))


def counts_of(dataset: Path) -> dict[str, Any]:
    """Return the columns of the table."""
    with duckdb.connect() as connection:
        found: dict[str, Any] = connection.execute(f"SELECT * FROM '{dataset / NAME}'").fetchnumpy()
    return found


def package_of(dataset: Path) -> Any:
    return json.loads((dataset / "datapackage.json").read_text(encoding="utf-8"))


def test_every_noisy_count_is_in_the_table(published: Published) -> None:
    """Each cell of each week, rests too, with the count of the store, its sigma and its edition."""
    found = counts_of(published.dataset)
    assert (found["noisy"] == published.noisy.ravel()).all()
    assert (found["sigma"] == np.tile(published.cells.sigmas, 2)).all()
    names = [(cell.region.place_id, cell.category) for cell in published.cells.cells] * 2
    assert list(zip(found["place_id"], found["measure"], strict=True)) == names
    assert set(found["place_id"][found["rest"]]) == {"geoId/06#rest"}
    assert set(found["edition"]) == {1}


def test_children_and_rest_add_up_to_their_parent(published: Published) -> None:
    """In the mean: the difference of the sums is noise of the sigmas that the table states."""
    found = counts_of(published.dataset)
    chosen = (found["measure"] == "A0") & (found["date"] == found["date"][0])
    sign = np.where(found["level"] == "state", 1, -1)
    difference = (sign * found["noisy"])[chosen].sum()
    assert abs(difference) < 6 * np.sqrt((found["sigma"][chosen] ** 2).sum())


def test_the_description_tells_how_values_are_made_of_counts(published: Published) -> None:
    """Weights, divisor and factor of each trend; with them a published value of an unreconciled count can be remade."""
    resource = package_of(published.dataset)["resources"][-1]
    assert resource["path"] == NAME
    assert [field["name"] for field in resource["schema"]["fields"]] == list(counts_of(published.dataset))
    intent = next(made for made in resource["counts"] if made["trend"] == "vaccination_intent")
    assert (intent["weights"], intent["divided_by"]) == ({"Q1": 0.5, "U": 0.5}, "A0")
    assert (intent["first_week"], intent["last_week"]) == ("2021-03-01", "2021-03-08")
    assert intent["factor"] > 0


def test_there_is_no_table_unless_it_is_asked_for(published: Published, tmp_path: Path, run: Run) -> None:
    """A new folder has none; one that has it keeps it until it is asked for no longer. Values are the same."""
    out = tmp_path / "other"
    command = ("publish", "--store", str(published.store), "--out", str(out))
    publish(published.store, out)
    assert not (out / NAME).exists()
    assert not any("counts" in resource for resource in package_of(out)["resources"])
    assert "## The noisy counts" not in (out / "PRIVACY.md").read_text(encoding="utf-8")
    assert "every noisy count with its sigma: published too" in run(*command, "--counts", "--dry-run")[1]
    code, told, _ = run(*command, "--counts")
    assert (code, f"{out / NAME}: every noisy count with its sigma" in told) == (0, True)
    for asked, has in ((None, True), (False, False)):
        publish(published.store, out, counts=asked)
        assert (out / NAME).exists() == has
    assert (out / f"{STEM}.csv").read_bytes() == (published.dataset / f"{STEM}.csv").read_bytes()
    assert json.loads((out / "privacy.json").read_text(encoding="utf-8"))["corrections"] == []


def test_the_privacy_page_says_that_counts_cost_no_privacy(published: Published) -> None:
    """Only where they are published."""
    page = (published.dataset / "PRIVACY.md").read_text(encoding="utf-8")
    assert "## The noisy counts" in page
    assert "This costs no\nprivacy" in page


def test_a_site_does_not_offer_the_counts(published: Published, tmp_path: Path) -> None:
    """Neither the table nor its description, and nothing else differs."""
    dataset = read_dataset(published.dataset)
    assert dataset.counts is not None
    offered = {path.name for path in write_downloads(dataset, tmp_path / "site")}
    assert offered == {path.name for path in published.dataset.iterdir()} - {NAME}
    package = package_of(published.dataset)
    assert package_of(tmp_path / "site") == package | {"resources": package["resources"][:-1]}


def test_signed_measures_and_rests_add_up(published: Published) -> None:
    """All counties and the rest of the state together have about the value of the state, which is reconciled."""
    places = [node.place_id for node in published.cells.nodes if node.level == "county"]
    whole = aggregate(published.dataset, places, "vaccination_intent", "2021-03")
    state = load(published.dataset, "state", "vaccination_intent", "columns")["value"].mean()
    assert whole.regions == 4
    assert whole.value == pytest.approx(state, rel=0.1)
