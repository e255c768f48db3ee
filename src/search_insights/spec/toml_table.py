"""A TOML table that is read key by key. What is wrong with keys and types is collected, so that all is told at once."""

import dataclasses
import math
import types
from collections.abc import Mapping
from datetime import date
from typing import Any, TypeVar, get_args, get_type_hints

from search_insights.errors import Problem, SpecError
from search_insights.support.toml import shortened

D = TypeVar("D")

TEXTS = tuple[str, ...]
FLOATS = tuple[float, ...]
TYPE_WORDS: dict[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    date: "a date such as 2021-01-04",
    TEXTS: "a list of texts",
    FLOATS: "a list of numbers",
}


class Table:
    """A table of a spec file; `finish` refuses the keys that were never read.

    All tables of a file share one list of problems. What is wrong reads as None.
    """

    def __init__(self, values: object, path: str, problems: list[Problem]) -> None:
        """Take what stands at a path; a table is expected."""
        self.problems = problems
        self._values: Mapping[str, Any] | None = values if isinstance(values, Mapping) else None
        self._path = path
        self._expected: list[str] = []
        if self._values is None and values is not None:
            self._wrong(path, "a table", _described(values))

    def names(self) -> list[str]:
        """Return the keys in the order of the file."""
        return list(self._values or ())

    def has(self, name: str) -> bool:
        """Return whether a key that may be left out is there."""
        self._expected.append(name)
        return name in self.names()

    def holds_table(self, name: str) -> bool:
        """Return whether a key holds a table."""
        return isinstance((self._values or {}).get(name), Mapping)

    def get(self, name: str, kind: Any) -> Any:
        """Return one value of exactly this type; a whole number is also a number."""
        value = self._raw(name)
        if kind is float and type(value) is int:
            value = float(value) if abs(value) < 2**1000 else math.inf
        if kind == TEXTS and isinstance(value, list) and all(type(v) is str for v in value):
            return tuple(value)
        if kind == FLOATS and isinstance(value, list) and all(type(v) in (int, float) for v in value):
            return tuple(float(v) if type(v) is float or abs(v) < 2**1000 else math.inf for v in value)
        if value is not None and type(value) is not kind:
            self._wrong(self._key(name), TYPE_WORDS[kind], _described(value))
            return None
        return value

    def table(self, name: str) -> "Table":
        """Return the table that a key holds."""
        return Table(self._raw(name), self._key(name), self.problems)

    def tables(self, name: str) -> "list[Table]":
        """Return the tables of the list that a key holds."""
        value = self._raw(name)
        if value is not None and not isinstance(value, list):
            self._wrong(self._key(name), f"a list of tables, [[{self._key(name)}]]", _described(value))
            return []
        return [Table(v, f"{self._key(name)}[{i}]", self.problems) for i, v in enumerate(value or ())]

    def read(self, kind: type[D]) -> D | None:
        """Return a value object whose fields are this table's keys; any other key is wrong."""
        hints = get_type_hints(kind)
        before = len(self.problems)
        values: dict[str, Any] = {}
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            optional = field.default is not dataclasses.MISSING
            if field.name in (self._values or ()) or not optional:
                values[field.name] = self.get(field.name, _without_none(hints[field.name]))
            self._expected.append(field.name)
        self.finish()
        if self._values is None or len(self.problems) > before:
            return None
        try:
            return kind(**values)
        except SpecError as error:
            self.problems.extend(error.problems)
            return None

    def finish(self) -> None:
        """Refuse the keys that were never read."""
        choices = ", ".join(dict.fromkeys(self._expected))
        for name in self.names():
            if name not in self._expected:
                self._wrong(shortened(self._key(name)), f"one of {choices}", "an unknown key")

    def _wrong(self, key: str, expected: str, got: str) -> None:
        self.problems.append(Problem(key, expected, got))

    def _key(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def _raw(self, name: str) -> Any:
        """Return what a key holds; None, and a problem, if it is missing. What a missing table lacks is no problem."""
        self._expected.append(name)
        if self._values is not None and name not in self._values:
            self._wrong(self._key(name), "a value", "nothing")
        return (self._values or {}).get(name)


def _without_none(kind: Any) -> Any:
    """Return the type of an optional field without `| None`."""
    return get_args(kind)[0] if isinstance(kind, types.UnionType) else kind


def _described(value: object) -> str:
    if isinstance(value, Mapping | list):
        return "a table" if isinstance(value, Mapping) else "a list"
    return shortened(str(value) if isinstance(value, date) else repr(value))
