"""Run a few tests in a process forked from the fork server, which has loaded pytest and the program already."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab.fork_server import start_forked

ROOT = Path(__file__).parents[2]


def run_tests(tests: Sequence[str], environment: Mapping[str, str]) -> tuple[int | None, str]:
    """Run tests with more environment variables; return the exit code and what pytest prints, without tracebacks."""
    with tempfile.TemporaryDirectory(prefix="pytest-") as folder:
        output = Path(folder) / "output.txt"
        process = start_forked(_run, list(tests), dict(environment), output)
        process.join(300)
        code = process.exitcode
        process.kill()
        return code, output.read_text(errors="replace")


def _run(tests: list[str], environment: dict[str, str], output: Path) -> None:
    import pytest

    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.environ.update(environment)
    os.chdir(ROOT)
    code = pytest.main(["-rf", "--tb=line", "--assert=plain", "-p", "no:cacheprovider", *tests])
    os._exit(code)  # nothing of the server's is to be closed
