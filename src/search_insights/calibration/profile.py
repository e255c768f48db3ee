"""A public profile of what a release is expected to count: how many regions and weeks have which counts.

It comes from public knowledge (populations, published search shares, a simulation, the noisy counts of an earlier
release), never from the private log: sigmas chosen by looking at the log would reveal something about it, outside every
promise.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.calibration.region_noise import Group
from search_insights.errors import InputError
from search_insights.simulation.truth import read_truth
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Floats, Numbers
from search_insights.support.sql import connect, identifier, literal


@dataclass(frozen=True)
class Profile:
    """For each level and class, the expected counts by measure; a row may stand for many regions and weeks.

    `weights[group]` is how many regions and weeks each row of `counts[group]` stands for. `regions[group]` is the
    number of its region in the geography; a group without it does not say which region has which counts. The total
    level is a group of its own.
    """

    counts: dict[Group, Floats]
    weights: dict[Group, Floats]
    regions: dict[Group, Numbers] = field(default_factory=dict)


def read_profile(path: Path, coverage: Coverage) -> Profile:
    """Read a profile from CSV, or make one from the truth of a simulated log (Parquet)."""
    if path.suffix == ".parquet":
        return profile_of_truth(path, coverage)
    return _read_csv(path, coverage.spec)


def profile_of_truth(path: Path, coverage: Coverage) -> Profile:
    """Return the profile of a simulated log: a row for each region and week."""
    regions = (coverage.geography.country, *CellList(coverage).regions)
    truth = read_truth(path, coverage, regions)
    week, region = np.nonzero(~np.isnan(truth.counts).any(axis=2))
    return profile_of_regions(coverage, [regions[i] for i in region], truth.counts[week, region], 1.0)


def profile_of_regions(coverage: Coverage, regions: Sequence[Region], counts: Floats, weight: float) -> Profile:
    """Return the profile of regions, from a row of counts for each; every row has the same weight."""
    numbers = {region.place_id: i for i, region in enumerate(coverage.geography.regions)}
    rows_of: dict[Group, list[int]] = {}
    groups: dict[str, Group] = {}
    for row, region in enumerate(regions):
        group = groups.get(region.place_id) or groups.setdefault(region.place_id, group_of(coverage, region))
        rows_of.setdefault(group, []).append(row)
    return Profile(
        {group: counts[rows] for group, rows in rows_of.items()},
        {group: np.full(len(rows), weight) for group, rows in rows_of.items()},
        {group: np.array([numbers[regions[row].place_id] for row in rows]) for group, rows in rows_of.items()},
    )


def group_of(coverage: Coverage, region: Region) -> Group:
    """Return the level and class of a region; open levels have no class."""
    classed = region.level in coverage.spec.classed_levels
    return region.level, coverage.standings[region.place_id].size_class if classed else None


def _read_csv(path: Path, spec: Spec) -> Profile:
    """Read rows of level, size_class (may be empty), number of regions (and weeks), and a count for each measure."""
    columns = ["level", "size_class", "regions", *(c.id for c in spec.measures)]
    found: dict[Group, list[list[float]]] = {}
    least = {"regions": 0.0, **{m.id: -math.inf if m.against else 0.0 for m in spec.measures}}
    known = (*spec.reported_groups, (spec.total.level, None))
    for line, row in enumerate(_rows(path, columns), start=2):
        group = (row[0], row[1] or None)
        if group not in known:
            names = ", ".join(" ".join(filter(None, g)) for g in known)
            raise InputError(f"{path}: line {line}, columns level and size_class: expected one of {names}")
        found.setdefault(group, []).append(_numbers(path, line, least, row[2:]))
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


def _numbers(path: Path, line: int, least: Mapping[str, float], values: Sequence[str | None]) -> list[float]:
    """Read the numbers of a row; a signed measure may be below 0."""
    numbers = []
    for (column, low), value in zip(least.items(), values, strict=True):
        try:
            number = float(value or "")
        except ValueError:
            number = math.nan
        if not (low <= number < math.inf and number > -math.inf):
            expected = "a number from 0 up" if low == 0 else "a number"
            raise InputError(f"{path}: line {line}, column {column}: expected {expected}; got {value!r}")
        numbers.append(number)
    return numbers
