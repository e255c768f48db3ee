"""A skipped test says why and what to install, in a line at the end of the run; in CI it fails instead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SKIPPING = """
import pytest

@pytest.fixture(scope="module")
def browser():
    pytest.skip("no browser; install it with apt-get install browser")

@pytest.mark.parametrize("page", range(3))
def test_page(browser, page): ...

def test_disk():
    pytest.skip("no disk; install it with a screwdriver")

def test_that_runs(): ...
"""


def run_pytest(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in its own process."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "src")))
    inherited = {key: value for key, value in os.environ.items() if key not in ("CI", "JAVA_HOME")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=inherited | {"PYTHONPATH": path} | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("processes", [(), ("--numprocesses", "2")], ids=["one process", "xdist"])
def test_each_reason_for_skips_is_one_line_at_the_end(tmp_path: Path, processes: tuple[str, ...]) -> None:
    """Tests that were skipped for the same reason are counted in one line, the most frequent reason first."""
    (tmp_path / "test_skipping.py").write_text(SKIPPING, encoding="utf-8")
    done = run_pytest("-p", "tests.support.skips", "--rootdir", tmp_path, *processes, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-3:-1] == [
        "skipped 3 tests: no browser; install it with apt-get install browser",
        "skipped 1 test: no disk; install it with a screwdriver",
    ]
    assert "1 passed, 4 skipped" in done.stdout.splitlines()[-1]


def test_a_run_without_skips_has_no_such_line(tmp_path: Path) -> None:
    """If nothing was skipped, no line is added."""
    (tmp_path / "test_running.py").write_text("def test_that_runs(): ...\n", encoding="utf-8")
    done = run_pytest("-p", "tests.support.skips", "--rootdir", tmp_path, tmp_path)
    assert (done.returncode, "skipped" in done.stdout) == (0, False), done.stdout + done.stderr


@pytest.mark.parametrize("ci", ["", "true"])
def test_without_java_the_tests_of_spark_are_skipped_or_fail_in_ci(tmp_path: Path, ci: str) -> None:
    """The line names Java and the command that installs it."""
    test = "tests/private/spark/test_session.py::test_an_old_spark_is_refused"
    done = run_pytest("-rf", test, PATH=str(tmp_path), CI=ci)
    words = "no Java found; Spark needs Java 17 or newer; install it with apt-get install default-jre-headless"
    assert done.returncode == (1 if ci else 0), done.stdout + done.stderr
    assert (f"skipped 1 test: {words}" in done.stdout.splitlines()) is not bool(ci)
    assert words in done.stdout
