"""What a value of a spec must be. Each check returns the problems that it finds, so that all are told at once."""

import re
from collections.abc import Iterable, Sequence

from search_insights.errors import Problem, SpecError

# The limits within which the accounting is exact. Nobody needs more: noise with a sigma of 0.1 is 0 but for one draw in
# 10^21, and the accounting of a sigma of a million would take gigabytes.
SIGMAS = (0.1, 100_000)

_NO_BREAK = dict.fromkeys(map(ord, "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"))  # French has them before a colon
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def refuse(problems: Iterable[Problem]) -> None:
    """Raise one error that tells all problems; do nothing if there are none."""
    found = tuple(problems)
    if found:
        raise SpecError(*found[0], others=found[1:])


def require(ok: bool, key: str, expected: str, got: object) -> list[Problem]:
    """Require that something holds."""
    return [] if ok else [Problem(key, expected, got)]


def require_within(value: float, limits: tuple[float, float], key: str) -> list[Problem]:
    """Require a number between two limits."""
    low, high = limits
    return require(low <= value <= high, key, f"a number from {low:,} to {high:,}", value)


def require_one_of(value: str, choices: Sequence[str], key: str) -> list[Problem]:
    """Require one of some words."""
    return require(value in choices, key, "one of " + ", ".join(choices), repr(value))


def require_word(value: str, key: str) -> list[Problem]:
    """Require a plain word: ids and names become columns, files and keys."""
    return require(_WORD.fullmatch(value) is not None, key, "a word of letters, digits, _ and -", repr(value))


def require_line(value: str, key: str) -> list[Problem]:
    """Require text on one line: people read titles in a page or a table."""
    printable = value.translate(_NO_BREAK).isprintable()
    return require(value.strip() != "" and printable, key, "text on one line", repr(value))


def require_distinct(values: Iterable[str], key: str) -> list[Problem]:
    """Require values that differ in more than case, which SQL and some file systems ignore."""
    seen: set[str] = set()
    found: list[Problem] = []
    for value in values:
        found += require(value.lower() not in seen, key, "each only once", f"{value!r} twice")
        seen.add(value.lower())
    return found
