"""Reading a spec from TOML: strict about keys and types, so that a typo never becomes a silent default."""

import dataclasses
import json
import math
import types
from collections.abc import Mapping
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from search_insights.errors import InputError, SpecError
from search_insights.spec.spec import (
    Category,
    Level,
    Promise,
    Reliability,
    Scaling,
    Sigma,
    SizeClass,
    Sparsity,
    Spec,
    Total,
    Trend,
)
from search_insights.support.files import read_text_at_most
from search_insights.support.toml import MAX_BYTES, parse_toml, shortened

DEFAULT_SPEC = "vaccination-v1"

D = TypeVar("D")

_TEXTS = tuple[str, ...]
_TYPE_WORDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    date: "a date such as 2021-01-04",
    _TEXTS: "a list of texts",
}


def load_spec(source: str | Path = DEFAULT_SPEC) -> Spec:
    """Read a spec, given the name of a packaged one or the path of a TOML file."""
    if str(source) == DEFAULT_SPEC:
        packaged = resources.files("search_insights.spec") / "packaged" / f"{DEFAULT_SPEC}.toml"
        return parse_spec(packaged.read_text(encoding="utf-8"), DEFAULT_SPEC)
    return parse_spec(_read_text(Path(source)), str(source))


def _read_text(path: Path) -> str:
    try:
        return read_text_at_most(path, MAX_BYTES)
    except OSError as error:
        hint = f"give the path of a TOML file, or {DEFAULT_SPEC!r} for the packaged spec"
        raise InputError(f"{path}: cannot read the spec ({error.strerror}); {hint}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a spec is TOML in UTF-8; this file is not text in UTF-8") from None


def parse_spec(text: str, source: str = "spec") -> Spec:
    """Return the spec in the text of a TOML file; `source` names the file in errors."""
    try:
        values = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    try:
        return _spec(_Table(values, ""))
    except SpecError as error:
        raise SpecError(error.key, error.expected, error.got, source) from None


def _spec(top: "_Table") -> Spec:
    class_level, size_classes = _size_classes(top)
    reporting = top.table("reporting")
    spec = dict(
        name=top.get("name", str),
        title=top.get("title", str),
        dataset=top.get("dataset", str),
        time_zone=top.get("time_zone", str),
        first_day_of_week=top.get("first_day_of_week", str),
        promise=top.table("promise").read(Promise),
        categories=tuple(t.read(Category) for t in top.tables("category")),
        trends=tuple(t.read(Trend) for t in top.tables("trend")),
        levels=tuple(t.read(Level) for t in top.tables("level")),
        total=top.table("total").read(Total),
        class_level=class_level,
        size_classes=size_classes,
        sigmas=_sigmas(top.table("sigma")),
        min_area_km2=reporting.get("min_area_km2", float),
        reliability=top.table("reliability").read(Reliability),
        sparsity=top.table("sparsity").read(Sparsity),
        scaling=top.table("scaling").read(Scaling),
    )
    reporting.finish()
    top.finish()  # before the values are checked: a misspelled key explains more than the value that it leaves missing
    return Spec(**spec)


def _size_classes(top: "_Table") -> tuple[str | None, tuple[SizeClass, ...]]:
    """Read the level and the size classes; a spec without them has open levels only."""
    if "size_classes" not in top.names():
        return None, ()
    table = top.table("size_classes")
    level = table.get("level", str)
    classes = tuple(t.read(SizeClass) for t in table.tables("class"))
    table.finish()
    return level, classes


def _sigmas(table: "_Table") -> tuple[Sigma, ...]:
    """Read the table of standard deviations: by level, then class if the level has classes, then category.

    The spec itself refuses missing and extra ones.
    """
    sigmas: list[Sigma] = []
    for name in table.names():
        of_level = table.table(name)
        for key in of_level.names():
            if of_level.holds_table(key):
                group = of_level.table(key)
                sigmas += [Sigma(name, key, category, group.get(category, float)) for category in group.names()]
            else:
                sigmas.append(Sigma(name, None, key, of_level.get(key, float)))
    return tuple(sigmas)


