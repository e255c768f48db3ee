"""The dashboard's data: many small files, so that a view loads only what it shows.

    index.json.gz           weeks, trends with their fixed scales, levels, texts, downloads
    regions.json.gz         the regions of the coarser levels
    finer.json.gz           the regions of the other levels, for search and drill-down
    outlines.bin.gz         projected outlines (outline_file.py), if there are shapes
    map/T-B.bin.gz          trend T in block B of weeks: all regions of regions.json, axes (week, part, region)
    series/N.bin.gz         region N and its children in all weeks, axes (region, trend, part, week)
    asked/N-B.json.gz       the top and rising searches of region N in block B of weeks (asked.py), if there are any

Regions are numbered in the order of the geography. Every file is compressed with gzip and decompressed by the page, so
that downloads are small on any host. Numbers are 32-bit integers in units of 10 ** -decimals. They are stored by byte
position, all lowest bytes first, which compresses better. The files hold nothing that is not in the dataset or in a
public table.
"""

import json
import math
import os
import zlib
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.dashboards.aliases import aliases_of
from search_insights.dashboards.asked import Asked
from search_insights.dashboards.facts import Fact, as_json
from search_insights.dashboards.outline_file import packed
from search_insights.dashboards.region_table import lives
from search_insights.dashboards.regions import Places, level_label
from search_insights.dashboards.reuse import credits_of, topics_of
from search_insights.dashboards.shapes import Shapes
from search_insights.dashboards.translations import definitions, topic_titles, translations
from search_insights.dashboards.values import MISSING, Table
from search_insights.dashboards.words import about, breaks, peak
from search_insights.dataset.folder import Dataset
from search_insights.spec.geography import Region
from search_insights.support.gzip_file import Packing, gzip_of

BLOCK_WEEKS = 8
_CORE_REGIONS = 6_000  # regions.json.gz holds whole levels up to this many regions
CLASSES = 9  # colours of the scale; the last one is open-ended
_JSON_PACKING: Packing = (7, zlib.Z_DEFAULT_STRATEGY)  # 9 takes three times as long for 0.4 % less
# How numbers are compressed, from their lowest bytes to their highest. The lowest are as good as random, the third are
# nearly all 0: a search for repeats finds nothing in the former that pays, and in the latter no more than runs. The
# highest of a map say where values are missing, alike in every week, which only a long search finds. So files are
# smaller than with one way for all bytes, in half the time.
Packings = tuple[Packing, Packing, Packing, Packing]
_RUNS: Packing = (1, zlib.Z_RLE)
_MAP_PACKING: Packings = (_RUNS, (6, zlib.Z_FILTERED), _RUNS, (8, zlib.Z_FILTERED))
_SERIES_PACKING: Packings = (_RUNS, (6, zlib.Z_DEFAULT_STRATEGY), _RUNS, (6, zlib.Z_FILTERED))
_OUTLINE_PACKING: Packings = ((9, zlib.Z_DEFAULT_STRATEGY),) * 4  # one file, which the first view waits for
_ROUND_STEPS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0)


@dataclass(frozen=True)
class View:
    """A dataset with everything that its data files are made from."""

    dataset: Dataset
    places: Places
    table: Table
    shapes: Shapes | None
    asked: Asked | None
    downloads: tuple[Path, ...]
    beside: Future[Path] | None = None  # a file that is offered beside the folder of the downloads, once it is written

    @cached_property
    def core(self) -> int:
        """Return the number of regions in regions.json.gz: whole levels, at least the two coarsest."""
        sizes = list(accumulate(self._count(level) for level in self.places.geography.levels))
        return max([sizes[min(1, len(sizes) - 1)], *(size for size in sizes if size <= _CORE_REGIONS)])

    def _count(self, level: str) -> int:
        return sum(region.level == level for region in self.places.regions)

    @cached_property
    def reasons(self) -> list[Fact]:
        """Return why regions are not reported, each reason once."""
        return sorted(set((self.places.not_reported or {}).values()), key=repr)

    @cached_property
    def why(self) -> dict[str, int]:
        """Return, for each region that is not reported, the number of the reason, from 1."""
        number_of = {reason: i for i, reason in enumerate(self.reasons, start=1)}
        return {place: number_of[reason] for place, reason in (self.places.not_reported or {}).items()}

    @cached_property
    def parents(self) -> npt.NDArray[np.int32]:
        """Return the number of each region's parent; -1 for the country."""
        number = {region.place_id: i for i, region in enumerate(self.places.regions)}
        return np.array([number[r.parent] if r.parent else -1 for r in self.places.regions], dtype=np.int32)


