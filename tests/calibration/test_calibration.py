"""Calibrated sigmas use the promise fully and never break it, and optimized sigmas publish more values."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_insights.calibration.calibration import calibrate
from search_insights.calibration.expectation import expect
from search_insights.calibration.optimization import optimize
from search_insights.calibration.profile import Profile, profile_of_truth, read_profile
from search_insights.dp.accounting import account
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_epsilon, mu_of_sigmas
from search_insights.errors import CheckFailed
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.publication_rules import Reliability
from search_insights.spec.spec import Promise, Spec
from search_insights.spec.spec_file import load_spec
from search_insights.trends.reliability import assess, chance_of_keeping
from tests.support.command_line import Run
from tests.support.logs import little_coverage
from tests.support.other_country import other_geography, other_spec, other_spec_file, plain_spec, specs

HEADER = "level,size_class,regions,A0,A1,A2,A3"
ROWS = (
    "country,,22,900000,30000,9000,20000",
    "state,,1122,20000,700,200,500",
    "county,small,40000,400,25,6,15",
    "county,medium,9000,3000,110,30,80",
    "county,large,3000,12000,450,140,300",
    "postal_code,medium,60000,250,14,4,9",
    "postal_code,large,90000,420,26,7,15",
)


def write_profile(folder: Path, rows: Sequence[str] = ROWS, header: str = HEADER) -> Path:
    """Write a profile of round numbers."""
    path = folder / "profile.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def calibrated(paper: Spec) -> Spec:
    """The paper's spec, calibrated to its own promise."""
    return calibrate(paper, paper.promise)


def test_every_class_meets_the_target_and_none_breaks_it(calibrated: Spec) -> None:
    """The paper leaves up to 0.004 of its epsilon unused; after calibration each class leaves less than 0.0015."""
    found = {c.case.name: c.epsilon for c in account(calibrated).cases}
    for size_class in calibrated.class_names:
        assert 2.1885 < found[size_class] <= 2.19
    assert found["state_only"] < 2.19


def test_the_proportions_of_the_spec_are_kept(paper: Spec, calibrated: Spec) -> None:
    """Within the open levels, and within each size class, all sigmas change by the same factor."""
    for size_class in (None, *paper.class_names):
        pairs = zip(paper.sigmas, calibrated.sigmas, strict=True)
        factors = [b.value / a.value for a, b in pairs if a.size_class == size_class]
        assert max(factors) == pytest.approx(min(factors), abs=2e-4)
        assert max(factors) < 1, "less noise for the same promise"


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (4.0, 1e-5)])
@pytest.mark.parametrize("make", [plain_spec, other_spec])
def test_any_release_and_target_is_calibrated(make: Callable[[], Spec], epsilon: float, delta: float) -> None:
    """Releases with other levels and classes meet any target closely; the new spec has the new promise."""
    new = calibrate(make(), Promise(epsilon, delta))
    assert new.promise == Promise(epsilon, delta)
    classes = new.class_names or [case.case.name for case in account(new).cases]
    found = {c.case.name: c.epsilon for c in account(new).cases}
    for size_class in classes:
        assert 0.999 * epsilon < found[size_class] <= epsilon


@settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(specs(), st.floats(0.3, 20), st.floats(1e-7, 1e-2))
def test_any_spec_is_calibrated_or_refused(spec: Spec, epsilon: float, delta: float) -> None:
    """For any levels, classes and target the promise holds afterwards, or the target is refused."""
    try:
        new = calibrate(spec, Promise(epsilon, delta))
    except CheckFailed:
        return
    assert account(new).holds


def test_a_target_below_what_open_levels_spend_is_met_and_optimized(tmp_path: Path, us_coverage: Coverage) -> None:
    """The optimization starts from a calibrated spec, so the old spec may be far from the target."""
    promise = Promise(0.15, 1e-5)
    profile = read_profile(write_profile(tmp_path), us_coverage)
    assert account(optimize(us_coverage.spec, promise, us_coverage, profile)).holds


def test_mu_and_epsilon_are_inverse_and_sigmas_compose() -> None:
    """mu_of_epsilon inverts epsilon_of_mu, and mechanisms of sigma 3 and 4 compose to mu 5/12."""
    for mu in (0.05, 0.5, 3.0):
        assert mu_of_epsilon(epsilon_of_mu(mu, 1e-5), 1e-5) == pytest.approx(mu, rel=1e-6)
    assert mu_of_sigmas([3.0, 4.0]) == pytest.approx(5 / 12)


@pytest.mark.parametrize(
    ("x", "y", "sigma_x", "sigma_y"),
    [(40, 400, 3.25, 35.0), (30, 1_000, 3.2, 28.0), (28, 3_000, 3.2, 28.0), (400, 9_000, 35.0, 450.0), (900, 0, 8, 9)],
)
def test_the_chance_of_keeping_is_how_often_values_are_kept(x: int, y: int, sigma_x: float, sigma_y: float) -> None:
    """Of 100,000 noisy pairs `assess` keeps the predicted share, within 4 points because noise is whole numbers."""
    rule, n, rng = Reliability(0.8, 0.15), 100_000, np.random.default_rng(5)
    noisy = [np.rint(rng.normal(mean, sigma, n)) for mean, sigma in ((x, sigma_x), (y, sigma_y))]
    kept = assess(noisy[0], noisy[1], np.full(n, sigma_x), np.full(n, sigma_y), rule).kept.mean()
    given = [np.array([float(value)]) for value in (x, y, sigma_x, sigma_y)]
    (predicted,) = chance_of_keeping(given[0], given[1], given[2], given[3], rule)
    assert predicted == pytest.approx(kept, abs=0.04)


