"""The logs of the benchmark `peers`: a whole one, and shares of its users, each prepared for the peers.

For the peers the user-day is one number, and state, county, ZIP code area and size class of each search are columns.
The sums of a log's state counts are known exactly, whatever the bounding draws, because each user-day counts once in
one state and category.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evidence.inputs import MONDAY, ROW_GROUP, make_log
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.sql import connect

# Days of the release's time zone, which is 8 hours behind UTC in that week.
_DAY = f"date_diff('day', DATE '{MONDAY}', (timestamp - INTERVAL 8 HOUR)::DATE)"


@dataclass(frozen=True)
class Share:
    """A log: `log` is for this program; `ready`, a folder with log.parquet and cells.json, is for the peers."""

    events: int
    states: int
    state_totals: tuple[int, ...]
    log: Path
    ready: Path | None = None


def make_logs(folder: Path, coverage: Coverage, events: int, peer_events: Sequence[int]) -> Iterator[Share]:
    """Write a log of `events` events, then for each number of `peer_events` a share of its users with about as many."""
    whole = folder / "log"
    whole.mkdir()
    make_log(whole, events)
    yield _share(coverage, whole, None)
    for wanted in peer_events:
        ready = folder / f"share-{wanted}"
        (ready / "log").mkdir(parents=True)
        _choose_users(whole, ready / "log", events, wanted)
        _make_ready(coverage, ready)
        yield _share(coverage, ready / "log", ready)


def groups(coverage: Coverage) -> list[dict[str, Any]]:
    """List the cells for the peers: the regions of each level and size class, and a sigma for each category."""
    numbers = {region.place_id: number for number, region in enumerate(coverage.geography.regions)}
    found: dict[tuple[str, int], dict[str, Any]] = {}
    cells, step = CellList(coverage), len(coverage.spec.categories)
    for index, region in enumerate(cells.regions):
        key = region.level, class_number(coverage, region.place_id)
        group = found.setdefault(key, {"level": key[0], "size_class": key[1], "regions": []})
        group["regions"].append(numbers[region.place_id])
        group["sigmas"] = [float(sigma) for sigma in cells.sigmas[index * step : (index + 1) * step]]
    levels = coverage.spec.level_names
    return sorted(found.values(), key=lambda group: (levels.index(group["level"]), group["size_class"]))


def class_number(coverage: Coverage, place_id: str) -> int:
    """Return the number of a region's size class, from 1; 0 if it has none."""
    names = [each.name for each in coverage.spec.size_classes]
    size_class = coverage.standings[place_id].size_class
    return names.index(size_class) + 1 if size_class else 0


def _choose_users(whole: Path, log: Path, events: int, wanted: int) -> None:
    with connect() as connection:
        for file in sorted(whole.glob("*.parquet")):
            connection.execute(f"""
                COPY (SELECT * FROM '{file}' WHERE hash(user_id) % {events} < {wanted})
                TO '{log}/{file.name}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})""")


def _make_ready(coverage: Coverage, folder: Path) -> None:
    (folder / "cells.json").write_text(json.dumps(groups(coverage)), encoding="utf-8")
    by_place, numbers = coverage.geography.by_place_id, {}
    above = []
    for number, region in enumerate(coverage.geography.regions):
        numbers[region.place_id] = number
        if region.level == "postal_code":
            county = by_place[str(region.parent)]
            size_class = class_number(coverage, region.place_id)
            above.append((region.place_id, numbers[str(county.parent)], numbers[county.place_id], number, size_class))
    with connect() as connection:
        regions, *of_regions = zip(*above, strict=True)
        columns = dict(zip(("state", "county", "postal_code", "size_class"), map(np.array, of_regions), strict=True))
        connection.register("above", {"region": np.array(regions, dtype=object)} | columns)
        connection.execute(f"""
            COPY (
                SELECT user_id * 7 + {_DAY} AS user_day, coalesce(substr(category, 2, 1), '0')::BIGINT AS category,
                       above.state, above.county, above.postal_code, above.size_class
                FROM '{folder}/log/*.parquet' JOIN above USING (region)
            ) TO '{folder}/log.parquet' (FORMAT parquet)""")


def _share(coverage: Coverage, log: Path, ready: Path | None) -> Share:
    """Count a log's events, and its user-days by category, a day at a time."""
    columns = ["count(*)", "count(DISTINCT user_id)"]
    columns += [f"count(DISTINCT user_id) FILTER (WHERE category = 'A{topic}')" for topic in (1, 2, 3)]
    with connect() as connection:
        days = [
            connection.execute(f"SELECT {', '.join(columns)} FROM '{file}'").fetchall()[0]
            for file in sorted(log.glob("*.parquet"))
        ]
    events, *totals = (sum(counts) for counts in zip(*days, strict=True))
    states = sum(region.level == "state" for region in CellList(coverage).regions)
    return Share(events, states, tuple(totals), log, ready)
