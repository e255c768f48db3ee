"""Scaling (Section 4.4): one factor for all regions, weeks and trends, fixed by the first release."""

import math

import numpy as np

from search_insights.errors import StoreError
from search_insights.store.store import Store
from search_insights.trends.derive import Trends, derive

# Sums in another order, or by another version of NumPy, differ by less than this.
_ROUNDING = 1e-9


def scaling_factor(trends: Trends) -> float:
    """Return the factor that sets the highest weekly value of the spec's trend, for the total, to its maximum."""
    rule = trends.spec.scaling
    values = trends.total_of(rule.trend)
    if np.isnan(values).all():
        raise StoreError(
            f"no week has a reliable {trends.spec.total.level} value of trend {rule.trend!r}, which scaling needs; "
            "release more data first"
        )
    return rule.maximum / float(np.nanmax(values))


def scale_problems(store: Store) -> list[str]:
    """Check that the fixed factor is the one that its weeks give, unless a week was added between them later."""
    record = store.scaling()
    if record is None:
        return []
    weeks = [entry.week for entry in store.entries() if record.first_week <= entry.week <= record.last_week]
    if len(weeks) != record.weeks:
        return []
    factor = scaling_factor(derive(store, weeks))
    same = math.isclose(factor, record.factor, rel_tol=_ROUNDING)
    return [] if same else [f"the scaling factor is not the one that weeks {weeks[0]} to {weeks[-1]} give"]