def test_optimized_sigmas_publish_more_at_the_same_promise(us_coverage: Coverage, tmp_path: Path) -> None:
    """For a profile of small counts at least 10 % more data points are expected, and the promise holds."""
    spec = us_coverage.spec
    profile = read_profile(write_profile(tmp_path), us_coverage)
    new = optimize(spec, spec.promise, us_coverage, profile)
    assert account(new).holds
    assert min(c.epsilon for c in account(new).cases if c.case.name in spec.class_names) > 2.1885
    assert expect(new, us_coverage, profile).total > 1.1 * expect(spec, us_coverage, profile).total


def test_a_release_without_classes_is_optimized(tmp_path: Path) -> None:
    """Without size classes there is one case, whose budget is divided among levels and categories."""
    spec = plain_spec()
    coverage = Coverage(spec, load_geography(other_geography(tmp_path)))
    counts = {group: np.array([[300.0, *(12.0 for _ in spec.topics)]]) for group in spec.reported_groups}
    profile = Profile(counts, {group: np.array([100.0]) for group in counts})
    new = optimize(spec, spec.promise, coverage, profile)
    assert account(new).holds
    assert expect(new, coverage, profile).total >= expect(spec, coverage, profile).total


def test_a_profile_comes_from_the_truth_of_a_simulated_log(tmp_path: Path) -> None:
    """The rows of a profile stand for all regions and weeks, and keep the sum of all counts."""
    coverage = little_coverage(tmp_path)
    truth = tmp_path / "truth.parquet"
    log = simulate(tmp_path / "log", coverage, coverage.spec.sparsity.first_week, 2, 20_000, seed=3, truth=truth)
    add_exact_counts(truth, tmp_path / "log", log.weeks, coverage, lambda text: None)
    profile = profile_of_truth(truth, coverage)
    assert {g: w.sum() for g, w in profile.weights.items()}["county", "small"] == 2 * 2
    country, states = (profile.counts[g] * profile.weights[g][:, None] for g in (("country", None), ("state", None)))
    np.testing.assert_allclose(country.sum(axis=0), states.sum(axis=0))


def test_the_command_writes_a_spec_that_holds_and_changes_nothing_else(tmp_path: Path, run: Run) -> None:
    """The new file is the old release with other sigmas, promise and name; `privacy` says that its promise holds."""
    given = other_spec_file(tmp_path)
    code, out, _ = run("calibrate", "--spec", given, "--epsilon", "1.5", "--out", tmp_path / "new.toml", "--json")
    assert code == 0
    old, new = load_spec(given), load_spec(tmp_path / "new.toml")
    assert new.name == f"{old.name}-calibrated"
    assert replace(new, name=old.name, sigmas=old.sigmas, promise=old.promise) == old
    assert json.loads(out)["promise"] == {"epsilon": 1.5, "delta": old.promise.delta}
    assert run("privacy", "--spec", tmp_path / "new.toml")[0] == 0


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        (ROWS, "level,size_class,regions,A0,A1,A2", "expected a CSV file with the columns level,size_class,regions,A0"),
        (("county,tiny,1,1,1,1,1",), HEADER, "line 2, columns level and size_class: expected one of state"),
        (("state,,1,1,-1,1,1",), HEADER, "line 2, column A1: expected a number from 0 up; got '-1'"),
        (("state,,1,1,nan,1,1",), HEADER, "line 2, column A1: expected a number from 0 up; got 'nan'"),
        (("state,,many,1,1,1,1",), HEADER, "line 2, column regions: expected a number"),
        ((), HEADER, "has no rows"),
        (ROWS[:-1], HEADER, "no row for postal_code large"),
    ],
)
def test_a_profile_that_cannot_be_used_is_refused(
    tmp_path: Path, run: Run, rows: Sequence[str], header: str, words: str
) -> None:
    """The error names the file, the line and the column; nothing is written."""
    profile = write_profile(tmp_path, rows, header)
    code, out, err = run("calibrate", "--optimize", profile, "--out", tmp_path / "new.toml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "profile.csv" in err
    assert words in err
    assert not (tmp_path / "new.toml").exists()


def test_wrong_options_are_refused(tmp_path: Path, run: Run) -> None:
    """An existing spec is not overwritten, and a target that noise cannot keep is refused."""
    (tmp_path / "old.toml").write_text("name = 1", encoding="utf-8")
    assert "exists already" in run("calibrate", "--out", tmp_path / "old.toml")[2]
    assert (tmp_path / "old.toml").read_text(encoding="utf-8") == "name = 1"
    assert run("calibrate", "--epsilon", "0", "--out", tmp_path / "new.toml")[0] == 2
    assert run("calibrate", "--epsilon", "1e-9", "--out", tmp_path / "new.toml")[0] == 2
    assert run("calibrate", "--epsilon", "0.001", "--delta", "1e-10", "--out", tmp_path / "new.toml")[0] == 1
    assert run("calibrate", "--optimize", tmp_path / "none.csv", "--out", tmp_path / "new.toml")[0] == 2
    assert run("calibrate", "--out", tmp_path / "no" / "new.toml")[0] == 2
    assert not (tmp_path / "new.toml").exists()


def test_sigmas_are_found_beside_top_searches() -> None:
    """The trends get what texts leave; the numbers of the texts stay, and the worst of both cases meets the promise."""
    spec = load_spec("vaccination-v2")
    new = calibrate(spec, spec.promise)
    assert new.top_searches == spec.top_searches
    assert 0.998 * spec.promise.epsilon < account(new).epsilon <= spec.promise.epsilon
    with pytest.raises(CheckFailed, match="raise total_threshold"):
        calibrate(spec, Promise(2.19, 2e-6))
    with pytest.raises(CheckFailed, match="top searches leave nothing"):
        calibrate(spec, Promise(0.3, 1e-5))
