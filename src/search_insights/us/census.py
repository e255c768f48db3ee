"""Import the official files of the United States, as the Census Bureau and HUD publish them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.us.geography import (
    Source,
    UsInputs,
    assemble,
    connect_single_threaded,
    first_row,
    input_error,
    write_straddling,
)

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class _Column:
    """A required column: a code of `digits` digits, a number from `low` to `high`, or text."""

    header: str
    digits: int = 0
    low: float | None = None
    high: float = 1e15
    optional: bool = False

    @property
    def sql_name(self) -> str:
        """The column's name in the tables made here."""
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
# USPS writes cities in capitals: only the first letter of each word stays one.
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


def build_us_geography(
    estimates: Path, counties: Path, zctas: Path, crosswalk: Path, out: Path, straddling: Path | None = None
) -> Path:
    """Build the table of regions from the official files, write it to `out` and return `out`.

    If a path is given for it, the table of ZIPs that straddle counties is written too.
    """
    if straddling is not None:
        _check_second_output(out, straddling)
    connection = connect_single_threaded()
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
    path = assemble(connection, inputs, out)
    if straddling is not None:
        write_straddling(connection, straddling)
    return path


def _check_second_output(out: Path, straddling: Path) -> None:
    """Refuse a second file that could not be written, or would replace the first, before either is written."""
    if straddling.resolve() == out.resolve() or not straddling.parent.is_dir():
        raise input_error(
            str(straddling),
            "the file cannot be written",
            "another file than the table of regions, in a folder that exists",
            "create the folder or choose another file",
        )


def _read(connection: duckdb.DuckDBPyConnection, path: Path, name: str, columns: Sequence[_Column]) -> None:
    """Read the required columns of an official file into the table `name`, trimmed and checked."""
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
    """Return the encoding: the Census Bureau writes latin-1, but a file that was saved again may be UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise input_error(str(path), "the file cannot be read", "a file that exists", "check the path") from error
    if content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise input_error(
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
    """Return the separator and the column names, in capitals and without padding."""
    with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding) as lines:
        line = lines.readline()
    delimiter = max("\t|,", key=line.count)
    return delimiter, [header.strip().strip('"').strip().upper() for header in line.split(delimiter)]


def _field(path: Path, headers: list[str], column: _Column) -> str:
    """Return the SQL that selects a column by position, since names may be padded or repeated."""
    if column.header in headers:
        return f"trim(c{headers.index(column.header)}) as {column.sql_name}"
    if column.optional:
        return f"null::varchar as {column.sql_name}"
    raise input_error(
        f"{path}: column {column.header}",
        "the column is missing",
        _expectation(column),
        "download the file again, and keep its first line",
    )


def _load(connection: duckdb.DuckDBPyConnection, path: Path, statement: str) -> None:
    """Run the statement that reads a file; if it fails, raise an error that names the file."""
    import duckdb

    try:
        connection.execute(statement, [str(path)])
    except duckdb.Error as error:
        reason = " ".join(str(error).split("\n")[0].split())
        raise input_error(
            str(path),
            f"the rows cannot be read ({reason})",
            "as many values in a row as column names",
            "download the file again",
        ) from error


def _check_column(connection: duckdb.DuckDBPyConnection, path: Path, name: str, column: _Column) -> None:
    """Refuse the file at the first value that is not what its column must hold."""
    field = column.sql_name
    if column.digits:
        valid = f"regexp_full_match({field}, '[0-9]{{1,{column.digits}}}')"
    elif column.low is not None:
        valid = f"try_cast({field} as double) between {column.low} and {column.high}"
    else:
        return
    invalid = first_row(
        connection, f"select line, coalesce({field}, '') from raw_{name} where ({valid}) is not true order by 1"
    )
    if invalid:
        raise input_error(
            f"{path}: column {column.header}",
            f"{invalid[1]!r} in line {invalid[0]}",
            _expectation(column),
            "correct the line or download the file again",
        )


def _expectation(column: _Column) -> str:
    """Describe what a column must hold."""
    if column.digits:
        return f"a code of {column.digits} digits"
    if column.low is None:
        return "text"
    return "a number that is not negative" if column.low == 0 else f"a number from {column.low} to {column.high}"


def _value(column: _Column) -> str:
    """Return the SQL of a checked value; a code gets back the leading zeros that spreadsheets remove."""
    if column.digits:
        return f"lpad({column.sql_name}, {column.digits}, '0') as {column.sql_name}"
    return column.sql_name if column.low is None else f"{column.sql_name}::double as {column.sql_name}"
