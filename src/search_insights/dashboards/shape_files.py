"""Files of outlines: TopoJSON or GeoJSON in longitude and latitude, in which an id says whose outline it is.

The id is a place_id, or a code that one region has. It is the id of the outline itself, or one of its properties.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.dashboards.projections import Points
from search_insights.errors import InputError
from search_insights.spec.geography import Region
from search_insights.support.strict_json import parse_json

_FARTHEST = (540.0, 90.0)  # degrees of longitude, for a country across the date line, and of latitude
_AREAS = ("Polygon", "MultiPolygon")
_SHOWN = 8  # properties of a file, in a message
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError)


@dataclass(frozen=True)
class ShapeFile:
    """A file of outlines, as TopoJSON in which every outline has its id as text."""

    path: Path
    topology: dict[str, Any]
    properties: tuple[str, ...]

    def fitted(self, regions: Iterable[Region]) -> dict[str, Any] | None:
        """Return the outlines of known regions, with their place_ids; None if there are none."""
        known = list(regions)
        codes = Counter(region.code for region in known)
        by_id = {region.code: region.place_id for region in known if codes[region.code] == 1}
        by_id |= {region.place_id: region.place_id for region in known}
        (shapes,) = self.topology["objects"].values()
        fit = [g | {"id": by_id[g["id"]]} for g in shapes["geometries"] if g["id"] in by_id]
        return self.topology | {"objects": {"regions": {"geometries": fit}}} if fit else None

    def unfit(self) -> InputError:
        """Return the error of a file that has no outline of any region that is shown."""
        (shapes,) = self.topology["objects"].values()
        first = shapes["geometries"][0]["id"]
        hint = f"; its outlines have the properties {_listed(self.properties)}" if self.properties else ""
        return InputError(
            f"{self.path}: none of its ids, such as {first[:80]!r}, is the place_id or the code of a region that is "
            f"shown{hint}; `shape_id` names the property to use"
        )


def read_shapes(path: Path, shape_id: str | None = None) -> ShapeFile:
    """Read a file of outlines; `shape_id` is the property that has their ids, if they have none of their own."""
    try:
        content: dict[str, Any] = parse_json(path.read_bytes(), path)
        topology = _from_geojson(content) if content["type"] == "FeatureCollection" else content
        geometries = [g for found in topology["objects"].values() for g in found["geometries"] if g["type"] in _AREAS]
        lines = [decoded(arc, topology.get("transform")) for arc in topology["arcs"]]
        # All lines, not only those that are named: all are drawn.
        valid = topology["type"] == "Topology" and all((np.abs(line) <= _FARTHEST).all() for line in lines)
        drawn = [lines[line_number(arc)] for g in geometries for ring in rings_of(g) for arc in ring]
        properties = tuple(dict.fromkeys(name for g in geometries for name in g.get("properties") or ()))
        ids = [_id_of(g, shape_id) for g in geometries]
    except _BROKEN:
        raise _refused(path, "") from None
    if not valid or not drawn:
        raise _refused(path, "")
    if None in ids:
        what = f"an outline has no property {shape_id!r}" if shape_id else "an outline has no id"
        raise _refused(path, f": {what}; {_listed(properties) or 'no properties'} could be given as `shape_id`")
    named = [{"id": name, "type": g["type"], "arcs": g["arcs"]} for name, g in zip(ids, geometries, strict=True)]
    return ShapeFile(path, topology | {"objects": {"regions": {"geometries": named}}}, properties)


def _refused(path: Path, what: str) -> InputError:
    return InputError(f"{path}: not a TopoJSON or GeoJSON file of outlines that have the id of their region{what}")


def _listed(names: tuple[str, ...]) -> str:
    more = ", ..." if len(names) > _SHOWN else ""
    return ", ".join(repr(name[:40]) for name in names[:_SHOWN]) + more


def _id_of(geometry: dict[str, Any], shape_id: str | None) -> str | None:
    """Return the id of an outline as text; a number is written without a point."""
    value = (geometry.get("properties") or {}).get(shape_id) if shape_id else geometry.get("id")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value) else None


def _from_geojson(content: dict[str, Any]) -> dict[str, Any]:
    """Return GeoJSON as TopoJSON in which each ring is a line: neighbours share none."""
    arcs: list[Any] = []
    geometries = []
    for feature in content["features"]:
        shape = feature.get("geometry") or {"type": None}
        if shape["type"] not in _AREAS:
            continue
        polygons = shape["coordinates"] if shape["type"] == "MultiPolygon" else [shape["coordinates"]]
        numbered = []
        for polygon in polygons:
            numbered.append([[len(arcs) + i] for i in range(len(polygon))])
            arcs += polygon
        facts = {"id": feature.get("id"), "properties": feature.get("properties") or {}}
        geometries.append({"type": "MultiPolygon", "arcs": numbered, **facts})
    return {"type": "Topology", "objects": {"regions": {"geometries": geometries}}, "arcs": arcs}


def rings_of(geometry: dict[str, Any]) -> list[list[int]]:
    """Return an outline as a list of rings, each a list of lines. A ring inside a ring is a hole."""
    polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    return [ring for polygon in polygons for ring in polygon]


def line_number(arc: int) -> int:
    """Return the number of a line in either direction: TopoJSON writes ~i for line i reversed."""
    return ~arc if arc < 0 else arc


def decoded(arc: list[list[float]], transform: dict[str, Any] | None) -> Points:
    """Return the points of a line in degrees."""
    points = np.array(arc, dtype=np.float64)[:, :2]
    if transform is None:
        return points
    result: Points = points.cumsum(axis=0) * transform["scale"] + transform["translate"]
    return result
