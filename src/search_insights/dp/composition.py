"""Composing discrete Gaussian mechanisms: their privacy losses add up, so the masses on a grid of losses convolve.

A mechanism's losses are put on the grid so that privacy only seems to get worse (`_rounded_up`, `_divided`). All
mechanisms are convolved at once: the product of their Fourier transforms, transformed back. The grid is a ring, as long
as the losses that are likely; what is beyond comes round to its other end. A loss that is too high comes round as a low
one, which would hide it, so the chance of any such loss is added to the mass of an infinite loss. Low ones come round
as high ones, which hides nothing.

How long the ring must be follows from the noise itself: a discrete Gaussian's tails are no heavier than those of the
Gaussian with the same sigma (Canonne, Kamath and Steinke, 2020), so the sum of all losses has the tails of a Gaussian,
and no loss is moved by more than a step. `reference.py` lets dp-accounting compose the same.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from search_insights.dp.library import fast_length
from search_insights.support.arrays import Floats

# Fine enough for four decimals of epsilon; at ten times this the paper's promise would seem broken.
STEP = 1e-4
# Noise beyond this many sigmas has a probability under 1e-30, and is left out as dp-accounting does.
REACH, LEFT_OUT = 11.6, 1e-30
# From this sigma on the losses are so close to each other that rounding them up would add too much.
CLOSE_LOSSES = 1000.0
# Of all losses together, those further from their mean than this many standard deviations come round the ring.
_LIKELY = 10.0

Mechanism = tuple[float, int]  # a sigma, and by how much a count changes


class OnGrid(NamedTuple):
    """The masses of the losses from `lowest` steps on, one for each step, and the mass of an infinite loss."""

    lowest: int
    masses: Floats
    infinite: float


def convolved(mechanisms: Sequence[Mechanism], step: float) -> OnGrid:
    """Return the losses of mechanisms together."""
    times = Counter(mechanisms)
    parts = {each: on_grid(*each, step) for each in times}
    first = sum(parts[each].lowest * n for each, n in times.items())
    last = first + sum((parts[each].masses.size - 1) * n for each, n in times.items())
    lowest, highest = _likely(mechanisms, step)
    beyond = lowest > first or highest < last
    lowest, highest = max(lowest, first), min(highest, last)
    masses = _convolved({each: parts[each].masses for each in times}, times, fast_length(highest - lowest + 1))
    infinite = sum(part.infinite * times[each] for each, part in parts.items())
    chance = 2 * math.exp(-(_LIKELY**2) / 2) if beyond else 0.0
    return OnGrid(lowest, np.roll(masses, first - lowest), infinite + chance)


def _likely(mechanisms: Sequence[Mechanism], step: float) -> tuple[int, int]:
    """Return between which steps the sum of all losses is, but for a chance of 2 e^-(_LIKELY^2 / 2)."""
    variance = sum((shift / sigma) ** 2 for sigma, shift in mechanisms)
    low, high = (variance / 2 + side * _LIKELY * math.sqrt(variance) for side in (-1, 1))
    moved = len(mechanisms)  # by less than a step each
    return math.floor(low / step) - moved, math.ceil(high / step) + moved


def _convolved(parts: dict[Mechanism, Floats], times: Counter[Mechanism], length: int) -> Floats:
    """Return the convolution on a ring of this length of each part, so many times."""
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    for each, masses in parts.items():
        transform = np.fft.rfft(_round_the_ring(masses, length))
        for _ in range(times[each]):
            product *= transform
    return np.fft.irfft(product, length)


def _round_the_ring(masses: Floats, length: int) -> Floats:
    if masses.size <= length:
        return np.pad(masses, (0, length - masses.size))
    rounds = -(-masses.size // length)
    summed: Floats = np.pad(masses, (0, rounds * length - masses.size)).reshape(rounds, length).sum(axis=0)
    return summed


def on_grid(sigma: float, shift: int, step: float) -> OnGrid:
    """Return the losses of one discrete Gaussian mechanism whose count changes by `shift`."""
    reach = math.ceil(REACH * sigma)
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    masses = np.exp(-((noise / sigma) ** 2) / 2)
    masses /= masses.sum()
    losses: Floats = shift * (noise + 0.5 * shift) / sigma**2
    if step > STEP or sigma > CLOSE_LOSSES:
        return _divided(losses, masses, step)
    return _rounded_up(losses, masses, step)


def _rounded_up(losses: Floats, masses: Floats, step: float) -> OnGrid:
    """Put the mass of each loss on the next point of the grid, as dp-accounting does."""
    above = np.ceil(losses / step)
    rounded = np.asarray(np.bincount((above - above[0]).astype(np.int64), masses), dtype=np.float64)
    return OnGrid(int(above[0]), rounded, LEFT_OUT)


def _divided(losses: Floats, masses: Floats, step: float) -> OnGrid:
    """Divide the mass of each loss between its neighbours on the grid.

    The division keeps both distributions of the pair, so its curve consists of chords of the exact one ("connect the
    dots"; Doroshenko et al., 2022). It adds less than rounding up where the steps are large or the losses many.
    """
    below = np.floor(losses / step)
    upper = masses * np.expm1(below * step - losses) / math.expm1(-step)
    index = (below - below[0]).astype(np.int64)
    points = int(index[-1]) + 2
    divided = np.bincount(index, masses - upper, points) + np.bincount(index + 1, upper, points)
    return OnGrid(int(below[0]), np.maximum(divided, 0.0), LEFT_OUT)
