"""A reader can see which regions were removed for sparsity, why and since when, and which weeks are lost."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from search_insights.dataset.folder import read_dataset
from search_insights.dataset.publication import publish
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.store.lost import lose
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.datasets import HEADER, contents, dataset_of, json_of, rows_of, text_of
from tests.support.stores import CITY, FIRST, NOTHING, TOWN, add_weeks, released

LAST = FIRST + timedelta(weeks=3)
WEEKS = [str(FIRST + timedelta(weeks=i)) for i in range(4)]


def test_a_region_that_was_published_and_is_removed_is_recorded(store: Path, short_coverage: Coverage) -> None:
    """sparsity.json names it, with the weeks that decided; later releases say the same, wherever they are written."""
    before = dataset_of(store)
    assert {row["place_id"] for row in rows_of(before)} >= {CITY, TOWN}
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    record = json_of(dataset_of(store), "sparsity.json")
    assert (record["removed"], record["removed_after_publication"]) == ([CITY], [CITY])
    assert (record["decided"], record["judged_weeks"], record["missing_weeks"]) == (True, WEEKS, [])
    assert record["decided_by_release_of"] == [WEEKS[0], WEEKS[-1]]
    assert date.fromisoformat(record["decided_on"]) >= date(2026, 1, 1)
    add_weeks(store, short_coverage, {}, start=4)
    for name in ("dataset", "elsewhere"):
        assert json_of(dataset_of(store, name), "sparsity.json") == record


def test_a_region_that_was_never_published_is_only_removed(store: Path, short_coverage: Coverage) -> None:
    """If the first release has the whole window, nobody has seen the region."""
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    record = json_of(dataset_of(store), "sparsity.json")
    assert (record["removed"], record["removed_after_publication"]) == ([CITY], [])


def test_before_the_decision_the_record_says_what_it_waits_for(store: Path) -> None:
    """The rule and the missing weeks are there, and no region is removed."""
    record = json_of(dataset_of(store), "sparsity.json")
    assert (record["rule"]["max_points"], record["rule"]["last_week"]) == (2, str(LAST))
    assert (record["decided"], record["decided_on"], record["removed"]) == (False, None, [])
    assert (record["judged_weeks"], record["missing_weeks"]) == (WEEKS[:2], WEEKS[2:])


def test_a_withdrawn_region_changes_no_other_row_and_not_the_form(store: Path, short_coverage: Coverage) -> None:
    """The CSV has the same columns, and all rows of other regions."""
    before = text_of(dataset_of(store)).splitlines()
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    after = text_of(dataset_of(store)).splitlines()
    assert after[0] == HEADER
    assert {line for line in before if CITY not in line} <= set(after)


def test_lost_weeks_are_published_with_their_reasons(store: Path, short_coverage: Coverage) -> None:
    """privacy.json, datapackage.json and PRIVACY.md list them; markup in a reason is shown as text."""
    lost = lose(store, LAST, "a <b>fire</b> [in](http://x) the archive")
    add_weeks(store, short_coverage, {CITY: NOTHING}, start=2)
    dataset = dataset_of(store)
    expected = [{"week": str(LAST), "declared_on": lost.recorded_at, "reason": lost.reason}]
    assert json_of(dataset, "privacy.json")["lost_weeks"] == expected
    assert json_of(dataset, "datapackage.json")["lost_weeks"] == expected
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    assert "## Weeks that are lost\n" in page
    assert f"- {LAST}: a &lt;b&gt;fire&lt;/b&gt; \\[in\\](http&#58;//x) the archive\n" in page
    record = json_of(dataset, "sparsity.json")
    assert (record["judged_weeks"], record["removed"]) == (WEEKS[:3], [CITY])
    assert record["lost_weeks"] == [{"week": str(LAST), "reason": lost.reason}]


def test_without_lost_weeks_the_page_says_nothing_of_them(store: Path) -> None:
    """A dataset that lacks nothing, or was made by an earlier version, has no such section."""
    dataset = dataset_of(store)
    assert json_of(dataset, "privacy.json")["lost_weeks"] == []
    assert "lost" not in (dataset / "PRIVACY.md").read_text(encoding="utf-8")


def test_a_published_record_must_have_its_form(store: Path) -> None:
    """A folder from elsewhere whose sparsity.json is something else is refused; one without it is an older dataset."""
    dataset = dataset_of(store)
    read_dataset(dataset)
    (dataset / "sparsity.json").write_text('{"decided": true, "removed": [1], "removed_after_publication": []}')
    with pytest.raises(InputError, match=r"sparsity.json: key 'removed\[0\]': expected text, got 1"):
        read_dataset(dataset)
    (dataset / "sparsity.json").unlink()
    read_dataset(dataset)


def test_the_store_records_withdrawn_regions(store: Path, short_coverage: Coverage) -> None:
    """A release that is not published to a folder withdraws nothing; what is recorded does not change."""
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    released(store)
    with open_store(store) as opened:
        record = opened.sparsity()
    assert record is not None
    assert (record.removed, record.withdrawn) == ([CITY], [])


# The note on weeks that sparsity waits for


def test_publish_names_the_weeks_that_the_window_lacks(store: Path, short_coverage: Coverage, run: Run) -> None:
    """A gap keeps sparse regions for ever: one line says which weeks are missing, and what to do about it."""
    add_weeks(store, short_coverage, {}, {}, start=3)
    code, _, err = run("publish", "--store", store, "--out", store.parent / "dataset")
    assert (code, err.count("\n")) == (0, 1)
    assert f"missing: {WEEKS[2]}. Anonymize them, or" in err
    assert f"search-insights store lose --store {store} --week {WEEKS[2]} --reason TEXT" in err
    lose(store, date.fromisoformat(WEEKS[2]), "no log")
    code, _, err = run("publish", "--store", store, "--out", store.parent / "dataset")
    assert (code, err) == (0, "")
    assert json_of(store.parent / "dataset", "sparsity.json")["decided"]


def test_a_series_that_has_not_reached_the_end_of_the_window_is_no_gap(store: Path, run: Run) -> None:
    """Weeks that are still to come need no note."""
    assert "sparse" not in run("publish", "--store", store, "--out", store.parent / "dataset")[2]


def test_weeks_before_the_series_are_a_gap(tmp_path: Path, short_coverage: Coverage, run: Run) -> None:
    """A store that began in the middle of the window will never have the weeks before."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, start=2)
    err = run("publish", "--store", store, "--out", tmp_path / "dataset")[2]
    assert f"missing: {WEEKS[0]} to {WEEKS[1]} (2 weeks), {WEEKS[3]}. Anonymize" in err


def test_a_window_with_too_few_weeks_left_has_a_note(tmp_path: Path, short_coverage: Coverage, run: Run) -> None:
    """Every region would be sparse, so none is removed, and the operator is told."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {}, {}, start=2)
    for week in WEEKS[:2]:
        lose(store, date.fromisoformat(week), "the series began later")
    code, _, err = run("publish", "--store", store, "--out", tmp_path / "dataset")
    assert code == 0
    assert "can be judged only by more than 2" in err


def test_a_lost_week_changes_no_published_value(store: Path) -> None:
    """Declaring a week lost adds to the statements only."""
    before = contents(dataset_of(store))
    lose(store, LAST, "no log")
    publish(store, store.parent / "dataset")
    after = contents(store.parent / "dataset")
    same = {"US_vaccination_search_insights.csv", "US_vaccination_search_insights.parquet", "summary.json"}
    assert {name for name in before if before[name] == after[name]} >= same
