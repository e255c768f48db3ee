"""The texts of simulated searches: short, misspelt, local, as people type.

Texts are made from word lists, so no one's real searches are in a log. A text may have a gap for the name of the place
that it is typed in. Popular texts come first: the lower its number, the more often a text is drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from search_insights.simulation.population import generator
from search_insights.simulation.words import ORDINARY_FORMS, PLACE, PLAIN_FORMS, TOPIC_FORMS, WORDS
from search_insights.spec.spec import Spec

MISSPELT = 0.12  # share of the texts that have a slip of the finger

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_UNIT = 2.0**-32


@dataclass(frozen=True)
class QueryTexts:
    """All texts, those of one topic together: ordinary ones first, then the topics in the order of the spec."""

    texts: tuple[str, ...]
    first: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]

    def draw(
        self, bits: npt.NDArray[np.uint32], topic: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Draw a text for each event, popular ones more often: its number from 1, and whether it names the place."""
        uniform = bits[0] * _UNIT
        rank = (self.count[topic] * (uniform * uniform * uniform)).astype(np.int64)
        which = self.first[topic] + rank
        return (which + 1).astype(np.int32), self.local[which]

    def halves(self) -> tuple[list[str], list[str]]:
        """Give what stands before and after the name of the place; all of it before where no place is named."""
        parts = [text.partition(PLACE) for text in self.texts]
        return [before for before, _, _ in parts], [after for _, _, after in parts]


def query_texts(spec: Spec, seed: int) -> QueryTexts:
    """Make the texts of ordinary searches and of every topic of a spec."""
    rng = generator(seed, "queries")
    names = {category.id: category.name for category in spec.categories}
    pools = [_pool(rng, ordinary_texts())]
    for topic in spec.topics:
        words = names[topic].replace("_", " ").replace("-", " ").lower()
        forms = TOPIC_FORMS.get(names[topic], PLAIN_FORMS)
        pools.append(_pool(rng, tuple(_expanded(forms, words))))
    sizes = [len(pool) for pool in pools]
    texts = tuple(text for pool in pools for text in pool)
    local = np.array([PLACE in text for text in texts])
    return QueryTexts(texts, np.cumsum([0, *sizes[:-1]]), np.array(sizes), local)


def ordinary_texts() -> list[str]:
    """List every text of ordinary searches, with gaps for places."""
    return list(_expanded(ORDINARY_FORMS, ""))


def _expanded(forms: Sequence[str], topic: str) -> Iterator[str]:
    """Write out every form with every word of the lists that it names."""
    for form in forms:
        parts = form.replace("<topic>", topic).replace("<", ">").split(">")  # odd parts are the names of lists
        choices = [(part,) if i % 2 == 0 else WORDS[part] for i, part in enumerate(parts)]
        for words in product(*choices):
            yield "".join(words)


def _pool(rng: np.random.Generator, texts: Sequence[str]) -> list[str]:
    """Put texts into an order of popularity, mostly those of few words first, and misspelt ones last."""
    order = np.argsort(np.array([text.count(" ") for text in texts]) + 2 * rng.random(len(texts)))
    slips = rng.random((len(texts), 3))
    plain = [texts[i] for i in order]
    misspelt = [_slip(texts[i], *slips[i]) for i in order if slips[i, 2] < MISSPELT]
    return plain + misspelt


def _slip(text: str, where: float, what: float, _: float) -> str:
    """Make one slip of the finger: a letter left out, doubled, swapped with the next, or another one."""
    letters = [i for i, letter in enumerate(text) if letter in _ALPHABET and not _in_gap(text, i)]
    if not letters:
        return text
    i = letters[int(where * len(letters))]
    slips = (
        text[:i] + text[i + 1 :],
        text[:i] + text[i] + text[i:],
        text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :],
        text[:i] + _ALPHABET[int(what * 997) % len(_ALPHABET)] + text[i + 1 :],
    )
    slip = slips[int(what * len(slips))]
    return slip if (PLACE in slip) == (PLACE in text) else text


def _in_gap(text: str, i: int) -> bool:
    begin = text.find(PLACE)
    return begin >= 0 and begin <= i < begin + len(PLACE)
