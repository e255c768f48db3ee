"""The unlabelled pool: texts as people might type them, made from labelled queries, word lists and place names.

A text of the pool is a labelled query, without its label, in which words are swapped for others of their class: another
pharmacy, another county, another disease. That may change what the text is about; the committee decides in training.
The rest of the pool is ordinary texts: the publisher's own, or those of the simulation, which are English.
"""

import random
from collections.abc import Sequence

from search_insights.classifier.lexicon import WordClass, place_names
from search_insights.simulation.queries import ordinary_texts
from search_insights.simulation.words import PLACE
from search_insights.spec.geography import Geography

SWAP_PROBABILITY = 0.3  # that a word is swapped for another of its class
ORDINARY_SHARE = 0.25  # share of the pool that is ordinary searches

_MAX_TRIES = 50  # for each text: a few labels without a lexicon or places have few variants

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ENDINGS = ("?", " please", " today", " 2021", " com", " now", " reddit")


def make_pool(
    texts: Sequence[str],
    classes: Sequence[WordClass],
    geography: Geography,
    count: int,
    seed: int,
    own_ordinary: Sequence[str] = (),
) -> list[str]:
    """Make `count` distinct texts, or as many as there are. The same seed gives the same pool."""
    rng = random.Random(seed)  # noqa: S311 - synthetic texts are not secret
    names = sorted(set(place_names(geography))) or ["town"]
    swaps = _swaps(classes, names)
    ordinary = own_ordinary or ordinary_texts()
    pool: dict[str, None] = {}
    for _ in range(_MAX_TRIES * count):
        if len(pool) == count:
            break
        if rng.random() < ORDINARY_SHARE:
            pool[rng.choice(ordinary).replace(PLACE, rng.choice(names))] = None
        else:
            pool[_swap_words(rng.choice(texts), swaps, rng)] = None
    return list(pool)


def _swaps(classes: Sequence[WordClass], names: list[str]) -> dict[str, list[str]]:
    """Return what each word may be swapped for; a word of several classes is swapped within its first."""
    swaps: dict[str, list[str]] = {}
    for word_class in classes:
        others = [*word_class.words, *(names if word_class.geography else ())]
        for word in others:
            swaps.setdefault(word, others)
    return swaps


def _swap_words(text: str, swaps: dict[str, list[str]], rng: random.Random) -> str:
    """Swap some words of a text, or pairs of words where the lists have the pair."""
    words, out, i = text.split(), [], 0
    while i < len(words):
        pair = " ".join(words[i : i + 2])
        entry = pair if pair in swaps else words[i]
        others = swaps.get(entry)
        out.append(rng.choice(others) if others and rng.random() < SWAP_PROBABILITY else entry)
        i += 2 if entry == pair and " " in pair else 1
    return " ".join(out)


def mistyped(text: str, rng: random.Random) -> str:
    """Return a text of the same meaning, typed less carefully: with a typo, two words joined, or an ending added."""
    words = text.split()
    kind = rng.random()
    if kind < 0.45 and words:
        return _with_typo(text, rng)
    if kind < 0.65 and len(words) > 1:
        i = rng.randrange(len(words) - 1)
        return " ".join([*words[:i], words[i] + words[i + 1], *words[i + 2 :]])
    return text + rng.choice(_ENDINGS)


def _with_typo(text: str, rng: random.Random) -> str:
    """Leave a letter out, double it, swap it with the next, or replace it."""
    i = rng.randrange(len(text))
    return rng.choice(
        (
            text[:i] + text[i + 1 :],
            text[:i] + text[i] + text[i:],
            text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :],
            text[:i] + rng.choice(_LETTERS) + text[i + 1 :],
        )
    )
