"""Questions of all regions of a level: averages over a period, changes, and a ranking.

Each reads a published folder, or a dataset at an http(s) address, and returns a frame as `load` does.
Errors of different weeks and regions are taken as independent; docs/analysis.md says where that holds.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.analysis.differences import difference_interval, p_values, q_values
from search_insights.analysis.intervals import Means
from search_insights.analysis.ranks import p_of_others, rank_intervals
from search_insights.analysis.reading import (
    DEFAULT_CONFIDENCE,
    Period,
    checked_confidence,
    read_values,
    weeks_of,
)
from search_insights.dataset.fetching import local_folder
from search_insights.dataset.folder import read_description
from search_insights.dataset.loading import Frame, frame_of
from search_insights.errors import InputError
from search_insights.support.arrays import Bools

_DAYS_OF_WEEK = 7


def average(
    path: str | Path,
    level: str,
    trend: str,
    period: Period,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    frame: Frame | None = None,
) -> Any:
    """Return the mean value of each region over the weeks of a period that have one.

    Columns: place_id, code, name, value, low, high, weeks (that have a value), of_weeks (that the dataset has). Where
    weeks are missing, the mean and its interval are of the others, and too high: noise helped them to be published.
    """
    checked_confidence(confidence)
    values = read_values(path, level, trend, period)
    means = Means.of(values.estimates)
    return frame_of(_means(values.regions, means, len(values.weeks), confidence), frame)


def _means(regions: Mapping[str, Any], means: Means, of_weeks: int, confidence: float) -> dict[str, Any]:
    low, high = means.interval(confidence)
    return {
        **{name: regions[name] for name in ("place_id", "code", "name")},
        **{"value": means.value, "low": low, "high": high},
        "weeks": means.weeks.astype(np.int64),
        "of_weeks": np.full(len(means.value), of_weeks),
    }


def rank(
    path: str | Path,
    level: str,
    trend: str,
    period: Period,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    min_weeks: int | None = None,
    frame: Frame | None = None,
) -> Any:
    """Return the regions of a level in order of their mean value over a period, with an interval for each rank.

    Columns: rank, rank_low, rank_high, the columns of `average`, p_value and q_value. Only regions with a value in
    every week of the period are ranked, or in `min_weeks` of them. `rank_low` to `rank_high` contains the true rank
    among the ranked regions with the confidence. `p_value` and `q_value` are of the difference from the mean of all
    others: of the regions with q_value <= 0.1, at most a tenth are expected not to differ (Benjamini and Hochberg).
    """
    checked_confidence(confidence)
    values = read_values(path, level, trend, period)
    means = Means.of(values.estimates)
    ranked = means.weeks >= (len(values.weeks) if min_weeks is None else max(min_weeks, 1))
    return frame_of(_ranking(_of(values.regions, ranked), means.rows(ranked), len(values.weeks), confidence), frame)


def _of(regions: Mapping[str, Any], chosen: Bools) -> dict[str, Any]:
    return {name: column[chosen] for name, column in regions.items()}


def _ranking(regions: Mapping[str, Any], means: Means, of_weeks: int, confidence: float) -> dict[str, Any]:
    order = np.argsort(-means.value, kind="stable")
    best, worst = rank_intervals(means, confidence)
    p = p_of_others(means)
    ranks = np.arange(1, len(order) + 1)
    # Equal values share the best rank of them.
    shared = np.searchsorted(-means.value[order], -means.value[order], side="left") + 1 if len(order) else ranks
    columns = _means(regions, means, of_weeks, confidence) | {"p_value": p, "q_value": q_values(p)}
    by_rank = {name: column[order] for name, column in columns.items()}
    return {"rank": shared, "rank_low": best[order], "rank_high": worst[order], **by_rank}


def change(
    path: str | Path,
    level: str,
    trend: str,
    weeks: int = 1,
    *,
    week: date | str | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    frame: Frame | None = None,
) -> Any:
    """Return by how much each region's value differs from that of so many weeks before, with the interval.

    The later week is `week`, or the newest of the dataset. Columns: place_id, code, name, before, value, difference,
    low, high, p_value, q_value. Regions that lack one of the two values are not in it.
    """
    checked_confidence(confidence)
    with local_folder(path) as folder:
        last = _last_week(folder, week)
        first = last - timedelta(days=_DAYS_OF_WEEK * weeks)
        values = read_values(folder, level, trend, (first, last))
        if weeks < 1 or (values.weeks[0], values.weeks[-1]) != (first, last):
            raise InputError(f"{folder}: does not have both weeks, {first} and {last}; choose others")
    now, before = Means.of(values.of_week(-1)), Means.of(values.of_week(0))
    both = (now.weeks > 0) & (before.weeks > 0)
    return frame_of(_changes(_of(values.regions, both), before.rows(both), now.rows(both), confidence), frame)


def _last_week(folder: Path, week: date | str | None) -> date:
    return weeks_of((date.min, date.max) if week is None else week, read_description(folder))[-1]


def _changes(regions: Mapping[str, Any], before: Means, now: Means, confidence: float) -> dict[str, Any]:
    low, high = difference_interval(now.value, now.arms, before.value, before.arms, confidence)
    p = p_values(now.value, now.arms, before.value, before.arms)
    return {
        **{name: regions[name] for name in ("place_id", "code", "name")},
        **{"before": before.value, "value": now.value, "difference": now.value - before.value},
        **{"low": low, "high": high, "p_value": p, "q_value": q_values(p)},
    }
