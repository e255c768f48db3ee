"""Who publishes a release: words of a spec, which may be added and reworded at any time."""

from dataclasses import replace

import pytest

from search_insights.errors import SpecError
from search_insights.spec.changes import differences, kind_of
from search_insights.spec.coverage import Coverage
from search_insights.spec.publisher import Publisher
from search_insights.spec.spec_file import load_spec, parse_spec, spec_toml
from tests.support.publisher import OFFICE


def test_a_publisher_is_no_part_of_the_fingerprint() -> None:
    """The same searches are counted in the same way, whoever publishes them; and a spec is read back as written."""
    for name in ("vaccination-v1", "vaccination-v2"):
        spec = load_spec(name)
        published = replace(spec, publisher=OFFICE)
        assert published.fingerprint == spec.fingerprint
        assert parse_spec(spec_toml(published)) == published


def test_another_publisher_or_other_examples_are_words(coverage: Coverage) -> None:
    """So they apply to all weeks, and begin no edition."""
    spec = coverage.spec
    named = replace(spec, publisher=OFFICE)
    reworded = tuple(replace(c, examples=("something else",)) for c in spec.categories)
    for old, new, key in (
        (spec, named, "publisher.name"),
        (named, replace(named, publisher=replace(OFFICE, contact="press@example.org")), "publisher.contact"),
        (spec, replace(spec, categories=reworded), "categories.A1.examples"),
    ):
        found = differences(Coverage(old, coverage.geography), Coverage(new, coverage.geography))
        assert kind_of(found) == "words"
        assert key in [difference.key for difference in found]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "two\nlines"),
        ("kind", "Club"),
        ("contact", "call us"),
        ("contact", 'https://example.org/"><script>'),
        ("address", "javascript:alert(1)"),
        ("license", "Creative Commons"),
        ("license_address", "example.org"),
        ("sector", "Weather"),
        ("authors", ()),
        ("authors", ("\x1b[31m",)),
    ],
)
def test_what_readers_could_not_use_is_refused(key: str, value: object) -> None:
    """The error names the key."""
    with pytest.raises(SpecError, match=f"publisher.{key}"):
        replace(OFFICE, **{key: value})  # type: ignore[arg-type]


def test_an_address_of_a_licence_needs_the_licence() -> None:
    """An address alone does not say what is allowed."""
    with pytest.raises(SpecError, match=r"publisher\.license"):
        Publisher("Office", "Government", "a@example.org", "To know.", license_address="https://example.org")
