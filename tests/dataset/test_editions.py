"""A dataset of several editions: one series, in which readers see what began, what ended and what differs."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from search_insights.dataset.folder import read_dataset
from search_insights.dataset.loading import load
from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed
from search_insights.routine.due import Held
from search_insights.routine.steps import dataset_is_current
from search_insights.spec.coverage import Coverage
from search_insights.store.ledger import ModelRecord
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.datasets import COLUMNS, dataset_of, json_of, parquet_rows, rows_of, text_of
from tests.support.editions import (
    BREAK,
    CROSSWALK,
    EAST,
    FORMER,
    WEST,
    split,
    split_store,
    stricter,
    week,
    with_topic,
)
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import NOTHING, add_weeks, changed, released, short_window_coverage

TWICE = (100_000, 6_000, 4_000, 2_000)  # twice the usual interest
WITH_TOPIC = (100_000, 3_000, 2_000, 1_000, 2_000)


def regions_of(dataset: Path) -> dict[str, dict[str, str]]:
    """Return the rows of regions.csv by place_id."""
    with (dataset / "regions.csv").open(encoding="utf-8", newline="") as file:
        return {row["place_id"]: row for row in csv.DictReader(file)}


def values_of(dataset: Path, before: str) -> dict[tuple[str, str], list[str]]:
    """Return the values of the paper's trends in the weeks before one."""
    return {(r["date"], r["place_id"]): [r[c] for c in COLUMNS] for r in rows_of(dataset) if r["date"] < before}


def value_of_country(dataset: Path) -> float:
    """Return the country's value of the first trend in the first week of the second edition."""
    [row] = [r for r in rows_of(dataset) if (r["date"], r["place_id"]) == (str(BREAK), "country/USA")]
    return float(row[COLUMNS[0]])


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of three weeks: after the first the model changes, after the second a county is divided."""
    folder = tmp_path_factory.mktemp("divided")
    coverage, store = short_window_coverage(folder), folder / "store.db"
    old, new = ModelRecord("a" * 64, "{}"), ModelRecord("b" * 64, '{"name": "second", "labels": 1200}')
    add_weeks(store, coverage, {}, model=old)
    add_weeks(store, coverage, {}, model=new, start=1)
    changed(store, split(coverage), "El Dorado was divided", BREAK, CROSSWALK)
    add_weeks(store, split(coverage), {}, start=2, model=new)
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        return dataset_of(store)


# Regions


def test_regions_begin_and_end_with_their_editions(tmp_path: Path, short_coverage: Coverage) -> None:
    """A region has rows in the weeks of the editions that have it, and none in the others; no earlier value moves."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = values_of(dataset, str(BREAK))
    changed(store, split(short_coverage), "El Dorado was divided", BREAK, CROSSWALK)
    add_weeks(store, split(short_coverage), {}, start=2, usual=TWICE)
    publish(store, dataset)
    assert values_of(dataset, str(BREAK)) == before
    assert value_of_country(dataset) == 200, "the scale goes on"
    weeks = {place: [r["date"] for r in rows_of(dataset) if r["place_id"] == place] for place in (FORMER, WEST, EAST)}
    assert weeks == {FORMER: [str(week(0)), str(week(1))], WEST: [str(BREAK)], EAST: [str(BREAK)]}
    assert json_of(dataset, "privacy.json")["corrections"] == []


