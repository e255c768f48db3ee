"""The epsilon of a user of many days holds whatever the case of each day, and is not much above what it must be.

The days of a week share its noise: a user who is active on k of them may change a count by k. Weeks have their own.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from search_insights.dp import losses
from search_insights.dp.accounting import account, cases, delta_of_weeks, epsilon_of_weeks
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_sigmas
from search_insights.dp.top_searches import chance_of_showing
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import Category, Level, Promise, Sigma, Spec
from search_insights.support.arrays import Floats
from tests.support.other_country import plain_spec, specs
from tests.support.top_searches import SMALL, hockey_stick, noise, with_top_searches


def spec_of(open_sigmas: Sequence[float], classed: Sequence[Sequence[float]], delta: float) -> Spec:
    """Return a spec with these sigmas: of a level without classes if there are any, and of each class of one with."""
    base = plain_spec()
    categories = tuple(Category(f"T{i}", f"topic{i}") for i in range(len(classed[0])))
    tops = [*range(len(classed) - 1), None]
    classes = tuple(SizeClass(f"c{i}", i, top) for i, top in enumerate(tops))
    levels = ["open", "classed"] if open_sigmas else ["classed"]
    table: list[tuple[str, str | None, Sequence[float]]] = [("open", None, open_sigmas)] if open_sigmas else []
    table += [("classed", c.name, sigmas) for c, sigmas in zip(classes, classed, strict=True)]
    return dataclasses.replace(
        base,
        promise=Promise(1.0, delta),
        categories=categories,
        trends=(dataclasses.replace(base.trends[0], sum_of=("T1",)),),
        levels=tuple(map(Level, levels)),
        total=dataclasses.replace(base.total, sum_of=levels[0]),
        class_level="classed",
        size_classes=classes,
        sigmas=tuple(
            Sigma(level, size_class, c.id, value)
            for level, size_class, sigmas in table
            for c, value in zip(categories, sigmas, strict=True)
        ),
    )


def exact_epsilon(sigmas: Sequence[float], delta: float) -> float:
    """Solve delta(epsilon) of discrete Gaussian mechanisms whose counts change by 1."""
    return exact_epsilon_of([(sigma, 1) for sigma in sigmas], delta)


def exact_epsilon_of(mechanisms: Sequence[tuple[float, int]], delta: float) -> float:
    """Solve delta(epsilon) of discrete Gaussian mechanisms by a sum over all their outputs: a sigma and a change each.

    The losses of one sigma are multiples of its change / (2 sigma^2), so repeated mechanisms add up exactly.
    """
    loss, mass = np.zeros(1), np.ones(1)
    for (sigma, shift), times in Counter(mechanisms).items():
        outputs = np.arange(-math.ceil(9 * sigma) - 1, math.ceil(9 * sigma) + 2 + shift)
        weights = np.exp(-((outputs - shift) ** 2) / (2 * sigma**2))
        once = weights / weights.sum()
        of_sigma: Floats = np.ones(1)
        for _ in range(times):
            of_sigma = np.convolve(of_sigma, once)
        multiples = shift * (2 * (outputs[0] * times + np.arange(of_sigma.size)) - shift * times)
        loss = np.add.outer(loss, multiples / (2 * sigma**2)).ravel()
        mass = np.multiply.outer(mass, of_sigma).ravel()
        loss, mass = loss[mass > 1e-16], mass[mass > 1e-16]  # leaves out less than 1e-10
    low, high = 0.0, max(1.0, float(loss.max()))
    while high - low > 1e-7:
        middle = (low + high) / 2
        given_delta = float(mass @ -np.expm1(np.minimum(middle - loss, 0.0)))
        low, high = (middle, high) if given_delta > delta else (low, middle)
    return low


def mixtures(spec: Spec, weeks: int) -> Iterator[list[float]]:
    """Yield the sigmas of every way in which the cases of so many weeks, with a day each, can be chosen."""
    for chosen in combinations_with_replacement(cases(spec), weeks):
        yield [s.value for case in chosen for s in case.sigmas]


def worst_mixture(spec: Spec, weeks: int) -> float:
    return max(exact_epsilon(sigmas, spec.promise.delta) for sigmas in mixtures(spec, weeks))


def mixtures_of_a_week(spec: Spec, days: int) -> Iterator[list[tuple[float, int]]]:
    """Yield the mechanisms of every way in which the days of a week can be chosen: days of one case share counts."""
    for chosen in combinations_with_replacement(cases(spec), days):
        changes = Counter((sigma.key, sigma.value) for case in chosen for sigma in case.sigmas)
        yield [(value, change) for (_, value), change in changes.items()]


def test_weeks_of_different_cases_are_covered() -> None:
    """With sigmas 0.2 and 0.25 a day of each, in two weeks, reveals more than two of either: 36.5, not 32."""
    same = max(exact_epsilon([sigma] * 2, 1e-5) for sigma in (0.2, 0.25))
    mixed = exact_epsilon([0.2, 0.25], 1e-5)
    assert same < 32 < 36 < mixed
    bound = epsilon_of_weeks(spec_of([], [[0.2, 9000.0], [0.25, 9000.0]], 1e-5), 2, days=1)
    assert mixed <= bound < mixed + 0.01


@settings(max_examples=8)
@given(st.data(), st.integers(2, 3), st.integers(2, 3), st.sampled_from([1e-2, 1e-5, 1e-9]))
def test_no_mixture_of_days_exceeds_the_epsilon_of_weeks(
    data: st.DataObject, classes: int, days: int, delta: float
) -> None:
    """Two or three days, each of any class or known to open levels only: the exact epsilon is never above the bound.

    Neither if they are days of different weeks, nor if they are days of one week.
    """
    sigmas = data.draw(st.lists(st.floats(0.15, 1.2), min_size=classes, max_size=classes))
    open_sigma = data.draw(st.none() | st.floats(1.0, 1.5))
    spec = spec_of([open_sigma] * 2 if open_sigma else [], [[sigma] * 2 for sigma in sigmas], delta)
    exact = worst_mixture(spec, days)
    assert exact - 1e-9 <= epsilon_of_weeks(spec, days, days=1) <= 1.2 * exact + 0.01
    in_a_week = max(exact_epsilon_of(mechanisms, delta) for mechanisms in mixtures_of_a_week(spec, days))
    assert in_a_week - 1e-9 <= epsilon_of_weeks(spec, 1, days=days) <= 1.2 * in_a_week + 0.01


@settings(max_examples=6)
@given(st.floats(0.7, 1.5), st.floats(0.7, 1.5), st.floats(0.7, 1.5), st.integers(3, 12), st.booleans())
def test_new_and_known_texts_of_one_user_are_within_the_epsilon_of_weeks(
    trend: float, total: float, region: float, above: int, other_is_new: bool
) -> None:
    """On one of two days of a week a user's text is new, on the other new or known: the exact delta is not above.

    What is shown of a new text tells everything. The sum is over all outcomes of two trends, which change by 2, and of
    a known text, whose counts change by 1.
    """
    top = dataclasses.replace(SMALL, total_sigma=total, region_sigma=region, total_threshold=SMALL.min_users + above)
    spec = with_top_searches(spec_of([], [[trend, trend]], 0.01), top)
    delta, chance = delta_of_weeks(spec, 1, days=2), chance_of_showing(top)
    epsilon = epsilon_of_weeks(spec, 1, days=2)
    if math.isinf(epsilon):
        assert chance > 0.009
        return
    values, hidden = range(-12, 14), (1 - chance) ** (2 if other_is_new else 1)
    first, second = np.ones(1), np.full(1, hidden)
    for sigma, change in [(trend, 2), (trend, 2), *([] if other_is_new else [(total, 1), (region, 1)])]:
        first = np.outer(first, noise(sigma, values, 0)).ravel()
        second = np.outer(second, noise(sigma, values, change)).ravel()
    assert hockey_stick(second, first, epsilon) + 1 - hidden <= delta
    assert hockey_stick(first, second, epsilon) <= delta


@settings(max_examples=6)
@given(st.floats(2, 30), st.integers(2, 200), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_days_of_one_case_are_what_dp_accounting_composes(sigma: float, days: int, delta: float) -> None:
    """Where there is one case only, the bound is the library's own composition, as far as the grid allows."""
    one = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=1e-3, use_connect_dots=True)
    composed = one.self_compose(2 * days)
    epsilon = epsilon_of_weeks(spec_of([], [[sigma, sigma]], delta), days, days=1)
    assert epsilon == pytest.approx(composed.get_epsilon_for_delta(delta), rel=1e-3, abs=2 * days * 1e-4)


