"""The cells of a week, numbered: the sigma of each, and the cells that a region counts in.

The list depends on the spec and the geography alone, so it is public and the same for every week. Every cell of every
reported region gets noise, even a cell without events, because that hides whether there were any.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from search_insights.spec.coverage import Cell, Coverage
from search_insights.spec.geography import Region
from search_insights.support.arrays import Counts, Floats, Numbers


@dataclass(frozen=True)
class CellList:
    """All cells of a coverage, by region and then by category, numbered from 0."""

    coverage: Coverage

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in the order of their numbers."""
        return self.coverage.cells

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The reported regions, each with a cell for every category."""
        return tuple(cell.region for cell in self.cells[:: len(self.coverage.spec.categories)])

    @cached_property
    def sigmas(self) -> Floats:
        """The sigma of each cell."""
        return np.array([cell.sigma for cell in self.cells], dtype=np.float64)

    def zeros(self) -> Counts:
        """Return a count of 0 for each cell."""
        return np.zeros(len(self.cells), dtype=np.int64)

    @cached_property
    def _first_cell(self) -> dict[str, int]:
        """The number of each reported region's first cell, by place_id."""
        step = len(self.coverage.spec.categories)
        return {region.place_id: i * step for i, region in enumerate(self.regions)}

    @cached_property
    def cells_above(self) -> dict[str, Numbers]:
        """For each level, the first cell of each region's ancestor there; -1 if it has none (X3, too small)."""
        spec, geography = self.coverage.spec, self.coverage.geography
        above = {level: np.full(len(geography.regions), -1, dtype=np.int64) for level in spec.level_names}
        for number, region in enumerate(geography.regions):
            for place in geography.lineage(region):
                if place.place_id in self._first_cell:
                    above[place.level][number] = self._first_cell[place.place_id]
        return above
