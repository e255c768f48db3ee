"""From texts to numbers: the words, classes of words and pairs of them that the classifier weighs.

Everything is done on whole arrays of bytes and 64-bit hashes, in integers, so that it is fast and the same on every
machine. A feature is the number of a bucket: texts that share a word, or have words of the same classes side by side,
share buckets. What a text's features are depends on that text alone, never on its neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.uint64]

BUCKET_BITS = 18
MOST_CHARACTERS = 300  # of a text; what comes after is not looked at
MOST_CLASSES = 62
CUE_LETTERS = 4  # of a cue, a piece of text by which a model sees that a text may concern it
KNOWN = np.uint64(1 << 63)  # the mark of a word that the model has met

_REACH = 5  # words this far apart still make a pair

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_UNKNOWN = np.uint64(0x5851F42D4C957F2D)

_LETTER, _DIGIT = 1, 2
_GLANCE_BITS = 16


def _byte_tables() -> tuple[Bytes, Bytes]:
    """Say of each byte what it counts as (0 parts words), and how it is written: a space for all that parts words."""
    kind = np.zeros(256, dtype=np.uint8)
    kind[[*range(ord("a"), ord("z") + 1), *range(0x80, 0x100)]] = _LETTER
    kind[list(range(ord("0"), ord("9") + 1))] = _DIGIT
    return kind, np.where(kind > 0, np.arange(256), ord(" ")).astype(np.uint8)


_KIND, _WRITTEN = _byte_tables()


@dataclass(frozen=True, slots=True)
class Buffer:
    """Texts one after the other, in lower case, each between two line ends; `ends` are the line ends."""

    data: Bytes
    ends: Numbers

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return self.ends.size - 1


def normalise(texts: Sequence[str]) -> Buffer:
    """Join texts in lower case without apostrophes; whatever is in a text, it stays one text."""
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1 or max(map(len, texts)) > MOST_CHARACTERS:
        joined = "\n".join([text[:MOST_CHARACTERS].replace("\n", " ") for text in texts])
    plain = f"\n{joined.lower()}\n".replace("\u2019", "").replace("'", "")
    data = np.frombuffer(plain.encode("utf-8", "replace"), dtype=np.uint8)
    return Buffer(data, np.flatnonzero(data == ord("\n")))


def written(buffer: Buffer) -> Bytes:
    """Write texts with a space for all that parts words, the ends of texts too."""
    return _WRITTEN[buffer.data]


def texts_with_cue(buffer: Buffer, cues: npt.NDArray[np.uint32]) -> Numbers:
    """Number the texts that have one of the cues, which are sorted; all, if there are no cues.

    A table of hashes nominates, the pieces themselves decide: a chance hit would depend on a text's neighbours.
    """
    if not cues.size:
        return np.arange(buffer.texts)
    letters, glance = written(buffer), np.zeros(1 << _GLANCE_BITS, dtype=bool)
    glance[_glance(cues)] = True
    found = np.zeros(buffer.texts, dtype=bool)
    for offset in range(CUE_LETTERS):  # each way of cutting the bytes into fours
        pieces = letters[offset : offset + (letters.size - offset) // CUE_LETTERS * CUE_LETTERS].view("<u4")
        likely = np.flatnonzero(glance.take(_glance(pieces)))
        sure = likely[cues[np.minimum(np.searchsorted(cues, pieces[likely]), cues.size - 1)] == pieces[likely]]
        # The first byte may be the end of the text before, so the second says which text it is.
        found[np.searchsorted(buffer.ends, sure * CUE_LETTERS + offset + 1) - 1] = True
    return np.flatnonzero(found)


def _glance(pieces: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return (pieces * np.uint32(0x9E3779B1)) >> np.uint32(32 - _GLANCE_BITS)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some texts: where they begin and end in the buffer, the text they are of, and their hash."""

    letters: Bytes
    begin: Numbers
    end: Numbers
    text: Numbers
    hash: Hashes
    texts: int


def split(buffer: Buffer) -> Words:
    """Find the words: runs of letters, and runs of digits."""
    kind = _KIND[buffer.data]
    change = np.flatnonzero(kind[1:] != kind[:-1]) + 1  # the buffer begins and ends with a line end: with no word
    of = kind[change]
    begins = of > 0
    begin = change[begins]
    end = change[1:][begins[:-1]]
    text = np.searchsorted(buffer.ends, begin) - 1
    letters = written(buffer)
    return Words(letters, begin, end, text, _hashes(letters, begin, end), buffer.texts)


@cache
def _powers(size: int, base: int) -> Hashes:
    """Powers of an odd number modulo 2^64; `size` is a power of two, so that few tables are made."""
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _hashes(letters: Bytes, begin: Numbers, end: Numbers) -> Hashes:
    """Hash stretches of bytes: differences of one running sum, brought to the same power wherever they stand."""
    size = 1 << int(letters.size).bit_length()
    sums = np.zeros(letters.size + 1, dtype=np.uint64)
    np.cumsum(letters * _powers(size, _BASE)[: letters.size], out=sums[1:])
    return mixed((sums[end] - sums[begin]) * _powers(size, _INVERSE)[begin])


