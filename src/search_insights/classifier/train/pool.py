"""The unlabelled pool: texts as people might type them, made from word lists and the names of places.

Nobody typed them and nobody labelled them. A text takes the shape of a labelled query, whose label is not looked at,
and swaps words for others of their class: another pharmacy, another county, another disease. What it is about may
change by that; to say so is the teacher's part in training.
"""

import random
from collections.abc import Sequence

from search_insights.classifier.lexicon import WordClass, places
from search_insights.simulation.queries import ordinary_texts
from search_insights.simulation.words import PLACE
from search_insights.spec.geography import Geography

SWAPPED = 0.3  # how often a word is swapped for another of its class
ORDINARY = 0.25  # share of the pool that is about anything else

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ENDS = ("?", " please", " today", " 2021", " com", " now", " reddit")


def make_pool(
    texts: Sequence[str], classes: Sequence[WordClass], geography: Geography, count: int, seed: int
) -> list[str]:
    """Make texts, each once, in no order; the same seed gives the same pool."""
    rng = random.Random(seed)  # noqa: S311 - a pool of made-up texts is no secret
    names = sorted(set(places(geography))) or ["town"]
    swaps = _swaps(classes, names)
    ordinary = ordinary_texts()
    pool: dict[str, None] = {}
    while len(pool) < count:
        if rng.random() < ORDINARY:
            pool[rng.choice(ordinary).replace(PLACE, rng.choice(names))] = None
        else:
            pool[_swapped(rng.choice(texts), swaps, rng)] = None
    return list(pool)


def _swaps(classes: Sequence[WordClass], names: list[str]) -> dict[str, list[str]]:
    """List for each word what may stand in its place; a word of several classes keeps to its first."""
    swaps: dict[str, list[str]] = {}
    for word_class in classes:
        others = [*word_class.words, *(names if word_class.geography else ())]
        for word in others:
            swaps.setdefault(word, others)
    return swaps


def _swapped(text: str, swaps: dict[str, list[str]], rng: random.Random) -> str:
    """Go through a text word by word, or pair by pair where a pair is in the lists."""
    words, out, i = text.split(), [], 0
    while i < len(words):
        pair = " ".join(words[i : i + 2])
        entry = pair if pair in swaps else words[i]
        others = swaps.get(entry)
        out.append(rng.choice(others) if others and rng.random() < SWAPPED else entry)
        i += 2 if entry == pair and " " in pair else 1
    return " ".join(out)


def noised(text: str, rng: random.Random) -> str:
    """Type a text less carefully, so that it still means the same: a slip, two words run together, an ending."""
    words = text.split()
    what = rng.random()
    if what < 0.45 and words:
        return _slip(text, rng)
    if what < 0.65 and len(words) > 1:
        i = rng.randrange(len(words) - 1)
        return " ".join([*words[:i], words[i] + words[i + 1], *words[i + 2 :]])
    return text + rng.choice(_ENDS)


def _slip(text: str, rng: random.Random) -> str:
    """Leave a letter out, double it, swap it with the next, or hit another key."""
    i = rng.randrange(len(text))
    return rng.choice(
        (
            text[:i] + text[i + 1 :],
            text[:i] + text[i] + text[i:],
            text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :],
            text[:i] + rng.choice(_LETTERS) + text[i + 1 :],
        )
    )
