"""The accounting of top searches covers exactly what a threshold shows, for every number of users."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.dp.accounting import (
    Case,
    account,
    cases,
    delta_of_weeks,
    epsilon_of,
    epsilon_of_weeks,
    require_promise,
    sigmas_of_texts,
    trend_cases,
    with_texts,
)
from search_insights.dp.top_searches import chance_of_showing, noisy_top_searches, tail
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Sigma, Spec
from search_insights.spec.spec_file import load_spec
from search_insights.spec.top_searches import TopSearches
from search_insights.support.arrays import Floats
from tests.support.other_country import plain_spec
from tests.support.top_searches import SMALL, hockey_stick, noise, outcomes, texts_of, with_top_searches


@pytest.fixture(scope="module")
def v2() -> Spec:
    return load_spec("vaccination-v2")


def top_of(spec: Spec) -> TopSearches:
    assert spec.top_searches is not None
    return spec.top_searches


# The chance of a new text


@given(st.floats(0.3, 60), st.integers(0, 400))
def test_the_tail_is_that_of_the_discrete_gaussian(sigma: float, least: int) -> None:
    """P(Z >= least), as a sum over the noise itself: never below it, and above it by the error of the sum alone."""
    reach = math.ceil(15 * sigma) + 1
    exact = math.fsum(noise(sigma, range(least, max(least, reach) + 1), 0))
    assert exact * (1 - 1e-13) <= tail(sigma, least) <= exact * (1 + 1e-10) + 1e-39


def test_a_text_of_20_users_is_shown_with_the_chance_of_its_tail(v2: Spec) -> None:
    """Sigma 30 and a threshold of 157: the noise must be 137 or more. OpenDP's bound would be for more than 136."""
    chance = chance_of_showing(top_of(v2))
    assert f"{chance:.4g}" == "2.68e-06"
    assert chance == tail(30.0, 137) > tail(30.0, 138)


# The exact loss of what is shown


@pytest.mark.parametrize("users", [0, 2, 3, 4, 5, 8, 11, 12, 13, 20])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
def test_what_is_shown_of_a_text_is_within_one_of_its_two_cases(users: int, epsilon: float) -> None:
    """Texts below the floor tell nothing, one that reaches it is new, and all others are like known ones.

    Each outcome's probability is computed, for a text of n and of n + 1 users, and compared in both directions.
    """
    new, known = with_texts(with_top_searches(plain_spec()), Case("none", ()))
    first, second = outcomes(SMALL, users, 2), outcomes(SMALL, users + 1, 3)
    found = max(hockey_stick(first, second, epsilon), hockey_stick(second, first, epsilon))
    if users + 1 < SMALL.min_users:
        assert found == 0
    elif users + 1 == SMALL.min_users:
        assert found == pytest.approx(new.chance, rel=1e-9)  # whatever epsilon is: nothing else protects it
    else:
        assert found <= _delta(known.sigmas, epsilon) + 1e-12


def _delta(sigmas: tuple[Sigma, ...], epsilon: float) -> float:
    """Return the delta of two discrete Gaussians, by a sum over their outputs."""
    pairs = [[noise(s.value, range(-60, 61), centre) for centre in (0, 1)] for s in sigmas]
    first, second = (np.outer(pairs[0][i], pairs[1][i]) for i in (0, 1))
    return hockey_stick(second, first, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.1])
def test_the_packaged_threshold_tells_no_more_than_accounted_whatever_the_number_of_users(
    v2: Spec, epsilon: float
) -> None:
    """The country's count alone, for every number of users around floor and threshold, in both directions."""
    top = top_of(v2)
    sigma, below = top.total_sigma, range(-600, top.total_threshold)
    shown = range(top.total_threshold, top.total_threshold + 900)

    def outcomes_of(users: int) -> Floats:
        """Return the probability of not being shown, then of each count that is."""
        if users < top.min_users:
            return np.concatenate((np.ones(1), np.zeros(len(shown))))
        return np.concatenate(([noise(sigma, below, users).sum()], noise(sigma, shown, users)))

    whole = range(-600, 602)
    known = hockey_stick(noise(sigma, whole, 1), noise(sigma, whole, 0), epsilon)
    for users in range(400):
        one, more = outcomes_of(users), outcomes_of(users + 1)
        found = max(hockey_stick(one, more, epsilon), hockey_stick(more, one, epsilon))
        reaches = users + 1 - top.min_users
        allowed = 0.0 if reaches < 0 else chance_of_showing(top) if reaches == 0 else known
        assert found <= allowed * (1 + 1e-9) + 1e-15


