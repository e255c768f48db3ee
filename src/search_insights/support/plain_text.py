"""Texts without what makes two spellings of the same words differ: case, punctuation and spaces."""

import unicodedata
from collections.abc import Sequence

_APOSTROPHES = "'\u2019"  # what the classifier leaves out too, so that both see the same words


class _Letters(dict[int, int | str | None]):
    """What becomes of each character: letters, marks and digits stay, apostrophes go, anything else is a space."""

    def __missing__(self, character: int) -> int | str | None:
        letter = chr(character)
        kept = letter == "\n" or unicodedata.category(letter)[0] in "LMN"
        self[character] = None if letter in _APOSTROPHES else character if kept else " "
        return self[character]


_LETTERS = _Letters()


def plain_texts(texts: Sequence[str]) -> list[str]:
    """Return each text in small letters of one form (NFKC), its words between single spaces. Doing it twice is once."""
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    # Small letters may have to be composed again, and without an apostrophe between them other letters meet.
    small = _composed(_composed(joined).lower())
    words = _composed(small.translate(_LETTERS))
    return [" ".join(line.split()) for line in words.split("\n")][: len(texts)]


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
