"""What a model makes of a log's texts: the most frequent ones of each topic, and those near its decision boundary.

Private: texts are what people typed. The most frequent distinct texts go through the model once, a batch at a time, and
a few of them are kept; so the memory does not grow with the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from search_insights.classifier.features import normalise, texts_with_cue
from search_insights.classifier.margins import DoubtfulAnswers, doubtful_answers, margins
from search_insights.classifier.model import Classifier
from search_insights.classifier.topics import part_read
from search_insights.private.engine import Engine
from search_insights.private.survey import FREQUENT, CategoryRows, Frequent, category_rows
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Counts, Floats

MOST_TEXTS = 1_000_000  # that are looked at
_BATCH = 1 << 14


@dataclass(frozen=True, slots=True)
class NearText:
    """A text near the decision boundary: the model's answer (`none` or an id), the nearest topic, and by how many units
    of log-odds the text is above that topic's boundary."""

    text: str
    rows: int
    category: str
    nearest: str
    margin: float


@dataclass(frozen=True, slots=True)
class Texts:
    """What a model makes of a week's most frequent texts.

    rows        rows with a text that was looked at; `all_rows` is how many have a text
    distinct    how many distinct texts were looked at
    doubtful    for each topic, how many rows got it and how many of them may be wrong, by the model's own confidence
    """

    rows: int
    all_rows: int
    distinct: int
    categories: tuple[CategoryRows, ...]
    near: tuple[NearText, ...]
    doubtful: tuple[DoubtfulAnswers, ...]


def survey_texts(engine: Engine, model: Classifier, spec: Spec, of_week: str) -> Texts:
    """Classify the most frequent texts of a week, and keep those that the publisher should see."""
    part = part_read("query")
    sql = f"""
        SELECT part, count(*) AS n FROM (SELECT {part} AS part FROM log WHERE query IS NOT NULL AND {of_week}) AS parts
        GROUP BY part ORDER BY n DESC, part LIMIT {MOST_TEXTS}"""
    found = _Found(model, len(spec.categories))
    for batch in engine.batches(sql, _BATCH):
        found.add([text for text, _ in batch], np.array([n for _, n in batch], dtype=np.int64))
    ((all_rows,),) = engine.ask(f"SELECT count(query) FROM log WHERE {of_week}")
    rows = int(found.rows.sum())
    categories = (category_rows(spec, i, int(n), rows, found.frequent[i]) for i, n in enumerate(found.rows))
    doubtful = tuple(
        DoubtfulAnswers(identity, rows, int(found.rows[i]), float(found.wrong[i]), int(found.rows[i]))
        for i, (identity, _) in enumerate(model.categories, start=1)
    )
    return Texts(rows, all_rows, found.distinct, tuple(categories), tuple(found.near), doubtful)


@dataclass
class _Found:
    """What was found so far, in texts that come most frequent first."""

    model: Classifier
    categories: int
    distinct: int = 0
    near: list[NearText] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows: Counts = np.zeros(self.categories, dtype=np.int64)
        self.wrong: Floats = np.zeros(self.categories)
        self.frequent: list[list[Frequent]] = [[] for _ in range(self.categories)]

    def add(self, texts: Sequence[str], counts: Counts) -> None:
        """Take a batch of texts."""
        self.distinct += len(texts)
        candidates = texts_with_cue(normalise(list(texts)), self.model.cues)
        with_cue = [texts[i] for i in candidates]
        found = margins(self.model, with_cue)
        best, margin = found.best.astype(np.int64) + 1, found.margin
        answers = np.zeros(len(texts), dtype=np.int64)
        answers[candidates] = found.named
        self.wrong[1:] += [topic.wrong for topic in doubtful_answers(self.model, with_cue, counts[candidates])]
        self.rows += np.bincount(answers, counts, self.categories).astype(np.int64)
        for number, frequent in enumerate(self.frequent):
            first = np.flatnonzero(answers == number)[: FREQUENT - len(frequent)]
            frequent += [Frequent(texts[i], int(counts[i])) for i in first]
        nearest = np.argsort(np.abs(margin), kind="stable")[:FREQUENT]
        self.near += [self._near(texts, counts, int(candidates[i]), int(best[i]), float(margin[i])) for i in nearest]
        self.near = sorted(self.near, key=lambda text: abs(text.margin))[:FREQUENT]

    def _near(self, texts: Sequence[str], counts: Counts, i: int, best: int, margin: float) -> NearText:
        topic = self.model.categories[best - 1][0]
        return NearText(texts[i], int(counts[i]), topic if margin > 0 else "none", topic, round(margin, 2))
