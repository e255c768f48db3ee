"""Readers see what each topic is, which model classified which weeks, how good it is, and where it changed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from search_insights.dashboards.facts import Value, day, listed, percent, say
from search_insights.dashboards.words import _topics
from search_insights.dataset.folder import read_dataset
from search_insights.errors import InputError, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.store.ledger import ModelRecord
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.store import Store
from tests.support.datasets import dataset_of, json_of
from tests.support.stores import add_weeks

FACTS = {
    "name": "winter",
    "labels": 130,
    "method": "cross-validation on labels, 5 folds",
    "categories": [
        {"category": "A1", "labels": 70, "precision": 0.91, "precision_low": 0.82, "precision_high": 0.96},
    ],
}
OLD, NEW = ModelRecord("a" * 64, json.dumps(FACTS)), ModelRecord("b" * 64, "{}")


@pytest.fixture
def two_models(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A store whose third week was classified by another model, and whose first had categories."""
    path = add_weeks(tmp_path / "store.db", short_coverage, {})
    add_weeks(path, short_coverage, {}, start=1, model=OLD)
    return add_weeks(path, short_coverage, {}, start=2, model=NEW)


def test_the_dataset_names_topics_models_and_their_weeks(two_models: Path, short_coverage: Coverage) -> None:
    """datapackage.json and privacy.json say the same, and each week of the ledger names its model."""
    dataset = dataset_of(two_models)
    found = json_of(dataset, "datapackage.json")["classification"]
    assert found == json_of(dataset, "privacy.json")["classification"]
    assert [(t["id"], t["definition"]) for t in found["topics"]] == [
        (category.id, category.definition) for category in short_coverage.spec.categories[1:]
    ]
    assert found["models"] == [{"fingerprint": "a" * 64} | FACTS, {"fingerprint": "b" * 64}]
    assert [(run["model"][:1], run["first"], run["weeks"]) for run in found["weeks"]] == [
        ("", "2021-01-04", 1),
        ("a", "2021-01-11", 1),
        ("b", "2021-01-18", 1),
    ]
    assert [row["classifier"][:1] for row in json_of(dataset, "privacy.json")["ledger"]] == ["", "a", "b"]


def test_people_see_the_change_of_model(two_models: Path) -> None:
    """PRIVACY.md and the site's texts define the topics, name the models and say where values may jump."""
    dataset = dataset_of(two_models)
    page = (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    facts = _topics(read_dataset(dataset))
    for words in ("side effects they have.", "winter, fingerprint aaaaaaaaaaaa", "2021-01-18", "values may jump"):
        assert words in page
    assert say("topic_defined", topic=Value("topic", "A2"), definition=Value("definition", "A2")) in facts
    winter = say("model_named", name="winter", print="a" * 12)
    assert say("assigned_week", date=day("2021-01-11"), model=winter) in facts
    assert say("model_changed", dates=listed(map(day, ("2021-01-11", "2021-01-18")))) in facts
    assert "| A1 | 70 | 0.910 (0.820 to 0.960) | - |" in page
    measured = say("measured_share", category="A1", share=percent(0.91))
    assert say("measured", print="a" * 12, shares=listed([measured])) in facts
    assert "Of model bbbbbbbbbbbb nothing measured is known." in page


def test_a_dataset_whose_classification_is_malformed_is_refused(two_models: Path) -> None:
    """A folder may come from anyone: what is not of the form is refused in one line."""
    dataset = dataset_of(two_models)
    package = json_of(dataset, "datapackage.json")
    package["classification"]["models"][0]["categories"][0]["precision"] = "<b>"
    (dataset / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    with pytest.raises(InputError, match=r"classification.models\[0\].categories\[0\].precision"):
        read_dataset(dataset)


# The store


def test_what_was_recorded_of_a_model_stays(two_models: Path, short_coverage: Coverage) -> None:
    """The first week that a model classified records it; a later file with the same fingerprint changes nothing."""
    add_weeks(two_models, short_coverage, {}, start=3, model=ModelRecord("a" * 64, '{"name": "other"}'))
    with open_store(two_models) as store:
        assert store.models() == [OLD, NEW]


def test_a_model_that_the_ledger_does_not_name_is_not_recorded(
    tmp_path: Path, short_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts are of the model that classified the week; nothing is committed otherwise."""
    commit = Store.commit_week
    monkeypatch.setattr(
        Store,
        "commit_week",
        lambda s, week, noisy, entry, model: commit(s, week, noisy, entry, replace(model, fingerprint="c")),
    )
    with pytest.raises(StoreError, match="names another model"):
        add_weeks(tmp_path / "store.db", short_coverage, {}, model=OLD)
    assert not (tmp_path / "store.db").exists()


def test_definitions_may_be_reworded_in_a_store(two_models: Path, short_coverage: Coverage) -> None:
    """The next week is committed under the same spec with other words, and these are published from then on."""
    spec = short_coverage.spec
    categories = tuple(replace(c, definition=f"Words about {c.id}.") for c in spec.categories)
    with create_or_open_store(two_models, Coverage(replace(spec, categories=categories), short_coverage.geography)):
        pass
    with open_store(two_models) as store:
        assert store.coverage.spec.categories == categories
        assert store.coverage.spec.fingerprint == spec.fingerprint
