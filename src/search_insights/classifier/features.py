"""From texts to features: the words, word classes and pairs of them that the classifier weighs.

Everything works on whole arrays of bytes and 64-bit hashes, in integers, so it is fast and gives the same result on
every machine. A feature is the number of a hash bucket: texts that share a word, or have words of the same classes
next to each other, share buckets. The features of a text depend on that text alone, not on the rest of its batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from search_insights.support.arrays import Numbers

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.uint64]

BUCKET_BITS = 18
# The longest text that is read; of a longer one, the first characters. That is several times the length of the longest
# label, and keeps a pasted page from being memory and work. `topics.part_read` is this rule for texts in a database.
MAX_CHARACTERS = 300
MAX_CLASSES = 62
# Bytes of a cue: only texts with one of the model's cues can have a category. A cue is a number, its first byte lowest.
CUE_LENGTH, MAX_CUE_LENGTH = 4, 8
Cues = npt.NDArray[np.uint64]
KNOWN = np.uint64(1 << 63)  # the bit of a word that the model knows

_MAX_DISTANCE = 5  # words up to this far apart make a pair

_BASE = 0x9E3779B97F4A7C15  # odd, so it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_UNKNOWN = np.uint64(0x5851F42D4C957F2D)

_LETTER, _DIGIT = 1, 2
_FILTER_BITS = 16


def _byte_tables() -> tuple[Bytes, Bytes]:
    """Return the kind of each byte (0 separates words), and the byte itself, or a space if it separates words."""
    kind = np.zeros(256, dtype=np.uint8)
    kind[[*range(ord("a"), ord("z") + 1), *range(0x80, 0x100)]] = _LETTER
    kind[list(range(ord("0"), ord("9") + 1))] = _DIGIT
    return kind, np.where(kind > 0, np.arange(256), ord(" ")).astype(np.uint8)


_KIND, _BLANKED = _byte_tables()


@dataclass(frozen=True, slots=True)
class Buffer:
    """Texts in lower case, one after the other, each between two line ends, whose positions are `ends`."""

    data: Bytes
    ends: Numbers

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self.ends.size - 1


def normalise(texts: Sequence[str]) -> Buffer:
    """Join texts, each as far as it is read, in lower case, no apostrophes. A text with line breaks stays one text."""
    if max(map(len, texts), default=0) > MAX_CHARACTERS:
        texts = [text[:MAX_CHARACTERS] for text in texts]
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:
        joined = "\n".join([text.replace("\n", " ") for text in texts])
    plain = f"\n{joined.lower()}\n".replace("\u2019", "").replace("'", "")
    data = np.frombuffer(plain.encode("utf-8", "replace"), dtype=np.uint8)
    return Buffer(data, np.flatnonzero(data == ord("\n")))


def _blank_separators(buffer: Buffer) -> Bytes:
    """Return the bytes with a space for everything that separates words, line ends included."""
    return _BLANKED[buffer.data]


def texts_with_cue(buffer: Buffer, cues: Cues) -> Numbers:
    """Return the indices of the texts that have one of the cues, which are sorted; all texts if there are no cues.

    A table of hashes of their first four bytes finds candidates, and comparing all bytes confirms them: a hash
    collision in bytes that span two texts would make the answer for a text depend on its neighbour.
    """
    if not cues.size:
        return np.arange(buffer.texts)
    letters, possible = _blank_separators(buffer), np.zeros(1 << _FILTER_BITS, dtype=bool)
    possible[_filter_slot(cues.astype(np.uint32))] = True  # the lower half
    found = np.zeros(buffer.texts, dtype=bool)
    for offset in range(CUE_LENGTH):  # each way of cutting the bytes into fours
        pieces = letters[offset : offset + (letters.size - offset) // CUE_LENGTH * CUE_LENGTH].view("<u4")
        candidates = np.flatnonzero(possible.take(_filter_slot(pieces)))
        begins = candidates * CUE_LENGTH + offset
        confirmed = begins[_confirmed(letters, begins, pieces[candidates], cues)]
        # The first byte may be the line end before the text, so the second byte tells which text it is.
        found[np.searchsorted(buffer.ends, confirmed + 1) - 1] = True
    return np.flatnonzero(found)


def _confirmed(letters: Bytes, begins: Numbers, pieces: npt.NDArray[np.uint32], cues: Cues) -> npt.NDArray[np.bool_]:
    """Return which candidates, given by their place and their first four bytes, are a cue of any length."""
    window = pieces.astype(np.uint64)
    confirmed = _is_in(window, cues)
    if int(cues[-1]) >> 8 * CUE_LENGTH == 0:
        return confirmed  # no cue is longer
    for i in range(CUE_LENGTH, MAX_CUE_LENGTH):
        inside = begins + i < letters.size
        following = np.where(inside, letters[np.minimum(begins + i, letters.size - 1)], 0).astype(np.uint64)
        window |= following << np.uint64(8 * i)
        confirmed |= inside & _is_in(window, cues)
    return confirmed


def _is_in(numbers: npt.NDArray[np.uint64], cues: Cues) -> npt.NDArray[np.bool_]:
    nearest: npt.NDArray[np.bool_] = cues[np.minimum(np.searchsorted(cues, numbers), cues.size - 1)] == numbers
    return nearest


def _filter_slot(pieces: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return (pieces * np.uint32(0x9E3779B1)) >> np.uint32(32 - _FILTER_BITS)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some texts: where each begins and ends in the buffer, the text it belongs to, and its hash."""

    letters: Bytes
    begin: Numbers
    end: Numbers
    text: Numbers
    hash: Hashes
    texts: int


