"""A model as a file: a line that marks the format, a line of JSON, and compressed arrays.

A model may come from anyone, so nothing in a file is believed: not how long it is, not how much it unpacks to, not the
types and shapes that it states. What is larger than any model is refused before it takes memory.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from search_insights.classifier.features import BUCKET_BITS

# The largest file, and the most that its arrays unpack to: some 100 topics. The packaged model has 2 MB.
MAX_BYTES = 1 << 26

# Version 2 has cues of up to eight bytes and a threshold for each topic; a model that needs neither is of version 1.
_MAGIC = b"search-insights classifier 1\n"
_MAGIC_2 = b"search-insights classifier 2\n"
_COMPRESSION_LEVEL = 6  # higher takes ten times as long and saves little
_MAX_HEAD = 1 << 20  # bytes of JSON
_MAX_NAME = 200  # characters
_KEYS = ["categories", "about", "arrays"]
_TYPES = {"keys": "<u8", "classes": "<u8", "weights": "<i2", "bias": "<i4", "cues": "<u4"}
_TYPES_2 = _TYPES | {"cues": "<u8", "thresholds": "<i4"}

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file holds. The arrays have the types and shapes that a model of these categories has."""

    categories: tuple[tuple[str, str], ...]
    about: Mapping[str, Any]
    arrays: Arrays


def pack(model: ModelFile) -> bytes:
    """Return a model as a file holds it."""
    magic, types = (_MAGIC_2, _TYPES_2) if "thresholds" in model.arrays else (_MAGIC, _TYPES)
    arrays = {name: np.ascontiguousarray(model.arrays[name], dtype) for name, dtype in types.items()}
    head = {
        "categories": model.categories,
        "about": dict(model.about),
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    numbers = zlib.compress(b"".join(array.tobytes() for array in arrays.values()), _COMPRESSION_LEVEL)
    return magic + json.dumps(head).encode() + b"\n" + numbers


def unpack(data: bytes) -> ModelFile:
    """Read a model from the bytes of a file; a ValueError says that they are none."""
    try:
        return _unpack(data)
    except (KeyError, TypeError, IndexError, RecursionError, zlib.error):
        raise ValueError("not a model") from None


def _unpack(data: bytes) -> ModelFile:
    types = _TYPES_2 if data.startswith(_MAGIC_2) else _TYPES
    _require(data.startswith((_MAGIC, _MAGIC_2)))
    line, _, compressed = data[len(_MAGIC) :].partition(b"\n")
    _require(len(line) <= _MAX_HEAD)
    head = json.loads(line, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
    _require(list(head) == _KEYS and isinstance(head["about"], dict))
    categories = _categories(head["categories"])
    shapes = _shapes(head["arrays"], len(categories), types)
    arrays = _split(_decompressed(compressed, shapes, types), shapes, types)
    for name in ("keys", "cues"):  # which are searched by halving
        _require(bool((arrays[name][1:] > arrays[name][:-1]).all()))
    return ModelFile(categories, head["about"], arrays)


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("not a model")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON, in which a name that occurs twice would hide a value from a reader."""
    found = dict(pairs)
    _require(len(found) == len(pairs))
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _categories(pairs: Any) -> tuple[tuple[str, str], ...]:
    """Read the id and name of each category. They are shown, and numbered with one byte, in which 255 has a meaning."""
    categories = tuple((identity, name) for identity, name in pairs)
    for text in (text for pair in categories for text in pair):
        _require(isinstance(text, str) and 0 < len(text) <= _MAX_NAME and text.isprintable())
    _require(0 < len(categories) < 255)
    return categories


def _shapes(listed: Any, topics: int, types: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    """Read the shapes of the arrays, which must be those of a model of so many topics, and not too large."""
    _require([[name, kind] for name, kind, _ in listed] == [[name, kind] for name, kind in types.items()])
    shapes = {name: tuple(shape) for name, _, shape in listed}
    _require(all(type(size) is int and size >= 0 for shape in shapes.values() for size in shape))
    _require(shapes["weights"] == (topics, 1 << BUCKET_BITS) and shapes["bias"] == (topics,))
    _require(shapes.get("thresholds", (topics,)) == (topics,))
    _require(len(shapes["keys"]) == len(shapes["cues"]) == 1)
    _require(shapes["keys"] == shapes["classes"] != (0,))
    _require(sum(_bytes(types[name], shape) for name, shape in shapes.items()) <= MAX_BYTES)
    return shapes


def _bytes(kind: str, shape: tuple[int, ...]) -> int:
    size = np.dtype(kind).itemsize
    for length in shape:  # in Python's numbers, which do not overflow
        size *= length
    return size


def _decompressed(compressed: bytes, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, str]) -> bytes:
    """Unpack as many bytes as the arrays have; refuse a file that unpacks to less or more, or goes on after that."""
    expected = sum(_bytes(types[name], shape) for name, shape in shapes.items())
    decompressor = zlib.decompressobj()
    numbers = decompressor.decompress(compressed, expected + 1)
    _require(len(numbers) == expected and decompressor.eof and not decompressor.unused_data)
    return numbers


def _split(numbers: bytes, shapes: Mapping[str, tuple[int, ...]], types: Mapping[str, str]) -> Arrays:
    arrays: Arrays = {}
    begin = 0
    for name, shape in shapes.items():
        end = begin + _bytes(types[name], shape)
        arrays[name] = np.frombuffer(memoryview(numbers)[begin:end], types[name]).reshape(shape)
        begin = end
    return arrays
