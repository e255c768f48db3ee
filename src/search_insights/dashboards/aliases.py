"""Other names of places that people type: abbreviations, and cities whose county has another name.

The packaged table, aliases.csv, is public knowledge, tied to place_ids; it holds those of the United States. A region
may have several aliases, and an alias several regions.
"""

import csv
from collections.abc import Sequence
from importlib import resources

from search_insights.spec.geography import Region


def packaged_aliases() -> list[tuple[str, str]]:
    """Return each alias with the place_id of a region."""
    text = (resources.files("search_insights.dashboards") / "aliases.csv").read_text(encoding="utf-8")
    return [(row["alias"], row["place_id"]) for row in csv.DictReader(text.splitlines())]


def aliases_of(regions: Sequence[Region]) -> list[tuple[str, int]]:
    """Return each alias with the number of a region, for the regions that a dashboard has."""
    number_of = {region.place_id: number for number, region in enumerate(regions)}
    return [(alias, number_of[place]) for alias, place in packaged_aliases() if place in number_of]