def mixed(hashes: Hashes) -> Hashes:
    """Spread what a hash knows over all its bits."""
    hashes = (hashes ^ (hashes >> np.uint64(32))) * _MIX
    return hashes ^ (hashes >> np.uint64(29))


def joined(left: Hashes, right: Hashes) -> Hashes:
    """Hash a pair, in its order."""
    return mixed(left * np.uint64(3) + right * np.uint64(0x2545F4914F6CDD1D))


def word_hashes(words: Sequence[str]) -> Hashes:
    """Hash words or pairs of words as texts are hashed, to look them up in a table."""
    found = split(normalise(words))
    count = np.bincount(found.text, minlength=len(words))
    first: Numbers = np.cumsum(count) - count
    if not np.isin(count, (1, 2)).all():
        wrong = words[int(np.flatnonzero(~np.isin(count, (1, 2)))[0])]
        raise ValueError(f"{wrong!r} is neither one word nor two")
    hashes = found.hash[first]
    two = count == 2
    hashes[two] = joined(hashes[two], found.hash[first[two] + 1])
    return hashes


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words and pairs of words that a model knows, sorted by hash, each with the classes it belongs to as bits."""

    keys: Hashes
    classes: Mask

    def look_up(self, hashes: Hashes) -> Mask:
        """Give the classes of words; nothing for unknown ones."""
        at = np.searchsorted(self.keys, hashes)
        at[at == self.keys.size] = 0
        classes = self.classes[at]
        classes[self.keys[at] != hashes] = 0
        return classes


@dataclass(frozen=True, slots=True)
class Features:
    """The features of some texts: pairs of a text's number and a bucket, in no order that matters."""

    text: Numbers
    bucket: Numbers
    texts: int


def features(words: Words, table: WordTable) -> Features:
    """Find what the model weighs: words, classes of words, pairs near each other, and pieces of unknown words."""
    text, hashes = words.text, words.hash
    beside = text[1:] == text[:-1]
    classes = _classes(hashes, beside, table)
    known = classes > 0
    classes &= ~KNOWN
    token = _tokens(hashes, classes, known)
    parts = [(text, hashes, 1), (text, token, 2)]
    parts.append((text[1:][beside], joined(hashes[:-1], hashes[1:])[beside], 3))
    for distance in range(1, _REACH + 1):
        same = np.flatnonzero(text[distance:] == text[:-distance])
        parts.append((text[same], joined(token[same], token[same + distance]), 4 if distance == 1 else 5))
    three = np.flatnonzero(text[2:] == text[:-2])
    parts.append((text[three], joined(joined(token[three], token[three + 1]), token[three + 2]), 6))
    parts.extend(_of_whole_texts(words, classes, token))
    parts.append((*_pieces(words, np.flatnonzero(~known)), 9))
    return Features(
        np.concatenate([where for where, _, _ in parts]),
        np.concatenate([_bucket(what, kind) for _, what, kind in parts]),
        words.texts,
    )


def _classes(hashes: Hashes, beside: npt.NDArray[np.bool_], table: WordTable) -> Mask:
    """Look up each word and each pair of neighbours; a pair gives its classes to both words."""
    classes = table.look_up(hashes)
    if hashes.size > 1:
        pairs = np.where(beside, table.look_up(joined(hashes[:-1], hashes[1:])), np.uint64(0))
        classes[:-1] |= pairs
        classes[1:] |= pairs
    return classes


def _tokens(hashes: Hashes, classes: Mask, known: npt.NDArray[np.bool_]) -> Hashes:
    """Let a word stand for its first class; one without a class for itself; unknown ones are all alike."""
    first = classes & (~classes + np.uint64(1))
    return np.where(classes > 0, mixed(first), np.where(known, hashes, _UNKNOWN))


def _of_whole_texts(words: Words, classes: Mask, token: Hashes) -> list[tuple[Numbers, Hashes, int]]:
    """Tell which classes a text has at all, how it begins, and how it ends."""
    if not token.size:
        return []
    first = np.flatnonzero(np.diff(words.text, prepend=-1))
    last = np.append(first[1:], token.size) - 1
    text = words.text[first]
    together = np.bitwise_or.reduceat(classes, first)
    length = np.minimum(last - first, 7).astype(np.uint64)
    return [
        (text, mixed(together + np.uint64(1)), 7),
        (text, joined(mixed(together + np.uint64(2)), length), 7),
        (text, joined(token[first], together), 8),
        (text, mixed(token[first]), 8),
        (text, mixed(token[last] + np.uint64(1)), 8),
    ]


def _pieces(words: Words, which: Numbers) -> tuple[Numbers, Hashes]:
    """Cut words into pieces of the length of a cue, the space before and after included."""
    begin, end = words.begin[which] - 1, words.end[which] + 1
    count = np.maximum(end - begin - CUE_LETTERS + 1, 0)
    total = int(count.sum())
    start = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(total)
    piece = np.zeros(total, dtype=np.uint64)
    for i in range(CUE_LETTERS):
        letters = words.letters[start + i].astype(np.uint64)
        piece |= letters << np.uint64(8 * i)
    return np.repeat(words.text[which], count), mixed(piece)


def _bucket(hashes: Hashes, kind: int) -> Numbers:
    """Give each kind of feature its own way of falling into buckets."""
    return ((hashes * np.uint64(2 * kind + _BASE)) >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)
