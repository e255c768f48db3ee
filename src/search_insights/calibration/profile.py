"""A public profile of what a release is expected to count: how many regions and weeks have which counts.

It comes from public knowledge (populations, published search shares, a simulation, the noisy counts of an earlier
release), never from the private log: sigmas chosen by looking at the log would reveal something about it, outside every
promise.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.errors import InputError
from search_insights.simulation.truth import read_truth
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats
from search_insights.support.sql import connect, identifier, literal

Group = tuple[str, str | None]

# Counts that differ by less than this (in the logarithm) are merged: more rows would not change a sigma.
_BIN_WIDTH = 0.25


@dataclass(frozen=True)
class Profile:
    """For each level and class, the expected counts by category; one row stands for many similar regions and weeks.

    `weights[group]` is how many regions and weeks each row of `counts[group]` stands for. The total level is a group of
    its own.
    """

    counts: dict[Group, Floats]
    weights: dict[Group, Floats]


def read_profile(path: Path, coverage: Coverage) -> Profile:
    """Read a profile from CSV, or make one from the truth of a simulated log (Parquet)."""
    if path.suffix == ".parquet":
        return profile_of_truth(path, coverage)
    return _read_csv(path, coverage.spec)


def profile_of_truth(path: Path, coverage: Coverage) -> Profile:
    """Return the profile of a simulated log, with similar regions and weeks merged."""
    cells = CellList(coverage)
    regions = (coverage.geography.country, *cells.regions)
    truth = read_truth(path, coverage, regions)
    groups = [group_of(coverage, region) for region in regions]
    counts, weights = {}, {}
    for group in dict.fromkeys(groups):
        here = truth.counts[:, [g == group for g in groups]].reshape(-1, len(coverage.spec.measures))
        counts[group], weights[group] = merge_similar(here[~np.isnan(here).any(axis=1)])
    return Profile(counts, weights)


def group_of(coverage: Coverage, region: Region) -> Group:
    """Return the level and class of a region; open levels have no class."""
    classed = region.level in coverage.spec.classed_levels
    return region.level, coverage.standings[region.place_id].size_class if classed else None


def merge_similar(counts: Floats) -> tuple[Floats, Floats]:
    """Return the averages of similar rows, and the number of rows in each average."""
    bins = np.round(np.sign(counts) * np.log1p(np.abs(counts)) / _BIN_WIDTH)  # a signed measure may be negative
    _, row_of, times = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
    sums = np.zeros((times.size, counts.shape[1]))
    np.add.at(sums, row_of.ravel(), counts)
    return sums / times[:, None], times.astype(np.float64)


def _read_csv(path: Path, spec: Spec) -> Profile:
    """Read rows of level, size_class (may be empty), number of regions (and weeks), and a count for each category."""
    columns = ["level", "size_class", "regions", *(c.id for c in spec.measures)]
    found: dict[Group, list[list[float]]] = {}
    known = (*spec.reported_groups, (spec.total.level, None))
    for line, row in enumerate(_rows(path, columns), start=2):
        group = (row[0], row[1] or None)
        if group not in known:
            names = ", ".join(" ".join(filter(None, g)) for g in known)
            raise InputError(f"{path}: line {line}, columns level and size_class: expected one of {names}")
        found.setdefault(group, []).append(_numbers(path, line, columns[2:], row[2:]))
    if not found:
        raise InputError(f"{path}: has no rows; expected {','.join(columns)}")
    require_all_groups(spec, found, path)
    tables = {group: np.array(of_group) for group, of_group in found.items()}
    return Profile({g: t[:, 1:] for g, t in tables.items()}, {g: t[:, 0] for g, t in tables.items()})


def require_all_groups(spec: Spec, found: Collection[Group], path: Path) -> None:
    """Refuse a profile that says nothing of a level and class that is to get sigmas."""
    for group in spec.reported_groups:
        if group not in found:
            words = " ".join(filter(None, group))
            raise InputError(f"{path}: no row for {words}; without expected counts its sigmas would grow without limit")


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    import duckdb

    with connect() as connection:
        try:
            read = f"read_csv({literal(str(path))}, header = true, all_varchar = true)"
            return connection.execute(f"SELECT {', '.join(map(identifier, columns))} FROM {read}").fetchall()
        except duckdb.Error:
            raise InputError(f"{path}: expected a CSV file with the columns {','.join(columns)}") from None


def _numbers(path: Path, line: int, columns: Sequence[str], values: Sequence[str | None]) -> list[float]:
    numbers = []
    for column, value in zip(columns, values, strict=True):
        try:
            number = float(value or "")
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise InputError(f"{path}: line {line}, column {column}: expected a number from 0 up; got {value!r}")
        numbers.append(number)
    return numbers
