"""Clusters: shown texts that ask for the same, so that a list of ten has ten things to say.

Two texts are in a cluster if they have the same words, in any order, after synonyms, plurals and small words are put
aside. Words such as "after" keep what stands before them apart from what follows: covid after a vaccine is not a
vaccine after covid. Everything here is post-processing of texts and noisy counts that are public already.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_insights.support.arrays import Counts, Floats, Numbers

Key = tuple[str, ...]

# They say little about what is asked for. Question words are not among them: when and where are different questions.
_SMALL_WORDS = """
    a an and any are as at be by do does for from i if in is it its me my of on or our s that the their there these this
    to u was we what with you your
"""
SMALL_WORDS = frozenset(_SMALL_WORDS.split())
# What stands before and after such a word may not change places.
DIRECTED = frozenset(("after", "before", "than"))

_MIN_STEM = 3  # letters that a plural leaves


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


def clusters_of(texts: Sequence[str], counts: Floats, synonyms: Mapping[str, str]) -> Clusters:
    """Put distinct normalised texts with these noisy counts into clusters.

    `synonyms` has the word that stands for a word or for several in a row.
    """
    numbers: dict[Key, int] = {}
    keys = cluster_keys(texts, synonyms)
    cluster = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    # Equal counts are decided by the text, so that the name does not depend on the order of the texts.
    by_name = np.lexsort((np.array(texts, dtype=np.str_), -np.asarray(counts, dtype=np.float64), cluster))
    _, first = np.unique(cluster[by_name], return_index=True)
    return Clusters(cluster, by_name[first].astype(np.int64))


def cluster_keys(texts: Sequence[str], synonyms: Mapping[str, str]) -> list[Key]:
    """Return what texts of one cluster have in common: their words, in parts where order matters."""
    replaced = _with_synonyms(texts, synonyms)
    return [_key(text.split()) for text in replaced]


def _with_synonyms(texts: Sequence[str], synonyms: Mapping[str, str]) -> list[str]:
    """Replace words by what stands for them; of two entries that begin alike, the longer one is replaced."""
    if not synonyms:
        return list(texts)
    entries = "|".join(re.escape(entry) for entry in sorted(synonyms, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\S)(?:{entries})(?!\S)")
    return [pattern.sub(lambda found: synonyms[found.group()], text) for text in texts]


def _key(words: Sequence[str]) -> Key:
    parts: list[set[str]] = [set()]
    kept: list[str] = []
    for word in words:
        if word in DIRECTED:
            kept.append(word)
            parts.append(set())
        elif word not in SMALL_WORDS:
            parts[-1].add(singular(word))
    if not any(parts):
        return ("", *words)  # of small words only: as it is
    return (*(" ".join(sorted(part)) for part in parts), *kept)


def singular(word: str) -> str:
    """Return an English word without the ending of its plural, the same for both forms; not always a word."""
    if not word.isalpha() or len(word) <= _MIN_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _MIN_STEM + 1:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]
