"""The form of the JSON files in a published folder: the keys that this program reads, and the type of each.

A folder may come from anyone. What does not have this form is refused where it is read, so that nothing that is made
from it meets a list where it expects a number. Keys that are not named here may have any value.
"""

import re
from collections.abc import Mapping
from typing import Any

from search_insights.errors import InputError
from search_insights.trends.outcomes import OUTCOMES

_SHOWN = 80  # characters of a value in a message


class Word:
    """Marks a name that becomes a column, a key or a part of an address, as in a spec."""


_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_WORDS = {str: "text", float: "a number", int: "a whole number", bool: "true or false", Word: "a word of letters and _"}

# A type; a list of one form; or keys with their forms. A key that ends in "?" may be missing.
_SHARES = dict.fromkeys((f"{share}{end}?" for share in ("precision", "recall") for end in ("", "_low", "_high")), float)
_CLASSIFICATION = {
    "topics": [{"id": Word, "name": Word, "definition?": str, "examples?": [str]}],
    "models": [
        {
            "fingerprint": str,
            "name?": str,
            "method?": str,
            "labels?": int,
            "categories?": [{"category": Word, "labels": int, **_SHARES}],
        }
    ],
    "weeks": [{"model": str, "first": str, "last": str, "weeks": int}],
}
_FIELD = {"name": Word, "title?": str, "trend?": Word, "id?": Word, "constraints?": {"enum": [Word]}, "topics?": [Word]}
_BREAK = {"week": str, "kind": Word, "reason": str, "differs": [str], "new_scale?": bool}
_EDITION = {"edition": int, "first_week": str, "last_week": str, "weeks": int, "epsilon": float, "delta": float}
_COUNTS = {"trend": Word, "first_week": str, "last_week": str, "factor": float, "weights": {}, "divided_by": Word}
_TRANSLATION = {
    "language": Word,
    "title?": str,
    "trends": [{"trend": Word, "title": str}],
    "levels": [{"level": Word, "title": str}],
    "topics": [{"id": Word, "title?": str, "definition?": str}],
}
_PUBLISHER = {
    **dict.fromkeys(("name", "kind", "contact", "intended_use"), str),
    **dict.fromkeys(("address?", "license?", "license_address?", "sector?", "preparation?", "justification?"), str),
    "authors?": [str],
}
PACKAGE = {
    "id?": str,
    "version?": str,
    "country?": str,
    "homepage?": str,
    "licenses?": [{"name": str, "path?": str}],
    "publisher?": _PUBLISHER,
    "title?": str,
    "description?": str,
    "created?": str,
    "spec?": {"fingerprint?": str},
    "classification?": _CLASSIFICATION,
    "translations?": [_TRANSLATION],
    "breaks?": [_BREAK],
    "changes?": [{"number": int, "kind": Word, "reason": str}],
    "scaling?": {
        **{"scope?": str, "trend?": Word, "maximum": float, "first_week?": str, "last_week?": str},
        **{"factor?": float, "set_by?": str},
    },
    "reliability?": {"confidence": float, "max_relative_error": float},
    "sources?": [{"title": str}],
    "resources": [
        {
            **{"format": str, "path": str, "bytes?": int, "size?": int, "hash": str},
            **{"schema": {"fields": [_FIELD]}, "counts?": [_COUNTS]},
        }
    ],
}
_WEEK = {"week": str, "checksum": str, **dict.fromkeys(("begins_at?", "ends_at?", "times?", "naive_zone?"), str)}
_RULES_OF_TEXTS = {
    **dict.fromkeys(("min_users", "total_threshold", "region_shown_from"), int),
    **dict.fromkeys(("total_sigma", "region_sigma", "chance_of_showing"), float),
}
_TOP_SEARCHES = {
    **dict.fromkeys(("weeks", "weeks_without", "texts"), int),
    **_RULES_OF_TEXTS,
    "earlier?": [{"first_week": str, "last_week": str, **_RULES_OF_TEXTS}],
    **dict.fromkeys(("total_level", "region_level"), str),
    "blocklist": {"entries": int, "fingerprint?": str},
}
LEDGER = {"identity?": str, "spec?": {"fingerprint": str}, "ledger": [_WEEK], "top_searches?": _TOP_SEARCHES}
PRIVACY = {
    "name": str,
    "flavor": {"privacy_unit": str, "neighbouring_relation": str, "bounds": [str]},
    "privacy_loss": {
        "epsilon": float,
        "delta": float,
        "holds": bool,
        "cases": [{"name": str, "epsilon": float, "delta": float, "sigmas": [float]}],
    },
    "accounting": {"library": str, "composition": str, "across_weeks?": str, "post_processing?": str},
    "implementation": {"mechanism": str, "sensitivity": str, "entropy?": str, "program?": str},
    "not_promised": {
        "user_active_on_7_days": {"epsilon": float, "delta": float},
        "user_active_on_all_days": {"days": int, "epsilon": float, "delta": float},
    },
    "not_covered": [str],
    "ledger": [{**_WEEK, "committed_on?": str, "epsilon": float, "delta": float, "cells": int}],
    "corrections?": [{"changed_values": int, "reason": str}],
    "scaling?": {"factor?": float},
    "lost_weeks?": [{"week": str, "reason": str}],
    "notes?": [{"week": str, "reason": str}],
    "noisy_counts_published?": bool,
    "editions?": [{**_EDITION, "reason": str, "holds": bool}],
    "classification?": _CLASSIFICATION,
    "top_searches?": _TOP_SEARCHES,
}
# A folder of several datasets.
COMBINED = {
    "program": str,
    "title": str,
    "description": str,
    "scaling": {"one_for_all": bool, "factor?": float},
    "datasets": [{"path": str, "country_region": str, "country_region_code": str}],
    "resources": [{"path": str, "format": str, "hash": str}],
}
SPARSITY = {"decided": bool, "removed": [str], "removed_after_publication": [str]}
STRADDLING = {"level": str, "applies_if": str, "regions": {}}
# The last outcome is one that datasets of earlier versions do not have.
SUMMARY = [{"level": Word, "trend": Word, **dict.fromkeys(OUTCOMES[:-1], int), f"{OUTCOMES[-1]}?": int}]


def require_form(value: Any, form: Any, source: object, key: str = "") -> None:
    """Refuse a value that does not have a form; the error names the key, what was expected and what was found."""
    if isinstance(form, dict):
        _require(isinstance(value, Mapping), "an object", value, source, key)
        for name, below in form.items():
            inner = f"{key}.{name.rstrip('?')}" if key else name.rstrip("?")
            if name.rstrip("?") in value:
                require_form(value[name.rstrip("?")], below, source, inner)
            elif not name.endswith("?"):
                raise InputError(f"{source}: no key {inner!r}; was it made by 'search-insights publish'?")
    elif isinstance(form, list):
        _require(isinstance(value, list), "a list", value, source, key)
        for number, item in enumerate(value):
            require_form(item, form[0], source, f"{key}[{number}]")
    else:
        _require(_has_type(value, form), _WORDS[form], value, source, key)


def _has_type(value: Any, kind: type) -> bool:
    if kind is Word:
        return isinstance(value, str) and _WORD.fullmatch(value) is not None
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _require(ok: bool, expected: str, value: Any, source: object, key: str) -> None:
    if not ok:
        shown = repr(value)
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
        where = f"key {key!r}: " if key else ""
        raise InputError(f"{source}: {where}expected {expected}, got {shown}")
