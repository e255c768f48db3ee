"""docs/worked-example.md: its code runs unchanged, prints what the page shows, and is right about the truth."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.quick_accounting import patch_accounting
from tests.support.worked_example import code_and_output, make_example, run_page


def test_the_worked_example_prints_what_its_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number on the page is that of its code; the truly first county is among those that may be first."""
    patch_accounting(monkeypatch.setattr)
    example = make_example(tmp_path)
    printed = run_page(tmp_path)
    assert printed == code_and_output()[1]
    assert (tmp_path / "ranking.svg").read_text(encoding="utf-8").startswith("<svg")
    order = [example.names[i] for i in np.argsort(-example.shares)]
    assert printed.startswith("Mono County")  # what plain means put first
    assert (order[:2], order.index("Mono County")) == (["Fresno County", "Inyo County"], 6)
    assert "\nFresno County, Inyo County\n" in printed
