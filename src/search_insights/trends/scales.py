"""Which scale holds for which weeks of a release.

A scale goes on over editions, so that all weeks can be compared, unless the change that began an edition says
otherwise: then later weeks have a scale of their own. A change of the rule asks for a new scale of all weeks.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise

import numpy as np

from search_insights.spec.spec import Trend
from search_insights.store.ledger import ScalingRecord
from search_insights.support.arrays import Floats
from search_insights.trends.derive import Trends
from search_insights.trends.scaling import scale_records
from search_insights.trends.spans import Span, Step


@dataclass(frozen=True)
class Scale:
    """Weeks of one scale, and its records: one for all trends, or one for each."""

    weeks: tuple[date, ...]
    records: tuple[ScalingRecord, ...]

    def factors(self, columns: Sequence[Trend]) -> Floats:
        """Return the factor of each week and trend; NaN for a trend that has none."""
        by_trend = {record.trend: record.factor for record in self.records}
        row = [by_trend.get(trend.id, by_trend.get("", np.nan)) for trend in columns]
        return np.tile(np.array(row, dtype=np.float64), (len(self.weeks), 1))


def scales_of(
    spans: Sequence[Span],
    steps: Sequence[Step],
    trends: Trends,
    known: Sequence[ScalingRecord],
    lost: Collection[date],
    today: str,
) -> tuple[Scale, ...]:
    """Return the scales of a release, the oldest weeks first; what no earlier release fixed is computed."""
    scales = []
    for change, group in groupby(spans, key=lambda span: scale_change(steps, span)):
        first, *others = group
        weeks = tuple(week for span in (first, *others) for week in span.weeks)
        records = scale_records(trends.of_weeks(weeks), change, known, lost, today, first.edition.first_week)
        scales.append(Scale(weeks, records))
    return tuple(scales)


def scale_change(steps: Sequence[Step], span: Span) -> int:
    """Return the number of the change that asked for the scale of an edition's weeks."""
    asked = 1
    for before, step in pairwise(steps):
        if step.change.kind == "counting" and not step.change.keeps_scale:
            asks = step.change.number <= span.begun_by.number  # earlier weeks keep the scale that they have
        else:
            asks = before.coverage.spec.scaling != step.coverage.spec.scaling
        asked = step.change.number if asks else asked
    return asked
