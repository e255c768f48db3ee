"""Cross-validation: what a model's answers are worth on texts that it has not learnt from, and thresholds that follow.

Each fifth of the labels is scored by a model that has learnt from the other four, near-duplicates together. The pool is
left out: its texts are made from all labels. Ordinary queries, which are assumed to be off topic, are scored the same
way, so each topic that one gets counts as wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from search_insights.classifier.evaluation import Estimate, wilson
from search_insights.classifier.lexicon import Lexicon
from search_insights.classifier.margins import margins
from search_insights.classifier.model import UNIT, Classifier
from search_insights.classifier.train.evidence import background
from search_insights.classifier.train.folds import FOLDS, assign_folds, group_keys
from search_insights.classifier.train.thresholds import MinPrecision, Scored, choose_threshold
from search_insights.classifier.train.training import Trained, train, train_on_labels
from search_insights.spec.geography import Geography
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats, Numbers

PER = 100_000  # queries for which wrong answers are given


@dataclass(frozen=True, slots=True)
class CategoryMeasure:
    """What a topic's answers are worth, cross-validated. `threshold` is in units of log-odds."""

    category: str
    labelled: int
    named: int
    precision: Estimate
    recall: Estimate
    threshold: float
    min_precision: float | None


@dataclass(frozen=True, slots=True)
class OrdinaryMeasure:
    """How many ordinary queries got a topic. All of them count as wrong; `upper` is the end of the 95 % interval.

    queries, named     distinct texts
    per_100_000        wrong answers in 100,000 distinct texts, and `upper` at most
    searches_per_100_000  the same with each text as often as it was given
    """

    queries: int
    named: int
    per_100_000: float
    upper: float
    searches_per_100_000: float
    by_category: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Validation:
    """What was measured. `ordinary` is None without ordinary queries."""

    labels: int
    folds: int
    groups: int
    categories: tuple[CategoryMeasure, ...]
    ordinary: OrdinaryMeasure | None


@dataclass(frozen=True)
class Material:
    """What a model is trained on. `ordinary_counts` says how often each ordinary query was given."""

    texts: Sequence[str]
    labels: Numbers
    pool: Sequence[str]
    spec: Spec
    lexicon: Lexicon
    geography: Geography | None
    ordinary: Sequence[str] = ()
    ordinary_counts: Sequence[int] = ()

    def without_labelled(self) -> "Material":
        """Leave out the ordinary queries that are labelled: what they are about is known."""
        labelled = set(self.texts)
        kept = [i for i, text in enumerate(self.ordinary) if text not in labelled]
        return replace(
            self,
            ordinary=[self.ordinary[i] for i in kept],
            ordinary_counts=[self.ordinary_counts[i] for i in kept] if len(self.ordinary_counts) else [1] * len(kept),
        )


