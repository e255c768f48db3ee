"""Removing sparse regions (Section 4.3): judged once, on one fixed window, and never again.

A data point of a region is a week in which at least one of its trends is published. Regions with `max_points` or fewer
data points in the window are removed from the dataset, with all their weeks, starting with the first release that has
the whole window. Before that nothing is removed: a region cannot be judged by weeks that are still to come. A week that
was declared lost never comes, so the window is judged without it. The total is never removed.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from search_insights.spec.publication_rules import Sparsity
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.trends.derive import Trends


@dataclass(frozen=True, slots=True)
class Window:
    """The weeks of the sparsity window: those by which regions are judged, the lost ones, and the missing ones."""

    judged: tuple[date, ...]
    lost: tuple[date, ...]
    missing: tuple[date, ...]

    def can_judge(self, rule: Sparsity) -> bool:
        """Return whether no week is missing, and enough are left for a region to have more than `max_points`."""
        return not self.missing and len(self.judged) > rule.max_points


def window_of(rule: Sparsity, held: Collection[date], lost: Collection[date]) -> Window:
    """Sort the weeks of the window by whether a store holds them, or has lost them."""
    length = (rule.last_week - rule.first_week).days // DAYS_OF_WEEK + 1
    weeks = [rule.first_week + timedelta(days=DAYS_OF_WEEK * i) for i in range(length)]
    return Window(
        judged=tuple(week for week in weeks if week in held),
        lost=tuple(week for week in weeks if week in lost and week not in held),
        missing=tuple(week for week in weeks if week not in held and week not in lost),
    )


def sparse_regions(trends: Trends, window: Window) -> list[str] | None:
    """Return the place_ids of the regions to remove; None while the window cannot be judged."""
    rule = trends.spec.sparsity
    if not window.can_judge(rule):
        return None
    in_window = np.array([week in window.judged for week in trends.weeks])
    points = trends.points[in_window].sum(axis=0)
    sparse = np.flatnonzero(points <= rule.max_points)
    return [trends.regions[i].place_id for i in sparse if i > 0]
