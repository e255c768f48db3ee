"""Promises about training: it learns a publisher's own categories, and the same inputs give the same model."""

import random
from pathlib import Path

import pytest

from search_insights.classifier.lexicon import Lexicon, load_lexicon, place_names, typos
from search_insights.classifier.train.pool import make_pool, mistyped
from search_insights.classifier.train.training import Trained, train
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from tests.support.other_country import other_spec
from tests.support.training import toy_labels, train_toy


@pytest.fixture(scope="module")
def trained() -> Trained:
    """A model of another release."""
    return train_toy()


def test_categories_come_from_the_spec(trained: Trained) -> None:
    """A publisher's labels and spec give a model of that spec's categories; the code knows nothing about vaccines."""
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
    """All random numbers of training are seeded: a second run writes the same file."""
    assert train_toy().classifier.to_bytes() == trained.classifier.to_bytes()


def test_the_model_learns_from_texts_of_the_pool_that_are_clear(trained: Trained) -> None:
    """The committee labels some texts of the pool, and the model records how many."""
    assert 0 < trained.kept <= 42
    assert trained.classifier.about["pool_kept"] == trained.kept


def test_too_few_labels_of_a_category_are_refused() -> None:
    """A category without labels cannot be learnt."""
    texts, labels = toy_labels()
    few = labels < 3
    with pytest.raises(InputError, match="fewer than 5 queries of H3"):
        train([t for t, keep in zip(texts, few, strict=True) if keep], labels[few], [], other_spec(), Lexicon(), None)


# The lexicon and the pool


def test_typos_are_words_one_typo_away() -> None:
    """A letter left out, added, changed or swapped with the next is one typo."""
    found = set(typos("vaccine"))
    assert {"vacine", "vacccine", "vaccime", "vacicne", "accine", "vaccines"} <= found
    assert "vacinne" not in found


def test_a_file_that_is_not_a_lexicon_is_refused(tmp_path: Path) -> None:
    """One line says what is wrong."""
    path = tmp_path / "lexicon.toml"
    for text, message in (
        ("not toml", "not a lexicon"),
        ("[[class]]\nname = 'x'", "not a lexicon"),
        ("class = 3", "not a lexicon"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            load_lexicon(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_lexicon(tmp_path / "missing.toml")


@pytest.mark.parametrize("cue", ["va", "vaccination", "a_bc"])
def test_a_cue_is_four_to_eight_letters_within_a_word(cue: str) -> None:
    """Other cues would never match, or could match across the end of a text."""
    lexicon = Lexicon((), (cue.replace("_", " "),))
    texts, labels = toy_labels()
    with pytest.raises(InputError, match="expected four to eight letters"):
        train(texts, labels, [], other_spec(), lexicon, None)


def test_cues_that_no_label_has_are_refused() -> None:
    """Such a model could never name a topic."""
    texts, labels = toy_labels()
    with pytest.raises(InputError, match="no label of H1, H2, H3 has a cue"):
        train(texts, labels, [], other_spec(), Lexicon((), ("vacc",)), None)


def test_the_pool_is_the_same_for_the_same_seed(us: Geography) -> None:
    """The pool is made from word lists and places, with each text once, and can be made again."""
    classes = load_lexicon().classes
    texts = ["covid vaccine walgreens", "is the covid vaccine safe for teachers", "flu shot texas"]
    pool = make_pool(texts, classes, us, 300, seed=5)
    assert pool == make_pool(texts, classes, us, 300, seed=5)
    assert pool != make_pool(texts, classes, us, 300, seed=6)
    assert len(set(pool)) == 300


def test_place_names_come_from_the_geography(us: Geography) -> None:
    """States, counties and larger towns, in one or two words."""
    names = set(place_names(us))
    assert {"maryland", "harris", "san antonio", "contra costa", "houston"} <= names
    assert "san benito county" not in names
    assert all(len(name.split()) <= 2 for name in names)


def test_any_text_can_be_mistyped() -> None:
    """Even an empty one."""
    rng = random.Random(3)
    for text in ("", "a", "covid vaccine", "  ", "é"):
        for _ in range(50):
            assert isinstance(mistyped(text, rng), str)