def test_regions_csv_says_from_when_to_when_and_who_followed(divided: Path) -> None:
    """Each region is listed once, with its parent and the weeks in which it is reported; codes keep their zeros."""
    rows = regions_of(divided)
    assert len(rows) == 16
    former, west = rows[FORMER], rows[WEST]
    assert (former["first_week"], former["last_week"]) == (str(week(0)), str(week(1)))
    assert json.loads(former["succeeded_by"]) == [WEST, EAST]
    assert (west["code"], west["first_week"], west["last_week"]) == ("06901", str(BREAK), str(BREAK))
    assert (west["parent"], west["population"], west["land_area_km2"]) == ("geoId/06", "150000", "2000")
    assert (west["size_class"], west["reported"], west["why_not"], west["succeeded_by"]) == ("medium", "true", "", "")
    small = rows["zip/94104"]
    assert (small["reported"], small["why_not"]) == ("false", "its land area is under 3 km2")
    assert (small["first_week"], small["last_week"]) == ("", "")
    assert rows["zip/95667"]["parent"] == WEST, "as in the newest edition"
    assert rows["country/USA"]["parent"] == ""


def test_regions_csv_is_described(divided: Path) -> None:
    """The table is a resource of datapackage.json, with a description of every column."""
    resource = json_of(divided, "datapackage.json")["resources"][2]
    header = (divided / "regions.csv").read_text(encoding="utf-8").split("\n")[0].split(",")
    assert (resource["path"], [f["name"] for f in resource["schema"]["fields"]]) == ("regions.csv", header)
    described = read_dataset(divided)
    assert described.regions is not None
    assert described.csv.path.name != "regions.csv"


def test_a_new_region_is_judged_on_its_own_window(tmp_path: Path, short_coverage: Coverage) -> None:
    """The sparsity window of a new region begins with its edition; regions of before are judged as they were."""
    quiet = {EAST: NOTHING}
    store = split_store(tmp_path / "store.db", short_coverage, *[quiet] * 3)
    first = released(store)
    assert [(j.edition, len(j.window.missing)) for j in first.judgements] == [(1, 0), (2, 1)]
    assert not first.removed.any()
    add_weeks(store, split(short_coverage), quiet, start=5)
    dataset = dataset_of(store)
    sparsity = json_of(dataset, "sparsity.json")
    assert [edition["removed"] for edition in sparsity["editions"]] == [[], [EAST]]
    row = regions_of(dataset)[EAST]
    assert (row["reported"], row["why_not"], row["first_week"]) == ("false", "too few data points", "")
    with open_store(store) as opened:
        assert [(r.change, r.edition, r.removed) for r in opened.sparsities()] == [(1, 1, []), (2, 2, [EAST])]


# Trends


