"""Semi-supervised training: a committee learns from labels and classifies the pool, a student learns from both.

1. Each member of the committee is trained without one fifth of the labels. Its confidence is calibrated on that fifth.
2. The committee classifies the pool. A text is kept if the calibrated confidence is high; there are no quotas by
   category.
3. The student learns from the labels, from the kept texts, and from mistyped copies of both.

The weights are then rounded to whole numbers. The same labels, pool and lexicon give the same model.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.classifier.features import (
    BUCKET_BITS,
    Cues,
    WordTable,
    features,
    normalise,
    split_words,
    texts_with_cue,
)
from search_insights.classifier.lexicon import Lexicon, encode_cues, place_names, word_table, words_of
from search_insights.classifier.model import UNIT, Classifier
from search_insights.classifier.train.evidence import Background, background, find_cues
from search_insights.classifier.train.folds import FOLDS
from search_insights.classifier.train.pool import mistyped
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats, Numbers
from search_insights.support.files import replacing_file

MIN_CONFIDENCE = 0.9  # calibrated, for a text of the pool to be kept
POOL_WEIGHT = 500  # of all kept texts together; a label weighs 1
MISTYPED_COPIES = 4  # of each text; together they weigh as much as the text itself
MIN_OCCURRENCES = 3  # of a word in the labels, for the model to know it

_MAX_NAMES = 2000  # places learnt as texts of no topic
_NAMES_SHARE = 0.25  # the most that they weigh together, as a share of the labels
_MAX_BIAS = 1 << 30
_INVERSE_REGULARIZATION = 1.0  # higher fits the labels more closely, with larger weights
_ITERATIONS = 400
_TINY = 1e-9  # keeps logarithms finite


@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and how many texts of the pool it learnt from."""

    classifier: Classifier
    kept: int


