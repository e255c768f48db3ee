"""The privacy loss distributions of dp-accounting, loaded without what they do not use.

The library composes, with its own code. But its package also imports its other accountants, and with them most of
SciPy: that takes longer than the accounting of a release. Its modules for privacy loss distributions use five functions
of SciPy. Here these modules are loaded alone, and NumPy stands in for these five; whatever else they might ask of
SciPy is SciPy's own. They are copies for this program: `import dp_accounting` elsewhere gives the whole library. A test
compares what both compose.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import util
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from search_insights.support.arrays import Floats

_PACKAGES = ("dp_accounting", "dp_accounting.pld")  # their files only import the rest of the library
_loading = Lock()


class Library(NamedTuple):
    """The two modules of dp-accounting that the accounting calls."""

    pld: Any
    pmf: Any


@cache
def library() -> Library:
    """Return the modules for privacy loss distributions."""
    with _loading, _loaded_alone():
        pld = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
        return Library(pld, importlib.import_module("dp_accounting.pld.pld_pmf"))


@contextmanager
def _loaded_alone() -> Iterator[None]:
    """Let modules be imported without their packages' files, and with stand-ins; then leave everything as it was."""
    before = {name: module for name, module in sys.modules.items() if _is_changed(name)}
    for name in before:
        del sys.modules[name]
    try:
        sys.modules.update(_stand_ins())
        for name in _PACKAGES:
            found = util.find_spec(name)
            if found is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            sys.modules[name] = util.module_from_spec(found)
        yield
    finally:
        for name in [name for name in sys.modules if _is_changed(name)]:
            del sys.modules[name]
        sys.modules.update(before)


def _is_changed(name: str) -> bool:
    return name.partition(".")[0] == _PACKAGES[0] or name in _FROM_NUMPY


def _stand_ins() -> dict[str, ModuleType]:
    return {name: _StandIn(name, functions) for name, functions in _FROM_NUMPY.items()}


class _StandIn(ModuleType):
    """A module of SciPy that is imported only if something is asked of it that NumPy does not give here."""

    def __init__(self, name: str, functions: dict[str, Callable[..., Any]]) -> None:
        super().__init__(name)
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:  # while modules are imported they only take names
            raise AttributeError(f"module {self.__name__!r} stands in for SciPy's and has no attribute {name!r}")
        return getattr(importlib.import_module(self.__name__), name)


def fast_length(least: int) -> int:
    """Return a length from `least` on that is quick to transform: no prime factor is above 5."""
    odd: list[int] = [3**i * 5**j for i in range(16) for j in range(11)]
    return min(factor << max(0, (-(-least // factor) - 1).bit_length()) for factor in odd)


def _convolved(first: Floats, second: Floats) -> Floats:
    size = len(first) + len(second) - 1
    length = fast_length(size)
    return np.fft.irfft(np.fft.rfft(first, length) * np.fft.rfft(second, length), length)[:size]


def _log_of_sum(exponents: Floats, b: Floats) -> float:
    """Return the logarithm of the sum of `b` times e to the exponents."""
    largest = float(np.max(exponents))
    return largest + float(np.log(np.sum(b * np.exp(exponents - largest))))


# What the library's modules use of SciPy.
_FROM_NUMPY: dict[str, dict[str, Callable[..., Any]]] = {
    "scipy.fft": {"fft": np.fft.fft, "ifft": np.fft.ifft, "next_fast_len": fast_length},
    "scipy.signal": {"fftconvolve": _convolved},
    "scipy.special": {"logsumexp": _log_of_sum},
    "scipy.stats": {},
}
