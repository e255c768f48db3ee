"""What readers of a dataset may know of a model: its name, how many labels it learnt from, and what was measured.

A model's file may come from anyone, and what these facts say is published. So nothing but these few values is taken
from it, each of its own form; texts of queries have no place in them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_OF_A_TEXT = 100  # characters
_SHARES = ("precision", "recall")


def public_facts(about: Mapping[str, Any], categories: Sequence[str]) -> dict[str, Any]:
    """Return the public facts that a model's `about` holds; what is missing or not of the right form is left out."""
    facts: dict[str, Any] = {}
    for key in ("name", "method"):
        if _is_line(about.get(key)):
            facts[key] = about[key]
    if _is_count(about.get("labels")):
        facts["labels"] = about["labels"]
    measured = about.get("measured")
    found = [_measured(category, measured.get(category)) for category in categories if isinstance(measured, Mapping)]
    return facts | {"categories": [entry for entry in found if entry]}


def _measured(category: str, given: Any) -> dict[str, Any]:
    """Return what was measured of one topic: the number of its labels, and shares with their intervals."""
    if not isinstance(given, Mapping) or not _is_count(given.get("labels")):
        return {}
    entry: dict[str, Any] = {"category": category, "labels": given["labels"]}
    for name in _SHARES:
        if _is_interval(given.get(name)):
            value, low, high = given[name]
            entry |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return entry


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MOST_OF_A_TEXT and value.isprintable()


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 53


def _is_interval(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 3 or any(type(v) not in (int, float) for v in value):
        return False
    return all(math.isfinite(v) and 0 <= v <= 1 for v in value)
