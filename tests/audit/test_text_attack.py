"""The audit attacks top searches: a unique text, one at the floor, one at the threshold, and public ones."""

from dataclasses import replace

import pytest

from search_insights.audit.audit import _audit_known_text
from search_insights.audit.text_attack import audit_threshold, text_neighbours
from search_insights.dp.accounting import Case, epsilon_of, sigmas_of_texts
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.top_searches import TopSearches
from tests.support.logs import little_geography

# A threshold so near that a new text of the floor's users is shown now and then.
NEAR = TopSearches(1, "users", 9, 4.0, 15, 2.0, 0, "vaccination")
CONFIDENCE = 1 - 1e-7


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """vaccination-v2 with a near threshold, in the little country."""
    spec = replace(load_spec("vaccination-v2"), top_searches=NEAR)
    return Coverage(spec, load_geography(little_geography(tmp_path_factory.mktemp("texts"))))


def test_top_searches_are_attacked_and_nothing_is_broken(coverage: Coverage) -> None:
    """Every finding holds, and a user-day changes one public text by 1, in all and in one region."""
    texts = text_neighbours(coverage)
    findings = [*texts.findings(NEAR), *audit_threshold(NEAR, 20_000)]
    assert len(findings) == 6
    assert all(finding.holds for finding in findings), findings
    difference = texts.difference(coverage)
    assert (difference.with_it - difference.without).tolist() == [1, 1]
    assert difference.sigmas.tolist() == [NEAR.total_sigma, NEAR.region_sigma]


def test_the_attack_on_a_known_text_nearly_reaches_what_is_accounted(coverage: Coverage) -> None:
    """The mechanism itself is drawn; the bound is below the accounted epsilon of texts alone, and close to it."""
    found = _audit_known_text(coverage, text_neighbours(coverage), 18_000, CONFIDENCE, lambda text: None)
    upper = epsilon_of(Case("texts", sigmas_of_texts(coverage.spec)), coverage.spec.promise.delta)
    assert found.as_accounted
    assert found.cells_changed == 2
    assert 0.8 * upper < found.epsilon_lower <= found.epsilon_upper == upper