def split_words(buffer: Buffer) -> Words:
    """Return the words: runs of letters, and runs of digits."""
    kind = _KIND[buffer.data]
    change = np.flatnonzero(kind[1:] != kind[:-1]) + 1  # the buffer begins and ends with a line end
    begins = kind[change] > 0
    begin = change[begins]
    end = change[1:][begins[:-1]]
    text = np.searchsorted(buffer.ends, begin) - 1
    letters = _blank_separators(buffer)
    return Words(letters, begin, end, text, _hashes(letters, begin, end), buffer.texts)


@cache
def _powers(size: int, base: int) -> Hashes:
    """Return powers of an odd number modulo 2^64; `size` is a power of two, so few tables are cached."""
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _hashes(letters: Bytes, begin: Numbers, end: Numbers) -> Hashes:
    """Hash ranges of bytes: differences of one running sum, scaled to the same power at any position."""
    size = 1 << int(letters.size).bit_length()
    sums = np.zeros(letters.size + 1, dtype=np.uint64)
    np.cumsum(letters * _powers(size, _BASE)[: letters.size], out=sums[1:])
    return _mix((sums[end] - sums[begin]) * _powers(size, _INVERSE)[begin])


def _mix(hashes: Hashes) -> Hashes:
    """Spread the information of a hash over all its bits."""
    hashes = (hashes ^ (hashes >> np.uint64(32))) * _MIX_FACTOR
    return hashes ^ (hashes >> np.uint64(29))


def _pair(left: Hashes, right: Hashes) -> Hashes:
    """Hash ordered pairs."""
    return _mix(left * np.uint64(3) + right * np.uint64(0x2545F4914F6CDD1D))


def word_hashes(words: Sequence[str]) -> Hashes:
    """Hash words or pairs of words as the words of texts are hashed, to look them up in a table."""
    found = split_words(normalise(words))
    count = np.bincount(found.text, minlength=len(words))
    first: Numbers = np.cumsum(count) - count
    if not np.isin(count, (1, 2)).all():
        wrong = words[int(np.flatnonzero(~np.isin(count, (1, 2)))[0])]
        raise ValueError(f"{wrong!r} is neither one word nor two")
    hashes = found.hash[first]
    two = count == 2
    hashes[two] = _pair(hashes[two], found.hash[first[two] + 1])
    return hashes


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words and pairs of words that a model knows, sorted by hash, each with its classes as bits."""

    keys: Hashes
    classes: Mask

    def look_up(self, hashes: Hashes) -> Mask:
        """Return the classes of words, 0 for unknown ones."""
        at = np.searchsorted(self.keys, hashes)
        at[at == self.keys.size] = 0
        classes = self.classes[at]
        classes[self.keys[at] != hashes] = 0
        return classes


@dataclass(frozen=True, slots=True)
class Features:
    """The features of some texts: pairs of a text's index and a bucket, in any order."""

    text: Numbers
    bucket: Numbers
    texts: int


