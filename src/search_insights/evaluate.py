"""How good a release of a simulated log is: its published values next to the truth."""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search_insights.charts import save_chart
from search_insights.derive import Trends, derive, trend_counts
from search_insights.errors import InputError
from search_insights.reliability import Floats
from search_insights.store import open_store
from search_insights.truth import read_truth


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of one level and trend.

    published        share of all weeks and reported regions that have a value
    median, p90      of the relative error of published values, |value / truth - 1|
    within_limit     share of published values whose error is within the spec's limit
    coverage         share of published values whose interval holds the truth
    """

    level: str
    trend: str
    points: int
    published: float
    median: float
    p90: float
    within_limit: float
    coverage: float


def evaluate(store_path: Path, truth_path: Path) -> list[Accuracy]:
    """Compare every published value of a store's release with the exact bounded ratio."""
    with open_store(store_path) as store:
        trends, sparsity, coverage = derive(store), store.sparsity(), store.coverage
    truth = read_truth(truth_path, coverage, trends.regions)
    both = sorted(set(truth.weeks) & set(trends.weeks))
    if not both:
        raise InputError(f"{truth_path}: has no week in common with {store_path}; is it the truth of that log?")
    at_store, at_truth = ([weeks.index(week) for week in both] for weeks in (trends.weeks, truth.weeks))
    counts = truth.counts[at_truth]
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = trend_counts(trends.spec, counts) / counts[:, :, :1]
    gone = set(sparsity.removed) if sparsity else set()
    kept = trends.ratios.kept[at_store] & np.array([r.place_id not in gone for r in trends.regions])[None, :, None]
    return _table(trends, at_store, exact, kept)


def _table(trends: Trends, weeks: list[int], exact: Floats, kept: npt.NDArray[np.bool_]) -> list[Accuracy]:
    ratios, spec = trends.ratios, trends.spec
    levels = np.array([region.level for region in trends.regions])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(ratios.value[weeks] / exact - 1)
    held = (ratios.low[weeks] <= exact) & (exact <= ratios.high[weeks])
    rows = []
    for level in (spec.total.level, *spec.level_names):
        for i, trend in enumerate(spec.trends):
            here = np.s_[:, levels == level, i]
            errors, holds = error[here][kept[here]], held[here][kept[here]]
            rows.append(_accuracy(level, trend.name, kept[here], errors, holds, spec.reliability.max_relative_error))
    return rows


def _accuracy(
    level: str,
    trend: str,
    kept: npt.NDArray[np.bool_],
    errors: Floats,
    holds: npt.NDArray[np.bool_],
    limit: float,
) -> Accuracy:
    if not errors.size:
        return Accuracy(level, trend, 0, 0.0, np.nan, np.nan, np.nan, np.nan)
    median, p90 = np.quantile(errors, [0.5, 0.9])
    within = float((errors <= limit).mean())
    return Accuracy(level, trend, errors.size, float(kept.mean()), median, p90, within, float(holds.mean()))


def save_accuracy_chart(rows: list[Accuracy], path: Path) -> None:
    """Draw the median and 90th percentile of the error, by level and trend, next to the share published."""
    values = [asdict(row) for row in rows if row.points]
    order = list(dict.fromkeys(row.level for row in rows))
    trends = list(dict.fromkeys(row.trend for row in rows))
    y = {"field": "trend", "type": "nominal", "sort": trends, "title": None}
    row = {"field": "level", "sort": order, "title": None, "header": {"labelAngle": 0, "labelAlign": "left"}}
    error_axis = {"type": "quantitative", "axis": {"format": "%"}, "title": "relative error: median to 90th percentile"}
    save_chart(
        {
            "title": "Published values next to the exact bounded ratios",
            "data": {"values": values},
            "facet": {"row": row},
            "spec": {
                "hconcat": [
                    {
                        "width": 200,
                        "height": {"step": 18},
                        "mark": {"type": "bar", "color": "#0072b2"},
                        "encoding": {
                            "y": y,
                            "x": {
                                "field": "published",
                                "type": "quantitative",
                                "axis": {"format": "%"},
                                "scale": {"domain": [0, 1]},
                                "title": "share of weeks and regions published",
                            },
                        },
                    },
                    {
                        "width": 240,
                        "height": {"step": 18},
                        "layer": [
                            {
                                "mark": {"type": "rule", "strokeWidth": 3, "color": "#999999"},
                                "encoding": {"y": y, "x": {"field": "median"} | error_axis, "x2": {"field": "p90"}},
                            },
                            {
                                "mark": {"type": "point", "filled": True, "size": 60, "color": "#d55e00"},
                                "encoding": {"y": y, "x": {"field": "median"} | error_axis},
                            },
                        ],
                    },
                ]
            },
        },
        path,
    )
