"""Reading a spec from TOML: strict about keys and types, so that a typo never becomes a silent default."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from search_insights.errors import InputError, Problem, SpecError
from search_insights.spec.checks import refuse
from search_insights.spec.measures import PAPER_COUNTING, Counting, Measure
from search_insights.spec.publication_rules import Reliability, Scaling, Sparsity
from search_insights.spec.publisher import Publisher
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import (
    MAX_SIGMA,
    WEEKDAYS,
    Category,
    Level,
    Promise,
    Sigma,
    Spec,
    Total,
    Trend,
    reported_groups,
)
from search_insights.spec.toml_table import Table
from search_insights.spec.top_searches import TopSearches
from search_insights.spec.translations import read_translations, unknown_words
from search_insights.support.files import read_text_at_most
from search_insights.support.toml import MAX_BYTES, parse_toml

DEFAULT_SPEC = "vaccination-v1"
PACKAGED_SPECS = (DEFAULT_SPEC, "vaccination-v2")


def load_spec(source: str | Path = DEFAULT_SPEC) -> Spec:
    """Read a spec, given the name of a packaged one or the path of a TOML file."""
    return _packaged(str(source)) if str(source) in PACKAGED_SPECS else parse_spec(_text_of(source), str(source))


@cache
def _packaged(name: str) -> Spec:
    """Read a packaged spec once: it is part of the program, and nothing changes a spec."""
    return parse_spec(_text_of(name), name)


def load_draft(source: str | Path, *, start: bool = False) -> tuple[Spec, bool]:
    """Read a spec that may have no sigmas yet, and return whether it has; if not, stand-ins of most noise are in it.

    With `start`, the sigmas of the file are not looked at: they may be those of other levels or categories.
    """
    text = _text_of(source)
    spec = parse_spec(text, str(source), draft=True, start=start)
    return spec, "sigma" in parse_toml(text)


def _text_of(source: str | Path) -> str:
    if str(source) in PACKAGED_SPECS:
        packaged = resources.files("search_insights.spec") / "packaged" / f"{source}.toml"
        return packaged.read_text(encoding="utf-8")
    return _read_text(Path(source))


def _read_text(path: Path) -> str:
    try:
        return read_text_at_most(path, MAX_BYTES)
    except OSError as error:
        hint = f"give the path of a TOML file, or a packaged spec: {' or '.join(map(repr, PACKAGED_SPECS))}"
        raise InputError(f"{path}: cannot read the spec ({error.strerror}); {hint}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a spec is TOML in UTF-8; this file is not text in UTF-8") from None


@lru_cache(maxsize=16)  # a command reads the spec of its store several times, and nothing changes a spec
def parse_spec(text: str, source: str = "spec", *, draft: bool = False, start: bool = False) -> Spec:
    """Return the spec in the text of a TOML file; `source` names the file in errors. A draft may have no sigmas."""
    try:
        values = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    if start:
        values.pop("sigma", None)
    try:
        return _spec(Table(values, "", []), draft)
    except SpecError as error:
        raise SpecError(error.key, error.expected, error.got, source, error.problems[1:]) from None


def _spec(top: Table, draft: bool) -> Spec:
    """Read the spec; what is wrong with keys, types and values is told together."""
    values = _values(top)
    given = top.has("sigma")
    values["sigmas"] = _sigmas(top.table("sigma")) if given else ()
    top.finish()
    if not given and not draft:
        top.problems.append(Problem("sigma", "standard deviations ('search-insights calibrate' finds them)", "nothing"))
    if any(problem.key.startswith(_SHAPE) for problem in top.problems):
        refuse(top.problems)  # what else is wrong may only follow from this
    if not given:
        values["sigmas"] = _most_noise(values)
    stand_ins = _stand_ins(values)
    try:
        spec = Spec(**{key: stand_ins[key] if value is None else value for key, value in values.items()})
        top.problems.extend(unknown_words(values["translations"], spec.named_parts))
    except SpecError as error:
        top.problems.extend(error.problems)
    refuse(top.problems)
    return spec


def _values(top: Table) -> dict[str, Any]:
    """Read what a spec consists of, without its sigmas; None for what could not be read."""
    class_level, size_classes = _size_classes(top)
    reporting = top.table("reporting")
    values = dict(
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
        min_area_km2=reporting.get("min_area_km2", float),
        reliability=top.table("reliability").read(Reliability),
        sparsity=top.table("sparsity").read(Sparsity),
        scaling=top.table("scaling").read(Scaling),
        counting=top.table("counting").read(Counting) if top.has("counting") else PAPER_COUNTING,
        given_measures=tuple(t.read(Measure) for t in top.tables("measure")) if top.has("measure") else (),
        top_searches=top.table("top_searches").read(TopSearches) if top.has("top_searches") else None,
        translations=read_translations(top.table("translation")) if top.has("translation") else (),
        publisher=top.table("publisher").read(Publisher) if top.has("publisher") else None,
    )
    reporting.finish()
    return values


# If a key of these cannot be read, what refers to it cannot be checked.
_SHAPE = ("category", "trend", "level", "total", "size_classes", "measure", "counting")


def _stand_ins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid values for what could not be read, so that the rest can be checked."""
    sparsity = values["sparsity"] or Sparsity(0, date(2021, 1, 4), date(2021, 1, 4))
    trends = values["trends"]
    return {
        **dict.fromkeys(("name", "title", "dataset"), "unread"),
        "time_zone": "UTC",
        "first_day_of_week": WEEKDAYS[sparsity.first_week.weekday()],
        "promise": Promise(1.0, 1e-5),
        "class_level": None,
        "min_area_km2": 0.0,
        "reliability": Reliability(0.5, 1.0),
        "sparsity": sparsity,
        "scaling": Scaling(1.0, trends[0].id if trends else "unread"),
        "top_searches": None,
        "publisher": None,
    }


