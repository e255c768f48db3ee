"""`straddling.json`: how much of each region's count comes from elsewhere, if the log names finer regions only.

The store does not record by which columns of a log regions were read, so the file says on what condition it applies.
Everything in it is public: it follows from the geography and its straddling table, and from nothing in the log.
"""

from typing import Any

from search_insights.spec.coverage import Coverage
from search_insights.spec.straddling import Straddling

_DIGITS = 4


def straddling_summary(straddling: Straddling) -> dict[str, Any]:
    """Return what `datapackage.json` says about straddling regions."""
    level, people = straddling.level, sum(straddling.people.values())
    return {
        "path": "straddling.json",
        "level": level,
        "regions": len(straddling.also_in),
        "share_of_people": round(straddling.people_elsewhere / people, _DIGITS) if people else 0.0,
        "meaning": (
            f"Some {level} regions extend into more than one region above. A search that a log gives by its {level} "
            "only is counted above it where most of the addresses are; share_of_people live elsewhere. straddling.json "
            "has the shares by region. Searches whose regions above are columns of the log are counted where they were "
            "made."
        ),
    }


def straddling_json(straddling: Straddling, coverage: Coverage) -> dict[str, Any]:
    """Return the shares of every reported region that is affected."""
    rounded = {
        place: {name: round(share, _DIGITS) for name, share in exchange._asdict().items()}
        for place, exchange in straddling.exchanges.items()
        if coverage.standings[place].reported
    }
    return {
        "level": straddling.level,
        "applies_if": f"the log names {straddling.level} regions, and has no columns for the levels above",
        "from_elsewhere": "the share of the people counted in a region who live in another",
        "counted_elsewhere": "the share of the people of a region who are counted in another",
        "regions": {place: shares for place, shares in rounded.items() if any(shares.values())},
    }
