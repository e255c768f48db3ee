"""The phrases that a published dataset holds in English are known to the page, which words them in other languages."""

from types import SimpleNamespace

import pytest

from search_insights.dashboards.facts import Message, as_json, say
from search_insights.dashboards.phrases import fact_of
from search_insights.dataset import breaks
from search_insights.dataset.statement import UNIT
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec

FIXED = (*(words for _, words in breaks.DIFFERENCES), breaks.NEW_SCALE, breaks.OTHER_WORDS, breaks.SOME_REGIONS)


@pytest.mark.parametrize("phrase", [*FIXED, breaks.OTHER_MODEL, breaks.TOPICS_OF_LOG, UNIT])
def test_a_phrase_of_the_program_is_a_message(phrase: str) -> None:
    """What `publish` may write about a break or the unit of privacy has a message of its own."""
    fact = fact_of(phrase)
    assert isinstance(fact, Message)
    assert fact.values == ()


@pytest.mark.parametrize("name", PACKAGED_SPECS)
def test_every_reason_not_to_report_a_region_is_a_message(name: str) -> None:
    """Also where it names a level, a size class or an area."""
    standings = Coverage(load_spec(name), load_geography()).standings.values()
    reasons = {standing.reason for standing in standings if not standing.reported}
    assert len(reasons) >= 2
    assert all(isinstance(fact_of(reason), Message) for reason in reasons)


def region(place: str) -> SimpleNamespace:
    return SimpleNamespace(place_id=place, name=place)


@pytest.mark.parametrize(
    ("names", "count"), [(["a, b"], 1), (["a", "b and 2 more"], 2), ([f"r{i}" for i in range(1234)], 1234)]
)
def test_regions_that_begin_or_end_are_counted_and_named(names: list[str], count: int) -> None:
    """Names may hold commas, or words of the phrase itself; they are not taken apart."""
    full, none = (SimpleNamespace(regions=[*map(region, of)], by_place_id={n: n for n in of}) for of in (names, []))
    [phrase] = breaks._named(full, none, "ends", "end")  # type: ignore[arg-type]
    fact = as_json(fact_of(phrase))
    assert (fact["say"], fact["count"]) == ("differs_end", count)
    if count > 3:
        assert fact["names"] == {"say": "and_more", "names": "r0, r1, r2", "count": count - 3}


def test_a_model_is_named_by_its_fingerprint_and_labels() -> None:
    """With or without a name; the first weeks may have had none."""
    facts = {"name": "v2, better", "labels": 12345}
    named = as_json(fact_of(f"now: {breaks._model('ab' * 32, facts)}"))
    assert named["model"] == {
        "say": "model_labels",
        "model": {"say": "model_named", "name": "v2, better", "print": "ab" * 6},
        "count": 12345,
    }
    assert fact_of(f"before: {breaks._model('', {})}") == say("model_before", model=say("model_none"))


def test_other_words_stay_as_they_are() -> None:
    """A publisher's reason is data, in the publisher's language."""
    assert fact_of("Die Hälfte des Protokolls ging verloren.") == "Die Hälfte des Protokolls ging verloren."
