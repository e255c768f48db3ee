"""DuckDB's errors about a store's file, and the one line that the operator sees instead."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from search_insights.errors import StoreError

RESTORE_HINT = "restore a backup with 'search-insights store restore'"

_EXPLANATIONS = {
    "Could not set lock": "another process is using this store; wait until it has finished",
    "No space left on device": "the disk is full; the weeks in the store are intact: make room and run again",
    "File too large": "the file has reached its size limit; the weeks in the store are intact: make room and run again",
    "Read-only file system": "the file system is read-only; move the store to a writable one",
    "Permission denied": "the store may not be opened by this user",
    "read-only mode": "the store may not be written by this user",
    "Corrupt": f"the file is damaged; {RESTORE_HINT}",
    "version number": (
        "written by another version of DuckDB; use the version of this program that wrote it, or a newer one"
    ),
}


def real_file(store: Path) -> Path:
    """Return the file that a store's path leads to, also through links: all that belongs to it lies beside it."""
    try:
        return store.resolve()
    except (OSError, RuntimeError):  # RuntimeError up to Python 3.12
        raise StoreError(f"{store}: a link that leads in a circle; give the path of the store itself") from None


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Explain DuckDB's errors in one line. It reads a file piece by piece, so any statement may come upon damage."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise _explain(path, str(error)) from None


def _explain(path: Path, error: str) -> StoreError:
    for sign, words in _EXPLANATIONS.items():
        if sign in error:
            return StoreError(f"{path}: {words}")
    return StoreError(f"{path}: not a store of this program, or damaged, or not readable and writable; {RESTORE_HINT}")