@settings(max_examples=8)
@given(
    st.integers(1, 30),
    st.floats(0.8, 3.0),
    st.integers(2, 6),
    st.integers(1, 12),
    st.floats(0.8, 3.0),
    st.sampled_from([0.02, 1e-3]),
)
def test_no_number_of_users_loses_more_than_is_claimed_beside_the_trends(
    users: int, sigma: float, floor: int, above: int, trend: float, delta: float
) -> None:
    """The epsilon of a spec with a trend holds exactly, for the counts of a text of n and n + 1 users together with it.

    The exact loss is a sum over all outcomes of the trend and of the text.
    """
    top = dataclasses.replace(SMALL, min_users=floor, total_sigma=sigma, total_threshold=floor + above)
    spec = with_top_searches(plain_spec(), top)
    claimed = max(epsilon_of(c, delta) for c in with_texts(spec, Case("x", (Sigma("province", None, "tea", trend),))))
    if math.isinf(claimed):
        assert chance_of_showing(top) >= delta * (1 - 1e-9)
        return
    values = range(-math.ceil(9 * trend), math.ceil(9 * trend) + 2)
    without = np.outer(noise(trend, values, 0), outcomes(top, users, 2))
    with_it = np.outer(noise(trend, values, 1), outcomes(top, users + 1, 3))
    assert hockey_stick(with_it, without, claimed) <= delta * (1 + 1e-6)
    assert hockey_stick(without, with_it, claimed) <= delta * (1 + 1e-6)


# The cases of a spec


def test_every_case_has_a_new_text_and_a_known_one(v2: Spec) -> None:
    """A text is either new or known, so no case has both the chance and the noise of texts."""
    found = cases(v2)
    assert len(found) == 2 * len(trend_cases(v2)) == 8
    for base, new, known in zip(trend_cases(v2), found[::2], found[1::2], strict=True):
        assert new == Case(f"{base.name}, new text", base.sigmas, chance_of_showing(top_of(v2)))
        assert known == Case(f"{base.name}, known text", (*base.sigmas, *sigmas_of_texts(v2)))
    assert [(s.level, s.value) for s in sigmas_of_texts(v2)] == [("country", 30.0), ("state", 10.0)]


def test_vaccination_v2_keeps_its_promise_with_top_searches(v2: Spec) -> None:
    """Its worst case is a user-day of a large county with a known text; without the trends' share it would not hold."""
    accounting = require_promise(v2)
    assert f"{accounting.epsilon:.4f}" == "2.1873"
    without = account(dataclasses.replace(v2, top_searches=None))
    assert without.epsilon < accounting.epsilon


@pytest.mark.parametrize("change", [{"total_threshold": 150}, {"region_sigma": 8.0}, {"min_users": 26}])
def test_a_threshold_or_noise_of_texts_that_breaks_the_promise_is_refused(v2: Spec, change: dict[str, float]) -> None:
    """A threshold too near to the floor has too large a chance, and too little noise tells of known texts."""
    broken = dataclasses.replace(v2, top_searches=dataclasses.replace(top_of(v2), **change))  # type: ignore[arg-type]
    with pytest.raises(CheckFailed, match="raise the sigmas, the threshold of top searches or the promise"):
        require_promise(broken)


def test_a_user_of_many_days_may_have_a_new_text_on_each(v2: Spec) -> None:
    """The delta grows by the chance of one text with each day; at the delta of one day there would be no epsilon."""
    chance = chance_of_showing(top_of(v2))
    assert delta_of_weeks(v2, 1, days=1) == v2.promise.delta
    assert delta_of_weeks(v2, 1) == pytest.approx(v2.promise.delta + 6 * chance)
    assert account(v2).epsilon < epsilon_of_weeks(v2, 1, days=2) < epsilon_of_weeks(v2, 1) < math.inf
    assert 7 * chance > v2.promise.delta


