"""How sure a model is of texts: those near its decision boundary, and how many of its answers may be wrong.

For the operator only: texts and their counts are private. Whoever calls this shows the result to the operator and
writes it neither to a store nor to a dataset.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search_insights.classifier.features import normalise, texts_with_cue
from search_insights.classifier.model import UNIT, CategoryNumbers, Classifier
from search_insights.support.arrays import Bools, Counts, Floats

_BATCH = 1 << 14  # texts


@dataclass(frozen=True, slots=True)
class TextMargin:
    """A text and how far it is from the model's decision boundary.

    searches  how often it was searched
    category  the id of the model's answer; empty for none
    nearest   the id of the topic that it scores highest, whether or not that is the answer
    margin    by how many units of log-odds that topic exceeds its threshold; below 0 the text does not reach it
    has_cue   whether it has any of the model's cues; without one the answer is none, whatever the margin
    """

    text: str
    searches: int
    category: str
    nearest: str
    margin: float
    has_cue: bool


@dataclass(frozen=True, slots=True)
class DoubtfulAnswers:
    """How many searches got a topic, and how many of them may be wrong, by the model's own confidence.

    wrong       expected wrong answers: for each named search, 1 minus the confidence, calibrated on the labels
    wrong_most  all named searches: nothing but labels can show that any of them is right
    """

    category: str
    searches: int
    named: int
    wrong: float
    wrong_most: int

    @property
    def wrong_per_100_000(self) -> float:
        """Expected wrong answers in 100,000 searches of the log. Low if the labels are unlike the log."""
        return 1e5 * self.wrong / max(self.searches, 1)


@dataclass(frozen=True, slots=True)
class Margins:
    """The best topic of each text (0 is the first), its margin in log-odds, and whether the text has a cue."""

    best: CategoryNumbers
    margin: Floats
    has_cue: Bools

    @property
    def named(self) -> CategoryNumbers:
        """The model's answers: category numbers, 0 for none."""
        return np.where((self.margin > 0) & self.has_cue, self.best + 1, 0).astype(np.uint8)


def margins(model: Classifier, texts: Sequence[str]) -> Margins:
    """Return how far each text is from the boundary of the topic that it scores highest."""
    best, margin = np.zeros(len(texts), dtype=np.uint8), np.zeros(len(texts))
    has_cue = np.zeros(len(texts), dtype=np.bool_)
    for begin in range(0, len(texts), _BATCH):
        batch = list(texts[begin : begin + _BATCH])
        part = slice(begin, begin + len(batch))
        topic, above = model.best_topics(batch)
        best[part], margin[part] = topic, above / UNIT
        has_cue[begin + texts_with_cue(normalise(batch), model.cues)] = True
    return Margins(best, margin, has_cue)


def near_boundary(
    model: Classifier, texts: Sequence[str], counts: Sequence[int] | Counts, n: int, *, with_cue: bool = True
) -> list[TextMargin]:
    """Return the `n` texts nearest to the decision boundary, on both sides, the nearest first.

    `texts` are distinct texts and `counts` says how often each was searched; of equally near texts the most frequent
    come first. Texts without a cue have no topic whatever they score; they are left out unless `with_cue` is False.
    """
    found, counts = margins(model, texts), np.asarray(counts, dtype=np.int64)
    chosen = np.flatnonzero(found.has_cue) if with_cue else np.arange(len(texts))
    order = np.lexsort((-counts[chosen], np.abs(found.margin[chosen])))[: max(n, 0)]
    return [text_margin(model, found, texts, counts, int(i)) for i in chosen[order]]


def text_margin(model: Classifier, found: Margins, texts: Sequence[str], counts: Counts, i: int) -> TextMargin:
    """Return what was found about the text number `i`."""
    nearest = model.categories[int(found.best[i])][0]
    margin, has_cue = float(found.margin[i]), bool(found.has_cue[i])
    answer = nearest if margin > 0 and has_cue else ""
    return TextMargin(texts[i], int(counts[i]), answer, nearest, round(margin, 2), has_cue)


def doubtful_answers(
    model: Classifier, texts: Sequence[str], counts: Sequence[int] | Counts
) -> tuple[DoubtfulAnswers, ...]:
    """Estimate, for each topic, how many of a log's searches got it wrongly.

    This is the model's own opinion, calibrated on its labels: texts unlike any label are where it is most wrong. Only
    labelled texts, or ordinary ones that are known to be off topic, measure that.
    """
    found, counts = margins(model, texts), np.asarray(counts, dtype=np.int64)
    named = found.named
    temperature = float(model.about.get("temperature", 1.0))
    wrong = counts / (1.0 + np.exp(np.clip(found.margin / temperature, -50, 50)))
    total = int(counts.sum())
    return tuple(
        DoubtfulAnswers(identity, total, int(counts[of].sum()), float(wrong[of].sum()), int(counts[of].sum()))
        for identity, of in ((identity, named == i + 1) for i, (identity, _) in enumerate(model.categories))
    )