class _Table:
    """A TOML table that is read key by key; `finish` refuses the keys that were never read."""

    def __init__(self, values: object, path: str) -> None:
        if not isinstance(values, Mapping):
            raise SpecError(path, "a table", _described(values))
        self._values = values
        self._path = path
        self._expected: list[str] = []

    def names(self) -> list[str]:
        return list(self._values)

    def holds_table(self, name: str) -> bool:
        return isinstance(self._values.get(name), Mapping)

    def get(self, name: str, kind: Any) -> Any:
        """Return one value of exactly this type; a whole number is also a number."""
        value = self._raw(name)
        if kind is float and type(value) is int:
            value = float(value) if abs(value) < 2**1000 else math.inf
        if kind == _TEXTS and isinstance(value, list) and all(type(v) is str for v in value):
            return tuple(value)
        if type(value) is not kind:
            raise SpecError(self._key(name), _TYPE_WORDS[kind], _described(value))
        return value

    def table(self, name: str) -> "_Table":
        return _Table(self._raw(name), self._key(name))

    def tables(self, name: str) -> "list[_Table]":
        value = self._raw(name)
        if not isinstance(value, list):
            raise SpecError(self._key(name), f"a list of tables, [[{self._key(name)}]]", _described(value))
        return [_Table(v, f"{self._key(name)}[{i}]") for i, v in enumerate(value)]

    def read(self, kind: type[D]) -> D:
        """Return a value object whose fields are this table's keys; refuse any other key."""
        hints = get_type_hints(kind)
        values: dict[str, Any] = {}
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            optional = field.default is not dataclasses.MISSING
            if field.name in self._values or not optional:
                values[field.name] = self.get(field.name, _without_none(hints[field.name]))
            self._expected.append(field.name)
        self.finish()
        return kind(**values)

    def finish(self) -> None:
        unknown = [name for name in self._values if name not in self._expected]
        if unknown:
            choices = ", ".join(dict.fromkeys(self._expected))
            raise SpecError(shortened(self._key(unknown[0])), f"one of {choices}", "an unknown key")

    def _key(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def _raw(self, name: str) -> Any:
        self._expected.append(name)
        if name not in self._values:
            raise SpecError(self._key(name), "a value", "nothing")
        return self._values[name]


def _without_none(kind: Any) -> Any:
    """Return the type of an optional field without `| None`."""
    return get_args(kind)[0] if isinstance(kind, types.UnionType) else kind


def _described(value: object) -> str:
    if isinstance(value, Mapping | list):
        return "a table" if isinstance(value, Mapping) else "a list"
    return shortened(str(value) if isinstance(value, date) else repr(value))


def spec_toml(spec: Spec) -> str:
    """Return the text of a TOML file that reads back as the same spec."""
    lines = [f"{key} = {_toml(getattr(spec, key))}" for key in _TOP_KEYS]
    lines += _section("promise", spec.promise)
    for key, things in (("category", spec.categories), ("trend", spec.trends), ("level", spec.levels)):
        for thing in things:
            lines += _section(f"[{key}]", thing)
    lines += _section("total", spec.total)
    if spec.class_level is not None:
        lines += ["", "[size_classes]", f"level = {_toml(spec.class_level)}"]
        for size_class in spec.size_classes:
            lines += _section("[size_classes.class]", size_class)
    for level, size_class_name in spec.reported_groups:
        lines += ["", f"[{'.'.join(part for part in ('sigma', level, size_class_name) if part)}]"]
        lines += [f"{c.id} = {_toml(spec.sigma(level, size_class_name, c.id))}" for c in spec.categories]
    lines += ["", "[reporting]", f"min_area_km2 = {_toml(spec.min_area_km2)}"]
    for key in ("reliability", "sparsity", "scaling"):
        lines += _section(key, getattr(spec, key))
    return "\n".join(lines) + "\n"


_TOP_KEYS = ("name", "title", "dataset", "time_zone", "first_day_of_week")


def _section(header: str, thing: Any) -> list[str]:
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return ["", f"[{header}]", *(f"{key} = {_toml(value)}" for key, value in values.items() if value is not None)]


def _toml(value: object) -> str:
    """Return one value as TOML; JSON writes texts, numbers and lists the same way."""
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
