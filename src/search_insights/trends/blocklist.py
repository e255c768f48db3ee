"""The blocklist: a public file of words that no search which is shown may have.

A line has a word or some words in a row; every text that has them, in this order and side by side, is left out. Case
and punctuation do not matter. A line that begins with # is a comment. What is left out was noised like everything else,
so the list may change at any time: it costs no budget, and tells nothing of anyone.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search_insights.errors import InputError
from search_insights.support.arrays import Bools
from search_insights.support.files import read_text_at_most
from search_insights.support.plain_text import plain_texts

_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Blocklist:
    """Words, or words in a row, normalised as texts are."""

    entries: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the entries, whatever their order."""
        return hashlib.sha256("\n".join(sorted(self.entries)).encode()).hexdigest()

    def blocks(self, texts: Sequence[str]) -> Bools:
        """Return which of some normalised texts are left out."""
        padded = [f" {text} " for text in texts]
        wanted = [f" {entry} " for entry in self.entries]
        return np.array([any(entry in text for entry in wanted) for text in padded], dtype=np.bool_)


def read_blocklist(path: Path) -> Blocklist:
    """Read a blocklist; an error says which line of it is wrong."""
    try:
        lines = read_text_at_most(path, _MAX_BYTES).split("\n")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read; expected a blocklist, a text file in UTF-8") from None
    numbers = [i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")]
    found: dict[str, int] = {}
    for i, entry in zip(numbers, plain_texts([lines[i] for i in numbers]), strict=True):
        if not entry:
            raise InputError(f"{path}: line {i + 1}: no word; write a word, or words in a row")
        if found.setdefault(entry, i) != i:
            raise InputError(f"{path}: line {i + 1}: the same words as line {found[entry] + 1}; delete one of them")
    return Blocklist(tuple(found))
