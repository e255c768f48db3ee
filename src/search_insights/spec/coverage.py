"""What a release covers: a spec applied to a geography.

This module gives each region its size class (Section 2), decides whether it is reported and why not (X3, the minimum
area). It never sees a search log.
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
        if spec.counting.rest_cells:
            _refuse_names_of_rests(self.geography)
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
        classes: dict[str | None, str | None] = {None: None}
        standings: dict[str, Standing] = {}
        hidden: set[str | None] = set()  # regions that are not reported, and all below them
        known: dict[tuple[str, str | None, str | None], Standing] = {}  # many regions have the same
        class_level, has_rests, levels = self.spec.class_level, self.spec.counting.rest_cells, self.spec.level_names
        for region in self.geography.regions:  # parents come before their children
            place_id, level, parent = region.place_id, region.level, region.parent
            # The class is that of the population at the class level; finer regions inherit their parent's.
            by_population = level == class_level and region.population is not None
            size_class = self.spec.class_of(region.population or 0) if by_population else classes[parent]
            classes[place_id] = size_class
            kind = (level, size_class, self._wrong_area(region))
            if kind not in known:
                known[kind] = self._standing(*kind)
            standing = known[kind]
            if has_rests and parent in hidden:
                # Its searches are in a rest cell, with all others of that region; so it is no part of the sum.
                standing = Standing(size_class, False, "the region above it is not reported")
            standings[place_id] = standing
            if parent in hidden or (not standing.reported and level in levels):
                hidden.add(place_id)
        return standings

    def _standing(self, level: str, size_class: str | None, wrong_area: str | None) -> Standing:
        """Return the standing of the regions of a level and size class whose land area is wrong, or is not."""
        if level == self.spec.total.level:
            return Standing(size_class, True, f"as the sum of noisy {self.spec.total.sum_of} values")
        reason = self._reason_unreported(level, size_class) or wrong_area
        return Standing(size_class, reason is None, reason or "with noise of its own")

    def _reason_unreported(self, level: str, size_class: str | None) -> str | None:
        """Return why regions of a level and size class are not reported, whatever their area; None if they are."""
        if level not in self.spec.level_names:
            return f"level {level} is not counted; its searches count at the levels above"
        if (level, size_class) not in self.spec.reported_groups:
            return f"X3: {level} regions of size class {size_class} are not reported"
        return None

    def _wrong_area(self, region: Region) -> str | None:
        """Return why a region is not reported because of its land area; None if that is right."""
        least = self.spec.min_area_km2
        if region.land_area_km2 is None:
            return "its land area is not known" if least > 0 else None
        return f"its land area is under {least:g} km2" if region.land_area_km2 < least else None


def _refuse_names_of_rests(geography: Geography) -> None:
    """Refuse a place_id that looks like that of a rest (cells.py)."""
    for region in geography.regions:
        if region.place_id.endswith("#rest"):
            raise GeographyError(f"{geography.source}: place_id {region.place_id!r} ends in #rest, as a rest's does")
