"""Removing sparse regions (Section 4.3): judged once, on one fixed window, and never again.

A data point of a region is a week in which at least one of its trends is published. Regions with `max_points` or fewer
data points in the window are removed from the dataset, with all their weeks, starting with the first release that has
the whole window. Before that nothing is removed: a region cannot be judged by weeks that are still to come. A week that
was declared lost never comes, so the window is judged without it. The total is never removed.

Regions that an edition is the first to report are judged on a window of their own: as many weeks, from the first week
of that edition on. A region that ended so early that it could not have had more than `max_points` is not judged, and
stays. A change of the rule asks for a new judgement; until it can be made, the last one holds.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from search_insights.spec.publication_rules import Sparsity
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.trends.derive import Trends
from search_insights.trends.spans import Span, Step, asked_by


@dataclass(frozen=True, slots=True)
class Window:
    """The weeks of the sparsity window: those by which regions are judged, the lost ones, and the missing ones."""

    judged: tuple[date, ...]
    lost: tuple[date, ...]
    missing: tuple[date, ...]

    @property
    def weeks(self) -> list[date]:
        """All weeks of the window, the oldest first."""
        return sorted((*self.judged, *self.lost, *self.missing))

    def can_judge(self, rule: Sparsity) -> bool:
        """Return whether no week is missing, and enough are left for a region to have more than `max_points`."""
        return not self.missing and len(self.judged) > rule.max_points


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is judged together: the regions that an edition is the first to report, by one window.

    `change` is the number of the recorded change that asked for it.
    """

    change: int
    edition: int
    places: frozenset[str]
    window: Window


def judgements_of(
    spans: Sequence[Span], steps: Sequence[Step], held: Collection[date], lost: Collection[date]
) -> tuple[Judgement, ...]:
    """Return what is to be judged in a release, the oldest edition first."""
    asked = asked_by(steps, lambda spec: (spec.sparsity, spec.reliability))  # both say what a data point is worth
    judgements, known = [], frozenset[str]()
    for span in spans:
        reported = frozenset(region.place_id for region in span.edition.cells.regions)
        if own := reported - known:
            window = window_of(span.coverage.spec.sparsity, held, lost, span.edition.first_week)
            change = max(asked, span.begun_by.number)
            judgements.append(Judgement(change, span.edition.number, own, window))
        known |= reported
    return tuple(judgements)


def window_of(rule: Sparsity, held: Collection[date], lost: Collection[date], first_week: date | None = None) -> Window:
    """Sort the weeks of the window by whether a store holds them, or has lost them.

    The window is the rule's, or as many weeks from `first_week` on.
    """
    length = (rule.last_week - rule.first_week).days // DAYS_OF_WEEK + 1
    weeks = [(first_week or rule.first_week) + timedelta(days=DAYS_OF_WEEK * i) for i in range(length)]
    return Window(
        judged=tuple(week for week in weeks if week in held),
        lost=tuple(week for week in weeks if week in lost and week not in held),
        missing=tuple(week for week in weeks if week not in held and week not in lost),
    )


def sparse_regions(trends: Trends, window: Window, among: Collection[str] | None = None) -> list[str] | None:
    """Return the place_ids of the regions to remove, of all or some; None while the window cannot be judged."""
    rule = trends.spec.sparsity
    if not window.can_judge(rule):
        return None
    in_window = np.array([week in window.judged for week in trends.weeks])
    points = trends.points[in_window].sum(axis=0)
    weeks = np.asarray(trends.known[in_window].any(axis=2)).sum(axis=0)
    sparse = np.flatnonzero((points <= rule.max_points) & (weeks > rule.max_points))
    places = [trends.regions[i].place_id for i in sparse if i > 0]
    return [place for place in places if among is None or place in among]
