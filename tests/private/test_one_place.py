"""With one place a user-day, everything that a user-day counts is counted there, in every measure by at most one.

Every test runs on every engine, some on Spark only by `make thorough`.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st

from search_insights.dp.accounting import cases
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Counts
from tests.support.bounded import Bench, Event, bench, for_all, on_every_engine
from tests.support.one_place import one_place_specs
from tests.support.small_worlds import events_of, small_world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check_one_place(table: Bench, counts: Counts) -> None:
    """Check that a user-day counts in at most one node of each level, as a case of the accounting allows."""
    cells = table.cells
    nodes: defaultdict[str, set[str]] = defaultdict(set)
    changed: Counter[tuple[str, str | None, str]] = Counter()
    for number in np.flatnonzero(counts):
        cell = cells.cells[number]
        nodes[cell.region.level].add(cell.region.place_id)
        changed[cell.region.level, cell.size_class, cell.category] += abs(int(counts[number]))
    assert all(len(found) == 1 for found in nodes.values()), "two regions of one level"
    allowed = [Counter((s.level, s.size_class, s.category) for s in case.sigmas) for case in cases(cells.coverage.spec)]
    assert not changed or any(changed <= case for case in allowed), "no case of the accounting covers it"


@on_every_engine
def test_a_user_day_counts_in_one_place_and_a_case_of_the_accounting_covers_it(
    engine_session: "SparkSession | None",
) -> None:
    """For any spec of one place and any log, a user-day is covered by a case, and users do not affect each other."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(one_place_specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        with bench(coverage, engine_session) as table:
            added = table.cells.zeros()
            for user in {e.user for e in events}:
                alone = table.count([e for e in events if e.user == user])
                check_one_place(table, alone)
                added = added + alone
            np.testing.assert_array_equal(table.count(events), added)

    for_all(engine_session, 60, rule)


def searched_topics(spec: Spec, events: Sequence[Event]) -> set[str]:
    """Return the topics of some searches."""
    return {e.category for e in events if e.category in spec.topics}


def test_each_measure_of_a_user_day_is_what_the_spec_says(engine_session: "SparkSession | None") -> None:
    """At the coarsest level a user-day with a place adds 1, -1 or 0 to each measure, by the topics it searched."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(one_place_specs(), label="spec"))
        events = [e for e in data.draw(events_of(coverage, engine_session), label="events") if e.user == 1]
        with bench(coverage, engine_session) as table:
            counts = table.count(events)
            spec = coverage.spec
            searched = searched_topics(spec, events)
            for i, measure in enumerate(spec.measures):
                every = measure.any_of == (spec.categories[0].id,)
                positive = bool(events) and (every or bool(searched & set(measure.any_of)))
                wanted = 1 if positive else -1 if searched & set(measure.against) else 0
                coarsest = [
                    int(counts[number])
                    for number, cell in enumerate(table.cells.cells)
                    if cell.region.level == spec.level_names[0] and cell.category == measure.id
                ]
                assert sorted(filter(None, coarsest)) in ([], [wanted]), i

    for_all(engine_session, 40, rule)


def test_with_rest_cells_a_region_is_the_sum_of_its_children(engine_session: "SparkSession | None") -> None:
    """For any log, the count of a region with reported children is the sum of theirs and of its rest."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(one_place_specs().filter(lambda s: s.counting.rest_cells), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        with bench(coverage, engine_session) as table:
            shaped = table.count(events).reshape(len(table.cells.nodes), len(coverage.spec.measures))
        sums = np.zeros_like(shaped)
        has_children = np.zeros(len(shaped), dtype=bool)
        below = table.cells.parents >= 0
        np.add.at(sums, table.cells.parents[below], shaped[below])
        has_children[table.cells.parents[below]] = True
        np.testing.assert_array_equal(sums[has_children], shaped[has_children])

    for_all(engine_session, 60, rule)


def test_a_topic_decides_the_place_and_every_level_follows_it() -> None:
    """A person who searches at home and once about vaccination elsewhere counts elsewhere, with everything."""
    coverage = Coverage(load_spec("vaccination-v2"), load_geography())
    with bench(coverage) as table:
        counts = table.cell_counts(
            table.count([Event(1, 0, "zip/94103"), Event(1, 9, "zip/95023", "A2"), Event(1, 20, "zip/94103", None)])
        )
        alone = table.cell_counts(table.count([Event(1, 0, "geoId/06075", "A1"), Event(1, 1, "geoId/06075", "A3")]))
        away = table.cell_counts(table.count([Event(1, 0, "zip/94103"), Event(1, 9, "geoId/35013", "A1")]))
    assert counts == {
        (place, measure): value
        for place in ("geoId/06", "geoId/06069")  # San Benito is small, so it has no postal codes and no rest
        for measure, value in (("A0", 1), ("U", 1), ("Q1", -1), ("Q2", 1))
    }
    assert alone == {
        (place, measure): value
        for place in ("geoId/06", "geoId/06075", "geoId/06075#rest")  # known to its county only
        for measure, value in (("A0", 1), ("U", 1), ("Q1", 1), ("Q2", -1))
    }
    assert {place for place, _ in away} == {"geoId/35", "geoId/35013", "geoId/35013#rest"}  # nothing in California


def test_columns_of_levels_keep_the_hierarchy_exact() -> None:
    """A ZIP that the geography puts into another county than the log's counts in the rest of the log's county."""
    coverage = Coverage(load_spec("vaccination-v2"), load_geography())
    with bench(coverage, levels=("county", "postal_code")) as table:
        same = table.cell_counts(table.count([Event(1, 0, ("06075", "94103"))]))
        other = table.cell_counts(table.count([Event(1, 0, ("06085", "94103"))]))
        state = table.cell_counts(table.count([Event(1, 0, ("06085", None))]))
    assert set(same) == {(place, "A0") for place in ("geoId/06", "geoId/06075", "zip/94103")}
    assert set(other) == set(state) == {(place, "A0") for place in ("geoId/06", "geoId/06085", "geoId/06085#rest")}


@pytest.mark.parametrize("name", ["vaccination-v1", "vaccination-v2"])
def test_every_cell_has_the_sigma_of_a_group_of_the_spec(name: str) -> None:
    """Every cell, also of a rest, has a sigma that the spec gives, so that the accounting covers it."""
    coverage = Coverage(load_spec(name), load_geography())
    known = {(s.level, s.size_class, s.category, s.value) for s in coverage.spec.sigmas}
    found = {(c.region.level, c.size_class, c.category, c.sigma) for c in CellList(coverage).cells}
    assert found == known
