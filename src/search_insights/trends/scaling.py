"""Scaling (Section 4.4): the factors that map ratios to the scale, each fixed once and then kept.

In the paper one factor holds for all regions, weeks and trends. A spec may ask for a factor for each trend, and may say
which weeks set it. Of a trend that has no reliable total yet nothing is published, until a release fixes its factor.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import pairwise

import numpy as np

from search_insights.errors import ScaleIncomplete, StoreError
from search_insights.spec.publication_rules import Scaling
from search_insights.spec.weeks import first_days
from search_insights.store.editions import Change
from search_insights.store.ledger import ScalingRecord
from search_insights.store.store import Store
from search_insights.support.arrays import Floats
from search_insights.trends.derive import Trends, derive

# Sums in another order, or by another version of NumPy, differ by less than this.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ScaleSpan:
    """The weeks of one scale: from a first week on, or all; and the change of the store that asked for it."""

    change: int = 1
    first_week: date | None = None


@dataclass(frozen=True)
class Scale:
    """The factors of a release, with the axes (week, trend), NaN where there is none yet; and their records."""

    records: tuple[ScalingRecord, ...]
    factors: Floats


def spans_of(changes: Sequence[Change], rule_of: Callable[[str], Scaling]) -> tuple[ScaleSpan, ...]:
    """Return the scales of a store, given the rule of each spec by its fingerprint.

    Another rule is derivation: it makes a new scale for all weeks. A new edition goes on with the scale that there is,
    unless its change says otherwise.
    """
    spans = [ScaleSpan()]
    for before, change in pairwise(changes):
        if rule_of(change.spec) != rule_of(before.spec):
            spans = [ScaleSpan(change.number)]
        elif not change.keeps_scale:
            spans.append(ScaleSpan(change.number, change.from_week))
    return tuple(spans)


def scale_of(
    trends: Trends, known: Sequence[ScalingRecord], spans: Sequence[ScaleSpan], lost: Collection[date]
) -> Scale:
    """Return the factors that were fixed, and those that this release is the first to fix."""
    fixed = {(record.change, record.trend): record for record in known}
    records: list[ScalingRecord] = []
    factors = np.full((len(trends.weeks), len(trends.spec.trends)), np.nan)
    for span, here in _weeks_of(spans, trends.weeks):
        for name in ("",) if trends.spec.scaling.scope == "one" else [trend.id for trend in trends.spec.trends]:
            record = fixed.get((span.change, name)) or _new_record(trends, span, here, name, lost)
            if record:
                records.append(record)
                columns = [name in ("", trend.id) for trend in trends.spec.trends]
                factors[np.ix_([week in here for week in trends.weeks], columns)] = record.factor
    if not records:
        raise _no_total(trends)
    return Scale(tuple(records), factors)


def _weeks_of(spans: Sequence[ScaleSpan], weeks: Sequence[date]) -> Iterator[tuple[ScaleSpan, list[date]]]:
    """Yield each scale that has weeks, and these."""
    for span, after in zip(spans, [*spans[1:], None], strict=True):
        begin, end = span.first_week or date.min, (after and after.first_week) or date.max
        if here := [week for week in weeks if begin <= week < end]:
            yield span, here


def _new_record(
    trends: Trends, span: ScaleSpan, here: Sequence[date], name: str, lost: Collection[date]
) -> ScalingRecord | None:
    """Return what sets the scale of a trend, or of all; None if the trend has no reliable total in these weeks."""
    weeks = _setting_weeks(trends, span, here, lost)
    peak = _peak(trends, name, weeks)
    if peak is None and not name:
        raise _no_total(trends)
    if peak is None:
        return None
    today = datetime.now(UTC).date().isoformat()
    factor = trends.spec.scaling.maximum / peak
    return ScalingRecord(factor, weeks[0], weeks[-1], len(weeks), today, span.change, name)


def _setting_weeks(trends: Trends, span: ScaleSpan, here: Sequence[date], lost: Collection[date]) -> Sequence[date]:
    """Return the weeks whose peak sets the scale: those of the rule, of which none may be missing, or all.

    An edition with a scale of its own may begin after the weeks of the rule.
    """
    window = trends.spec.scaling.window
    wanted = [week for week in first_days(*window) if week >= (span.first_week or date.min)] if window else []
    missing = [week for week in wanted if week not in here and week not in lost]
    if missing:
        raise ScaleIncomplete(
            f"the weeks from {wanted[0]} to {wanted[-1]} set the scale, and {len(missing)} of them are not in the "
            f"store, the first {missing[0]}; publish when they are. A week that never comes can be declared lost; fewer "
            "weeks can be given by the keys 'first_week' and 'last_week' of [scaling]"
        )
    return [week for week in here if week in wanted] or here


def _peak(trends: Trends, name: str, weeks: Collection[date]) -> float | None:
    """Return the highest reliable value of the total in some weeks, of a trend or of the one that sets all scales."""
    values = trends.total_of(name or str(trends.spec.scaling.trend))[[week in weeks for week in trends.weeks]]
    return None if np.isnan(values).all() else float(np.nanmax(values))


def _no_total(trends: Trends) -> StoreError:
    trend = trends.spec.scaling.trend
    return StoreError(
        f"no week has a reliable {trends.spec.total.level} value of {f'trend {trend!r}' if trend else 'any trend'}, "
        "which scaling needs; release more data first"
    )


def few_weeks(trends: Trends, new: Sequence[ScalingRecord]) -> str:
    """Say that a new scale is set by fewer weeks than the window by which sparse regions are judged; else nothing.

    A rule that says which weeks set the scale means them.
    """
    rule, judged = trends.spec.scaling, trends.spec.sparsity
    usual = len(first_days(judged.first_week, judged.last_week))
    fewest = min(new, key=lambda record: record.weeks, default=None)
    if rule.window or fewest is None or fewest.weeks >= usual:
        return ""
    by = "1 week" if fewest.weeks == 1 else f"{fewest.weeks} weeks"
    return (
        f"the scale is fixed for good by {by}: their highest {trends.spec.total.level} value is {rule.maximum:g} in all "
        f"later releases, whatever comes. The spec's window has {usual} weeks; [scaling] may say which weeks set the "
        "scale (first_week, last_week)"
    )


def scale_problems(store: Store) -> list[str]:
    """Check that every fixed factor is the one that its weeks give, unless a week was added between them later."""
    return [line for record in store.scalings() for line in _record_problems(store, record)]
