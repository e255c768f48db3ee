"""Classify queries: a linear model that gives each text one category of a spec, or none.

It sees texts only, not who typed them or where. Its weights are whole numbers, so the same model gives the same answer
on every machine; its fingerprint goes into the ledger of each week it classified. Most texts have none of the model's
cues, short pieces such as "vacc", and are ruled out by a fast filter.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.classifier.facts import public_facts
from search_insights.classifier.features import (
    CUE_LENGTH,
    Cues,
    Features,
    WordTable,
    features,
    normalise,
    split_words,
    texts_with_cue,
)
from search_insights.classifier.model_file import MAX_BYTES, ModelFile, pack, unpack
from search_insights.errors import InputError
from search_insights.spec.spec import Spec
from search_insights.support.files import read_at_most

CategoryNumbers = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

PACKAGED_MODEL = "vaccination"
UNIT = 1024  # a weight of 1024 is one unit of log-odds

_FILTER_BATCH = 1 << 14  # texts filtered at once: their bytes fit into a core's cache
_SCORE_BATCH = 1 << 11  # texts scored at once: tens of megabytes, even if all are long


@dataclass(frozen=True)
class Classifier:
    """A model for the topics of a spec.

    categories  the id and name of each topic, in the order of the spec; the first has category number 1
    table       the words it knows and their classes
    weights     one row for each topic: how much each feature speaks for it, rather than for none
    bias        how much speaks for each topic before any text is read
    cues        the pieces of four to eight letters without which a text has no topic; if there are none, all
                texts are scored
    about       what it was trained on, for people to read
    thresholds  how high each topic has to score: a text whose best topic does not score more has none
    """

    categories: tuple[tuple[str, str], ...]
    table: WordTable
    weights: npt.NDArray[np.int16]
    bias: npt.NDArray[np.int32]
    cues: Cues
    about: Mapping[str, Any]
    thresholds: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def classify(self, texts: Sequence[str | None]) -> CategoryNumbers:
        """Return the category number of each text, as the spec numbers them: 0 for none, 1 for the first topic."""
        numbers = np.zeros(len(texts), dtype=np.uint8)
        for begin in range(0, len(texts), _FILTER_BATCH):
            batch = [text or "" for text in texts[begin : begin + _FILTER_BATCH]]
            candidates = texts_with_cue(normalise(batch), self.cues)
            if candidates.size:
                best, margin = self.best_topics([batch[i] for i in candidates])
                numbers[begin + candidates] = np.where(margin > 0, best + 1, 0)
        return numbers

    def best_topics(self, texts: Sequence[str]) -> tuple[Indices, Scores]:
        """Return the topic that each text scores highest, from 0, and by how much it exceeds that topic's threshold.

        Cues are not looked at: a text without any has no topic, however high it scores.
        """
        scores = self.scores(texts)
        best = scores.argmax(axis=0)
        highest = scores.max(axis=0)
        return best, highest - self.thresholds[best] if self.thresholds.size else highest

    def topics_of(self, texts: Sequence[str | None]) -> tuple[Indices, CategoryNumbers]:
        """Classify texts. Return the indices of those that have a topic, and their category numbers."""
        numbers = self.classify(texts)
        with_topic = np.flatnonzero(numbers)
        return with_topic, numbers[with_topic]

    def scores(self, texts: Sequence[str]) -> Scores:
        """Score texts: one row per topic, above 0 where the topic is likelier than none. Scores are whole numbers."""
        parts = [self._score(texts[i : i + _SCORE_BATCH]) for i in range(0, len(texts), _SCORE_BATCH)]
        return np.hstack(parts) if parts else np.zeros((len(self.categories), 0))

    def _score(self, texts: Sequence[str]) -> Scores:
        found = features(split_words(normalise(texts)), self.table)
        return np.array([self._sum(found, topic) for topic in range(len(self.categories))])

    def _sum(self, found: Features, topic: int) -> Scores:
        """Add up weights, as floats because NumPy sums those fastest; numbers of this size stay exact."""
        weights = self.weights[topic].take(found.bucket)
        sums = np.bincount(found.text, weights, found.texts) + float(self.bias[topic])
        return sums.astype(np.float64, copy=False)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of everything that determines the model's answers."""
        numbers = b"".join(_little_endian(array).tobytes() for array in self._arrays.values())
        return hashlib.sha256(json.dumps(self.categories).encode() + numbers).hexdigest()

    @property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        # Without thresholds and longer cues, bytes and fingerprint are the same as before there were any.
        first_version = not self.thresholds.any() and not (self.cues >> np.uint64(8 * CUE_LENGTH)).any()
        arrays: dict[str, npt.NDArray[Any]] = {
            "keys": self.table.keys,
            "classes": self.table.classes,
            "weights": self.weights,
            "bias": self.bias,
        }
        if first_version:
            return arrays | {"cues": self.cues.astype(np.uint32)}
        thresholds = self.thresholds if self.thresholds.size else np.zeros(len(self.categories), dtype=np.int32)
        return arrays | {"cues": self.cues, "thresholds": thresholds}

    @cached_property
    def public_facts(self) -> dict[str, Any]:
        """What readers of a dataset may know: the model's name, its labels, and what was measured."""
        return public_facts(self.about, [identity for identity, _ in self.categories])

    def require_fits(self, spec: Spec, source: str) -> None:
        """Refuse a model whose categories are not those of the spec. `source` names the model in the message."""
        wanted = tuple((c.id, c.name) for c in spec.categories[1:])
        if self.categories != wanted:
            own, spec_has = (", ".join(map(_named, pairs)) for pairs in (self.categories, wanted))
            raise InputError(
                f"{source} names {own}, but the spec {spec.name} has {spec_has}; give a `model` "
                "that 'search-insights classify train' made for this spec"
            )

    def to_bytes(self) -> bytes:
        """Return the model as a file holds it."""
        return pack(ModelFile(self.categories, self.about, self._arrays))


def _named(category: tuple[str, str]) -> str:
    """Return a category's id and name; once, if they are the same."""
    return " ".join(dict.fromkeys(category))


def load_classifier(path: str | Path = PACKAGED_MODEL) -> Classifier:
    """Read the packaged model, or a file."""
    try:
        if path == PACKAGED_MODEL:
            data = (resources.files("search_insights.classifier") / "packaged" / f"{path}.model").read_bytes()
        else:
            data = read_at_most(Path(path), MAX_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return _classifier(unpack(data))
    except ValueError:
        raise InputError(f"{path}: not a model of 'search-insights classify train', or damaged") from None


def load_classifier_for(spec: Spec, path: str | Path) -> Classifier:
    """Read a model and refuse it unless its categories are those of the spec."""
    classifier = load_classifier(path)
    classifier.require_fits(spec, "the packaged model" if path == PACKAGED_MODEL else f"{path}: this model")
    return classifier


def _classifier(file: ModelFile) -> Classifier:
    arrays = file.arrays
    table = WordTable(arrays["keys"].astype(np.uint64), arrays["classes"].astype(np.uint64))
    return Classifier(
        file.categories,
        table,
        arrays["weights"].astype(np.int16),
        arrays["bias"].astype(np.int32),
        arrays["cues"].astype(np.uint64),
        file.about,
        arrays.get("thresholds", np.zeros(0)).astype(np.int32),
    )


def _little_endian(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert an array to one byte order, so that the fingerprint is the same on every machine."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
