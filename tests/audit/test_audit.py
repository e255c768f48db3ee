"""The audit reaches what the accounting allows, and detects a program that gives away more."""

import json
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from search_insights.audit.attack import Neighbours, exact_counts, neighbouring_logs, worst_user_day
from search_insights.audit.audit import Audit, Progress, audit
from search_insights.audit.bound import Difference, Tally, bound, draws_needed, lower_advantage
from search_insights.audit.store_attack import RISK, _check_size, audit_store
from search_insights.dp.accounting import account, advantage_of, trend_cases
from search_insights.dp.gaussian import epsilon_of_mu
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Counts, Floats
from tests.lab.mutants import MUTANTS, other_noise
from tests.support.command_line import Run
from tests.support.logs import LITTLE_REGIONS, little_coverage, little_geography
from tests.support.other_country import audited_spec, other_geography, other_spec_file, plain_spec, write_csv

# So many that the bound is above 80 % of the accounted epsilon in all but one of ten million runs.
DRAWS = 5_400
# Higher than the command's 99.9 %, so that these tests raise a false alarm less than once in a million runs.
CONFIDENCE = 1 - 1e-7


@pytest.fixture(scope="module")
def plain_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The two-level release without classes: one case of six mechanisms. Its epsilon is large, so few draws will do."""
    return Coverage(audited_spec(), load_geography(other_geography(tmp_path_factory.mktemp("plain"))))


def test_the_worst_user_day_reaches_every_mechanism_of_its_case_by_one(
    coverage: Coverage, other_coverage: Coverage
) -> None:
    """In every case the attack changes one cell per mechanism of the accounting, by 1, with the same sigma."""
    for release in (coverage, other_coverage):
        cells = CellList(release)
        for found in account(release.spec).cases:
            with neighbouring_logs(release, worst_user_day(release, found.case)) as logs:
                gap = exact_counts(cells, logs.with_it, logs.week) - exact_counts(cells, logs.without, logs.week)
            assert gap[gap != 0].tolist() == [1] * len(found.case.sigmas), found.case.name
            assert sorted(cells.sigmas[gap != 0]) == sorted(s.value for s in found.case.sigmas), found.case.name


def test_the_promise_is_not_broken_and_nearly_reached(plain_coverage: Coverage) -> None:
    """The lower bound is below the accounted epsilon and close to it, and what is stored is as promised."""
    found = audit(plain_coverage, DRAWS, CONFIDENCE)
    (case,) = found.cases
    assert found.holds
    assert 0.8 * case.epsilon_upper < case.epsilon_lower <= case.epsilon_upper
    assert len(found.store) == 2 + 6 + 1 + 2 + 1


@pytest.fixture(scope="module")
def v2_coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The release with signed measures and rest cells, in the little country."""
    geography = load_geography(little_geography(tmp_path_factory.mktemp("v2")))
    return Coverage(load_spec("vaccination-v2"), geography)


def test_the_worst_user_day_reaches_every_measure_of_its_case(v2_coverage: Coverage) -> None:
    """Also in rest cells: one cell per mechanism, by 1, with the same sigma."""
    cells = CellList(v2_coverage)
    for case in trend_cases(v2_coverage.spec):
        with neighbouring_logs(v2_coverage, worst_user_day(v2_coverage, case)) as logs:
            gap = exact_counts(cells, logs.with_it, logs.week) - exact_counts(cells, logs.without, logs.week)
        assert np.abs(gap[gap != 0]).tolist() == [1] * len(case.sigmas), case.name
        assert sorted(cells.sigmas[gap != 0]) == sorted(s.value for s in case.sigmas), case.name


def test_every_case_of_vaccination_v2_is_reached_and_none_is_broken(v2_coverage: Coverage) -> None:
    """Each case comes near the accounted epsilon; a topic alone, where signs are negative, is of one case too."""
    found = audit(v2_coverage, 1_500, CONFIDENCE)
    assert found.holds, found
    *of_trends, of_texts = found.cases
    assert [case.name for case in of_trends] == ["small", "medium", "large", "state_only"]
    assert all(0.5 * case.epsilon_upper < case.epsilon_lower <= case.epsilon_upper for case in of_trends)
    assert (of_texts.name, of_texts.cells_changed, found.without_texts) == ("known text", 2, "")
    names = {finding.name for finding in found.store}
    assert {f"a user-day of topic {topic} alone is of one case" for topic in ("A1", "A2", "A3")} <= names


def test_rest_cells_have_noise_like_all_others(v2_coverage: Coverage) -> None:
    """Nobody sees a rest cell, but what is published depends on it."""
    cells = CellList(v2_coverage)
    with neighbouring_logs(v2_coverage, worst_user_day(v2_coverage, trend_cases(v2_coverage.spec)[0])) as logs:
        exact = [exact_counts(cells, log, logs.week) for log in (logs.without, logs.with_it)]
        findings = audit_store(cells, logs, exact, lambda text: None)
    assert {finding.name: finding.holds for finding in findings}["noise on rest cells"]


