"""A log may have a column for each level: a search then counts at each level where that column says, within X1 to X4.

Every rule of the bounding is tested on every engine, some on Spark only by `make thorough`.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st

from search_insights.errors import InputError
from search_insights.private.counting import Tolerance
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Region, build_geography
from search_insights.spec.spec_file import load_spec
from tests.support.bounded import Bench, Event, bench, for_all, on_every_engine
from tests.support.logs import (
    ROWS,
    SECRET,
    Publisher,
    assert_refused,
    by_cell,
    count,
    little_coverage,
    searches,
    write_log,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = ("state", "county", "postal_code")
CELLS = frozenset[tuple[str, str]]


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The packaged release of the little country."""
    return little_coverage(tmp_path_factory.mktemp("little"))


@pytest.fixture(scope="module")
def table(little: Coverage, engine_session: "SparkSession | None") -> Iterator[Bench]:
    """A log of the little country with a column for each level."""
    with bench(little, engine_session, ALL) as ready:
        yield ready


# A search's columns, and the cells that it counts in.
SEARCHES: list[tuple[tuple[str | None, ...], set[str]]] = [
    # Where the search was made, although the table puts 94103 into San Francisco (large, as El Dorado is not).
    (("US-CA", "06017", None), {"geoId/06", "geoId/06017"}),
    (("US-CA", "06017", "95667"), {"geoId/06", "geoId/06017", "zip/95667"}),
    (("US-NM", "35013", "95667"), {"geoId/35", "geoId/35013", "zip/95667"}),  # both medium
    (("US-CA", "06017", "94103"), {"geoId/06", "geoId/06017"}),  # X4: the county's class counts
    ((None, None, "94103"), {"geoId/06", "geoId/06075", "zip/94103"}),
    (("US-NM", None, "94103"), {"geoId/35", "geoId/06075", "zip/94103"}),
    ((None, "06017", None), {"geoId/06", "geoId/06017"}),
    (("geoId/06", "geoId/06075", "zip/94103"), {"geoId/06", "geoId/06075", "zip/94103"}),
    (("US-CA", "06075", "94104"), {"geoId/06", "geoId/06075"}),  # too small to report
    (("US-CA", "06003", "96120"), {"geoId/06", "geoId/06003"}),  # X3
    (("US-CA", "Atlantis", "94103"), {"geoId/06", "zip/94103"}),
    (("US-CA", "06075", "Atlantis"), {"geoId/06", "geoId/06075"}),
    (("US-CA", None, None), {"geoId/06"}),
    (("06075", "94103", "35013"), set()),  # 06075 is no state, 94103 no county; 35013 is of a small county: X3
]


@pytest.mark.parametrize("engine_session", ["duckdb"], indirect=True)
@pytest.mark.parametrize(("regions", "cells"), SEARCHES)
def test_each_level_is_counted_by_its_own_column(
    table: Bench, regions: tuple[str | None, ...], cells: set[str]
) -> None:
    """A search counts at each level in the region of that column; if it is unknown, not at all at that level.

    If it is empty, the level is derived from the finer regions, as in a log without that column.
    """
    counts = table.count([Event(1, 0, regions, "A1")])
    assert table.cell_counts(counts) == {(place, category): 1 for place in cells for category in ("A0", "A1")}


def test_searches_of_many_users_count_where_their_columns_say(table: Bench) -> None:
    """On every engine, the searches above, each by a user of its own, count together as each does alone."""
    counts = table.count([Event(user, 0, regions, "A1") for user, (regions, _) in enumerate(SEARCHES)])
    each = Counter((place, category) for _, cells in SEARCHES for place in cells for category in ("A0", "A1"))
    assert table.cell_counts(counts) == each


