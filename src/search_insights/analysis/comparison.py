"""A question of two regions: do they differ?"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search_insights.analysis.differences import difference_interval, p_values
from search_insights.analysis.intervals import Estimates, Means
from search_insights.analysis.places import read_places
from search_insights.analysis.reading import DEFAULT_CONFIDENCE, Period, Values, checked_confidence, read_values
from search_insights.dataset.fetching import local_folder
from search_insights.dataset.folder import read_description
from search_insights.errors import InputError
from search_insights.support.arrays import Bools


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two regions beside each other, over the weeks in which both have a value.

    `low` and `high` are the ends of the interval of the difference a - b. `inside` says that one region lies in the
    other: then they share searches and may share noise, and the interval is rather too wide than too narrow.
    """

    a: str
    b: str
    value_a: float
    value_b: float
    difference: float
    low: float
    high: float
    p_value: float
    weeks: int
    inside: bool


def compare(
    path: str | Path, a: str, b: str, trend: str, period: Period, *, confidence: float = DEFAULT_CONFIDENCE
) -> Comparison:
    """Compare two regions, given by place_id, by their means over the weeks of a period in which both have a value."""
    checked_confidence(confidence)
    with local_folder(path) as folder:
        places = read_places(read_description(folder), (a, b))
        tables = {level: read_values(folder, level, trend, period) for level in {places.levels[a], places.levels[b]}}
        first, second = (_row(tables[places.levels[place]], place) for place in (a, b))
        both = ~np.isnan(first.value) & ~np.isnan(second.value)
        if a == b or not both.any():
            raise InputError(
                f"{folder}: {a} and {b} have no value of {trend} in the same week of the period; choose two regions "
                "and weeks that have"
            )
    inside = places.contains(a, b) or places.contains(b, a)
    return _compared((a, b), Means.of(_where(first, both)), Means.of(_where(second, both)), confidence, inside)


def _compared(names: tuple[str, str], a: Means, b: Means, confidence: float, inside: bool) -> Comparison:
    low, high = difference_interval(a.value, a.arms, b.value, b.arms, confidence)
    return Comparison(
        *names,
        value_a=float(a.value[0]),
        value_b=float(b.value[0]),
        difference=float(a.value[0] - b.value[0]),
        low=float(low[0]),
        high=float(high[0]),
        p_value=float(p_values(a.value, a.arms, b.value, b.arms)[0]),
        weeks=int(a.weeks[0]),
        inside=inside,
    )


def _row(values: Values, place: str) -> Estimates:
    """Return the estimates of one region; NaN if it has no value in any week."""
    chosen = values.regions["place_id"] == place
    if not chosen.any():
        nothing = np.full((1, len(values.weeks)), np.nan)
        return Estimates(nothing, nothing, nothing)
    of = values.estimates
    return Estimates(of.value[chosen], of.of_x[chosen], of.of_y[chosen])


def _where(of: Estimates, kept: Bools) -> Estimates:
    return Estimates(*(np.where(kept, part, np.nan) for part in (of.value, of.of_x, of.of_y)))
