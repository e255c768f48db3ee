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
    """Return each text in small letters of one form (NFKC), its words between single spaces. Doing it twice is once.

    Texts with other letters than ASCII are few in most logs, and take several times as long: they go apart.
    """
    plain = _joined([text if text.isascii() else "" for text in texts])
    other = [i for i, text in enumerate(texts) if not text.isascii()]
    for i, text in zip(other, _joined([texts[i] for i in other]), strict=True):
        plain[i] = text
    return plain


def _joined(texts: Sequence[str]) -> list[str]:
    """Do the work on all texts as one, each on a line of its own."""
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    # Small letters may have to be composed again, and without an apostrophe between them other letters meet.
    small = _composed(_composed(joined).lower())
    words = _composed(small.translate(_LETTERS))
    while "  " in words:
        words = words.replace("  ", " ")
    return words.replace(" \n", "\n").replace("\n ", "\n").strip(" ").split("\n")[: len(texts)]


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
