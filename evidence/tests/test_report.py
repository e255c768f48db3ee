"""`python -m evidence`: every part is listed, failures are reported, and the pages are those of the records."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evidence import __main__ as runner
from evidence import durability, privacy
from evidence.measuring import ROOT
from evidence.pages import filled
from evidence.parts import BENCHMARKS, DURABILITY, PARTS, PRIVACY, Part
from evidence.report import PAGE, README, entries, readme_table, report_page

GOOD = """
import json, sys
print("on the way", file=sys.stderr)
print(json.dumps({"showed": "2.0 times", "numbers": 1, "details": [], "broken": []}))
"""
BROKEN = """
import json, sys
print(json.dumps({"showed": "", "numbers": 1, "details": [], "broken": ["a promise"]}))
sys.exit(1)
"""


def names_of(group: str) -> set[str]:
    return {part.name for part in PARTS if part.group == group}


def part_of(name: str) -> Part:
    return Part(name, BENCHMARKS, "nothing much", (), ("--record",), (0.1, 0.2))


TRIAL = tuple(part_of(name) for name in ("broken", "crash", "slow", "good"))


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up a folder with small benchmarks, in which the runner runs and writes its report."""
    modules = tmp_path / "evidence" / "benchmarks"
    modules.mkdir(parents=True)
    (tmp_path / "evidence" / "__init__.py").touch()
    for name, code in {
        "good": GOOD,
        "broken": BROKEN,
        "crash": "import sys; sys.exit(f'gave up on {__file__}')",
        "slow": "import time; time.sleep(600)",
    }.items():
        (modules / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "OUT", tmp_path)
    monkeypatch.setattr(runner, "RECORD", tmp_path / "report.json")
    monkeypatch.setattr(runner, "PARTS", TRIAL)
    monkeypatch.setattr(runner, "entries", dict)
    monkeypatch.setattr(runner, "write_pages", lambda found: None)
    return tmp_path


def test_the_pages_have_the_numbers_of_the_records() -> None:
    """No number of the report is pasted by hand: `python -m evidence.report` would change nothing."""
    found = entries()
    assert PAGE.read_text(encoding="utf-8") == report_page(found)
    page = README.read_text(encoding="utf-8")
    assert filled(page, {"parts": readme_table(found)}) == page


def test_every_benchmark_and_experiment_is_a_part() -> None:
    """A module in benchmarks/ or an experiment that is not listed would never be run."""
    modules = (ROOT / "evidence" / "benchmarks").glob("[!_]*.py")
    assert names_of(BENCHMARKS) == {path.stem for path in modules}
    assert names_of(PRIVACY) == set(privacy.EXPERIMENTS)
    assert names_of(DURABILITY) == set(durability.EXPERIMENTS)


def test_every_file_is_in_the_readme() -> None:
    """The README lists the parts, and every other module and folder here."""
    page = README.read_text(encoding="utf-8")
    files = [*(ROOT / "evidence").glob("*.py"), *(ROOT / "evidence" / "benchmarks").glob("*.py")]
    here = [path.relative_to(ROOT / "evidence").as_posix() for path in files if path.name != "__init__.py"]
    assert [name for name in here if f"({name})" not in page] == []
    assert [part.name for part in PARTS if f"| `{part.name}` |" not in page] == []


def test_a_default_run_keeps_the_recorded_results() -> None:
    """Only the long sizes replace the measurements that the documentation is made from."""
    assert [part.name for part in PARTS if "--record" in part.default] == []
    assert [part.name for part in PARTS if "--record" in part.full] == ["specs", "top_searches", "growth", "peers"]


def test_a_part_that_fails_is_reported_and_the_others_go_on(trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken promise, a crash and a part that exceeds its limit are failures; the exit code is 1."""
    monkeypatch.setattr(Part, "limit", lambda part, full: 1.0 if part.name == "slow" else 60.0)
    assert runner.run_parts(TRIAL, full=False) == 1
    found: dict[str, dict[str, Any]] = json.loads((trial / "report.json").read_text(encoding="utf-8"))
    assert {name: entry["passed"] for name, entry in found.items()} == {
        "good": True,
        "broken": False,
        "crash": False,
        "slow": False,
    }
    assert found["good"]["showed"] == "2.0 times"
    assert found["broken"]["broken"] == ["a promise"]
    assert found["crash"]["broken"] == ["exit code 1: gave up on evidence/benchmarks/crash.py"]
    assert "ended at its limit" in found["slow"]["broken"][0]
    assert (trial / "good.log").read_text(encoding="utf-8") == "on the way\n"


def test_the_report_shows_outcomes_and_no_paths(trial: Path) -> None:
    """A reader sees what was run, for how long and whether it passed; folders of the machine are not shown."""
    assert runner.main(["--only", "good"]) == 0
    entry = json.loads((trial / "report.json").read_text(encoding="utf-8"))["good"]
    assert entry["command"] == "python -m evidence.benchmarks.good"
    assert set(entry["versions"]) == {"Python", "DuckDB", "OpenDP", "dp-accounting", "PySpark"}
    broken = entry | {"passed": False, "broken": ["a promise"]}
    page = report_page({"audits": entry, "kills": broken})
    assert f"2 of {len(PARTS)} parts" in page
    assert "failed: kills" in page
    assert "**FAILED**" in page
    for folder in (str(trial), str(ROOT), sys.prefix):
        assert folder not in page
    assert "not run yet" in "\n".join(readme_table({"audits": entry}))
