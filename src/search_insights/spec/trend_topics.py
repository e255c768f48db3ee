"""Which topics a trend is about."""

import numpy as np

from search_insights.spec.measures import measure_values
from search_insights.spec.spec import Spec, Trend


def counted_topics(spec: Spec, trend: Trend) -> tuple[str, ...]:
    """Return the topics that a trend counts: a search about nothing else adds 1 to it."""
    if not spec.given_measures:
        return trend.sum_of
    numbers = [[measure.id for measure in spec.measures].index(measure) for measure in trend.sum_of]
    each = measure_values(spec.measures, spec.topics, 1 << np.arange(len(spec.topics)))[:, numbers]
    added = each @ np.array(trend.weights or np.ones(len(numbers)))
    return tuple(topic for topic, value in zip(spec.topics, added, strict=True) if value == 1)
