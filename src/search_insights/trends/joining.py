"""One series from several editions: the trends of each, joined by region and trend.

Each edition's weeks are derived under what they were counted with. Here they become one array over all weeks, all
regions and all trends of any edition. The present regions and trends come first, in their order, then those that only
earlier editions have. Where an edition lacks a region or a trend there is no value: it is not known, and so never 0.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.geography import Region
from search_insights.spec.spec import Trend
from search_insights.trends.reliability import Ratios

if TYPE_CHECKING:
    from search_insights.trends.derive import Trends


def joined(parts: "Sequence[Trends]") -> "Trends":
    """Join the trends of several editions, the oldest first."""
    *_, last = parts
    if len(parts) == 1:
        return last
    regions, columns = _regions(parts), _columns(parts)
    _refuse_shared_columns(columns)
    weeks = tuple(week for part in parts for week in part.weeks)
    shape = (len(weeks), len(regions), len(columns))
    known = np.zeros(shape, dtype=bool)
    ratios = Ratios(*(np.zeros(shape, bool) if _is_bool(name) else np.full(shape, np.nan) for name in _RATIOS))
    for part, place in zip(parts, _places(parts, regions, columns), strict=True):
        known[place] = part.known
        for name in _RATIOS:
            getattr(ratios, name)[place] = getattr(part.ratios, name)
    return replace(last, weeks=weeks, regions=regions, ratios=ratios, columns=columns, known=known)


_RATIOS = tuple(field.name for field in fields(Ratios))


def _is_bool(name: str) -> bool:
    return name in ("positive", "kept")


def _regions(parts: "Sequence[Trends]") -> tuple[Region, ...]:
    """Return the regions of all parts, each once, as the newest that has it knows it; the newest part's come first."""
    found: dict[str, Region] = {}
    for region in (region for part in reversed(parts) for region in part.regions):
        found.setdefault(region.place_id, region)
    return tuple(found.values())


def _columns(parts: "Sequence[Trends]") -> tuple[Trend, ...]:
    """Return the trends of all parts, likewise."""
    found: dict[str, Trend] = {}
    for trend in (trend for part in reversed(parts) for trend in part.columns):
        found.setdefault(trend.id, trend)
    return tuple(found.values())


def _places(
    parts: "Sequence[Trends]", regions: Sequence[Region], columns: Sequence[Trend]
) -> "list[tuple[np.ndarray[tuple[int, ...], np.dtype[np.intp]], ...]]":
    """Return where the values of each part are in the joined arrays."""
    region_number = {region.place_id: i for i, region in enumerate(regions)}
    column_number = {trend.id: i for i, trend in enumerate(columns)}
    places, start = [], 0
    for part in parts:
        weeks = np.arange(start, start + len(part.weeks))
        own = np.array([region_number[region.place_id] for region in part.regions])
        places.append(np.ix_(weeks, own, np.array([column_number[trend.id] for trend in part.columns])))
        start += len(part.weeks)
    return places


def _refuse_shared_columns(columns: Sequence[Trend]) -> None:
    """Refuse two trends with one name or column: a table cannot have both, and a reader would take them for one."""
    for field in ("name", "column"):
        given = [str(getattr(trend, field)) for trend in columns]
        for trend, word in zip(columns, given, strict=True):
            if given.count(word) > 1:
                raise StoreError(
                    f"trend {trend.id!r}: another edition has a trend of another id with the {field} {word!r}; give "
                    "the trend the id that it had, or another name and column"
                )
