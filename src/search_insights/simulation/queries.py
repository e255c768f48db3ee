"""The texts of simulated searches: short, sometimes misspelt, sometimes local, as people type.

Texts are made from word lists, so a log holds no real searches. A text may have a placeholder for the name of the place
it is typed in. Popular texts come first: the lower its number, the more often a text is drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from search_insights.simulation.population import generator
from search_insights.simulation.words import GENERIC_TEMPLATES, ORDINARY_TEMPLATES, PLACE, TOPIC_TEMPLATES, WORDS
from search_insights.spec.spec import Spec

MISSPELT_SHARE = 0.12  # share of the texts that also exist with a typo

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_UNIT = 2.0**-32


@dataclass(frozen=True)
class QueryTexts:
    """All texts, grouped by topic: ordinary ones first, then the topics in the order of the spec.

    first, count  where each group begins, and how many texts it has
    local         whether a text names the place
    """

    texts: tuple[str, ...]
    first: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]

    def draw(
        self, bits: npt.NDArray[np.uint32], topic: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Draw a text for each event. Return its number, from 1, and whether it names the place."""
        uniform = bits[0] * _UNIT
        rank = (self.count[topic] * (uniform * uniform * uniform)).astype(np.int64)
        which = self.first[topic] + rank
        return (which + 1).astype(np.int32), self.local[which]

    def split_at_place(self) -> tuple[list[str], list[str]]:
        """Return what comes before and after the place's name; a text that names no place is all before."""
        parts = [text.partition(PLACE) for text in self.texts]
        return [before for before, _, _ in parts], [after for _, _, after in parts]


def query_texts(spec: Spec, seed: int) -> QueryTexts:
    """Make the texts of ordinary searches and of every topic of a spec."""
    rng = generator(seed, "queries")
    names = {category.id: category.name for category in spec.categories}
    groups = [_by_popularity(rng, ordinary_texts())]
    for topic in spec.topics:
        words = names[topic].replace("_", " ").replace("-", " ").lower()
        templates = TOPIC_TEMPLATES.get(names[topic], GENERIC_TEMPLATES)
        groups.append(_by_popularity(rng, tuple(_expand(templates, words))))
    sizes = [len(group) for group in groups]
    texts = tuple(text for group in groups for text in group)
    local = np.array([PLACE in text for text in texts])
    return QueryTexts(texts, np.cumsum([0, *sizes[:-1]]), np.array(sizes), local)


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


def _by_popularity(rng: np.random.Generator, texts: Sequence[str]) -> list[str]:
    """Order texts by popularity: short ones tend to come first, and some come again with a typo at the end."""
    order = np.argsort(np.array([text.count(" ") for text in texts]) + 2 * rng.random(len(texts)))
    typos = rng.random((len(texts), 3))
    plain = [texts[i] for i in order]
    misspelt = [_with_typo(texts[i], *typos[i, :2]) for i in order if typos[i, 2] < MISSPELT_SHARE]
    return plain + misspelt


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
