"""Scaling (Section 4.4): the factors that map ratios to the scale, each fixed once and then kept.

In the paper one factor holds for all regions, weeks and trends. A spec may ask for a factor for each trend, and may say
which weeks set it. A trend that has no reliable total yet is not published, until a release can fix its factor.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from search_insights.errors import ScaleIncomplete, StoreError
from search_insights.spec.weeks import first_days
from search_insights.store.coverages import coverage_reader
from search_insights.store.editions import editions_of
from search_insights.store.ledger import ScalingRecord
from search_insights.store.store import Store
from search_insights.trends.derive import Trends, derive

# Sums in another order, or by another version of NumPy, differ by less than this.
_ROUNDING = 1e-9


def scale_records(
    trends: Trends,
    change: int,
    known: Sequence[ScalingRecord],
    lost: Collection[date],
    today: str,
    since: date | None = None,
) -> tuple[ScalingRecord, ...]:
    """Return what sets the scale of some weeks, which a change asked for: what is known, and what is to be fixed now.

    A scale that holds only `since` a week is not set by weeks before it.
    """
    fixed = {record.trend: record for record in known if record.change == change}
    names = [""] if trends.spec.scaling.scope == "one" else [trend.id for trend in trends.columns]
    missing = [name for name in names if name not in fixed]
    if missing:
        setting = trends.of_weeks(_setting_weeks(trends, lost, since))
        weeks = (setting.weeks[0], setting.weeks[-1], len(setting.weeks), today, change)
        factors = {name: factor for name in missing if (factor := scaling_factor(setting, name))}
        fixed |= {name: ScalingRecord(factor, *weeks, name) for name, factor in factors.items()}
    if not fixed:
        raise _no_total(trends)
    return tuple(fixed[name] for name in names if name in fixed)


def scaling_factor(trends: Trends, name: str = "") -> float | None:
    """Return the factor that sets the highest weekly value of a trend, for the total, to the maximum of the scale.

    Without a name the trend is the one that sets the scale of all. None if no week has a reliable value. A spec may
    give the factor of another release.
    """
    rule = trends.spec.scaling
    if rule.factor is not None:
        return rule.factor
    values = trends.total_of(name or str(rule.trend))
    return None if np.isnan(values).all() else rule.maximum / float(np.nanmax(values))


def _setting_weeks(trends: Trends, lost: Collection[date], since: date | None) -> Sequence[date]:
    """Return the weeks whose peak sets the scale: those of the rule, of which none may be missing, or else all.

    A scale may begin after the weeks of the rule.
    """
    window = trends.spec.scaling.window
    wanted = [week for week in first_days(*window) if since is None or week >= since] if window else []
    missing = [week for week in wanted if week not in trends.weeks and week not in lost]
    if missing:
        raise ScaleIncomplete(
            f"the weeks from {wanted[0]} to {wanted[-1]} set the scale, and {len(missing)} of them are not in the "
            f"store, the first {missing[0]}; publish when they are. A week that never comes can be declared lost "
            "('search-insights store lose'); [scaling] of the spec can name fewer weeks"
        )
    return [week for week in trends.weeks if week in wanted] or trends.weeks


def _no_total(trends: Trends) -> StoreError:
    trend = trends.spec.scaling.trend
    return StoreError(
        f"no week has a reliable {trends.spec.total.level} value of {f'trend {trend!r}' if trend else 'any trend'}, "
        "which scaling needs; release more data first"
    )


def few_weeks(trends: Trends, new: Sequence[ScalingRecord]) -> str:
    """Say that a new scale is set by fewer weeks than the window by which sparse regions are judged; else nothing.

    A rule that says which weeks set the scale means them, and a factor of another release is set by none of these.
    """
    rule, judged = trends.spec.scaling, trends.spec.sparsity
    usual = len(first_days(judged.first_week, judged.last_week))
    fewest = min((record.weeks for record in new), default=usual)
    if rule.window or rule.factor or fewest >= usual:
        return ""
    return (
        f"the scale is set by {fewest} week{'s' if fewest > 1 else ''} only, and fixed for good: their highest "
        f"{trends.spec.total.level} value is {rule.maximum:g} in all later releases, whatever comes. The spec's window "
        f"has {usual} weeks. [scaling] of the spec can say which weeks set the scale: first_week and last_week"
    )


def scale_problems(store: Store) -> list[str]:
    """Check that every fixed factor is the one that its weeks give, unless a week was added between them later."""
    return [line for record in store.scalings() for line in _record_problems(store, record)]


def _record_problems(store: Store, record: ScalingRecord) -> list[str]:
    weeks = [entry.week for entry in store.entries() if record.first_week <= entry.week <= record.last_week]
    if len(weeks) != record.weeks or any(_gives(derive(then, weeks), record) for then in _since(store, record, weeks)):
        return []
    of_trend = f" of trend {record.trend!r}" if record.trend else ""
    return [f"the scaling factor{of_trend} is not the one that weeks {weeks[0]} to {weeks[-1]} give"]


def _gives(trends: Trends, record: ScalingRecord) -> bool:
    name = record.trend or trends.spec.scaling.trend
    if bool(record.trend) != (trends.spec.scaling.scope == "each") or name not in {t.id for t in trends.columns}:
        return False
    factor = scaling_factor(trends, record.trend)
    return factor is not None and math.isclose(factor, record.factor, rel_tol=_ROUNDING)


def _since(store: Store, record: ScalingRecord, weeks: Sequence[date]) -> Iterator[Store]:
    """Yield the store as it is, then with the rules that it had, back to the change that asked for a scale.

    The factor was fixed under one of them: later changes may say which values are reliable, or how to scale.
    """
    yield store
    changes = store.changes()
    begun = (store.edition_of(week).changes[0].number for week in weeks)
    read = coverage_reader(store.connection, store.path, [edition.counted for edition in store.editions])
    for number in range(len(changes) - 1, max(record.change, *begun) - 1, -1):
        yield replace(store, editions=editions_of(changes[:number], read))
