"""Promises about how texts become features: nothing crashes, and a text's answer depends on that text alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search_insights.classifier.features import MAX_CHARACTERS, normalise, split_words, word_hashes
from search_insights.classifier.model import Classifier, load_classifier

# Anything that Python accepts as text: lone surrogates, NUL, line ends, right-to-left, emoji, and words with a topic.
PIECES = st.sampled_from(
    ["covid", "vaccine", "Vaccine\n", " near me", "'", "\u2019", "\x00", "\ud800", "шот", "لقاح", "💉", "ẞ", "İ"]
)
TEXTS = st.text(max_size=60) | st.lists(PIECES | st.text(st.characters(), max_size=5), max_size=12).map("".join)


@given(st.lists(TEXTS, max_size=30))
def test_any_text_can_be_classified(texts: list[str]) -> None:
    """Unicode, emoji, empty, right-to-left, NUL, line ends and lone surrogates never crash the classifier."""
    numbers = load_classifier().classify(texts)
    assert numbers.shape == (len(texts),)
    assert set(numbers.tolist()) <= {0, 1, 2, 3}


@given(st.lists(TEXTS, min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_an_answer_depends_on_its_text_alone(texts: list[str], rng: object) -> None:
    """Whatever else is classified with it and in which order, a text gets the same category."""
    model = load_classifier()
    together = model.classify(texts)
    alone = np.concatenate([model.classify([text]) for text in texts])
    assert together.tolist() == alone.tolist()
    assert model.classify(texts[::-1]).tolist() == alone.tolist()[::-1]


def test_long_and_missing_texts_are_classified(packaged: Classifier) -> None:
    """10 kB of text, an empty text and None are classified like any other."""
    long = "covid vaccine near me " * 500
    assert packaged.classify([long, "", None, long[: MAX_CHARACTERS // 22 * 22]]).tolist() == [1, 0, 0, 1]


def test_text_beyond_the_limit_is_ignored_also_next_to_short_texts(packaged: Classifier) -> None:
    """A text is cut at the same letter whatever the length of the other texts."""
    late = "x" * MAX_CHARACTERS + " covid vaccine near me"
    assert packaged.classify([late]).tolist() == packaged.classify([late, *["a"] * 10_000]).tolist()[:1] == [0]


def test_batches_do_not_matter(packaged: Classifier) -> None:
    """More texts than fit into one batch get the same answers as one by one."""
    texts = ["covid vaccine near me", "weather", "is the covid vaccine safe"] * 7000
    assert packaged.classify(texts).tolist() == [1, 0, 2] * 7000


@given(st.lists(st.text("abcdefghij", min_size=1, max_size=12), min_size=1, max_size=20))
def test_a_word_has_the_same_hash_at_any_position(words: list[str]) -> None:
    """The hash of a word does not depend on the text around it."""
    found = split_words(normalise([" ".join(words)]))
    assert found.hash.tolist() == word_hashes(words).tolist()
    assert len(set(found.hash.tolist())) == len(set(words))


def test_case_apostrophes_and_punctuation_do_not_matter(packaged: Classifier) -> None:
    """People type in any case and with any punctuation."""
    typed = ["COVID Vaccine near me!!", "covid-vaccine: near me", "Covid vaccine, near me?", "covid  vaccine near me"]
    assert packaged.classify(typed).tolist() == [1, 1, 1, 1]
    scores = packaged.scores(["i'm vaccinated", "im vaccinated", "i\u2019m vaccinated"])
    assert (scores == scores[:, :1]).all()
