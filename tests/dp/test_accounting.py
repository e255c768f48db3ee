"""The accounting gives the paper's numbers, agrees with the closed form, and covers every case of any spec."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.dp.accounting import Accounting, account, cases, epsilon_of_weeks, require_promise
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Promise, Sigma, Spec
from tests.support.other_country import other_spec, plain_spec, specs


def closed_form_epsilon(sigmas: list[float], delta: float) -> float:
    """Solve delta(epsilon) of continuous Gaussian mechanisms of sensitivity 1, which compose to one mechanism."""
    mu = math.sqrt(sum(1 / sigma**2 for sigma in sigmas))

    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    low, high = 0.0, 500.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        given_delta = phi(mu / 2 - middle / mu) - math.exp(middle) * phi(-mu / 2 - middle / mu)
        low, high = (middle, high) if given_delta > delta else (low, middle)
    return high


@pytest.fixture(scope="module")
def papers(paper: Spec) -> Accounting:
    return account(paper)


# The paper


def test_the_papers_three_cases_come_out_to_its_three_decimals(papers: Accounting) -> None:
    """Section 3.2: 2.186 for large, 2.187 for medium, 2.186 for small, at delta 1e-5."""
    epsilons = {c.case.name: f"{c.epsilon:.3f}" for c in papers.cases}
    assert (epsilons["large"], epsilons["medium"], epsilons["small"]) == ("2.186", "2.187", "2.186")


def test_the_papers_promise_holds(papers: Accounting, paper: Spec) -> None:
    """Section 3.2: the worst case is no more than the promised 2.19."""
    assert papers.holds
    assert papers.epsilon == max(c.epsilon for c in papers.cases) <= 2.19
    assert require_promise(paper).promise == Promise(2.19, 1e-5)


@pytest.mark.parametrize(
    ("name", "standard_deviations"),
    [
        ("large", [3.25, 3.25, 3.25, 35.0, 20.0, 20.0, 20.0, 180.0, 35.0, 35.0, 35.0, 450.0]),
        ("medium", [3.5, 3.5, 3.5, 40.0, 8.0, 8.0, 8.0, 100.0, 35.0, 35.0, 35.0, 450.0]),
        ("small", [3.21, 3.21, 3.21, 28.0, 35.0, 35.0, 35.0, 450.0]),
        ("state_only", [35.0, 35.0, 35.0, 450.0]),
    ],
)
def test_each_case_composes_the_papers_mechanisms(
    papers: Accounting, name: str, standard_deviations: list[float]
) -> None:
    """Section 3.2 lists the mechanisms of three cases; a user-day known only to its state has four."""
    sigmas = {c.case.name: sorted(s.value for s in c.case.sigmas) for c in papers.cases}
    assert len(sigmas) == 4
    assert sigmas[name] == sorted(standard_deviations)


def test_a_user_day_known_to_its_state_only_is_covered(papers: Accounting) -> None:
    """A user-day known only to its state counts at state level only, and has a smaller epsilon than the others."""
    epsilons = {c.case.name: c.epsilon for c in papers.cases}
    assert 0 < epsilons["state_only"] < min(epsilons[name] for name in ("small", "medium", "large"))


# The closed form


@pytest.mark.parametrize("make", [None, other_spec, plain_spec], ids=["paper", "other", "plain"])
def test_each_case_agrees_with_the_closed_form(paper: Spec, make: Callable[[], Spec] | None) -> None:
    """Gaussians compose to one with mu^2 = sum 1/sigma^2; the accounting gives that or slightly more."""
    spec = make() if make else paper
    for case in account(spec).cases:
        exact = closed_form_epsilon([s.value for s in case.case.sigmas], spec.promise.delta)
        assert exact - 1e-6 <= case.epsilon <= exact * 1.002


def exact_epsilon(first: float, second: float, delta: float) -> float:
    """Solve delta(epsilon) of two discrete Gaussian mechanisms of sensitivity 1 by a sum over all their outputs."""
    outputs = [np.arange(-math.ceil(15 * s), math.ceil(15 * s) + 2) for s in (first, second)]
    weights = [np.exp(-((x - 1) ** 2) / (2 * s**2)) for x, s in zip(outputs, (first, second), strict=True)]
    losses = [(2 * x - 1) / (2 * s**2) for x, s in zip(outputs, (first, second), strict=True)]
    probability = np.outer(*(w / w.sum() for w in weights))
    loss = np.add.outer(*losses)
    low, high = 0.0, 500.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        given_delta = float((probability * -np.expm1(np.minimum(middle - loss, 0.0))).sum())
        low, high = (middle, high) if given_delta > delta else (low, middle)
    return high


@settings(max_examples=15)
@given(st.floats(0.5, 25), st.floats(0.5, 25), st.sampled_from([1e-4, 1e-6, 1e-8]))
def test_no_epsilon_is_lower_than_the_exact_one(first: float, second: float, delta: float) -> None:
    """The accounting is for the discrete Gaussian that is drawn: never below the exact sum over its outputs."""
    base = plain_spec()
    spec = dataclasses.replace(
        base,
        promise=Promise(1.0, delta),
        categories=base.categories[:2],
        levels=base.levels[:1],
        sigmas=(Sigma("province", None, "any", first), Sigma("province", None, "tea", second)),
    )
    exact = exact_epsilon(first, second, delta)
    epsilon = account(spec).epsilon
    assert exact - 1e-9 <= epsilon <= exact + 3e-4


# Every case of any spec


@given(specs())
def test_every_class_is_a_case_with_the_mechanisms_that_it_reports(spec: Spec) -> None:
    """A case has each category once for each level that reports its class and for each open level (X1, X3, X4)."""
    by_name = {case.name: case for case in cases(spec)}
    for size_class in spec.class_names:
        levels = sum(
            size_class not in level.unreported_classes for level in spec.levels if _is_classed(spec, level.name)
        )
        wanted = (levels + len(spec.open_levels)) * len(spec.categories)
        assert len(by_name[size_class].sigmas) == wanted
        assert {s.size_class for s in by_name[size_class].sigmas} <= {size_class, None}
    assert len(by_name) == len(spec.class_names) + bool(spec.open_levels)


def _is_classed(spec: Spec, level: str) -> bool:
    names = spec.level_names
    return spec.class_level is not None and names.index(level) >= names.index(spec.class_level)


@given(specs())
def test_a_user_day_known_to_open_levels_only_is_a_case(spec: Spec) -> None:
    """There is a case with the mechanisms of the open levels alone."""
    of_open = [case for case in cases(spec) if case.name == "_".join((*spec.open_levels, "only"))]
    wanted = len(spec.open_levels) * len(spec.categories)
    assert [len(case.sigmas) for case in of_open] == ([wanted] if wanted else [])


@given(specs())
def test_every_sigma_is_in_some_case(spec: Spec) -> None:
    """The accounting covers every sigma of the spec."""
    assert {s for case in cases(spec) for s in case.sigmas} == set(spec.sigmas)


def test_the_other_countrys_promise_holds() -> None:
    """Its cases have 12, 16 and 4 mechanisms, and all are within its promise."""
    accounting = require_promise(other_spec())
    assert {c.case.name: len(c.case.sigmas) for c in accounting.cases} == {
        "rural": 12,
        "urban": 16,
        "province_only": 4,
    }
    assert 2.5 < accounting.epsilon <= 3.0


def test_a_spec_without_classes_has_one_case() -> None:
    """All of its levels are open, so one case has all of its mechanisms."""
    accounting = require_promise(plain_spec())
    assert [(c.case.name, len(c.case.sigmas)) for c in accounting.cases] == [("province_commune_only", 6)]


# Promises that do not hold


def quieter(spec: Spec, factor: float) -> Spec:
    return dataclasses.replace(spec, sigmas=tuple(dataclasses.replace(s, value=s.value * factor) for s in spec.sigmas))


def test_less_noise_than_promised_is_refused(paper: Spec) -> None:
    """One percent less noise breaks the paper's promise; the error says what is promised and what the sigmas give."""
    with pytest.raises(CheckFailed) as refused:
        require_promise(quieter(paper, 0.99))
    message = str(refused.value)
    assert "spec 'vaccination-v1' promises epsilon 2.19 at delta 1e-05, but its sigmas give 2.2" in message
    assert refused.value.exit_code == 1


def test_one_class_with_too_little_noise_is_enough_to_refuse(paper: Spec) -> None:
    """The promise holds for every case, so one case that breaks it is enough."""
    sigmas = tuple(
        dataclasses.replace(s, value=3.0) if (s.level, s.size_class, s.category) == ("county", "small", "A3") else s
        for s in paper.sigmas
    )
    with pytest.raises(CheckFailed):
        require_promise(dataclasses.replace(paper, sigmas=sigmas))


def test_more_noise_gives_less_epsilon(paper: Spec) -> None:
    """With more noise every case has a smaller epsilon."""
    louder = account(quieter(paper, 1.5))
    assert louder.holds
    for more, less in zip(louder.cases, account(paper).cases, strict=True):
        assert more.epsilon < less.epsilon


# More than a day


def test_more_days_give_more_epsilon(paper: Spec) -> None:
    """In different weeks days add up to less than their sum; in one week, whose noise they share, to more."""
    one, apart = (epsilon_of_weeks(paper, weeks, days=1) for weeks in (1, 7))
    together = epsilon_of_weeks(paper, 1)
    assert one < apart < 7 * one < together
