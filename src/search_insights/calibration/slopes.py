"""How the expected number of values changes with the sigmas: by level and trend, with its slopes.

The chance of a value depends on the noise of its region alone, so each chance is moved by the sigma of X and by that of
Y, and each region's variances by those of the table (region_noise.py). The chain rule does the rest: a table with many
measures costs no more than one with few.

The reach of the noise is taken as z deviations here. What its steps add (reach.py, reach_of_means.py) goes up and down
with the sigma, by little; it would only mislead a search. `Outlook.expect` has it. So the outlook is a coarse one.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search_insights.calibration.expectation import Outlook
from search_insights.calibration.region_noise import Noise
from search_insights.support.arrays import Floats
from search_insights.trends.derive import trend_variances

_STEP = 1e-4  # of the logarithm of a sigma


@dataclass(frozen=True)
class Forecast:
    """The expected number of values of every level and trend, as functions of a table of sigmas."""

    outlook: Outlook

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The levels, in the order of the numbers."""
        return tuple(dict.fromkeys(level for level, _ in self.outlook.noise.groups))

    @cached_property
    def _members(self) -> Floats:
        """Which kinds are of which level: the axes are (level, kind)."""
        of_kinds = [level for level, _ in self.outlook.noise.groups]
        return np.array([[1.0 if kind == level else 0.0 for kind in of_kinds] for level in self.levels])

    def points(self, table: Floats) -> Floats:
        """Return the expected number of values, with the axes (level, trend)."""
        outlook = self.outlook
        points: Floats = self._members @ outlook.summed(outlook.chances(self._smooth(table)))
        return points

    def _smooth(self, table: Floats) -> Noise:
        return replace(self.outlook.noise.of(table), reach_x=None)

    def slopes(self, table: Floats) -> Floats:
        """Return the slopes by the logarithm of each variance of the table: (level, trend, group, measure)."""
        outlook = self.outlook
        noise = self._smooth(table)
        by_x, by_y = (self._moved(noise, *which) for which in ((1, 0), (0, 1)))
        of_variances = outlook.noise.slopes(table, noise.variances)  # (group, kind, measure)
        found = np.einsum("lk,kt,gk->ltg", self._members, by_y / noise.variances[:, :1], of_variances[:, :, 0] / 2)
        slopes = np.zeros((*found.shape, table.shape[1]))
        slopes[..., 0] = found
        for measure in range(table.shape[1]):
            alone = np.zeros_like(of_variances)
            alone[:, :, measure] = of_variances[:, :, measure]
            share = trend_variances(outlook.noise.spec, alone) / (2 * np.square(noise.sigma_x))  # (group, kind, trend)
            slopes[..., measure] += np.einsum("lk,kt,gkt->ltg", self._members, by_x, share)
        return slopes

    def _moved(self, noise: Noise, x: int, y: int) -> Floats:
        """Return the slope of each kind's values by the logarithm of the sigma of X or of Y."""
        up, down = (
            self.outlook.chances(Noise(noise.variances * np.exp(2 * y * step), noise.sigma_x * np.exp(x * step), None))
            for step in (_STEP, -_STEP)
        )
        return self.outlook.summed((up - down) / (2 * _STEP))
