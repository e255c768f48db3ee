"""Stores of an earlier schema, read and written as those of the present one.

Version 1 knew a week by its first day only, recorded the time at which it was committed, and did not tell text with
offsets from text without. It knew no lost weeks, and not which sparse regions had been published. What follows from its
spec is added; what cannot be known is recorded as unknown. Version 2 knew of a model only its fingerprint. Version 3
had one spec and one geography, which become those of the first edition, no notes on weeks, and no top searches.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from search_insights.spec.weeks import Week
from search_insights.store.ledger import UNKNOWN, instants_of
from search_insights.support.sql import literal

if TYPE_CHECKING:
    import duckdb

SCHEMA_VERSION = 4

# The fields of a ledger entry that version 1 did not have.
_NEW_COLUMNS = ("begins_at", "ends_at", "times", "zone_data", "time_column")

_LOST = (
    "week DATE PRIMARY KEY, begins_at TEXT NOT NULL, ends_at TEXT NOT NULL, reason TEXT NOT NULL, "
    "recorded_at TEXT NOT NULL"
)


_NOTES = "week DATE NOT NULL, reason TEXT NOT NULL, recorded_at TEXT NOT NULL"
_MODELS = "fingerprint TEXT PRIMARY KEY, facts TEXT NOT NULL"
_TOP_SEARCHES = {
    "top_texts": (
        "number INTEGER PRIMARY KEY, text TEXT NOT NULL, category TEXT NOT NULL, cluster TEXT NOT NULL, "
        "first_week DATE NOT NULL"
    ),
    "top_weeks": "week DATE PRIMARY KEY, texts INTEGER NOT NULL, compared_with DATE",
    "top_counts": "week DATE NOT NULL, text INTEGER NOT NULL, region INTEGER NOT NULL, noisy BIGINT NOT NULL",
}


def _upgrade_first(connection: "duckdb.DuckDBPyConnection", time_zone: str) -> None:
    """Bring the ledger and the sparsity of version 1 to version 2."""
    for column in _NEW_COLUMNS:
        connection.execute(f"ALTER TABLE ledger ADD COLUMN {column} TEXT DEFAULT ''")
    for (first_day,) in connection.execute("SELECT week FROM ledger ORDER BY week").fetchall():
        instants = instants_of(Week(first_day, time_zone))
        connection.execute("UPDATE ledger SET begins_at = ?, ends_at = ? WHERE week = ?", [*instants, first_day])
    # A zone was recorded for text too, whether or not its rows had offsets.
    connection.execute(f"UPDATE ledger SET times = CASE naive_zone WHEN '' THEN 'instant' ELSE '{UNKNOWN}' END")
    connection.execute("UPDATE ledger SET committed_at = left(committed_at, 10)")
    connection.execute("ALTER TABLE sparsity ADD COLUMN withdrawn TEXT[] DEFAULT []")


# The fields that name the change, the edition or the geography, which versions before 4 had one of; and those of top
# searches, of which they had none.
_OF_FIRST = (
    ("cells", "edition", "INTEGER", "1"),
    ("scaling", "change", "INTEGER", "1"),
    ("scaling", "trend", "TEXT", "''"),
    ("sparsity", "change", "INTEGER", "1"),
    ("sparsity", "edition", "INTEGER", "1"),
    ("ledger", "top_searches", "TEXT", "''"),
    ("ledger", "vocabulary", "TEXT", "''"),
)
_CHANGES = (
    "number INTEGER PRIMARY KEY, kind TEXT NOT NULL, from_week DATE, spec TEXT NOT NULL, geography TEXT NOT NULL, "
    "reason TEXT NOT NULL, recorded_at TEXT NOT NULL, crosswalk TEXT NOT NULL, keeps_scale BOOLEAN NOT NULL"
)


def _upgrade_third(connection: "duckdb.DuckDBPyConnection", about: Mapping[str, str], temporary: str) -> None:
    """Make the one spec and geography of version 3 those of the first edition."""
    spec, geography = about["spec_fingerprint"], about["geography_fingerprint"]
    for table, columns, values in (
        ("changes", _CHANGES, (1, "counting", None, spec, geography, "", _first_day(connection), "{}", True)),
        ("specs", "fingerprint TEXT PRIMARY KEY, toml TEXT NOT NULL", (spec, about["spec"])),
        ("geographies", "fingerprint TEXT PRIMARY KEY, source TEXT NOT NULL", (geography, about["geography_source"])),
    ):
        connection.execute(f"CREATE {temporary} TABLE {table} ({columns})")
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in values)})", list(values))
    for table, columns in {"notes": _NOTES, **_TOP_SEARCHES}.items():
        connection.execute(f"CREATE {temporary} TABLE {table} ({columns})")
    for table, column, kind, value in (*_OF_FIRST, ("regions", "geography", "TEXT", literal(geography))):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind} DEFAULT {value}")


def _first_day(connection: "duckdb.DuckDBPyConnection") -> str:
    """Return the day on which the first week was committed: the store was made then, or not long before."""
    rows = connection.execute("SELECT left(min(committed_at), 10) FROM ledger").fetchall()
    return str(rows[0][0] or "")


def upgrade_file(connection: "duckdb.DuckDBPyConnection", about: Mapping[str, str], time_zone: str) -> None:
    """Upgrade a store that is open for writing, inside the caller's transaction."""
    version = int(about["schema_version"])
    if version == 1:
        _upgrade_first(connection, time_zone)
        connection.execute(f"CREATE TABLE lost ({_LOST})")
        for table, column in (("scaling", "fixed_at"), ("sparsity", "fixed_at"), ("corrections", "recorded_at")):
            connection.execute(f"UPDATE {table} SET {column} = left({column}, 10)")
    if version <= 2:
        connection.execute(f"CREATE TABLE models ({_MODELS})")
    _upgrade_third(connection, about, "")
    connection.execute("DELETE FROM about WHERE key LIKE 'spec%' OR key LIKE 'geography%'")
    connection.execute("UPDATE about SET value = ? WHERE key = 'schema_version'", [str(SCHEMA_VERSION)])


def upgrade_in_memory(connection: "duckdb.DuckDBPyConnection", about: Mapping[str, str], time_zone: str) -> None:
    """Show a store that is open for reading as one of the present version; its file does not change."""
    version = int(about["schema_version"])
    for table in ("ledger", "sparsity", "scaling", "cells", "regions"):
        connection.execute(f"CREATE TEMP TABLE {table} AS FROM {table}")  # hides the one in the file
    if version == 1:
        connection.execute(f"CREATE TEMP TABLE lost ({_LOST})")
        _upgrade_first(connection, time_zone)
    if version <= 2:
        connection.execute(f"CREATE TEMP TABLE models ({_MODELS})")
    _upgrade_third(connection, about, "TEMP")
