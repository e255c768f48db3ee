"""Promises about the packaged tables that go deeper than level 1: what they have and leave out, and whose it is."""

import hashlib
import json
import re
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from search_insights.errors import GeographyError
from search_insights.spec.attribution import attribution
from search_insights.spec.deeper import deeper_name, deeper_outlines, deeper_sources, deeper_tables, tables_of
from search_insights.spec.geography import Geography, load_country, load_geography, write_regions
from search_insights.spec.world import tables_with

# Where each country is: least and most longitude and latitude.
FRAMES = {"CA": (-141.1, 41.6, -52.5, 83.2), "GB": (-8.7, 49.8, 1.9, 61.0), "NZ": (166.0, -47.6, 178.7, -34.0)}
# Land areas in km2 as Stats NZ publishes them for regions.
KNOWN_KM2 = {"Northland": 12_500, "Auckland": 4_942, "Canterbury": 44_504, "Nelson": 422}
# Well-known places: latitude and longitude to a tenth of a degree or so.
KNOWN_POINTS = {
    **{"postcode/EC1A": (51.52, -0.10), "postcode/EH1": (55.95, -3.19), "postcode/ZE1": (60.15, -1.15)},
    **{"ons/W06000015": (51.49, -3.2), "fsa/M5V": (43.64, -79.40), "fsa/V6B": (49.28, -123.11)},
}


def packaged(name: str) -> Path:
    return Path(str(resources.files("search_insights.spec") / "packaged" / "deeper" / name))


@pytest.fixture(scope="module")
def tables() -> dict[str, Geography]:
    return {name: load_geography(name) for name in deeper_tables()}


def levels_of(geography: Geography) -> dict[str, int]:
    return dict(Counter(region.level for region in geography.regions))


def test_the_tables_have_the_regions_that_their_sources_have(tables: dict[str, Geography]) -> None:
    """A name ends the table at its level. Canada's H0H, which is no place, is left out."""
    assert tuple(tables) == ("CA-fsa", "GB-district", "GB-authority", "GB-nation", "NZ-region")
    assert levels_of(tables["CA-fsa"]) == {"country": 1, "region": 13, "forward_sortation_area": 1_650}
    assert levels_of(tables["GB-authority"]) == {"country": 1, "nation": 4, "local_authority": 361}
    assert levels_of(tables["GB-district"]) == levels_of(tables["GB-authority"]) | {"postcode_district": 2_997}
    assert levels_of(tables["GB-nation"]) == {"country": 1, "nation": 4}
    assert levels_of(tables["NZ-region"]) == {"country": 1, "region": 16}
    assert not {"fsa/H0H", "postcode/BT1"} & {place for table in tables.values() for place in table.by_place_id}


def test_every_point_lies_in_its_country_and_known_ones_at_their_place(tables: dict[str, Geography]) -> None:
    """No mean was made up: authorities of Northern Ireland, whose postcodes are not free to use, have no centre."""
    for name, table in tables.items():
        west, south, east, north = FRAMES[name[:2]]
        for region in table.regions:
            if region.latitude is None or region.longitude is None:
                assert region.code.startswith("N09"), region
            else:
                assert west <= region.longitude <= east, region
                assert south <= region.latitude <= north, region
    every = {r.place_id: r for name in ("GB-district", "CA-fsa") for r in tables[name].regions}
    for place, point in KNOWN_POINTS.items():
        assert (every[place].latitude, every[place].longitude) == pytest.approx(point, abs=0.06)


def test_areas_are_the_published_ones(tables: dict[str, Geography]) -> None:
    """Land alone, without the sea that belongs to a region; those of districts are not known."""
    areas = {region.name: region.land_area_km2 for region in tables["NZ-region"].regions}
    assert {name: areas[name] for name in KNOWN_KM2} == pytest.approx(KNOWN_KM2, abs=1)
    nations = {region.name: region.land_area_km2 for region in tables["GB-nation"].regions}
    assert nations["Scotland"] == pytest.approx(77_900, rel=0.04)
    districts = [r for r in tables["GB-district"].regions if r.level == "postcode_district"]
    assert {r.land_area_km2 for r in districts} == {None}


