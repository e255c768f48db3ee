"""Where a packaged geography comes from, so that a dataset and its site can say so: some sources ask for it."""

import json
from importlib import resources

from search_insights.spec import world
from search_insights.spec.geography import Geography
from search_insights.spec.straddling import is_packaged_us


def attribution(geography: Geography) -> tuple[str, ...]:
    """Return a line for each source of a packaged geography: what it is, and its licence; none for any other table.

    A packaged country is known by its place_id: its names are still the packaged ones if a publisher adds populations.
    """
    if world.code_of(geography.country.place_id):
        return _lines("world")
    return _lines("us") if is_packaged_us(geography) else ()


def _lines(name: str) -> tuple[str, ...]:
    packaged = resources.files("search_insights.spec") / "packaged" / f"{name}_sources.json"
    sources = json.loads(packaged.read_text(encoding="utf-8"))["sources"]
    return tuple(dict.fromkeys(f"{source['origin']}. {source['licence']}." for source in sources))
