"""Training the classifier, semi-supervised: a committee learns from labels and names the pool, a student learns both.

1. A committee of models, each trained without one fifth of the labels, says how sure it may be: its confidence is
   calibrated on the fifths that the members have not seen.
2. The committee names the pool. A text is kept if the calibrated confidence is high; there are no quotas by category.
3. The student learns from the labels, from the kept texts, and from both typed less carefully.

Numbers are then rounded to whole ones. The same labels, pool and lexicon give the same model.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.classifier.features import BUCKET_BITS, WordTable, features, normalise, split, texts_with_cue
from search_insights.classifier.lexicon import Lexicon, cue_numbers, word_table, words_of
from search_insights.classifier.model import UNIT, Classifier
from search_insights.classifier.train.pool import noised
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from search_insights.spec.spec import Spec

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

SURE = 0.9  # the calibrated confidence that a text of the pool needs
POOL_WORTH = 500  # labels: what all kept texts of the pool weigh together, however many labels there are
TYPED_AGAIN = 4  # times that a text is typed less carefully; all together they weigh as much as the text itself
LEAST_TIMES = 3  # a word occurs in the labels before it is known

_FOLDS = 5
_STRENGTH = 1.0  # of the labels against the wish for small weights
_ITERATIONS = 400
_RARE = 1e-9


@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and what became of its training."""

    classifier: Classifier
    kept: int
    temperature: float


