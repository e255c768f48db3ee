"""The public vocabulary: which texts may be shown at all, whoever typed them and however many did.

A text may be shown if it is made of public words, and of at most one name of a place. Names of people, addresses and
numbers are not made of these, so they are out by design, before anything is counted. The filter looks at one text
alone, and at nothing that the log says of it. The vocabulary is a public file (vocabulary_file.py); the ledger has its
fingerprint.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_insights.classifier.features import MAX_CHARACTERS
from search_insights.support.arrays import Bools
from search_insights.support.plain_text import plain_texts

# Answers; with their texts, about 100 MB.
_REMEMBERED = 1 << 19

# Digits of numbers that follow each other: ages 12 15, but no telephone number, date of birth or account.
MAX_DIGITS = 4


def normalised(text: str) -> str:
    """Return a text as it is counted and shown: without case, punctuation and needless spaces.

    It has the words that the classifier reads in the text (features.py). Normalising it again changes nothing.
    """
    return normalised_texts([text])[0]


def normalised_texts(texts: Sequence[str]) -> list[str]:
    """Return each of some texts as it is counted and shown; fast for many at once."""
    return list(_cut(plain_texts(_cut(texts))))


def _cut(texts: Sequence[str]) -> Sequence[str]:
    """Keep of each text what the classifier reads of it. A few letters become longer when they are normalised."""
    if max(map(len, texts), default=0) <= MAX_CHARACTERS:
        return texts
    return [text[:MAX_CHARACTERS].rstrip() for text in texts]


@dataclass(frozen=True)
class Vocabulary:
    """What texts may be made of, all of it normalised.

    words    words that may stand anywhere
    phrases  pairs of words that may stand side by side: "rite aid" does not let "rite" through
    places   names of places, of one word or more; a text has at most one, whole. None is among the words: with
             places as loose words, one in four made-up names of people is made of places.
    """

    words: frozenset[str]
    phrases: frozenset[str]
    places: frozenset[str]

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of everything that determines which texts may be shown."""
        lists = [sorted(self.words), sorted(self.phrases), sorted(self.places)]
        return hashlib.sha256(json.dumps(lists).encode()).hexdigest()

    def allows(self, texts: Sequence[str]) -> Bools:
        """Return which of some texts may be shown. A text that is not normalised may not.

        People type the same words in many ways and on many days, so answers are remembered while this object lives, as
        long as they are not too many.
        """
        answers = self._answers
        if len(answers) > _REMEMBERED:
            answers.clear()
        for text in texts:
            if text not in answers:
                answers[text] = self._allows(text)
        return np.fromiter(map(answers.__getitem__, texts), dtype=np.bool_, count=len(texts))

    @cached_property
    def _answers(self) -> dict[str, bool]:
        """What was asked before: private, like every text of a log."""
        return {}

    def _allows(self, text: str) -> bool:
        """Mostly all words are public, or the others are one name of a place, and none is a number: asked first."""
        words = text.split(" ")
        unknown = [word for word in words if word not in self.words]
        name = " ".join(unknown)
        is_plain = not unknown or (name in self.places and f" {name} " in f" {text} ")
        if is_plain and self._numbers.isdisjoint(words):
            return True
        return self._has_one_place(words) and _numbers_are_short(words)

    def _has_one_place(self, words: list[str]) -> bool:
        """Whether all that is neither a word nor in a phrase is within one name of a place."""
        other = [i for i, word in enumerate(words) if word not in self.words and not self._in_phrase(words, i)]
        return not other or self._in_place(words, other[0], other[-1])

    def _in_place(self, words: list[str], first: int, last: int) -> bool:
        """Whether a name of a place has all words from `first` to `last`, and perhaps some on either side.

        Mostly these words are the name itself. If not, each has to be in some name, before longer ones are tried.
        """
        if " ".join(words[first : last + 1]) in self.places:
            return True
        if not self._in_places.issuperset(words[first : last + 1]):
            return False
        begins = range(max(0, last + 1 - self._longest), first + 1)
        ends = range(last + 1, min(len(words), first + self._longest) + 1)
        return any(" ".join(words[begin:end]) in self.places for begin in begins for end in ends)

    def _in_phrase(self, words: list[str], i: int) -> bool:
        if words[i] not in self._in_phrases:
            return False
        return " ".join(words[i : i + 2]) in self.phrases or (i > 0 and " ".join(words[i - 1 : i + 1]) in self.phrases)

    @cached_property
    def _in_phrases(self) -> frozenset[str]:
        """Every word of a phrase: most words that are not known are in none, and that is found at once."""
        return frozenset(word for phrase in self.phrases for word in phrase.split(" "))

    @cached_property
    def _in_places(self) -> frozenset[str]:
        """Every word of a name of a place."""
        return frozenset(word for name in self.places for word in name.split(" "))

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """Every number that a text may have."""
        return frozenset(
            word
            for listed in (self.words, self.phrases, self.places)
            for entry in listed
            for word in entry.split(" ")
            if word.isnumeric()
        )

    @cached_property
    def _longest(self) -> int:
        """The words of the longest name of a place."""
        return max((name.count(" ") + 1 for name in self.places), default=0)


def _numbers_are_short(words: list[str]) -> bool:
    """Whether numbers that follow each other have few digits together: a long number may be split by spaces."""
    digits = 0
    for word in words:
        digits = digits + len(word) if word.isnumeric() else 0
        if digits > MAX_DIGITS:
            return False
    return True
