"""Folds of labels for cross-validation. Near-duplicates are in one fold, so that no text is scored by a model that has
learnt from its copy.

Near-duplicates are texts of the same words, whatever their order, endings and places: "heat wave in Basel" and "Bern
heat waves".
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from search_insights.classifier.train.evidence import words_by_text
from search_insights.support.arrays import Numbers

FOLDS = 5

_STEM = 6  # bytes of a word that are compared
_MIN_LETTERS = 3  # of a word that is compared


def group_keys(texts: Sequence[str], places: frozenset[bytes]) -> list[bytes]:
    """Return a key for each text, the same for near-duplicates."""
    keys = []
    for text, words in zip(texts, words_by_text(texts), strict=True):
        stems = {word[:_STEM] for word in words - places if len(word) >= _MIN_LETTERS and not word.isdigit()}
        keys.append(b" ".join(sorted(stems)) or text.encode("utf-8", "replace"))
    return keys


def assign_folds(keys: Sequence[bytes], labels: Numbers) -> Numbers:
    """Assign texts to folds: those of one key to the same fold, and each category to all folds as evenly as can be."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i, key in enumerate(keys):
        groups[key].append(i)
    sizes = np.zeros((int(labels.max(initial=0)) + 1, FOLDS), dtype=np.int64)
    folds = np.zeros(len(keys), dtype=np.int64)
    for key in sorted(groups, key=lambda key: (-len(groups[key]), hashlib.sha256(key).digest())):
        label = labels[groups[key][0]]
        fold = int(np.lexsort((sizes.sum(axis=0), sizes[label]))[0])
        folds[groups[key]] = fold
        np.add.at(sizes[:, fold], labels[groups[key]], 1)
    return folds
