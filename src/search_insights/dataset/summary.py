"""What a release publishes and what it drops and why, by level and trend: as numbers and as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from search_insights.support.charts import save_chart
from search_insights.trends.release import OUTCOMES, Release


def summarize(release: Release) -> list[dict[str, Any]]:
    """Count the values of each level and trend by their outcome."""
    spec = release.coverage.spec
    levels = np.array([region.level for region in release.trends.regions])
    rows = []
    for level in (spec.total.level, *spec.level_names):
        of_level = release.outcomes[:, levels == level]
        for i, trend in enumerate(spec.trends):
            counts = np.bincount(of_level[:, :, i].ravel(), minlength=len(OUTCOMES))
            by_outcome = dict(zip(OUTCOMES, counts.tolist(), strict=True))
            regions = int(release.published[:, levels == level, i].any(axis=0).sum())
            rows.append({"level": level, "trend": trend.name, "regions_with_a_value": regions} | by_outcome)
    return rows


def save_summary_chart(release: Release, rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the share of each outcome among the values of each level and trend."""
    long = [
        {"level": row["level"], "trend": row["trend"], "fate": outcome, "values": row[outcome], "order": i}
        for row in rows
        for i, outcome in enumerate(OUTCOMES)
    ]
    spec = release.coverage.spec
    save_chart(
        {
            "title": f"{spec.title}: what is published, {release.trends.weeks[0]} to {release.trends.weeks[-1]}",
            "data": {"values": long},
            "width": 420,
            "height": {"step": 18},
            "mark": "bar",
            "encoding": {
                "row": {
                    "field": "level",
                    "sort": [spec.total.level, *spec.level_names],
                    "title": None,
                    "header": {"labelAngle": 0, "labelAlign": "left"},
                },
                "y": {"field": "trend", "type": "nominal", "sort": [t.name for t in spec.trends], "title": None},
                "x": {
                    "field": "values",
                    "type": "quantitative",
                    "stack": "normalize",
                    "title": "share of all weeks and regions",
                    "axis": {"format": "%"},
                },
                "color": {
                    "field": "fate",
                    "type": "nominal",
                    "sort": list(OUTCOMES),
                    "scale": {"domain": list(OUTCOMES), "range": ["#0072b2", "#e69f00", "#999999", "#d8d8d8"]},
                    "title": None,
                },
                "order": {"field": "order"},
            },
        },
        path,
    )
