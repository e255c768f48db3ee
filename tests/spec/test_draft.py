"""The draft of a spec follows the table of regions: its levels, and size classes as in the paper."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.spec.coverage import Coverage
from search_insights.spec.draft import Topic, draft_spec, size_classes
from search_insights.spec.geography import Geography, Region, build_geography, load_geography
from search_insights.spec.spec import Level, Promise, Spec
from tests.support.other_country import Row, write_csv
from tests.support.switzerland import HEADER, swiss_regions, swiss_rows

TOPICS = (Topic("influenza", "Grippe"), Topic("heat", "Hitze"))
PROMISE = Promise(2.19, 1e-5)
MONDAY = date(2026, 6, 1)


def drafted(geography: Geography) -> Spec:
    return draft_spec(geography, TOPICS, PROMISE, "Europe/Zurich", MONDAY)


def without(folder: Path, column: str, *levels: str) -> Geography:
    """Return Switzerland without a column's values at some levels."""
    at = HEADER.index(column)
    rows: list[Row] = [(*r[:at], None, *r[at + 1 :]) if r[2] in levels else r for r in swiss_rows()]
    return load_geography(write_csv(folder / "regions.csv", rows, HEADER))


def test_levels_and_names_come_from_the_table(tmp_path: Path) -> None:
    """The country is the total; every level below it is counted."""
    spec = drafted(load_geography(swiss_regions(tmp_path)))
    assert spec.level_names == ("region", "canton", "district", "postal_code")
    assert (spec.total.level, spec.total.sum_of) == ("country", "region")
    assert (spec.name, spec.dataset) == ("search-trends-ch", "search_trends")
    assert spec.title == "Search trends in Schweiz, Suisse, Svizzera"
    assert spec.topics == ("influenza", "heat")
    assert [(t.title, t.sum_of, t.column) for t in spec.trends] == [
        ("Grippe", ("influenza",), "sni_influenza"),
        ("Hitze", ("heat",), "sni_heat"),
    ]


def test_the_window_of_sparsity_is_22_weeks(tmp_path: Path) -> None:
    """As in the paper, from the first week."""
    window = drafted(load_geography(swiss_regions(tmp_path))).sparsity
    assert (window.first_week, window.last_week) == (MONDAY, date(2026, 10, 26))


def test_the_classes_of_the_united_states_are_those_of_the_paper(us: Geography, paper: Spec) -> None:
    """The rule finds the paper's classes from the populations alone: 100,000 and 500,000; X3 as in the paper."""
    spec = draft_spec(us, TOPICS, PROMISE, "America/Los_Angeles", MONDAY)
    assert (spec.class_level, spec.class_names) == (paper.class_level, paper.class_names)
    assert [c.min_population for c in spec.size_classes] == [0, 100_000, 500_000]
    assert spec.reported_groups == paper.reported_groups
    assert spec.min_area_km2 == paper.min_area_km2


def test_the_classes_are_at_the_level_above_the_finest(tmp_path: Path) -> None:
    """Postal codes take the class of their district, and those of small districts are not reported (X3)."""
    spec = drafted(load_geography(swiss_regions(tmp_path)))
    assert (spec.class_level, spec.class_names) == ("district", ("small", "large"))
    assert spec.levels[-1] == Level("postal_code", ("small",))
    assert all(not level.unreported_classes for level in spec.levels[:-1])


def test_without_populations_there_are_no_classes(tmp_path: Path) -> None:
    """One missing population is enough: each region of the level needs a class."""
    spec = drafted(without(tmp_path, "population", "district"))
    assert (spec.class_level, spec.size_classes) == (None, ())
    assert len(spec.reported_groups) == 4


def test_without_land_areas_regions_of_any_size_are_reported(tmp_path: Path) -> None:
    """A region whose area is not known would not be reported under a minimum."""
    assert drafted(load_geography(swiss_regions(tmp_path))).min_area_km2 == 3
    spec = drafted(without(tmp_path, "land_area_km2", "postal_code"))
    assert spec.min_area_km2 == 0


def country(populations: list[int]) -> Geography:
    """Return a country of one state, with counties of these populations."""

    def region(code: str, level: str, parent: str | None, population: int | None) -> Region:
        return Region(code, code, level, parent, population, None, None, None, code)

    top = [region("N", "nation", None, None), region("S", "state", "N", None)]
    return build_geography([*top, *(region(f"c{i}", "county", "S", p) for i, p in enumerate(populations))], "table")


@given(st.lists(st.integers(0, 10**8), min_size=1, max_size=60))
def test_any_populations_give_a_valid_spec(populations: list[int]) -> None:
    """Every region has exactly one class, every class has at least 5 regions, and the spec is valid."""
    geography = country(populations)
    coverage = Coverage(drafted(geography), geography)
    level, classes = size_classes(geography)
    assert (level is None) == (classes == ())
    if classes:
        found = [coverage.standings[r.place_id].size_class for r in geography.regions if r.level == "county"]
        assert min(found.count(c.name) for c in classes) >= 5
        assert len(classes) in (2, 3)


def test_regions_of_one_size_have_no_classes() -> None:
    """There is nothing to divide."""
    assert size_classes(country([1_000] * 30)) == (None, ())


@pytest.mark.parametrize("levels", [1, 2])
def test_the_coarsest_level_never_has_classes(levels: int) -> None:
    """Its sum is the country, whose noise would otherwise have to be told class by class."""
    geography = country([10**i for i in range(1, 9)] * 3)
    regions = [r for r in geography.regions if r.level != "county"] if levels == 1 else list(geography.regions)
    level, _ = size_classes(build_geography(regions, "table"))
    assert level == (None if levels == 1 else "county")