def features(words: Words, table: WordTable) -> Features:
    """Return what the model weighs: words, word classes, pairs of nearby words, and pieces of unknown words."""
    text, hashes = words.text, words.hash
    adjacent = text[1:] == text[:-1]
    classes = _classes(hashes, adjacent, table)
    known = classes > 0
    classes &= ~KNOWN
    token = _tokens(hashes, classes, known)
    parts = [(text, hashes, 1), (text, token, 2)]
    parts.append((text[1:][adjacent], _pair(hashes[:-1], hashes[1:])[adjacent], 3))
    for distance in range(1, _MAX_DISTANCE + 1):
        same = np.flatnonzero(text[distance:] == text[:-distance])
        parts.append((text[same], _pair(token[same], token[same + distance]), 4 if distance == 1 else 5))
    triple = np.flatnonzero(text[2:] == text[:-2])
    parts.append((text[triple], _pair(_pair(token[triple], token[triple + 1]), token[triple + 2]), 6))
    parts.extend(_whole_text_features(words, classes, token))
    parts.append((*_pieces(words, np.flatnonzero(~known)), 9))
    return Features(
        np.concatenate([where for where, _, _ in parts]),
        np.concatenate([_bucket(what, kind) for _, what, kind in parts]),
        words.texts,
    )


def _classes(hashes: Hashes, adjacent: npt.NDArray[np.bool_], table: WordTable) -> Mask:
    """Look up each word and each pair of adjacent words; a pair gives its classes to both words."""
    classes = table.look_up(hashes)
    if hashes.size > 1:
        pairs = np.where(adjacent, table.look_up(_pair(hashes[:-1], hashes[1:])), np.uint64(0))
        classes[:-1] |= pairs
        classes[1:] |= pairs
    return classes


def _tokens(hashes: Hashes, classes: Mask, known: npt.NDArray[np.bool_]) -> Hashes:
    """Replace a word by its first class; a known word without a class stays itself, unknown words become one token."""
    first = classes & (~classes + np.uint64(1))
    return np.where(classes > 0, _mix(first), np.where(known, hashes, _UNKNOWN))


def _whole_text_features(words: Words, classes: Mask, token: Hashes) -> list[tuple[Numbers, Hashes, int]]:
    """Return features of whole texts: all their classes, and how they begin and end."""
    if not token.size:
        return []
    first = np.flatnonzero(np.diff(words.text, prepend=-1))
    last = np.append(first[1:], token.size) - 1
    text = words.text[first]
    all_classes = np.bitwise_or.reduceat(classes, first)
    length = np.minimum(last - first, 7).astype(np.uint64)
    return [
        (text, _mix(all_classes + np.uint64(1)), 7),
        (text, _pair(_mix(all_classes + np.uint64(2)), length), 7),
        (text, _pair(token[first], all_classes), 8),
        (text, _mix(token[first]), 8),
        (text, _mix(token[last] + np.uint64(1)), 8),
    ]


def _pieces(words: Words, which: Numbers) -> tuple[Numbers, Hashes]:
    """Cut words into overlapping pieces as long as a cue, with the space before and after included."""
    begin, end = words.begin[which] - 1, words.end[which] + 1
    count = np.maximum(end - begin - CUE_LENGTH + 1, 0)
    total = int(count.sum())
    start = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(total)
    piece = np.zeros(total, dtype=np.uint64)
    for i in range(CUE_LENGTH):
        letters = words.letters[start + i].astype(np.uint64)
        piece |= letters << np.uint64(8 * i)
    return np.repeat(words.text[which], count), _mix(piece)


def _bucket(hashes: Hashes, kind: int) -> Numbers:
    """Map hashes to buckets, differently for each kind of feature."""
    return ((hashes * np.uint64(2 * kind + _BASE)) >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)
