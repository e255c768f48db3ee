"""Stores of an earlier schema, read and written as those of the present one.

Version 1 knew a week by its first day only, recorded the time at which it was committed, and did not tell text with
offsets from text without. It knew no lost weeks, and not which sparse regions had been published. What follows from its
spec is added; what cannot be known is recorded as unknown. Version 2 knew of a model only its fingerprint.
"""

from typing import TYPE_CHECKING

from search_insights.spec.weeks import Week
from search_insights.store.ledger import UNKNOWN, instants_of

if TYPE_CHECKING:
    import duckdb

SCHEMA_VERSION = 3

# The fields of a ledger entry that version 1 did not have.
_NEW_COLUMNS = ("begins_at", "ends_at", "times", "zone_data", "time_column")

_LOST = (
    "week DATE PRIMARY KEY, begins_at TEXT NOT NULL, ends_at TEXT NOT NULL, reason TEXT NOT NULL, "
    "recorded_at TEXT NOT NULL"
)


_MODELS = "fingerprint TEXT PRIMARY KEY, facts TEXT NOT NULL"


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


def upgrade_file(connection: "duckdb.DuckDBPyConnection", version: int, time_zone: str) -> None:
    """Upgrade a store that is open for writing, inside the caller's transaction."""
    if version == 1:
        _upgrade_first(connection, time_zone)
        connection.execute(f"CREATE TABLE lost ({_LOST})")
        for table, column in (("scaling", "fixed_at"), ("sparsity", "fixed_at"), ("corrections", "recorded_at")):
            connection.execute(f"UPDATE {table} SET {column} = left({column}, 10)")
    connection.execute(f"CREATE TABLE models ({_MODELS})")
    connection.execute("UPDATE about SET value = ? WHERE key = 'schema_version'", [str(SCHEMA_VERSION)])


def upgrade_in_memory(connection: "duckdb.DuckDBPyConnection", version: int, time_zone: str) -> None:
    """Show a store that is open for reading as one of the present version; its file does not change."""
    if version == 1:
        for table in ("ledger", "sparsity"):
            connection.execute(f"CREATE TEMP TABLE {table} AS FROM {table}")  # hides the one in the file
        connection.execute(f"CREATE TEMP TABLE lost ({_LOST})")
        _upgrade_first(connection, time_zone)
    connection.execute(f"CREATE TEMP TABLE models ({_MODELS})")
