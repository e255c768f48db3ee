"""Where simulated people can be: in the regions of the geography, or in the pieces of those that straddle others.

Without a straddling table, places are the regions. With one, a ZIP that extends into other counties has a piece in
each of them, with its share of the people. A person lives in a piece, and so in one county: the piece is that county's
child, and a log writes it as the ZIP.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography
from search_insights.spec.straddling import Straddling

_OTHER_COLUMNS = ("user_id", "timestamp", "region", "category", "query")


@dataclass(frozen=True)
class Places:
    """The places: the regions of a geography in their order, then the pieces of regions.

    tree         a geography whose regions are the places
    region       for each place the number of its region in the original geography
    straddling   whether there are pieces, so that a log needs a column for each level
    """

    tree: Geography
    region: npt.NDArray[np.int32]
    straddling: bool = False


def places_of(coverage: Coverage, straddling: Straddling | None) -> Places:
    """Return the places of a geography, with the pieces of its straddling regions if their table is given."""
    geography = coverage.geography
    whole = np.arange(len(geography.regions), dtype=np.int32)
    if straddling is None:
        return Places(geography, whole)
    require_usable(coverage, straddling)
    number = {region.place_id: i for i, region in enumerate(geography.regions)}
    regions, also_in, people = list(geography.regions), straddling.also_in, straddling.people
    for place, others in also_in.items():
        inside = people[place] * max(0.0, 1 - sum(others.values()))
        regions[number[place]] = regions[number[place]]._replace(population=round(inside))
    pieces = [
        regions[number[row.place_id]]._replace(parent=row.also_in, place_id=f"{row.place_id} in {row.also_in}")
        for row in straddling.rows
    ]
    sizes = [round(people[row.place_id] * row.share) for row in straddling.rows]
    regions += [piece._replace(population=size) for piece, size in zip(pieces, sizes, strict=True)]
    of_pieces = np.array([number[row.place_id] for row in straddling.rows], dtype=np.int32)
    return Places(replace(geography, regions=tuple(regions)), np.concatenate([whole, of_pieces]), straddling=True)


def require_usable(coverage: Coverage, straddling: Straddling) -> None:
    """Refuse a table without rows or above the finest level, and levels named like other columns of the log."""
    geography, levels = coverage.geography, coverage.spec.level_names
    if not straddling.rows:
        raise InputError(f"`straddling`: the geography {geography.source} has no straddling table; give one")
    if straddling.level != geography.levels[-1]:
        raise InputError(
            f"`straddling`: its regions are of level {straddling.level}; people live in regions of the finest level, "
            f"{geography.levels[-1]}"
        )
    if taken := [level for level in levels if level in _OTHER_COLUMNS]:
        raise InputError(f"`straddling`: the log needs a column for level {taken[0]}, and has one of that name already")


def level_codes(places: Places, level: str) -> Sequence[str | None]:
    """Return what the log writes in the column of a level for each place; None if the place is above the level."""
    codes: dict[str, str | None] = {}
    for place in places.tree.regions:  # parents come before their children
        codes[place.place_id] = place.code if place.level == level else codes.get(place.parent or "")
    return list(codes.values())
