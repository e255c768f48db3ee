"""The section of top searches is checked, and a spec without it is what it was."""

import dataclasses
from typing import Any

import pytest

from search_insights.errors import SpecError
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec, parse_spec, spec_toml
from search_insights.spec.top_searches import TopSearches
from tests.support.packaged_spec import PACKAGED_V2
from tests.support.top_searches import SMALL, with_top_searches

V1 = "6f2df9b78fcc2e9a67152ce575b2682b4434fbdd9d29427a266c09a27c0cd392"


def test_a_spec_without_top_searches_keeps_its_fingerprint(paper: Spec) -> None:
    """vaccination-v1 has none, and its stores know it by this."""
    assert paper.top_searches is None
    assert paper.fingerprint == V1


def test_top_searches_are_part_of_the_fingerprint(paper: Spec) -> None:
    """Every number of the mechanism identifies the release."""
    seen = {paper.fingerprint, with_top_searches(paper).fingerprint}
    others: dict[str, Any] = dict(
        min_users=5, total_sigma=2.5, total_threshold=13, region_sigma=2.0, region_shown_from=6, vocabulary="other"
    )
    for key, value in others.items():
        seen.add(with_top_searches(paper, dataclasses.replace(SMALL, **{key: value})).fingerprint)
    assert len(seen) == 2 + len(others)


def test_the_packaged_numbers_are_those_of_the_design() -> None:
    """Country sigma 30, threshold 157, 20 users; states sigma 10, shown from 40."""
    assert load_spec("vaccination-v2").top_searches == TopSearches(1, "users", 20, 30.0, 157, 10.0, 40, "vaccination")


def test_a_spec_with_top_searches_reads_back_as_the_same(paper: Spec) -> None:
    """Also one that fixes its vocabulary."""
    spec = with_top_searches(paper, dataclasses.replace(SMALL, vocabulary_fingerprint="0a" * 32))
    assert parse_spec(spec_toml(spec)) == spec


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("texts_per_user_day = 1", "texts_per_user_day = 2", "texts_per_user_day", "1"),
        ('unit = "users"', 'unit = "user-days"', "unit", "one of users"),
        ("min_users = 20", "min_users = 0", "min_users", "1 or more"),
        ("min_users = 20", "min_users = 20.0", "min_users", "a whole number"),
        ("total_sigma = 30.0", "total_sigma = 0.0", "total_sigma", "a number from 0.1 to 100,000"),
        ("total_sigma = 30.0", "total_sigma = nan", "total_sigma", "a number from 0.1 to 100,000"),
        ("total_threshold = 157", "total_threshold = 19", "total_threshold", "at least min_users (20)"),
        ("region_sigma = 10.0", "region_sigma = inf", "region_sigma", "a number from 0.1 to 100,000"),
        ("region_shown_from = 40", "region_shown_from = -1", "region_shown_from", "0 or more"),
        ('vocabulary = "vaccination"', 'vocabulary = " "', "vocabulary", "text on one line"),
        (
            'vocabulary = "vaccination"',
            'vocabulary = "a.csv"\nvocabulary_fingerprint = "0A"',
            "vocabulary_fingerprint",
            "a SHA-256: 64 digits from 0 to f",
        ),
        ("min_users = 20\n", "", "min_users", "a value"),
        ("min_users = 20\n", "min_users = 20\nfloor = 20\n", "floor", "one of texts_per_user_day, "),
    ],
)
def test_a_wrong_number_of_top_searches_is_told_with_its_key(old: str, new: str, key: str, expected: str) -> None:
    """One problem, with the key, and what is expected there."""
    assert PACKAGED_V2.count(old) == 1
    with pytest.raises(SpecError) as refused:
        parse_spec(PACKAGED_V2.replace(old, new))
    (problem,) = refused.value.problems
    assert problem.key == f"top_searches.{key}"
    assert problem.expected.startswith(expected)
