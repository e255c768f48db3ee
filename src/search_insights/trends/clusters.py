"""Clusters: shown texts that ask for the same, so that a list of ten has ten things to say.

Two texts are in a cluster if they have the same key (classifier/cluster_keys.py), which the store has of each.
Everything
here is post-processing of texts and noisy counts that are public already.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_insights.support.arrays import Counts, Floats, Numbers


@dataclass(frozen=True)
class Clusters:
    """A partition of some texts.

    cluster  the number of each text's cluster, from 0 in order of the first text
    shown    of each cluster, the text that stands for it: the one with the largest noisy count
    """

    cluster: Numbers
    shown: Numbers

    @cached_property
    def members(self) -> Counts:
        """The number of texts of each cluster."""
        return np.bincount(self.cluster, minlength=self.shown.size)

    def sums(self, counts: Floats) -> Floats:
        """Add up noisy counts, whose last axis is the texts; the last axis of the result is the clusters."""
        order = np.argsort(self.cluster, kind="stable")
        first = np.cumsum(self.members) - self.members
        if not order.size:
            return np.zeros((*counts.shape[:-1], 0))
        sums: Floats = np.add.reduceat(np.asarray(counts, dtype=np.float64)[..., order], first, axis=-1)
        return sums

    def sigmas(self, sigma: float) -> Floats:
        """Return the sigma of each sum of counts whose noise is independent, each of this sigma."""
        sigmas: Floats = sigma * np.sqrt(self.members)
        return sigmas


def clusters_of(texts: Sequence[str], counts: Floats, keys: Sequence[str]) -> Clusters:
    """Put distinct texts with these noisy counts into clusters, by their keys."""
    numbers: dict[str, int] = {}
    cluster = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    # Equal counts are decided by the text, so that the name does not depend on the order of the texts.
    by_name = np.lexsort((np.array(texts, dtype=np.str_), -np.asarray(counts, dtype=np.float64), cluster))
    _, first = np.unique(cluster[by_name], return_index=True)
    return Clusters(cluster, by_name[first].astype(np.int64))
