"""Bounding keeps X1 to X4 for any log, draws fairly, and handles each user independently of all others.

Every test runs on every engine, some on Spark only by `make thorough`.
"""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from search_insights.private.counting import add_contributions
from search_insights.private.engine import Contributions, Unplaced
from search_insights.private.spark.session import private_session
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts
from tests.support.bounded import DAY, Bench, Event, bench, for_all, on_every_engine
from tests.support.other_country import specs
from tests.support.small_worlds import events_of, small_world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def paper_bench(us_coverage: Coverage, engine_session: "SparkSession | None") -> Iterator[Bench]:
    """The packaged release, on Spark with views of its own, which no other test replaces."""
    with bench(us_coverage, engine_session and private_session(engine_session)) as ready:
        yield ready


def check_bounds(coverage: Coverage, table: Bench, counts: Counts) -> None:
    """Check that the counts of one user's day keep X1 to X4."""
    assert counts.min(initial=0) >= 0
    assert counts.max(initial=0) <= 1, "X2: a count grew by more than one"
    seen: Counter[tuple[str, str]] = Counter()
    classes = set()
    for place_id, category in table.cell_counts(counts):
        region = coverage.geography.by_place_id[place_id]
        standing = coverage.standings[place_id]
        seen[region.level, category] += 1
        assert standing.reported, "X3, minimum area: an unreported region was counted"
        assert (region.level, standing.size_class) in coverage.spec.reported_groups, "X3"
        if region.level in coverage.spec.classed_levels:
            classes.add(standing.size_class)
    assert all(n <= 1 for n in seen.values()), "X1: two counts at one level and category"
    assert len(classes) <= 1, "X4: counts of two size classes"


@on_every_engine
def test_every_user_day_keeps_x1_to_x4_and_counts_add_up_user_by_user(engine_session: "SparkSession | None") -> None:
    """For any spec and log, each user's counts keep X1 to X4, and the counts of all users are the sum over users.

    The second half is about neighbouring logs: adding or removing a user-day changes the counts by exactly that
    user-day's own, and no user's choice depends on the events of others.
    """

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        with bench(coverage, engine_session) as table:
            alone = coverage_sum = table.cells.zeros()
            for user in {e.user for e in events}:
                alone = table.count([e for e in events if e.user == user])
                check_bounds(coverage, table, alone)
                coverage_sum = coverage_sum + alone
            np.testing.assert_array_equal(table.count(events), coverage_sum)

    for_all(engine_session, 60, rule)


def test_a_contribution_is_one_of_the_users_own_searches(engine_session: "SparkSession | None") -> None:
    """A user is counted for a category only in a region where that user searched that category."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        places = {region.place_id: i for i, region in enumerate(coverage.geography.regions)}
        ids = [c.id for c in coverage.spec.categories]
        made = {(e.user, ids.index(e.category or ids[0]), places[str(e.region)]) for e in events}
        made |= {(user, 0, region) for user, _, region in made}
        with bench(coverage, engine_session) as table:
            table.count(events)
            for kept in table.kept():
                assert (kept.user, kept.category, kept.open_region) in made
                for region in (kept.classed_region, kept.finest_region):
                    assert region is None or (kept.user, kept.category, region) in made

    for_all(engine_session, 25, rule)


def test_a_reported_postal_code_is_not_lost_to_a_search_known_to_its_county(
    engine_session: "SparkSession | None",
) -> None:
    """A category counts at the finest level if one of its searches of the chosen class can be counted there.

    For any search, which prefers a reported region of any class, that is so unless there are some of other classes.
    """

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        regions, ids = coverage.geography.regions, [c.id for c in coverage.spec.categories]
        finest = coverage.spec.classed_levels[-1:]
        standings = {r.place_id: coverage.standings[r.place_id] for r in regions}
        countable = {r.place_id for r in regions if r.level in finest and standings[r.place_id].reported}
        with bench(coverage, engine_session) as table:
            table.count(events)
            for kept in (k for k in table.kept() if k.classed_region is not None):
                chosen = standings[regions[kept.classed_region or 0].place_id].size_class
                own = [e for e in events if e.user == kept.user and str(e.region) in countable]
                own = [e for e in own if kept.category in (0, ids.index(e.category or ids[0]))]
                classes = {standings[str(e.region)].size_class for e in own}
                if classes == {chosen} or (kept.category > 0 and chosen in classes):
                    assert kept.finest_region is not None
                    assert regions[kept.finest_region].place_id in countable

    for_all(engine_session, 40, rule)


def test_every_category_of_a_user_is_counted_at_open_levels(engine_session: "SparkSession | None") -> None:
    """Bounding drops no more than it must: each category that a user searched counts once at open levels."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        ids = [c.id for c in coverage.spec.categories]
        searched = {(e.user, ids.index(e.category or ids[0])) for e in events} | {(e.user, 0) for e in events}
        with bench(coverage, engine_session) as table:
            table.count(events)
            kept = [(k.user, k.category) for k in table.kept()]
        assert len(kept) == len(set(kept)), "X1, X2: one row for a user and category"
        assert set(kept) == searched

    for_all(engine_session, 25, rule)


