"""The search for sigmas stays within what the cases may spend, and below the values of another spec nowhere."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from search_insights.calibration.expectation import expect
from search_insights.calibration.optimization import optimize, shortfalls
from search_insights.calibration.profile import Profile, read_profile
from search_insights.calibration.reference import OTHER_LOGS, at_promise, reference_for
from search_insights.calibration.region_noise import Group
from search_insights.calibration.shares import Shares
from search_insights.dp.accounting import account
from search_insights.errors import CheckFailed
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.publication_rules import Reliability
from search_insights.spec.spec import Promise
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats
from tests.support.command_line import Run, assert_one_line
from tests.support.logs import little_geography
from tests.support.other_country import PLAIN_SPEC, other_geography, other_spec, plain_spec

GROUPS: tuple[tuple[Group, ...], ...] = (
    (("state", None), ("county", "small"), ("county", "large"), ("zip", "large")),
    (("county", "small"), ("county", "large")),
    (("state", None), ("county", None)),
)
PROFILE = "level,size_class,regions,any,tea,coffee\nprovince,,3,4000,400,9\ncommune,,8,900,60,2\n"
POOR = "level,size_class,regions,any,tea,coffee\nprovince,,3,900,20,9\ncommune,,8,400,9,2\n"
V2_PROFILE = (
    "level,size_class,regions,A0,U,Q1,Q2\n"
    "country,,22,900000,55000,5000,-37000\n"
    "state,,1122,20000,1330,70,-930\n"
    "county,small,40000,400,43,7,-31\n"
    "county,medium,9000,3000,210,10,-150\n"
    "county,large,3000,12000,850,50,-570\n"
    "postal_code,medium,60000,250,26,2,-18\n"
    "postal_code,large,90000,420,46,6,-32\n"
)


@settings(max_examples=60)
@given(st.sampled_from(GROUPS), st.data())
def test_no_case_spends_more_whatever_the_free_numbers_are(groups: tuple[Group, ...], data: st.DataObject) -> None:
    """Every class spends, with the open levels, at most what it spent before; the slopes are those of the spending."""
    table = data.draw(arrays.arrays(float, (len(groups), 2), elements=st.floats(1, 50)))
    shares = Shares(groups, table)
    begin = shares.begin()
    np.testing.assert_allclose(shares.sigmas(begin), table)
    free = begin + data.draw(arrays.arrays(float, begin.size, elements=st.floats(-2, 2)))
    new = shares.sigmas(free)
    classes: list[str | None] = [c for _, c in groups if c]
    for size_class in classes or [None]:
        rows = [i for i, (_, c) in enumerate(groups) if c in (None, size_class)]
        assert (new[rows] ** -2.0).sum() <= (table[rows] ** -2.0).sum() * (1 + 1e-9)
    slopes, step = shares.slopes(free), 1e-5
    for number, direction in enumerate(np.eye(free.size)):
        ends = [np.log(shares.spent(free + sign * step * direction)) for sign in (1, -1)]
        np.testing.assert_allclose(slopes[:, number], (ends[0] - ends[1]) / (2 * step), atol=1e-5)


def plain_world(folder: Path) -> tuple[Coverage, Profile]:
    """Return a release without classes, and a profile of it in which provinces are published and communes are not."""
    coverage = Coverage(plain_spec(), load_geography(other_geography(folder)))
    counts: dict[Group, Floats] = {
        ("province", None): np.array([[4_000.0, 110.0, 10.0]]),
        ("commune", None): np.array([[900.0, 14.0, 2.0]]),
    }
    return coverage, Profile(counts, {("province", None): np.array([30.0]), ("commune", None): np.array([800.0])})


def test_the_most_in_all_may_not_be_paid_by_a_level(tmp_path: Path) -> None:
    """Without a rule the few provinces lose values to the many communes; with it they keep as many as they had."""
    coverage, profile = plain_world(tmp_path)
    spec = coverage.spec
    before = expect(spec, coverage, profile)
    free = expect(optimize(spec, spec.promise, coverage, profile), coverage, profile)
    assert shortfalls(free, before.of_levels) == {
        ("province", "tea"): pytest.approx(before.of_levels["province", "tea"] - free.of_levels["province", "tea"])
    }
    kept = optimize(spec, spec.promise, coverage, profile, before.of_levels)
    found = expect(kept, coverage, profile)
    assert not shortfalls(found, before.of_levels)
    assert before.total < found.total <= free.total + 0.1
    assert account(kept).holds


def test_numbers_that_no_sigmas_reach_are_refused(tmp_path: Path) -> None:
    """The message names the level and trend that falls short most, and what was asked for."""
    coverage, profile = plain_world(tmp_path)
    least = {("commune", "tea"): 799.0, ("province", "tea"): 29.9}
    with pytest.raises(CheckFailed, match=r"no sigmas found .* values of tea at level commune, not 799\.0"):
        optimize(coverage.spec, coverage.spec.promise, coverage, profile, least)


def test_a_reference_is_chosen_by_what_is_published() -> None:
    """The paper's spec for releases like it; the spec itself for others, and for other rules of what is reliable."""
    paper, v2 = load_spec(), load_spec("vaccination-v2")
    assert reference_for(v2, True, paper) == paper
    assert reference_for(paper, False, paper) == paper
    assert reference_for(other_spec(), True, paper) == other_spec()
    assert reference_for(other_spec(), False, paper) is None
    stricter = replace(v2, reliability=Reliability(0.8, 0.05))
    assert reference_for(stricter, True, paper) == stricter


