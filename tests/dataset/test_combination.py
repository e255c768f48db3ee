"""Several countries in one folder: their datasets as they are, a table like the original's, and an honest scale."""

import csv
import json
from pathlib import Path

import pytest

from search_insights.dataset.combination import combine
from search_insights.dataset.folder import read_dataset
from search_insights.dataset.several import dataset_folders, factor_of, read_combined, share_scale
from search_insights.errors import InputError
from search_insights.spec.spec_file import load_spec
from tests.support.command_line import Run, assert_one_line
from tests.support.countries import country_dataset
from tests.support.dashboards import digests
from tests.support.quick_accounting import patch_accounting

LOW, HIGH = (100_000, 2_000, 1_000), (100_000, 4_000, 1_000)
# The header of the original's Global_l0 file up to the values.
HEADER = (
    "date,country_region,country_region_code,sub_region_1,sub_region_1_code,sub_region_2,sub_region_2_code,"
    "sub_region_3,sub_region_3_code,place_id"
)


@pytest.fixture(scope="module")
def countries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Ireland; Malta on Ireland's scale; Liechtenstein, and Ireland again, on scales of their own."""
    home = tmp_path_factory.mktemp("countries")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        ireland = country_dataset(home, "IE", LOW, HIGH)
        factor = factor_of(read_dataset(ireland))
        malta = country_dataset(home, "MT", LOW, factor=factor, set_by="IE_search_trends")
        (home / "again").mkdir()
        again = country_dataset(home / "again", "IE", LOW)
        return {"IE": ireland, "MT": malta, "LI": country_dataset(home, "LI", LOW), "again": again}


def test_the_table_of_countries_has_the_originals_form(countries: dict[str, Path], tmp_path: Path) -> None:
    """One row for each country and week, in the given order, with the datasets' own texts of values."""
    combined = combine([countries["MT"], countries["IE"]], tmp_path / "world")
    text = combined.csv.read_bytes().decode()
    assert (combined.csv.name, combined.rows, combined.countries) == (
        "Global_l0_search_trends.csv",
        3,
        ("Malta", "Ireland"),
    )
    assert (text.partition("\n")[0], "\r" in text) == (f"{HEADER},sni_pollen,sni_heat", False)
    rows = text.splitlines()[1:]
    own = [
        row
        for code in ("MT", "IE")
        for row in (countries[code] / f"{code}_search_trends.csv").read_text(encoding="utf-8").splitlines()
        if f",iso/{code}," in row
    ]
    assert rows == own
    assert rows[0].startswith("2021-01-04,Malta,MT,,,,,,,iso/MT,50.000,")


def test_datasets_stay_as_they_are(countries: dict[str, Path], tmp_path: Path) -> None:
    """Byte for byte, with their own statements; so the folder can stand in for them."""
    folder = tmp_path / "world"
    combine([countries["IE"], countries["MT"]], folder)
    inner = list(dataset_folders([folder]))
    assert [path.name for path in inner] == ["IE_search_trends", "MT_search_trends"]
    for copy, code in zip(inner, ("IE", "MT"), strict=True):
        assert digests(copy) == digests(countries[code])
    page = (folder / "PRIVACY.md").read_text(encoding="utf-8")
    assert "IE_search_trends/PRIVACY.md" in page
    assert "their epsilons and deltas add up" in " ".join(page.split())
    again = digests(folder)
    combine([countries["IE"], countries["MT"]], folder)
    assert digests(folder) == again


