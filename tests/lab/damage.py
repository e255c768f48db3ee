"""Damaging a store's file byte by byte, and asking whether the program notices."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import duckdb

from search_insights.errors import SearchInsightsError
from search_insights.store.store import open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems


def content(store: Path) -> list[object]:
    """Read everything that a store holds."""
    with duckdb.connect(str(store), read_only=True) as connection:
        names = sorted(name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall())
        return [connection.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names]


def flip(file: Path, place: int, bit: int) -> None:
    """Turn one bit of a file over."""
    with file.open("r+b") as opened:
        opened.seek(place)
        (byte,) = opened.read(1)
        opened.seek(place)
        opened.write(bytes([byte ^ (1 << bit)]))


def refused(store: Path) -> bool:
    """Say whether the program finds a store damaged; any other failure than its own error is one."""
    try:
        with open_store(store) as opened:
            return bool(problems(opened, scale_problems))
    except SearchInsightsError:
        return True


def flips(store: Path, places: Iterable[int], work: Path) -> tuple[int, int]:
    """Flip one bit after the other, each in a fresh copy; gives how many were found out and how many did not matter.

    One that is neither, a change that is read back without complaint, is an error.
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
            raise AssertionError(f"bit {number % 8} of byte {place} was changed and nobody noticed")
    return found, harmless
