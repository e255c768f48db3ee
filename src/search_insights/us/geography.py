"""How the United States is put together: one country, its states, their counties and ZIP areas.

Four kinds of official table go in (people, land, ZIP areas, and the share of a ZIP's addresses in each county) and one
table of regions comes out. `us_census` feeds it the official files; the build tool feeds it the same tables from other
packages, so that both make the same United States.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.errors import InputError
from search_insights.support.database import connect

if TYPE_CHECKING:
    import duckdb

_log = logging.getLogger(__name__)

# The 50 states and the District of Columbia; a code that is not here is a territory and is left out.
STATES = {
    "01": "AL", "02": "AK", "04": "AZ", "05": "AR", "06": "CA", "08": "CO", "09": "CT", "10": "DE", "11": "DC",
    "12": "FL", "13": "GA", "15": "HI", "16": "ID", "17": "IL", "18": "IN", "19": "IA", "20": "KS", "21": "KY",
    "22": "LA", "23": "ME", "24": "MD", "25": "MA", "26": "MI", "27": "MN", "28": "MS", "29": "MO", "30": "MT",
    "31": "NE", "32": "NV", "33": "NH", "34": "NJ", "35": "NM", "36": "NY", "37": "NC", "38": "ND", "39": "OH",
    "40": "OK", "41": "OR", "42": "PA", "44": "RI", "45": "SC", "46": "SD", "47": "TN", "48": "TX", "49": "UT",
    "50": "VT", "51": "VA", "53": "WA", "54": "WV", "55": "WI", "56": "WY",
}  # fmt: skip

# Files of other years use other codes for the same land; the table keeps the codes of 2018.
CODE_CHANGES = {
    "46113": "46102",  # Shannon County was renamed Oglala Lakota County in 2015
    "02270": "02158",  # Wade Hampton Census Area was renamed Kusilvak Census Area in 2015
    "02063": "02261",  # Valdez-Cordova was split into Chugach ...
    "02066": "02261",  # ... and Copper River in 2019
}

COLUMNS = (
    "code", "name", "level", "parent", "population", "land_area_km2", "latitude", "longitude", "place_id",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """One input of the assembly: the file to name when something is wrong, and a query over its rows."""

    label: str
    query: str


@dataclass(frozen=True)
class UsInputs:
    """The four inputs of the assembly, each a query that yields the columns given here.

    people: fips (2 digits for a state, 5 for a county), name, population.
    land: fips (counties, and states where known), land_area_km2, latitude, longitude.
    zips: zip, city, population, land_area_km2, latitude, longitude, county (if no share names one).
    shares: zip, county, share (may come in parts, such as one row a tract; parts are added up).
    """

    people: Source
    land: Source
    zips: Source
    shares: Source


def connect_steadily() -> duckdb.DuckDBPyConnection:
    """Open a database in memory, on one thread so that sums and files come out the same every time."""
    return connect(threads=1)


def assemble(connection: duckdb.DuckDBPyConnection, inputs: UsInputs, out: Path) -> Path:
    """Put the four inputs together into one table of regions and write it as Parquet."""
    _load_constants(connection)
    for name in ("people", "land", "zips", "shares"):
        source: Source = getattr(inputs, name)
        connection.execute(f"create temp table given_{name} as {source.query}")
    _check_unique(connection, inputs)
    for statement in (_PEOPLE, _LAND, _STATE_LAND, _HOMES, _ZIP_AREAS):
        connection.execute(statement)
    _check_complete(connection, inputs)
    _check_zips(connection, inputs)
    return _write(connection, out)


def _load_constants(connection: duckdb.DuckDBPyConnection) -> None:
    """The states and the changed codes as tables, for the statements below."""
    for name, pairs in (("states", STATES), ("changes", CODE_CHANGES)):
        rows = ", ".join(f"('{key}', '{value}')" for key, value in pairs.items())
        connection.execute(f"create temp table {name} as select * from (values {rows}) as t(fips, value)")


_PEOPLE = """
    create temp table people as
    select fips, trim(name) as name, population::bigint as population
    from given_people where left(fips, 2) in (select fips from states)"""

# Longitudes past the antimeridian (the western Aleutians) are counted on beyond -180, or a mean of them
# would lie on the wrong side of the world.
_LAND = """
    create temp table land as
    select coalesce(value, fips) as fips, sum(land_area_km2) as area,
           sum(latitude * land_area_km2) / sum(land_area_km2) as latitude,
           sum((longitude - case when longitude > 0 then 360 else 0 end) * land_area_km2)
               / sum(land_area_km2) as longitude
    from given_land left join changes using (fips)
    where left(fips, 2) in (select fips from states) and land_area_km2 > 0
    group by 1 order by 1"""

# A state that the input does not describe is the sum of its counties.
_STATE_LAND = """
    insert into land
    select left(fips, 2) as state, sum(area), sum(latitude * area) / sum(area),
           sum(longitude * area) / sum(area)
    from land where length(fips) = 5 and left(fips, 2) not in (select fips from land where length(fips) = 2)
    group by 1 order by 1"""

# Sums are rounded before they are compared, so that equal halves are a tie whatever order they were
# added in; a tie goes to the lowest code.
_HOMES = """
    create temp table homes as
    select zip, county from (
        select zip, coalesce(value, county) as county, round(sum(share), 9) as share
        from given_shares left join changes on changes.fips = county group by 1, 2
    ) qualify row_number() over (partition by zip order by share desc, county) = 1"""

_ZIP_AREAS = """
    create temp table zip_areas as
    select * from (
        select z.* exclude (county), coalesce(homes.county, value, z.county) as county
        from given_zips as z left join homes using (zip) left join changes on changes.fips = z.county
    ) where county is null or left(county, 2) in (select fips from states)"""

_REGIONS = """
    with described as (
        select people.*, area, latitude, longitude from people join land using (fips)
    ), regions as (
        select 0 as rank, 'US' as code, 'United States' as name, 'country' as level, null as parent,
               sum(population) as population, sum(area) as area,
               sum(latitude * area) / sum(area) as latitude, sum(longitude * area) / sum(area) as longitude,
               'country/USA' as place_id
        from described where length(fips) = 2
        union all by name
        select 1 as rank, 'US-' || value as code, described.* exclude (fips), 'state' as level,
               'country/USA' as parent, 'geoId/' || fips as place_id
        from described join states using (fips)
        union all by name
        select 2 as rank, fips as code, described.* exclude (fips), 'county' as level,
               'geoId/' || left(fips, 2) as parent, 'geoId/' || fips as place_id
        from described where length(fips) = 5
        union all by name
        select 3 as rank, zip as code, coalesce(nullif(trim(city), ''), zip) as name, 'postal_code' as level,
               'geoId/' || county as parent, population, land_area_km2 as area, latitude, longitude,
               'zip/' || zip as place_id
        from zip_areas where county is not null
    )
    select code, name, level, parent, population::bigint as population,
           round(area, 6)::double as land_area_km2, round(latitude, 5)::double as latitude,
           round(longitude + case when longitude < -180 then 360 else 0 end, 5)::double as longitude, place_id
    from regions order by rank, code"""


def _check_unique(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """One row a region: a region given twice would be counted twice."""
    keys = ((inputs.people, "people", "fips"), (inputs.land, "land", "fips"), (inputs.zips, "zips", "zip"))
    for source, name, key in keys:
        twice = first_row(connection, f"select {key} from given_{name} group by 1 having count(*) > 1 order by 1")
        if twice:
            raise wrong(
                source.label,
                f"{twice[0]} appears more than once",
                "one row for each region",
                "remove the repeated rows",
            )


def _check_complete(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Every county has its state, and every region of the estimates has land."""
    orphan = first_row(
        connection,
        """select fips, name from people where left(fips, 2) not in
                                   (select fips from people where length(fips) = 2) order by 1""",
    )
    if orphan:
        raise wrong(
            inputs.people.label,
            f"county {orphan[0]} ({orphan[1]}) has no row for its state",
            f"a row for state {orphan[0][:2]}",
            "use the complete file",
        )
    bare = first_row(
        connection,
        """select fips, name from people where fips not in (select fips from land)
                                 order by length(fips) desc, fips""",
    )
    if bare:
        kind = "county" if len(bare[0]) == 5 else "state"
        raise wrong(
            inputs.land.label,
            f"{kind} {bare[0]} ({bare[1]}) has no land area",
            f"every {kind} of {inputs.people.label}",
            "use a Gazetteer file whose counties are those of 2018",
        )


