"""JSON that others may have written: read strictly, and refused in one line.

Python reads more than JSON: NaN, numbers that become infinite, a key twice (the last one counts, elsewhere the first),
half a character. Such a file would mean something else to another program, or break this one where nobody expects it.
"""

import json
import math
from typing import Any

from search_insights.errors import InputError

_MOST_DIGITS = 18  # a whole number of more does not fit in 64 bits


def parse_json(content: bytes, source: object) -> Any:
    """Return the value in the content of a JSON file; `source` names the file in errors."""
    try:
        value = json.loads(
            content.decode("utf-8"),
            parse_int=_whole_number,
            parse_float=_number,
            parse_constant=_number,
            object_pairs_hook=_object,
        )
        if b"\\ud" in content.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise InputError(f"{source}: not text in UTF-8") from None
    except RecursionError:
        raise InputError(f"{source}: not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{source}: not valid JSON: {error}") from None
    return value


def _whole_number(text: str) -> int:
    if len(text.lstrip("-")) > _MOST_DIGITS:
        raise ValueError(f"a number of more than {_MOST_DIGITS} digits")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"a number that is not finite, {text[:20]}")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:80]!r} twice in one object")
        found[name] = value
    return found