def train(
    texts: Sequence[str],
    labels: Numbers,
    pool: Sequence[str],
    spec: Spec,
    lexicon: Lexicon,
    geography: Geography | None,
    *,
    ordinary: Sequence[str] = (),
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Trained:
    """Train a model for the categories of a spec. `labels` are category numbers, 0 for none.

    `ordinary` are queries that are mostly about no topic. They are not learnt from, but they show which words are no
    evidence of a topic, if the lexicon has no cues.
    """
    _require_every_category(labels, spec)
    about = describe(texts, labels, pool, lexicon)
    given = prepare(texts, labels, lexicon, geography, background(ordinary, geography))
    _require_evidence(given, spec)
    pool = [pool[i] for i in texts_with_cue(normalise(pool), given.cues).tolist()] if pool else []
    learn = _Learner(given.table, len(spec.categories))
    progress("the committee learns from the labels")
    committee, temperature = _committee(learn, given.texts, given.labels)
    progress("the committee classifies the pool")
    kept, named = _label_pool(learn, committee, temperature, pool)
    progress(
        f"the student learns from {len(given.texts):,} labels and names of places, and {len(kept):,} texts of the pool"
    )
    student = learn.fit(*_with_mistyped_copies(given, kept, named, seed))
    about |= {"pool_kept": len(kept), "temperature": round(temperature, 4)}
    return Trained(_round_weights(student, spec, given, about), len(kept))


@dataclass(frozen=True)
class Prepared:
    """What a model learns from, and what it knows before: texts with labels and weights, a word table, and cues."""

    texts: list[str]
    labels: Numbers
    weights: Floats
    table: WordTable
    cues: Cues


def prepare(
    texts: Sequence[str], labels: Numbers, lexicon: Lexicon, geography: Geography | None, known: Background
) -> Prepared:
    """Choose the cues, and the texts to learn from.

    By a lexicon's cues, texts without one are left out. Where cues are found in the labels, only texts of topics are:
    without the others a model would learn that everything with a cue has a topic. Names of places are then learnt as
    texts of no topic, so that none speaks for one.
    """
    cues = encode_cues(lexicon.cues) if lexicon.cues else find_cues(texts, labels, known)
    has_cue = np.zeros(len(texts), dtype=bool)
    has_cue[texts_with_cue(normalise(texts), cues)] = cues.size > 0
    kept = np.flatnonzero(has_cue if lexicon.cues else has_cue | (labels == 0)).tolist()
    names = [] if lexicon.cues or geography is None else sorted(set(place_names(geography)) - set(texts))[:_MAX_NAMES]
    chosen = [texts[i] for i in kept]
    counts = Counter(words_of(chosen))
    common = sorted(word for word, n in counts.items() if n >= MIN_OCCURRENCES)
    weight = min(1.0, _NAMES_SHARE * len(kept) / max(len(names), 1))
    return Prepared(
        [*chosen, *names],
        np.concatenate([labels[kept], np.zeros(len(names), dtype=np.int64)]),
        np.concatenate([np.ones(len(kept)), np.full(len(names), weight)]),
        word_table(lexicon.classes, geography, common),
        cues,
    )


def train_on_labels(
    texts: Sequence[str],
    labels: Numbers,
    spec: Spec,
    lexicon: Lexicon,
    geography: Geography | None,
    known: Background,
    seed: int = 0,
) -> Classifier:
    """Train a model on labels alone, however few: without a committee and without a pool. For cross-validation."""
    given = prepare(texts, labels, lexicon, geography, known)
    learn = _Learner(given.table, len(spec.categories))
    student = learn.fit(*_with_mistyped_copies(given, [], np.zeros(0, dtype=np.int64), seed))
    return _round_weights(student, spec, given, {})


def describe(texts: Sequence[str], labels: Numbers, pool: Sequence[str], lexicon: Lexicon) -> dict[str, Any]:
    """Return a record of what a model is trained on: counts and digests of the labels, the pool and the lexicon."""
    given = sorted(f"{text}\t{label}" for text, label in zip(texts, labels.tolist(), strict=True))
    return {
        "labels": len(texts),
        "labels_sha256": _digest(given),
        "pool": len(pool),
        "pool_sha256": _digest(sorted(pool)),
        "lexicon_sha256": _digest([repr(lexicon)]),
    }


def _digest(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def save(classifier: Classifier, path: Path) -> None:
    """Write a model to a file that appears complete or not at all."""
    try:
        with replacing_file(path) as draft:
            draft.write_bytes(classifier.to_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def _require_every_category(labels: Numbers, spec: Spec) -> None:
    found = np.bincount(labels, minlength=len(spec.categories))
    few = [c.id for c, n in zip(spec.categories, found, strict=True) if n < FOLDS]
    if few:
        raise InputError(f"the labels have fewer than {FOLDS} queries of {', '.join(few)}; label more of them")


def _require_evidence(given: Prepared, spec: Spec) -> None:
    """Refuse labels of a topic none of which has a cue: no text could ever get it."""
    found = np.bincount(given.labels, minlength=len(spec.categories))
    without = [c.id for c, n in zip(spec.categories[1:], found[1:], strict=True) if not n]
    if without:
        raise InputError(
            f"no label of {', '.join(without)} has a cue: name cues in the lexicon, or label more queries that share "
            "words which other queries and names of places do not have"
        )


@dataclass(frozen=True, slots=True)
class _Linear:
    """A linear model: a row of weights and an intercept for each class, over all buckets."""

    weights: Floats
    intercept: Floats


@dataclass(frozen=True)
class _Learner:
    """Fits linear models to texts, with the features of one word table."""

    table: WordTable
    classes: int

    def matrix(self, texts: Sequence[str]) -> Any:
        from scipy import sparse

        found = features(split_words(normalise(texts)), self.table)
        ones = np.ones(found.text.size)
        return sparse.csr_matrix((ones, (found.text, found.bucket)), shape=(len(texts), 1 << BUCKET_BITS))

    def fit(self, texts: Sequence[str], labels: Numbers, weights: Floats | None = None) -> _Linear:
        if len(np.unique(labels)) < 2:
            return self._constant(labels)
        matrix = self.matrix(texts)
        used = np.unique(matrix.indices)  # a small part of all buckets
        model = _logistic_regression()(C=_INVERSE_REGULARIZATION, max_iter=_ITERATIONS, tol=1e-4)
        with _one_thread():
            model.fit(matrix[:, used], labels, weights)
        full = np.zeros((self.classes, 1 << BUCKET_BITS))
        rows = model.coef_ if len(model.classes_) > 2 else np.vstack([-model.coef_, model.coef_]) / 2
        first = model.intercept_ if len(model.classes_) > 2 else np.array([-1, 1]) * model.intercept_ / 2
        full[np.ix_(model.classes_, used)] = rows
        intercept = np.full(self.classes, -np.inf)
        intercept[model.classes_] = first
        return _Linear(full, intercept)

    def _constant(self, labels: Numbers) -> _Linear:
        """Return a model that gives every text the only category that there is; none if there is none."""
        intercept = np.full(self.classes, -np.inf)
        intercept[labels[:1] if labels.size else 0] = 0.0
        return _Linear(np.zeros((self.classes, 1 << BUCKET_BITS)), intercept)

    def logits(self, model: _Linear, texts: Sequence[str]) -> Floats:
        logits: Floats = self.matrix(texts) @ model.weights.T + model.intercept
        return logits


def _logistic_regression() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise InputError("training needs scikit-learn: pip install 'search-insights[train]'") from None
    return LogisticRegression


def _one_thread() -> Any:
    """Use one thread: sums have the same order whatever the number of cores, and vectors this small are faster."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _committee(learn: _Learner, texts: Sequence[str], labels: Numbers) -> tuple[list[_Linear], float]:
    """Train one member without each fold of the labels. Return the members and the temperature that calibrates them."""
    fold = _assign_folds(texts)
    members, unseen = [], np.zeros((len(texts), learn.classes))
    for i in range(FOLDS):
        seen, held = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        members.append(learn.fit([texts[j] for j in seen.tolist()], labels[seen]))
        unseen[held] = learn.logits(members[-1], [texts[j] for j in held.tolist()])
    return members, _temperature(unseen, labels)


def _assign_folds(texts: Sequence[str]) -> Numbers:
    """Assign texts to folds by a hash of the text, so that adding a label does not move the others."""
    return np.array([hashlib.sha256(text.encode("utf-8", "replace")).digest()[0] % FOLDS for text in texts])


def _temperature(logits: Floats, labels: Numbers) -> float:
    """Return what to divide logits by so that confidence matches accuracy: the lowest log loss of some candidates."""
    candidates = np.geomspace(0.3, 5.0, 60)
    rows = np.arange(len(labels))
    losses = [-np.log(_softmax(logits / t)[rows, labels] + _TINY).mean() for t in candidates]
    return float(candidates[int(np.argmin(losses))])


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _label_pool(
    learn: _Learner, committee: Sequence[_Linear], temperature: float, pool: Sequence[str]
) -> tuple[list[str], Numbers]:
    """Return the texts of the pool that the committee is confident of, with their labels."""
    if not pool:
        return [], np.zeros(0, dtype=np.int64)
    confidence = np.mean([_softmax(learn.logits(member, pool) / temperature) for member in committee], axis=0)
    confident = np.flatnonzero(confidence.max(axis=1) >= MIN_CONFIDENCE)
    return [pool[i] for i in confident.tolist()], confidence[confident].argmax(axis=1)


def _with_mistyped_copies(
    given: Prepared, kept: Sequence[str], named: Numbers, seed: int
) -> tuple[list[str], Numbers, Floats]:
    """Return all training texts, each as it is and mistyped, with their labels and weights."""
    rng = random.Random(seed)  # noqa: S311 - for training only
    clean, labels = [*given.texts, *kept], np.concatenate([given.labels, named])
    weights = np.concatenate([given.weights, np.full(len(kept), POOL_WEIGHT / max(len(kept), 1))])
    copies = [mistyped(mistyped(text, rng), rng) for _ in range(MISTYPED_COPIES) for text in clean]
    copy_weights = np.tile(weights / MISTYPED_COPIES, MISTYPED_COPIES)
    return [*clean, *copies], np.tile(labels, 1 + MISTYPED_COPIES), np.concatenate([weights, copy_weights])


def _round_weights(model: _Linear, spec: Spec, given: Prepared, about: dict[str, Any]) -> Classifier:
    """Make the weights relative to none, and round them to whole numbers."""
    weights = np.rint((model.weights[1:] - model.weights[0]) * UNIT)
    intercept = np.maximum(model.intercept, -_MAX_BIAS)  # that of a category without labels is infinite
    bias = np.clip(np.rint((intercept[1:] - intercept[0]) * UNIT), -_MAX_BIAS, _MAX_BIAS)
    limit = np.iinfo(np.int16).max
    return Classifier(
        tuple((c.id, c.name) for c in spec.categories[1:]),
        given.table,
        np.clip(weights, -limit, limit).astype(np.int16),
        bias.astype(np.int32),
        given.cues,
        about,
    )