# The packaged release, and any other


def test_the_days_of_the_packaged_release_are_those_of_its_worst_case(paper: Spec) -> None:
    """Its noise is so close to the continuous Gaussian that mixtures add nothing: the published figures are exact.

    A user of all days of a week changes its counts by 7, which is a mu 7 times as large.
    """
    apart = {weeks: f"{epsilon_of_weeks(paper, weeks, days=1):.4f}" for weeks in (1, 2, 7, 1000)}
    assert apart == {1: "2.1868", 2: "3.2344", 7: "6.7029", 1000: "220.4273"}
    worst = max(mu_of_sigmas(s.value for s in case.sigmas) for case in cases(paper))
    for weeks in (1, 2, 22):
        closed = epsilon_of_mu(7 * math.sqrt(weeks) * worst, paper.promise.delta)
        assert epsilon_of_weeks(paper, weeks) == pytest.approx(closed, rel=1e-3)


def test_one_day_is_what_is_promised(paper: Spec) -> None:
    """The epsilon of one day is that of the promise's accounting."""
    assert epsilon_of_weeks(paper, 1, days=1) == pytest.approx(account(paper).epsilon, abs=1e-4)


@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@given(specs(), st.sampled_from([2, 7, 364, 10_000]))
def test_the_days_of_any_spec_have_an_epsilon(spec: Spec, days: int) -> None:
    """It is a number, not infinity, between that of one day and the sum over all days; more days have more."""
    one, few, many = (epsilon_of_weeks(spec, n, days=1) for n in (1, days, 2 * days))
    assert one - 1e-4 <= few <= many < math.inf


