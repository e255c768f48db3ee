"""The packaged tables that go deeper than level 1 of the world, or know more of it; each has sources of its own.

A table is named by its country and a word for its finest level: GB-authority has the nations of the United Kingdom and
their local authorities, GB-district also the postcode districts.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from search_insights.support.sql import public_reader

# By country, its levels from the coarsest down, by the word that names a table. Level 1 of Canada is the world's.
_LEVELS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "CA": {"region": "region", "fsa": "forward_sortation_area"},
        "GB": {"nation": "nation", "authority": "local_authority", "district": "postcode_district"},
        "NZ": {"region": "region"},
    }
)
_IN_WORLD = frozenset(("CA-region",))


def deeper_tables() -> tuple[str, ...]:
    """Return the names of all deeper tables, by country, the deepest first."""
    return tuple(table for country in _LEVELS for table in tables_of(country))


def tables_of(country: str) -> tuple[str, ...]:
    """Return the names of the deeper tables of a country, the deepest first; none for most countries."""
    names = (f"{country}-{word}" for word in reversed([*_LEVELS.get(country, {})]))
    return tuple(name for name in names if name not in _IN_WORLD)


def deeper_name(text: str) -> str | None:
    """Return the name of the deeper table that a text means, whatever its case; None if there is none."""
    return next((name for name in deeper_tables() if name.casefold() == text.casefold()), None)


def deeper_rows(name: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return the rows of a deeper table: the country, and the regions down to the level that it is named after."""
    country, _, finest = name.partition("-")
    words = list(_LEVELS[country])
    kept = {"country", *(_LEVELS[country][word] for word in words[: words.index(finest) + 1])}
    with resources.as_file(_file(f"{country}.parquet")) as path:
        rows = public_reader().read_parquet(str(path)).project(", ".join(columns)).fetchall()
    return [row for row in rows if row[columns.index("level")] in kept]


def deeper_outlines(country: str) -> dict[str, Any] | None:
    """Return the outlines of a country's deeper table, as TopoJSON whose ids are place_ids; None if it has none."""
    file = _file(f"{country}.topojson")
    if country not in _LEVELS or not file.is_file():
        return None
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@cache
def deeper_sources() -> Mapping[str, Any]:
    """Return the record of sources of every country that has a deeper table."""
    found: Mapping[str, Any] = json.loads(_file("sources.json").read_text(encoding="utf-8"))
    return found


def _file(name: str) -> Traversable:
    return resources.files("search_insights.spec") / "packaged" / "deeper" / name
