"""What is wrong with a store's file, in one line each: what DuckDB's errors say, and what the operator is told."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from search_insights.errors import StoreError

WAY_OUT = "put a backup back with 'search-insights store restore'"

_TROUBLE = {
    "Could not set lock": "another process is using this store; wait until it has finished",
    "No space left on device": "the disk is full; the weeks in the store are whole, so make room and run again",
    "File too large": "the file may not grow any more; the weeks in the store are whole, so make room and run again",
    "Read-only file system": "the store cannot be written there; put it where it can be",
    "Permission denied": "the store may not be opened by this user",
    "read-only mode": "the store may not be written by this user",
    "Corrupt": f"the file is damaged; {WAY_OUT}",
    "version number": "written by another version of DuckDB; use the version of this program that wrote it, or a newer",
}


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Say in one line what is wrong with a store: DuckDB reads the file piece by piece, and finds it out late."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise _wrong_with(path, str(error)) from None


def _wrong_with(path: Path, error: str) -> StoreError:
    for sign, words in _TROUBLE.items():
        if sign in error:
            return StoreError(f"{path}: {words}")
    return StoreError(f"{path}: not a store of this program, or damaged, or not readable and writable; {WAY_OUT}")
