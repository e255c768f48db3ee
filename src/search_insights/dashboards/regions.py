"""The regions of a dashboard: those of a known geography, or those that the dataset's own rows name.

A known geography also has the regions without any value. With the release's spec it is known why a value is missing:
the region is never reported, or it is reported and there was not enough data. Geography and spec are public; nothing
here comes from a log.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from search_insights.dashboards.facts import Fact, level, say
from search_insights.dashboards.phrases import fact_of
from search_insights.dashboards.region_table import Listed, listed_regions, located
from search_insights.dashboards.values import distinct_places
from search_insights.dataset.folder import REGIONS, SPARSE, Dataset
from search_insights.errors import InputError
from search_insights.spec import world
from search_insights.spec.coverage import Coverage, Standing
from search_insights.spec.geography import PACKAGED_GEOGRAPHY, Geography, Region, build_geography, load_geography
from search_insights.spec.spec import Spec


@dataclass(frozen=True)
class Places:
    """The regions in the order of their numbers, and why some are never reported; None if that is not known.

    `listed` is what the dataset's own table says of them.
    """

    geography: Geography
    not_reported: dict[str, Fact] | None = None
    listed: tuple[Listed, ...] = ()

    @property
    def regions(self) -> tuple[Region, ...]:
        """Return the regions: the country first, then level by level."""
        return self.geography.regions


def find_places(dataset: Dataset, geographies: Sequence[Geography], specs: Sequence[Spec]) -> Places:
    """Return the known geography of the dataset's country, or that of its own table, or one made from its rows.

    Over several editions a dataset has more regions than any one geography.
    """
    rows, listed = distinct_places(dataset), listed_regions(dataset)
    ids = {str(row["place_id"]) for row in rows}
    countries = {str(row["place_id"]) for row in rows if row["level"] == dataset.levels[0]}
    packaged = _packaged(countries, ids)
    for geography in (*geographies, packaged):
        if geography.country.place_id not in countries:
            continue
        unknown = sorted(ids - geography.by_place_id.keys())
        if not unknown:
            known = _not_reported(dataset, geography, specs)
            return Places(geography, _listed_reasons(listed) if known is None else known, listed)
        ended = {each.region.place_id for each in listed if each.last_week != dataset.weeks[-1]}
        unknown = [place for place in unknown if place not in ended]  # of earlier editions
        if geography is not packaged and unknown:
            raise InputError(
                f"{geography.source}: has no region {unknown[0]!r}, which {dataset.folder} has; "
                "give the geography that the dataset was made with"
            )
    if listed and ids <= {each.region.place_id for each in listed}:
        geography = build_geography(located(listed, (*geographies, packaged)), str(dataset.folder / REGIONS))
        return Places(geography, _listed_reasons(listed), listed)
    return Places(build_geography(_regions_of_rows(dataset, rows), str(dataset.folder)), listed=listed)


def _packaged(countries: Iterable[str], ids: Collection[str]) -> Geography:
    """Return the packaged geography of a country; that of the United States if no other has its place_id.

    Of several, the one of level 1 if it has all regions of the dataset; else the one that has most of them.
    """
    names = [name for country in sorted(countries) for name in world.tables_with(country)]
    found = [load_geography(name) for name in names or [PACKAGED_GEOGRAPHY]]
    return max(found, key=lambda geography: len(geography.by_place_id.keys() & ids))


def _listed_reasons(listed: Sequence[Listed]) -> dict[str, Fact] | None:
    """Return why regions are not reported by the dataset's own table; None if it has none."""
    return {each.region.place_id: fact_of(each.why_not) for each in listed if _never(each)} if listed else None


def _never(listed: Listed) -> bool:
    """Return whether a region is not reported in any week, for a reason other than that it has too little data."""
    return bool(listed.why_not) and listed.why_not != SPARSE and listed.first_week is None


def _not_reported(dataset: Dataset, geography: Geography, specs: Sequence[Spec]) -> dict[str, Fact] | None:
    fingerprint = dataset.package.get("spec", {}).get("fingerprint")
    for spec in specs:
        if spec.fingerprint == fingerprint:
            coverage = Coverage(spec, geography)
            why = cache(partial(_why, spec))  # many regions have the same
            standings = coverage.standings
            return {
                region.place_id: why(region.level, standings[region.place_id])
                for region in geography.regions
                if not standings[region.place_id].reported
            }
    return None


def _why(spec: Spec, name: str, standing: Standing) -> Fact:
    """Explain why regions of a level are not reported, for readers who do not know the paper."""
    if name in spec.level_names and (name, standing.size_class) not in spec.reported_groups:
        return _too_small(spec, name, standing.size_class)
    return fact_of(standing.reason)


def _too_small(spec: Spec, name: str, size_class: str | None) -> Fact:
    """Say that regions of a level and size class are never reported, if possible by how many people live there."""
    size = next(c for c in spec.size_classes if c.name == size_class)
    if size.max_population is None:
        return say("why_class", level=level(name), size=size.name)
    people = size.max_population + 1
    if name == spec.class_level:
        return say("why_small", level=level(name), people=people)
    return say("why_small_parent", level=level(name), parent=level(str(spec.class_level)), people=people)


def level_label(name: str) -> str:
    """Return the name of a level as it is shown to readers whose language has no other for it."""
    return name.replace("_", " ")


def _regions_of_rows(dataset: Dataset, rows: list[dict[str, str | None]]) -> list[Region]:
    """Return the regions that the rows name, with their parents.

    A parent is identified by its path of names from the country: a row may lack a parent's code, but never its name. A
    parent without a row of its own gets a made-up place_id.
    """
    depth_of = {level: depth for depth, level in enumerate(dataset.levels)}
    nameless = _levels_without_names(rows, depth_of)
    made: list[Region] = []
    id_of: dict[tuple[str, ...], str] = {}
    for row in sorted(rows, key=lambda row: depth_of[str(row["level"])]):
        names = _names(row, depth_of[str(row["level"])])
        for depth in range(len(names) - 1):
            path = names[: depth + 1]
            if path not in id_of:
                id_of[path] = "/".join(("region", *path))
                code = row.get(f"sub_region_{depth}_code") if depth else row["country_region_code"]
                made.append(_region(code or "/".join(path), path[-1], dataset.levels[depth], id_of, path))
        place_id, code = str(row["place_id"]), str(row["code"])
        id_of.setdefault(names, place_id)
        name = code if row["level"] in nameless else names[-1]
        made.append(_region(code, name, str(row["level"]), id_of, names, place_id))
    return made


def _levels_without_names(rows: list[dict[str, str | None]], depth_of: dict[str, int]) -> set[str]:
    """Return the levels whose regions all have the same name, like the original's `postal_code`."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        names[str(row["level"])].append(_names(row, depth_of[str(row["level"])])[-1])
    return {level for level, given in names.items() if len(given) > 1 and len(set(given)) == 1}


def _names(row: dict[str, str | None], depth: int) -> tuple[str, ...]:
    below = (row[f"sub_region_{here}"] for here in range(1, depth + 1))
    return tuple(str(name) for name in (row["country_region"], *below))


def _region(
    code: str, name: str, level: str, id_of: dict[tuple[str, ...], str], path: tuple[str, ...], own: str | None = None
) -> Region:
    return Region(code, name, level, id_of.get(path[:-1]), None, None, None, None, own or id_of[path])