def train(
    texts: Sequence[str],
    labels: Labels,
    pool: Sequence[str],
    spec: Spec,
    lexicon: Lexicon,
    geography: Geography | None,
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Trained:
    """Train a model for the categories of a spec; `labels` are their numbers, 0 for none."""
    _require_all(labels, spec)
    about = describe(texts, labels, pool, lexicon)
    cues = cue_numbers(lexicon.cues)
    some = texts_with_cue(normalise(texts), cues)
    texts, labels = [texts[i] for i in some.tolist()], labels[some]
    pool = [pool[i] for i in texts_with_cue(normalise(pool), cues).tolist()] if pool else []
    counts = Counter(words_of(texts))
    table = word_table(lexicon.classes, geography, sorted(word for word, n in counts.items() if n >= LEAST_TIMES))
    learn = _Learner(table, len(spec.categories))
    progress("the committee learns from the labels")
    committee, temperature = _committee(learn, texts, labels)
    progress("the committee names the pool")
    kept, named = _named_pool(learn, committee, temperature, pool)
    progress(f"the student learns from {len(texts):,} labels and {len(kept):,} texts of the pool")
    student = learn.fit(*_with_noise(texts, labels, kept, named, seed))
    about |= {"pool_kept": len(kept), "temperature": round(temperature, 4)}
    return Trained(_rounded(student, spec, table, cues, about), len(kept), temperature)


def describe(texts: Sequence[str], labels: Labels, pool: Sequence[str], lexicon: Lexicon) -> dict[str, Any]:
    """Say what a model is trained on, so that one can see whether it still is."""
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
    """Write a model, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_bytes(classifier.to_bytes())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)


def _require_all(labels: Labels, spec: Spec) -> None:
    found = np.bincount(labels, minlength=len(spec.categories))
    few = [c.id for c, n in zip(spec.categories, found, strict=True) if n < _FOLDS]
    if few:
        raise InputError(f"the labels have fewer than {_FOLDS} queries of {', '.join(few)}; write more of them")


@dataclass(frozen=True, slots=True)
class _Linear:
    """A linear model: a row of weights and an intercept for each class, over all buckets."""

    weights: Floats
    intercept: Floats


@dataclass(frozen=True)
class _Learner:
    """Fits linear models to texts that are seen through one table of words."""

    table: WordTable
    classes: int

    def matrix(self, texts: Sequence[str]) -> Any:
        from scipy import sparse

        found = features(split(normalise(texts)), self.table)
        ones = np.ones(found.text.size)
        return sparse.csr_matrix((ones, (found.text, found.bucket)), shape=(len(texts), 1 << BUCKET_BITS))

    def fit(self, texts: Sequence[str], labels: Labels, weights: Floats | None = None) -> _Linear:
        matrix = self.matrix(texts)
        used = np.unique(matrix.indices)  # few of all buckets
        model = _logistic_regression()(C=_STRENGTH, max_iter=_ITERATIONS, tol=1e-4)
        with _one_thread():
            model.fit(matrix[:, used], labels, weights)
        full = np.zeros((self.classes, 1 << BUCKET_BITS))
        rows = model.coef_ if len(model.classes_) > 2 else np.vstack([-model.coef_, model.coef_]) / 2
        first = model.intercept_ if len(model.classes_) > 2 else np.array([-1, 1]) * model.intercept_ / 2
        full[np.ix_(model.classes_, used)] = rows
        intercept = np.full(self.classes, -np.inf)
        intercept[model.classes_] = first
        return _Linear(full, intercept)

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
    """Keep sums in one order, whatever the number of cores; for vectors of this size it is faster, too."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _committee(learn: _Learner, texts: Sequence[str], labels: Labels) -> tuple[list[_Linear], float]:
    """Train a member without each fifth of the labels; calibrate on what each has not seen."""
    fold = folds(texts, _FOLDS)
    members, unseen = [], np.zeros((len(texts), learn.classes))
    for i in range(_FOLDS):
        seen, held = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        members.append(learn.fit([texts[j] for j in seen.tolist()], labels[seen]))
        unseen[held] = learn.logits(members[-1], [texts[j] for j in held.tolist()])
    return members, _temperature(unseen, labels)


def folds(texts: Sequence[str], count: int) -> Labels:
    """Deal texts to folds by a hash of the text, so that a new label moves no other."""
    return np.array([hashlib.sha256(text.encode("utf-8", "replace")).digest()[0] % count for text in texts])


def _temperature(logits: Floats, labels: Labels) -> float:
    """Find by what to divide logits so that confidence is as high as it is right."""
    candidates = np.geomspace(0.3, 5.0, 60)
    rows = np.arange(len(labels))
    losses = [-np.log(_softmax(logits / t)[rows, labels] + _RARE).mean() for t in candidates]
    return float(candidates[int(np.argmin(losses))])


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _named_pool(
    learn: _Learner, committee: Sequence[_Linear], temperature: float, pool: Sequence[str]
) -> tuple[list[str], Labels]:
    """Name the texts of the pool that the committee is sure of."""
    if not pool:
        return [], np.zeros(0, dtype=np.int64)
    share = np.mean([_softmax(learn.logits(member, pool) / temperature) for member in committee], axis=0)
    sure = np.flatnonzero(share.max(axis=1) >= SURE)
    return [pool[i] for i in sure.tolist()], share[sure].argmax(axis=1)


def _with_noise(
    texts: Sequence[str], labels: Labels, kept: Sequence[str], named: Labels, seed: int
) -> tuple[list[str], Labels, Floats]:
    """Put labels and pool together, each text as it is and typed less carefully; give their weights."""
    rng = random.Random(seed)  # noqa: S311 - for training only
    clean, given = [*texts, *kept], np.concatenate([labels, named])
    weights = np.concatenate([np.ones(len(texts)), np.full(len(kept), POOL_WORTH / max(len(kept), 1))])
    typed = [noised(noised(text, rng), rng) for _ in range(TYPED_AGAIN) for text in clean]
    again = np.tile(weights / TYPED_AGAIN, TYPED_AGAIN)
    return [*clean, *typed], np.tile(given, 1 + TYPED_AGAIN), np.concatenate([weights, again])


def _rounded(
    model: _Linear, spec: Spec, table: WordTable, cues: npt.NDArray[np.uint32], about: dict[str, Any]
) -> Classifier:
    """Count everything from none, and round to whole numbers."""
    weights = np.rint((model.weights[1:] - model.weights[0]) * UNIT)
    bias = np.rint((model.intercept[1:] - model.intercept[0]) * UNIT)
    limit = np.iinfo(np.int16).max
    return Classifier(
        tuple((c.id, c.name) for c in spec.categories[1:]),
        table,
        np.clip(weights, -limit, limit).astype(np.int16),
        bias.astype(np.int32),
        cues,
        about,
    )
