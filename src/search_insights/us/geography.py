"""Build the table of US regions: one country, its states, their counties and ZIP areas.

The inputs are four kinds of official table: people, land, ZIP areas, and the share of a ZIP's addresses in each county.
`census` reads them from the official files; the build tool of the packaged geography reads the same tables from other
packages. Both use this module, so both build the same regions.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.errors import InputError
from search_insights.support.files import replacing_file
from search_insights.support.sql import connect, literal

if TYPE_CHECKING:
    import duckdb

_log = logging.getLogger(__name__)

# The 50 states and the District of Columbia. Any other code is a territory and is left out.
STATES = {
    "01": "AL", "02": "AK", "04": "AZ", "05": "AR", "06": "CA", "08": "CO", "09": "CT", "10": "DE", "11": "DC",
    "12": "FL", "13": "GA", "15": "HI", "16": "ID", "17": "IL", "18": "IN", "19": "IA", "20": "KS", "21": "KY",
    "22": "LA", "23": "ME", "24": "MD", "25": "MA", "26": "MI", "27": "MN", "28": "MS", "29": "MO", "30": "MT",
    "31": "NE", "32": "NV", "33": "NH", "34": "NJ", "35": "NM", "36": "NY", "37": "NC", "38": "ND", "39": "OH",
    "40": "OK", "41": "OR", "42": "PA", "44": "RI", "45": "SC", "46": "SD", "47": "TN", "48": "TX", "49": "UT",
    "50": "VT", "51": "VA", "53": "WA", "54": "WV", "55": "WI", "56": "WY",
}  # fmt: skip

# Files of other years use other codes for the same land; the table uses the codes of 2018.
CODE_CHANGES = {
    "46113": "46102",  # Shannon County was renamed Oglala Lakota County in 2015
    "02270": "02158",  # Wade Hampton Census Area was renamed Kusilvak Census Area in 2015
    "02063": "02261",  # Valdez-Cordova was split into Chugach ...
    "02066": "02261",  # ... and Copper River in 2019
}


@dataclass(frozen=True)
class Source:
    """One input table: the file to name in error messages, and a query that gives its rows."""

    label: str
    query: str


@dataclass(frozen=True)
class UsInputs:
    """The four input tables and their columns.

    people: fips (2 digits for a state, 5 for a county), name, population.
    land: fips (counties, and states where known), land_area_km2, latitude, longitude.
    zips: zip, city, population, land_area_km2, latitude, longitude, county (used if the shares do not have the ZIP).
    shares: zip, county, share (rows of one zip and county, such as its tracts, are added up).
    """

    people: Source
    land: Source
    zips: Source
    shares: Source


def connect_single_threaded() -> duckdb.DuckDBPyConnection:
    """Open a database in memory with one thread, so that sums and files are the same every time."""
    return connect(threads=1)


def assemble(connection: duckdb.DuckDBPyConnection, inputs: UsInputs, out: Path) -> Path:
    """Build the table of regions from the four inputs, write it as Parquet and return its path."""
    _load_constants(connection)
    for name in ("people", "land", "zips", "shares"):
        source: Source = getattr(inputs, name)
        connection.execute(f"create temp table input_{name} as {source.query}")
    _check_unique(connection, inputs)
    for statement in (_PEOPLE, _LAND, _STATE_LAND, _ZIP_SHARES, _ZIP_COUNTIES, _ZIP_AREAS):
        connection.execute(statement)
    _check_complete(connection, inputs)
    _check_zips(connection, inputs)
    return _write(connection, _REGIONS, out)


def write_straddling(connection: duckdb.DuckDBPyConnection, out: Path, metadata: str = "") -> Path:
    """Write which ZIPs of the assembled table straddle counties, and the share of their addresses in each other one.

    `metadata` is written into the file as its geography.
    """
    return _write(connection, _STRADDLING, out, f", KV_METADATA {{geography: {literal(metadata)}}}" if metadata else "")


def _load_constants(connection: duckdb.DuckDBPyConnection) -> None:
    """Create tables of the states and the changed codes for the statements below."""
    for name, pairs in (("states", STATES), ("changes", CODE_CHANGES)):
        rows = ", ".join(f"('{key}', '{value}')" for key, value in pairs.items())
        connection.execute(f"create temp table {name} as select * from (values {rows}) as t(fips, value)")


_PEOPLE = """
    create temp table people as
    select fips, trim(name) as name, population::bigint as population
    from input_people where left(fips, 2) in (select fips from states)"""

# Longitudes past the antimeridian (the western Aleutians) continue below -180; otherwise their mean would be on the
# wrong side of the world.
_LAND = """
    create temp table land as
    select coalesce(value, fips) as fips, sum(land_area_km2) as area,
           sum(latitude * land_area_km2) / sum(land_area_km2) as latitude,
           sum((longitude - case when longitude > 0 then 360 else 0 end) * land_area_km2)
               / sum(land_area_km2) as longitude
    from input_land left join changes using (fips)
    where left(fips, 2) in (select fips from states) and land_area_km2 > 0
    group by 1 order by 1"""

# The land of a state that the input does not have is the sum of its counties.
_STATE_LAND = """
    insert into land
    select left(fips, 2) as state, sum(area), sum(latitude * area) / sum(area),
           sum(longitude * area) / sum(area)
    from land where length(fips) = 5 and left(fips, 2) not in (select fips from land where length(fips) = 2)
    group by 1 order by 1"""

# A ZIP belongs to the county with most of its addresses; a tie goes to the lowest code. Sums are rounded before they
# are compared, so that equal halves are a tie in whatever order they were added.
_ZIP_SHARES = """
    create temp table zip_shares as
    select zip, coalesce(value, county) as county, round(sum(share), 9) as share
    from input_shares left join changes on changes.fips = county group by 1, 2"""
_ZIP_COUNTIES = """
    create temp table zip_counties as
    select zip, county from zip_shares
    qualify row_number() over (partition by zip order by share desc, county) = 1"""

_ZIP_AREAS = """
    create temp table zip_areas as
    select * from (
        select z.* exclude (county), coalesce(zip_counties.county, value, z.county) as county
        from input_zips as z left join zip_counties using (zip) left join changes on changes.fips = z.county
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

_STRADDLING = """
    select 'zip/' || zip as place_id, 'geoId/' || zip_shares.county as also_in, round(share, 6)::double as share
    from zip_shares join zip_areas using (zip)
    where zip_shares.county <> zip_areas.county and round(share, 6) > 0
      and zip_shares.county in (select fips from people where length(fips) = 5)
    order by 1, 2"""


def _check_unique(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Refuse a region with more than one row: it would be counted twice."""
    keys = ((inputs.people, "people", "fips"), (inputs.land, "land", "fips"), (inputs.zips, "zips", "zip"))
    for source, name, key in keys:
        repeated = first_row(connection, f"select {key} from input_{name} group by 1 having count(*) > 1 order by 1")
        if repeated:
            raise input_error(
                source.label,
                f"{repeated[0]} appears more than once",
                "one row for each region",
                "remove the repeated rows",
            )


def _check_complete(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Refuse a county without its state, and a region of the estimates without land."""
    orphan = first_row(
        connection,
        """select fips, name from people where left(fips, 2) not in
                                   (select fips from people where length(fips) = 2) order by 1""",
    )
    if orphan:
        raise input_error(
            inputs.people.label,
            f"county {orphan[0]} ({orphan[1]}) has no row for its state",
            f"a row for state {orphan[0][:2]}",
            "use the complete file",
        )
    landless = first_row(
        connection,
        """select fips, name from people where fips not in (select fips from land)
                                 order by length(fips) desc, fips""",
    )
    if landless:
        kind = "county" if len(landless[0]) == 5 else "state"
        raise input_error(
            inputs.land.label,
            f"{kind} {landless[0]} ({landless[1]}) has no land area",
            f"every {kind} of {inputs.people.label}",
            "use a Gazetteer file whose counties are those of 2018",
        )


def _check_zips(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Refuse a ZIP whose county is unknown; warn about ZIPs without a county, which are left out."""
    unknown = first_row(
        connection,
        """select zip, county from zip_areas
                                  where county not in (select fips from people) order by 1""",
    )
    if unknown:
        raise input_error(
            inputs.shares.label,
            f"county {unknown[1]} of ZIP {unknown[0]} is unknown",
            f"the counties of {inputs.people.label}",
            "use a crosswalk whose counties are those of 2018",
        )
    kept, left_out = first_row(connection, "select count(county), count(*) - count(county) from zip_areas") or (0, 0)
    if not kept:
        raise input_error(
            inputs.shares.label,
            f"no ZIP of {inputs.zips.label} is named",
            "ZIP codes of five digits",
            "check that the two files are not swapped",
        )
    if left_out:
        message = "%s: %d ZIP areas are not in %s and were left out"
        _log.warning(message, inputs.zips.label, left_out, inputs.shares.label)


def _write(connection: duckdb.DuckDBPyConnection, query: str, out: Path, options: str = "") -> Path:
    """Write a table to a file that appears complete or not at all."""
    import duckdb

    try:
        with replacing_file(out) as draft:
            connection.execute(f"COPY ({query}) TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd{options})")
    except (OSError, duckdb.IOException) as error:
        raise input_error(
            str(out),
            "the file cannot be written",
            "a file name in a folder that exists",
            "create the folder or choose another file",
        ) from error
    return out


def first_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[str, ...] | None:
    """Return the first row of a query, or None."""
    # Fetches all rows, because the connection is busy until the last one is fetched.
    rows: list[tuple[str, ...]] = connection.execute(query).fetchall()
    return rows[0] if rows else None


def input_error(where: str, found: str, expected: str, remedy: str) -> InputError:
    """Return an error of one line: where, what is wrong, what was expected and what to do."""
    return InputError(f"{where}: {found}; expected {expected}; {remedy}")