@on_every_engine
def test_order_and_repetition_of_events_do_not_matter(engine_session: "SparkSession | None") -> None:
    """The same searches in another order, or repeated, give the same counts."""

    def rule(data: st.DataObject) -> None:
        coverage = small_world(data.draw(specs(), label="spec"))
        events = data.draw(events_of(coverage, engine_session), label="events")
        shuffled = data.draw(st.permutations(events * 2))
        with bench(coverage, engine_session) as table:
            np.testing.assert_array_equal(table.count(events), table.count(shuffled))

    for_all(engine_session, 25, rule)


PAPER_EVENTS = (Event(1, 0, "94103"), Event(1, 60, "95023", "A2"))


def test_the_papers_example_keeps_every_constraint(paper_bench: Bench, us_coverage: Coverage) -> None:
    """For the paper's user of March 9th the class of the vaccination search is chosen, and X1 to X4 hold."""
    counts = paper_bench.count(PAPER_EVENTS)
    check_bounds(us_coverage, paper_bench, counts)
    assert paper_bench.cell_counts(counts) == {
        ("geoId/06", "A0"): 1,  # X2: two searches, one count
        ("geoId/06", "A2"): 1,
        ("geoId/06069", "A0"): 1,  # X1, X4: San Benito alone, not San Francisco; X3: not 95023
        ("geoId/06069", "A2"): 1,
    }


def test_every_user_day_with_a_reported_postal_code_counts_in_it(paper_bench: Bench) -> None:
    """Of 300 users who search from a ZIP and once more with only its county known, all count in the ZIP."""
    events = [
        Event(user, second, region, "A1")
        for user in range(300)
        for second, region in enumerate(("zip/94103", "geoId/06075"))
    ]
    counts = paper_bench.cell_counts(paper_bench.count(events))
    assert (counts["zip/94103", "A0"], counts["zip/94103", "A1"]) == (300, 300)
    assert (counts["geoId/06075", "A0"], counts["geoId/06075", "A1"]) == (300, 300)


def test_the_papers_choices_give_the_papers_second_table(paper_bench: Bench) -> None:
    """With the contributions that the paper's example keeps, the counts are those of its second table."""
    numbers = {
        r.code: i for i, r in enumerate(paper_bench.cells.coverage.geography.regions) if r.level == "postal_code"
    }
    san_francisco, san_benito, none = numbers["94103"], numbers["95023"], -1
    march_9 = [(0, san_francisco, none), (2, san_benito, san_benito)]  # search 1 at state level only, search 2
    march_11 = [(0, san_benito, san_benito), (1, san_benito, san_benito)]  # search 3
    counts = paper_bench.cells.zeros()
    for day in (march_9, march_11):
        categories, open_regions, classed_regions = (np.array(column) for column in zip(*day, strict=True))
        found = Contributions(
            *(2, 0, Unplaced(), (0,)),
            *(categories, open_regions, classed_regions, classed_regions, np.ones(2, dtype=np.int64)),
        )
        add_contributions(counts, paper_bench.cells, paper_bench.names, found)
    assert paper_bench.cell_counts(counts) == {
        ("geoId/06069", "A0"): 1,
        ("geoId/06", "A0"): 2,
        ("geoId/06069", "A2"): 1,
        ("geoId/06", "A2"): 1,
        ("geoId/06069", "A1"): 1,
        ("geoId/06", "A1"): 1,
    }


