"""Which texts to label next: those near the decision boundary, frequent ones first, no two alike.

For the operator only: texts and counts of a log are private.
"""

import heapq
import math
from collections.abc import Iterable, Sequence

import numpy as np

from search_insights.classifier.margins import Margins, TextMargin, margins, text_margin
from search_insights.classifier.model import Classifier
from search_insights.classifier.train.evidence import words_by_text
from search_insights.support.arrays import Counts, Floats

_CANDIDATES = 20  # for each text asked for, from which different ones are chosen
_MOST_SHARED = 0.5  # words that two suggested texts may share, of all their words

Batch = tuple[Sequence[str], Counts]


def suggest(
    model: Classifier, batches: Iterable[Batch], n: int, known: frozenset[str] = frozenset()
) -> list[TextMargin]:
    """Return `n` texts whose label would help most, the most helpful first. `known` are texts that have a label.

    `batches` gives distinct texts, and how often each was searched. Texts that have no cue and score no topic are left
    out: nearly all texts are such, and their labels would teach little.
    """
    best: list[tuple[float, str, TextMargin]] = []
    for texts, counts in batches:
        found = margins(model, texts)
        values = _values(found, counts)
        values[[i for i, text in enumerate(texts) if text in known]] = 0.0
        most = [i for i in np.argsort(-values, kind="stable")[: n * _CANDIDATES].tolist() if values[i] > 0]
        best += [(float(values[i]), texts[i], text_margin(model, found, texts, counts, i)) for i in most]
        best = heapq.nlargest(n * _CANDIDATES, best, key=lambda entry: (entry[0], entry[1]))
    return _different([entry for *_, entry in best], n)


def _values(found: Margins, counts: Counts) -> Floats:
    """Return how much a label would help: more near the boundary, more for a frequent text.

    A text that would have a topic but for its missing cue is as doubtful as one a unit from the boundary.
    """
    without_cue = ~found.has_cue
    distance = np.where(without_cue, 1.0, np.abs(found.margin))
    values: Floats = np.log2(1.0 + counts) / (1.0 + distance)
    values[without_cue & (found.margin <= 0)] = 0.0
    return values


def _different(candidates: Sequence[TextMargin], n: int) -> list[TextMargin]:
    """Choose texts in order, and of those that share most of their words only the first, as long as others are left."""
    words = words_by_text([candidate.text for candidate in candidates])
    chosen: list[int] = []
    for i in range(len(candidates)):
        if len(chosen) < n and all(_shared(words[i], words[j]) <= _MOST_SHARED for j in chosen):
            chosen.append(i)
    rest = [i for i in range(len(candidates)) if i not in set(chosen)]
    return [candidates[i] for i in sorted([*chosen, *rest[: n - len(chosen)]])]


def _shared(left: set[bytes], right: set[bytes]) -> float:
    return len(left & right) / max(len(left | right), 1) if left or right else math.inf
