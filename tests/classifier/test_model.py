"""Promises about the packaged classifier and about models as files."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.classifier.evaluation import evaluate_classifier, report, wilson
from search_insights.classifier.files import read_labels
from search_insights.classifier.lexicon import load_lexicon
from search_insights.classifier.model import (
    PACKAGED_MODEL,
    CategoryNumbers,
    Classifier,
    load_classifier,
    load_classifier_for,
)
from search_insights.classifier.topics import countable_texts, create_topics_table
from search_insights.classifier.train.pool import make_pool
from search_insights.classifier.train.training import describe, save
from search_insights.classifier.vocabulary_file import packaged_vocabulary
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from search_insights.spec.spec import Spec
from tests.support.other_country import other_spec

DATA = Path(str(resources.files("search_insights.classifier") / "packaged"))
WHOLE = (DATA / "vaccination.model").read_bytes()
POOL_TEXTS, POOL_SEED = 20_000, 1  # as in `make model`


# The packaged model


def test_the_packaged_model_keeps_its_scores(packaged: Classifier, paper: Spec) -> None:
    """On held-out labels the packaged model does not silently get worse."""
    found = evaluate_classifier(packaged, *read_labels(DATA / "vaccination_heldout.csv", paper), max_mistakes=0)
    assert found.queries > 500
    assert found.macro_f1.value >= 0.92
    assert min(score.f1.value for score in found.categories) >= 0.88


def test_the_packaged_model_was_trained_on_what_is_packaged(packaged: Classifier, paper: Spec, us: Geography) -> None:
    """The labels, the lexicon and the generator of the pool are those that the model was made from."""
    texts, labels = read_labels(DATA / "vaccination_labels.csv", paper)
    lexicon = load_lexicon()
    pool = make_pool(texts, lexicon.classes, us, POOL_TEXTS, POOL_SEED)
    expected = describe(texts, labels, pool, lexicon)
    assert {key: packaged.about[key] for key in expected} == expected


def test_there_are_enough_labels_of_every_category_and_none_twice(paper: Spec) -> None:
    """At least 1,500 queries are labelled, 300 of each category, and none is in both files."""
    texts, labels = read_labels(DATA / "vaccination_labels.csv", paper)
    held, _ = read_labels(DATA / "vaccination_heldout.csv", paper)
    assert len(texts) >= 1500
    assert np.bincount(labels).min() >= 300
    assert not set(texts) & set(held)


@pytest.mark.parametrize(
    ("query", "category"),
    [
        ("covid vaccine near me", 1),
        ("safeway covid vaccine", 1),
        ("covid vaccine ontario", 1),
        ("book NHS covid vaccine", 1),
        ("pfizer vaccine melbourne", 1),
        ("is the covid vaccine safe", 2),
        ("pfizer vaccine side effects", 2),
        ("side affects of covid vacine", 2),
        ("cdc vaccine tracker", 3),
        ("covid vaccine", 3),
        ("flu shot near me", 0),
        ("puppy shots", 0),
        ("covid testing near me", 0),
        ("moderna stock price", 0),
        ("booster seat laws", 0),
        ("lexapro side effects", 0),
        ("weather", 0),
    ],
)
def test_the_anchors_of_the_rubric_hold(packaged: Classifier, query: str, category: int) -> None:
    """The original publisher's examples of each category, and plain other searches, are classified correctly."""
    assert packaged.classify([query]).tolist() == [category]


def test_ordinary_searches_have_no_category(packaged: Classifier) -> None:
    """At most 1 in 500 of the simulation's ordinary texts gets a category.

    1 in 30 of them is about flu shots, dog vaccination or covid tests, mostly nonsense ("why is there dog vaccination
    calculator"), so this is not an estimate for real searches; the model card has one.
    """
    from search_insights.simulation.queries import ordinary_texts

    texts = [text.replace("{place}", "san benito") for text in ordinary_texts()]
    assert len(texts) > 50_000
    assert np.count_nonzero(packaged.classify(texts)) <= len(texts) / 500


# The texts that have a topic


TEXTS = ["weather", "covid vaccine near me", "", "is the covid vaccine safe"]


def test_topics_are_returned_for_the_texts_that_have_one(packaged: Classifier) -> None:
    """The indices of the texts with a topic, in order, and their category numbers."""
    indices, numbers = packaged.topics_of([*TEXTS, None])
    assert (indices.tolist(), numbers.tolist()) == ([1, 3], [1, 2])
    assert [array.size for array in packaged.topics_of(["weather"])] == [0, 0]
    assert [array.size for array in packaged.topics_of([])] == [0, 0]


def test_a_text_counts_as_normalised_if_it_is_public_and_still_has_a_topic(packaged: Classifier) -> None:
    """What counts in top searches is a function of the words alone: variants are one text, private words none.

    Only texts with a topic are given; of those with other letters than ASCII, the counted form is classified again.
    """
    texts = ["Covid VACCINE,  near me?", "covid vaccine near me", "covid vaccine quuxley", "\uff2eear me?"]
    near = "covid vaccine near me"
    assert countable_texts(packaged, packaged_vocabulary(), texts) == [near, near, None, None]
    assert countable_texts(packaged, packaged_vocabulary(), []) == []


