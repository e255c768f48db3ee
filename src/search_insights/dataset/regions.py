"""`regions.csv`: every region of the release, with its parent, its public facts, and from when to when it is reported.

A reader who misses a region finds here why, and which regions followed it. Everything in it is public: it follows from
the geographies and specs of the editions, from which weeks there are, and from which regions are sparse.
"""

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from search_insights.dataset.folder import SPARSE
from search_insights.spec.geography import Region
from search_insights.trends.release import Release
from search_insights.trends.spans import Span

# The columns: name, type in a Frictionless schema, and what they mean.
COLUMNS = (
    ("place_id", "string", "A stable public identifier of the region."),
    ("code", "string", "The region's code within its level. It is text: it may begin with 0."),
    ("name", "string", "The region's name."),
    ("level", "string", "The region's level."),
    ("parent", "string", "The place_id of the region above it; empty for the country."),
    ("population", "integer", "The population by which it was given its size class; empty if not known."),
    ("land_area_km2", "number", "The land area in square kilometres; empty if not known."),
    ("size_class", "string", "The size class, which decides how much noise its counts have; empty if it has none."),
    ("reported", "boolean", "Whether it is reported in the newest edition that has it."),
    ("why_not", "string", "Why it is not reported; empty if it is."),
    ("first_week", "date", "The first week of this dataset in which it is reported; empty if it never was."),
    ("last_week", "date", "The last week of this dataset in which it is reported; empty if it never was."),
    ("succeeded_by", "array", "The place_ids of the regions that followed it, as a JSON list; empty if none did."),
)


def region_fields() -> list[dict[str, Any]]:
    """Return the description of the columns, for `datapackage.json`."""
    return [{"name": name, "type": kind, "description": text} for name, kind, text in COLUMNS]


def write_regions(release: Release, path: Path) -> None:
    """Write the table of the regions of all editions of a release."""
    sparse = frozenset(r.place_id for r, gone in zip(release.trends.regions, release.removed, strict=True) if gone)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([name for name, _, _ in COLUMNS])
        writer.writerows(region_rows(release.spans, _successors(release), sparse))


def _successors(release: Release) -> dict[str, Sequence[str]]:
    """Return which regions followed each one that ended, as the crosswalks of the editions with weeks have it."""
    found: dict[str, Sequence[str]] = {}
    for span in release.spans:
        found |= span.begun_by.successors
    return found


def region_rows(
    spans: Sequence[Span], successors: Mapping[str, Sequence[str]], sparse: Collection[str]
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each region: the newest span's first, in its order, then those that only earlier ones have."""
    first, last = _first_and_last(spans)
    seen: set[str] = set()
    for span in reversed(spans):
        standings = span.coverage.standings
        for region in span.coverage.geography.regions:
            place = region.place_id
            if place in seen:
                continue
            seen.add(place)
            standing = standings[place]
            reported = standing.reported and place not in sparse
            why = "" if reported else SPARSE if standing.reported else standing.reason
            weeks = ("", "") if place in sparse else (first.get(place, ""), last.get(place, ""))
            followers = list(successors.get(place, ()))
            yield (
                *_facts(region),
                standing.size_class if region.level in span.coverage.spec.classed_levels else "",
                "true" if reported else "false",
                why,
                *weeks,
                json.dumps(followers, ensure_ascii=False) if followers else "",
            )


def _facts(region: Region) -> tuple[object, ...]:
    return (
        *(region.place_id, region.code, region.name, region.level, region.parent or ""),
        "" if region.population is None else region.population,
        "" if region.land_area_km2 is None else f"{region.land_area_km2:.12g}",
    )


def _first_and_last(spans: Sequence[Span]) -> tuple[dict[str, date], dict[str, date]]:
    """Return the first and the last week in which each region is reported."""
    first: dict[str, date] = {}
    last: dict[str, date] = {}
    for span in spans:
        for place, standing in span.coverage.standings.items():
            if standing.reported and span.weeks:
                first.setdefault(place, span.weeks[0])
                last[place] = span.weeks[-1]
    return first, last