@pytest.mark.thorough
def test_the_promise_is_not_broken_in_a_little_country(tmp_path: Path) -> None:
    """Every class of the paper's table is attacked in a country of 14 regions, and nothing is broken.

    The audits of `python -m evidence` draw ten times as often.
    """
    found = audit(little_coverage(tmp_path), 4_000, CONFIDENCE)
    assert found.holds, found
    assert [case.name for case in found.cases] == ["small", "medium", "large", "state_only"]


@pytest.fixture(scope="module")
def attacked(other_coverage: Coverage) -> Iterator[tuple[Neighbours, list[Counts]]]:
    """Neighbouring logs of Qazaria, which no test changes, and their exact counts."""
    cells = CellList(other_coverage)
    with neighbouring_logs(other_coverage, worst_user_day(other_coverage, trend_cases(other_coverage.spec)[0])) as logs:
        yield logs, [exact_counts(cells, log, logs.week) for log in (logs.without, logs.with_it)]


Noise = Callable[[Counts, Floats], Counts]


def _same_noise_everywhere(counts: Counts, sigmas: Floats) -> Counts:
    return counts + np.rint(1.5 * sigmas).astype(np.int64)


@pytest.mark.parametrize(
    ("break_it", "finding"),
    [
        (MUTANTS["noise_on_non_empty"].put_in, "noise on empty cells"),
        (MUTANTS["level_without_noise"].put_in, "noise on province H0"),
        (MUTANTS["seeded"].put_in, "noise of the two stores is independent"),
        (other_noise(_same_noise_everywhere), "noise of neighbouring cells is independent"),
    ],
)
def test_noise_that_is_not_as_promised_is_found_in_the_store(
    break_it: Callable[[pytest.MonkeyPatch], None],
    finding: str,
    other_coverage: Coverage,
    attacked: tuple[Neighbours, list[Counts]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Empty cells, a level without noise, a seed, one draw for many cells: each is found in what was stored."""
    break_it(monkeypatch)
    logs, exact = attacked
    without, with_it = (Path(shutil.copy(log, tmp_path)) for log in (logs.without, logs.with_it))
    here = replace(logs, without=without, with_it=with_it)  # the stores are made beside the logs
    findings = audit_store(CellList(other_coverage), here, exact, lambda text: None)
    assert finding in [f.name for f in findings if not f.holds], findings


def test_noise_that_depends_on_the_count_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise on non-empty cells only distinguishes the logs half of the time, far more than its sigma allows."""
    MUTANTS["noise_on_non_empty"].put_in(monkeypatch)
    zero = np.zeros(1, dtype=np.int64)
    assert lower_advantage(Difference(zero, zero + 1, np.array([4.0])), 10_000, CONFIDENCE) > 0.4


def test_the_error_rates_on_each_log_bound_the_advantage_too() -> None:
    """If noise is not the same on both logs, the error rates show it: the bound is 1 minus both, with some margin."""
    assert bound(Tally(draws=10_000, false_alarms=0, misses=4_000, flips=0), 0.999) == pytest.approx(0.58, abs=0.01)
    assert bound(Tally(draws=10_000, false_alarms=5_000, misses=5_000, flips=0), 0.999) == 0.0


def test_the_bound_holds_for_a_gaussian_of_known_sigma() -> None:
    """One cell of sigma 4 that changes by 1 gives an advantage of 0.0995; the bound is slightly below it."""
    without = np.array([10], dtype=np.int64)
    found = lower_advantage(Difference(without, without + 1, np.array([4.0])), 50_000, CONFIDENCE)
    assert 0.0995 * 0.9 < found < 0.0995


@pytest.mark.parametrize("flips", [0, 40, 4_000])
def test_the_bound_has_the_stated_confidence(flips: int) -> None:
    """A program with exactly this advantage shows this many flips or more with half of the allowed risk."""
    tally = Tally(draws=10_000, false_alarms=9_000, misses=9_000, flips=flips)
    probability = stats.binom.sf(flips - 1, 20_000, bound(tally, 0.999))
    assert probability == pytest.approx(0.0005 if flips else 1.0)


def test_the_number_of_draws_gives_the_requested_shortfall() -> None:
    """With the computed number of draws the bound falls short by what was requested, on average."""
    for advantage in (0.02, 0.2):
        n = draws_needed(advantage, 0.999, 0.02)
        reached = bound(Tally(n, n, n, flips=round(2 * n * advantage)), 0.999)
        assert reached / advantage == pytest.approx(0.98, abs=0.002)


@pytest.mark.thorough
def test_a_larger_loss_is_detected_with_the_default_number_of_draws(
    plain_coverage: Coverage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of draws follows from the accounting, so there are enough also for a program that is far worse."""
    MUTANTS["sensitivity_2"].put_in(monkeypatch)
    monkeypatch.setattr("search_insights.audit.audit._SHORTFALL", 0.1)
    found = audit(plain_coverage)
    assert found.cases[0].draws > 500
    assert found.cases[0].epsilon_lower > found.cases[0].epsilon_upper
    assert not found.holds


def test_counts_of_two_size_classes_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without X4, a user-day of all classes changes counts that no single case accounts for."""
    MUTANTS["x4_dropped"].put_in(monkeypatch)
    found = audit(little_coverage(tmp_path), 1, CONFIDENCE)
    assert "a user-day of all classes is of one case" in [f.name for f in found.store if not f.holds]


def test_discrete_noise_with_a_small_sigma_is_not_reported_as_broken() -> None:
    """Sigma 0.7 is far from a continuous Gaussian; it is compared with its own accounting."""
    spec = plain_spec()
    small = replace(spec, sigmas=tuple(replace(s, value=0.7) for s in spec.sigmas))
    allowed = advantage_of(small.sigmas[:1])
    zero = np.zeros(1, dtype=np.int64)
    found = lower_advantage(Difference(zero, zero + 1, np.array([0.7])), 30_000, CONFIDENCE)
    assert 0.9 * allowed < found <= allowed


def test_a_class_without_a_region_is_reported_as_not_attacked(tmp_path: Path, paper: Spec) -> None:
    """If the geography has no large county, that case is reported as not attacked, and the others are attacked."""
    rows = [row for row in LITTLE_REGIONS if row[8] not in ("geoId/06075", "zip/94103", "zip/94104")]
    coverage = Coverage(paper, load_geography(write_csv(tmp_path / "no_large.csv", rows)))
    found = audit(coverage, 1, CONFIDENCE)
    assert found.without_region == ("large",)
    assert [case.name for case in found.cases] == ["small", "medium", "state_only"]


@pytest.mark.parametrize(("mu", "delta"), [(0.05, 1e-5), (0.5, 1e-5), (1.0, 1e-6), (5.0, 1e-9)])
def test_epsilon_of_mu_solves_the_closed_form(mu: float, delta: float) -> None:
    """delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    epsilon = epsilon_of_mu(mu, delta)
    back = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    assert back == pytest.approx(delta, rel=1e-6)


def test_no_difference_gives_no_epsilon() -> None:
    """If the logs do not differ, the bound is 0."""
    assert epsilon_of_mu(0.0, 1e-5) == 0.0
    same = np.zeros(1, dtype=np.int64)
    none = same[:0]
    assert lower_advantage(Difference(none, none, np.ones(0)), 2_000, 0.999) == 0.0


def test_the_command_prints_every_case_as_json(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts rely on cases with name, epsilon_lower, epsilon_upper and confidence; exit 0 if nothing was broken.

    The same audit is shown to people in words.
    """
    made: list[Audit] = []

    def audited_once(coverage: Coverage, draws: int | None, progress: Progress) -> Audit:
        assert draws == 500
        if not made:
            made.append(audit(coverage, draws, CONFIDENCE, progress))
        return made[0]

    monkeypatch.setattr("search_insights.audit.audit.audit", audited_once)
    options = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path), "--draws", "500")
    code, out, _ = run("audit", *options, "--json")
    answer = json.loads(out)
    assert code == 0
    assert [case["name"] for case in answer["cases"]] == ["rural", "urban", "province_only"]
    assert all({"name", "epsilon_lower", "epsilon_upper", "confidence"} <= set(case) for case in answer["cases"])
    code, out, _ = run("audit", *options)
    assert code == 0
    assert "The promise was not broken." in out
    assert run("audit", "--draws", "0")[0] == 2


def test_the_command_exits_with_1_when_something_is_broken(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a program without noise the exit code and the text say so."""
    other_noise(lambda counts, sigmas: counts)(monkeypatch)
    options = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path), "--draws", "500")
    code, out, _ = run("audit", *options)
    assert code == 1
    assert "BROKEN" in out
    assert "The promise was broken." in out


@pytest.mark.parametrize(
    ("cells", "sigma", "holds"), [(2, 3.21, True), (2, 450.0, True), (6, 1.0, True), (60, 3.21, False)]
)
def test_noise_of_0_is_suspect_only_where_it_is_unlikely(cells: int, sigma: float, holds: bool) -> None:
    """Two cells of a small sigma both have noise 0 in more than 1 % of all stores: that is no finding."""
    chance = (sum(math.exp(-(x**2) / (2 * sigma**2)) for x in range(-4000, 4001))) ** -cells
    assert (chance > RISK / 100) is holds
    assert _check_size("noise", np.zeros(cells), sigma, RISK / 100).holds is holds
