"""A dataset says what it is called in other languages, if its spec does, in the words of the present spec."""

from dataclasses import replace
from pathlib import Path

from search_insights.dataset.folder import read_description
from search_insights.spec.coverage import Coverage
from search_insights.spec.translations import Translation
from search_insights.store.opening import create_or_open_store
from tests.support.datasets import contents, dataset_of, json_of
from tests.support.stores import add_weeks

WORDS = (("title", "Tendenze"), ("trend.C1", "Intenzione"), ("level.county", "contea"), ("definition.A2", "Sicurezza."))


def test_translations_are_published_and_reworded_at_any_time(tmp_path: Path, short_coverage: Coverage) -> None:
    """datapackage.json has the words of each language, by the names that the dataset uses; nothing else changes."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    before = dataset_of(store, "before")
    spec = replace(short_coverage.spec, translations=(Translation("it", WORDS),))
    with create_or_open_store(store, Coverage(spec, short_coverage.geography)):
        pass
    after = dataset_of(store, "after")
    assert [each["language"] for each in json_of(before, "datapackage.json")["translations"]] == ["fr", "es", "de"]
    assert json_of(after, "datapackage.json")["translations"] == [
        {
            "language": "it",
            "title": "Tendenze",
            "trends": [{"trend": "vaccination_intent", "title": "Intenzione"}],
            "levels": [{"level": "county", "title": "contea"}],
            "topics": [{"id": "A2", "definition": "Sicurezza."}],
        }
    ]
    read_description(after)
    changed = {name for name, content in contents(before).items() if contents(after)[name] != content}
    assert changed == {"datapackage.json"}


def test_a_spec_without_translations_publishes_none(tmp_path: Path, short_coverage: Coverage) -> None:
    """The key is missing, as in a dataset of an earlier version."""
    plain = Coverage(replace(short_coverage.spec, translations=()), short_coverage.geography)
    dataset = dataset_of(add_weeks(tmp_path / "store.db", plain, {}))
    assert "translations" not in json_of(dataset, "datapackage.json")
