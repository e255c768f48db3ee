"""Promises that guard a publisher with few labels: no topic without evidence, measured precision, thresholds."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.classifier.facts import public_facts
from search_insights.classifier.features import normalise, texts_with_cue
from search_insights.classifier.lexicon import Lexicon, encode_cues
from search_insights.classifier.model import Classifier
from search_insights.classifier.model_file import unpack
from search_insights.classifier.train.evidence import background, find_cues
from search_insights.classifier.train.folds import FOLDS, assign_folds, group_keys
from search_insights.classifier.train.suggestion import suggest
from search_insights.classifier.train.thresholds import MinPrecision, Scored, choose_threshold
from search_insights.classifier.train.training import Trained
from search_insights.classifier.train.validation import Material, Validation, train_validated
from search_insights.errors import InputError
from tests.support.heat_labels import (
    UNSEEN,
    UNSEEN_HEAT,
    heat_labels,
    heat_spec,
    ordinary_queries,
    swiss_places,
)

NOBODY: list[str] = []


@pytest.fixture(scope="module")
def heat() -> tuple[Trained, Validation]:
    """A model of heat waves from few labels and a few ordinary queries, and what was measured of it."""
    texts, labels = heat_labels()
    ordinary = [*ordinary_queries(), "hitze basel-stadt"]
    material = Material(texts, labels, [], heat_spec(), Lexicon(), swiss_places(), ordinary)
    return train_validated(material, name="heat")


def named(model: Classifier, texts: tuple[str, ...]) -> list[str]:
    return [text for text, number in zip(texts, model.classify(texts), strict=True) if number]


def test_the_name_of_a_place_is_no_topic(heat: tuple[Trained, Validation]) -> None:
    """Only labels of heat waves name Basel-Stadt, and yet its cinemas do not count; heat waves of any place do."""
    model = heat[0].classifier
    assert named(model, UNSEEN) == []
    assert named(model, UNSEEN_HEAT) == list(UNSEEN_HEAT)


def test_without_evidence_the_same_weights_would_count_places(heat: tuple[Trained, Validation]) -> None:
    """The trap is real: the linear model alone takes the place for the topic."""
    model = heat[0].classifier
    assert "kino basel-stadt" in named(dataclasses.replace(model, cues=model.cues[:0]), UNSEEN)


def test_evidence_is_found_without_knowing_the_places() -> None:
    """Labels alone suffice: what most labels of the topic share is evidence, and a place that comes with it is not."""
    texts, labels = heat_labels()
    cues = find_cues(texts, labels, background(NOBODY, None))
    assert texts_with_cue(normalise(UNSEEN), cues).size == 0
    assert texts_with_cue(normalise(UNSEEN_HEAT), cues).size == len(UNSEEN_HEAT)


def test_a_word_of_ordinary_queries_is_no_evidence() -> None:
    """A word that several labels of the topic share is no evidence if ordinary queries have it as often."""
    texts = [*(f"hitze {word}" for word in "abcdef"), "draussen sitzen", "draussen essen", "draussen baden"]
    texts += [f"kino {word}" for word in "abcdefghi"]
    labels = np.array([1] * 9 + [0] * 9)
    cue = normalise(["draussen grillen"])
    assert texts_with_cue(cue, find_cues(texts, labels, background(NOBODY, None))).size == 1
    ordinary = [f"draussen {word}" for word in ("spielen", "malen", "wohnen", "tanzen")] * 25
    assert texts_with_cue(cue, find_cues(texts, labels, background(ordinary, None))).size == 0


def test_the_model_says_what_was_measured_and_readers_learn_no_more(heat: tuple[Trained, Validation]) -> None:
    """Precision and recall of the labels are in the file; what was measured on ordinary queries is not."""
    trained, measured = heat
    (category,) = measured.categories
    facts = trained.classifier.public_facts
    assert facts["name"] == "heat"
    assert facts["labels"] == 124
    assert facts["categories"][0]["precision"] == round(category.precision.value, 3) > 0.9
    assert facts["categories"][0]["recall"] == round(category.recall.value, 3) > 0.8
    assert measured.ordinary is not None
    assert "ordinary" not in json.dumps(dict(trained.classifier.about))
    assert json.dumps(facts).find("hitze") == -1


def test_ordinary_queries_with_a_topic_count_as_wrong(heat: tuple[Trained, Validation]) -> None:
    """All of them, for nobody says that they are right; the upper end is higher. Labelled ones are left out."""
    ordinary = heat[1].ordinary
    assert ordinary is not None
    assert ordinary.queries == len(set(ordinary_queries()) - set(heat_labels()[0])) + 1
    assert (ordinary.named, ordinary.by_category) == (1, {"B1": 1})
    assert 0 < ordinary.per_100_000 < ordinary.upper


# Folds


def test_near_duplicates_are_in_one_fold() -> None:
    """Texts that differ in order, ending, number or place are never on both sides of cross-validation."""
    places = background(NOBODY, swiss_places()).places
    texts = ["hitzewelle basel", "Bern hitzewellen", "hitzewelle 2026", "hitze tipps", "tipps hitze", "kino heute"]
    keys = group_keys(texts, places)
    assert len(set(keys)) == 3
    folds = assign_folds(keys, np.array([1, 1, 1, 1, 1, 0]))
    assert len(set(folds[:3].tolist())) == len(set(folds[3:5].tolist())) == 1


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2)), min_size=1, max_size=60))
def test_a_fold_holds_whole_groups(given: list[tuple[int, int]]) -> None:
    """For all labels: every text has a fold, and texts of one key have the same one."""
    keys, labels = [bytes([key]) for key, _ in given], np.array([label for _, label in given])
    folds = assign_folds(keys, labels)
    assert set(folds.tolist()) <= set(range(FOLDS))
    assert len(set(zip(keys, folds.tolist(), strict=True))) == len(set(keys))


# Thresholds


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(-50, 50)), min_size=12, max_size=80),
    st.lists(st.integers(-50, 20), max_size=40),
    st.floats(0.5, 0.99),
)
def test_a_threshold_reaches_the_precision_or_is_refused(
    scores: list[tuple[int, int]], ordinary: list[int], least: float
) -> None:
    """For all scores: the threshold chosen has the precision wanted and at least five right answers; else an error."""
    labels, values = np.array([label for label, _ in scores]), np.array([float(score) for _, score in scores])
    ones = np.ones(len(ordinary), dtype=np.int64)
    scored = Scored(labels, np.ones_like(labels), values, ones, np.array(ordinary, dtype=np.float64))
    wanted = MinPrecision({"B1": least}, 0.05)
    try:
        threshold = choose_threshold(scored, 1, "B1", wanted)
    except InputError:
        return
    assert threshold >= 0
    assert scored.precision(1, threshold, 0.05) >= least
    assert ((labels == 1) & (values > threshold)).sum() >= 5


def test_no_precision_wanted_is_no_threshold() -> None:
    """Then the model decides as before: a topic has to be likelier than none."""
    empty = np.zeros(0, dtype=np.int64)
    scores = np.zeros(0, dtype=np.float64)
    assert choose_threshold(Scored(empty, empty, scores, empty, scores), 1, "B1", MinPrecision()) == 0


@pytest.mark.parametrize("wanted", [{"B1": 0.0}, {"B1": 1.0}, {"B1": float("nan")}])
def test_a_precision_is_a_share(wanted: dict[str, float]) -> None:
    """0 and 1 cannot be promised."""
    with pytest.raises(InputError, match="between 0 and 1"):
        MinPrecision(wanted)


def test_a_threshold_is_part_of_the_model(heat: tuple[Trained, Validation]) -> None:
    """It changes answers and the fingerprint, and is still there after writing and reading; 0 changes nothing."""
    model = heat[0].classifier
    strict = dataclasses.replace(model, thresholds=np.array([1 << 20], dtype=np.int32))
    assert named(strict, UNSEEN_HEAT) == []
    assert strict.fingerprint != model.fingerprint
    assert unpack(strict.to_bytes()).arrays["thresholds"].tolist() == [1 << 20]
    plain = dataclasses.replace(model, thresholds=np.zeros(0, dtype=np.int32))
    assert plain.fingerprint == model.fingerprint


# Cues


@given(st.lists(st.sampled_from(["moderna", "smyrna", "taverna", "x", "derna", "modern a", ""]), max_size=9))
def test_a_long_cue_is_found_wherever_it_is(texts: list[str]) -> None:
    """For all batches: exactly the texts that contain the whole cue, whatever stands beside them."""
    cues = encode_cues(["derna", "vacc", " taverna"])
    found = texts_with_cue(normalise(texts), cues).tolist() if texts else []
    assert found == [i for i, text in enumerate(texts) if "derna" in text or text.startswith("taverna")]


# Suggestions


def test_suggestions_are_doubtful_frequent_and_different(heat: tuple[Trained, Validation]) -> None:
    """Frequent texts come first, near-copies and labelled texts do not come at all, and plain ordinary ones neither."""
    texts = [
        "kino basel-stadt",
        "kino basel-stadt heute",
        "hitzkirch",
        "hitze basel-stadt",
        "brot backen",
        "hitzewelle",
    ]
    counts = np.array([500, 400, 3, 900, 9000, 9000])
    found = suggest(heat[0].classifier, [(texts, counts)], 2, frozenset(["hitzewelle"]))
    assert len(found) == 2
    assert {f.text for f in found} <= {"kino basel-stadt", "hitzkirch", "hitze basel-stadt"}
    all_found = {f.text for f in suggest(heat[0].classifier, [(texts, counts)], 10, frozenset(["hitzewelle"]))}
    assert not all_found & {"brot backen", "hitzewelle"}


# Facts


@given(
    st.dictionaries(
        st.sampled_from(["name", "labels", "measured", "method", "queries"]),
        st.one_of(st.text(), st.integers(), st.none(), st.dictionaries(st.just("B1"), st.dictionaries(
            st.sampled_from(["labels", "precision", "recall", "texts"]),
            st.one_of(st.integers(), st.text(), st.lists(st.one_of(st.floats(), st.text()), max_size=4)),
        ))),
    )
)  # fmt: skip
def test_public_facts_hold_nothing_but_their_own_form(about: dict[str, object]) -> None:
    """For all files, whoever made them: one line of name and method, counts, and shares between 0 and 1."""
    facts = public_facts(about, ["B1"])
    assert set(facts) <= {"name", "method", "labels", "categories"}
    for entry in facts["categories"]:
        assert entry.pop("category") == "B1"
        assert entry.pop("labels") >= 0
        assert all(0 <= share <= 1 for share in entry.values())
    for key in ("name", "method"):
        assert facts.get(key, "x").isprintable()
        assert len(facts.get(key, "")) <= 100
