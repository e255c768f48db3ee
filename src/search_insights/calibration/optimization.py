"""Sigmas that publish the most values at the same promise, for a public profile of expected counts.

The most in all is not enough: it would give up the values of rare topics and of few regions for many others. So no
level and trend may be expected to publish fewer values than a given number, that of another spec. What the cases may
spend is what the calibrated sigmas spend (shares.py), so that whatever else a spec spends is left alone. The search is
one of many free numbers with slopes (slopes.py), on an outlook in which regions with nearly the same noise are taken
for one. What it finds is calibrated by the accounting itself and judged by the whole outlook.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.expectation import Expectation, Outlook
from search_insights.calibration.profile import Profile
from search_insights.calibration.region_noise import table_of, with_table
from search_insights.calibration.shares import Shares
from search_insights.calibration.slopes import Forecast
from search_insights.errors import CheckFailed
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import MAX_SIGMA, Promise, Spec
from search_insights.support.arrays import Floats

_MAX_MOVE = 5.0  # how far, in the logarithm, a share may move
_MAX_STEPS = 60
_PRECISE = 1e-6  # of the expected number of values
_STEPS = 8  # on the way from the known sigmas to those that were found
_TRIES = 4  # what is found is judged exactly; where it falls short, more is asked for
_ROOM = 10
_HOPELESS = 0.05  # the share of the values of a level and trend that no further search will find
# Numbers of values that differ by less are the same.
SAME = 0.05

# The least number of values, by level and trend.
Least = Mapping[tuple[str, str], float]


def optimize(
    spec: Spec,
    promise: Promise,
    coverage: Coverage,
    profile: Profile,
    least: Least | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Spec:
    """Return the spec with the sigmas that are expected to publish the most values within the promise.

    No level and trend gets fewer values than `least` says. Raise CheckFailed if no such sigmas are found.
    """
    least = least or {}
    begin = calibrate(spec, promise)
    outlook = Outlook.of(spec, coverage, profile)
    expected = outlook.expect(table_of(begin))
    search = _Search(outlook.coarse(table_of(begin)), Shares(spec.reported_groups, table_of(begin)), expected)
    found, free, asked = [(begin, expected)], search.shares.begin(), dict(least)
    for tried in range(_TRIES):
        progress(f"looking for sigmas, search {tried + 1} of at most {_TRIES}")
        free = search.best(free, asked)
        new = calibrate(with_table(spec, search.best_on_the_way(free, asked)), promise)
        expected = outlook.expect(table_of(new))
        found.append((new, expected))
        missing = shortfalls(expected, least)
        if not missing or _worst(expected, least)[0] > _HOPELESS:
            break
        asked = {key: wanted + 2 * missing.get(key, 0.0) for key, wanted in asked.items()}
    return _most(found, least)


def shortfalls(found: Expectation, least: Least) -> dict[tuple[str, str], float]:
    """Return by how many values each level and trend falls short; those that do not are left out."""
    lacking = {key: wanted - found.of_levels.get(key, 0.0) for key, wanted in least.items()}
    return {key: lack for key, lack in lacking.items() if lack > SAME}


def _most(found: list[tuple[Spec, Expectation]], least: Least) -> Spec:
    """Return the spec that is expected to publish the most, of those that fall short nowhere."""
    enough = [(spec, expected) for spec, expected in found if not shortfalls(expected, least)]
    if enough:
        return max(enough, key=lambda each: each[1].total)[0]
    nearest = min((each for _, each in found), key=lambda each: _worst(each, least)[0])
    share, (level, trend) = _worst(nearest, least)
    name = next(t.name for t in nearest.spec.trends if t.id == trend)
    raise CheckFailed(
        f"no sigmas found with which every level and trend has at least the values of `not_below`: the nearest ones "
        f"are expected to publish {nearest.of_levels.get((level, trend), 0):,.1f} values of {name} at level {level}, "
        f"not {least[level, trend]:,.1f} ({share:.1%} fewer); ask for a larger epsilon, or compare with another spec"
    )


def _worst(found: Expectation, least: Least) -> tuple[float, tuple[str, str]]:
    """Return the largest share by which a level and trend falls short, and which one it is."""
    return max((lack / least[key], key) for key, lack in shortfalls(found, least).items())


@dataclass(frozen=True)
class _Search:
    """The expected number of values as a function of the free numbers of the shares.

    A coarse outlook is a little off. So what it expects is corrected by what it is off at the beginning, where the
    whole outlook expects `exact`.
    """

    outlook: Outlook
    shares: Shares
    exact: Expectation
    _known: dict[tuple[str, bytes], Floats] = field(default_factory=dict)

    @cached_property
    def forecast(self) -> Forecast:
        """The expected values and their slopes."""
        return Forecast(self.outlook)

    def best(self, begin: Floats, least: Least) -> Floats:
        """Return where most is published; where not all of `least` can be met, a place that comes near."""
        free = self._maximized(begin, least)
        if (self._spare(free, least) < -_PRECISE).any():
            free = self._maximized(self._nearest(free, least), least)
        return free

    def best_on_the_way(self, free: Floats, least: Least) -> Floats:
        """Return the best table between the one that is known and the one that was found.

        The reach of noise with steps jumps where a sigma becomes small, which the search does not see (slopes.py).
        """
        begin = self.shares.begin()
        tables = [self._table(begin + step / _STEPS * (free - begin)) for step in range(_STEPS + 1)]
        expected = [self.outlook.expect(table) for table in tables]
        off = {key: values - self.exact.of_levels[key] for key, values in expected[0].of_levels.items()}
        wanted = {key: values + off.get(key, 0.0) for key, values in least.items()}

        def worth(number: int) -> tuple[float, float]:
            lacks = shortfalls(expected[number], wanted)
            return -sum(lack / max(1.0, wanted[key]) for key, lack in lacks.items()), expected[number].total

        return tables[max(range(len(tables)), key=worth)]

    def _table(self, free: Floats) -> Floats:
        """Return the sigmas, with room below the largest that a spec may have: they are yet to be calibrated."""
        largest = np.maximum(self.shares.table, MAX_SIGMA / _ROOM)
        table: Floats = np.minimum(self.shares.sigmas(free), largest)
        return table

    @cached_property
    def _off(self) -> Floats:
        """By how much the forecast is off at the beginning."""
        exact = np.array([self.exact.of_levels[key] for key in self._keys])
        off: Floats = self._points(self.shares.begin()) - exact
        return off

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        trends = self.outlook.noise.spec.trends
        return [(level, trend.id) for level in self.forecast.levels for trend in trends]

    def _points(self, free: Floats) -> Floats:
        return self._once("points", free, lambda: self.forecast.points(self.shares.sigmas(free)).ravel())

    def _slopes(self, free: Floats) -> Floats:
        """Return the slopes of the points by the free numbers."""

        def slopes() -> Floats:
            by_variance = self.forecast.slopes(self.shares.sigmas(free)).reshape(len(self._keys), -1)
            found: Floats = -by_variance @ self.shares.slopes(free)  # a variance is 1 / what is spent
            return found

        return self._once("slopes", free, slopes)

    def _once(self, what: str, free: Floats, compute: Callable[[], Floats]) -> Floats:
        """Compute what is asked for several times in a row only once."""
        key = (what, free.tobytes())
        if key not in self._known:
            for old in [known for known in self._known if known[0] == what]:
                del self._known[old]
            self._known[key] = compute()
        return self._known[key]

    def _wanted(self, least: Least) -> tuple[Floats, Floats]:
        """Return how many values each level and trend must have, and the unit of what it has to spare."""
        wanted = np.array([least.get(key, 0.0) for key in self._keys])
        return wanted, np.maximum(wanted, 1.0)

    def _spare(self, free: Floats, least: Least) -> Floats:
        wanted, unit = self._wanted(least)
        spare: Floats = (self._points(free) - self._off - wanted + SAME / 2) / unit
        return spare

    def _maximized(self, begin: Floats, least: Least) -> Floats:
        scale = max(1.0, float(self._points(begin).sum()))
        unit = self._wanted(least)[1][:, None]
        return _minimized(
            lambda free: -float(self._points(free).sum()) / scale,
            lambda free: -self._slopes(free).sum(axis=0) / scale,
            begin,
            self._bounds,
            lambda free: self._spare(free, least),
            lambda free: self._slopes(free) / unit,
        )

    @cached_property
    def _bounds(self) -> list[tuple[float, float]]:
        return [(free - _MAX_MOVE, free + _MAX_MOVE) for free in self.shares.begin().tolist()]

    def _nearest(self, begin: Floats, least: Least) -> Floats:
        """Return free numbers at which the least spare is as large as possible; that is the last free number here."""
        unit = self._wanted(least)[1][:, None]
        last = np.append(np.zeros(begin.size), 1.0)
        found = _minimized(
            lambda free: -float(free[-1]),
            lambda free: -last,
            np.append(begin, self._spare(begin, least).min()),
            [*self._bounds, (-np.inf, np.inf)],
            lambda free: self._spare(free[:-1], least) - free[-1],
            lambda free: np.column_stack([self._slopes(free[:-1]) / unit, -np.ones(len(self._keys))]),
        )
        return found[:-1]


def _minimized(
    value: Callable[[Floats], float],
    slope: Callable[[Floats], Floats],
    begin: Floats,
    bounds: list[tuple[float, float]],
    spare: Callable[[Floats], Floats],
    spare_slopes: Callable[[Floats], Floats],
) -> Floats:
    """Return where a function is least, of where nothing to spare is below 0, within the bounds."""
    from scipy import optimize

    found = optimize.minimize(
        value,
        begin,
        jac=slope,
        method="SLSQP",
        bounds=bounds,
        constraints={"type": "ineq", "fun": spare, "jac": spare_slopes},
        options={"maxiter": _MAX_STEPS, "ftol": _PRECISE},
    )
    result: Floats = np.asarray(found.x)
    return result
