"""Sigmas from nothing keep the promise, suit the expected counts, and depend on public facts only."""

import math
from pathlib import Path

import numpy as np
import pytest

from search_insights.calibration.profile import Profile
from search_insights.calibration.region_noise import Group
from search_insights.calibration.start import _variances, estimated_populations, start
from search_insights.calibration.stored_profile import is_store, profile_of_store
from search_insights.dp.accounting import account
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Promise
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats
from tests.support.command_line import Run
from tests.support.other_country import PLAIN_SPEC, other_geography, plain_spec, write_csv
from tests.support.stores import CITY, TOWN, add_weeks, short_window_coverage
from tests.support.switzerland import swiss_regions, swiss_rows

DRAFT = PLAIN_SPEC[: PLAIN_SPEC.index("[sigma]")]
PROFILE = "level,size_class,regions,any,tea,coffee\nprovince,,3,4000,80,9\ncommune,,8,900,16,2\n"


@pytest.fixture
def draft(tmp_path: Path) -> tuple[str, str]:
    """The options that name a spec without sigmas and its geography."""
    path = tmp_path / "draft.toml"
    path.write_text(DRAFT, encoding="utf-8")
    return str(path), str(other_geography(tmp_path))


def test_the_division_is_the_one_with_the_smallest_error() -> None:
    """No other division of what a level spends gives its values a smaller sum of relative variances."""
    counts = np.array([5_000.0, 60.0, 20.0, 7.0])

    def error(variances: Floats) -> float:
        of_topics = (variances[1:] / counts[1:] ** 2).sum()
        return float(of_topics + 3 * variances[0] / counts[0] ** 2) * float((1 / variances).sum())

    best, chance = _variances(counts), np.random.default_rng(3)
    for _ in range(200):
        assert error(best) <= error(best * np.exp(chance.normal(0, 0.3, 4))) + 1e-12


def test_larger_regions_get_more_noise_and_smaller_errors() -> None:
    """With 1,000 times the count the noise is 10 times as large, and so 100 times smaller beside the count."""
    ratio = _variances(np.array([1e6, 1e4, 1e4])) / _variances(np.array([1e3, 10, 10]))
    assert np.sqrt(ratio) == pytest.approx(10)


def test_sigmas_from_nothing_use_the_promise_fully(tmp_path: Path) -> None:
    """Whatever sigmas the spec had, the promise holds and hardly anything of it is unused."""
    spec = plain_spec()
    found = start(Coverage(spec, load_geography(other_geography(tmp_path))), Promise(2.0, 1e-5))
    assert 1.998 < account(found).epsilon <= 2.0
    assert found.sigma("province", None, "any") > found.sigma("commune", None, "any")
    assert found.sigma("commune", None, "any") > 5 * found.sigma("commune", None, "tea")


def test_a_profile_tells_rare_topics_from_frequent_ones(tmp_path: Path) -> None:
    """Rare topics get less noise: the variance is proportional to the expected count."""
    coverage = Coverage(plain_spec(), load_geography(other_geography(tmp_path)))
    counts: dict[Group, Floats] = {
        ("province", None): np.array([[4_000.0, 80.0, 9.0]]),
        ("commune", None): np.array([[900.0, 16.0, 3.0]]),
    }
    found = start(coverage, Promise(2.0, 1e-5), Profile(counts, {g: np.array([3.0]) for g in counts}))
    ratio = found.sigma("commune", None, "tea") / found.sigma("commune", None, "coffee")
    assert ratio == pytest.approx(math.sqrt(17 / 4), rel=1e-3)


def test_unknown_populations_are_estimated_from_those_that_are_known(tmp_path: Path) -> None:
    """Those above are sums, those below are equal parts; in a table without populations all regions count alike."""
    geography = load_geography(swiss_regions(tmp_path))
    found = estimated_populations(geography)
    districts = [r.population for r in geography.regions if r.level == "district" and r.population]
    assert found["CH"] == pytest.approx(sum(districts))
    assert found["ZH"] == sum(found[f"ZH{i}"] for i in range(3))
    assert [found[r.place_id] for r in geography.regions if r.parent == "ZH0"] == [found["ZH0"] / 4] * 4
    bare = write_csv(tmp_path / "bare.csv", [row[:4] for row in swiss_rows()], ("code", "name", "level", "parent"))
    alike = estimated_populations(load_geography(bare))
    assert alike["CH"] == len(alike)
    assert min(alike.values()) > 0


def test_a_draft_is_completed_and_keeps_its_name(run: Run, tmp_path: Path, draft: tuple[str, str]) -> None:
    """`calibrate` writes a spec that every command takes; there is no old spec to compare with."""
    path = tmp_path / "spec.toml"
    code, out, err = run("calibrate", "--spec", draft[0], "--geography", draft[1], "--out", path)
    assert (code, err) == (0, "")
    spec = load_spec(path)
    assert spec.name == "drinks"
    assert account(spec).holds
    assert "epsilon of drinks" in out
    assert "100000" not in out, "the stand-ins are not shown"


def test_a_draft_with_a_profile_is_optimized(run: Run, tmp_path: Path, draft: tuple[str, str]) -> None:
    """The expected number of values is told for the new sigmas alone."""
    profile = tmp_path / "profile.csv"
    profile.write_text(PROFILE, encoding="utf-8")
    words = ("--spec", draft[0], "--geography", draft[1], "--optimize", profile, "--out", tmp_path / "spec.toml")
    code, out, _ = run("calibrate", *words)
    assert code == 0
    assert "expected values" in out
    assert load_spec(tmp_path / "spec.toml").promise == plain_spec().promise


@pytest.mark.parametrize("words", [("privacy",), ("regions", "x"), ("audit",)])
def test_every_other_command_refuses_a_draft(run: Run, draft: tuple[str, str], words: tuple[str, ...]) -> None:
    """The line names the command that completes it."""
    code, out, err = run(*words, "--spec", draft[0])
    assert (code, out) == (2, "")
    assert "key 'sigma': expected standard deviations ('search-insights calibrate' finds them), got nothing" in err


# The store of an earlier release


def test_a_store_says_what_to_expect(tmp_path: Path) -> None:
    """Each region's mean over the weeks, with noise, stands for every week; below 0 there is no count."""
    coverage = short_window_coverage(tmp_path)
    poor = dict.fromkeys((CITY, TOWN), (0, -900, 20, 30))
    path = add_weeks(tmp_path / "store.db", coverage, {}, poor)
    profile = profile_of_store(path, coverage)
    (city,) = profile.counts["postal_code", "large"]
    assert city.tolist() == [50_000, 1_050, 1_010, 515]
    assert profile.weights["postal_code", "large"].tolist() == [2]
    assert set(coverage.spec.reported_groups) <= set(profile.counts)
    assert profile.counts["country", None].min() >= 0


def test_a_store_of_other_categories_is_refused(tmp_path: Path) -> None:
    """Its counts would be taken for others."""
    path = add_weeks(tmp_path / "store.db", short_window_coverage(tmp_path), {})
    coverage = Coverage(plain_spec(), load_geography(other_geography(tmp_path)))
    with pytest.raises(InputError, match=r"store\.db: counts the categories A0, A1, A2, A3; expected any, tea, coffee"):
        profile_of_store(path, coverage)


def test_a_store_is_told_from_a_file_of_expected_counts(tmp_path: Path) -> None:
    """By its content, whatever its name."""
    (tmp_path / "profile.csv").write_text(PROFILE, encoding="utf-8")
    assert not is_store(tmp_path / "profile.csv")
    assert is_store(add_weeks(tmp_path / "store.csv", short_window_coverage(tmp_path), {}))
