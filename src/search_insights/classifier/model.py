"""Naming what a query is about: a model that gives each text one category of a spec, or none.

It sees texts only, never who typed them or where. Its numbers are whole, so the same model gives the same answer on
every machine; its fingerprint goes into the ledger of each week that it named. Most texts have none of the model's
cues, pieces of four letters such as "vacc", and are done after a glance.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    split,
    texts_with_cue,
)
from search_insights.errors import InputError
from search_insights.spec.spec import Spec

CategoryNumbers = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.float64]

PACKAGED_MODEL = "vaccination"
UNIT = 1024  # weights are whole multiples of 1/1024 of a unit of log-odds

_MAGIC = b"search-insights classifier 1\n"
_PACKING = 6  # how hard numbers are packed: harder takes ten times as long and saves little
_MOST_BYTES = 1 << 28  # of a model's numbers; a file that claims more is not one of ours
_BATCH = 1 << 14  # texts glanced at together: their bytes fit into a core's cache
_READ_AT_ONCE = 1 << 11  # texts read word by word together: tens of megabytes, also if all are long


@dataclass(frozen=True)
class Classifier:
    """A model. `categories` are the id and name of each topic of the spec; text number i of them is named i + 1.

    weights  one row for each topic: how much a feature speaks for it, rather than for none
    bias     what speaks for each topic before anything is read
    cues     the pieces of four letters without which a text is about none; if there are none, all are read
    about    what it was trained on, for people to read
    """

    categories: tuple[tuple[str, str], ...]
    table: WordTable
    weights: npt.NDArray[np.int16]
    bias: npt.NDArray[np.int32]
    cues: npt.NDArray[np.uint32]
    about: Mapping[str, Any] = field(default_factory=dict)

    def classify(self, texts: Sequence[str | None]) -> CategoryNumbers:
        """Give the number of each text's category as the spec counts them: 0 for none, 1 for the first topic."""
        named = np.zeros(len(texts), dtype=np.uint8)
        for begin in range(0, len(texts), _BATCH):
            batch = [text or "" for text in texts[begin : begin + _BATCH]]
            some = texts_with_cue(normalise(batch), self.cues)
            if some.size:
                scores = self.scores([batch[i] for i in some])
                named[begin + some] = np.where(scores.max(axis=0) > 0, scores.argmax(axis=0) + 1, 0)
        return named

    def scores(self, texts: Sequence[str]) -> Scores:
        """Weigh texts: a row for each topic, above 0 where it is likelier than none. The values are whole numbers."""
        parts = [self._weigh(texts[i : i + _READ_AT_ONCE]) for i in range(0, len(texts), _READ_AT_ONCE)]
        return np.hstack(parts) if parts else np.zeros((len(self.categories), 0))

    def _weigh(self, texts: Sequence[str]) -> Scores:
        found = features(split(normalise(texts)), self.table)
        return np.array([self._sum(found, topic) for topic in range(len(self.categories))])

    def _sum(self, found: Features, topic: int) -> Scores:
        """Add weights up; as floats, because those of NumPy's fastest sum are exact for numbers of this size."""
        weights = self.weights[topic].take(found.bucket)
        sums = np.bincount(found.text, weights, found.texts) + float(self.bias[topic])
        return sums.astype(np.float64, copy=False)

    @cached_property
    def fingerprint(self) -> str:
        """Identify the model by the SHA-256 of all that decides its answers."""
        head = json.dumps(self.categories).encode()
        return hashlib.sha256(head + b"".join(_little(array).tobytes() for array in self._arrays.values())).hexdigest()

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
        """Refuse a model that names other categories than the spec has."""
        wanted = tuple((c.id, c.name) for c in spec.categories[1:])
        if self.categories != wanted:
            own, other = (", ".join(f"{i} {name}" for i, name in pairs) for pairs in (self.categories, wanted))
            raise InputError(
                f"{source} names {own}, but the spec {spec.name} has {other}; give --model FILE with one "
                "that 'search-insights classify train' made for this spec"
            )

    def to_bytes(self) -> bytes:
        """Write the model as a file holds it: what it is in one line of JSON, then its numbers, packed."""
        arrays = {name: _little(array) for name, array in self._arrays.items()}
        head = {
            "categories": self.categories,
            "about": dict(self.about),
            "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
        }
        numbers = zlib.compress(b"".join(array.tobytes() for array in arrays.values()), _PACKING)
        return _MAGIC + json.dumps(head).encode() + b"\n" + numbers


def load_classifier(path: str | Path = PACKAGED_MODEL) -> Classifier:
    """Read a model: the packaged one, or a file."""
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


def load_classifier_for(spec: Spec, path: str | Path = PACKAGED_MODEL) -> Classifier:
    """Read a model that names the categories of a spec; refuse any other."""
    classifier = load_classifier(path)
    classifier.require_fits(spec, "the packaged model" if path == PACKAGED_MODEL else f"{path}: this model")
    return classifier


def _parse(data: bytes) -> Classifier:
    if not data.startswith(_MAGIC):
        raise ValueError
    line, _, packed = data[len(_MAGIC) :].partition(b"\n")
    head = json.loads(line)
    unpacker = zlib.decompressobj()
    numbers = unpacker.decompress(packed, _MOST_BYTES)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, dtype, shape in head["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(numbers, np.dtype(dtype), count).reshape(shape)
        numbers = numbers[arrays[name].nbytes :]
    categories = tuple((str(i), str(name)) for i, name in head["categories"])
    if numbers or not unpacker.eof or arrays["weights"].shape != (len(categories), 1 << BUCKET_BITS):
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


def _little(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Put numbers into the byte order of files, whatever the machine's is."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
