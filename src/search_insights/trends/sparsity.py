"""Removing sparse regions (Section 4.3): judged once, on one fixed window, and never again.

A data point of a region is a week in which at least one of its trends is published. Regions with `max_points` or fewer
data points in the window are removed from the dataset, with all their weeks, starting with the first release that has
the whole window. Before that nothing is removed: a region cannot be judged by weeks that are still to come. The total
is never removed.
"""

from datetime import timedelta

import numpy as np

from search_insights.spec.spec import Sparsity
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.trends.derive import Trends


def sparse_regions(trends: Trends) -> list[str] | None:
    """Return the place_ids of the regions to remove; None while the window is not complete."""
    rule = trends.spec.sparsity
    if not window_is_complete(rule, trends):
        return None
    in_window = np.array([rule.first_week <= week <= rule.last_week for week in trends.weeks])
    points = trends.points[in_window].sum(axis=0)
    sparse = np.flatnonzero(points <= rule.max_points)
    return [trends.regions[i].place_id for i in sparse if i > 0]


def window_is_complete(rule: Sparsity, trends: Trends) -> bool:
    """Return whether every week of the window has been released."""
    length = (rule.last_week - rule.first_week).days // DAYS_OF_WEEK + 1
    window = {rule.first_week + timedelta(days=DAYS_OF_WEEK * i) for i in range(length)}
    return window <= set(trends.weeks)