def test_the_topics_table_holds_each_text_with_a_topic_once(packaged: Classifier) -> None:
    """A table of a database gets one row for each distinct text with a topic, also if no text has one."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE log AS SELECT unnest(?) AS query", [[*TEXTS, *TEXTS, None]])
        create_topics_table(connection, packaged, "SELECT query FROM log")
        rows = connection.execute("SELECT query, category FROM topics ORDER BY query").fetchall()
        assert rows == [("covid vaccine near me", 1), ("is the covid vaccine safe", 2)]
        create_topics_table(connection, packaged, "SELECT query FROM log WHERE query = 'weather'")
        assert connection.execute("SELECT query, category FROM topics").fetchall() == []
        types = [row[:2] for row in connection.execute("DESCRIBE topics").fetchall()]
        assert types == [("query", "VARCHAR"), ("category", "UTINYINT"), ("text", "VARCHAR")]


def test_texts_come_to_the_classifier_in_batches_and_those_with_a_topic_go_back(
    packaged: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many texts have a topic, no more than a batch of them is outside the database."""
    monkeypatch.setattr("search_insights.classifier.topics._BATCH", 100)
    sizes: list[int] = []
    classify = Classifier.classify

    def watched(self: Classifier, texts: Sequence[str | None]) -> CategoryNumbers:
        sizes.append(len(texts))
        return classify(self, texts)

    monkeypatch.setattr(Classifier, "classify", watched)
    with duckdb.connect() as connection:
        create_topics_table(connection, packaged, "SELECT 'covid vaccine near me ' || i AS query FROM range(2500) r(i)")
        assert connection.execute("SELECT count(DISTINCT query), min(category) FROM topics").fetchall() == [(2500, 1)]
    assert sum(sizes) == 2500
    assert max(sizes) == 100


# Models as files


def test_the_same_model_has_the_same_fingerprint_and_answers(packaged: Classifier, paper: Spec, tmp_path: Path) -> None:
    """A model that is written and read again is the same to the last bit."""
    path = tmp_path / "copy.model"
    save(packaged, path)
    again = load_classifier(path)
    assert again.fingerprint == packaged.fingerprint
    assert path.read_bytes() == WHOLE
    texts, _ = read_labels(DATA / "vaccination_heldout.csv", paper)
    assert (again.scores(texts) == packaged.scores(texts)).all()


def test_answers_are_whole_numbers(packaged: Classifier) -> None:
    """Scores are sums of whole numbers, far below where floats would round, so they are the same on every machine."""
    scores = packaged.scores(["covid vaccine near me " * 14, "weather", "is the covid vaccine safe"])
    assert (scores == np.rint(scores)).all()
    assert np.abs(scores).max() < 2**40


def test_another_weight_gives_another_fingerprint(packaged: Classifier) -> None:
    """The fingerprint covers everything that determines answers."""
    bias = packaged.bias.copy()
    bias[0] += 1
    other = Classifier(packaged.categories, packaged.table, packaged.weights, bias, packaged.cues, {})
    assert other.fingerprint != packaged.fingerprint


def test_a_model_of_other_categories_is_refused(packaged: Classifier) -> None:
    """A model whose categories are not the spec's is refused in one line that names both."""
    with pytest.raises(InputError, match=r"packaged model names A1 .* heating-v2 has H1 heating.*classify train"):
        load_classifier_for(other_spec(), PACKAGED_MODEL)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_a_damaged_model_is_refused(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    """Whatever a file that is not a model holds, one line says so."""
    path = tmp_path_factory.getbasetemp() / "damaged.model"
    for data in (junk, WHOLE[:at], WHOLE[:at] + junk, WHOLE[: -at - 1]):
        path.write_bytes(data)
        with pytest.raises(InputError, match="not a model of 'search-insights classify train'"):
            load_classifier(path)


# Scores


def test_a_report_counts_as_one_counts_by_hand() -> None:
    """Precision, recall, F1 and the confusion of four queries, counted by hand."""
    found = report(["none", "A"], np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), mistakes=())
    assert found.confusion == ((1, 1), (0, 2))
    a = found.categories[1]
    assert (a.precision.value, a.recall.value) == (2 / 3, 1.0)
    assert a.f1.value == pytest.approx(0.8)
    assert found.macro_f1.value == pytest.approx((2 / 3 + 0.8) / 2)
    assert found.macro_f1.low <= found.macro_f1.value <= found.macro_f1.high


def test_wilsons_interval_is_the_textbook_one() -> None:
    """8 of 10 give 0.490 to 0.943."""
    found = wilson(8, 10)
    assert (round(found.low, 3), round(found.high, 3)) == (0.490, 0.943)
