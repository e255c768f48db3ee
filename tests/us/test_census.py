"""Promises about the import of the official files, tried on small files in their form."""

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from search_insights.errors import InputError
from search_insights.spec.geography import load_geography
from search_insights.spec.straddling import load_straddling
from search_insights.us.census import build_us_geography
from tests.support.region_tables import REGION_COLUMNS, Row

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
    """Return a table in the form of the Gazetteer: another separator, and blanks at the end of every line."""
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
        with duckdb.connect() as connection:
            connection.read_parquet(str(self.build())).create_view("r")
            return connection.execute(query).fetchall()


@pytest.fixture
def official(tmp_path: Path) -> Official:
    return Official(tmp_path).write(
        estimates=ESTIMATES, counties=padded(COUNTIES, "\t"), zctas=padded(ZCTAS, "\t"), crosswalk=CROSSWALK
    )


def test_official_files_make_a_table_of_the_same_form(official: Official) -> None:
    """The result has the columns, order and keys of the packaged table."""
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
    assert [row[:2] for row in official.rows("describe r")] == REGION_COLUMNS


def test_estimates_are_read_in_the_encoding_of_the_census_bureau(official: Official) -> None:
    """The official file is latin-1, and Doña Ana County keeps its ñ; a file saved as UTF-8 works too."""
    assert official.rows("select name from r where place_id = 'geoId/35013'") == [("Doña Ana County",)]
    official.write(estimates=ESTIMATES.encode("utf-8-sig"))
    assert official.rows("select name from r where place_id = 'geoId/35013'") == [("Doña Ana County",)]


@pytest.mark.parametrize("separator", ["\t", "|", ","])
def test_gazetteer_files_of_any_year_are_read(official: Official, separator: str) -> None:
    """Older files are separated by tabs, newer ones by bars; both are padded with blanks."""
    official.write(counties=padded(COUNTIES, separator), zctas=padded(ZCTAS, separator))
    rows = official.rows("select land_area_km2, latitude, longitude from r where place_id = 'zip/99566'")
    assert rows == [(5533.233625, 61.12346, -144.25)]


def test_windows_line_ends_change_nothing(official: Official) -> None:
    """A file that was saved on Windows gives the same table, byte for byte."""
    expected = official.build().read_bytes()
    for name in NAMES:
        path = official.folder / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert official.build().read_bytes() == expected


def test_lost_leading_zeros_are_restored(official: Official) -> None:
    """A spreadsheet turns 02063 into 2063; the codes are restored, and column names may be in lower case."""
    expected = official.build().read_bytes()
    header, *lines = CROSSWALK.splitlines()
    bare = [re.sub(r"(^|,)0+(\d{3,4},)", r"\1\2", line) for line in lines]
    assert bare[-1].startswith("99566,2066,")
    official.write(crosswalk="\n".join([header.lower(), *bare]) + "\n")
    official.write(estimates=re.sub(r"(?m)^0(\d\d),", r"\1,", ESTIMATES).replace(",02,", ",2,"))
    assert official.build().read_bytes() == expected


def test_split_counties_are_joined_under_their_code_of_2018(official: Official) -> None:
    """Chugach and Copper River become Valdez-Cordova: land is added up, the point is the mean weighted by land."""
    rows = official.rows("select land_area_km2, latitude, longitude from r where place_id = 'geoId/02261'")
    assert rows == [(4.0, 61.5, -143.0)]


def test_a_state_is_the_sum_of_its_counties_even_across_the_antimeridian(official: Official) -> None:
    """The Aleutians at 178 degrees east do not pull Alaska across the Pacific."""
    rows = official.rows("select population, land_area_km2, latitude, longitude from r where code = 'US-AK'")
    assert rows == [(300, 5.0, 59.6, -150.8)]
    assert official.rows("select longitude from r where place_id = 'geoId/02016'") == [(178.0,)]


def test_cities_are_not_written_in_capitals(official: Official) -> None:
    """USPS writes capitals; in the name of a ZIP only the first letter of each word is one."""
    rows = official.rows("select name from r where level = 'postal_code' order by code")
    assert [row[0] for row in rows] == ["Washington", "Las Cruces", "White Sands-O'Neil Range", "Chitina"]


def test_without_city_names_a_zip_is_named_by_its_code(official: Official) -> None:
    """The column with the city is optional."""
    lines = [line.split(",") for line in CROSSWALK.splitlines()]
    official.write(crosswalk="".join(f"{','.join(line[:2] + line[4:])}\n" for line in lines))
    assert official.rows("select distinct name = code from r where level = 'postal_code'") == [(True,)]


def test_a_zip_that_is_not_in_the_crosswalk_is_left_out_with_a_warning(
    official: Official, caplog: pytest.LogCaptureFixture
) -> None:
    """Its county is unknown, so it is not in the table, and a warning says how many there were."""
    with caplog.at_level(logging.WARNING):
        assert official.rows("select count(*) from r where code = '88999'") == [(0,)]
    assert "1 ZIP areas are not in" in caplog.text


def test_the_same_files_give_the_same_bytes(official: Official) -> None:
    """Building the table again gives the same file, bit for bit."""
    first = official.build().read_bytes()
    assert official.build().read_bytes() == first


def test_the_shares_of_straddling_zips_are_written_on_request(official: Official) -> None:
    """Each other county of a ZIP with its share; codes of other years count as those of 2018, and sum up."""
    table = official.folder / "straddling.parquet"
    estimates, counties, zctas, crosswalk = (official.folder / name for name in NAMES)
    out = build_us_geography(estimates, counties, zctas, crosswalk, official.folder / "out.parquet", table)
    assert out.read_bytes() == official.build().read_bytes()
    assert load_straddling(load_geography(out), table).rows == (
        ("zip/88001", "geoId/35021", 0.5),
        ("zip/88002", "geoId/35013", 0.1),
        ("zip/99566", "geoId/02016", 0.4),
    )


@pytest.mark.parametrize("name", ["out.parquet", "missing/straddling.parquet"])
def test_a_straddling_table_that_cannot_be_written_is_refused_first(official: Official, name: str) -> None:
    """It must not replace the table of regions, nor leave that alone behind."""
    files = [official.folder / each for each in (*NAMES, "out.parquet", name)]
    with pytest.raises(InputError, match=f"{name}: the file cannot be written"):
        build_us_geography(*files)
    assert not (official.folder / "out.parquet").exists()


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
    """The message names the missing file."""
    (official.folder / "zctas").unlink()
    with pytest.raises(InputError, match=r"zctas: the file cannot be read; expected a file that exists; check"):
        official.build()


def test_a_failed_build_leaves_the_earlier_table_alone(official: Official) -> None:
    """The table is replaced completely or not at all, and no other file is left behind."""
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
