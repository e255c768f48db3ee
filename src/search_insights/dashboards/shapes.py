"""The dashboard's outlines: TopoJSON that is projected here once, so that the page only has to draw.

The United States is drawn in the usual way: the lower 48 states in the Albers projection of the US Geological Survey,
Alaska at about a third of its size, and Hawaii below California. Any other country is drawn around its own centre, with
far islands in insets. Where only the centres of regions are known, they are points.
Points are integers on a grid that is `WIDTH` wide. As in TopoJSON, neighbours share lines.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.dashboards.islands import Outlines, lay_out
from search_insights.dashboards.projections import Points, albers, azimuthal, bounds, inset
from search_insights.dashboards.shape_files import decoded, line_number, rings_of
from search_insights.spec import world
from search_insights.spec.deeper import deeper_outlines
from search_insights.spec.geography import Region

Parents = Mapping[str, str | None]
PointProjection = Callable[[Sequence[str], Points], Points]  # of points that lie in the regions of these place_ids

WIDTH = 16_000
_FEWEST_POINTS = 2
_MARGIN = 0.06  # around a map of points, as a share of its longer side
_US = "country/USA"
_MAINLAND = (-96.0, (29.5, 45.5), (-96.6, 38.7))
# The states that are drawn elsewhere: the projection, the scale, and the position of the centre in earth radii.
_INSETS = {
    "geoId/02": ((-154.0, (55.0, 65.0), (-156.0, 58.5)), 0.35, (-0.307, 0.201)),
    "geoId/15": ((-157.0, (8.0, 18.0), (-160.0, 19.9)), 1.0, (-0.205, 0.212)),
}


@dataclass(frozen=True)
class Shapes:
    """Projected outlines: lines as differences on the grid, and the rings of lines around each region."""

    width: int
    height: int
    arcs: list[list[int]]
    outlines: dict[str, list[list[int]]]
    project: PointProjection


def us_topology() -> dict[str, Any]:
    """Return the packaged outlines of the United States, as TopoJSON whose ids are place_ids."""
    packaged = resources.files("search_insights.spec") / "packaged" / "us_shapes.topojson"
    known: dict[str, Any] = json.loads(packaged.read_text(encoding="utf-8"))
    return known


def packaged_topologies(country: str) -> list[dict[str, Any]]:
    """Return the packaged outlines of the country with a place_id; the United States if no other has it."""
    code = world.code_of(country)
    found = [world.country_outlines(code)] if code else []
    deeper = deeper_outlines(country.removeprefix("iso/"))
    return [*found, *([deeper] if deeper else [])] or [us_topology()]


def project_shapes(topology: dict[str, Any], parents: Parents) -> Shapes | None:
    """Project the outlines of the known regions; None if there are none."""
    outlines: dict[str, list[list[int]]] = {}
    for shape in _geometries(topology):
        if shape["id"] in parents:
            outlines.setdefault(shape["id"], []).extend(rings_of(shape))
    if not outlines:
        return None
    arcs = [decoded(arc, topology.get("transform")) for arc in topology["arcs"]]
    flat, project_each = (_as_us if _US in parents else _as_any)(outlines, arcs, parents)
    used = sorted({line_number(arc) for rings in outlines.values() for ring in rings for arc in ring})
    x0, y0, x1, y1 = bounds(np.vstack([flat[i] for i in used]))
    scale = WIDTH / max(x1 - x0, 1e-9)

    def project(places: Sequence[str], points: Points) -> Points:
        return (project_each(places, points) - (x0, y0)) * scale

    lines = _differences([len(line) for line in flat], np.rint((np.concatenate(flat) - (x0, y0)) * scale).astype(int))
    return Shapes(WIDTH, math.ceil((y1 - y0) * scale), lines, outlines, project)


def project_points(regions: Sequence[Region]) -> Shapes | None:
    """Return a map without outlines, for regions of which only the centres are known; None if it has too few points."""
    known = [(r.longitude, r.latitude) for r in regions if r.parent and None not in (r.longitude, r.latitude)]
    points = np.array(known, dtype=np.float64).reshape(-1, 2)
    if len(np.unique(points, axis=0)) < _FEWEST_POINTS:
        return None
    # Whichever way round the earth the country is narrower.
    turned = np.column_stack((points[:, 0] % 360, points[:, 1]))
    narrow = min((points, turned), key=lambda found: float(np.ptp(found[:, 0])))
    x0, y0, x1, y1 = bounds(narrow)
    flat = azimuthal(((x0 + x1) / 2, (y0 + y1) / 2))
    left, top, right, bottom = bounds(flat(points))
    margin = _MARGIN * max(right - left, bottom - top)
    scale = WIDTH / (right - left + 2 * margin)

    def project(places: Sequence[str], given: Points) -> Points:
        return (flat(given) - (left - margin, top - margin)) * scale

    return Shapes(WIDTH, math.ceil((bottom - top + 2 * margin) * scale), [], {}, project)


def _as_us(outlines: Outlines, arcs: list[Points], parents: Parents) -> tuple[list[Points], PointProjection]:
    """Project the United States: the lower 48 states, and the insets of Alaska and Hawaii."""
    insets = {part: inset(albers(*cone), scale, at) for part, (cone, scale, at) in _INSETS.items()}
    projections = {"": albers(*_MAINLAND)} | insets
    part_of = _insets_of_lines(outlines, parents)

    @cache
    def part_of_place(place: str) -> str:
        parent = parents.get(place)
        return place if place in insets else part_of_place(parent) if parent else ""

    def project(places: Sequence[str], points: Points) -> Points:
        parts = np.array([part_of_place(place) for place in places])
        projected = np.empty_like(points)
        for part, projection in projections.items():
            projected[parts == part] = projection(points[parts == part])
        return projected

    flat = list(arcs)
    for part, projection in projections.items():
        numbers = [i for i in range(len(arcs)) if part_of.get(i, "") == part]
        for i, line in zip(numbers, _at_once(projection, [arcs[i] for i in numbers]), strict=True):
            flat[i] = line
    return flat, project


def _at_once(change: Callable[[Points], npt.NDArray[Any]], lines: Sequence[Points]) -> list[npt.NDArray[Any]]:
    """Change the points of all lines at once; most lines have few."""
    if not lines:
        return []
    ends = np.cumsum([len(line) for line in lines])
    return np.split(change(np.concatenate(lines)), ends[:-1])


def _as_any(outlines: Outlines, arcs: list[Points], parents: Parents) -> tuple[list[Points], PointProjection]:
    """Project any other country around its own centre."""
    layout = lay_out(outlines, arcs)
    flat = [layout.projections[layout.part_of.get(i, 0)](arc) for i, arc in enumerate(arcs)]
    return flat, lambda places, points: layout.project(points)


def _geometries(topology: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": g.get("id"), "type": g["type"], "arcs": g["arcs"]}
        for found in topology["objects"].values()
        for g in found["geometries"]
        if g["type"] in ("Polygon", "MultiPolygon")
    ]


def _lineage(place_id: str, parents: Parents) -> Iterator[str]:
    """Yield a region and its ancestors, up to the country."""
    here: str | None = place_id
    while here is not None:
        yield here
        here = parents.get(here)


def _insets_of_lines(outlines: Outlines, parents: Parents) -> dict[int, str]:
    """Return the inset that each of its lines belongs to; insets share no line with the mainland."""
    parts = {}
    for place_id, rings in outlines.items():
        part = next((p for p in _lineage(place_id, parents) if p in _INSETS), None)
        if part is not None:
            parts.update({line_number(arc): part for ring in rings for arc in ring})
    return parts


def _differences(sizes: Sequence[int], points: npt.NDArray[np.int_]) -> list[list[int]]:
    """Return lines, which follow each other in the points, as their first points and the steps from point to point.

    Steps of length 0 are left out.
    """
    ends = np.cumsum(sizes)
    starts = ends - sizes
    steps = np.diff(points, axis=0, prepend=0)
    steps[starts] = points[starts]
    keep = (steps != 0).any(axis=1)
    keep[starts] = True
    numbers, kept = steps[keep].ravel().tolist(), 2 * np.cumsum(keep)
    lasts = kept[ends - 1].tolist()
    return [numbers[first:last] for first, last in pairwise((0, *lasts))]