def test_a_user_everywhere_at_once_counts_like_anyone(paper_bench: Bench, us_coverage: Coverage) -> None:
    """Searches in thousands of regions and every category are bounded to one class and one count per level."""
    places = [r.place_id for r in us_coverage.geography.regions if r.level != "country"]
    picked = random.Random(1).sample(places, 3000)
    events = [Event(1, i % 40000, place, (None, "A1", "A2", "A3")[i % 4]) for i, place in enumerate(picked)]
    counts = paper_bench.count(events)
    check_bounds(us_coverage, paper_bench, counts)
    assert counts.sum() >= 8, "a state and a county count for each category"


def test_the_same_event_a_million_times_counts_once(paper_bench: Bench, us_coverage: Coverage) -> None:
    """One search repeated a million times counts like one search."""
    counts = paper_bench.count([Event(1, 0, "94103", "A1")], times=1_000_001)
    assert paper_bench.table.rows("SELECT count(*) FROM log") == [(1_000_001,)]
    check_bounds(us_coverage, paper_bench, counts)
    assert counts.sum() == 6, "A0 and A1 in state, county and postal code"


def test_vaccination_searches_choose_the_class(paper_bench: Bench) -> None:
    """However many other searches there are, the size class is that of a search with a topic."""
    events = [Event(1, i, "94103") for i in range(50)] + [Event(1, 99, "95023", "A1")]
    counted = paper_bench.cell_counts(paper_bench.count(events))
    assert ("geoId/06069", "A1") in counted
    assert ("geoId/06069", "A0") in counted
    assert not any(place in ("geoId/06075", "zip/94103") for place, _ in counted)


def test_an_event_known_only_to_its_state_counts_at_state_level_only(paper_bench: Bench) -> None:
    """Such a search has no size class and counts in no county or postal code."""
    counts = paper_bench.count([Event(1, 0, "US-CA", "A1")])
    assert paper_bench.cell_counts(counts) == {("geoId/06", "A0"): 1, ("geoId/06", "A1"): 1}


def test_an_event_known_to_its_county_counts_there_and_above(paper_bench: Bench) -> None:
    """A search whose postal code is unknown counts in its county and state."""
    counts = paper_bench.count([Event(1, 0, "geoId/06075")])
    assert paper_bench.cell_counts(counts) == {("geoId/06", "A0"): 1, ("geoId/06075", "A0"): 1}


def test_a_region_that_is_too_small_still_counts_above(paper_bench: Bench, us_coverage: Coverage) -> None:
    """A region under 3 km2 is not reported, but its searches count at the levels above."""
    tiny = next(
        r
        for r in us_coverage.geography.regions
        if r.level == "postal_code" and us_coverage.standings[r.place_id].reason.startswith("its land area")
    )
    counted = paper_bench.cell_counts(paper_bench.count([Event(1, 0, tiny.place_id)]))
    assert len(counted) == 2
    assert (tiny.parent, "A0") in counted


@on_every_engine
def test_draws_are_fair_and_differ_between_users(paper_bench: Bench) -> None:
    """Each of a user's searches is kept with the same probability (chi-square, false alarms under 1e-7).

    All users search at the same instants, so only the hash makes their draws differ. The test also shows that it would
    reject a draw that favours one place twice over the others.
    """
    places = ["94103", "94110", "94117", "94122"]
    users = 8000
    events = [Event(user, 13 * i, place) for user in range(users) for i, place in enumerate(places)]
    counted = paper_bench.cell_counts(paper_bench.count(events))
    drawn = [counted["zip/" + place, "A0"] for place in places]
    assert sum(drawn) == users
    assert stats.chisquare(drawn).pvalue > 1e-7
    biased = [users * share for share in (0.4, 0.2, 0.2, 0.2)]
    assert stats.chisquare(drawn, biased).pvalue < 1e-7


def test_another_day_draws_anew(paper_bench: Bench) -> None:
    """The key of a draw contains the day: a user with the same searches is not always counted at the same place."""
    places = ["94103", "94110"]
    kept = []
    for shift in range(2):
        events = [Event(user, i, place) for user in range(500) for i, place in enumerate(places)]
        paper_bench.bound(events, day=DAY + timedelta(days=shift))
        kept.append({k.user: k.open_region for k in paper_bench.kept()})
    same = sum(kept[0][user] == kept[1][user] for user in kept[0])
    assert 130 < same < 370, "of 500 fair coins (false alarms under 1e-25)"
