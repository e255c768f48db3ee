"""Whether a table is an older one with weeks added, byte for byte: then no published value changed.

That is so week after week, and is seen without reading a value. Rows begin with their week. What is not seen in this
way is compared value by value (comparison.py).
"""

from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

_DATE = 10  # characters, YYYY-MM-DD
_PLACES = 10 ** np.array([7, 6, 5, 4, 0, 3, 2, 0, 1, 0])  # of its digits in YYYYMMDD
_DASHES = [4, 7]

Bytes = npt.NDArray[np.uint8]


def weeks_added_to(old: Path, new: Path) -> set[date] | None:
    """Return the weeks of the old table if the new one has its bytes with rows of other weeks between them; else None.

    Both have a header, and every row of both begins with its week.
    """
    (old_bytes, old_starts), (new_bytes, new_starts) = _lines(old), _lines(new)
    if not _same(old_bytes[: old_starts[0]], new_bytes[: new_starts[0]]):
        return None
    old_weeks, new_weeks = _weeks(old_bytes, old_starts), _weeks(new_bytes, new_starts)
    if old_weeks is None or new_weeks is None:
        return None
    known = np.unique(old_weeks)
    kept = np.isin(new_weeks, known)
    if not _is_joined(old_bytes[old_starts[0] :], new_bytes, new_starts, kept):
        return None
    return {date(day // 10_000, day // 100 % 100, day % 100) for day in known.tolist()}


def _lines(path: Path) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """Return the bytes of a file, and where its lines after the first begin; the last number is its end."""
    content: Bytes = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, dtype=np.uint8)
    ends = np.flatnonzero(content == ord("\n")) + 1
    return content, ends if ends.size and ends[-1] == content.size else np.array([content.size])


def _weeks(content: Bytes, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Return the week of each row as the number YYYYMMDD; None if a row does not begin with a date."""
    begins = starts[:-1]
    if (np.diff(starts) <= _DATE).any():
        return None
    weeks = np.zeros(begins.size, dtype=np.int64)
    for i, place in enumerate(_PLACES.tolist()):
        character = content[begins + i]
        if i in _DASHES:
            right = character == ord("-")
        else:
            digit = character - ord("0")  # of another character it is above 9
            right = digit <= 9
            weeks += digit.astype(np.int64) * place
        if not right.all():
            return None
    return weeks


def _is_joined(old: Bytes, new: Bytes, starts: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_]) -> bool:
    """Return whether the kept rows of the new table, one after the other, are the old ones."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], kept, [False]))))
    begins, ends = starts[edges[::2]], starts[edges[1::2]]
    if int((ends - begins).sum()) != old.size:
        return False
    at = np.concatenate(([0], np.cumsum(ends - begins)))
    runs = zip(begins.tolist(), ends.tolist(), at.tolist(), strict=False)  # a run for each region
    return all(_same(new[begin:end], old[here : here + end - begin]) for begin, end, here in runs)


def _same(one: Bytes, other: Bytes) -> bool:
    return one.size == other.size and one.tobytes() == other.tobytes()
