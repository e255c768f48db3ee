"""`regions.csv` of a dataset: its regions, why some are not reported, when they begin and end, and who follows them.

The folder may come from anyone, so every text and number is checked before anything is made from it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from search_insights.dataset.folder import Dataset, TableFile, csv_table
from search_insights.errors import InputError
from search_insights.spec.geography import Geography, Region, require_publishable
from search_insights.support.sql import public_tables

if TYPE_CHECKING:
    from search_insights.dashboards.regions import Places

_COLUMNS = (
    *("place_id", "code", "name", "level", "parent", "population", "land_area_km2"),
    *("reported", "why_not", "first_week", "last_week", "succeeded_by"),
)
_MOST_REGIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A region as the table has it; weeks are None for one that is never reported."""

    region: Region
    why_not: str  # empty if it is reported
    first_week: date | None
    last_week: date | None
    succeeded_by: tuple[str, ...]


def listed_regions(dataset: Dataset) -> tuple[Listed, ...]:
    """Return the regions that a dataset lists; none for a dataset of an earlier version, which has no such table."""
    table = dataset.regions
    if table is None:
        return ()
    rows = _rows(table)
    _require_publishable(rows, table)
    return tuple(_listed(dict(zip(_COLUMNS, row, strict=True)), table) for row in rows)


def _rows(table: TableFile) -> list[tuple[str | None, ...]]:
    import duckdb

    sql = f"SELECT {', '.join(_COLUMNS)} FROM {csv_table(table.path)} LIMIT {_MOST_REGIONS}"
    try:
        with public_tables() as connection:
            return connection.execute(sql).fetchall()
    except (duckdb.Error, UnicodeError):
        raise _unreadable(table) from None


def _unreadable(table: TableFile) -> InputError:
    return InputError(f"{table.path}: cannot be read as a table of regions; publish the dataset again")


def _require_publishable(rows: Sequence[tuple[str | None, ...]], table: TableFile) -> None:
    """Refuse a text that must not be published; one that many regions have is looked at once."""
    for column in ("place_id", "code", "name", "level", "why_not"):
        number = _COLUMNS.index(column)
        for text in dict.fromkeys(row[number] for row in rows):
            if text or column != "why_not":
                require_publishable(text or "", column, table.path)


def _listed(row: Mapping[str, str | None], table: TableFile) -> Listed:
    try:
        first, last = (_week(text) if (text := row[c]) else None for c in ("first_week", "last_week"))
        region = Region(
            code=str(row["code"]),
            name=str(row["name"]),
            level=str(row["level"]),
            parent=row["parent"] or None,
            population=int(text) if (text := row["population"]) else None,
            land_area_km2=float(text) if (text := row["land_area_km2"]) else None,
            latitude=None,
            longitude=None,
            place_id=str(row["place_id"]),
        )
        return Listed(region, row["why_not"] or "", first, last, _names(row["succeeded_by"]))
    except (ValueError, TypeError):
        raise _unreadable(table) from None


_week = lru_cache(date.fromisoformat)  # nearly all regions have the same


def _names(text: str | None) -> tuple[str, ...]:
    names = json.loads(text) if text else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError
    return tuple(names)


def located(listed: Sequence[Listed], geographies: Sequence[Geography]) -> list[Region]:
    """Return the regions, each at the place that a known geography gives it.

    A region that ended may have had the code of one that is there now; its own then says until when.
    """
    known = {place: region for geography in reversed(geographies) for place, region in geography.by_place_id.items()}
    codes: set[tuple[str, str]] = set()
    regions = []
    for each in listed:  # the present ones come first
        region, at = each.region, known.get(each.region.place_id)
        if (region.level, region.code) in codes:
            region = region._replace(code=f"{region.code} (until {each.last_week})")
        codes.add((region.level, region.code))
        regions.append(region._replace(latitude=at.latitude, longitude=at.longitude) if at else region)
    return regions


def lives(listed: Sequence[Listed], dataset: Dataset, places: "Places") -> list[list[object]]:
    """Return the regions that do not live through all weeks, or that others follow.

    Each as its number, the numbers of its first and last week, and the numbers of the regions that follow it.
    """
    number_of = {region.place_id: number for number, region in enumerate(places.regions)}
    week_of = {week: number for number, week in enumerate(dataset.weeks)}
    found: list[list[object]] = []
    for each in listed:
        number = number_of.get(each.region.place_id)
        span = [week_of.get(week) if week else None for week in (each.first_week, each.last_week)]
        if number is None or None in span:
            continue
        followers = [number_of[place] for place in each.succeeded_by if place in number_of]
        if span != [0, len(dataset.weeks) - 1] or followers:
            found.append([number, *span, followers])
    return found
