"""Definitions of topics: words for readers, of which the fingerprint of a spec knows nothing."""

from dataclasses import replace

import pytest

from search_insights.errors import SpecError
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec, parse_spec, spec_toml

PACKAGED = "6f2df9b78fcc2e9a67152ce575b2682b4434fbdd9d29427a266c09a27c0cd392"


def reworded(spec: Spec, definition: str | None) -> Spec:
    categories = tuple(replace(category, definition=definition) for category in spec.categories)
    return replace(spec, categories=categories)


def test_the_fingerprint_of_the_packaged_spec_stays() -> None:
    """Stores that were made before there were definitions belong to the packaged spec."""
    assert load_spec().fingerprint == PACKAGED
    assert all(category.definition for category in load_spec().categories)


def test_words_may_change_without_changing_the_spec() -> None:
    """Another definition, or none, has the same fingerprint, and is read back as it was written."""
    for words in (None, "Something else."):
        other = reworded(load_spec(), words)
        assert other.fingerprint == PACKAGED
        assert parse_spec(spec_toml(other)) == other


@pytest.mark.parametrize("words", ["", " ", "two\nlines", "\x1b[31m"])
def test_a_definition_is_one_line(words: str) -> None:
    """It is shown in pages and tables."""
    with pytest.raises(SpecError, match="definition"):
        reworded(load_spec(), words)
