"""A spec as a TOML file that explains itself: a comment for each table and each key, from the table of all keys."""

import re
import textwrap
from collections.abc import Iterator

from search_insights.spec.keys import WHAT_A_WORD_IS, Key, Section, section
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import spec_toml

_WIDTH = 118
_HEADER = re.compile(r"\[\[?([^]]+)\]\]?")
_KEY = re.compile(r"([A-Za-z0-9_-]+) = ")


def commented_toml(spec: Spec, head: str) -> str:
    """Return the text of a TOML file that reads back as the same spec; `head` becomes the comment at its top."""
    blocks = spec_toml(spec).split("\n\n")
    seen: set[str] = set()
    texts = ["\n".join(_comment(f"{head}\nA word is {WHAT_A_WORD_IS}."))]
    for block in blocks:
        part = _section_of(block)
        texts.append("\n".join(_explained(block.splitlines(), part, blocks, seen)))
        seen.add(part.name)
    return "\n\n".join(texts).rstrip("\n") + "\n"


def _section_of(block: str) -> Section:
    """Return the section that a block belongs to: `[sigma.state]` is of `[sigma]`, and so on."""
    header = _HEADER.match(block)
    name = header[1] if header else ""
    return section(next((of for of in ("sigma", "translation") if name.startswith(f"{of}.")), name))


def _explained(lines: list[str], part: Section, blocks: list[str], seen: set[str]) -> Iterator[str]:
    """Yield the lines of a block, with comments if it is the first of its section."""
    if part.name in seen:
        yield from lines
        return
    if part.name:
        yield from _comment(part.meaning)
    comments = {key.name: key for key in part.keys}
    for line in lines:
        key = comments.get(named[1]) if (named := _KEY.match(line)) else None
        yield from _comment(_sentence(key)) if key else ()
        yield line
    for key in part.keys:
        if key.example and not any(f"\n{key.name} = " in block for block in blocks if _section_of(block) == part):
            yield from (*_comment(_sentence(key)), f"# {key.name} = {key.example}")


def _sentence(key: Key) -> str:
    return f"{key.meaning} ({key.checked})" if key.checked else key.meaning


def _comment(text: str) -> Iterator[str]:
    for paragraph in text.splitlines():
        sentence = f"{paragraph[:1].upper()}{paragraph[1:]}"
        for line in textwrap.wrap(sentence, _WIDTH, break_long_words=False, break_on_hyphens=False) or [""]:
            yield f"# {line}".rstrip()