def train_validated(
    material: Material,
    wanted: MinPrecision | None = None,
    *,
    name: str = "",
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[Trained, Validation]:
    """Train a model, measure it, and set the thresholds that reach the precisions wanted.

    The model's `about` says what was measured on the labels: it is published with the weeks that the model classified.
    What was measured on ordinary queries is not in it, for these may be private.
    """
    material, wanted = material.without_labelled(), wanted or MinPrecision()
    scored, groups = _scored(material, progress)
    ids = [c.id for c in material.spec.categories[1:]]
    thresholds = np.array([choose_threshold(scored, i + 1, ids[i], wanted) for i in range(len(ids))], dtype=np.int64)
    validation = _measure(scored, thresholds, ids, wanted, material, groups)
    trained = _train(material, progress)
    about = dict(trained.classifier.about) | _public_facts(validation, name)
    model = replace(trained.classifier, about=about, thresholds=thresholds.astype(np.int32))
    return replace(trained, classifier=model), validation


def _train(material: Material, progress: Callable[[str], None]) -> Trained:
    return train(
        material.texts,
        material.labels,
        material.pool,
        material.spec,
        material.lexicon,
        material.geography,
        ordinary=material.ordinary,
        progress=progress,
    )


def _scored(material: Material, progress: Callable[[str], None]) -> tuple[Scored, int]:
    """Score every label and ordinary query by a model that has not seen it; also return the number of groups."""
    places = background((), material.geography).places
    keys = group_keys(material.texts, places)
    fold = assign_folds(keys, material.labels)
    other = np.arange(len(material.ordinary)) % FOLDS
    best, score = np.zeros(len(material.texts), dtype=np.int64), np.zeros(len(material.texts))
    other_best, other_score = np.zeros(other.size, dtype=np.int64), np.zeros(other.size)
    for i in range(FOLDS):
        progress(f"cross-validation: part {i + 1} of {FOLDS}")
        model = _without(material, np.flatnonzero(fold != i), np.flatnonzero(other != i))
        held, ordinary = np.flatnonzero(fold == i), np.flatnonzero(other == i)
        best[held], score[held] = _answers(model, [material.texts[j] for j in held.tolist()])
        other_best[ordinary], other_score[ordinary] = _answers(model, [material.ordinary[j] for j in ordinary.tolist()])
    return Scored(material.labels, best, score, other_best, other_score), len(set(keys))


def _without(material: Material, labels: Numbers, ordinary: Numbers) -> Classifier:
    """Train a model on some of the labels, with some of the ordinary queries."""
    known = background([material.ordinary[j] for j in ordinary.tolist()], material.geography)
    texts = [material.texts[j] for j in labels.tolist()]
    return train_on_labels(texts, material.labels[labels], material.spec, material.lexicon, material.geography, known)


def _answers(model: Classifier, texts: Sequence[str]) -> tuple[Numbers, Floats]:
    """Return the best topic of each text, as a category number, and its score; minus infinity without a cue."""
    found = margins(model, texts)
    return found.best.astype(np.int64) + 1, np.where(found.has_cue, found.margin * UNIT, -np.inf)


def _measure(
    scored: Scored, thresholds: Numbers, ids: Sequence[str], wanted: MinPrecision, material: Material, groups: int
) -> Validation:
    named = np.where(scored.score > thresholds[scored.best - 1], scored.best, 0)
    categories = []
    for i, identity in enumerate(ids):
        right = int(((named == i + 1) & (scored.labels == i + 1)).sum())
        answers, labelled = int((named == i + 1).sum()), int((scored.labels == i + 1).sum())
        threshold = round(float(thresholds[i]) / UNIT, 3)
        shares = wilson(right, answers), wilson(right, labelled)
        categories.append(CategoryMeasure(identity, labelled, answers, *shares, threshold, wanted.of(identity)))
    ordinary = _measure_ordinary(scored, thresholds, ids, material) if len(material.ordinary) else None
    return Validation(len(material.texts), FOLDS, groups, tuple(categories), ordinary)


def _measure_ordinary(scored: Scored, thresholds: Numbers, ids: Sequence[str], material: Material) -> OrdinaryMeasure:
    named = np.where(scored.ordinary_score > thresholds[scored.ordinary_best - 1], scored.ordinary_best, 0)
    wrong, counts = int((named > 0).sum()), np.array(material.ordinary_counts)
    share = wilson(wrong, named.size)
    return OrdinaryMeasure(
        int(named.size),
        wrong,
        round(PER * share.value, 1),
        round(PER * share.high, 1),
        round(PER * float(counts[named > 0].sum()) / float(counts.sum()), 1),
        {identity: int((named == i + 1).sum()) for i, identity in enumerate(ids)},
    )


def _public_facts(validation: Validation, name: str) -> dict[str, Any]:
    """Return what readers of a dataset learn about the model: shares of labels only, to three decimals."""
    measured = {
        c.category: {
            "labels": c.labelled,
            "precision": _rounded(c.precision),
            "recall": _rounded(c.recall),
        }
        for c in validation.categories
    }
    return {"name": name, "measured": measured, "method": f"cross-validation on labels, {validation.folds} folds"}


def _rounded(estimate: Estimate) -> list[float] | None:
    """Return value, low and high; None where nothing was named, so that there is no value."""
    if estimate.value != estimate.value:
        return None
    return [round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)]
