"""The audit reaches what the accounting allows, and notices when the program gives more."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from search_insights import audit as audit_module
from search_insights.accounting import account
from search_insights.audit import Attack, audit, epsilon_of_mu, lower_mu, neighbouring_counts, worst_user_day
from search_insights.cells import CellList
from search_insights.coverage import Coverage
from search_insights.geography import load_geography
from search_insights.noise import Counts, Sigmas, add_noise
from tests.logs import Run
from tests.other_country import other_geography, other_spec_file, plain_spec

SAMPLES = 40_000
# Surer than the command's 99.9 %, so that these tests raise a false alarm less often than once in a million runs.
SURE = 1 - 1e-7


@pytest.fixture(scope="module")
def plain_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The two-level release without classes: one case of six mechanisms."""
    return Coverage(plain_spec(), load_geography(other_geography(tmp_path_factory.mktemp("plain"))))


def test_the_worst_user_day_reaches_every_mechanism_of_its_case_by_one(
    us_coverage: Coverage, other_coverage: Coverage
) -> None:
    """In every case the attack changes one cell for each mechanism of the accounting, by 1, of the same sigma."""
    for coverage in (us_coverage, other_coverage):
        cells = CellList(coverage)
        for found in account(coverage.spec).cases:
            without, with_it = neighbouring_counts(coverage, cells, worst_user_day(coverage, found.case))
            changed = np.flatnonzero(with_it != without)
            assert (with_it - without)[changed].tolist() == [1] * len(found.case.sigmas), found.case.name
            assert sorted(cells.sigmas[changed]) == sorted(s.value for s in found.case.sigmas), found.case.name


def test_the_promise_is_not_broken_and_nearly_reached(plain_coverage: Coverage) -> None:
    """The lower bound is below the accounted epsilon, and as near to it as so few samples can come."""
    (case,) = audit(plain_coverage, SAMPLES, SURE)
    assert not case.broken
    assert 0.4 * case.epsilon_upper < case.epsilon_lower <= case.epsilon_upper


def test_noise_that_is_too_small_is_noticed(plain_coverage: Coverage, monkeypatch: pytest.MonkeyPatch) -> None:
    """With half of the sigma that the accounting assumes, the attack reaches more than is allowed."""

    def careless(counts: Counts, sigmas: Sigmas) -> Counts:
        return add_noise(counts, 0.5 * sigmas)

    monkeypatch.setattr(audit_module, "add_noise", careless)
    (case,) = audit(plain_coverage, SAMPLES, SURE)
    assert case.broken


def test_a_missing_bound_is_noticed(plain_coverage: Coverage, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a user-day could count twice, the attack reaches more than is allowed."""

    def unbounded(coverage: Coverage, cells: CellList, attack: Attack) -> tuple[Counts, Counts]:
        without, with_it = neighbouring_counts(coverage, cells, attack)
        return without, without + 2 * (with_it - without)

    monkeypatch.setattr(audit_module, "neighbouring_counts", unbounded)
    (case,) = audit(plain_coverage, SAMPLES, SURE)
    assert case.broken


def test_the_bound_on_mu_holds_for_a_gaussian_of_known_mu() -> None:
    """For one cell of sigma 4 that changes by 1, mu is 1/4: the bound is below it and close."""
    without = np.array([10], dtype=np.int64)
    mu = lower_mu(without, without + 1, np.array([4.0]), 200_000, SURE)
    assert 0.19 < mu < 0.25


@pytest.mark.parametrize(("mu", "delta"), [(0.05, 1e-5), (0.5, 1e-5), (1.0, 1e-6), (5.0, 1e-9)])
def test_epsilon_of_mu_solves_the_closed_form(mu: float, delta: float) -> None:
    """delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    epsilon = epsilon_of_mu(mu, delta)
    back = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    assert back == pytest.approx(delta, rel=1e-6)


def test_no_difference_gives_no_epsilon() -> None:
    """Where the logs cannot be told apart, the bound is 0."""
    assert epsilon_of_mu(0.0, 1e-5) == 0.0
    same = np.zeros(1, dtype=np.int64)
    assert lower_mu(same, same, np.array([1.0]), 2_000, 0.999) == 0.0


def test_the_command_gives_every_case_as_json(tmp_path: Path, run: Run) -> None:
    """Scripts rely on cases with name, epsilon_lower, epsilon_upper and confidence; exit 0 if nothing was broken."""
    options = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path), "--samples", "2000")
    code, out, _ = run("audit", *options, "--json")
    answer = json.loads(out)
    assert code == 0
    assert [case["name"] for case in answer["cases"]] == ["rural", "urban", "province_only"]
    assert all({"name", "epsilon_lower", "epsilon_upper", "confidence"} <= set(case) for case in answer["cases"])
    code, out, _ = run("audit", *options)
    assert code == 0
    assert "The promise was not broken." in out
    assert run("audit", "--samples", "0")[0] == 2