def test_outlines_are_those_of_the_regions_that_have_one(tables: dict[str, Geography]) -> None:
    """Nations and regions are drawn; authorities, districts and forward sortation areas are points."""
    for country, table in (("GB", "GB-nation"), ("NZ", "NZ-region")):
        topology = deeper_outlines(country)
        assert topology is not None
        shapes = topology["objects"]["regions"]["geometries"]
        assert {shape["id"] for shape in shapes} == {region.place_id for region in tables[table].regions[1:]}
    assert deeper_outlines("CA") is None
    assert deeper_outlines("IE") is None


@pytest.mark.parametrize("name", ["GB-district", "CA-fsa", "NZ-region"])
def test_a_table_passes_the_checks_of_a_file(name: str, tables: dict[str, Geography], tmp_path: Path) -> None:
    """So a publisher may change it and load it again."""
    write_regions(tmp_path / "regions.csv", tables[name].regions)
    assert load_geography(tmp_path / "regions.csv").fingerprint == tables[name].fingerprint


def test_a_table_is_found_by_its_name_or_its_country() -> None:
    """Names may be written in small letters; a country without a level-1 table names its deeper ones."""
    assert (deeper_name("gb-Nation"), deeper_name("GB"), deeper_name("IE-region")) == ("GB-nation", None, None)
    assert load_country("ca-FSA").source == "CA-fsa"
    assert tables_of("IE") == ()
    assert tables_with("iso/CA") == ("CA", "CA-fsa")
    assert tables_with("iso/GB") == ("GB-nation", "GB-authority", "GB-district")
    assert tables_with("country/USA") == ()
    with pytest.raises(GeographyError, match="use 'GB-district' or 'GB-authority' or 'GB-nation', or give a table"):
        load_country("GB")


def test_the_record_of_sources_matches_the_files_and_names_licences() -> None:
    """Only public domain, CC BY and the Open Government Licence: nothing that is restricted or share-alike."""
    for record in deeper_sources().values():
        for output in record["outputs"]:
            assert hashlib.sha256(packaged(output["file"]).read_bytes()).hexdigest() == output["sha256"]
        for source in record["sources"]:
            assert all(source[key] for key in ("origin", "vintage", "licence", "gives"))
            assert source["licence"].startswith(("Public domain", "CC BY 4.0", "Open Government Licence v3.0"))
            assert re.fullmatch("[0-9a-f]{64}", source["package"]["sha256"])


def test_datasets_of_deeper_tables_name_their_sources(tables: dict[str, Geography]) -> None:
    """The lines that the licences ask for; level 1 of the same country keeps its own."""
    assert any("© GeoNames" in line and "CC BY 4.0" in line for line in attribution(tables["CA-fsa"]))
    assert any("OS data © Crown copyright" in line for line in attribution(tables["GB-district"]))
    assert any("Royal Mail data ©" in line for line in attribution(tables["GB-authority"]))
    assert [line.split(",")[0] for line in attribution(load_country("CA"))] == ["Natural Earth"]
    assert ["Stats NZ" in line or "LINZ" in line for line in attribution(tables["NZ-region"])] == [True, True]


def test_the_data_stays_small() -> None:
    """With the world and its map, everyone who installs the package downloads less than 3 MB more for all of it."""
    folder = packaged("").parent
    files = [p for pattern in ("world_shapes/*", "world_*.*", "deeper/*") for p in folder.glob(pattern)]
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_the_map_of_the_world_has_every_country_of_the_list() -> None:
    """All with regions of their own, and the United States: each may be one of several countries of a site."""
    content: Any = json.loads((packaged("").parent / "world_map.topojson").read_text(encoding="utf-8"))
    ids = {shape["id"] for shape in content["objects"]["countries"]["geometries"]}
    listed = json.loads((packaged("").parent / "world_countries.json").read_text(encoding="utf-8"))
    assert {code for code, facts in listed.items() if facts["packaged"]} | {"US", "GB"} <= ids
