"""How the United States is put together: one country, its states, their counties and ZIP areas.

Four kinds of official table go in (people, land, ZIP areas, and the share of a ZIP's addresses in each
county) and one table of regions comes out.  The importers below read the files as the Census Bureau and
HUD publish them; the build tool feeds the same assembly with the same tables from other packages, so
that both make the same United States.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.errors import InputError

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


@dataclass(frozen=True)
class _Column:
    """A column that an importer needs: a code of so many digits, a number from low to high, or text."""

    header: str
    digits: int = 0
    low: float | None = None
    high: float = 1e15
    optional: bool = False

    @property
    def sql_name(self) -> str:
        """The name of the column in the tables made here."""
        return self.header.lower()


_ESTIMATES = (
    _Column("SUMLEV", digits=3),
    _Column("STATE", digits=2),
    _Column("COUNTY", digits=3),
    _Column("STNAME"),
    _Column("CTYNAME"),
    _Column("POPESTIMATE2018", low=0),
)
_GAZETTEER = (
    _Column("GEOID", digits=5),
    _Column("ALAND", low=0),
    _Column("INTPTLAT", low=-90, high=90),
    _Column("INTPTLONG", low=-180, high=180),
)
_CROSSWALK = (
    _Column("ZIP", digits=5),
    _Column("COUNTY", digits=5),
    _Column("TOT_RATIO", low=0, high=1.000001),
    _Column("USPS_ZIP_PREF_CITY", optional=True),
)

_PEOPLE_QUERY = """
    select state || case sumlev when '050' then county else '' end as fips,
           case sumlev when '050' then ctyname else stname end as name,
           popestimate2018 as population
    from estimates where sumlev in ('040', '050')"""
_LAND_QUERY = """
    select geoid as fips, aland / 1e6 as land_area_km2, intptlat as latitude, intptlong as longitude
    from counties"""
# USPS writes cities in capitals: each run of letters keeps its first one.
_ZIPS_QUERY = r"""
    select geoid as zip, city, null as population, aland / 1e6 as land_area_km2,
           intptlat as latitude, intptlong as longitude, null as county
    from zctas left join (
        select zip as geoid, min(array_to_string(list_transform(
            regexp_extract_all(lower(usps_zip_pref_city), '[a-z]+|[^a-z]+'),
            lambda part: upper(part[1]) || part[2:]), '')) as city
        from crosswalk where usps_zip_pref_city <> '' group by zip
    ) using (geoid)"""
_SHARES_QUERY = "select zip, county, tot_ratio as share from crosswalk"


def build_us_geography(estimates: Path, counties: Path, zctas: Path, crosswalk: Path, out: Path) -> Path:
    """Make the table of regions from the official files, and say where it was written."""
    connection = connect()
    _read(connection, estimates, "estimates", _ESTIMATES)
    _read(connection, counties, "counties", _GAZETTEER)
    _read(connection, zctas, "zctas", _GAZETTEER)
    _read(connection, crosswalk, "crosswalk", _CROSSWALK)
    inputs = UsInputs(
        people=Source(str(estimates), _PEOPLE_QUERY),
        land=Source(str(counties), _LAND_QUERY),
        zips=Source(str(zctas), _ZIPS_QUERY),
        shares=Source(str(crosswalk), _SHARES_QUERY),
    )
    return assemble(connection, inputs, out)


def connect() -> duckdb.DuckDBPyConnection:
    """Open a database in memory, on one thread so that sums and files come out the same every time."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1})


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
        twice = _first(connection, f"select {key} from given_{name} group by 1 having count(*) > 1 order by 1")
        if twice:
            raise _wrong(
                source.label,
                f"{twice[0]} appears more than once",
                "one row for each region",
                "remove the repeated rows",
            )


