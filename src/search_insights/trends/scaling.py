"""Scaling (Section 4.4): one factor for all regions, weeks and trends, fixed by the first release."""

import numpy as np

from search_insights.errors import StoreError
from search_insights.trends.derive import Trends


def scaling_factor(trends: Trends) -> float:
    """Find the factor that sets the highest weekly value of the spec's trend, for the total, to its maximum."""
    rule = trends.spec.scaling
    values = trends.total_of(rule.trend)
    if np.isnan(values).all():
        raise StoreError(
            f"no week has a reliable {trends.spec.total.level} value of trend {rule.trend!r}, which scaling needs; "
            "release more data first"
        )
    return rule.maximum / float(np.nanmax(values))
