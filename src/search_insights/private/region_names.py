"""How a search log names a region, and the number and size class that stand for it in the bounding.

A log gives the finest known region, by its code or by its place_id. A place_id is unique. A code is unique within its
level only: 35013 is a county, and elsewhere a postal code; and 04013 is a county, and a postal code that the table does
not have. So a bare code of a level that shares codes with a finer one is ambiguous. A log that uses one is refused,
unless the publisher says which level all bare codes belong to; then a code that this level does not have is unknown.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search_insights.errors import GeographyError, InputError
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Numbers

# The layout of a draw, from the low end: number, size class, random bits, and two bits that put some events first:
# NO_TOPIC is set if a search is not about a topic, NO_CLASS if its region has no size class. bounding.sql relies on it.
# A draw has 63 bits, because not every engine has unsigned integers.
NUMBER_BITS = 20
CLASS_BITS = 4
NO_TOPIC = 1 << 61
NO_CLASS = 1 << 62


@dataclass(frozen=True)
class RegionNames:
    """Every name that a log may use, and the fixed bits of its draws.

    The number of a region is its index in the geography. One number more, `ambiguous`, stands for all ambiguous codes;
    `sharing` are the levels that share codes with others.
    """

    names: tuple[str, ...]
    region_bits: Numbers
    ambiguous: int
    sharing: tuple[str, ...] = ()


def region_names(coverage: Coverage, code_level: str | None = None) -> RegionNames:
    """Return the names of all regions that count at some level."""
    ambiguous = len(coverage.geography.regions)
    if ambiguous >= 1 << NUMBER_BITS or len(coverage.spec.class_names) >= 1 << CLASS_BITS:
        raise GeographyError(
            f"{coverage.geography.source}: at most {(1 << NUMBER_BITS) - 1:,} regions and {(1 << CLASS_BITS) - 1} "
            "size classes fit"
        )
    sharing, coarser = ((), ()) if code_level else _sharing_levels(coverage)
    numbers = _names_at(coverage, code_level) if code_level else _names(coverage, coarser)
    region_bits = [
        number | (NO_CLASS if number == ambiguous else _class_bits(coverage, number)) for number in numbers.values()
    ]
    return RegionNames(tuple(numbers), np.array(region_bits, dtype=np.int64), ambiguous, sharing)


def _counted(coverage: Coverage) -> list[int]:
    """Return the indexes of the regions from the coarsest counted level down; the country itself counts nowhere."""
    levels = coverage.geography.levels
    counted = levels[levels.index(coverage.spec.level_names[0]) :]
    return [i for i, region in enumerate(coverage.geography.regions) if region.level in counted]


def _names_at(coverage: Coverage, code_level: str) -> dict[str, int]:
    """Return the region of each name if all bare codes belong to a level; a place_id that is only the code is one."""
    regions, counted = coverage.geography.regions, _counted(coverage)
    levels = dict.fromkeys(regions[i].level for i in counted)
    if code_level not in levels:
        raise InputError(f"`code_level` {code_level}: the levels are {', '.join(levels)}")
    place_ids = {regions[i].place_id: i for i in counted if regions[i].place_id != regions[i].code}
    return place_ids | {regions[i].code: i for i in counted if regions[i].level == code_level}


def _names(coverage: Coverage, ambiguous_levels: Sequence[str]) -> dict[str, int]:
    """Return the region of each name; bare codes of ambiguous levels have a number that stands for no region."""
    regions, counted = coverage.geography.regions, _counted(coverage)
    names = {regions[i].code: i for i in counted} | {regions[i].place_id: i for i in counted}
    return names | {regions[i].code: len(regions) for i in counted if regions[i].level in ambiguous_levels}


def _sharing_levels(coverage: Coverage) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the levels that share codes with others, from coarse to fine, and those that do with a finer one.

    Codes of the latter are ambiguous: each may be one of the finer level, even if the table does not have it there.
    """
    levels = coverage.geography.levels
    levels_of: dict[str, set[str]] = defaultdict(set)
    for i in _counted(coverage):
        region = coverage.geography.regions[i]
        levels_of[region.code].add(region.level)
    shared = [sorted(found, key=levels.index) for found in levels_of.values() if len(found) > 1]
    sharing, coarser = (
        {level for found in shared for level in found},
        {level for found in shared for level in found[:-1]},
    )
    return tuple(filter(sharing.__contains__, levels)), tuple(filter(coarser.__contains__, levels))


def _class_bits(coverage: Coverage, region: int) -> int:
    size_class = coverage.standings[coverage.geography.regions[region].place_id].size_class
    if size_class is None:
        return NO_CLASS
    return (coverage.spec.class_names.index(size_class) + 1) << NUMBER_BITS