# Columns, a search, and the cells that it counts in.
DERIVED: list[tuple[tuple[str, ...], tuple[str | None, ...], set[str]]] = [
    (("county", "postal_code"), ("35013", "95667"), {"geoId/35", "geoId/35013", "zip/95667"}),
    (("county", "postal_code"), (None, "95667"), {"geoId/06", "geoId/06017", "zip/95667"}),
    (("county", "postal_code"), ("Atlantis", "95667"), {"geoId/06", "zip/95667"}),
    (("state", "postal_code"), ("US-NM", "95667"), {"geoId/35", "geoId/06017", "zip/95667"}),
    (("state", "county"), ("US-NM", "06017"), {"geoId/35", "geoId/06017"}),
    (("postal_code",), ("95667",), {"geoId/06", "geoId/06017", "zip/95667"}),
    (("postal_code",), ("35013",), {"geoId/01", "geoId/01009"}),
    (("county",), ("35013",), {"geoId/35", "geoId/35013"}),
]


@pytest.mark.parametrize("engine_session", ["duckdb"], indirect=True)
@pytest.mark.parametrize(("levels", "regions", "cells"), DERIVED)
def test_a_level_without_a_column_is_derived_from_the_nearest_finer_one(
    little: Coverage,
    engine_session: "SparkSession | None",
    levels: tuple[str, ...],
    regions: tuple[str | None, ...],
    cells: set[str],
) -> None:
    """A state without a column is that of the county, and if that is not known, of the postal code."""
    with bench(little, engine_session, levels) as ready:
        counts = ready.count([Event(1, 0, regions)])
        assert ready.cell_counts(counts) == {(place, "A0"): 1 for place in cells}


def test_searches_of_many_users_are_derived_alike(little: Coverage, engine_session: "SparkSession | None") -> None:
    """On every engine, the searches above with the same columns count together as each does alone."""
    for levels in dict.fromkeys(levels for levels, _, _ in DERIVED):
        alike = [(regions, cells) for columns, regions, cells in DERIVED if columns == levels]
        with bench(little, engine_session, levels) as ready:
            counts = ready.count([Event(user, 0, regions) for user, (regions, _) in enumerate(alike)])
            assert ready.cell_counts(counts) == Counter((place, "A0") for _, cells in alike for place in cells)


# X1 to X4, checked against a model of the rules in plain Python


def straddling_world() -> Coverage:
    """Return the packaged release of a country with two states, counties of all classes and postal codes in each."""
    regions = [Region("W", "World", "country", None, None, 1e6, None, None, "W")]
    for s in ("S1", "S2"):
        regions.append(Region(s, s, "state", "W", None, 1e3, None, None, s))
        for c, people in (("a", 1_000), ("b", 200_000), ("c", 300_000), ("d", 900_000)):
            regions.append(Region(s + c, c, "county", s, people, 1e3, None, None, s + c))
            regions += [
                Region(s + c + z, z, "postal_code", s + c, None, 9.0, None, None, s + c + z) for z in ("1", "2")
            ]
    return Coverage(load_spec(), build_geography(regions, "straddling world"))


def possible_cells(coverage: Coverage, levels: tuple[str, ...], event: Event) -> dict[str, CELLS]:
    """Return, for each size class, the cells that an event may count in if that class is its user-day's, and "" for the
    cells of open levels: the rules of the documentation, written anew."""
    by_name = {r.place_id: r for r in coverage.geography.regions}
    given = {
        level: by_name[name]
        for level, name in zip(levels, event.region, strict=True)
        if name in by_name and by_name[name].level == level
    }
    unknown = [level for level, name in zip(levels, event.region, strict=True) if name and level not in given]
    at: dict[str, Region] = {}
    for i, level in enumerate(ALL):
        source = next((given[finer] for finer in ALL[i:] if finer in given), None)
        if source and level not in unknown:
            at[level] = next(r for r in coverage.geography.lineage(source) if r.level == level)
    categories = {"A0", event.category or "A0"}
    cells: dict[str, set[tuple[str, str]]] = {}
    for region in at.values():
        standing = coverage.standings[region.place_id]
        if standing.reported:
            cells.setdefault(standing.size_class or "", set()).update((region.place_id, c) for c in categories)
    return {size_class: frozenset(found) for size_class, found in cells.items()}


