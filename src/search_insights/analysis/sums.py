"""A question of any set of regions and weeks, where the publisher publishes noisy counts: their value together.

Noise has mean 0, so sums of noisy counts are unbiased, whatever was too uncertain to be published by itself; and its
variances add up. The value of the whole is the sum of the trend's counts over that of any search, on the same scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.analysis.intervals import Estimates, quantile
from search_insights.analysis.places import Places, read_places
from search_insights.analysis.reading import (
    DEFAULT_CONFIDENCE,
    Period,
    checked_confidence,
    refuse_two_scales,
    weeks_of,
)
from search_insights.dataset.fetching import local_folder
from search_insights.dataset.folder import Description, TableFile, read_description, require_plain_table
from search_insights.dataset.loading import trend_name
from search_insights.errors import InputError
from search_insights.support.sql import file_literal, public_tables

_REST = "#rest"  # after the place_id of a region: its rest


@dataclass(frozen=True, slots=True)
class Sum:
    """Several regions and weeks as one: the value, its interval, and the sums of noisy counts that it is made of.

    `count` is that of the trend and `any_search` that of any search, each with the standard deviation of its noise.
    """

    value: float
    low: float
    high: float
    count: float
    count_sigma: float
    any_search: float
    any_search_sigma: float
    regions: int
    weeks: int


def aggregate(
    path: str | Path,
    regions: Sequence[str],
    trend: str,
    period: Period,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Sum:
    """Return the value of several regions together, given by place_id, over all weeks of a period.

    The dataset must have a table of noisy counts. Every region must be counted in every week; none may lie in another.
    """
    checked_confidence(confidence)
    with local_folder(path) as folder:
        dataset = read_description(folder)
        counts = _require_counts(dataset)
        weeks = weeks_of(period, dataset)
        refuse_two_scales(dataset, weeks)
        chosen = _checked(dataset, list(dict.fromkeys(regions)))
        made = _made_of(dataset, trend_name(trend, dataset), weeks)
        sums = _sums(counts, chosen, made, weeks)
    return _sum(sums, made[0]["factor"], quantile(confidence), len(chosen), len(weeks))


def _require_counts(dataset: Description) -> TableFile:
    if dataset.counts is None:
        raise InputError(
            f"{dataset.folder}: has no table of noisy counts, so regions cannot be added up; ask the publisher for one"
        )
    require_plain_table(dataset.counts)
    return dataset.counts


def _checked(dataset: Description, regions: list[str]) -> list[str]:
    """Return the regions; refuse none at all, unknown ones, and one that lies in another: it would count twice."""
    if not regions:
        raise InputError(f"{dataset.folder}: expected at least one region, by its place_id")
    places = read_places(dataset, [region.removesuffix(_REST) for region in regions])
    chosen = set(regions)
    for region in regions:
        for above in _above(region, places):
            if above in chosen:
                raise InputError(f"{region} lies in {above}, so its searches would count twice; leave out one of them")
    return regions


def _above(region: str, places: Places) -> list[str]:
    place = region.removesuffix(_REST)
    return [*([place] if place != region else []), *places.above(place)]


def _made_of(dataset: Description, trend: str, weeks: Sequence[date]) -> list[dict[str, Any]]:
    """Return how the trend is made of counts in these weeks; refuse weeks in which it does not exist."""
    resource = next(r for r in dataset.package["resources"] if "counts" in r)
    made = [
        row
        for row in resource["counts"]
        if row["trend"] == trend and row["first_week"] <= str(weeks[-1]) and row["last_week"] >= str(weeks[0])
    ]
    if not all(any(row["first_week"] <= str(week) <= row["last_week"] for row in made) for week in weeks):
        raise InputError(f"{dataset.folder}: trend {trend} does not exist in every week of the period")
    numbers = [weight for row in made for weight in row["weights"].values()]
    if not all(type(weight) in (int, float) for weight in numbers) or len({row["factor"] for row in made}) != 1:
        raise InputError(f"{dataset.folder / 'datapackage.json'}: key 'counts': expected numbers, and one factor")
    return made


def _sums(
    counts: TableFile, regions: list[str], made: list[dict[str, Any]], weeks: Sequence[date]
) -> tuple[float, ...]:
    """Return the sums of the trend and of any search, each with its variance; refuse regions without all weeks."""
    import duckdb

    parts = [
        (row["first_week"], row["last_week"], measure, float(weight), is_trend)
        for row in made
        for is_trend, weights in ((True, row["weights"]), (False, {row["divided_by"]: 1.0}))
        for measure, weight in weights.items()
    ]
    try:
        with public_tables() as connection:
            connection.execute("CREATE TEMP TABLE parts (f DATE, l DATE, measure TEXT, weight DOUBLE, trend BOOLEAN)")
            connection.executemany("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", parts)
            connection.register("chosen", {"place_id": np.array(regions, dtype=object)})
            rows = connection.execute(_SUMS.format(file_literal(counts.path)), [weeks[0], weeks[-1]]).fetchall()
    except (duckdb.Error, UnicodeError):
        raise InputError(f"{counts.path}: cannot be read as the table that datapackage.json describes") from None
    complete = {row[0] for row in rows if row[1] == len(weeks)}
    for region in regions:
        if region not in complete:
            raise InputError(
                f"{counts.path}: {region} is not counted in every week of the period; leave it out, or choose regions "
                "of a counted level, such as states for a country"
            )
    return tuple(float(sum(row[i] for row in rows)) for i in range(2, 6))


# For each region its weeks, then count and variance of the trend and of any search.
_SUMS = """
    SELECT place_id, count(DISTINCT date),
           sum(weight * noisy) FILTER (trend), sum(weight ** 2 * sigma ** 2) FILTER (trend),
           sum(weight * noisy) FILTER (NOT trend), sum(weight ** 2 * sigma ** 2) FILTER (NOT trend)
    FROM read_parquet({}) JOIN chosen USING (place_id) JOIN parts USING (measure)
    WHERE date BETWEEN ? AND ? AND date BETWEEN f AND l
    GROUP BY place_id"""


def _sum(sums: tuple[float, ...], factor: float, z: float, regions: int, weeks: int) -> Sum:
    x, var_x, y, var_y = sums
    if y <= 0:
        raise InputError("these regions have too few searches in these weeks for a value; choose more of either")
    whole = Estimates(*(np.array(part) for part in (factor * x / y, factor**2 * var_x / y**2, var_y / y**2)))
    down, up = whole.arms(z)
    value = float(whole.value)
    ends = (value, value - float(down), value + float(up))
    return Sum(*ends, x, var_x**0.5, y, var_y**0.5, regions=regions, weeks=weeks)