def test_weeks_of_several_editions_may_each_have_a_new_text(v2: Spec) -> None:
    """The highest delta and the highest chance of all editions count, whichever is the newest; so does the epsilon."""
    chance, plain = chance_of_showing(top_of(v2)), dataclasses.replace(v2, top_searches=None)
    assert delta_of_weeks(plain, 3) == plain.promise.delta
    for spec, other in ((v2, plain), (plain, v2)):
        assert delta_of_weeks(spec, 3, [other]) == pytest.approx(v2.promise.delta + 20 * chance)
        assert epsilon_of_weeks(spec, 3, [other]) >= epsilon_of_weeks(v2, 3) - 1e-9


# What is shown


def test_every_public_text_and_every_region_gets_noise() -> None:
    """Texts that nobody searched for, and regions without users, have a noisy count like all others.

    Of 400 counts of 0 with sigma 2, about 80 are 0; that fewer than 20 or more than 160 are has a chance under 1e-12.
    """
    names = [f"text {i:03}" for i in range(40)]
    found = noisy_top_searches(SMALL, texts_of({name: {} for name in names}), names, 10)
    assert found.texts == tuple(names)
    assert not found.is_new.any()
    assert found.by_region.shape == (40, 10)
    for counts, least, most in ((found.users, 20, 40), (found.by_region, 240, 380)):
        assert least <= np.count_nonzero(counts) <= most


def test_what_is_shown_is_centred_on_the_exact_counts() -> None:
    """Each text and region gets its own count: noise of sigma 2 and 1.5 does not hide thousands."""
    exact = texts_of({"a": {0: 1000, 2: 5000}, "b": {1: 3000}}, extra=500)
    found = noisy_top_searches(SMALL, exact, ["b"], 3)
    assert found.texts == ("a", "b")
    assert found.is_new.tolist() == [True, False]
    assert found.categories.tolist() == [1, 1]
    np.testing.assert_allclose(found.users, [6500, 3500], atol=30)
    np.testing.assert_allclose(found.by_region, [[1000, 0, 5000], [0, 3000, 0]], atol=25)


def test_a_new_text_at_the_edge_shows_as_often_as_its_tail_says() -> None:
    """A text of as many users as the floor shows with the chance that the accounting has, neither more nor less.

    20,000 texts at once; five standard deviations on either side. A threshold off by one is a dozen of them away.
    """
    top = dataclasses.replace(SMALL, total_threshold=SMALL.min_users + 2)
    n, chance = 20_000, chance_of_showing(top)
    exact = texts_of({f"text {i:05}": {0: top.min_users} for i in range(n)})
    found = noisy_top_searches(top, exact, (), 1)
    assert abs(len(found.texts) - n * chance) < 5 * math.sqrt(n * chance * (1 - chance))
    assert min(found.users) == top.total_threshold
    assert found.is_new.all()
    assert abs(tail(top.total_sigma, 3) - chance) * n > 60 * math.sqrt(n) / 5


def test_noise_refuses_counts_that_broke_the_rules() -> None:
    """A new text below the floor, and a public text that was not counted, are faults; nothing is drawn for them."""
    few = texts_of({"a": {0: SMALL.min_users - 1}})
    with pytest.raises(RuntimeError, match="fewer users than the floor"):
        noisy_top_searches(SMALL, few, (), 1)
    assert noisy_top_searches(SMALL, few, ["a"], 1).texts == ("a",)
    with pytest.raises(RuntimeError, match="not counted"):
        noisy_top_searches(SMALL, few, ["a", "b"], 1)


def test_a_week_without_texts_shows_none() -> None:
    """Nothing public and nothing searched: an empty result of the right shape."""
    found = noisy_top_searches(SMALL, texts_of({}), (), 3)
    assert (found.texts, found.users.size, found.by_region.shape) == ((), 0, (0, 3))