@pytest.mark.parametrize(("second", "one"), [("MT", True), ("LI", False)])
def test_the_description_says_whether_countries_can_be_compared(
    countries: dict[str, Path], tmp_path: Path, second: str, one: bool
) -> None:
    """One factor for all, or each its own: found from the published factors, not from what anyone says."""
    datasets = [countries["IE"], countries[second]]
    assert combine(datasets, tmp_path / "world").one_scale is one
    package = json.loads((tmp_path / "world" / "datapackage.json").read_text(encoding="utf-8"))
    assert package["scaling"]["one_for_all"] is one
    assert ("can be compared with each other" in package["description"]) is one
    assert ("cannot be compared" in package["description"]) is not one
    assert share_scale([read_dataset(path) for path in datasets]) is one
    assert [entry["privacy_loss"]["epsilon"] for entry in package["datasets"]] == [2.19, 2.19]
    assert [source["title"].split(",")[0] for source in package["sources"]] == ["Natural Earth"]


def test_a_country_on_anothers_scale_says_whose_it_is(countries: dict[str, Path]) -> None:
    """A reader of the single dataset sees it in the description, and a program in the rule."""
    package = json.loads((countries["MT"] / "datapackage.json").read_text(encoding="utf-8"))
    assert package["scaling"]["set_by"] == "IE_search_trends"
    assert (
        "on the scale of IE_search_trends, whose highest weekly value of trend pollen is 100" in package["description"]
    )


def test_what_does_not_belong_together_is_refused(countries: dict[str, Path], tmp_path: Path, run: Run) -> None:
    """One country alone, one twice, or a folder with other files in it: one line, and nothing is written."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine", encoding="utf-8")
    for folders, out, says in (
        (["IE"], "world", "at least two countries"),
        (["IE", "again"], "world", "another dataset has the same country"),
        (["IE", "MT"], "full", "would be lost"),
    ):
        code, _, err = run("combine", *(countries[name] for name in folders), "--out", tmp_path / out)
        assert (code, says in err) == (2, True), err
        assert_one_line(err)
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "notes.txt"]


def test_a_damaged_description_is_refused(countries: dict[str, Path], tmp_path: Path) -> None:
    """A folder may come from anyone: it names only folders inside itself."""
    combine([countries["IE"], countries["MT"]], tmp_path / "world")
    path = tmp_path / "world" / "datapackage.json"
    package = json.loads(path.read_text(encoding="utf-8"))
    package["datasets"][0]["path"] = "../elsewhere"
    path.write_text(json.dumps(package), encoding="utf-8")
    with pytest.raises(InputError, match="expected a folder in it"):
        list(dataset_folders([tmp_path / "world"]))
    path.write_text(json.dumps(package | {"datasets": 5}), encoding="utf-8")
    with pytest.raises(InputError, match="datasets"):
        list(dataset_folders([tmp_path / "world"]))
    assert read_combined(countries["IE"]) is None


def test_the_command_says_what_was_combined(countries: dict[str, Path], tmp_path: Path, run: Run) -> None:
    """Rows, countries, whether they can be compared, and what to do next."""
    code, out, err = run("combine", countries["IE"], countries["LI"], "--out", tmp_path / "world")
    assert (code, "3 rows, Ireland, Liechtenstein" in out, "has its own scale" in err) == (0, True, True)
    with (tmp_path / "world" / "Global_l0_search_trends.csv").open(encoding="utf-8") as file:
        assert [row["country_region_code"] for row in csv.DictReader(file)] == ["IE", "IE", "LI"]


def test_a_new_release_begins_on_the_scale_of_another(countries: dict[str, Path], tmp_path: Path, run: Run) -> None:
    """`init --scale-of` writes whose factor it is; without the topic that sets that scale it is refused."""
    words = ("init", "--country", "LI", "--time-zone", "UTC", "--scale-of", countries["MT"], "--out", tmp_path / "new")
    code, _, err = run(*words, "--topic", "heat")
    assert (code, "its scale is set by 'pollen'; give this --topic, too" in err) == (2, True)
    assert run(*words, "--topic", "heat", "--topic", "pollen")[0] == 0
    scaling = load_spec(tmp_path / "new" / "spec.toml").scaling
    assert (scaling.trend, scaling.factor) == ("pollen", factor_of(read_dataset(countries["IE"])))
    assert scaling.set_by == "IE_search_trends", "the release that set it, not the one that it was read from"
