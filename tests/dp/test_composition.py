"""Mechanisms composed on a ring of losses are what dp-accounting composes, and a short ring hides nothing."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from search_insights.dp import composition
from search_insights.dp.accounting import account
from search_insights.dp.composition import STEP, convolved, on_grid
from search_insights.dp.library import library
from search_insights.dp.losses import Losses, epsilon_of_case
from search_insights.dp.reference import is_same, reference_epsilon, require_reference
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Spec

MECHANISMS = st.lists(st.tuples(st.floats(0.4, 60), st.integers(1, 3)), min_size=1, max_size=5)


def dense(found: object) -> tuple[int, np.ndarray, float]:
    pmf = found._pmf_remove.to_dense_pmf()  # type: ignore[attr-defined]
    return pmf._lower_loss, np.asarray(pmf._probs), pmf._infinity_mass


@settings(max_examples=12)
@given(st.lists(st.floats(0.4, 60), min_size=1, max_size=5), st.sampled_from([1e-3, 1e-5, 1e-9]), st.booleans())
def test_epsilon_is_that_of_dp_accounting(sigmas: list[float], delta: float, twice: bool) -> None:
    """The library makes and composes the same mechanisms; both epsilons are the same number, as far as those go."""
    sigmas = sigmas * 2 if twice else sigmas
    assert is_same(epsilon_of_case(sigmas, delta), reference_epsilon(sigmas, delta), delta)


def test_epsilons_that_differ_are_not_the_same() -> None:
    """At the paper's delta the sixth decimal counts; at a tiny delta floating-point numbers give fewer."""
    assert is_same(math.inf, math.inf, 1e-5)
    assert not is_same(math.inf, 2.0, 1e-5)
    assert not is_same(2.186, 2.18601, 1e-5)
    assert is_same(2.186, 2.18601, 1e-9)
    assert not is_same(2.186, 2.19, 1e-9)


@settings(max_examples=10)
@given(st.floats(0.3, 900), st.integers(1, 7))
@example(0.3125, 3)  # most of the far side is infinite to the library
def test_a_mechanism_is_rounded_up_as_dp_accounting_does(sigma: float, shift: int) -> None:
    """Each loss is on the same point of the grid, with the same mass; theirs are differences of sums near 1.

    The library cuts the noise off on both sides: what one side could not have given has an infinite loss to it.
    """
    assume(2 * math.ceil(11.6 * sigma) >= shift)
    lowest, masses, _ = on_grid(sigma, shift, STEP)
    pld = library().pld.from_discrete_gaussian_mechanism(sigma, sensitivity=shift, value_discretization_interval=STEP)
    first, wanted, infinite = dense(pld)
    begin, last = min(lowest, first), first + wanted.size - 1
    finite = masses[: max(0, last - lowest + 1)]
    ours, theirs = np.zeros((2, last + 1 - begin))
    ours[lowest - begin :][: finite.size] = finite
    theirs[first - begin :] = wanted
    assert infinite == pytest.approx(masses[finite.size :].sum(), abs=1e-13)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-13)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MECHANISMS, st.floats(1.0, 4.0), st.sampled_from([1e-1, 1e-2, 1e-3]))
def test_a_ring_that_is_too_short_never_gives_a_lower_epsilon(
    monkeypatch: pytest.MonkeyPatch, mechanisms: list[tuple[float, int]], likely: float, delta: float
) -> None:
    """However short it is, the chance of the losses that come round is added to delta at every epsilon."""
    whole = Losses(1e-3, *convolved(mechanisms, 1e-3))
    with monkeypatch.context() as patch:
        patch.setattr(composition, "_LIKELY", likely)
        short = Losses(1e-3, *convolved(mechanisms, 1e-3))
    assert short.masses.size <= whole.masses.size
    assert short.epsilon(delta) >= whole.epsilon(delta) - 1e-9


@settings(max_examples=20)
@given(st.floats(0.2, 20), st.floats(0.05, 12))
def test_the_noise_has_no_heavier_tails_than_the_gaussian(sigma: float, order: float) -> None:
    """E e^(tZ) <= e^(t^2 sigma^2 / 2): by this the ring is long enough."""
    t = order / sigma
    noise = np.arange(-math.ceil(40 * sigma + 5), math.ceil(40 * sigma + 5) + 1)
    weights = np.exp(-np.square(noise / sigma) / 2)
    moment = float(np.exp(t * noise - np.square(noise / sigma) / 2).sum() / weights.sum())
    assert moment <= math.exp(order**2 / 2) * (1 + 1e-12)


def test_nothing_composed_reveals_nothing() -> None:
    """Without a mechanism all mass is at a loss of 0."""
    assert epsilon_of_case([], 1e-5) == reference_epsilon([], 1e-5) == 0.0


def test_an_accounting_that_dp_accounting_does_not_confirm_is_refused(paper: Spec) -> None:
    """`privacy` composes each case by both; one that comes out otherwise is refused, with both numbers."""
    found = account(paper)
    require_reference(found)
    wrong = dataclasses.replace(found.cases[0], epsilon=found.cases[0].epsilon - 1e-4)
    with pytest.raises(CheckFailed, match=r"dp-accounting composes its mechanisms to epsilon 2\.18.*to 2\.18"):
        require_reference(dataclasses.replace(found, cases=(*found.cases[1:], wrong)))
