"""A log names regions by code or place_id; each name stands for one region or is unknown."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from search_insights.errors import GeographyError
from search_insights.private.counting import Tolerance
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.size_classes import SizeClass
from search_insights.spec.spec import Level, Sigma
from tests.support.logs import (
    LITTLE_REGIONS,
    ROWS,
    WEEK,
    Publisher,
    assert_refused,
    by_cell,
    count,
    numbers_of,
    on_spark,
    searches,
    write_log,
)
from tests.support.other_country import write_csv

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALABAMA = {("geoId/01", "A0"), ("geoId/01009", "A0")}  # the postal code 35013 is of a small county: X3
NEW_MEXICO = {("geoId/35", "A0"), ("geoId/35013", "A0")}  # the county 35013
SAN_FRANCISCO = {("geoId/06", "A0"), ("geoId/06075", "A0")}


def in_region(name: str) -> str:
    """Return the query of a log whose searches are all in one region and have no topic."""
    return searches(region=f"'{name}'", category="NULL::VARCHAR")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("94103", {*SAN_FRANCISCO, ("zip/94103", "A0")}),
        ("zip/94103", {*SAN_FRANCISCO, ("zip/94103", "A0")}),
        ("zip/94104", SAN_FRANCISCO),
        ("geoId/06075", SAN_FRANCISCO),
        ("geoId/06003", {("geoId/06", "A0"), ("geoId/06003", "A0")}),
        ("96120", {("geoId/06", "A0"), ("geoId/06003", "A0")}),
        ("US-CA", {("geoId/06", "A0")}),
        ("geoId/06", {("geoId/06", "A0")}),
    ],
)
def test_a_search_counts_in_its_region_and_those_above(
    coverage: Coverage, tmp_path: Path, name: str, cells: set[tuple[str, str]]
) -> None:
    """A search counts in its region and all regions above; in a region that is not reported, only in those above."""
    found = by_cell(coverage, count(coverage, write_log(tmp_path / "log.parquet", in_region(name))).counts)
    assert found == dict.fromkeys(cells, ROWS)


@pytest.mark.parametrize("name", ["US", "country/USA"])
def test_the_country_is_not_a_region_of_a_search(publisher: Publisher, name: str) -> None:
    """A search known to its country only counts nowhere, and the error says so."""
    result = publisher.anonymize(publisher.log(in_region(name)))
    assert_refused(publisher, result, "140 of 140 rows cannot be used (140 known to the country only)")


@pytest.mark.parametrize("name", ["06", "6075", "us-ca", " 94103", "zip/06075", "South of Market"])
def test_a_name_of_no_counted_region_is_unknown(publisher: Publisher, name: str) -> None:
    """Names must match exactly; the error does not show them."""
    result = publisher.anonymize(publisher.log(in_region(name)))
    assert_refused(publisher, result, "140 of 140 rows cannot be used (140 with an unknown region)")


@pytest.mark.parametrize(
    ("name", "code_level", "cells"),
    [
        ("35013", "postal_code", ALABAMA),
        ("35013", "county", NEW_MEXICO),
        ("06075", "county", SAN_FRANCISCO),
        ("geoId/35013", None, NEW_MEXICO),
        ("geoId/35013", "postal_code", NEW_MEXICO),
        ("zip/35013", None, ALABAMA),
        ("zip/35013", "county", ALABAMA),
        ("geoId/06", "county", {("geoId/06", "A0")}),
    ],
)
def test_a_code_is_of_the_level_that_the_publisher_names(
    coverage: Coverage, tmp_path: Path, name: str, code_level: str | None, cells: set[tuple[str, str]]
) -> None:
    """--code-level says which level all bare codes belong to; a place_id is never ambiguous."""
    log = write_log(tmp_path / "log.parquet", in_region(name))
    assert by_cell(coverage, count(coverage, log, code_level=code_level).counts) == dict.fromkeys(cells, ROWS)


@pytest.mark.parametrize(("name", "code_level"), [("06075", "postal_code"), ("94103", "county"), ("US-CA", "county")])
def test_a_code_that_its_level_does_not_have_is_unknown(
    coverage: Coverage, tmp_path: Path, name: str, code_level: str
) -> None:
    """With --code-level, a postal code that is not in the table does not become the county with that code."""
    log = write_log(tmp_path / "log.parquet", in_region(name))
    found = count(coverage, log, code_level=code_level, tolerance=Tolerance(1, frozenset(WEEK.days)))
    assert found.unused.unknown_region == ROWS
    assert not found.counts.any()


@pytest.mark.parametrize("name", ["06075", "35013"])
def test_a_log_with_ambiguous_codes_is_refused(publisher: Publisher, name: str) -> None:
    """A county's code may be that of a postal code, in the table or not: one such search is enough, drawn or not."""
    region = f"CASE WHEN i = 5 THEN '{name}' ELSE '94103' END"
    log = publisher.log(searches(region=region, user_id="i % 7"))
    words = ("may be of a county or postal_code", "--code-level postal_code", "--column", "place_ids")
    assert_refused(publisher, publisher.anonymize(log), *words)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("geoId/06075", ()),
        ("06075", ("--code-level", "county")),
        ("35013", ("--code-level", "postal_code")),
        ("94103", ()),
        ("US-CA", ()),
    ],
)
def test_a_log_with_clear_codes_is_counted(publisher: Publisher, name: str, options: tuple[str, ...]) -> None:
    """Place_ids are clear, and so are codes whose level is given, or that no coarser level has."""
    region = f"CASE WHEN i = 5 THEN '{name}' ELSE 'geoId/06017' END"
    code, out, err = publisher.anonymize(publisher.log(searches(region=region)), *options)
    assert (code, err) == (0, "")
    assert "committed" in out


