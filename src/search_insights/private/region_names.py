"""How a search log names regions, and the place that stands for them in the bounding.

Most logs have one column, `region`: the finest region known, by its code or by its place_id. A place_id is unique. A
code is unique within its level only: 35013 is a county, and elsewhere a postal code; and 04013 is a county, and a
postal code that the table does not have. So a bare code of a level that shares codes with a finer one is ambiguous. A
log that uses one is refused, unless the publisher says which level all bare codes belong to; then a code that this
level does not have is unknown.

Other logs have a column for each of several levels. A search then counts at each of these levels in the region that its
column names, although a postal code may extend into more counties than the one that the geography puts it in. Where a
level has no column, or the column is empty, the region is that above the nearest finer one that the search names. Where
the column has a name that is not in the table, the search does not count at that level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, takewhile
from typing import Any

import numpy as np

from search_insights.errors import GeographyError, InputError
from search_insights.private.log import LogSource
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.support.arrays import Numbers

# The layout of a draw, from the low end: size class, place, random bits, and three bits that put some events first:
# NO_TOPIC is set if a search is not about a topic, UNREPORTED if its region at the finest classed level is not
# reported, NO_CLASS if its regions have no size class. bounding.sql relies on it. A place consists of one number for
# each column that names regions; 0 is no region.
# A draw has 63 bits, because not every engine has unsigned integers.
CLASS_BITS = 4
CLASS_MASK = (1 << CLASS_BITS) - 1
NO_TOPIC = 1 << 60
UNREPORTED = 1 << 61
NO_CLASS = 1 << 62
_MIN_RANDOM_BITS = 16  # two of a user's events tie, and the lesser place wins, once in 65,536 pairs at most


@dataclass(frozen=True)
class NameColumn:
    """A column of the log that names regions, and the bits of a draw that each name stands for.

    A number n is the region `first + n` of the geography. The number `no_region` stands for a name that means none: an
    ambiguous code or, if the log has a column for each level, a name that is not in the table. `unreported` is the bit
    of a name without a reported region at the finest classed level; 0 in a column that does not decide about it, and
    where a user-day has one place.
    """

    role: str
    log_column: str  # in the view `log`
    names: tuple[str | None, ...]
    bits: Numbers
    first: int
    no_region: int
    shift: int
    unreported: int

    @property
    def table(self) -> str:
        """The table of its names, with their bits."""
        return self.log_column.replace("region", "names")

    @property
    def mask(self) -> int:
        """The bits of its number in a place."""
        return (1 << self.no_region.bit_length()) - 1

    @property
    def has_classes(self) -> bool:
        """Whether its regions have size classes."""
        return bool((self.bits & CLASS_MASK).any())

    def numbers(self, places: Numbers) -> Numbers:
        """Return its number in each place."""
        return places >> self.shift & self.mask

    def regions(self, places: Numbers) -> Numbers:
        """Return the region of each place, as its index in the geography; -1 for none."""
        numbers = self.numbers(places)
        return np.where((numbers > 0) & (numbers < self.no_region), self.first + numbers, -1)


@dataclass(frozen=True)
class RegionNames:
    """The columns that name regions, from coarse to fine, and the levels that share codes with others.

    `country` are the names of the country itself, which counts at no level.
    """

    columns: tuple[NameColumn, ...]
    levels: tuple[str, ...]
    country: tuple[str, ...]
    sharing: tuple[str, ...] = ()

    @property
    def by_level(self) -> bool:
        """Whether the log has columns of levels."""
        return self.columns[0].log_column != "region"

    @property
    def place_bits(self) -> int:
        """The length of a place."""
        return self.columns[-1].shift + self.columns[-1].no_region.bit_length()

    @cached_property
    def _columns_for(self) -> dict[str, tuple[NameColumn, ...]]:
        """For each level its own column and those of finer levels that it may be derived from, the nearest first."""
        if not self.by_level:
            return dict.fromkeys(self.levels, self.columns)
        own = {column.role: column for column in self.columns}
        finer = {level: self.levels[i:] for i, level in enumerate(self.levels)}
        return {level: tuple(own[each] for each in finer[level] if each in own) for level in self.levels}

    def regions_for(self, level: str, places: Numbers) -> Numbers:
        """Return the regions, at a level or below it, in which places count at that level; -1 for none."""
        found = np.full(places.shape, -1, dtype=np.int64)
        derived = np.ones(places.shape, dtype=np.bool_)
        for column in self._columns_for[level]:
            found = np.where(derived & (found < 0), column.regions(places), found)
            if column.role == level:
                derived = column.numbers(places) == 0
        return found


def region_names(coverage: Coverage, source: LogSource | None = None) -> RegionNames:
    """Return the names of all regions that count at some level, for the columns and the code level of a log."""
    source = source or LogSource(())
    code_level, country = source.code_level, coverage.geography.country
    levels, of_country = coverage.spec.level_names, (country.code, country.place_id)
    if len(coverage.spec.class_names) >= 1 << CLASS_BITS:
        raise GeographyError(
            f"{coverage.geography.source}: at most {(1 << CLASS_BITS) - 1} size classes fit, not "
            f"{len(coverage.spec.class_names)}"
        )
    if source.level_columns:
        names = RegionNames(_level_columns(coverage, source), levels, of_country)
    else:
        sharing, coarser = ((), ()) if code_level else _sharing_levels(coverage)
        numbers = _names_at(coverage, code_level) if code_level else _names(coverage, coarser)
        column = _column(coverage, "region", "region", numbers, 0, len(coverage.geography.regions), 0)
        alone = replace(column, bits=np.where(column.bits & CLASS_MASK, column.bits, column.bits | NO_CLASS))
        names = RegionNames((alone,), levels, of_country, sharing)
    if names.place_bits + _MIN_RANDOM_BITS > NO_TOPIC.bit_length() - 1 - CLASS_BITS:
        raise GeographyError(f"{coverage.geography.source}: too many regions for a draw")
    return names


def _level_columns(coverage: Coverage, source: LogSource) -> tuple[NameColumn, ...]:
    """Return the columns of levels, from coarse to fine; the codes in such a column are of its level."""
    levels, regions = coverage.spec.level_names, coverage.geography.regions
    if unknown := [role for role in source.level_columns if role not in levels]:
        raise InputError(
            f"`columns` {unknown[0]}: a log gives one column region, or columns of levels: {', '.join(levels)}"
        )
    if source.code_level:
        raise InputError(f"`code_level` {source.code_level}: a column of a level has codes of that level; leave it out")
    columns: list[NameColumn] = []
    for level in (level for level in levels if level in source.places):
        own = [i for i, region in enumerate(regions) if region.level == level]
        first = own[0] - 1
        numbers: dict[str | None, int] = {regions[i].code: i - first for i in own}
        numbers |= {regions[i].place_id: i - first for i in own}
        numbers[None] = 0  # an empty value, which is not an unknown one
        shift = columns[-1].shift + columns[-1].no_region.bit_length() if columns else 0
        columns.append(_column(coverage, level, source.places[level], numbers, first, len(own) + 1, shift))
    return tuple(columns)


def _column(
    coverage: Coverage, role: str, log_column: str, numbers: Mapping[Any, int], first: int, no_region: int, shift: int
) -> NameColumn:
    """Return a column whose names have these numbers, with the bits of their draws."""
    decides = not coverage.spec.has_one_place and role in ("region", *coverage.spec.classed_levels[-1:])
    unreported = UNREPORTED if decides else 0
    of_name = np.fromiter(numbers.values(), dtype=np.int64, count=len(numbers))
    is_region = (of_name > 0) & (of_name < no_region)
    of_region = _bits_of_regions(coverage, unreported)[np.where(is_region, first + of_name, 0)]
    bits = of_name << (shift + CLASS_BITS) | np.where(is_region, of_region, unreported)
    return NameColumn(role, log_column, tuple(numbers), bits, first, no_region, shift, unreported)


def _counted(coverage: Coverage) -> tuple[int, tuple[Region, ...]]:
    """Return the regions from the coarsest counted level down, and the index of the first; the country is none."""
    levels, regions = coverage.geography.levels, coverage.geography.regions
    above = levels[: levels.index(coverage.spec.level_names[0])]
    first = sum(1 for _ in takewhile(lambda region: region.level in above, regions))  # they come level by level
    return first, regions[first:]


def _names_at(coverage: Coverage, code_level: str) -> dict[str, int]:
    """Return the region of each name if all bare codes belong to a level; a place_id that is only the code is one."""
    first, regions = _counted(coverage)
    levels = dict.fromkeys(region.level for region in regions)
    if code_level not in levels:
        raise InputError(f"`code_level` {code_level}: the levels are {', '.join(levels)}")
    place_ids = {region.place_id: i for i, region in enumerate(regions, first) if region.place_id != region.code}
    return place_ids | {region.code: i for i, region in enumerate(regions, first) if region.level == code_level}


def _names(coverage: Coverage, ambiguous_levels: Sequence[str]) -> dict[str, int]:
    """Return the region of each name; bare codes of ambiguous levels have a number that stands for no region."""
    first, regions = _counted(coverage)
    names = {region.code: i for i, region in enumerate(regions, first)}
    names |= {region.place_id: i for i, region in enumerate(regions, first)}
    no_region = first + len(regions)
    return names | {region.code: no_region for region in regions if region.level in ambiguous_levels}


def _sharing_levels(coverage: Coverage) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the levels that share codes with others, from coarse to fine, and those that do with a finer one.

    Codes of the latter are ambiguous: each may be one of the finer level, even if the table does not have it there.
    """
    levels = coverage.geography.levels
    codes: dict[str, set[str]] = {level: set() for level in levels}
    for region in _counted(coverage)[1]:
        codes[region.level].add(region.code)
    pairs = [pair for pair in combinations(levels, 2) if not codes[pair[0]].isdisjoint(codes[pair[1]])]
    coarser, finer = ({pair[side] for pair in pairs} for side in (0, 1))
    return tuple(x for x in levels if x in coarser | finer), tuple(x for x in levels if x in coarser)


def _bits_of_regions(coverage: Coverage, unreported: int) -> Numbers:
    """Return for each region the number of its size class, 0 if it has none, and whether it lies in no reported one.

    A region lies in a reported one if it, or one above it, is reported at the finest classed level.
    """
    finest, standings = coverage.spec.classed_levels[-1:], coverage.standings
    numbers = {None: 0} | {name: i for i, name in enumerate(coverage.spec.class_names, start=1)}
    lies_in_reported: set[str | None] = set()
    bits: list[int] = []
    for region in coverage.geography.regions:  # parents come before their children
        size_class, reported, _ = standings[region.place_id]
        if region.parent in lies_in_reported or (reported and region.level in finest):
            lies_in_reported.add(region.place_id)
        bits.append(numbers[size_class] | (0 if region.place_id in lies_in_reported else unreported))
    return np.array(bits, dtype=np.int64)
