"""Promises about training: it learns a publisher's own categories, and the same inputs give the same model."""

import random
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from search_insights.classifier.lexicon import Lexicon, load_lexicon, places, slips
from search_insights.classifier.train.pool import make_pool, noised
from search_insights.classifier.train.training import Trained, train
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from tests.support.other_country import other_spec

WOOD = ("firewood", "logs for the stove", "dry birch wood", "kindling")
HEAT = ("boiler", "central heating", "radiator", "heat pump")
MEND = ("stove repair", "boiler repair", "chimney sweep", "fix my heater")
NONE = ("weather", "bus times", "pancake recipe", "firefox download", "wooden chairs", "heat wave")
MORE = ("near me", "price", "delivery", "how to", "today", "cheap", "best", "reviews")


def toy_labels() -> tuple[list[str], npt.NDArray[np.int64]]:
    """Label a few hundred queries of Qazaria by the topics of its spec: heating, firewood, stove repair."""
    found: dict[str, int] = {}
    for number, topics in enumerate((NONE, HEAT, WOOD, MEND)):
        for topic, more in product(topics, MORE):
            found |= {f"{topic} {more}": number, f"{more} {topic}": number}
    return list(found), np.array(list(found.values()))


def toy(seed: int = 0) -> Trained:
    """Train on the toy labels, without a lexicon."""
    texts, labels = toy_labels()
    pool = [f"{topic} {more}" for topic in (*WOOD, *HEAT, *NONE) for more in ("kazbek", "in winter", "second hand")]
    return train(texts, labels, pool, other_spec(), Lexicon(), None, seed=seed)


@pytest.fixture(scope="module")
def trained() -> Trained:
    """A model of another release."""
    return toy()


def test_categories_come_from_the_spec(trained: Trained) -> None:
    """A publisher's labels and spec give a model of that spec's categories; nothing about vaccines is in the code."""
    model = trained.classifier
    assert model.categories == (("H1", "heating"), ("H2", "firewood"), ("H3", "stove_repair"))
    queries = [
        "heat pump offers",
        "birch firewood",
        "stove repair in town",
        "covid vaccine near me",
        "bus times kazbek",
    ]
    assert model.classify(queries).tolist() == [1, 2, 3, 0, 0]
    model.require_fits(other_spec(), "this model")


def test_the_same_inputs_give_the_same_bytes(trained: Trained) -> None:
    """Training draws nothing that is not seeded: a second run writes the same file."""
    assert toy().classifier.to_bytes() == trained.classifier.to_bytes()


def test_texts_of_the_pool_that_are_clear_are_learnt_from(trained: Trained) -> None:
    """The committee names texts that nobody labelled, and the model says how many."""
    assert 0 < trained.kept <= 42
    assert trained.classifier.about["pool_kept"] == trained.kept


def test_too_few_labels_of_a_category_are_refused() -> None:
    """A category that nobody labelled cannot be learnt."""
    texts, labels = toy_labels()
    few = labels < 3
    with pytest.raises(InputError, match="fewer than 5 queries of H3"):
        train([t for t, keep in zip(texts, few, strict=True) if keep], labels[few], [], other_spec(), Lexicon(), None)


# The lexicon and the pool


def test_words_one_slip_away_are_found() -> None:
    """A letter left out, put in, changed or swapped with the next is one slip."""
    found = set(slips("vaccine"))
    assert {"vacine", "vacccine", "vaccime", "vacicne", "accine", "vaccines"} <= found
    assert "vacinne" not in found


def test_a_lexicon_that_is_none_is_refused(tmp_path: Path) -> None:
    """What is wrong with a lexicon is said in one line."""
    path = tmp_path / "lexicon.toml"
    for text, words in (
        ("not toml", "not a lexicon"),
        ("[[class]]\nname = 'x'", "not a lexicon"),
        ("class = 3", "not a lexicon"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=words):
            load_lexicon(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_lexicon(tmp_path / "missing.toml")


@pytest.mark.parametrize("cue", ["va", "vaccine", "a_bc"])
def test_a_cue_is_four_letters_within_a_word(cue: str) -> None:
    """Other cues would never match, or would let a text's neighbours decide."""
    lexicon = Lexicon((), (cue.replace("_", " "),))
    texts, labels = toy_labels()
    with pytest.raises(InputError, match="cue"):
        train(texts, labels, [], other_spec(), lexicon, None)


def test_the_pool_is_the_same_for_the_same_seed(us: Geography) -> None:
    """The pool is made from word lists and places, each text once; a fresh clone makes the same."""
    classes = load_lexicon().classes
    texts = ["covid vaccine walgreens", "is the covid vaccine safe for teachers", "flu shot texas"]
    pool = make_pool(texts, classes, us, 300, seed=5)
    assert pool == make_pool(texts, classes, us, 300, seed=5)
    assert pool != make_pool(texts, classes, us, 300, seed=6)
    assert len(set(pool)) == 300


def test_places_are_names_of_the_geography(us: Geography) -> None:
    """States, counties and towns of some size are words that the classifier may know."""
    names = set(places(us))
    assert {"maryland", "harris", "san antonio", "contra costa", "houston"} <= names
    assert "san benito county" not in names
    assert all(len(name.split()) <= 2 for name in names)


def test_noise_never_fails() -> None:
    """Any text can be typed less carefully, the empty one too."""
    rng = random.Random(3)
    for text in ("", "a", "covid vaccine", "  ", "é"):
        for _ in range(50):
            assert isinstance(noised(text, rng), str)
