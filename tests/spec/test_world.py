"""Promises about the packaged world: its tables, outlines, the list of countries, and the record of sources."""

import hashlib
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from search_insights.errors import GeographyError
from search_insights.spec.attribution import attribution
from search_insights.spec.geography import load_country, load_geography
from search_insights.spec.world import code_of, countries, country_outlines, country_rows, require_country
from tests.support.other_country import other_geography, write_csv
from tests.support.region_tables import REGION_COLUMNS

COLUMNS = tuple(name for name, _ in REGION_COLUMNS)
# Areas in km2 of German states, as the statistical offices of the states publish them (statistik-portal.de).
KNOWN_KM2 = {
    "DE-BB": 29_654,
    "DE-BE": 892,
    "DE-BW": 35_751,
    "DE-BY": 70_550,
    "DE-HE": 21_115,
    "DE-NI": 47_614,
    "DE-NW": 34_110,
    "DE-RP": 19_854,
    "DE-SL": 2_569,
    "DE-SN": 18_420,
    "DE-ST": 20_452,
    "DE-TH": 16_173,
}
PACKAGED = [code for code, country in countries().items() if not country.why_not]


def packaged(name: str) -> Path:
    return Path(str(resources.files("search_insights.spec") / "packaged" / name))


def record(name: str) -> Any:
    return json.loads(packaged(name).read_text(encoding="utf-8"))


def test_the_survey_s_countries_are_packaged() -> None:
    """At least 107 countries, and the ones that this program's own pages name."""
    assert len(PACKAGED) >= 107
    assert {"IE", "NZ", "CA", "BR", "RU", "IN", "DE", "CH", "PT", "LI", "FJ", "MX", "ZA", "PL"} <= set(PACKAGED)


def test_the_table_has_the_columns_of_every_geography() -> None:
    """The same names, order and types as the table of the United States; populations are not known."""
    with duckdb.connect() as connection:
        connection.read_parquet(str(packaged("world_regions.parquet"))).create("r")
        assert [row[:2] for row in connection.execute("describe r").fetchall()] == REGION_COLUMNS
        assert connection.execute("select count(population) from r").fetchall() == [(0,)]


def test_every_packaged_country_is_a_valid_geography_with_an_outline_for_each_region() -> None:
    """A table of a file would be refused for less: names in one line, one tree, codes of the country; and a map."""
    path = packaged("world_regions.parquet")
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path)).project(", ".join(COLUMNS)).fetchall()
    for code in PACKAGED:
        own = [row for row in rows if f"iso/{code}" in (row[3], row[8])]
        regions = [row for row in own if row[2] == "region"]
        assert len(regions) == countries()[code].regions == len(own) - 1
        assert all(re.fullmatch(f"{code}-[A-Z0-9]{{1,3}}", row[0]) and row[8] == f"iso/{row[0]}" for row in regions)
        assert len({row[1] for row in regions}) == len(regions), code
        assert all(row[5] > 0 and -90 <= row[6] <= 90 and -180 <= row[7] <= 180 for row in own)
        shapes = country_outlines(code)["objects"]["regions"]["geometries"]
        assert {shape["id"] for shape in shapes} == {row[8] for row in regions}
        assert all(shape["arcs"] for shape in shapes)


@pytest.mark.parametrize("code", ["IE", "MT", "UZ", "NL"])
def test_a_country_passes_the_checks_of_a_file(code: str, tmp_path: Path) -> None:
    """So a publisher may change the table and load it again; unchanged, it is the same geography."""
    path = write_csv(tmp_path / "regions.csv", [list(row) for row in country_rows(code, COLUMNS)], list(COLUMNS))
    assert load_geography(path).fingerprint == load_geography(code).fingerprint


def test_areas_are_close_to_known_ones() -> None:
    """Computed on the ellipsoid from outlines of 1:10,000,000: within 4 % of official figures."""
    areas = {r.code: r.land_area_km2 for r in load_country("DE").regions}
    for code, known in KNOWN_KM2.items():
        assert areas[code] == pytest.approx(known, rel=0.04), code


