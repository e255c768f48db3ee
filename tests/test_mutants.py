"""Broken variants of the program are caught: the tests that guard a rule fail if the rule is removed."""

import re

import pytest

from tests.lab.forked_pytest import ROOT, run_tests
from tests.lab.mutants import MUTANTS, VARIABLE

TABLE = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_variant_is_caught(name: str) -> None:
    """Each test that is listed for a variant fails on it."""
    tests = MUTANTS[name].caught_by
    code, printed = run_tests(tests, {VARIABLE: name})
    assert code == 1, printed
    assert set(re.findall(r"^FAILED (\S+)", printed, re.MULTILINE)) == set(tests)


def test_the_docs_list_every_variant_and_what_catches_it() -> None:
    """The table in docs/privacy.md has a row for each variant, with each of its tests, and no other rows."""
    rows = dict(re.findall(r"^\| ([^|]+?) \| (.*?) \|$", TABLE.split("## Broken variants")[1].split("##")[0], re.M))
    named = {words: set(re.findall(r"`(test_\w+)`", cell)) for words, cell in rows.items() if "`" in cell}
    assert named == {m.words: {re.split(r"::|\[", test)[1] for test in m.caught_by} for m in MUTANTS.values()}


def test_every_test_that_the_docs_name_exists() -> None:
    """Every test that docs/privacy.md names is defined."""
    defined = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(re.findall(r"`(test_\w+)`", TABLE)) <= defined
