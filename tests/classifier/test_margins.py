"""How sure a model is: texts near its boundary, and how many answers may be wrong."""

import numpy as np

from search_insights.classifier.margins import doubtful_answers, margins, near_boundary
from search_insights.classifier.model import load_classifier

TEXTS = ["covid vaccine near me", "taverna menu", "cinema tonight", "covid arm", "vaccine pass", "corona beer", "shot"]
COUNTS = [10, 3, 2, 1, 1, 1, 2]


def test_margins_give_the_answers_of_the_model() -> None:
    """A text has its best topic if it has a cue and its margin is above 0: exactly when the model says so."""
    model = load_classifier()
    assert margins(model, TEXTS).named.tolist() == model.classify(TEXTS).tolist()


def test_texts_near_the_boundary_come_nearest_first() -> None:
    """On both sides of the boundary; a text without a cue has no boundary to be near to."""
    found = near_boundary(load_classifier(), TEXTS, COUNTS, 4)
    assert len(found) == 4
    assert [abs(f.margin) for f in found] == sorted(abs(f.margin) for f in found)
    assert "cinema tonight" not in {f.text for f in near_boundary(load_classifier(), TEXTS, COUNTS, 100)}
    assert all((f.category == f.nearest) == (f.margin > 0) for f in found)
    assert near_boundary(load_classifier(), [], [], 3) == []


def test_doubtful_answers_count_searches_not_texts() -> None:
    """A text that was searched ten times as often gives ten times as many wrong answers; never more than were named."""
    model = load_classifier()
    once, ten = (doubtful_answers(model, TEXTS, np.array(COUNTS) * times) for times in (1, 10))
    for few, many in zip(once, ten, strict=True):
        assert np.isclose(many.wrong, 10 * few.wrong)
        assert 0 <= few.wrong <= few.named == few.wrong_most
    assert sum(answers.named for answers in once) == sum(
        count for count, number in zip(COUNTS, model.classify(TEXTS), strict=True) if number
    )
