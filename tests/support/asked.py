"""Qazaria's dataset with top and rising searches: tables of the form that `publish` gives them, written by hand."""

import json
import shutil
from pathlib import Path

import duckdb

from tests.support.dashboards import QAZARIA, described_again

TABLE = f"{QAZARIA}_top_searches"
WEEKS = ("2023-10-01", "2023-10-08", "2023-10-15", "2023-10-22", "2023-10-29")
NATION, NORTH, MIDLAND, CANTON = "qz", "qz/p/01", "qz/p/02", "qz/c/012"
HOSTILE = "<img src=x onerror=alert(1)> near me"

NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")

Row = tuple[object, ...]


def top(week: str, place: str, topic: str, rank: int, query: str, value: float, *others: str, wide: float = 1) -> Row:
    """Return a row of a list of top searches, whose interval reaches `wide` to both sides."""
    numbers = (value, value - wide, value + wide, None, None, None)
    return (week, place, topic, "top", rank, query, [query, *others], *numbers, False)


def rising(week: str, place: str, topic: str, rank: int, query: str, change: Row, *, is_new: bool = False) -> Row:
    """Return a row of a list of rising searches; `change` is the change and the ends of its interval."""
    return (week, place, topic, "rising", rank, query, [query], 4.0, 3.0, 5.0, *change, is_new)


MANY = tuple(top(WEEKS[4], NATION, "keeping_warm", i + 1, f"heating tip {i + 1}", 9.0 - i / 2) for i in range(12))
ROWS = (
    top(WEEKS[3], NATION, "firewood", 1, "buy firewood", 20.0),
    top(WEEKS[4], NATION, "firewood", 1, "firewood near me", 31.25, "near me firewood", "fire wood near me"),
    top(WEEKS[4], NATION, "firewood", 2, "buy firewood", 18.5),
    top(WEEKS[4], NATION, "firewood", 3, HOSTILE, 17.0),
    rising(WEEKS[4], NATION, "firewood", 1, "firewood price", (85.0, 40.0, 150.0)),
    rising(WEEKS[4], NATION, "firewood", 2, "dry firewood", (300.0, 120.0, None)),
    rising(WEEKS[4], NATION, "firewood", 3, "firewood delivery", (None, 35.0, None), is_new=True),
    *MANY,
    top(WEEKS[4], NORTH, "firewood", 1, "buy firewood", 25.0),
)


def with_top_searches(dataset: Path, copy: Path, rows: tuple[Row, ...] = ROWS) -> Path:
    """Copy Qazaria's dataset and give it the tables of top and rising searches."""
    shutil.copytree(dataset, copy)
    package = json.loads((copy / "datapackage.json").read_text(encoding="utf-8"))
    main = copy / f"{QAZARIA}.parquet"
    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE SELECT * FROM '{main}'").fetchall()
        where = [
            name for name, *_ in described if name.startswith(("country_region", "sub_region_")) or name == "place_id"
        ]
        _write_tables(connection, copy, where, rows)
    fields = ("date", *where, "category", "query_type", "rank", "query", "members", *NUMBERS, "is_new")
    for form in ("csv", "parquet"):
        schema = {"fields": [{"name": name, "type": "any"} for name in fields]}
        package["resources"].append(
            {"format": form, "path": f"{TABLE}.{form}", "bytes": 0, "hash": "", "schema": schema}
        )
    (copy / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    return described_again(copy)


def _write_tables(connection: duckdb.DuckDBPyConnection, folder: Path, where: list[str], rows: tuple[Row, ...]) -> None:
    kinds = "date DATE, place_id TEXT, category TEXT, query_type TEXT, rank INTEGER, query TEXT, members TEXT[], "
    kinds += ", ".join(f"{name} DOUBLE" for name in NUMBERS) + ", is_new BOOLEAN"
    connection.execute(f"CREATE TABLE lists ({kinds})")
    for row in rows:
        connection.execute(f"INSERT INTO lists VALUES ({', '.join('?' * 14)})", list(row))
    connection.execute(
        f"CREATE TABLE t AS SELECT date, {', '.join(where)}, level, code, lists.* EXCLUDE (date, place_id) FROM lists "
        f"JOIN (SELECT DISTINCT {', '.join(where)}, level, code FROM '{folder / QAZARIA}.parquet') USING (place_id)"
    )
    connection.execute(f"COPY t TO '{folder / TABLE}.parquet' (FORMAT parquet)")
    decimals = ", ".join(f"CAST({name} AS DECIMAL(18, 3)) AS {name}" for name in NUMBERS)
    written = f"SELECT * EXCLUDE (level, code) REPLACE (array_to_string(members, ' | ') AS members, {decimals}) FROM t"
    connection.execute(f"COPY ({written}) TO '{folder / TABLE}.csv' (HEADER)")


def change_lists(dataset: Path, columns: str = "*", where: str = "true") -> None:
    """Change the Parquet table, and describe it as it is then."""
    table = f"'{dataset / TABLE}.parquet'"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {columns} FROM {table} WHERE {where}")
        connection.execute(f"COPY t TO {table} (FORMAT parquet)")
    described_again(dataset)
