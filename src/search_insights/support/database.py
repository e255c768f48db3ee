"""Connecting to DuckDB as this program uses it: quiet, and without fetching anything from elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def connect(path: str = ":memory:", *, read_only: bool = False, **config: Any) -> "duckdb.DuckDBPyConnection":
    """Open a database, in memory unless a file is named."""
    import duckdb

    settings = {"autoinstall_known_extensions": "false"} | config
    connection = duckdb.connect(path, read_only=read_only, config=settings)
    connection.execute("SET enable_progress_bar = false")  # it would be printed among the results
    return connection


@contextmanager
def private_files() -> Iterator[None]:
    """Make files for their owner only, a store's log of changes too; what is to be public gets published."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)
