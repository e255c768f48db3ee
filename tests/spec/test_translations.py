"""A spec may say what it is called in other languages; these are words, of which its fingerprint knows nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import SpecError
from search_insights.spec.changes import derived_spec, differences, kind_of
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec, parse_spec, spec_toml
from search_insights.spec.translations import Translation

LINES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1).map(lambda text: f"a {text}")


def in_italian(spec: Spec, *words: tuple[str, str]) -> Spec:
    """Return a spec with words of one more language."""
    return replace(spec, translations=(*spec.translations, Translation("it", words)))


def test_words_do_not_change_the_fingerprint() -> None:
    """Stores that were made before there were translations belong to the packaged spec."""
    spec = load_spec()
    assert [each.language for each in spec.translations] == ["fr", "es", "de"]
    assert replace(spec, translations=()).fingerprint == spec.fingerprint


@given(LINES, LINES)
def test_words_are_read_back_as_they_were_written(title: str, level: str) -> None:
    """Whatever characters they have."""
    spec = in_italian(
        load_spec(), ("title", title), ("level.county", level), ("definition.A1", f"{title}\N{NO-BREAK SPACE}:")
    )
    assert parse_spec(spec_toml(spec)) == spec


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ('[translation.it]\ntrend.C9 = "x"', "translation.it.trend.C9"),
        ('[translation.it]\nlevel.village = "x"', "translation.it.level.village"),
        ('[translation.it]\ntitle = ""', "translation.it.title"),
        ('[translation.it]\ntitle = "a\\nb"', "translation.it.title"),
        ("[translation.it]\ntitle = 7", "translation.it.title"),
        ('[translation.it]\nheading = "x"', "translation.it.heading"),
        ('[translation.it-IT]\ntitle = "x"', "translation.it-IT"),
        ('[translation]\nit = "x"', "translation.it"),
    ],
)
def test_words_of_what_a_spec_does_not_have_are_refused(table: str, wrong: str) -> None:
    """A misspelled id would be a title that nobody sees; the error names the key."""
    text = spec_toml(replace(load_spec(), translations=()))
    with pytest.raises(SpecError) as refused:
        parse_spec(f"{text}\n{table}\n")
    assert [problem.key for problem in refused.value.problems] == [wrong]


def test_other_words_are_a_change_of_words(us_coverage: Coverage) -> None:
    """A new or reworded translation begins no edition, and earlier weeks are shown with it."""
    spec = us_coverage.spec
    new = in_italian(spec, ("title", "Tendenze"))
    found = differences(us_coverage, Coverage(new, us_coverage.geography))
    assert [(each.key, each.old, each.new) for each in found] == [("translation.it.title", "", "Tendenze")]
    assert kind_of(found) == "words"
    renamed = replace(new, title="Renamed")
    assert derived_spec(spec, renamed).translations == renamed.translations


def test_a_spec_without_a_trend_has_no_words_for_it() -> None:
    """Whoever takes a part of a spec need not think of its words."""
    spec = load_spec()
    part = replace(spec, trends=spec.trends[:1])
    assert all("trend.C2" not in dict(each.words) for each in part.translations)
    assert parse_spec(spec_toml(part)) == part