def test_ambiguous_codes_are_refused_on_spark(spark: "SparkSession", coverage: Coverage, tmp_path: Path) -> None:
    """Both engines find the same ambiguous codes."""
    log = write_log(tmp_path / "log.parquet", searches(region="CASE WHEN i < 21 THEN '06075' ELSE '94103' END"))
    found = on_spark(spark, coverage, log).bound(WEEK.days[0], *WEEK.day_bounds(WEEK.days[0]))
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        assert found.no_region == engine.bound(WEEK.days[0], *WEEK.day_bounds(WEEK.days[0])).no_region == (3,)


def test_no_code_of_the_packaged_geography_means_two_places(us_coverage: Coverage) -> None:
    """Without --code-level every code of a county is ambiguous; with it, only codes of that level are names."""
    regions = us_coverage.geography.regions
    names = region_names(us_coverage)
    numbers = numbers_of(names)
    counties = {r.code for r in regions if r.level == "county"}
    assert {name for name, number in numbers.items() if number == names.columns[0].no_region} == counties
    assert all(regions[numbers[r.code]] is r for r in regions if r.level == "postal_code" and r.code not in counties)
    told = region_names(us_coverage, LogSource((), code_level="postal_code"))
    bare = {name for name in numbers_of(told) if "/" not in name}
    assert bare == {r.code for r in regions if r.level == "postal_code"}


def test_an_unknown_code_level_is_refused(publisher: Publisher) -> None:
    """The error lists the levels."""
    result = publisher.anonymize(publisher.log(), "--code-level", "zip")
    assert_refused(publisher, result, "--code-level zip: the levels are state, county, postal_code")


def test_without_shared_codes_nothing_is_ambiguous(coverage: Coverage, tmp_path: Path) -> None:
    """If no two levels share a code, codes of any level are as clear as place_ids."""
    regions = [row for row in LITTLE_REGIONS if row[-1] != "zip/35013"]
    plain = Coverage(coverage.spec, load_geography(write_csv(tmp_path / "plain.csv", regions)))
    found = count(plain, write_log(tmp_path / "log.parquet", in_region("06075")))
    assert by_cell(plain, found.counts) == dict.fromkeys(SAN_FRANCISCO, ROWS)


def test_regions_of_every_level_have_names_except_the_country(other_coverage: Coverage) -> None:
    """A search may name a region of any level at or below the coarsest counted one, counted or not."""
    numbers = numbers_of(region_names(other_coverage))
    assert "qz" not in numbers
    assert "QZ" not in numbers
    regions = other_coverage.geography.regions
    for region in regions[1:]:
        assert regions[numbers[region.place_id]] is region


def test_every_name_is_listed_once(us_coverage: Coverage) -> None:
    """In the United States every region has a name, and no name stands for two regions."""
    names = region_names(us_coverage)
    (column,) = names.columns
    assert len(set(column.names)) == len(column.names) == len(column.bits)
    assert set(numbers_of(names).values()) == set(range(1, len(us_coverage.geography.regions) + 1)), (
        "all but the country, and `ambiguous`"
    )


@pytest.mark.parametrize(("classes", "fits"), [(15, True), (16, False)])
def test_more_size_classes_than_a_draw_can_hold_are_refused(other_coverage: Coverage, classes: int, fits: bool) -> None:
    """A draw has four bits for the size class, one value of which means no class: 15 classes fit."""
    spec = other_coverage.spec
    ends = [*range(classes - 1), None]
    size_classes = tuple(SizeClass(f"c{i}", i, end) for i, end in enumerate(ends))
    levels = tuple(Level(name) for name in spec.level_names)
    sigmas = [sigma for sigma in spec.sigmas if sigma.level in spec.open_levels]
    for level, c, category in product(spec.classed_levels, size_classes, spec.categories):
        sigmas.append(Sigma(level, c.name, category.id, 9.0))
    many = replace(spec, size_classes=size_classes, levels=levels, sigmas=tuple(sigmas))
    coverage = Coverage(many, other_coverage.geography)
    if fits:
        assert numbers_of(region_names(coverage))
        return
    with pytest.raises(GeographyError, match="at most 15 size classes fit"):
        region_names(coverage)
