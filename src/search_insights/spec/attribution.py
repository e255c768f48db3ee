"""Where a packaged geography comes from, so that a dataset and its site can say so: some sources ask for it."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from search_insights.spec import world
from search_insights.spec.deeper import deeper_sources
from search_insights.spec.geography import Geography
from search_insights.spec.straddling import is_packaged_us

# By country, the beginning of the place_ids that only its deeper table has.
_DEEPER_IDS = {"CA": ("fsa/",), "GB": ("ons/", "iso/GB-"), "NZ": ("statsnz/",)}


def attribution(geography: Geography) -> tuple[str, ...]:
    """Return a line for each source of a packaged geography: what it is, and its licence; none for any other table.

    A packaged country is known by its place_ids: its names are still the packaged ones if a publisher adds populations.
    """
    country = geography.country.place_id.removeprefix("iso/")
    if any(region.place_id.startswith(_DEEPER_IDS.get(country, ())) for region in geography.regions):
        return _lines(deeper_sources()[country]["sources"])
    if world.code_of(geography.country.place_id):
        return _lines(_record("world"))
    return _lines(_record("us")) if is_packaged_us(geography) else ()


def _record(name: str) -> Iterable[Mapping[str, Any]]:
    packaged = resources.files("search_insights.spec") / "packaged" / f"{name}_sources.json"
    sources: list[Mapping[str, Any]] = json.loads(packaged.read_text(encoding="utf-8"))["sources"]
    return sources


def _lines(sources: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{source['origin']}. {source['licence']}." for source in sources))
