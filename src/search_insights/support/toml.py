"""Reading TOML that anyone may have written: what is too large or too deep is refused before it takes memory."""

import re
import tomllib
from typing import Any

MAX_BYTES = 1 << 20  # of a file; the packaged ones have some kB

# The most names that a key may join with dots. Python's reader keeps every beginning of a key, so that a key of 200 kB
# would take more memory than most machines have.
_MAX_DEPTH = 16
_NAME = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_NAME}[ \t]*+\.[ \t]*+){{{_MAX_DEPTH}}}")
_MAX_MESSAGE = 200  # characters; the reader's message may quote the file


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; a ValueError says in few words why there are none."""
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"line {line}: more than {_MAX_DEPTH} names joined with dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists or tables within one another, too many to be read") from None
    except ValueError as error:  # also for a number of thousands of digits
        raise ValueError(shortened(str(error))) from None


def shortened(text: str) -> str:
    """Return a text as a message can show it."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