def _check_zips(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Every ZIP's county is in the table; a ZIP without a county is left out, and the user is told."""
    stray = first_row(
        connection,
        """select zip, county from zip_areas
                                  where county not in (select fips from people) order by 1""",
    )
    if stray:
        raise wrong(
            inputs.shares.label,
            f"county {stray[1]} of ZIP {stray[0]} is unknown",
            f"the counties of {inputs.people.label}",
            "use a crosswalk whose counties are those of 2018",
        )
    kept, lost = first_row(connection, "select count(county), count(*) - count(county) from zip_areas") or (0, 0)
    if not kept:
        raise wrong(
            inputs.shares.label,
            f"no ZIP of {inputs.zips.label} is named",
            "ZIP codes of five digits",
            "check that the two files are not exchanged",
        )
    if lost:
        _log.warning("%s: %d ZIP areas are not in %s and were left out", inputs.zips.label, lost, inputs.shares.label)


def _write(connection: duckdb.DuckDBPyConnection, out: Path) -> Path:
    """Write the table whole or not at all: a reader never sees half a file."""
    import duckdb

    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        connection.sql(_REGIONS).write_parquet(str(temporary), compression="zstd")
        temporary.replace(out)
    except (OSError, duckdb.IOException) as error:
        raise wrong(
            str(out),
            "the file cannot be written",
            "a file name in a folder that exists",
            "make the folder or choose another file",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return out


def first_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[str, ...] | None:
    """The first row of a query, if there is one."""
    # All rows are fetched, since the connection is busy until the last one is.
    rows: list[tuple[str, ...]] = connection.execute(query).fetchall()
    return rows[0] if rows else None


def wrong(where: str, found: str, expected: str, remedy: str) -> InputError:
    """One line that says where, what is wrong, what was expected and what to do."""
    return InputError(f"{where}: {found}; expected {expected}; {remedy}")
