"""Promises about clusters: shown texts that ask for the same."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.classifier.cluster_keys import DIRECTED, SMALL_WORDS, cluster_keys, singular
from search_insights.classifier.lexicon import load_lexicon, load_synonyms
from search_insights.errors import InputError
from search_insights.support.arrays import Floats
from search_insights.trends.clusters import Clusters, clusters_of

SYNONYMS = load_synonyms()
WORDS = st.sampled_from(["covid", "vaccine", "vaccines", "the", "near", "me", "after", "fever", "side", "effects"])
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


def together(*texts: str) -> bool:
    """Whether texts are in one cluster."""
    return len(set(cluster_keys(texts, SYNONYMS))) == 1


def clustered(texts: list[str], counts: Floats) -> Clusters:
    """Return the clusters of texts without synonyms."""
    return clusters_of(texts, counts, cluster_keys(texts, {}))


@pytest.mark.parametrize(
    "texts",
    [
        ("covid vaccine near me", "covid 19 vaccine near me", "coronavirus shot near me", "near me covid vaccines"),
        ("covid vaccine side effects", "side effects of the covid vaccine", "covid jab side affects"),
        ("johnson and johnson vaccine", "j j vaccine", "janssen vaccine"),
        ("are allergies a risk", "allergy risks"),
        ("rite aid covid vaccine", "covid vaccine rite aid"),
        ("what is in the pfizer vaccine", "pfizer vaccine ingredients"),
    ],
)
def test_texts_that_ask_for_the_same_are_together(texts: tuple[str, ...]) -> None:
    """Order, plurals, small words and the lexicon's synonyms make no difference."""
    assert together(*texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("when can i get the vaccine", "where can i get the vaccine"),
        ("covid after vaccine", "vaccine after covid"),
        ("pfizer vaccine", "moderna vaccine"),
        ("first dose", "second dose"),
        ("vaccine", "unvaccinated"),
        ("is vaccine safe", "is vaccine not safe"),
        ("what", "is"),  # small words alone stay apart
    ],
)
def test_texts_that_ask_for_something_else_are_apart(one: str, other: str) -> None:
    """A question word, a maker, a number, a negation, or what comes after what makes another question."""
    assert not together(one, other)


@given(
    st.lists(WORDS, min_size=1, max_size=6).filter(lambda words: not DIRECTED & set(words)),
    st.randoms(use_true_random=False),
)
def test_order_and_plurals_never_matter_where_no_word_directs(words: list[str], random: Random) -> None:
    """Any order of words that has none of after, before and than is in the same cluster, if any word is not small."""
    if set(words) <= SMALL_WORDS:
        return
    turned = random.sample(words, len(words))
    assert cluster_keys([" ".join(words)], {}) == cluster_keys([" ".join(turned)], {})
    singulars = " ".join(map(singular, words))
    assert cluster_keys([singulars], {}) == cluster_keys([" ".join(words)], {})


@pytest.mark.parametrize(
    ("plural", "one"),
    [("vaccines", "vaccine"), ("allergies", "allergy"), ("rashes", "rash"), ("boxes", "box"), ("doses", "dose")],
)
def test_a_plural_and_its_word_have_one_stem(plural: str, one: str) -> None:
    """And the stem of a stem is itself, also of words that only look like plurals."""
    assert singular(plural) == singular(one)
    for word in ("virus", "illness", "diagnosis", "cvs", "2s", "is", plural):
        assert singular(singular(word)) == singular(word)


@given(st.dictionaries(TEXTS, st.integers(-100, 1000), min_size=1, max_size=12))
def test_a_cluster_is_named_by_its_largest_noisy_count(counts: dict[str, int]) -> None:
    """Every text is in one cluster; the shown text is a member, none is larger, and the order of texts is no matter."""
    texts = list(counts)
    found = clustered(texts, np.array(list(counts.values()), dtype=np.float64))
    assert found.members.sum() == len(texts)
    for number, shown in enumerate(found.shown):
        members = [texts[i] for i in np.flatnonzero(found.cluster == number)]
        assert texts[shown] == min(members, key=lambda text: (-counts[text], text))
    back = clustered(texts[::-1], np.array([counts[text] for text in texts[::-1]], dtype=np.float64))
    assert {texts[i] for i in found.shown} == {texts[::-1][i] for i in back.shown}


def test_a_cluster_adds_up_its_members_and_their_noise() -> None:
    """Counts add up, in any number of regions at once; sigmas as roots of the number of members."""
    texts = ["covid vaccine", "vaccine news", "vaccines covid", "the covid vaccine"]
    found = clustered(texts, np.array([5.0, 9.0, 7.0, 1.0]))
    assert [texts[i] for i in found.shown] == ["vaccines covid", "vaccine news"]
    assert found.members.tolist() == [3, 1]
    assert found.sums(np.array([5.0, 9.0, 7.0, 1.0])).tolist() == [13, 9]
    assert found.sums(np.array([[1.0, 2, 3, 4], [-1, 0, 1, 2]])).tolist() == [[8, 2], [2, 0]]
    assert found.sigmas(10.0) == pytest.approx([10 * 3**0.5, 10])


def test_no_texts_make_no_clusters() -> None:
    """A region without a shown text has an empty list."""
    found = clustered([], np.zeros(0))
    assert found.shown.size == found.members.size == found.sums(np.zeros((3, 0))).size == 0


# The synonyms of a lexicon


def test_synonyms_do_not_change_the_classifier() -> None:
    """They are in the lexicon's file, and no part of what a model is trained from."""
    assert "synonyms" not in repr(load_lexicon())
    assert SYNONYMS["covid 19"] == "covid"


@pytest.mark.parametrize(
    "lines", ["covid", "covid: a: b", "covid: corona, corona", "covid: corona\ncorona: flu", "covid: corona,, flu"]
)
def test_synonyms_that_cannot_be_right_are_refused(tmp_path: Path, lines: str) -> None:
    """A line without a colon or with two, a word listed twice or under itself, or nothing between commas."""
    path = tmp_path / "own.toml"
    path.write_text(f'synonyms = """\n{lines}\n"""\nclass = []\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"own\.toml: key 'synonyms': "):
        load_synonyms(path)


def test_a_lexicon_may_have_no_synonyms(tmp_path: Path) -> None:
    """Then only order, plurals and small words are put aside."""
    path = tmp_path / "own.toml"
    path.write_text("class = []\n", encoding="utf-8")
    assert load_synonyms(path) == {}
