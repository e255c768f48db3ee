"""The words that a classifier knows before training: word classes from a lexicon, and place names.

A lexicon is a TOML file of word classes; what a class means is learnt from labels. A word that is one typo away from a
lexicon word has the class of that word.
"""

import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.classifier.features import (
    CUE_LENGTH,
    KNOWN,
    MAX_CLASSES,
    MAX_CUE_LENGTH,
    Cues,
    WordTable,
    normalise,
    split_words,
    word_hashes,
)
from search_insights.errors import InputError
from search_insights.spec.geography import Geography
from search_insights.support.files import read_text_at_most
from search_insights.support.plain_text import plain_texts
from search_insights.support.toml import MAX_BYTES, parse_toml

PACKAGED_LEXICON = "vaccination"

_MIN_TYPO_LENGTH = 5  # letters; a typo in a shorter word often makes another word
_MIN_POPULATION = 40_000  # of a town whose name the classifier knows


@dataclass(frozen=True, slots=True)
class WordClass:
    """Words that mean much the same to the classifier.

    misspelt   words one typo away belong to the class too
    geography  the geography's place names belong to the class too
    """

    name: str
    words: tuple[str, ...]
    misspelt: bool
    geography: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word classes, and cues: a text without any of these pieces of four to eight letters has no category.

    Without cues, they are found in the labels (`train/evidence.py`). The model records a digest of the lexicon's repr,
    so renaming a field here or in `WordClass` changes the record.
    """

    classes: tuple[WordClass, ...] = ()
    cues: tuple[str, ...] = ()


def load_lexicon(path: str | Path = PACKAGED_LEXICON) -> Lexicon:
    """Read the packaged lexicon, or a file."""
    text = _text(path)
    try:
        tables = parse_toml(text)
        cues = tuple(cue.strip().replace("_", " ") for cue in tables.get("cues", "").split(",") if cue.strip())
        return Lexicon(tuple(_word_class(entry) for entry in tables["class"]), cues)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not a lexicon; expected [[class]] entries with name and words") from None


def load_synonyms(path: str | Path = PACKAGED_LEXICON) -> dict[str, str]:
    """Read the synonyms of the packaged lexicon, or of a file: what stands for each word, or words in a row.

    They are no part of a `Lexicon`: the classifier does not use them, and its model does not change with them.
    """
    text = _text(path)
    try:
        listed = parse_toml(text).get("synonyms", "")
        pairs = [line.split(":") for line in listed.splitlines() if line.strip()]
        found = [(entry, stands) for stands, others in pairs for entry in others.split(",")]
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{path}: key 'synonyms': expected lines such as 'covid: coronavirus, corona'") from None
    normal = dict(zip(plain_texts([entry for entry, _ in found]), plain_texts([s for _, s in found]), strict=True))
    if len(normal) != len(found) or not all((*normal, *normal.values())) or normal.keys() & set(normal.values()):
        raise InputError(f"{path}: key 'synonyms': a word is empty, listed twice, or stands for another and is listed")
    return normal


def _text(path: str | Path) -> str:
    """Return the text of the packaged lexicon, or of a file."""
    if path == PACKAGED_LEXICON:
        return (resources.files("search_insights.classifier") / "packaged" / f"{path}_lexicon.toml").read_text(
            encoding="utf-8"
        )
    try:
        return read_text_at_most(Path(path), MAX_BYTES)
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read; expected a lexicon, a TOML file in UTF-8") from None


def _word_class(entry: dict[str, Any]) -> WordClass:
    words = tuple(" ".join(word.split()) for word in entry["words"].split(","))
    return WordClass(entry["name"], words, bool(entry.get("misspelt")), bool(entry.get("geography")))


def place_names(geography: Geography) -> Iterator[str]:
    """Yield the names of regions above the finest level and of larger towns, if they have one or two words."""
    people: dict[str, int] = {}
    for region in geography.regions:
        finest = region.level == geography.levels[-1]
        name = region.name.lower().removesuffix(" county").removesuffix(" parish")
        people[name] = people.get(name, 0) + ((region.population or 0) if finest else _MIN_POPULATION)
    for name, count in people.items():
        words = name.replace("'", "").replace("-", " ").replace(".", " ").split()
        if count >= _MIN_POPULATION and len(words) <= 2 and all(len(word) > 2 for word in words):
            yield " ".join(words)


def typos(word: str) -> Iterator[str]:
    """Yield every word that is one typo away: a letter left out, added, changed, or swapped with the next."""
    letters = string.ascii_lowercase
    for i in range(len(word) + 1):
        before, after = word[:i], word[i:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def word_table(classes: Sequence[WordClass], geography: Geography | None, known: Iterable[str]) -> WordTable:
    """Make the table of the lexicon's words and pairs, their typos, place names, and other known words."""
    if len(classes) > MAX_CLASSES:
        raise InputError(f"the lexicon has {len(classes)} classes; at most {MAX_CLASSES} are possible")
    bits: dict[str, int] = {word: int(KNOWN) for word in known}
    for i, word_class in enumerate(classes):
        names = place_names(geography) if word_class.geography and geography else ()
        for word in (*word_class.words, *names):
            bits[word] = bits.get(word, int(KNOWN)) | 1 << i
    misspelt: dict[str, int] = {}
    for i, word_class in enumerate(classes):
        for word in word_class.words if word_class.misspelt else ():
            if word.isalpha() and len(word) >= _MIN_TYPO_LENGTH:
                misspelt |= {typo: int(KNOWN) | 1 << i for typo in typos(word) if typo not in misspelt}
    bits = misspelt | bits
    try:
        hashes = word_hashes(list(bits))
    except ValueError as error:
        raise InputError(f"the lexicon's entry {error}") from None
    keys, first = np.unique(hashes, return_index=True)
    return WordTable(keys, np.array(list(bits.values()), dtype=np.uint64)[first])


def encode_cues(cues: Sequence[str]) -> Cues:
    """Return cues as the sorted numbers that their bytes make, the first byte lowest.

    A space is allowed only at an edge: inside, a cue could match across the end of a text.
    """
    for cue in cues:
        if not CUE_LENGTH <= len(cue.encode()) <= MAX_CUE_LENGTH or " " in cue[1:-1]:
            raise InputError(
                f"the lexicon's cue {cue!r}: expected four to eight letters, with _ only for the edge of a word"
            )
    return encode_pieces([cue.encode() for cue in cues])


def encode_pieces(pieces: Iterable[bytes]) -> Cues:
    """Return pieces of at most eight bytes as sorted numbers, each once."""
    return np.unique(np.array([int.from_bytes(piece, "little") for piece in pieces], dtype=np.uint64))


def words_of(texts: Sequence[str]) -> list[str]:
    """Return the words of texts, with repetitions."""
    found = split_words(normalise(texts))
    letters = found.letters.tobytes()
    spans = zip(found.begin.tolist(), found.end.tolist(), strict=True)
    return [letters[begin:end].decode("utf-8", "replace") for begin, end in spans]
