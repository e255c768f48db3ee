"""The cells of a week, numbered: the sigma of each, and the cells that a search counts in.

The list depends on the spec and the geography alone, so it is public and the same for every week. Every cell gets
noise, even a cell without events, because that hides whether there were any.

With rest cells, a region whose children are reported has one more child at their level, its *rest*: for searches of its
other children, and for those known no finer. Then the searches of a region are exactly those of its children. A rest is
never published. It stands in the list like a region, after all regions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.support.arrays import Counts, Floats, Numbers


class Cell(NamedTuple):
    """One count of a week: a region and a measure, with the sigma of its noise.

    `category` is the measure's id, which is the category's unless the spec has measures of its own.
    """

    region: Region
    category: str
    sigma: float
    size_class: str | None


@dataclass(frozen=True)
class CellList:
    """All cells of a coverage, by region and then by measure, numbered from 0."""

    coverage: Coverage

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The reported regions, each with a cell for every measure."""
        standings, total = self.coverage.standings, self.coverage.spec.total.level
        regions = self.coverage.geography.regions
        return tuple(r for r in regions if standings[r.place_id].reported and r.level != total)

    @cached_property
    def coarsest(self) -> Numbers:
        """The indexes of the regions of the coarsest level: the total is their sum, and they have top searches."""
        level = self.coverage.spec.total.sum_of
        return np.array([i for i, region in enumerate(self.regions) if region.level == level], dtype=np.int64)

    @cached_property
    def rests(self) -> tuple[Region, ...]:
        """The rest of each region that has reported children, at their level; none without rest cells."""
        if not self.coverage.spec.counting.rest_cells:
            return ()
        levels = self.coverage.spec.level_names
        parents = dict.fromkeys(self._counted_parents[r.place_id] for r in self.regions if r.level != levels[0])
        finer = dict(pairwise(levels))
        by_place_id = self.coverage.geography.by_place_id
        return tuple(_rest(by_place_id[parent], finer[by_place_id[parent].level]) for parent in parents if parent)

    @cached_property
    def nodes(self) -> tuple[Region, ...]:
        """The reported regions, and then the rests."""
        return self.regions + self.rests

    @cached_property
    def _counted_parents(self) -> dict[str, str | None]:
        """The nearest region above each reported one that is of a counted level, by place_id."""
        levels, geography = self.coverage.spec.level_names, self.coverage.geography
        return {
            region.place_id: next((r.place_id for r in geography.lineage(region) if r.level in levels[:depth]), None)
            for region in self.regions
            for depth in (levels.index(region.level),)
        }

    @cached_property
    def parents(self) -> Numbers:
        """The number of the node above each node; -1 at the coarsest level."""
        numbers = {node.place_id: i for i, node in enumerate(self.regions)}
        above = [self._counted_parents[region.place_id] for region in self.regions]
        above += [rest.parent for rest in self.rests]
        return np.array([numbers.get(parent or "", -1) for parent in above], dtype=np.int64)

    @cached_property
    def _size_classes(self) -> list[str | None]:
        """The size class whose sigmas each node takes."""
        spec, standings = self.coverage.spec, self.coverage.standings
        # A rest has the class of the region above it. One above all size classes may have any; finer ones have one.
        above = [(region.level, region.place_id) for region in self.regions]
        above += [(rest.level, rest.parent or "") for rest in self.rests]
        classed, rest_class = spec.classed_levels, spec.rest_class
        return [standings[place].size_class or rest_class if level in classed else None for level, place in above]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells in the order of their numbers."""
        measures = [measure.id for measure in self.coverage.spec.measures]
        return tuple(
            Cell(node, measure, sigma, size_class)
            for node, size_class in zip(self.nodes, self._size_classes, strict=True)
            for measure, sigma in zip(measures, self._known_sigmas[node.level, size_class], strict=True)
        )

    @cached_property
    def sigmas(self) -> Floats:
        """The sigma of each cell."""
        known = self._known_sigmas
        rows = [known[node.level, size_class] for node, size_class in zip(self.nodes, self._size_classes, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(-1)

    @cached_property
    def _known_sigmas(self) -> dict[tuple[str, str | None], tuple[float, ...]]:
        """The sigma of each measure, for the nodes of a level that take those of a size class."""
        spec = self.coverage.spec
        return {
            (level, size_class): tuple(spec.sigma(level, size_class, measure.id) for measure in spec.measures)
            for level, size_class in spec.reported_groups
        }

    def zeros(self) -> Counts:
        """Return a count of 0 for each cell."""
        return np.zeros(len(self.nodes) * len(self.coverage.spec.measures), dtype=np.int64)

    @cached_property
    def _nodes_at(self) -> dict[str, Numbers]:
        """For each level, the node of each region's ancestor there; -1 if it has none (X3, too small)."""
        levels = {level: i for i, level in enumerate(self.coverage.spec.level_names)}
        numbers = {region.place_id: i for i, region in enumerate(self.regions)}
        nodes_of: dict[str | None, list[int]] = {None: [-1] * len(levels)}
        for region in self.coverage.geography.regions:  # parents come before their children
            nodes = nodes_of[region.parent].copy()
            if region.place_id in numbers:
                nodes[levels[region.level]] = numbers[region.place_id]
            nodes_of[region.place_id] = nodes
        del nodes_of[None]
        by_level = np.array(list(nodes_of.values()), dtype=np.int64).T
        return dict(zip(levels, by_level, strict=True))

    @cached_property
    def _rest_of(self) -> Numbers:
        """The rest of each node; -1 if it has none."""
        rest_of = np.full(len(self.nodes) + 1, -1, dtype=np.int64)  # the last is that of no node, whose number is -1
        rest_of[self.parents[len(self.regions) :]] = np.arange(len(self.regions), len(self.nodes))
        return rest_of

    def first_cells(self, regions: Mapping[str, Numbers]) -> dict[str, Numbers]:
        """Return the first cell in which searches count at each level; -1 where they count in none.

        `regions` are those that the log gives for each level, at that level or not, by their index in the geography;
        with rests, for all levels from the coarsest on. A node that does not lie in the node of the level above is left
        out, so that the hierarchy stays exact: the search then counts in the rest.
        """
        found: dict[str, Numbers] = {}
        above: Numbers | None = None
        for level, given in regions.items():
            nodes = np.where(given >= 0, self._nodes_at[level][given], -1)
            if self.rests and above is not None:
                inside = (nodes >= 0) & (self.parents[nodes] == above)
                nodes = np.where(inside, nodes, self._rest_of[above])
            found[level] = np.where(nodes >= 0, nodes * len(self.coverage.spec.measures), -1)
            above = nodes
        return found


def _rest(parent: Region, level: str) -> Region:
    """Return what stands for the rest of a region at the level below it."""
    name = f"rest of {parent.name}"
    return Region("", name, level, parent.place_id, None, None, None, None, f"{parent.place_id}#rest")
