"""Classify queries: a linear model that gives each text one category of a spec, or none.

It sees texts only, not who typed them or where. Its weights are whole numbers, so the same model gives the same answer
on every machine; its fingerprint goes into the ledger of each week it classified. Most texts have none of the model's
cues, four-letter pieces such as "vacc", and are ruled out by a fast filter.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.classifier.features import (
    BUCKET_BITS,
    Features,
    WordTable,
    features,
    normalise,
    split_words,
    texts_with_cue,
)
from search_insights.errors import InputError
from search_insights.spec.spec import Spec

CategoryNumbers = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

PACKAGED_MODEL = "vaccination"
UNIT = 1024  # a weight of 1024 is one unit of log-odds

_MAGIC = b"search-insights classifier 1\n"
_COMPRESSION_LEVEL = 6  # higher takes ten times as long and saves little
_MAX_BYTES = 1 << 28  # of a model's uncompressed numbers; a larger file is not a model
_FILTER_BATCH = 1 << 14  # texts filtered at once: their bytes fit into a core's cache
_SCORE_BATCH = 1 << 11  # texts scored at once: tens of megabytes, even if all are long


@dataclass(frozen=True)
class Classifier:
    """A model for the topics of a spec.

    categories  the id and name of each topic, in the order of the spec; the first has category number 1
    table       the words it knows and their classes
    weights     one row for each topic: how much each feature speaks for it, rather than for none
    bias        how much speaks for each topic before any text is read
    cues        the four-letter pieces without which a text has no topic; if there are none, all texts are scored
    about       what it was trained on, for people to read
    """

    categories: tuple[tuple[str, str], ...]
    table: WordTable
    weights: npt.NDArray[np.int16]
    bias: npt.NDArray[np.int32]
    cues: npt.NDArray[np.uint32]
    about: Mapping[str, Any]

    def classify(self, texts: Sequence[str | None]) -> CategoryNumbers:
        """Return the category number of each text, as the spec numbers them: 0 for none, 1 for the first topic."""
        numbers = np.zeros(len(texts), dtype=np.uint8)
        for begin in range(0, len(texts), _FILTER_BATCH):
            batch = [text or "" for text in texts[begin : begin + _FILTER_BATCH]]
            candidates = texts_with_cue(normalise(batch), self.cues)
            if candidates.size:
                scores = self.scores([batch[i] for i in candidates])
                numbers[begin + candidates] = np.where(scores.max(axis=0) > 0, scores.argmax(axis=0) + 1, 0)
        return numbers

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
        return {
            "keys": self.table.keys,
            "classes": self.table.classes,
            "weights": self.weights,
            "bias": self.bias,
            "cues": self.cues,
        }

    def require_fits(self, spec: Spec, source: str) -> None:
        """Refuse a model whose categories are not those of the spec. `source` names the model in the message."""
        wanted = tuple((c.id, c.name) for c in spec.categories[1:])
        if self.categories != wanted:
            own, spec_has = (", ".join(f"{i} {name}" for i, name in pairs) for pairs in (self.categories, wanted))
            raise InputError(
                f"{source} names {own}, but the spec {spec.name} has {spec_has}; give a `model` "
                "that 'search-insights classify train' made for this spec"
            )

    def to_bytes(self) -> bytes:
        """Return the model as a file holds it: a line that marks the format, a line of JSON, and compressed arrays."""
        arrays = {name: _little_endian(array) for name, array in self._arrays.items()}
        head = {
            "categories": self.categories,
            "about": dict(self.about),
            "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
        }
        numbers = zlib.compress(b"".join(array.tobytes() for array in arrays.values()), _COMPRESSION_LEVEL)
        return _MAGIC + json.dumps(head).encode() + b"\n" + numbers


def load_classifier(path: str | Path = PACKAGED_MODEL) -> Classifier:
    """Read the packaged model, or a file."""
    try:
        if path == PACKAGED_MODEL:
            data = (resources.files("search_insights.classifier") / "packaged" / f"{path}.model").read_bytes()
        else:
            data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return _parse(data)
    except (ValueError, KeyError, TypeError, IndexError, zlib.error):
        raise InputError(f"{path}: not a model of 'search-insights classify train', or damaged") from None


def load_classifier_for(spec: Spec, path: str | Path) -> Classifier:
    """Read a model and refuse it unless its categories are those of the spec."""
    classifier = load_classifier(path)
    classifier.require_fits(spec, "the packaged model" if path == PACKAGED_MODEL else f"{path}: this model")
    return classifier


def _parse(data: bytes) -> Classifier:
    if not data.startswith(_MAGIC):
        raise ValueError
    line, _, compressed = data[len(_MAGIC) :].partition(b"\n")
    head = json.loads(line)
    decompressor = zlib.decompressobj()
    numbers = decompressor.decompress(compressed, _MAX_BYTES)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, dtype, shape in head["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(numbers, np.dtype(dtype), count).reshape(shape)
        numbers = numbers[arrays[name].nbytes :]
    categories = tuple((str(i), str(name)) for i, name in head["categories"])
    if numbers or not decompressor.eof or arrays["weights"].shape != (len(categories), 1 << BUCKET_BITS):
        raise ValueError
    table = WordTable(arrays["keys"].astype(np.uint64), arrays["classes"].astype(np.uint64))
    if table.keys.shape != table.classes.shape or not table.keys.size or arrays["bias"].shape != (len(categories),):
        raise ValueError
    return Classifier(
        categories,
        table,
        arrays["weights"].astype(np.int16),
        arrays["bias"].astype(np.int32),
        arrays["cues"].astype(np.uint32),
        head["about"],
    )


def _little_endian(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert an array to the byte order of model files."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