def test_a_loss_beyond_the_range_of_floating_point_numbers_is_composed() -> None:
    """e^-900 is 0 for a computer; losses of that size are composed all the same."""
    spec = spec_of([], [[0.1, 1000.0]], 1e-5)
    assert 18 * 50 <= epsilon_of_weeks(spec, 18, days=1) < 18 * 50.01


# Curves


@settings(max_examples=6)
@given(st.lists(st.floats(0.3, 50), min_size=1, max_size=4), st.floats(0, 8))
def test_a_curve_is_that_of_dp_accounting(sigmas: list[float], epsilon: float) -> None:
    """Delta at an epsilon, and epsilon at that delta, are what the library's own functions give."""
    step = 1e-3
    found = losses.composed(sigmas, step)
    theirs = pld.identity(step)
    for sigma in sigmas:
        one = pld.from_discrete_gaussian_mechanism(sigma, value_discretization_interval=step, use_connect_dots=True)
        theirs = theirs.compose(one)
    delta = theirs.get_delta_for_epsilon(epsilon)
    assert found.delta(epsilon) == pytest.approx(delta, abs=1e-9)  # its masses add up to 1 + 1e-11 or so
    assume(delta > 1e-6)
    assert found.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), abs=1e-3)


def test_hundreds_of_mechanisms_are_composed() -> None:
    """With 200 categories at four levels, all sigmas different, epsilon is hardly above that of the closed form."""
    sigmas = [10 + i / 100 for i in range(800)]
    exact = epsilon_of_mu(mu_of_sigmas(sigmas), 1e-6)
    assert exact <= losses.epsilon_of_case(sigmas, 1e-6) < 1.002 * exact


def test_an_epsilon_that_no_delta_allows_is_infinite() -> None:
    """A mass at infinity above delta cannot be bounded; with a delta above all of the curve, epsilon is 0."""
    some = losses.Losses(0.5, -1, np.array([0.25, 0.0, 0.5]), infinite=0.25)
    assert some.epsilon(0.2) == some.epsilon(0.0) == math.inf
    assert some.epsilon(0.999) == 0.0
    assert losses.Losses(0.5, -1, np.array([0.25, 0.0, 0.75]), infinite=0.0).epsilon(0.0) == 0.5


def test_a_single_loss_has_an_epsilon_just_below_it() -> None:
    """All mass at a loss of 20: delta is 1 - e^(epsilon - 20), also below the lowest loss of the grid."""
    single = losses.Losses(0.5, 40, np.array([1.0]), infinite=0.0)
    assert single.epsilon(0.0) == 20.0
    assert single.epsilon(0.01) == pytest.approx(20 + math.log(0.99))
    assert single.delta(single.epsilon(0.01)) == pytest.approx(0.01)