def events_of(coverage: Coverage, levels: tuple[str, ...], users: int) -> st.SearchStrategy[list[Event]]:
    """Draw logs in which few users search in many places, whose columns need not fit each other."""
    names = [
        st.none()
        | st.just("Atlantis")
        | st.sampled_from([r.place_id for r in coverage.geography.regions if r.level == level])
        for level in levels
    ]
    topics = st.none() | st.sampled_from([c.id for c in coverage.spec.categories])
    event = st.builds(Event, st.integers(1, users), st.integers(-9, 9), st.tuples(*names), topics)
    return st.lists(event, max_size=30)


@on_every_engine
def test_x1_to_x4_hold_whatever_the_columns_say(engine_session: "SparkSession | None") -> None:
    """For any columns: one count per level and category, by one; one size class; each count is one of the user's own.

    The counts of all users are the sum over users, so a user-day changes the counts by exactly its own.
    """
    coverage = straddling_world()
    regions, standings = coverage.geography.by_place_id, coverage.standings

    def rule(data: st.DataObject) -> None:
        levels = tuple(data.draw(st.sampled_from([ALL, ALL[1:], (ALL[0], ALL[2]), ALL[2:]]), label="levels"))
        events = data.draw(events_of(coverage, levels, 3), label="events")
        with bench(coverage, engine_session, levels) as ready:
            total = ready.cells.zeros()
            for user in {e.user for e in events}:
                own = [e for e in events if e.user == user]
                counts = ready.count(own)
                total = total + counts
                counted = ready.cell_counts(counts)
                assert set(counted.values()) <= {1}, "X2"
                slots = [(regions[place].level, category) for place, category in counted]
                assert len(slots) == len(set(slots)), "X1"
                assert all(standings[place].reported for place, _ in counted), "X3"
                classes = {standings[place].size_class for place, _ in counted} - {None}
                assert len(classes) <= 1, "X4"
                allowed = [cells for e in own for cells in possible_cells(coverage, levels, e).values()]
                assert set(counted) <= frozenset().union(*allowed), "a count where the user did not search"
                if all("Atlantis" not in e.region for e in own):
                    placed = [e for e in own if any(e.region)]
                    searched = {c for e in placed for c in ("A0", e.category or "A0")}
                    assert {c for place, c in counted if regions[place].level == "state"} == searched
                    known = {c for e in placed for c in possible_cells(coverage, levels, e) if c}
                    assert bool(classes) == bool(known), "no classed level counts, although a class is known"
            np.testing.assert_array_equal(ready.count(events), total)

    for_all(engine_session, 40, rule)


def test_one_search_counts_in_all_regions_of_its_class(engine_session: "SparkSession | None") -> None:
    """A user-day with one search counts at every level that has its class: that of the county, if it is known."""
    coverage = straddling_world()

    def rule(data: st.DataObject) -> None:
        (event, *_) = data.draw(events_of(coverage, ALL, 1).filter(bool), label="event")
        county = coverage.geography.by_place_id.get(str(event.region[1]))
        possible = possible_cells(coverage, ALL, event)
        open_cells = possible.pop("", frozenset())
        chosen = coverage.standings[county.place_id].size_class if county else next(iter(possible), "")
        with bench(coverage, engine_session, ALL) as ready:
            counted = set(ready.cell_counts(ready.count([event])))
        assert counted == open_cells | possible.get(chosen or "", frozenset())

    for_all(engine_session, 30, rule)


# Reading such logs


FIPS_AND_ZIP = (
    "['06017', '35013', '06075', NULL][(i % 4) + 1] AS fips, ['95667', '95667', '94103', '94103'][(i % 4) + 1] AS zip"
)
COLUMNS = ("--column", "county=fips", "--column", "postal_code=zip")


def test_columns_of_levels_are_read_from_files(coverage: Coverage, tmp_path: Path) -> None:
    """A log without a column region is counted by its columns of levels, in any format."""
    query = searches(region="", category="", more=f"{FIPS_AND_ZIP}, NULL::VARCHAR AS category")
    expected = {
        ("geoId/06", "A0"): 3 * ROWS // 4,
        ("geoId/35", "A0"): ROWS // 4,
        ("geoId/06017", "A0"): ROWS // 4,
        ("geoId/35013", "A0"): ROWS // 4,
        ("geoId/06075", "A0"): ROWS // 2,
        ("zip/95667", "A0"): ROWS // 2,
        ("zip/94103", "A0"): ROWS // 2,
    }
    for name in ("log.parquet", "log.csv"):
        found = count(coverage, write_log(tmp_path / name, query), columns={"postal_code": "zip", "county": "fips"})
        assert by_cell(coverage, found.counts) == expected
        assert (found.unused.total, found.unknown) == (0, {})