def test_a_reference_with_another_promise_is_calibrated_to_the_same_one() -> None:
    """Otherwise a stricter promise could never publish as many values."""
    spec = plain_spec()
    assert at_promise(spec, spec.promise) == spec
    stricter = at_promise(spec, Promise(0.5, 1e-7))
    assert stricter.promise == Promise(0.5, 1e-7)
    assert account(stricter).holds


def test_the_command_shows_the_reference_beside_and_logs_unlike_the_profile(tmp_path: Path, run: Run) -> None:
    """vaccination-v2 is compared with vaccination-v1: no level and trend is below it, and three logs are looked at."""
    (tmp_path / "profile.csv").write_text(V2_PROFILE, encoding="utf-8")
    options = ("--spec", "vaccination-v2", "--geography", little_geography(tmp_path), "--json")
    words = ("calibrate", *options, "--optimize", tmp_path / "profile.csv", "--out", tmp_path / "new.toml")
    code, out, _ = run(*words)
    assert code == 0
    found = json.loads(out)
    assert found["reference"]["spec"] == "vaccination-v1"
    assert len(found["expected_values"]) == 4 * 3
    for row in found["expected_values"]:
        assert row["after"] >= row["reference"] - 0.05, row
    assert found["expected_points"]["after"] >= found["expected_points"]["before"]
    assert [row["log"] for row in found["other_logs"]] == [log.name for log in OTHER_LOGS]
    for row in found["other_logs"]:
        assert row["ratio"] == pytest.approx(row["after"] / row["reference"])


def write_drinks(folder: Path, name: str, text: str = PLAIN_SPEC) -> Path:
    """Write the plain spec, changed or not, and its profile."""
    (folder / "profile.csv").write_text(PROFILE, encoding="utf-8")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_sigmas_that_lose_on_other_logs_are_reported(tmp_path: Path, run: Run) -> None:
    """The table shows the reference, and a warning names each log on which the new sigmas publish less."""
    spec, regions = write_drinks(tmp_path, "drinks.toml"), other_geography(tmp_path)
    options = ("--spec", spec, "--geography", regions, "--optimize", tmp_path / "profile.csv")
    code, out, err = run("calibrate", *options, "--out", tmp_path / "new.toml", "--name", "mine")
    assert code == 0
    assert load_spec(tmp_path / "new.toml").name == "mine"
    assert "expected values  trend  drinks  mine  times" in out
    assert "logs unlike the profile" in out
    less = [line for line in out.splitlines() if "any search x" in line and float(line.split()[-1]) < 1]
    assert err.count("warning: on a log like the profile with any search x") == len(less)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--not-below", "vaccination-v1"), 2, "has other levels and size classes and trends"),
        (("--not-below", "nowhere.toml"), 2, "--not-below nowhere.toml"),
        (("--not-below", "none", "--reference-profile", "profile.csv"), 2, "--not-below is none"),
        (("--not-below", "lenient.toml"), 1, "at least the values of --not-below"),
    ],
)
def test_a_reference_that_cannot_be_met_or_compared_is_refused(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], code: int, words: str
) -> None:
    """One line says what is wrong; a reference that no sigmas can match ends with exit code 1. Nothing is written."""
    monkeypatch.chdir(tmp_path)
    spec = write_drinks(tmp_path, "drinks.toml")
    lenient = PLAIN_SPEC.replace("confidence = 0.5", "confidence = 0.05")
    write_drinks(tmp_path, "lenient.toml", lenient).with_name("profile.csv").write_text(POOR, encoding="utf-8")
    given = ("--spec", spec, "--geography", other_geography(tmp_path), "--optimize", "profile.csv")
    found = run("calibrate", *given, *options, "--out", "new.toml")
    assert found[:2] == (code, ""), found
    assert_one_line(found[2])
    assert words in found[2]
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize("option", ["--not-below", "--reference-profile"])
def test_a_reference_without_a_profile_is_refused(tmp_path: Path, run: Run, option: str) -> None:
    """Without expected counts there is nothing to compare."""
    code, _, err = run("calibrate", option, "vaccination-v1", "--out", tmp_path / "new.toml")
    assert code == 2
    assert "only with --optimize" in err


def test_a_signed_measure_may_be_below_0_in_a_profile(tmp_path: Path) -> None:
    """Q1 counts user-days of the topic less those of others; a count of people may not be below 0."""
    coverage = Coverage(load_spec("vaccination-v2"), load_geography(little_geography(tmp_path)))
    path = tmp_path / "profile.csv"
    path.write_text(V2_PROFILE, encoding="utf-8")
    assert read_profile(path, coverage).counts["state", None].tolist() == [[20_000, 1_330, 70, -930]]
    path.write_text(V2_PROFILE.replace("1330", "-1330"), encoding="utf-8")
    with pytest.raises(Exception, match="line 3, column U: expected a number from 0 up; got '-1330'"):
        read_profile(path, coverage)