@pytest.mark.parametrize(("code", "across"), [("RU", "iso/RU-CHU"), ("FJ", "iso/FJ-N")])
def test_land_across_the_date_line_is_in_one_piece(code: str, across: str) -> None:
    """Longitudes go on beyond 180, so that no outline goes round the globe and none has a border at the date line."""
    topology = country_outlines(code)
    scale, translate = topology["transform"]["scale"], topology["transform"]["translate"]
    lines = [np.cumsum(arc, axis=0) * scale + translate for arc in topology["arcs"]]
    assert 180 < max(line[:, 0].max() for line in lines) < 200
    assert min(line[:, 0].min() for line in lines) > 0
    (shape,) = [s for s in topology["objects"]["regions"]["geometries"] if s["id"] == across]
    own = [lines[a if a >= 0 else ~a] for polygon in shape["arcs"] for ring in polygon for a in ring]
    on_the_line = [np.abs(line[:, 0] - 180) < scale[0] / 2 for line in own]
    assert not any((here[:-1] & here[1:]).any() for here in on_the_line)


def test_a_code_may_be_written_in_small_letters_and_names_a_source() -> None:
    """`ie` and `IE` are the same country."""
    assert load_geography("ie") == load_geography("IE")
    assert load_geography("IE").source == "IE"
    assert [r.name for r in load_geography("IE").regions if r.code in ("IE", "IE-D")] == ["Ireland", "Dublin"]


@pytest.mark.parametrize(
    ("code", "says"),
    [("FR", "FR: France is not packaged: 15 of its 110 ISO codes have no outline"), ("qq", "qq: is not the ISO 3166")],
)
def test_a_country_that_is_not_packaged_says_why(code: str, says: str) -> None:
    """With what to do: bring a table."""
    with pytest.raises(GeographyError, match=says) as caught:
        load_geography(code)
    assert "table of regions of your own" in str(caught.value)


def test_every_country_has_regions_or_a_reason() -> None:
    """The list is honest about the rest; a territory without codes of its own regions is named, too."""
    assert all((country.regions > 0) != bool(country.why_not) for country in countries().values())
    assert all(country.name for country in countries().values())
    assert countries()["BA"].why_not == "44.1% of its outlines have no ISO code"
    with pytest.raises(GeographyError, match="table of its own, 'us'"):
        require_country("US")


def test_place_ids_name_packaged_countries_only() -> None:
    """A country of another table, or one that is not packaged, has no packaged map."""
    assert [code_of(p) for p in ("iso/IE", "iso/IE-D", "iso/FR", "country/USA", "IE")] == ["IE", None, None, None, None]


def test_the_page_lists_every_country() -> None:
    """docs/geography.md has the codes that are packaged, and those that are not with the reason."""
    page = Path(__file__).parents[2].joinpath("docs", "geography.md").read_text(encoding="utf-8")
    section = " ".join(page.partition("## Other countries")[2].partition("\n## ")[0].split())
    for code, country in countries().items():
        line = f"| {code} | {country.name} | {country.why_not} |" if country.why_not else f"{country.name} ({code})"
        assert line in section, code


def test_the_record_of_sources_matches_the_packaged_files() -> None:
    """The checksums show whether a file is the one that was built."""
    table, listed, shapes = record("world_sources.json")["outputs"]
    for output in (table, listed):
        assert hashlib.sha256(packaged(output["file"]).read_bytes()).hexdigest() == output["sha256"]
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in packaged("world_shapes").iterdir()}
    assert found == shapes["sha256"]
    assert {name.removesuffix(".topojson") for name in found} == set(PACKAGED)


def test_the_record_of_sources_has_origin_vintage_and_licence() -> None:
    """What is packaged is in the public domain; what was only compared with is named apart."""
    sources = record("world_sources.json")
    assert [s["licence"].startswith("Public domain") for s in sources["sources"]] == [True]
    assert "nothing of it is packaged" in sources["compared_with"][0]["licence"]
    for source in (*sources["sources"], *sources["compared_with"]):
        assert all(source[key] for key in ("file", "origin", "vintage", "licence", "gives"))
        assert all(re.fullmatch("[0-9a-f]{64}", text) for text in (source["sha256"], source["package"]["sha256"]))


def test_packaged_geographies_name_their_sources(tmp_path: Path) -> None:
    """Also if a publisher added populations; the table of anyone else has none."""
    ireland = load_country("IE")
    assert attribution(ireland)[0].startswith("Natural Earth")
    peopled = [[*row[:4], 100_000, *row[5:]] for row in country_rows("IE", COLUMNS)]
    assert attribution(load_geography(write_csv(tmp_path / "ie.csv", peopled, list(COLUMNS)))) == attribution(ireland)
    assert attribution(load_geography(other_geography(tmp_path))) == ()


def test_the_data_stays_small() -> None:
    """Everyone who installs the package downloads it: at most 3 MB, before compression."""
    files = [p for pattern in ("world_shapes/*", "world_*.*") for p in packaged("").glob(pattern)]
    assert sum(path.stat().st_size for path in files) < 3_000_000
