"""`privacy` shows the accounting of a release, and whether its promise holds."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import Run
from tests.support.other_country import OTHER_SPEC, PLAIN_SPEC, other_spec_file
from tests.support.packaged_spec import PACKAGED_V2


def test_privacy_prints_every_case_as_json(run: Run) -> None:
    """The JSON has the promise, whether it holds, and each case with its name, epsilon, delta and sigmas."""
    code, out, err = run("privacy", "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["promise"] == {"epsilon": 2.19, "delta": 1e-5}
    assert answer["holds"] is True
    assert {c["name"]: len(c["sigmas"]) for c in answer["cases"]} == {
        "large": 12,
        "medium": 12,
        "small": 8,
        "state_only": 4,
    }
    assert all(0 < c["epsilon"] <= 2.19 and c["delta"] == 1e-5 for c in answer["cases"])


def test_privacy_accounts_for_vaccination_v2(run: Run) -> None:
    """Each case has its rest cells and a text, new or known, and the worst keeps the same promise as v1's."""
    code, out, _ = run("privacy", "--spec", "vaccination-v2", "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["promise"], answer["holds"]) == ({"epsilon": 2.19, "delta": 1e-5}, True)
    found = {case["name"]: (round(case["epsilon"], 4), len(case["mechanisms"])) for case in answer["cases"]}
    assert found == {
        "small, new text": (2.1778, 8),
        "small, known text": (2.1849, 10),
        "medium, new text": (2.1783, 12),
        "medium, known text": (2.1854, 14),
        "large, new text": (2.1802, 12),
        "large, known text": (2.1873, 14),
        "state_only, new text": (2.1778, 8),
        "state_only, known text": (2.1849, 10),
    }
    chances = {case["name"].split(", ")[1]: case["chance_of_new_text"] for case in answer["cases"]}
    assert chances == {"new text": pytest.approx(2.6796e-6, rel=1e-4), "known text": 0}


def test_privacy_tells_of_a_threshold_that_leaves_no_epsilon(run: Run, tmp_path: Path) -> None:
    """A new text that shows more often than delta allows has no epsilon: JSON says null, and the exit code is 1."""
    path = tmp_path / "near.toml"
    path.write_text(PACKAGED_V2.replace("total_threshold = 157", "total_threshold = 100"), encoding="utf-8")
    code, out, _ = run("privacy", "--spec", path, "--json")
    answer = json.loads(out, parse_constant=pytest.fail)
    assert (code, answer["holds"]) == (1, False)
    assert [case["epsilon"] is None for case in answer["cases"]] == [True, False] * 4
    assert answer["not_promised"]["user_active_on_7_days"]["epsilon"] is None
    code, out, _ = run("privacy", "--spec", path)
    assert "The promise DOES NOT HOLD: the worst case gives inf" in out


def test_privacy_shows_any_spec(run: Run, tmp_path: Path) -> None:
    """The accounting of another release has that release's classes and promise."""
    code, out, _ = run("privacy", "--spec", other_spec_file(tmp_path))
    assert code == 0
    assert all(word in out for word in ("heating-v2", "rural", "urban", "province_only", "The promise holds"))


def test_privacy_exits_with_1_if_the_promise_does_not_hold(run: Run, tmp_path: Path) -> None:
    """A broken promise is a failed check: the whole accounting is shown, and the exit code is 1."""
    path = tmp_path / "bold.toml"
    path.write_text(OTHER_SPEC.replace("epsilon = 3.0", "epsilon = 1.0"), encoding="utf-8")
    code, out, _ = run("privacy", "--spec", path)
    assert code == 1
    assert "The promise DOES NOT HOLD" in out
    code, out, _ = run("privacy", "--spec", path, "--json")
    assert (code, json.loads(out)["holds"]) == (1, False)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("any = 90", "any = 1e-200", "key 'sigma.province.any': expected a number from 0.1 to 100,000, got 1e-200"),
        ("any = 90", "any = 1e-12", "key 'sigma.province.any': expected a number from 0.1 to 100,000, got 1e-12"),
        ("any = 90", "any = 1e300", "key 'sigma.province.any': expected a number from 0.1 to 100,000, got 1e+300"),
        ("any = 90", "any = inf", "key 'sigma.province.any': expected a number from 0.1 to 100,000, got inf"),
        ("any = 90", "any = nan", "key 'sigma.province.any': expected a number from 0.1 to 100,000, got nan"),
        ("epsilon = 1.0", "epsilon = 1e-300", "key 'promise.epsilon': expected a number from 0.001 to 100, got 1e-300"),
        ("epsilon = 1.0", "epsilon = 1e6", "key 'promise.epsilon': expected a number from 0.001 to 100, got 1000000.0"),
        ("delta = 1e-7", "delta = 1e-300", "key 'promise.delta': expected a number from 1e-10 to 0.1, got 1e-300"),
        ("delta = 1e-7", "delta = 0.999999", "key 'promise.delta': expected a number from 1e-10 to 0.1, got 0.999999"),
    ],
)
def test_privacy_refuses_what_it_cannot_account_for(run: Run, tmp_path: Path, old: str, new: str, words: str) -> None:
    """A sigma, epsilon or delta beyond the limits of the accounting is bad input: one line, exit code 2."""
    path = tmp_path / "extreme.toml"
    path.write_text(PLAIN_SPEC.replace(old, new), encoding="utf-8")
    code, out, err = run("privacy", "--spec", path)
    assert (code, out) == (2, "")
    assert err.strip().endswith(words)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("sigma", [0.1, 0.11, 1.0, 100_000.0])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.001, 0.1), (100.0, 1e-10)])
def test_privacy_accounts_for_all_within_the_limits(
    run: Run, tmp_path: Path, sigma: float, epsilon: float, delta: float
) -> None:
    """At the limits themselves the accounting says how much the noise gives, in numbers that JSON has."""
    path = tmp_path / "extreme.toml"
    text = PLAIN_SPEC.replace("any = 90", f"any = {sigma}").replace("tea = 8", f"tea = {sigma}")
    path.write_text(
        text.replace("epsilon = 1.0", f"epsilon = {epsilon}").replace("delta = 1e-7", f"delta = {delta}"),
        encoding="utf-8",
    )
    code, out, err = run("privacy", "--spec", path, "--json")
    answer = json.loads(out, parse_constant=pytest.fail)
    assert (code, err) == (0 if answer["holds"] else 1, "")
    (case,) = answer["cases"]
    assert answer["holds"] == (case["epsilon"] <= epsilon)
    least = sum(s**-2 for s in case["sigmas"]) / 2 if sigma < 0.12 else 0
    assert least * 0.99 <= case["epsilon"] <= answer["not_promised"]["user_active_on_7_days"]["epsilon"]
