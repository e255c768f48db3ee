"""`privacy` shows the accounting of a release, and whether its promise holds."""

import json
from pathlib import Path

from tests.support.command_line import Run
from tests.support.other_country import OTHER_SPEC, other_spec_file


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
