"""Tests that cannot run on this machine: skipped with a line at the end that says what to install, or failed in CI."""

import os
from collections import Counter
from typing import NoReturn

import pytest


def skip_or_fail(lack: str, install: str) -> NoReturn:
    """Skip the test because of what the machine lacks; in CI, which must have everything, fail it."""
    reason = f"{lack}; install it with {install}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each reason why tests were skipped."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"skipped {number} test{'s' if number > 1 else ''}: {reason}", yellow=True)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason that was given to `pytest.skip`."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")
