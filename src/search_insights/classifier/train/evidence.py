"""Evidence: the pieces of words without which a text has no topic, found in the labels where a lexicon names none.

A few hundred labels teach a linear model too much: that Basel is about heat waves, because no other label names Basel.
So a text needs a piece that speaks for the topics themselves: one that several labels of a topic have and the others
do not, that ordinary queries hardly have, and that does not come from the name of a place.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from search_insights.classifier.features import MAX_CUE_LENGTH, Cues, normalise, split_words
from search_insights.classifier.lexicon import encode_pieces
from search_insights.spec.geography import Geography
from search_insights.support.arrays import Numbers

_MIN_LETTERS = 3  # of a word that may be evidence
_MIN_PIECE = 5  # bytes, with the edge of a word counted; only a whole word may be shorter
_BEST_PIECE = 6  # bytes: shorter ones are in other words too, longer ones miss other forms of the word
# How many labels of topics have a piece, and no piece that was chosen before it. To cover the last few labels, words
# that are in any text would be chosen.
_MIN_TEXTS = 3
_MIN_RATIO = 6.0  # how much more frequent a piece is in labels of topics than in those of none
_MIN_ORDINARY_RATIO = 20.0  # the same against ordinary queries
_EDGE = b" "

Texts = set[int]


@dataclass(frozen=True, slots=True)
class Background:
    """What speaks against a piece: how many ordinary queries have each word, of how many; and the words of places."""

    words: Mapping[bytes, int]
    texts: int
    places: frozenset[bytes]


def background(ordinary: Sequence[str], geography: Geography | None) -> Background:
    """Return the words of ordinary queries and of the names of all regions."""
    words = Counter(word for words in words_by_text(ordinary) for word in words)
    names = [region.name for region in geography.regions] if geography else []
    return Background(words, len(ordinary), frozenset(word for words in words_by_text(names) for word in words))


def words_by_text(texts: Sequence[str]) -> list[set[bytes]]:
    """Return the words of each text, each once."""
    found = split_words(normalise(texts)) if texts else None
    words: list[set[bytes]] = [set() for _ in texts]
    if found is not None:
        letters = found.letters.tobytes()
        for text, begin, end in zip(found.text.tolist(), found.begin.tolist(), found.end.tolist(), strict=True):
            words[text].add(letters[begin:end])
    return words


def find_cues(texts: Sequence[str], labels: Numbers, known: Background) -> Cues:
    """Return the pieces of which a text needs one to have a topic."""
    words = words_by_text(texts)
    for_topics = _carriers(((i, words[i]) for i in range(len(texts)) if labels[i]), known.places)
    for_none = _carriers(((i, words[i]) for i in range(len(texts)) if not labels[i]), frozenset())
    against = _ordinary_pieces(known)
    odds = _Odds(int((labels > 0).sum()), int((labels == 0).sum()), known.texts)
    ratios = {
        piece: odds.ratio(len(having), len(for_none.get(piece, ())), against.get(piece, 0))
        for piece, having in for_topics.items()
        if len(having) >= _MIN_TEXTS
    }
    ratios = {piece: ratio for piece, ratio in ratios.items() if ratio >= 1}
    return encode_pieces(_covering(for_topics, ratios))


@dataclass(frozen=True, slots=True)
class _Odds:
    """How clearly a piece speaks for the topics, by its frequency in labels and ordinary queries."""

    topics: int
    none: int
    ordinary: int

    def ratio(self, topics: int, none: int, ordinary: int) -> float:
        """Return how often a piece exceeds what is required of it; below 1 it is no evidence."""
        share = topics / max(self.topics, 1)
        ratio = share / ((none + 0.5) / (self.none + 1)) / _MIN_RATIO
        if self.ordinary:
            ratio = min(ratio, share / ((ordinary + 0.5) / (self.ordinary + 1)) / _MIN_ORDINARY_RATIO)
        return ratio


def _carriers(texts: Iterable[tuple[int, set[bytes]]], without: frozenset[bytes]) -> dict[bytes, Texts]:
    """Return which texts have each piece, in words other than some."""
    found: dict[bytes, Texts] = defaultdict(set)
    for i, words in texts:
        for word in words - without:
            for piece in pieces_of(word):
                found[piece].add(i)
    return found


def _ordinary_pieces(known: Background) -> Counter[bytes]:
    """Count the ordinary queries that have each piece; the name of each place is one more."""
    found: Counter[bytes] = Counter()
    for word, count in known.words.items():
        for piece in pieces_of(word):
            found[piece] += count
    for word in known.places:
        found.update(pieces_of(word))
    return found


def pieces_of(word: bytes) -> Iterator[bytes]:
    """Yield the pieces of a word that may be a cue, each once; `_EDGE` is where the word begins or ends."""
    if len(word) < _MIN_LETTERS or word.isdigit():
        return
    whole = _EDGE + word + _EDGE
    if len(whole) <= MAX_CUE_LENGTH:
        yield whole
    seen = {whole}
    for size in range(_MIN_PIECE, MAX_CUE_LENGTH + 1):
        for begin in range(len(whole) - size + 1):
            piece = whole[begin : begin + size]
            if piece not in seen:
                seen.add(piece)
                yield piece


def _covering(carriers: Mapping[bytes, Texts], ratios: Mapping[bytes, float]) -> list[bytes]:
    """Return pieces that together cover most texts of topics, each time the one that covers most of what is left."""
    left: Texts = set().union(*(carriers[piece] for piece in ratios)) if ratios else set()
    queue = [(*_rank(piece, len(carriers[piece]), ratios[piece]), piece) for piece in ratios]
    heapq.heapify(queue)
    chosen = []
    while left and queue:
        *_, piece = heapq.heappop(queue)
        gain = len(carriers[piece] & left)
        rank = (*_rank(piece, gain, ratios[piece]), piece)
        if gain >= _MIN_TEXTS and queue and rank > queue[0]:
            heapq.heappush(queue, rank)  # it covers less than when it was ranked
        elif gain >= _MIN_TEXTS:
            chosen.append(piece)
            left -= carriers[piece]
    return chosen


def _rank(piece: bytes, gain: int, ratio: float) -> tuple[float, bool, int]:
    """Return the order of pieces, the best first: much covered and clear, at the beginning of a word, not too long."""
    return -gain * math.log1p(min(ratio, 100.0)), not piece.startswith(_EDGE), abs(len(piece) - _BEST_PIECE)
