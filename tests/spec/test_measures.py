"""Measures say what a user-day adds to a count; a spec that counts in a way nobody can account for is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import SpecError
from search_insights.spec import measures
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.measures import Measure
from search_insights.spec.spec import Category, Spec
from search_insights.spec.spec_file import load_spec, parse_spec, spec_toml
from tests.support.one_place import one_place_specs
from tests.support.packaged_spec import PACKAGED_V2

V1_FINGERPRINT = "6f2df9b78fcc2e9a67152ce575b2682b4434fbdd9d29427a266c09a27c0cd392"


def values(given: tuple[Measure, ...], *searched: int) -> list[list[int]]:
    """Return what user-days add, from the bits of A1, A2 and A3 that they searched."""
    found: list[list[int]] = measures.measure_values(given, ("A1", "A2", "A3"), np.array(searched)).tolist()
    return found


def test_a_user_day_adds_to_each_measure_what_the_table_says() -> None:
    """Every search; any topic; and a topic against the others: 1 if it was searched, -1 if only others were, else 0."""
    given = load_spec("vaccination-v2").measures
    assert [m.id for m in given] == ["A0", "U", "Q1", "Q2"]
    nothing, a1, a2, a3, a1_a2, a2_a3, all_three = 0b000, 0b001, 0b010, 0b100, 0b011, 0b110, 0b111
    assert values(given, nothing, a1, a2, a3, a1_a2, a2_a3, all_three) == [
        [1, 0, 0, 0],
        [1, 1, 1, -1],
        [1, 1, -1, 1],
        [1, 1, -1, -1],
        [1, 1, 1, 1],
        [1, 1, -1, 1],
        [1, 1, 1, 1],
    ]


def test_half_the_sum_of_a_union_and_a_sign_is_the_topic_itself() -> None:
    """C1 = (U + Q1) / 2 is 1 for a user-day that searched A1 and 0 for every other; C2 likewise."""
    found = np.array(values(load_spec("vaccination-v2").measures, *range(8)))
    searched = np.arange(8)
    np.testing.assert_array_equal((found[:, 1] + found[:, 2]) / 2, (searched & 1) > 0)
    np.testing.assert_array_equal((found[:, 1] + found[:, 3]) / 2, (searched & 2) > 0)


@given(spec=one_place_specs(), searched=st.integers(0, 2**30 - 1))
def test_a_measure_is_never_beyond_1(spec: Spec, searched: int) -> None:
    """Whatever was searched, unknown categories too, a user-day changes each measure by at most 1 (X2)."""
    found = measures.measure_values(spec.measures, spec.topics, np.array([searched, searched | 1 << 30]))
    assert np.abs(found).max() <= 1
    assert (found[:, 0] == 1).all()


# What is wrong, what it is changed to, and the line that says so.
WRONG = {
    "no such place": ('place = "one"', 'place = "two"', "counting.place", "one of by_category, one", "'two'"),
    "rest cells without one place": (
        'place = "one"',
        'place = "by_category"',
        "counting.rest_cells",
        "true only with counting.place 'one'",
        "true",
    ),
    "measures without one place": (
        'place = "one"',
        'place = "by_category"',
        "measure",
        "only with counting.place 'one'",
        "'by_category'",
    ),
    "reconciled without rest cells": (
        "rest_cells = true",
        "rest_cells = false",
        "counting.reconcile",
        "true only with counting.rest_cells",
        "true",
    ),
    "number for place": ('place = "one"', "place = 1", "counting.place", "text", "1"),
    "text for true": ("reconcile = true", 'reconcile = "yes"', "counting.reconcile", "true or false", "'yes'"),
    "unknown key of counting": (
        "reconcile = true",
        "reconciled = true",
        "counting.reconciled",
        "one of place,",
        "an unknown",
    ),
    "a measure twice": ('id = "Q2"\nany_of', 'id = "q1"\nany_of', "measure.id", "each only once", "'q1' twice"),
    "no word": ('id = "Q2"\nany_of', 'id = "Q 2"\nany_of', "measure.id", "a word of", "'Q 2'"),
    "topics first": (
        'id = "A0"\nany_of = ["A0"]',
        'id = "A0"\nany_of = ["A1"]',
        "measure 'A0'",
        "every search first: any_of = ['A0']",
        "others",
    ),
    "every search again": ('any_of = ["A1"]\n', 'any_of = ["A0"]\n', "measure 'Q1'", "one of A1, A2, A3", "'A0'"),
    "no such topic": ('against = ["A2", "A3"]', 'against = ["A4"]', "measure 'Q1'", "one of A1, A2, A3", "'A4'"),
    "for and against": ('against = ["A2", "A3"]', 'against = ["A1"]', "measure 'Q1'", "each only once", "'A1' twice"),
    "nothing to count": ('any_of = ["A1"]\n', "any_of = []\n", "measure 'Q1'.any_of", "at least one category", "none"),
    "text for topics": ('any_of = ["A1"]\n', 'any_of = "A1"\n', "measure[2].any_of", "a list of texts", "'A1'"),
    "no id": ('id = "Q1"\n', "", "measure[2].id", "a value", "nothing"),
    "a trend of a category": ('sum_of = ["U"]', 'sum_of = ["A1"]', "trend 'C3'.sum_of", "one of U, Q1, Q2", "'A1'"),
    "too few weights": (
        'sum_of = ["U"]',
        'sum_of = ["U"]\nweights = []',
        "trend 'C3'.weights",
        "a number for each",
        "[]",
    ),
    "weight 0": (
        'sum_of = ["U"]',
        'sum_of = ["U"]\nweights = [0]',
        "trend 'C3'.weights",
        "not 0, at most 1,000",
        "[0.0]",
    ),
    "weight nan": ('sum_of = ["U"]', 'sum_of = ["U"]\nweights = [nan]', "trend 'C3'.weights", "not 0", "[nan]"),
    "weight too large": (
        'sum_of = ["U"]',
        'sum_of = ["U"]\nweights = [-1e4]',
        "trend 'C3'.weights",
        "at most 1,000",
        "[-10000.0]",
    ),
    "text for weights": (
        'sum_of = ["U"]',
        'sum_of = ["U"]\nweights = ["1"]',
        "trend[0].weights",
        "a list of numbers",
        "a list",
    ),
    "no sigma of a measure": ("U = 30.5\n", "", "sigma.state.U", "a standard deviation", "nothing"),
    "sigma of a category": ("U = 30.5\n", "U = 30.5\nA1 = 30.0\n", "sigma.state.A1", "no such key", "a value"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_spec_that_counts_wrongly_is_refused(name: str) -> None:
    """Each wrong value is told in one line with its key, what is expected and what was found."""
    old, new, key, expected, got = WRONG[name]
    assert PACKAGED_V2.count(old) == 1
    with pytest.raises(SpecError) as refused:
        parse_spec(PACKAGED_V2.replace(old, new))
    (problem,) = [p for p in refused.value.problems if p.key == key]
    assert expected in problem.expected
    assert got in str(problem.got)


def test_all_that_is_wrong_with_the_counting_is_told_at_once() -> None:
    """One run of the program is enough to find all of it."""
    text = PACKAGED_V2.replace('place = "one"', 'place = "two"').replace("rest_cells = true", "rest_cells = false")
    with pytest.raises(SpecError) as refused:
        parse_spec(text.replace("weights = [0.5, 0.5]", "weights = [0.5]"))
    keys = [problem.key for problem in refused.value.problems]
    assert sorted(keys) == sorted(
        ["trend 'C1'.weights", "trend 'C2'.weights", "counting.place", "measure", "counting.reconcile"]
    )


def test_one_place_may_count_at_most_30_topics() -> None:
    """The topics of a user-day are bits of a number."""
    topics = tuple(Category(f"T{i}", f"topic{i}") for i in range(31))
    spec = load_spec("vaccination-v2")
    with pytest.raises(SpecError, match="key 'category': expected at most 30 topics in one place, got 34"):
        replace(spec, categories=(*spec.categories, *topics))


def test_the_papers_spec_is_the_same_to_the_byte(paper: Spec) -> None:
    """Measures came later: the text, the fingerprint and the cells of vaccination-v1 are those of before."""
    assert paper.fingerprint == V1_FINGERPRINT
    assert spec_toml(paper).count("measure") == spec_toml(paper).count("counting") == 0
    assert [(m.id, m.any_of, m.against) for m in paper.measures] == [(c.id, (c.id,), ()) for c in paper.categories]
    cells = CellList(Coverage(paper, load_geography()))
    assert cells.rests == ()
    assert len(cells.cells) == 4 * len(cells.regions)


def test_vaccination_v2_promises_and_publishes_what_v1_does(paper: Spec) -> None:
    """It differs only in how it counts: promise, columns, levels and the rules of publication are the same."""
    other = load_spec("vaccination-v2")
    same = ("promise", "categories", "levels", "total", "size_classes", "reliability", "sparsity", "scaling", "dataset")
    assert all(getattr(other, field) == getattr(paper, field) for field in same)
    assert [(t.id, t.column) for t in other.trends] == [(t.id, t.column) for t in paper.trends]


def test_the_text_of_a_spec_with_measures_reads_back_as_the_same() -> None:
    """A store keeps that text."""
    spec = load_spec("vaccination-v2")
    assert parse_spec(spec_toml(spec)) == spec