def test_a_trend_that_did_not_exist_is_empty_not_0(tmp_path: Path, short_coverage: Coverage) -> None:
    """A topic of a later edition has a column; in earlier weeks it is empty, and all else is as it was published."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = values_of(dataset, str(BREAK))
    new = with_topic(short_coverage)
    changed(store, new, "boosters are counted", BREAK)
    add_weeks(store, new, {}, start=2, usual=WITH_TOPIC)
    publish(store, dataset)
    assert values_of(dataset, str(BREAK)) == before
    assert text_of(dataset).split("\n")[0].endswith(",sni_boosters")
    assert {row["sni_boosters"] == "" for row in rows_of(dataset) if row["date"] < str(BREAK)} == {True}
    assert all(float(row["sni_boosters"]) > 0 for row in rows_of(dataset) if row["date"] == str(BREAK))
    old = [row for row in parquet_rows(dataset) if row["date"] < BREAK]
    assert {(row["sni_boosters"], row["sni_boosters_low"]) for row in old} == {(None, None)}
    [summary] = [
        row for row in json_of(dataset, "summary.json") if (row["level"], row["trend"]) == ("state", "boosters")
    ]
    assert (summary["published"], summary["not in this edition"]) == (3, 6)
    frame = load(dataset, "state", "boosters", "arrow")
    assert frame.num_rows == 3


def test_a_trend_that_ended_keeps_its_values(tmp_path: Path, short_coverage: Coverage) -> None:
    """A topic that is no longer counted has its old values after the present columns, and none in later weeks."""
    store = add_weeks(tmp_path / "store.db", with_topic(short_coverage), {}, usual=WITH_TOPIC)
    dataset = dataset_of(store)
    before = {(r["date"], r["place_id"]): r["sni_boosters"] for r in rows_of(dataset)}
    changed(store, short_coverage, "boosters are over", week(1))
    add_weeks(store, short_coverage, {}, start=1)
    publish(store, dataset)
    after = {(r["date"], r["place_id"]): r["sni_boosters"] for r in rows_of(dataset)}
    assert {key: value for key, value in after.items() if value} == before
    assert len(after) == 2 * len(before)


# Words and derivation


def test_words_apply_to_all_weeks_and_correct_nothing(tmp_path: Path, short_coverage: Coverage) -> None:
    """Another title, dataset name, column or name of a region is shown in all weeks; no value counts as changed."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = [list(row.values())[-3:] for row in rows_of(dataset)]
    spec = short_coverage.spec
    geography = short_coverage.geography
    trends = (replace(spec.trends[0], column="sni_all", title="All of it"), *spec.trends[1:])
    regions = [r._replace(name="Alpine Co") if r.place_id == "geoId/06003" else r for r in geography.regions]
    words = Coverage(
        replace(spec, title="Renamed", dataset="renamed", trends=trends),
        replace(geography, regions=tuple(regions)),
    )
    changed(store, words, "clearer names")
    with open_store(store) as opened:
        held = Held(tuple(opened.entries()), changes=frozenset({2}))
    assert not dataset_is_current(dataset, held), "so a run publishes it"
    publish(store, dataset)
    assert dataset_is_current(dataset, held)
    assert [path.name for path in dataset.glob("*.parquet")] == ["US_renamed.parquet"]
    assert [list(row.values())[-3:] for row in rows_of(dataset)] == before
    assert {r["sub_region_2"] for r in rows_of(dataset) if r["place_id"] == "geoId/06003"} == {"Alpine Co"}
    package = json_of(dataset, "datapackage.json")
    assert (package["title"], package["breaks"]) == ("Renamed", [])
    [note] = package["changes"]
    assert (note["kind"], note["reason"]) == ("words", "clearer names")
    assert note["differs"] == ["names or descriptions differ"]
    assert json_of(dataset, "privacy.json")["corrections"] == []


def test_a_change_of_derivation_is_a_correction_with_its_own_reason(
    tmp_path: Path, short_coverage: Coverage, run: Run
) -> None:
    """All weeks are derived again; publish needs no option, and the number of values that moved is published, once."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = rows_of(dataset)
    changed(store, stricter(short_coverage, 0.02), "values were too uncertain")
    code, out, err = run("publish", "--store", store, "--out", dataset, "--dry-run")
    assert (code, err) == (0, "")
    assert re.search(r"values corrected: \d+, because: values were too uncertain", out)
    publish(store, dataset)
    after = rows_of(dataset)
    gone = sum(bool(r[c]) for r in before for c in COLUMNS) - sum(bool(r[c]) for r in after for c in COLUMNS)
    assert gone > 0
    expected = [{"changed_values": gone, "reason": "values were too uncertain"}]
    assert json_of(dataset, "privacy.json")["corrections"] == expected
    publish(store, dataset)
    assert json_of(dataset, "privacy.json")["corrections"] == expected
    changed(store, short_coverage, "they were not")
    publish(store, dataset)
    assert rows_of(dataset) == before
    assert json_of(dataset, "privacy.json")["corrections"][1:] == [{"changed_values": gone, "reason": "they were not"}]


def test_values_that_move_for_no_recorded_reason_are_refused_after_a_change_too(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """The reason of a change serves once: what moves after it was published needs a correction of its own."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    changed(store, stricter(short_coverage), "stricter")
    dataset = dataset_of(store)
    [csv_file] = dataset.glob("US_*.csv")
    lines = csv_file.read_text(encoding="utf-8").split("\n")
    lines[1] = ",".join([*lines[1].split(",")[:-1], "77.777"])
    csv_file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CheckFailed, match="1 published values would change"):
        publish(store, dataset)


