"""The texts of simulated searches: short, sometimes misspelt, sometimes local, as people type.

Texts are made from word lists, so a log holds no real searches. A text may have a placeholder for the name of the place
it is typed in. Texts have ranks, and the lower the rank, the more often a text is drawn: how often falls with the rank
as in real logs, a few texts are typed by many people and most by few. The ranks of some texts change from week to week.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product

import numpy as np
import numpy.typing as npt

from search_insights.simulation.planted import personal_texts
from search_insights.simulation.population import generator
from search_insights.simulation.words import GENERIC_TEMPLATES, ORDINARY_TEMPLATES, PLACE, TOPIC_TEMPLATES, WORDS
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats

MISSPELT_SHARE = 0.12  # share of the texts that also exist with a typo
REORDERED_SHARE = 0.15  # share of a topic's texts that also exist with the end first, if that is a text people type
MOVING_SHARE = 0.05  # share of a topic's texts that rise and fall

# A text of rank r, from 0, is drawn in proportion to 1 / (r + _HEAD)**_SLOPE.
_SLOPE, _HEAD = 1.12, 2.0
_VARIANT_RANK = (1.5, 8.0)  # the rank of a variant, in ranks of its text
_REORDERED_WORDS = range(3, 6)
# Of a text that moves: the weeks from peak to peak, the weeks a peak takes, and by what power of e its rank is better.
_PERIOD, _WIDTH, _HEIGHT = (6.0, 26.0), 1.5, (1.0, 3.5)

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_UNIT = 2.0**-32


@dataclass(frozen=True)
class Moves:
    """The texts that rise and fall: which, how far they rise, how often, and when. All of them are texts of topics."""

    text: npt.NDArray[np.int64]
    height: Floats
    period: Floats
    phase: Floats

    def at(self, week: date) -> Floats:
        """Return by what power of e the rank of each text is better in a week."""
        weeks = (week.toordinal() / 7 - self.phase) % self.period
        distance = np.minimum(weeks, self.period - weeks)
        rise: Floats = self.height * np.exp(-((distance / _WIDTH) ** 2))
        return rise


@dataclass(frozen=True)
class QueryTexts:
    """All texts, grouped by topic: ordinary ones first, then the topics in the order of the spec, then personal ones.

    first, count  where each group begins, and how many texts it has
    local         whether a text names the place
    moves         how texts rise and fall
    personal      where the personal texts begin, which nobody draws (planted.py)
    """

    texts: tuple[str, ...]
    first: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]
    moves: Moves
    personal: int

    def ranked(self, week: date) -> npt.NDArray[np.int32]:
        """Return the texts in the order of their ranks in a week, group by group."""
        rank = np.arange(self.personal) - np.repeat(self.first, self.count)
        score = np.log(rank + 1.0)
        score[self.moves.text] -= self.moves.at(week)
        order = np.arange(self.personal, dtype=np.int32)
        for first, count in zip(self.first[1:], self.count[1:], strict=True):
            order[first : first + count] = first + np.argsort(score[first : first + count], kind="stable")
        return order

    def draw(
        self, bits: npt.NDArray[np.uint32], topic: npt.NDArray[np.uint8], ranked: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Draw a text for each event from random bits. Return its number, from 1, and whether it names the place."""
        power = 1 - _SLOPE
        last = (self.count + _HEAD) ** power - _HEAD**power  # of each group, so few powers of groups are computed
        rank = (_HEAD**power + bits * _UNIT * last[topic]) ** (1 / power) - _HEAD
        which = ranked[self.first[topic] + np.minimum(rank.astype(np.int64), self.count[topic] - 1)]
        return which + 1, self.local[which]

    def split_at_place(self) -> tuple[list[str], list[str]]:
        """Return what comes before and after the place's name; a text that names no place is all before."""
        parts = [text.partition(PLACE) for text in self.texts]
        return [before for before, _, _ in parts], [after for _, _, after in parts]


