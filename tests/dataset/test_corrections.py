"""Published values do not change, except by a correction with a reason or when a sparse region is removed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed, InputError
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.datasets import contents, dataset_of, json_of, text_of
from tests.support.stores import CITY, NO_SAFETY, NOTHING, TOWN, add_weeks


@pytest.fixture
def other_store(store: Path, short_coverage: Coverage) -> Path:
    """A store of the same release with different noise in one cell of the second week."""
    changed = {CITY: NOTHING, TOWN: NO_SAFETY, "geoId/06003": (100_000, 3_100, 2_000, 1_000)}
    return add_weeks(store.parent / "other.db", short_coverage, {}, changed)


def alter(dataset: Path) -> None:
    """Change two published values, as if an earlier version of the program had computed them differently."""
    csv = next(dataset.glob("*.csv"))
    lines = csv.read_text(encoding="utf-8").split("\n")
    lines[1:3] = [",".join([*line.split(",")[:-3], "77.777", *line.split(",")[-2:]]) for line in lines[1:3]]
    csv.write_text("\n".join(lines), encoding="utf-8")


def test_a_publish_that_would_change_a_value_is_refused(store: Path, run: Run) -> None:
    """Exit code 1 and one line that says how many values; the dataset and the store do not change."""
    dataset = dataset_of(store)
    alter(dataset)
    before, store_before = contents(dataset), store.read_bytes()
    code, out, err = run("publish", "--store", store, "--out", dataset)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "2 published values would change or disappear" in err
    assert "--correction" in err
    assert contents(dataset) == before
    assert store.read_bytes() == store_before


def test_a_publish_that_would_drop_a_week_is_refused(store: Path, short_coverage: Coverage) -> None:
    """A dataset is not replaced by one that lacks a published week."""
    dataset = dataset_of(store)
    with open_store(store) as opened:
        identity = opened.identity
    fewer = add_weeks(store.parent / "fewer.db", short_coverage, {}, identity=identity)
    with pytest.raises(CheckFailed, match="29 published values would change or disappear"):
        publish(fewer, dataset)


def test_a_second_noise_for_a_published_week_is_refused(store: Path, other_store: Path) -> None:
    """Two draws of noise for one week break the promise, so not even a correction publishes the second."""
    dataset = dataset_of(store)
    before = contents(dataset)
    for correction in (None, "the store was lost"):
        with pytest.raises(CheckFailed, match="was published with other noise"):
            publish(other_store, dataset, correction=correction)
    assert contents(dataset) == before


def stripped(text: str) -> str:
    """Return a statement whose ledger has lost its last week."""
    statement = json.loads(text)
    return json.dumps({**statement, "ledger": statement["ledger"][:-1]})


def test_second_noise_is_refused_if_it_is_published_in_the_meantime(store: Path, other_store: Path) -> None:
    """Of two processes that publish different noise to one folder at once, the second sees what the first did."""
    dataset = store.parent / "dataset"

    def progress(step: str) -> None:
        if step == "writing the statements":
            publish(store, dataset)

    with pytest.raises(CheckFailed, match="was published with other noise"):
        publish(other_store, dataset, correction="a mistake", progress=progress)
    assert json_of(dataset, "privacy.json")["corrections"] == []
    publish(store, dataset)


@pytest.mark.parametrize("damage", [None, lambda text: text[:100], lambda text: "[]", stripped])
def test_second_noise_is_not_published_over_a_damaged_statement(
    store: Path, other_store: Path, damage: Callable[[str], str] | None
) -> None:
    """Without the published checksums it cannot be told which noise was published; not even a correction may try."""
    dataset = dataset_of(store)
    path = dataset / "privacy.json"
    if damage is None:
        path.unlink()
    else:
        path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    before = contents(dataset)
    for again in (store, other_store):
        with pytest.raises(CheckFailed, match=r"privacy.json is missing, damaged or lacks weeks.* restore that file"):
            publish(again, dataset, correction="new noise")
    assert contents(dataset) == before


def test_a_correction_is_published_with_its_reason(store: Path, run: Run) -> None:
    """The store records the number of changed values and the reason; the statement repeats them in later releases."""
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


def test_a_correction_that_changes_nothing_is_not_recorded(store: Path) -> None:
    """If no published value changes, the reason is not recorded."""
    dataset = dataset_of(store)
    publish(store, dataset, correction="just in case")
    with open_store(store) as opened:
        assert opened.corrections() == []
    assert json_of(dataset, "privacy.json")["corrections"] == []


@pytest.mark.parametrize(
    ("reason", "words"),
    [(" ", "`correction`: say"), ("a\x1b[31mb", r"U\+001B cannot be shown"), ("x" * 501, "use at most 500")],
)
def test_a_correction_without_a_reason_is_refused(store: Path, other_store: Path, reason: str, words: str) -> None:
    """A reason is published, so an empty, unprintable or endless one is refused, as for a lost week."""
    dataset = dataset_of(store)
    with pytest.raises(InputError, match=words):
        publish(other_store, dataset, correction=reason)


def test_regions_are_removed_for_sparsity_without_a_correction(store: Path, short_coverage: Coverage) -> None:
    """Once the window is complete, a sparse region's old rows are removed; no other row changes."""
    before = text_of(dataset_of(store)).splitlines()
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    dataset = dataset_of(store)
    after = text_of(dataset).splitlines()
    gone = [line for line in before if line not in after]
    assert len(gone) == 1
    assert CITY in gone[0]
    statement = json_of(dataset, "privacy.json")
    assert statement["sparsity"] == {"decided": True, "regions_removed": 1}
    assert statement["corrections"] == []
