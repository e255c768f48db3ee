"""Published intervals as what they are, Fieller's, so that they can be had at any confidence and averaged.

A value v is a noisy count X divided by a noisy count Y. Its interval at a confidence with the normal quantile z has the
ends v (1 -+ sqrt(g + a (1 - g))) / (1 - g), where a = (z sigma_x / X)^2 and g = (z sigma_y / Y)^2. Two ends and a value
give a and g back, and both grow with z^2. So the ends at another confidence follow from the published ones, with their
asymmetry, and nobody needs to take the interval for a symmetric one.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from search_insights.support.arrays import Bools, Floats


def quantile(confidence: float) -> float:
    """Return how many standard deviations a normal interval of a confidence reaches to either side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def standard_errors(low: Floats, high: Floats, confidence: float) -> Floats:
    """Return half the width of intervals in units of their normal quantile."""
    errors: Floats = (high - low) / (2 * quantile(confidence))
    return errors


@dataclass(frozen=True, slots=True)
class Estimates:
    """Independent estimates, with what their noise in X and in Y adds to the variance, per squared quantile.

    `of_x` is (sigma_x / Y)^2 on the scale of the values, `of_y` is (sigma_y / Y)^2. NaN where there is no value.
    """

    value: Floats
    of_x: Floats
    of_y: Floats

    def arms(self, z: float | Floats) -> tuple[Floats, Floats]:
        """Return how far the interval of quantile z reaches down and up; without end where Y may be 0."""
        g, a = self.of_y * np.square(z), self.of_x * np.square(z)
        with np.errstate(divide="ignore", invalid="ignore"):
            half = np.sqrt(self.value**2 * g + a * (1 - g)) / (1 - g)
            shift = self.value * g / (1 - g)  # of the middle, which lies above the value
            bounded = ~(g >= 1)
            return np.where(bounded, half - shift, np.inf), np.where(bounded, half + shift, np.inf)


def estimates(value: Floats, low: Floats, high: Floats, confidence: float) -> Estimates:
    """Return the estimates that published values and intervals describe.

    Ends are rounded, so what they say of Y is kept between nothing and all of the width.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(middle > 0, half / middle, 0.0)
        g = np.clip(np.where(middle > 0, 1 - value / middle, 0.0), 0.0, np.minimum(relative**2, 0.99))
        a = np.maximum((half * (1 - g)) ** 2 - value**2 * g, 0.0) / (1 - g)
    z2 = quantile(confidence) ** 2
    return Estimates(np.asarray(value), a / z2, np.where(np.isnan(value), np.nan, g) / z2)


@dataclass(frozen=True, slots=True)
class Means:
    """The mean of each row of estimates, over the columns that have a value. Rows without any value are NaN."""

    parts: Estimates
    value: Floats
    weeks: Floats

    @classmethod
    def of(cls, parts: Estimates) -> "Means":
        """Take the means."""
        known = ~np.isnan(parts.value)
        weeks = known.sum(axis=1).astype(np.float64)
        with np.errstate(invalid="ignore"):
            return cls(parts, np.where(known, parts.value, 0.0).sum(axis=1) / np.where(weeks > 0, weeks, np.nan), weeks)

    def rows(self, chosen: "Bools | slice") -> "Means":
        """Return some of the rows."""
        of = self.parts
        parts = Estimates(of.value[chosen], of.of_x[chosen], of.of_y[chosen])
        return Means(parts, self.value[chosen], self.weeks[chosen])

    def arms(self, z: float | Floats) -> tuple[Floats, Floats]:
        """Return how far the interval of each mean reaches: arms of independent estimates add up as squares."""
        each = np.asarray(z)[..., None] if np.ndim(z) else z
        down, up = (np.sqrt(np.nansum(arm**2, axis=1)) for arm in self.parts.arms(each))
        with np.errstate(invalid="ignore"):
            return down / self.weeks, up / self.weeks

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean; a value is never below 0."""
        down, up = self.arms(quantile(confidence))
        return np.maximum(self.value - down, 0.0), self.value + up
