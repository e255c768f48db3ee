"""The packaged world: the regions of every country whose outlines match its ISO 3166-2 codes, one level below it.

A country is named by its ISO 3166 code of two letters, such as IE. The list also has the countries that are not
packaged, and says why. Some countries have a deeper table, too (deeper.py). There are no populations, so a release of a
packaged country has no size classes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from search_insights.errors import GeographyError
from search_insights.spec.deeper import tables_of
from search_insights.support.sql import public_reader

_CODE = re.compile(r"[A-Za-z]{2}")
_PREFIX = "iso/"  # of every place_id
_HINT = "give a table of regions of your own (docs/geography.md)"


@dataclass(frozen=True, slots=True)
class Country:
    """A country of the list: packaged with so many regions, or not, and why."""

    code: str
    name: str
    regions: int
    why_not: str


def is_country_code(text: str) -> bool:
    """Return whether a text has the form of the code of a country: two letters."""
    return _CODE.fullmatch(text) is not None


@cache
def countries() -> Mapping[str, Country]:
    """Return all countries that the sources know, by their codes."""
    found = json.loads(_packaged("world_countries.json").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            code: Country(code, facts["name"], facts.get("regions", 0), facts.get("why_not", ""))
            for code, facts in found.items()
        }
    )


def require_country(text: str) -> Country:
    """Return a packaged country; refuse a code that is unknown, or whose regions are not packaged."""
    country = countries().get(text.upper())
    if country is None:
        raise GeographyError(f"{text}: is not the ISO 3166 code of a country that is known here; {_HINT}")
    if country.why_not:
        deeper = " or ".join(repr(table) for table in tables_of(country.code))
        hint = f"use {deeper}, or {_HINT}" if deeper else _HINT
        raise GeographyError(f"{text}: {country.name} is not packaged: {country.why_not}; {hint}")
    return country


def country_rows(text: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of a packaged country: itself and its regions."""
    place_id = f"{_PREFIX}{require_country(text).code}"
    with resources.as_file(_packaged("world_regions.parquet")) as path:
        rows = public_reader().read_parquet(str(path)).project(", ".join(columns)).fetchall()
    parent, own = columns.index("parent"), columns.index("place_id")
    return [row for row in rows if place_id in (row[parent], row[own])]


def code_of(place_id: str) -> str | None:
    """Return the code of the packaged country that has a place_id; None if there is none."""
    country = countries().get(place_id.removeprefix(_PREFIX)) if place_id.startswith(_PREFIX) else None
    return country.code if country and not country.why_not else None


def tables_with(place_id: str) -> tuple[str, ...]:
    """Return the names of the packaged tables that have a country, by its place_id: level 1, then the least deep."""
    code = place_id.removeprefix(_PREFIX) if place_id.startswith(_PREFIX) else ""
    return (*filter(None, (code_of(place_id),)), *reversed(tables_of(code)))


def country_outlines(code: str) -> dict[str, Any]:
    """Return the outlines of a packaged country, as TopoJSON whose ids are place_ids."""
    text = (_packaged("world_shapes") / f"{require_country(code).code}.topojson").read_text(encoding="utf-8")
    topology: dict[str, Any] = json.loads(text)
    return topology


def _packaged(name: str) -> Traversable:
    return resources.files("search_insights.spec") / "packaged" / name
