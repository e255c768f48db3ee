"""The rules of post-processing (Section 4): which values are published, and on which scale."""

import math
from dataclasses import dataclass
from datetime import date

from search_insights.spec.checks import refuse, require


@dataclass(frozen=True, slots=True)
class Reliability:
    """When a noisy value is good enough to be published (Section 4.2)."""

    confidence: float
    max_relative_error: float

    def __post_init__(self) -> None:
        share, limit = self.confidence, self.max_relative_error
        confidence = require(0 < share < 1, "reliability.confidence", "a number between 0 and 1", share)
        error = require(0 < limit < math.inf, "reliability.max_relative_error", "a number above 0", limit)
        refuse(confidence + error)


@dataclass(frozen=True, slots=True)
class Sparsity:
    """Which regions are removed for too few data points, judged on one fixed window (Section 4.3)."""

    max_points: int
    first_week: date
    last_week: date

    def __post_init__(self) -> None:
        points = require(self.max_points >= 0, "sparsity.max_points", "0 or more", self.max_points)
        expected = f"a week not before first_week ({self.first_week})"
        refuse(points + require(self.first_week <= self.last_week, "sparsity.last_week", expected, self.last_week))


@dataclass(frozen=True, slots=True)
class Scaling:
    """The trend whose highest total value in the first release is set to `maximum` (Section 4.4)."""

    trend: str
    maximum: float

    def __post_init__(self) -> None:
        refuse(require(0 < self.maximum < math.inf, "scaling.maximum", "a number above 0", self.maximum))
