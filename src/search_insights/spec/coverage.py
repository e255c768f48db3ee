"""What a release covers: a spec applied to a geography.

This module gives each region its size class (Section 2), decides whether it is reported and why not (X3, the minimum
area), and makes the public list of cells. It never sees a search log.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from search_insights.errors import GeographyError, RowProblem
from search_insights.spec.geography import Geography, Region
from search_insights.spec.spec import Spec


class Standing(NamedTuple):
    """A region's standing in a release: its size class, whether it is reported, and the reason."""

    size_class: str | None
    reported: bool
    reason: str


class Cell(NamedTuple):
    """One count of a week: a reported region and a category, with the sigma of its noise."""

    region: Region
    category: str
    sigma: float


@dataclass(frozen=True)
class Coverage:
    """A spec and a geography that fit each other."""

    spec: Spec
    geography: Geography

    def __post_init__(self) -> None:
        spec, levels = self.spec, self.geography.levels
        known = [level for level in levels if level in spec.level_names]
        if levels[0] != spec.total.level or tuple(known) != spec.level_names:
            wanted = " > ".join((spec.total.level, *spec.level_names))
            raise GeographyError(
                f"{self.geography.source}: expected the levels {wanted} of spec {spec.name!r}; got {' > '.join(levels)}"
            )
        self._require_populations()  # now, not in the middle of a run

    def _require_populations(self) -> None:
        """Refuse a geography in which a region has no size class because nobody knows its population."""
        of_level = (r for r in self.geography.regions if r.level == self.spec.class_level)
        unknown = [r.place_id for r in of_level if r.population is None]
        if unknown:
            problems = [RowProblem("", f"region {p!r} has no population, which its size class needs") for p in unknown]
            raise GeographyError.of(self.geography.source, problems)

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """The standing of every region, by place_id."""
        classes: dict[str, str | None] = {}
        standings: dict[str, Standing] = {}
        for region in self.geography.regions:  # parents come before their children
            size_class = self._size_class(region, classes.get(region.parent or ""))
            classes[region.place_id] = size_class
            standings[region.place_id] = self._standing(region, size_class)
        return standings

    def _size_class(self, region: Region, inherited: str | None) -> str | None:
        """Return a region's class: by population at the class level; finer regions inherit their parent's."""
        if region.level != self.spec.class_level or region.population is None:
            return inherited
        return self.spec.class_of(region.population)

    def _standing(self, region: Region, size_class: str | None) -> Standing:
        reason = self._reason_unreported(region, size_class)
        if region.level == self.spec.total.level:
            return Standing(size_class, True, f"as the sum of noisy {self.spec.total.sum_of} values")
        return Standing(size_class, reason is None, reason or "with noise of its own")

    def _reason_unreported(self, region: Region, size_class: str | None) -> str | None:
        """Return why a region is not reported; None if it is."""
        spec = self.spec
        if region.level not in spec.level_names:
            return f"level {region.level} is not counted; its searches count at the levels above"
        if (region.level, size_class) not in spec.reported_groups:
            return f"X3: {region.level} regions of size class {size_class} are not reported"
        if region.land_area_km2 is None:
            return "its land area is not known" if spec.min_area_km2 > 0 else None
        if region.land_area_km2 < spec.min_area_km2:
            return f"its land area is under {spec.min_area_km2:g} km2"
        return None

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of a week: the same for every week and log, in the order of the geography and the spec."""
        spec = self.spec
        return tuple(
            Cell(region, category.id, spec.sigma(region.level, self.standings[region.place_id].size_class, category.id))
            for region in self.geography.regions
            if self.standings[region.place_id].reported and region.level != spec.total.level
            for category in spec.categories
        )
