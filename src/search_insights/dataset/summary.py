"""What a release publishes and what it drops and why, by level and trend: as numbers and as a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from search_insights.dataset.pages import draw_summary
from search_insights.trends.outcomes import OUTCOMES
from search_insights.trends.release import Release


def summarize(release: Release) -> list[dict[str, Any]]:
    """Count the values of each level and trend by their outcome."""
    levels = np.array([region.level for region in release.trends.regions])
    rows = []
    for level in release.levels:
        of_level = release.outcomes[:, levels == level]
        for i, trend in enumerate(release.columns):
            counts = np.bincount(of_level[:, :, i].ravel(), minlength=len(OUTCOMES))
            by_outcome = dict(zip(OUTCOMES, counts.tolist(), strict=True))
            regions = int(release.published[:, levels == level, i].any(axis=0).sum())
            rows.append({"level": level, "trend": trend.name, "regions_with_a_value": regions} | by_outcome)
    return rows


def save_summary_chart(release: Release, rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the share of each outcome among the values of each level and trend."""
    title, trends = release.coverage.spec.title, [trend.name for trend in release.columns]
    draw_summary(rows, path, title=title, weeks=release.trends.weeks, levels=release.levels, trends=trends)
