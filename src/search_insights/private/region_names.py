"""How a search log names a region, and the number and size class that stand for it in the bounding.

A log gives the finest known region, by its code or by its place_id. A place_id is unique. A code may be that of a
county and, elsewhere, of a postal code (35013): a bare code then means the finer one, unless the publisher says which
level all bare codes belong to. A log that also uses bare codes of the coarser level is likely to be misread, so those
codes have numbers of their own, and the operator can be told that they occur.
"""

from collections import Counter
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
    """Every name that a log may use, the fixed bits of its draws, and the region of each number."""

    names: tuple[str, ...]
    region_bits: Numbers
    region_of_number: Numbers
    first_ambiguous: int

    def uses_ambiguous(self, numbers: Numbers) -> bool:
        """Return whether the log has bare codes of a level that shares codes with a finer one."""
        return bool((numbers >= self.first_ambiguous).any())


def region_names(coverage: Coverage, code_level: str | None = None) -> RegionNames:
    """Return the names of all regions that count at some level."""
    geography = coverage.geography
    by_code, ambiguous = _codes(coverage, code_level)
    numbers = dict(by_code)
    numbers |= {code: len(geography.regions) + i for i, code in enumerate(ambiguous)}
    numbers |= {geography.regions[i].place_id: i for i in _counted(coverage)}
    region_of_number = [*range(len(geography.regions)), *(by_code[code] for code in ambiguous)]
    if len(region_of_number) > 1 << NUMBER_BITS or len(coverage.spec.class_names) >= 1 << CLASS_BITS:
        raise GeographyError(
            f"{geography.source}: at most {1 << NUMBER_BITS:,} regions and {(1 << CLASS_BITS) - 1} size classes fit"
        )
    region_bits = [number | _class_bits(coverage, region_of_number[number]) for number in numbers.values()]
    return RegionNames(
        tuple(numbers), np.array(region_bits, dtype=np.int64), np.array(region_of_number), len(geography.regions)
    )


def _counted(coverage: Coverage) -> list[int]:
    """Return the indexes of the regions from the coarsest counted level down; the country itself counts nowhere."""
    levels = coverage.geography.levels
    counted = levels[levels.index(coverage.spec.level_names[0]) :]
    return [i for i, region in enumerate(coverage.geography.regions) if region.level in counted]


def _codes(coverage: Coverage, code_level: str | None) -> tuple[dict[str, int], list[str]]:
    """Return the region of each bare code: the finest that has it, or the one of `code_level` if there is one.

    Also return the codes of levels that share some with a finer level, unless `code_level` says what they mean.
    """
    regions, counted = coverage.geography.regions, _counted(coverage)
    by_code = {regions[i].code: i for i in counted}  # coarse to fine, so that the finer one wins
    if code_level is not None:
        levels = [level for level in coverage.geography.levels if any(regions[i].level == level for i in counted)]
        if code_level not in levels:
            raise InputError(f"`code_level` {code_level}: the levels are {', '.join(levels)}")
        return by_code | {regions[i].code: i for i in counted if regions[i].level == code_level}, []
    times = Counter(regions[i].code for i in counted)
    sharing = {regions[i].level for i in counted if by_code[regions[i].code] != i}
    return by_code, [code for code, i in by_code.items() if regions[i].level in sharing and times[code] == 1]


def _class_bits(coverage: Coverage, region: int) -> int:
    size_class = coverage.standings[coverage.geography.regions[region].place_id].size_class
    if size_class is None:
        return NO_CLASS
    return (coverage.spec.class_names.index(size_class) + 1) << NUMBER_BITS
