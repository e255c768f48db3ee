"""How accurate a release of a simulated log is: its published values compared with the truth."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from search_insights.errors import InputError
from search_insights.evaluation.matching import require_same_release, require_truth_of_log
from search_insights.simulation.truth import Truth, read_truth
from search_insights.store.ledger import SparsityRecord
from search_insights.store.opening import open_store
from search_insights.store.store import Store
from search_insights.support.arrays import Bools, Floats
from search_insights.support.charts import save_chart
from search_insights.trends.derive import Trends, derive, trend_counts


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of one level and trend.

    published        share of all weeks and reported regions that have a value
    median, p90      median and 90th percentile of the relative error of published values, |value / truth - 1|
    within_limit     share of published values whose error is within the spec's limit
    coverage         share of published values whose interval contains the truth
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
    """Compare every published value of a store's release with the exact bounded ratio.

    Refuse a truth that is not that of the log in the store. A truth is of one spec and geography, so of a store with
    several editions the weeks of the present one are compared.
    """
    with open_store(store_path) as store:
        weeks = [entry.week for entry in store.present_entries()]
        if not weeks:
            raise InputError(f"{store_path}: its present edition has no week yet")
        trends, sparsity = derive(store, weeks), _sparsity(store)
        truth = read_truth(truth_path, store.coverage, trends.regions)
        identity = require_same_release(truth_path, store)
        if not set(truth.weeks) & set(trends.weeks):
            raise InputError(f"{truth_path}: has no week in common with {store_path}; is it the truth of that log?")
        require_truth_of_log(truth_path, truth, store, identity)
    return accuracy_of(trends, sparsity, truth)


def _sparsity(store: Store) -> SparsityRecord | None:
    """Return the last decision on sparse regions, with those that all editions removed."""
    last = {record.edition: record for record in store.sparsities()}  # those of the latest change come last
    removed = [place for record in last.values() for place in record.removed]
    return replace(last[max(last)], removed=removed) if last else None


def accuracy_of(trends: Trends, sparsity: SparsityRecord | None, truth: Truth) -> list[Accuracy]:
    """Compare the values of the weeks that both have; those of sparse regions are not published."""
    weeks = sorted(set(truth.weeks) & set(trends.weeks))
    in_store, in_truth = ([of_source.index(week) for week in weeks] for of_source in (trends.weeks, truth.weeks))
    counts = truth.counts[in_truth]
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = trend_counts(trends.spec, counts) / counts[:, :, :1]
    removed = set(sparsity.removed) if sparsity else set()
    kept = trends.ratios.kept[in_store] & np.array([r.place_id not in removed for r in trends.regions])[None, :, None]
    return _table(trends, in_store, exact, kept)


def _table(trends: Trends, weeks: list[int], exact: Floats, kept: Bools) -> list[Accuracy]:
    ratios, spec = trends.ratios, trends.spec
    levels = np.array([region.level for region in trends.regions])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(ratios.value[weeks] / exact - 1)
    covered = (ratios.low[weeks] <= exact) & (exact <= ratios.high[weeks])
    rows = []
    for level in (spec.total.level, *spec.level_names):
        for i, trend in enumerate(spec.trends):
            here = np.s_[:, levels == level, i]
            known = kept[here] & ~np.isnan(exact[here])  # the truth may cover only some regions
            errors, hits = error[here][known], covered[here][known]
            rows.append(_accuracy(level, trend.name, kept[here], errors, hits, spec.reliability.max_relative_error))
    return rows


def _accuracy(level: str, trend: str, kept: Bools, errors: Floats, hits: Bools, limit: float) -> Accuracy:
    if not errors.size:
        return Accuracy(level, trend, 0, 0.0, np.nan, np.nan, np.nan, np.nan)
    median, p90 = np.quantile(errors, [0.5, 0.9])
    within = float((errors <= limit).mean())
    return Accuracy(level, trend, errors.size, float(kept.mean()), median, p90, within, float(hits.mean()))


def save_accuracy_chart(rows: list[Accuracy], path: Path) -> None:
    """Draw the published share, and the median and 90th percentile of the error, by level and trend."""
    values = [asdict(row) for row in rows if row.points]
    order, trends = (list(dict.fromkeys(names)) for names in ([r.level for r in rows], [r.trend for r in rows]))
    level = {"field": "level", "sort": order, "title": None, "header": {"labelAngle": 0, "labelAlign": "left"}}
    percent = {"type": "quantitative", "axis": {"format": "%"}}
    y = {"field": "trend", "type": "nominal", "sort": trends, "title": None}
    error = percent | {"title": "relative error: median to 90th percentile"}
    published = {
        "width": 220,
        "height": {"step": 18},
        "mark": {"type": "bar", "color": "#0072b2"},
        "encoding": {
            "row": level,
            "y": y,
            "x": percent | {"field": "published", "scale": {"domain": [0, 1]}, "title": "weeks and regions published"},
        },
    }
    errors = {
        "facet": {"row": level | {"header": None}},
        "spec": {
            "width": 260,
            "height": {"step": 18},
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 3, "color": "#999999"},
                    "encoding": {"y": y, "x": error | {"field": "median"}, "x2": {"field": "p90"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 60, "color": "#d55e00", "opacity": 1},
                    "encoding": {"y": y | {"axis": None}, "x": error | {"field": "median"}},
                },
            ],
        },
    }
    title = "Published values next to the exact bounded ratios"
    save_chart({"title": title, "data": {"values": values}, "hconcat": [published, errors]}, path)
