"""DuckDB as this program uses it: quiet, fetching nothing from elsewhere, with names and values quoted."""

import atexit
import glob
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def connect(path: str = ":memory:", *, read_only: bool = False, **config: Any) -> "duckdb.DuckDBPyConnection":
    """Open a database: a file, or in memory."""
    import duckdb

    settings = {"autoinstall_known_extensions": "false"} | config
    connection = duckdb.connect(path, read_only=read_only, config=settings)
    connection.execute("SET enable_progress_bar = false")  # it would be printed between the results
    return connection


def public_reader() -> "duckdb.DuckDBPyConnection":
    """Return a connection for reading public files of anyone; all share a database that has little memory."""
    return _shared("1GB").cursor()


def public_tables() -> "duckdb.DuckDBPyConnection":
    """Return a connection for temporary tables of public values, which no other connection sees.

    All share one database, because a new one takes longer to open than most of what is done with it.
    """
    return _shared(None).cursor()


@cache
def _shared(memory: str | None) -> "duckdb.DuckDBPyConnection":
    atexit.register(_shared.cache_clear)  # while Python still runs: DuckDB complains about what is left
    limit: dict[str, Any] = {"memory_limit": memory} if memory else {}
    return connect(enable_external_file_cache="false", **limit)


def literal(text: str) -> str:
    """Quote text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """Quote the path of one file as an SQL literal: DuckDB would take * ? [ in it for a pattern of many files."""
    return literal(glob.escape(str(path)))


def identifier(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
