"""The rules of post-processing (Section 4): which values are published, and on which scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from search_insights.errors import Problem
from search_insights.spec.checks import refuse, require, require_line, require_one_of

SCOPES = ("one", "each")


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
    """What sets the scale of the values (Section 4.4): the peaks of the total that become `maximum`.

    `scope` is one factor for all trends, by the peak of `trend` (the paper), or one for each trend, by its own peak.
    The peak is that of the weeks from `first_week` to `last_week`; without them, of the first release. A release that
    is to be compared with another takes its `factor`, and says in `set_by` whose it is.
    """

    maximum: float
    trend: str | None = None
    scope: str = "one"
    first_week: date | None = None
    last_week: date | None = None
    factor: float | None = None
    set_by: str | None = None

    def __post_init__(self) -> None:
        maximum = require(0 < self.maximum < math.inf, "scaling.maximum", "a number above 0", self.maximum)
        scope = require_one_of(self.scope, SCOPES, "scaling.scope")
        refuse([*maximum, *scope, *self._wrong_weeks(), *self._wrong_factor()])

    def _wrong_factor(self) -> list[Problem]:
        """Return what is wrong with a factor of another release: it is one for all trends, and no week sets it."""
        if self.factor is None:
            expected = "nothing: it says whose factor is used, and there is none"
            return require(self.set_by is None, "scaling.set_by", expected, repr(self.set_by))
        if not self.set_by:
            return [Problem("scaling.set_by", "the dataset whose factor is used", "nothing")]
        expected = "nothing: the factor of another release sets the scale"
        return [
            *require(0 < self.factor < math.inf, "scaling.factor", "a number above 0", self.factor),
            *require_line(self.set_by, "scaling.set_by"),
            *require(self.scope == "one", "scaling.scope", '"one", with the factor of another release', self.scope),
            *require(self.window is None, "scaling.first_week", expected, self.first_week),
        ]

    def _wrong_weeks(self) -> list[Problem]:
        if self.first_week is None or self.last_week is None:
            missing = "last_week" if self.last_week is None else "first_week"
            both = self.first_week is self.last_week
            return require(both, f"scaling.{missing}", "a week: first_week and last_week go together", "nothing")
        expected = f"a week not before first_week ({self.first_week})"
        return require(self.first_week <= self.last_week, "scaling.last_week", expected, self.last_week)

    def wrong_trend(self, trends: Sequence[str]) -> list[Problem]:
        """Return what is wrong with `trend`, given the ids of all trends."""
        if self.scope == "each":
            expected = 'nothing: with scope "each", every trend sets its own scale'
            return require(self.trend is None, "scaling.trend", expected, repr(self.trend))
        if self.trend is None:
            return [Problem("scaling.trend", "a value", "nothing")]
        return require_one_of(self.trend, trends, "scaling.trend")

    @property
    def window(self) -> tuple[date, date] | None:
        """The first and the last of the weeks that set the scale; None if those of the first release do."""
        return (self.first_week, self.last_week) if self.first_week and self.last_week else None

    def canonical(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults: a spec of before they existed keeps its fingerprint."""
        values = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in values if value != field.default}