def _most_noise(values: Mapping[str, Any]) -> tuple[Sigma, ...]:
    """Return stand-ins for the sigmas of a draft: the largest that there may be."""
    class_names = [c.name for c in values["size_classes"]]
    groups = reported_groups(values["levels"], values["class_level"], class_names)
    measures = values["given_measures"] or values["categories"]
    return tuple(Sigma(*group, measure.id, MAX_SIGMA) for group in groups for measure in measures)


def _size_classes(top: Table) -> tuple[str | None, tuple[SizeClass, ...]]:
    """Read the level and the size classes; a spec without them has open levels only."""
    if not top.has("size_classes"):
        return None, ()
    table = top.table("size_classes")
    level = table.get("level", str)
    classes = tuple(t.read(SizeClass) for t in table.tables("class"))
    table.finish()
    return level, tuple(c for c in classes if c is not None)


def _sigmas(table: Table) -> tuple[Sigma, ...]:
    """Read the table of standard deviations: by level, then class if the level has classes, then category.

    The spec itself refuses missing and extra ones.
    """
    sigmas: list[Sigma] = []
    for name in table.names():
        of_level = table.table(name)
        for key in of_level.names():
            if of_level.holds_table(key):
                group = of_level.table(key)
                sigmas += [_sigma(group, name, key, category) for category in group.names()]
            else:
                sigmas.append(_sigma(of_level, name, None, key))
    return tuple(sigmas)


def _sigma(group: Table, level: str, size_class: str | None, category: str) -> Sigma:
    """Read one sigma; a stand-in if it is wrong."""
    value = group.get(category, float)
    try:
        return Sigma(level, size_class, category, MAX_SIGMA if value is None else value)
    except SpecError as error:
        group.problems.extend(error.problems)
        return Sigma(level, size_class, category, MAX_SIGMA)


def spec_toml(spec: Spec) -> str:
    """Return the text of a TOML file that reads back as the same spec."""
    lines = [f"{key} = {_toml(getattr(spec, key))}" for key in _TOP_KEYS]
    lines += _section("promise", spec.promise)
    if spec.counting != PAPER_COUNTING:
        lines += _section("counting", spec.counting)
    lists = {"category": spec.categories, "measure": spec.given_measures, "trend": spec.trends, "level": spec.levels}
    for key, things in lists.items():
        for thing in things:
            lines += _section(f"[{key}]", thing)
    lines += _section("total", spec.total)
    if spec.class_level is not None:
        lines += ["", "[size_classes]", f"level = {_toml(spec.class_level)}"]
        for size_class in spec.size_classes:
            lines += _section("[size_classes.class]", size_class)
    for level, size_class_name in spec.reported_groups:
        lines += ["", f"[{'.'.join(part for part in ('sigma', level, size_class_name) if part)}]"]
        lines += [f"{c.id} = {_toml(spec.sigma(level, size_class_name, c.id))}" for c in spec.measures]
    lines += ["", "[reporting]", f"min_area_km2 = {_toml(spec.min_area_km2)}"]
    for key in ("reliability", "sparsity", "scaling"):
        lines += _section(key, getattr(spec, key))
    for key in ("top_searches", "publisher"):
        if getattr(spec, key) is not None:
            lines += _section(key, getattr(spec, key))
    for translation in spec.translations:
        lines += ["", f"[translation.{translation.language}]"]
        lines += [f"{key} = {_toml(text)}" for key, text in translation.words]
    return "\n".join(lines) + "\n"


_TOP_KEYS = ("name", "title", "dataset", "time_zone", "first_day_of_week")


def _section(header: str, thing: Any) -> list[str]:
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return ["", f"[{header}]", *(f"{key} = {_toml(value)}" for key, value in values.items() if value is not None)]


def _toml(value: object) -> str:
    """Return one value as TOML; JSON writes texts, numbers and lists the same way."""
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
