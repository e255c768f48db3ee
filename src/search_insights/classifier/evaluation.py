"""Score a classifier on labelled queries: by category and overall, with intervals and its worst mistakes.

Precision and recall have Wilson intervals; F1 and its mean over the categories have bootstrap intervals, drawn with a
fixed seed so that the same labels give the same numbers. All intervals are 95 % intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search_insights.classifier.model import UNIT, Classifier
from search_insights.support.arrays import Floats, Numbers

NONE = "none"

_Z = 1.959964  # 95 % of a normal distribution is within this many standard deviations
_RESAMPLES = 1000
_SEED = 7


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value between 0 and 1 and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """The scores of one category. `labelled` counts the queries with this label, `named` those classified as it."""

    category: str
    labelled: int
    named: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Mistake:
    """A misclassified query. `margin` is how much higher the wrong category scored than the right one."""

    query: str
    labelled: str
    named: str
    margin: float


@dataclass(frozen=True)
class ClassifierReport:
    """All scores. `confusion` has a row for each label and a column for each answer; none comes first."""

    queries: int
    macro_f1: Estimate
    categories: tuple[CategoryScore, ...]
    confusion: tuple[tuple[int, ...], ...]
    mistakes: tuple[Mistake, ...]


def evaluate_classifier(
    classifier: Classifier, texts: Sequence[str], labels: Numbers, max_mistakes: int
) -> ClassifierReport:
    """Compare the classifier's answers with labels, which are category numbers, 0 for none."""
    names = [NONE, *(identity for identity, _ in classifier.categories)]
    named = classifier.classify(texts).astype(np.int64)
    return report(names, labels, named, _mistakes(classifier, names, texts, labels, named, max_mistakes))


def report(names: Sequence[str], labels: Numbers, named: Numbers, mistakes: Sequence[Mistake]) -> ClassifierReport:
    """Score answers against labels."""
    confusion = _confusion(labels, named, len(names))
    low, high = _bootstrap(labels, named, len(names))
    f1 = _f1(confusion[None])[0]
    scores = []
    for i, name in enumerate(names):
        right, labelled, answers = (int(n) for n in (confusion[i, i], confusion[i].sum(), confusion[:, i].sum()))
        own_f1 = Estimate(float(f1[i]), float(low[i]), float(high[i]))
        scores.append(CategoryScore(name, labelled, answers, wilson(right, answers), wilson(right, labelled), own_f1))
    mean = Estimate(float(f1.mean()), float(low[-1]), float(high[-1]))
    rows = tuple(tuple(int(n) for n in row) for row in confusion)
    return ClassifierReport(len(labels), mean, tuple(scores), rows, tuple(mistakes))


def wilson(right: int, total: int) -> Estimate:
    """Estimate a share with Wilson's interval. With a total of 0 the value is NaN and the interval is 0 to 1."""
    if not total:
        return Estimate(float("nan"), 0.0, 1.0)
    share, weight = right / total, _Z**2 / total
    centre = (share + weight / 2) / (1 + weight)
    half_width = _Z * np.sqrt(share * (1 - share) / total + weight / total / 4) / (1 + weight)
    return Estimate(share, max(0.0, float(centre - half_width)), min(1.0, float(centre + half_width)))


def _confusion(labels: Numbers, named: Numbers, classes: int) -> Numbers:
    return np.bincount(labels * classes + named, minlength=classes**2).reshape(classes, classes)


def _f1(confusions: npt.NDArray[np.int64]) -> Floats:
    """Return the F1 of each category; 1 for one that is in neither labels nor answers, where nothing is wrong."""
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    both = confusions.sum(axis=-1) + confusions.sum(axis=-2)
    return np.where(both > 0, 2 * right / np.maximum(both, 1), 1.0)


def _bootstrap(labels: Numbers, named: Numbers, classes: int) -> tuple[Floats, Floats]:
    """Resample the confusion matrix. Return low and high F1 of each category and, last, of their mean."""
    rng = np.random.default_rng(_SEED)
    cells = _confusion(labels, named, classes).ravel()
    resampled = rng.multinomial(len(labels), cells / cells.sum(), size=_RESAMPLES)
    f1 = _f1(resampled.reshape(_RESAMPLES, classes, classes))
    low, high = np.quantile(np.column_stack([f1, f1.mean(axis=1)]), [0.025, 0.975], axis=0)
    return low, high


def _mistakes(
    classifier: Classifier, names: Sequence[str], texts: Sequence[str], labels: Numbers, named: Numbers, limit: int
) -> list[Mistake]:
    """Return the most confident mistakes, the worst first."""
    wrong = np.flatnonzero(labels != named)
    if not wrong.size:
        return []
    scores = np.vstack([np.zeros(wrong.size), classifier.scores([texts[i] for i in wrong.tolist()])])
    at = np.arange(wrong.size)
    margin = (scores[named[wrong], at] - scores[labels[wrong], at]) / UNIT
    order = np.argsort(-margin, kind="stable")[:limit]
    return [
        Mistake(texts[i], names[labels[i]], names[named[i]], round(float(by), 2))
        for i, by in zip(wrong[order].tolist(), margin[order], strict=True)
    ]