def _check_complete(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Every county has its state, and every region of the estimates has land."""
    orphan = _first(
        connection,
        """select fips, name from people where left(fips, 2) not in
                                   (select fips from people where length(fips) = 2) order by 1""",
    )
    if orphan:
        raise _wrong(
            inputs.people.label,
            f"county {orphan[0]} ({orphan[1]}) has no row for its state",
            f"a row for state {orphan[0][:2]}",
            "use the complete file",
        )
    bare = _first(
        connection,
        """select fips, name from people where fips not in (select fips from land)
                                 order by length(fips) desc, fips""",
    )
    if bare:
        kind = "county" if len(bare[0]) == 5 else "state"
        raise _wrong(
            inputs.land.label,
            f"{kind} {bare[0]} ({bare[1]}) has no land area",
            f"every {kind} of {inputs.people.label}",
            "use a Gazetteer file whose counties are those of 2018",
        )


def _check_zips(connection: duckdb.DuckDBPyConnection, inputs: UsInputs) -> None:
    """Every ZIP's county is in the table; a ZIP without a county is left out, and the user is told."""
    stray = _first(
        connection,
        """select zip, county from zip_areas
                                  where county not in (select fips from people) order by 1""",
    )
    if stray:
        raise _wrong(
            inputs.shares.label,
            f"county {stray[1]} of ZIP {stray[0]} is unknown",
            f"the counties of {inputs.people.label}",
            "use a crosswalk whose counties are those of 2018",
        )
    kept, lost = _first(connection, "select count(county), count(*) - count(county) from zip_areas") or (0, 0)
    if not kept:
        raise _wrong(
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
        raise _wrong(
            str(out),
            "the file cannot be written",
            "a file name in a folder that exists",
            "make the folder or choose another file",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return out


def _read(connection: duckdb.DuckDBPyConnection, path: Path, name: str, columns: Sequence[_Column]) -> None:
    """Read the columns that are needed from an official file into a table, checked and trimmed."""
    encoding = _encoding(path)
    delimiter, headers = _headers(path, encoding)
    fields = ", ".join(_field(path, headers, column) for column in columns)
    types = "{" + ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(headers))) + "}"
    _load(
        connection,
        path,
        f"""
        create temp table raw_{name} as select row_number() over () + 1 as line, {fields}
        from read_csv(?, auto_detect = false, header = false, skip = 1, columns = {types}, quote = '"',
                      escape = '"', delim = '{delimiter}', encoding = '{encoding}', null_padding = true)""",
    )
    for column in columns:
        _check_column(connection, path, name, column)
    values = ", ".join(_value(column) for column in columns)
    connection.execute(f"create temp table {name} as select {values} from raw_{name} order by line")


def _encoding(path: Path) -> str:
    """How the text is encoded; the Census Bureau writes latin-1, a file that was saved again is UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _wrong(str(path), "the file cannot be read", "a file that exists", "check the path") from error
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise _wrong(
            str(path),
            "this is an Excel workbook or an archive",
            "plain text (CSV or .txt)",
            "save the sheet as CSV, or unpack the archive",
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _headers(path: Path, encoding: str) -> tuple[str, list[str]]:
    """The separator and the column names, in capitals and without the blanks that pad them."""
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding) as lines:
        line = lines.readline()
    delimiter = max("\t|,", key=line.count)
    return delimiter, [header.strip().strip('"').strip().upper() for header in line.split(delimiter)]


def _field(path: Path, headers: list[str], column: _Column) -> str:
    """The SQL that picks one column by its place, since names may be padded or repeated."""
    if column.header in headers:
        return f"trim(c{headers.index(column.header)}) as {column.sql_name}"
    if column.optional:
        return f"null::varchar as {column.sql_name}"
    raise _wrong(
        f"{path}: column {column.header}",
        "the column is missing",
        _expectation(column),
        "download the file again, and keep its first line",
    )


def _load(connection: duckdb.DuckDBPyConnection, path: Path, statement: str) -> None:
    """Run the statement that reads a file, and name the file when its rows are not a table."""
    import duckdb

    try:
        connection.execute(statement, [str(path)])
    except duckdb.Error as error:
        reason = " ".join(str(error).split("\n")[0].split())
        raise _wrong(
            str(path),
            f"the rows cannot be read ({reason})",
            "as many values in a row as column names",
            "download the file again",
        ) from error


def _check_column(connection: duckdb.DuckDBPyConnection, path: Path, name: str, column: _Column) -> None:
    """Stop at the first value that is not what its column must hold."""
    field = column.sql_name
    if column.digits:
        good = f"regexp_full_match({field}, '[0-9]{{1,{column.digits}}}')"
    elif column.low is not None:
        good = f"try_cast({field} as double) between {column.low} and {column.high}"
    else:
        return
    bad = _first(
        connection, f"select line, coalesce({field}, '') from raw_{name} where ({good}) is not true order by 1"
    )
    if bad:
        raise _wrong(
            f"{path}: column {column.header}",
            f"{bad[1]!r} in line {bad[0]}",
            _expectation(column),
            "correct the line or download the file again",
        )


def _expectation(column: _Column) -> str:
    """What a column must hold, in words."""
    if column.digits:
        return f"a code of {column.digits} digits"
    if column.low is None:
        return "text"
    return "a number that is not negative" if column.low == 0 else f"a number from {column.low} to {column.high}"


def _value(column: _Column) -> str:
    """The SQL of a checked value; a code that went through a spreadsheet gets its zeros back."""
    if column.digits:
        return f"lpad({column.sql_name}, {column.digits}, '0') as {column.sql_name}"
    return column.sql_name if column.low is None else f"{column.sql_name}::double as {column.sql_name}"


def _first(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[str, ...] | None:
    """The first row of a query, if there is one."""
    # All rows are fetched, since the connection is busy until the last one is.
    rows: list[tuple[str, ...]] = connection.execute(query).fetchall()
    return rows[0] if rows else None


def _wrong(where: str, found: str, expected: str, remedy: str) -> InputError:
    """One line that says where, what is wrong, what was expected and what to do."""
    return InputError(f"{where}: {found}; expected {expected}; {remedy}")
