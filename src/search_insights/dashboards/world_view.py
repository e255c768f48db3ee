"""The first view of a site of several countries: each as a whole, on a map of the world and side by side.

Its file has the trends that all countries share, their values as the datasets have them, and the outlines as SVG paths.
It says whether one factor scales all countries. If not, the page compares no value of one country with another's.
"""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.dashboards.data_files import CLASSES, View, round_step
from search_insights.dashboards.projections import Points, bounds, equal_earth
from search_insights.dashboards.shape_files import decoded, rings_of
from search_insights.dashboards.values import MISSING
from search_insights.dashboards.words import peak
from search_insights.dataset.several import share_scale, shared_trends

_WIDTH = 1_000
_FEWEST = 2


def write_world(
    views: Sequence[View], entries: Sequence[Mapping[str, Any]], files: Sequence[Path], site: Path
) -> str | None:
    """Write the data of the first view; return its name in the site, or None if the datasets are not of countries."""
    codes = [view.places.geography.country.code for view in views]
    if len(views) < _FEWEST or len(set(codes)) < len(codes) or not shared_trends([view.dataset for view in views]):
        return None
    content = json.dumps(_world(views, entries, files), ensure_ascii=False, separators=(",", ":")).encode()
    name = f"data/world-{hashlib.sha256(content).hexdigest()[:12]}.json.gz"
    (site / name).write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    return name


def _world(views: Sequence[View], entries: Sequence[Mapping[str, Any]], files: Sequence[Path]) -> dict[str, Any]:
    datasets = [view.dataset for view in views]
    weeks = sorted({week for dataset in datasets for week in dataset.weeks})
    trends = shared_trends(datasets)
    values = [[_cells(view, trend.name, weeks) for trend in trends] for view in views]
    own = {view.places.geography.country.code for view in views}
    shapes = _WorldMap(own)
    one = share_scale(datasets)
    return {
        "weeks": [week.isoformat() for week in weeks],
        "classes": CLASSES,
        "oneScale": one,
        "peak": peak(datasets[0], views[0].places) if one else "",
        "trends": [
            {"name": t.name, "title": t.title, "step": round_step(_values(values, i))} for i, t in enumerate(trends)
        ],
        "countries": [
            {
                "key": entry["key"],
                "code": view.places.geography.country.code,
                "name": view.places.geography.country.name,
                "values": cells,
                **shapes.place(view),
            }
            for view, entry, cells in zip(views, entries, values, strict=True)
        ],
        "land": shapes.other_land,
        "width": _WIDTH,
        "height": shapes.height,
        "files": [{"name": path.name, "bytes": path.stat().st_size} for path in files],
    }


def _values(values: Sequence[Sequence[Sequence[list[float | None] | None]]], trend: int) -> Any:
    """Return the values of a trend in all countries and weeks."""
    return np.array([cell[0] for country in values for cell in country[trend] if cell], dtype=np.float64)


def _cells(view: View, trend: str, weeks: Sequence[date]) -> list[list[float | None] | None]:
    """Return value, low and high end of a country's trend in each week; None in a week without a value."""
    table, dataset = view.table, view.dataset
    number = [t.name for t in dataset.trends].index(trend)
    rows = table.values[table.numbers == 0]  # the country's own row, if it has one
    week_of = {week: i for i, week in enumerate(dataset.weeks)}
    found: list[list[float | None] | None] = []
    for week in weeks:
        parts = rows[0, number, :, week_of[week]].tolist() if len(rows) and week in week_of else [MISSING]
        found.append(None if parts[0] == MISSING else _cell(parts, 10.0**table.decimals))
    return found


def _cell(parts: Sequence[int], unit: float) -> list[float | None]:
    value, below, above = parts
    low = None if below == MISSING else (value - below) / unit
    return [value / unit, low, None if above == MISSING else (value + above) / unit]


class _WorldMap:
    """The outlines of the world in the projection of the view: those of some countries apart, all others as one."""

    def __init__(self, own: set[str]) -> None:
        packaged = resources.files("search_insights.spec") / "packaged" / "world_map.topojson"
        topology = json.loads(packaged.read_text(encoding="utf-8"))
        flat = [equal_earth(decoded(arc, topology["transform"])) for arc in topology["arcs"]]
        self.x0, self.y0, x1, y1 = bounds(np.vstack(flat))
        self.scale = _WIDTH / (x1 - self.x0)
        self.height = round((y1 - self.y0) * self.scale)
        lines = [np.rint((line - (self.x0, self.y0)) * self.scale * 10) / 10 for line in flat]
        (shapes,) = topology["objects"].values()
        self.paths = {g["id"]: _path(rings_of(g), lines) for g in shapes["geometries"] if g["id"] in own}
        self.other_land = "".join(_path(rings_of(g), lines) for g in shapes["geometries"] if g["id"] not in own)

    def place(self, view: View) -> dict[str, Any]:
        """Return where a country is: its outline, if the map has one, and its centre, if that is known."""
        country = view.places.geography.country
        found: dict[str, Any] = {"path": self.paths.get(country.code)}
        if country.longitude is not None and country.latitude is not None:
            ((x, y),) = equal_earth(np.array([[country.longitude, country.latitude]]))
            found["point"] = [round((x - self.x0) * self.scale, 1), round((y - self.y0) * self.scale, 1)]
        return found


def _path(rings: Sequence[Sequence[int]], lines: Sequence[Points]) -> str:
    """Return rings as an SVG path."""
    texts = []
    for ring in rings:
        points = np.vstack([lines[arc] if arc >= 0 else lines[~arc][::-1] for arc in ring])
        texts.append("M" + "L".join(f"{x:g},{y:g}" for x, y in points.tolist()) + "Z")
    return "".join(texts)
