"""What a release and its parts are called in other languages: words only, of which a spec's fingerprint knows nothing.

In a spec file, each language is a table: `[translation.fr]` with the keys `title`, `trend.ID`, `level.NAME`,
`category.ID`, which is the name of a category, and `definition.ID`, which says what it stands for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from search_insights.errors import Problem
from search_insights.spec.checks import require, require_distinct, require_line
from search_insights.spec.toml_table import Table

TITLE = "title"
PARTS = ("trend", "level", "category", "definition")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class Translation:
    """The words of one language: each with its key, such as `title` or `trend.C1`."""

    language: str
    words: tuple[tuple[str, str], ...]

    def of(self, part: str) -> dict[str, str]:
        """Return the words of the trends, levels, categories or definitions, by their ids or names."""
        return {key.partition(".")[2]: text for key, text in self.words if key.startswith(f"{part}.")}

    @property
    def title(self) -> str | None:
        """The title of the dataset; None if it has none in this language."""
        return dict(self.words).get(TITLE)

    def among(self, known: Mapping[str, Sequence[str]]) -> "Translation":
        """Return the words of what is known: the ids or names by part."""
        return Translation(self.language, tuple(word for word in self.words if _is_known(word[0], known)))


def _is_known(key: str, known: Mapping[str, Sequence[str]]) -> bool:
    part, _, name = key.partition(".")
    return key == TITLE or name in known.get(part, ())


def read_translations(table: Table) -> tuple[Translation, ...]:
    """Read the tables of all languages."""
    return tuple(_read(table.table(language), language) for language in table.names())


def _read(table: Table, language: str) -> Translation:
    words: list[tuple[str, str]] = []
    if table.has(TITLE):
        words.append((TITLE, table.get(TITLE, str)))
    for part in PARTS:
        if table.has(part):
            below = table.table(part)
            words += [(f"{part}.{name}", below.get(name, str)) for name in below.names()]
    table.finish()
    return Translation(language, tuple((key, text) for key, text in words if text is not None))


def wrong_translations(translations: Sequence[Translation]) -> Iterator[Problem]:
    """Yield what is wrong with the words themselves: a language that is none, or text on more than one line."""
    yield from require_distinct((each.language for each in translations), "translation")
    for each in translations:
        where = f"translation.{each.language}"
        code = _LANGUAGE.fullmatch(each.language) is not None
        yield from require(code, where, "a language's code of two or three letters, such as fr", repr(each.language))
        for key, text in each.words:
            yield from require_line(text, f"{where}.{key}")


def unknown_words(translations: Sequence[Translation], known: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    """Yield the words of what a spec does not have: a misspelled id must not become a title that nobody sees."""
    for each in translations:
        for key, _ in each.words:
            expected = f"one of title, {', '.join(f'{part}.{name}' for part in PARTS for name in known[part])}"
            yield from require(_is_known(key, known), f"translation.{each.language}.{key}", expected, "an unknown key")
