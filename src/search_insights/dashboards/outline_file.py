"""Outlines as one list of whole numbers: packed with gzip, two thirds of the size of the same as JSON.

The list holds, in this order: width and height of the map; the number of lines and of regions; the number of points of
each line; where each line begins, from the end of the line before; the steps from point to point of all lines; for
each region its number of rings, and for each ring its number of lines; and the lines of all rings, each as twice the
distance from the number of the line before, plus 1 if it runs backwards. A number v is stored as 2 v if it is not
negative, else as -2 v - 1, so that small steps in either direction are small numbers.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Rings = Sequence[Sequence[int]]  # of one region: the numbers of lines, inverted for those that run backwards


def packed(
    width: int, height: int, lines: Sequence[Sequence[int]], outlines: Sequence[Rings | None]
) -> npt.NDArray[np.int32]:
    """Pack lines, each its first point and then steps, and the rings of each region; None for one without."""
    rings = [ring for region in outlines for ring in region or ()]
    head = [width, height, len(lines), len(outlines)]
    sizes = [len(line) // 2 for line in lines]
    counts = [count for region in outlines for count in (len(region or ()), *(len(ring) for ring in region or ()))]
    steps = [step for line in lines for step in line[2:]]
    parts = (head, sizes, _starts(lines), steps, counts, _references(rings))
    numbers = np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])
    return np.where(numbers >= 0, 2 * numbers, -2 * numbers - 1).astype(np.int32)


def _starts(lines: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    starts = np.array([line[:2] for line in lines], dtype=np.int64).reshape(-1, 2)
    ends = np.array([(sum(line[0::2]), sum(line[1::2])) for line in lines], dtype=np.int64).reshape(-1, 2)
    starts[1:] -= ends[:-1]
    return starts.ravel()


def _references(rings: Rings) -> npt.NDArray[np.int64]:
    found = np.array([line for ring in rings for line in ring], dtype=np.int64)
    numbers = np.where(found < 0, ~found, found)
    return 2 * np.diff(numbers, prepend=0) + (found < 0)
