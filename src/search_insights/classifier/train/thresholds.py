"""Decision thresholds: how high a topic has to score so that enough of its answers are right.

Without ordinary queries, precision is that among the labels. Labels have far more texts of a topic than a log has, so
with ordinary queries it is estimated for a log: texts of topics at a base rate that is assumed, all others answered as
the ordinary queries are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from search_insights.errors import InputError
from search_insights.support.arrays import Bools, Floats, Numbers

BASE_RATE = 0.01  # of all queries that are about any topic, unless the caller knows better
_MIN_RIGHT = 5  # labels that a threshold must leave named and right; fewer say nothing about precision


@dataclass(frozen=True, slots=True)
class MinPrecision:
    """The precision wanted of each topic, by its id; `base_rate` is the share of all queries about any topic."""

    by_category: Mapping[str, float] = field(default_factory=dict)
    base_rate: float = BASE_RATE

    def __post_init__(self) -> None:
        for value in self.by_category.values():
            if not 0 < value < 1:
                raise InputError(f"`min_precision`: {value:g}: expected a number between 0 and 1")
        if not 0 < self.base_rate < 1:
            raise InputError(f"`base_rate`: {self.base_rate:g}: expected a number between 0 and 1")

    def of(self, category: str) -> float | None:
        """Return the precision wanted of a topic; None if any will do."""
        return self.by_category.get(category)


@dataclass(frozen=True, slots=True)
class Scored:
    """Texts scored by models that have not learnt from them: the best topic of each, and how high it scores.

    Topics are category numbers, from 1; `labels` has 0 for none. The score of a text without a cue is minus infinity.
    """

    labels: Numbers
    best: Numbers
    score: Floats
    ordinary_best: Numbers
    ordinary_score: Floats

    def precision(self, topic: int, threshold: float, base_rate: float) -> float:
        """Return the share of right answers above a threshold: among labels, or as in a log with ordinary queries."""
        named = (self.best == topic) & (self.score > threshold)
        if not self.ordinary_best.size:
            return float((self.labels[named] == topic).sum()) / max(int(named.sum()), 1)
        right, other = self._rate(named, self.labels == topic), self._rate(named, self.labels > 0, self.labels != topic)
        wrong = float(((self.ordinary_best == topic) & (self.ordinary_score > threshold)).mean())
        share = base_rate * float((self.labels == topic).sum()) / max(int((self.labels > 0).sum()), 1)
        positives = right * share
        negatives = other * (base_rate - share) + wrong * (1 - base_rate)
        return positives / (positives + negatives) if positives else 0.0

    @staticmethod
    def _rate(named: Bools, *conditions: Bools) -> float:
        of = np.logical_and.reduce(conditions)
        return float(named[of].mean()) if of.any() else 0.0


def choose_threshold(scored: Scored, topic: int, category: str, wanted: MinPrecision) -> int:
    """Return the lowest threshold of a topic that reaches the precision wanted; 0 if none is wanted."""
    least = wanted.of(category)
    if least is None:
        return 0
    right = scored.score[(scored.best == topic) & (scored.labels == topic) & (scored.score > 0)]
    scores = np.concatenate([scored.score[scored.best == topic], scored.ordinary_score[scored.ordinary_best == topic]])
    above: list[int] = [0, *(math.floor(score) for score in np.unique(scores[scores > 0]).tolist())]
    best = 0.0
    for threshold in sorted(set(above)):
        if int((right > threshold).sum()) < _MIN_RIGHT:
            break
        precision = scored.precision(topic, threshold, wanted.base_rate)
        if precision >= least:
            return threshold
        best = max(best, precision)
    raise InputError(_unreachable(scored, topic, category, least, best))


def _unreachable(scored: Scored, topic: int, category: str, least: float, best: float) -> str:
    named = int(((scored.ordinary_best == topic) & (scored.ordinary_score > 0)).sum())
    ordinary = (
        f"; {named:,} of {scored.ordinary_best.size:,} ordinary queries get {category}: label those, with or without it"
        if named
        else "; label more queries, most of all such that only look like it"
    )
    return (
        f"`min_precision` {category}={least:g} cannot be reached: at most {best:.3f} with {_MIN_RIGHT} or more right "
        f"answers{ordinary}"
    )
