"""What texts that ask for the same have in common: the words of each, in a form that ignores how they were put.

Two texts have the same key if they have the same words, in any order, after synonyms, plurals and small words are put
aside. Words such as "after" keep what stands before them apart from what follows: covid after a vaccine is not a
vaccine after covid. A key is a function of the text and of a public list of synonyms alone.
"""

import re
from collections.abc import Mapping, Sequence

# They say little about what is asked for. Question words are not among them: when and where are different questions.
_SMALL_WORDS = """
    a an and any are as at be by do does for from i if in is it its me my of on or our s that the their there these this
    to u was we what with you your
"""
SMALL_WORDS = frozenset(_SMALL_WORDS.split())
# What stands before and after such a word may not change places.
DIRECTED = frozenset(("after", "before", "than"))

_MIN_STEM = 3  # letters that a plural leaves
_SEPARATOR = "/"  # no normalised text has it


def cluster_keys(texts: Sequence[str], synonyms: Mapping[str, str]) -> list[str]:
    """Return what texts of one cluster have in common: their words, in parts where order matters.

    `synonyms` has the word that stands for a word or for several in a row. Texts are normalised.
    """
    replaced = _with_synonyms(texts, synonyms)
    return [_key(text.split()) for text in replaced]


def _with_synonyms(texts: Sequence[str], synonyms: Mapping[str, str]) -> list[str]:
    """Replace words by what stands for them; of two entries that begin alike, the longer one is replaced."""
    if not synonyms:
        return list(texts)
    entries = "|".join(re.escape(entry) for entry in sorted(synonyms, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\S)(?:{entries})(?!\S)")
    return [pattern.sub(lambda found: synonyms[found.group()], text) for text in texts]


def _key(words: Sequence[str]) -> str:
    parts: list[set[str]] = [set()]
    kept: list[str] = []
    for word in words:
        if word in DIRECTED:
            kept.append(word)
            parts.append(set())
        elif word not in SMALL_WORDS:
            parts[-1].add(singular(word))
    if not any(parts):
        return _SEPARATOR.join(("", *words))  # of small words only: as it is
    return _SEPARATOR.join((*(" ".join(sorted(part)) for part in parts), *kept))


def singular(word: str) -> str:
    """Return an English word without the ending of its plural, the same for both forms; not always a word."""
    if not word.isalpha() or len(word) <= _MIN_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _MIN_STEM + 1:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]