def write_data(view: View, folder: Path) -> None:
    """Write all data files of one dataset; they are compressed on all cores."""
    for name in ("map", "series"):
        (folder / name).mkdir(parents=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        with_series, written = _write_series(view, folder / "series", pool)
        if view.shapes is not None:
            _write_numbers(folder / "outlines.bin.gz", _outlines(view, view.shapes), _OUTLINE_PACKING)
            written += _write_map(view, folder / "map", pool)
        core, regions, parents = view.core, view.places.regions, view.parents
        for name, part in (("regions", slice(core)), ("finer", slice(core, None))):
            columns = _columns(view, regions[part], parents[part])
            written.append(pool.submit(_write_json, folder / f"{name}.json.gz", columns))
        asked = {"asked": _write_asked(view, folder / "asked")}
        _write_json(folder / "index.json.gz", _index(view, with_series) | asked)
        for each in written:
            each.result()  # an error is raised here


def _index(view: View, with_series: list[int]) -> dict[str, Any]:
    dataset, table = view.dataset, view.table
    return {
        "title": dataset.title,
        "country": view.places.geography.country.name,
        "countryCode": view.places.geography.country.code,
        "created": dataset.package.get("created", ""),
        "weeks": [week.isoformat() for week in dataset.weeks],
        "trends": [
            {"name": t.name, "title": t.title, "column": t.column, "step": step_of(view, i), **_topics(dataset, t.name)}
            for i, t in enumerate(dataset.trends)
        ],
        "levels": _levels(view),
        "core": view.core,
        "regionCount": len(view.places.regions),
        "withSeries": with_series,
        "decimals": table.decimals,
        "missing": MISSING,
        "blockWeeks": BLOCK_WEEKS,
        "classes": CLASSES,
        "hasMap": view.shapes is not None,
        "breaks": breaks(dataset),
        "lives": lives(view.places.listed, dataset, view.places),
        "peak": peak(dataset, view.places),
        "topics": topic_titles(dataset.package),
        "definitions": definitions(dataset.package),
        "translations": translations(dataset.package),
        "confidence": dataset.package.get("reliability", {}).get("confidence"),
        "knowsUnreported": view.places.not_reported is not None,
        "reasons": [as_json(reason) for reason in view.reasons],
        "aliases": aliases_of(view.places.regions),
        "about": about(dataset, view.places),
        "credits": credits_of(dataset),
        "files": [
            *map(_file, view.downloads),
            *([{**_file(view.beside.result()), "beside": True}] if view.beside else []),
        ],
    }


def _topics(dataset: Dataset, trend: str) -> dict[str, Any]:
    return {"topics": topics} if (topics := topics_of(dataset, trend)) else {}


def _file(path: Path) -> dict[str, Any]:
    return {"name": path.name, "bytes": path.stat().st_size}


def _levels(view: View) -> list[dict[str, Any]]:
    outlined = {} if view.shapes is None else view.shapes.outlines
    rows, start = [], 0
    for level in view.places.geography.levels:
        regions = [region for region in view.places.regions if region.level == level]
        siblings = {(region.parent, region.name) for region in regions}
        rows.append(
            {
                "name": level,
                "label": level_label(level),
                "start": start,
                "count": len(regions),
                "outlined": any(region.place_id in outlined for region in regions),
                "codes": len(siblings) < len(regions),  # siblings share names, so codes are shown too
                "counted": level in view.dataset.levels,
            }
        )
        start += len(regions)
    return rows


def step_of(view: View, trend: int) -> float:
    """Return the width of a trend's colour classes on the map."""
    table = view.table
    values = table.values[table.numbers < view.core, trend, 0, :]
    return round_step(values[values != MISSING] / 10**table.decimals)


def round_step(found: npt.NDArray[np.float64]) -> float:
    """Return the width of a colour class: a round number that leaves few values of all weeks to the last class."""
    top = float(np.quantile(found, 0.95)) if len(found) else 0.0
    if top <= 0:
        return 1.0
    wanted = top / (CLASSES - 1)
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(f"{power * next(step for step in _ROUND_STEPS if step * power >= wanted * 0.999):.6g}")


def _columns(view: View, regions: Sequence[Region], parents: npt.NDArray[np.int32]) -> dict[str, Any]:
    """Return the regions by column. `why` is 0 for a reported region, else the number of the reason, from 1."""
    return {
        "id": [region.place_id for region in regions],
        "code": [region.code for region in regions],
        "name": [region.name for region in regions],
        "parent": parents.tolist(),
        "why": [view.why.get(region.place_id, 0) for region in regions],
        "point": _points(view, regions),
    }


def _points(view: View, regions: Sequence[Region]) -> list[list[int] | None]:
    """Return the projected centre of each region that has a known centre and no outline."""
    shapes = view.shapes
    points: list[list[int] | None] = [None] * len(regions)
    if shapes is None:
        return points
    known = [
        (i, region.place_id, region.longitude, region.latitude)
        for i, region in enumerate(regions)
        if region.place_id not in shapes.outlines and region.longitude is not None and region.latitude is not None
    ]
    if not known:
        return points
    numbers, places, east, north = zip(*known, strict=True)
    projected = shapes.project(places, np.column_stack((east, north)))
    for i, point in zip(numbers, np.rint(projected).astype(int).tolist(), strict=True):
        points[i] = point
    return points


def _outlines(view: View, shapes: Shapes) -> npt.NDArray[np.int32]:
    of_core = [shapes.outlines.get(region.place_id) for region in view.places.regions[: view.core]]
    return packed(shapes.width, shapes.height, shapes.arcs, of_core)


def _write_map(view: View, folder: Path, pool: Executor) -> list[Future[None]]:
    """Write the map of each trend, one file per block of weeks."""
    table, weeks = view.table, len(view.dataset.weeks)
    known = table.numbers < view.core
    dense = np.full((view.core, *table.values.shape[1:]), MISSING, dtype=np.int32)
    dense[table.numbers[known]] = table.values[known]

    def write(trend: int, block: int) -> None:
        first = block * BLOCK_WEEKS
        part = dense[:, trend, :, first : first + BLOCK_WEEKS]
        _write_numbers(folder / f"{trend}-{block}.bin.gz", part.transpose(2, 1, 0), _MAP_PACKING)

    blocks = range(-(-weeks // BLOCK_WEEKS))
    return [pool.submit(write, trend, block) for trend in range(dense.shape[1]) for block in blocks]


def _write_series(view: View, folder: Path, pool: Executor) -> tuple[list[int], list[Future[None]]]:
    """Write each region with those of its children that have values; return the numbers of the regions with a file.

    A file starts with its number of rows and the region number of each row.
    """
    table, parents = view.table, view.parents
    row_of = {int(number): row for row, number in enumerate(table.numbers)}
    rows_of: dict[int, list[int]] = {0: []}
    for row, number in enumerate(table.numbers):
        if number:
            rows_of.setdefault(int(parents[number]), []).append(row)

    def write(number: int, children: list[int]) -> None:
        rows = ([row_of[number]] if number in row_of else []) + children
        head = np.array([len(rows), *table.numbers[rows]], dtype=np.int32)
        numbers = np.concatenate((head, table.values[rows].ravel()))
        _write_numbers(folder / f"{number}.bin.gz", numbers, _SERIES_PACKING)

    return sorted(rows_of), [pool.submit(write, number, children) for number, children in rows_of.items()]


def _write_asked(view: View, folder: Path) -> dict[str, Any] | None:
    """Write the top and rising searches, and return what the index says of them; None for a dataset without them."""
    asked = view.asked
    if asked is None:
        return None
    folder.mkdir()
    names = []
    for name, rows in asked.files(BLOCK_WEEKS):
        _write_json(folder / f"{name}.json.gz", rows)
        names.append(name)
    return {"weeks": asked.weeks, "files": names}


def _write_numbers(path: Path, numbers: npt.NDArray[np.int32], packings: Packings) -> None:
    planes = np.ascontiguousarray(numbers.astype("<i4")).view(np.uint8).reshape(-1, 4).T
    path.write_bytes(gzip_of((plane.tobytes(), packing) for plane, packing in zip(planes, packings, strict=True)))


def _write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    path.write_bytes(gzip_of([(text, _JSON_PACKING)]))
