"""A small country whose ZIPs may straddle counties: two states, two counties each, two ZIPs each (A1x is one of A1)."""

from search_insights.spec.geography import Geography, Region, build_geography
from search_insights.spec.straddling import Straddle, Straddling

COUNTIES = ("A1", "A2", "B1", "B2")
ZIPS = tuple(f"{county}{letter}" for county in COUNTIES for letter in "xy")


def country(people: dict[str, int | None]) -> Geography:
    """Return the country with these people in its ZIPs."""
    regions = [
        _region("C", "country", None, None),
        *(_region(state, "state", "C", None) for state in "AB"),
        *(_region(county, "county", county[0], 1_000) for county in COUNTIES),
        *(_region(code, "postal_code", code[:2], people.get(code)) for code in ZIPS),
    ]
    return build_geography(regions, "country.csv")


def _region(place_id: str, level: str, parent: str | None, population: int | None) -> Region:
    return Region(place_id, place_id, level, parent, population, 10.0, None, None, place_id)


EQUAL = country(dict.fromkeys(ZIPS, 100))

# Half of A1x is in A2, and a tenth of it in the other state.
HALF_ELSEWHERE = Straddling(EQUAL, (Straddle("A1x", "A2", 0.5), Straddle("A1x", "B1", 0.1)))
