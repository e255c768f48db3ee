"""The pages about the packaged specs show what the evidence computes."""

import pytest

from evidence.benchmarks.specs import sigmas_of
from evidence.hidden_parts import HIDDEN, epsilon_of_hidden, table
from evidence.measuring import ROOT, read_record
from evidence.pages import filled
from evidence.specs_tables import pages
from evidence.top_searches_tables import PAGE, blocks
from search_insights.dp.accounting import account
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec

PRIVACY = ROOT / "docs" / "privacy.md"


def test_the_privacy_page_has_the_table_of_hidden_parts() -> None:
    """What hiding a part of a day costs is computed, not quoted: `python -m evidence.hidden_parts --write`."""
    page = PRIVACY.read_text(encoding="utf-8")
    assert filled(page, {"hidden parts": table()}) == page


@pytest.mark.parametrize("name", PACKAGED_SPECS)
def test_hiding_the_whole_day_costs_what_the_accounting_says(name: str) -> None:
    """The same computation, for the whole day, gives the accounted epsilon, rounded up a little."""
    spec = load_spec(name)
    assert account(spec).epsilon <= epsilon_of_hidden(spec, HIDDEN[0]) < account(spec).epsilon + 0.002


def test_the_pages_about_specs_have_the_numbers_of_the_records() -> None:
    """`python -m evidence.benchmarks.specs --record` and `python -m evidence.specs_tables` write them."""
    for path, of_page in pages(read_record("specs")).items():
        page = path.read_text(encoding="utf-8")
        assert filled(page, of_page) == page


def test_the_page_about_top_searches_has_the_numbers_of_the_records() -> None:
    """`python -m evidence --only top_searches --full` and `python -m evidence.top_searches_tables` write them."""
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page, blocks(read_record("top_searches"))) == page


@pytest.mark.parametrize("name", PACKAGED_SPECS)
def test_the_record_of_both_specs_was_made_with_the_packaged_sigmas(name: str) -> None:
    """A spec whose sigmas change has to be measured again before the pages may show its numbers."""
    assert read_record("specs")["sigmas"][name] == sigmas_of(name)