def test_rows_with_no_known_region_are_not_used(coverage: Coverage, tmp_path: Path) -> None:
    """A row is used if one of its regions is known; the operator is told about the others, and about unknown names."""
    fips = f"CASE WHEN i < 4 THEN NULL WHEN i < 10 THEN '{SECRET}' ELSE '06075' END AS fips"
    query = searches(
        region="", more=f"{fips}, CASE WHEN i < 2 THEN NULL WHEN i > 6 THEN '94103' ELSE 'zip/1' END AS zip"
    )
    log = write_log(tmp_path / "log.parquet", query)
    found = count(coverage, log, columns={"county": "fips", "postal_code": "zip"}, tolerance=Tolerance(max_unused=0.1))
    assert (found.unused.no_region, found.unused.unknown_region) == (2, 5)
    assert found.unknown == {"county": 3}


def test_a_column_with_many_unknown_names_is_refused(publisher: Publisher) -> None:
    """A column of names or of another code would leave a level empty: more than the usual share of it is refused."""
    log = publisher.log(searches(region="", more=f"'{SECRET}' AS fips, '94103' AS zip"))
    result = publisher.anonymize(log, *COLUMNS)
    assert_refused(publisher, result, "column 'fips': 140 of 140 rows name no county", "--max-left-out")
    code, _, err = publisher.anonymize(log, *COLUMNS, "--max-left-out", "1")
    assert code == 0
    assert "140 rows name no known county" in err
    assert SECRET not in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--column", "county=fips", "--column", "region=zip"), "one column region, or columns of levels: state"),
        (("--column", "county=fips", "--code-level", "county"), "--code-level county: a column of a level"),
        (("--column", "county=nowhere"), "no column 'nowhere' for county"),
        (("--column", "town=fips"), "--column town=fips: expected ROLE=NAME with a role of user_id"),
    ],
)
def test_columns_that_make_no_sense_are_refused(publisher: Publisher, options: tuple[str, ...], words: str) -> None:
    """A log gives one column of regions of any level, or columns of levels of the spec; not both."""
    log = publisher.log(searches(region="", more=FIPS_AND_ZIP))
    assert_refused(publisher, publisher.anonymize(log, *options), words)


def test_a_column_of_numbers_is_refused(publisher: Publisher) -> None:
    """Codes have leading zeros, which numbers lose, at every level."""
    log = publisher.log(searches(region="", more="6075 AS fips, '94103' AS zip"))
    assert_refused(publisher, publisher.anonymize(log, *COLUMNS), "column 'fips': expected text")


def test_a_level_may_be_called_region(other_coverage: Coverage) -> None:
    """Next to a column of another level, `region` is the level of that name, and refused if there is none."""
    levels = other_coverage.spec.level_names
    names = region_names(other_coverage, LogSource((), {level: level for level in levels}))
    assert [column.role for column in names.columns] == list(levels)
    if "region" not in levels:
        with pytest.raises(InputError, match="one column region"):
            region_names(other_coverage, LogSource((), {levels[0]: "a", "region": "b"}))


def test_one_column_and_columns_of_levels_that_say_the_same_give_the_same_counts(
    coverage: Coverage, tmp_path: Path
) -> None:
    """A log whose columns all come from the postal code is counted like one with that postal code alone."""
    places = "['94103', '95667', '94104', '96120'][(i % 4) + 1]"
    rest = "['06075', '06017', '06075', '06003'][(i % 4) + 1] AS fips, 'US-CA' AS place"
    log = write_log(tmp_path / "log.parquet", searches(region=places, user_id="i % 5", more=rest))
    alone = count(coverage, log)
    columns = {"postal_code": "region", "county": "fips", "state": "place"}
    np.testing.assert_array_equal(alone.counts, count(coverage, log, columns=columns).counts)