def query_texts(spec: Spec, seed: int) -> QueryTexts:
    """Make the texts of ordinary searches and of every topic of a spec, and those that are planted."""
    rng = generator(seed, "queries")
    names = {category.id: category.name for category in spec.categories}
    groups = [_by_popularity(rng, ordinary_texts(), reordered=False)]
    for topic in spec.topics:
        words = names[topic].replace("_", " ").replace("-", " ").lower()
        templates = TOPIC_TEMPLATES.get(names[topic], GENERIC_TEMPLATES)
        groups.append(_by_popularity(rng, tuple(_expand(templates, words)), reordered=True))
    sizes = [len(group) for group in groups]
    about = next(text for text in groups[1] if PLACE not in text)
    texts = (*(text for group in groups for text in group), *personal_texts(about))
    local = np.array([PLACE in text for text in texts])
    moves = _moves(rng, sizes[0], sum(sizes))
    return QueryTexts(texts, np.cumsum([0, *sizes[:-1]]), np.array(sizes), local, moves, sum(sizes))


def _moves(rng: np.random.Generator, first: int, last: int) -> Moves:
    """Choose texts that rise and fall, each with a rhythm of its own."""
    text = first + np.flatnonzero(rng.random(last - first) < MOVING_SHARE)
    period = rng.uniform(*_PERIOD, text.size)
    return Moves(text, rng.uniform(*_HEIGHT, text.size), period, rng.random(text.size) * period)


def ordinary_texts() -> list[str]:
    """Return every text of ordinary searches, with placeholders for places."""
    return list(_expand(ORDINARY_TEMPLATES, ""))


def _expand(templates: Sequence[str], topic: str) -> Iterator[str]:
    """Fill every template with every combination of words from the lists it names."""
    for template in templates:
        parts = template.replace("<topic>", topic).replace("<", ">").split(">")  # every other part names a list
        choices = [(part,) if i % 2 == 0 else WORDS[part] for i, part in enumerate(parts)]
        for words in product(*choices):
            yield "".join(words)


def _by_popularity(rng: np.random.Generator, texts: Sequence[str], *, reordered: bool) -> list[str]:
    """Order texts by popularity: short ones tend to come first; some come again, later, with a typo or reordered."""
    order = np.argsort(np.array([text.count(" ") for text in texts]) + 2 * rng.random(len(texts)))
    plain = [texts[i] for i in order]
    typos, rank = rng.random((len(texts), 3)), np.arange(1.0, len(texts) + 1)
    misspelt = np.flatnonzero(typos[:, 2] < MISSPELT_SHARE)
    turned = np.flatnonzero((rng.random(len(texts)) < REORDERED_SHARE) & reordered)
    variants = [_with_typo(plain[i], *typos[i, :2]) for i in misspelt] + [_reordered(plain[i]) for i in turned]
    later = rank[np.concatenate([misspelt, turned])] * rng.uniform(*_VARIANT_RANK, len(variants))
    every = [*plain, *variants]
    return [every[i] for i in np.argsort(np.concatenate([rank, later]), kind="stable")]


def _reordered(text: str) -> str:
    """Put the end of a text first: near me covid vaccine. A long text is a sentence, whose order people keep."""
    words = text.split(" ")
    if len(words) not in _REORDERED_WORDS:
        return text
    end = 1 if len(words) == min(_REORDERED_WORDS) else 2
    return " ".join([*words[-end:], *words[:-end]])


def _with_typo(text: str, where: float, what: float) -> str:
    """Make one typo: a letter left out, doubled, swapped with the next, or replaced."""
    letters = [i for i, letter in enumerate(text) if letter in _ALPHABET and not _in_placeholder(text, i)]
    if not letters:
        return text
    i = letters[int(where * len(letters))]
    typos = (
        text[:i] + text[i + 1 :],
        text[:i] + text[i] + text[i:],
        text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :],
        text[:i] + _ALPHABET[int(what * 997) % len(_ALPHABET)] + text[i + 1 :],
    )
    typo = typos[int(what * len(typos))]
    return typo if (PLACE in typo) == (PLACE in text) else text


def _in_placeholder(text: str, i: int) -> bool:
    begin = text.find(PLACE)
    return begin >= 0 and begin <= i < begin + len(PLACE)
