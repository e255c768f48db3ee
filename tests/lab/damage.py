"""Flip bits of a store's file and check that the program notices."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb

from search_insights.errors import SearchInsightsError
from search_insights.store.opening import open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems


def content(store: Path) -> list[object]:
    """Read everything that a store holds."""
    with duckdb.connect(str(store), read_only=True) as connection:
        names = sorted(name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall())
        return [connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names]


def flip(file: Path, place: int, bit: int) -> None:
    """Flip one bit of a file."""
    with file.open("r+b") as opened:
        opened.seek(place)
        (byte,) = opened.read(1)
        opened.seek(place)
        opened.write(bytes([byte ^ (1 << bit)]))


def refused(store: Path) -> bool:
    """Return whether the program reports a store as damaged; errors that are not its own are raised."""
    try:
        with open_store(store) as opened:
            return bool(problems(opened, scale_problems))
    except SearchInsightsError:
        return True


def flips(store: Path, places: Iterable[int], work: Path) -> tuple[int, int]:
    """Flip bits one by one, each in a fresh copy; return how many were detected and how many were harmless.

    A bit that is neither, because changed content is read without an error, raises AssertionError.
    """
    good, found, harmless = content(store), 0, 0
    for number, place in enumerate(places):
        copy = work / "flipped.db"
        shutil.copy(store, copy)
        flip(copy, place, number % 8)
        if refused(copy):
            found += 1
        elif content(copy) == good:
            harmless += 1
        else:
            raise AssertionError(f"bit {number % 8} of byte {place} was flipped and not detected")
    return found, harmless
