"""How simulated people type: some repeat what they typed before, and few write a text in quite the same way.

How they write a text does not change what they ask for: `FORMS` differ in case, punctuation and spaces.
"""

from datetime import date

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint32]

REPEAT_SHARE = 0.25  # share of the searches of a topic in which a person types their text of the week

# SQL for each way of writing the text `typed`, and its share; all others type it in small letters.
FORMS = {
    "concat(upper(left(typed, 1)), substr(typed, 2))": 0.10,
    "upper(typed)": 0.03,
    "concat(typed, '?')": 0.04,
    "replace(typed, ' ', '  ')": 0.02,
    "replace(typed, ' 19', '-19')": 0.03,
}

_LEFT = np.uint32(0x9E3779B1)
_RIGHT = np.uint32(0x85EBCA6B)


def with_repeats(
    fresh: Bits, chance: Bits, user: npt.NDArray[np.int32], topic: npt.NDArray[np.uint8], week: date
) -> Bits:
    """Replace some random bits of topics by those of the person's week: equal bits draw equal texts."""
    repeated = (chance.view(np.uint16)[::2] < round(REPEAT_SHARE * 2**16)) & (topic > 0)
    own = _mixed(user.astype(np.uint32) * _LEFT + topic * _RIGHT + np.uint32(week.toordinal()))
    return np.where(repeated, own, fresh)


def _mixed(bits: Bits) -> Bits:
    """Spread numbers that differ in few bits over all bits."""
    bits = (bits ^ (bits >> np.uint32(16))) * _RIGHT
    bits = (bits ^ (bits >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return bits ^ (bits >> np.uint32(16))


def forms(chance: Bits) -> npt.NDArray[np.uint8]:
    """Return how each text is written: a number of FORMS from 1, or 0."""
    bounds = np.cumsum([round(share * 2**16) for share in FORMS.values()])
    number = np.searchsorted(bounds, chance.view(np.uint16)[1::2], side="right") + 1
    return np.where(number > len(FORMS), 0, number).astype(np.uint8)


def form_query() -> str:
    """Return the SQL expression of the text `typed` in the form `form`."""
    cases = " ".join(f"WHEN {number} THEN {sql}" for number, sql in enumerate(FORMS, start=1))
    return f"CASE form {cases} ELSE typed END"
