"""The table of all keys of a spec is complete, and the reference page and the comments of a spec are made from it."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from search_insights.commands.spec_reference import spec_page
from search_insights.errors import SpecError
from search_insights.spec.commented import commented_toml
from search_insights.spec.keys import REQUIRED, SECTIONS, Key, section
from search_insights.spec.measures import Counting, Measure
from search_insights.spec.publication_rules import Reliability, Scaling, Sparsity
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import (
    Category,
    Level,
    Promise,
    Spec,
    Total,
    Trend,
)
from search_insights.spec.spec_file import parse_spec
from search_insights.spec.toml_table import TYPE_WORDS
from search_insights.spec.top_searches import TopSearches
from tests.support.other_country import other_spec, plain_spec
from tests.support.packaged_spec import PACKAGED, PACKAGED_V2

VALUE_OBJECTS: dict[str, type[Any]] = {
    "promise": Promise,
    "category": Category,
    "trend": Trend,
    "level": Level,
    "total": Total,
    "size_classes.class": SizeClass,
    "counting": Counting,
    "measure": Measure,
    "reliability": Reliability,
    "sparsity": Sparsity,
    "scaling": Scaling,
    "top_searches": TopSearches,
}


def accepted(table: str) -> set[str]:
    """Return the keys that the reader accepts in a table: those that it names when it refuses another."""
    header = section(table).header
    packaged = PACKAGED if header in PACKAGED else PACKAGED_V2
    text = f"no_such_key = 1\n{packaged}" if not table else packaged.replace(header, f"{header}\nno_such_key = 1", 1)
    with pytest.raises(SpecError) as refused:
        parse_spec(text)
    (problem,) = [p for p in refused.value.problems if p.key.endswith("no_such_key")]
    return set(problem.expected.removeprefix("one of ").split(", "))


@pytest.mark.parametrize("table", [s.name for s in SECTIONS if s.name != "sigma"])
def test_the_table_has_every_key_that_a_spec_may_have_and_no_other(table: str) -> None:
    """Compared with the reader itself, table by table; the keys of [sigma] are levels, classes and categories."""
    tables = {s.name for s in SECTIONS if s.name}
    inside = {s.removeprefix(f"{table}.") for s in tables if s.startswith(f"{table}.")} if table else tables
    inside = {name for name in inside if "." not in name}
    assert {key.name for key in section(table).keys} | inside == accepted(table)


@pytest.mark.parametrize("table", VALUE_OBJECTS)
def test_types_and_defaults_are_those_of_the_spec(table: str) -> None:
    """The table says of each key what its value object says."""
    hints = get_type_hints(VALUE_OBJECTS[table])
    for field in dataclasses.fields(VALUE_OBJECTS[table]):
        (key,) = [k for k in section(table).keys if k.name == field.name]
        kind = hints[field.name]
        kinds = [k for k in get_args(kind) if k is not type(None)] if type(None) in get_args(kind) else [kind]
        assert key.kind == TYPE_WORDS[kinds[0]], key.name
        assert (key.default == REQUIRED) == (field.default is dataclasses.MISSING), key.name


def test_the_reference_page_is_made_from_the_table() -> None:
    """docs/spec.md is up to date: `python -m search_insights.commands.spec_reference`."""
    page = Path(__file__).resolve().parents[2] / "docs" / "spec.md"
    assert page.read_text(encoding="utf-8") == spec_page()


@pytest.mark.parametrize(
    "make", [lambda: parse_spec(PACKAGED), lambda: parse_spec(PACKAGED_V2), other_spec, plain_spec]
)
def test_a_commented_spec_reads_back_as_the_same(make: Any) -> None:
    """Comments change nothing."""
    spec: Spec = make()
    assert parse_spec(commented_toml(spec, "A head.")) == spec


def test_the_comments_explain_every_table_and_key_once() -> None:
    """Also keys that are not used: they are there as comments, with an example that TOML can read."""
    text = commented_toml(plain_spec(), "A head.")
    joined = " ".join(line.removeprefix("# ") for line in text.splitlines())
    used = {s.name for s in SECTIONS} - {"size_classes", "size_classes.class", "counting", "measure", "top_searches"}
    for part in SECTIONS:
        for key in part.keys if part.name in used - {"sigma"} else ():
            assert joined.count(_start(key)) == sum(_start(k) == _start(key) for s in SECTIONS for k in s.keys), (
                key.name
            )
    examples = re.findall(r"^# (\w+ = .+)$", text, re.MULTILINE)
    names = [next(iter(tomllib.loads(example))) for example in examples]
    assert names == ["definition", "weights", "published_name", "first_week", "last_week", "factor", "set_by"]
    assert max(map(len, text.splitlines())) <= 120


def _start(key: Key) -> str:
    return f"{key.meaning[0].upper()}{key.meaning[1:]}"