def test_an_edition_without_weeks_is_not_announced(tmp_path: Path, short_coverage: Coverage) -> None:
    """It may still be withdrawn, so the dataset stays as it was."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = text_of(dataset), json_of(dataset, "datapackage.json"), json_of(dataset, "privacy.json")
    changed(store, split(short_coverage), "El Dorado will be divided", BREAK, CROSSWALK)
    publish(store, dataset)
    assert (text_of(dataset), json_of(dataset, "datapackage.json"), json_of(dataset, "privacy.json")) == before
    assert EAST not in regions_of(dataset)


# Scale


def test_a_change_may_begin_a_new_scale(tmp_path: Path, short_coverage: Coverage) -> None:
    """Later weeks then have their own peak of 100, and earlier values stay; readers are told."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    dataset = dataset_of(store)
    before = values_of(dataset, str(BREAK))
    changed(store, split(short_coverage), "El Dorado was divided", BREAK, CROSSWALK, new_scale=True)
    add_weeks(store, split(short_coverage), {}, start=2, usual=TWICE)
    publish(store, dataset)
    assert values_of(dataset, str(BREAK)) == before
    assert value_of_country(dataset) == 100
    [found] = json_of(dataset, "datapackage.json")["breaks"]
    assert found["differs"][-1] == "a new scale begins: values before and after cannot be compared"
    first, second = json_of(dataset, "privacy.json")["scaling"]["scales"]
    assert first["factors"]["all"] == pytest.approx(2 * second["factors"]["all"])
    with open_store(store) as opened:
        assert [record.change for record in opened.scalings()] == [1, 2]


# What readers are told


def test_breaks_say_from_which_week_on_what_differs_and_why(divided: Path) -> None:
    """An edition and a changed model are breaks of the series, each with its week, reason and what differs."""
    model, edition = json_of(divided, "datapackage.json")["breaks"]
    assert (model["week"], model["kind"], model["model_before"]) == (str(week(1)), "model", "a" * 64)
    assert model["differs"] == [
        "before: model, fingerprint aaaaaaaaaaaa",
        "now: model second, fingerprint bbbbbbbbbbbb, trained on 1,200 labels",
    ]
    assert (edition["week"], edition["kind"], edition["edition"]) == (str(BREAK), "edition", 2)
    assert edition["reason"] == "El Dorado was divided"
    assert edition["differs"][:2] == ["1 region ends: El Dorado", "2 regions begin: El Dorado West, El Dorado East"]


def test_the_statement_has_the_promise_of_each_edition_and_of_the_whole(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """A user-day is in one edition, so the whole has the largest epsilon and delta of them; both are shown."""
    weaker = Coverage(
        replace(
            short_coverage.spec,
            promise=replace(short_coverage.spec.promise, epsilon=3.0, delta=1e-6),
            sigmas=tuple(replace(s, value=s.value * 1.1) for s in short_coverage.spec.sigmas),
        ),
        short_coverage.geography,
    )
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {})
    changed(store, weaker, "a smaller delta", BREAK)
    dataset = dataset_of(add_weeks(store, weaker, {}, start=2))
    statement = json_of(dataset, "privacy.json")
    assert [(e["edition"], e["epsilon"], e["delta"], e["weeks"]) for e in statement["editions"]] == [
        (1, 2.19, 1e-5, 2),
        (2, 3.0, 1e-6, 1),
    ]
    loss = statement["privacy_loss"]
    assert (loss["epsilon"], loss["delta"], loss["holds"]) == (3.0, 1e-5, True)
    assert [case["name"] for case in loss["cases"]][::4] == ["edition 1, small", "edition 2, small"]
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    assert "## Editions" in page
    assert f"| 2 | {BREAK} to {BREAK} (1) | 3 | 1e-06 | holds | a smaller delta |" in page
    assert "protects what each user searched on each day with (3, 1e-05)" in page
