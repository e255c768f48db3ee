"""Fixtures of the tests of the weekly routine."""

from pathlib import Path

import pytest

from tests.support.command_line import Run
from tests.support.weekly import Weekly, new_weekly


@pytest.fixture
def weekly(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, quick_accounting: None) -> Weekly:
    """A publisher of Qazaria with an empty log and no settings yet, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return new_weekly(tmp_path, run)
