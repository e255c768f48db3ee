"""The words that a classifier knows before it learns: classes of words from a lexicon, and names of places.

A lexicon is a TOML file of classes; what a class means is learnt from labels. Words one slip of the finger away stand
for the word that was meant.
"""

import string
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.classifier.features import (
    CUE_LETTERS,
    KNOWN,
    MOST_CLASSES,
    WordTable,
    normalise,
    split,
    word_hashes,
)
from search_insights.errors import InputError
from search_insights.spec.geography import Geography

PACKAGED_LEXICON = "vaccination"

_LEAST_LETTERS = 5  # of a word that may be misspelt: a slip in a shorter one makes another word
_LEAST_PEOPLE = 40_000  # of a town whose name is a word worth knowing


@dataclass(frozen=True, slots=True)
class WordClass:
    """Words that are alike for the purpose at hand."""

    name: str
    words: tuple[str, ...]
    misspelt: bool = False
    geography: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Classes of words; and cues, the pieces of four letters without which a text is about no category (none: any)."""

    classes: tuple[WordClass, ...] = ()
    cues: tuple[str, ...] = ()


def load_lexicon(path: str | Path = PACKAGED_LEXICON) -> Lexicon:
    """Read a lexicon: the packaged one, or a file."""
    if path == PACKAGED_LEXICON:
        text = (resources.files("search_insights.classifier") / "packaged" / f"{path}_lexicon.toml").read_text(
            encoding="utf-8"
        )
    else:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{path}: cannot be read; give a lexicon, a TOML file in UTF-8") from None
    try:
        tables = tomllib.loads(text)
        cues = tuple(cue.strip().replace("_", " ") for cue in tables.get("cues", "").split(",") if cue.strip())
        return Lexicon(tuple(_word_class(entry) for entry in tables["class"]), cues)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a lexicon; expected [[class]] entries with name and words") from None


def _word_class(entry: dict[str, Any]) -> WordClass:
    words = tuple(" ".join(word.split()) for word in entry["words"].split(","))
    return WordClass(entry["name"], words, bool(entry.get("misspelt")), bool(entry.get("geography")))


def places(geography: Geography) -> Iterator[str]:
    """Name the regions above the finest level, and towns of some size, in one word or two."""
    people: dict[str, int] = {}
    for region in geography.regions:
        finest = region.level == geography.levels[-1]
        name = region.name.lower().removesuffix(" county").removesuffix(" parish")
        people[name] = people.get(name, 0) + ((region.population or 0) if finest else _LEAST_PEOPLE)
    for name, count in people.items():
        words = name.replace("'", "").replace("-", " ").replace(".", " ").split()
        if count >= _LEAST_PEOPLE and len(words) <= 2 and all(len(word) > 2 for word in words):
            yield " ".join(words)


def slips(word: str) -> Iterator[str]:
    """Make every word that is one slip away: a letter left out, put in, changed, or two swapped."""
    letters = string.ascii_lowercase
    for i in range(len(word) + 1):
        before, after = word[:i], word[i:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def word_table(classes: Sequence[WordClass], geography: Geography | None, known: Iterable[str] = ()) -> WordTable:
    """Make the table of all words and pairs with their classes, of misspelt words, and of words known otherwise."""
    if len(classes) > MOST_CLASSES:
        raise InputError(f"a lexicon of {len(classes)} classes; at most {MOST_CLASSES} are possible")
    bits: dict[str, int] = {word: int(KNOWN) for word in known}
    for i, word_class in enumerate(classes):
        more = places(geography) if word_class.geography and geography else ()
        for word in (*word_class.words, *more):
            bits[word] = bits.get(word, int(KNOWN)) | 1 << i
    slipped: dict[str, int] = {}
    for i, word_class in enumerate(classes):
        for word in word_class.words if word_class.misspelt else ():
            if word.isalpha() and len(word) >= _LEAST_LETTERS:
                slipped |= {slip: int(KNOWN) | 1 << i for slip in slips(word) if slip not in slipped}
    bits = slipped | bits
    try:
        hashes = word_hashes(list(bits))
    except ValueError as error:
        raise InputError(f"the lexicon's entry {error}") from None
    keys, first = np.unique(hashes, return_index=True)
    return WordTable(keys, np.array(list(bits.values()), dtype=np.uint64)[first])


def cue_numbers(cues: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Give cues as the numbers that their four bytes make; a space only at an edge, or neighbours would matter."""
    for cue in cues:
        if len(cue.encode()) != CUE_LETTERS or " " in cue[1:-1]:
            raise InputError(f"the lexicon's cue {cue!r}: expected four letters, _ only for the edge of a word")
    return np.unique(np.frombuffer("".join(cues).encode(), "<u4")).astype(np.uint32)


def words_of(texts: Sequence[str]) -> list[str]:
    """List the words of texts, one for each time it occurs."""
    found = split(normalise(texts))
    letters = found.letters.tobytes()
    spans = zip(found.begin.tolist(), found.end.tolist(), strict=True)
    return [letters[begin:end].decode("utf-8", "replace") for begin, end in spans]
