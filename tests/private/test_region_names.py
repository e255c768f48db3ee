"""A log names regions by code or place_id; each name stands for one region or is unknown."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from search_insights.errors import GeographyError
from search_insights.private.region_names import NUMBER_BITS, region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Level, Sigma, SizeClass
from tests.support.logs import (
    LITTLE_REGIONS,
    ROWS,
    Publisher,
    assert_refused,
    by_cell,
    count,
    searches,
    write_log,
)
from tests.support.other_country import write_csv

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
        ("06075", SAN_FRANCISCO),
        ("geoId/06075", SAN_FRANCISCO),
        ("06003", {("geoId/06", "A0"), ("geoId/06003", "A0")}),
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


@pytest.mark.parametrize("name", ["US", "country/USA", "06", "6075", "us-ca", " 94103", "zip/06075", "South of Market"])
def test_a_name_of_no_counted_region_is_unknown(publisher: Publisher, name: str) -> None:
    """The country is not a region of a search, and names must match exactly; the error does not show them."""
    result = publisher.anonymize(publisher.log(in_region(name)))
    assert_refused(publisher, result, "140 of 140 rows cannot be used (140 with an unknown region)")


@pytest.mark.parametrize(
    ("name", "code_level", "cells"),
    [
        ("35013", None, ALABAMA),
        ("35013", "postal_code", ALABAMA),
        ("35013", "county", NEW_MEXICO),
        ("geoId/35013", None, NEW_MEXICO),
        ("geoId/35013", "postal_code", NEW_MEXICO),
        ("zip/35013", "county", ALABAMA),
    ],
)
def test_a_code_of_two_levels_means_the_finer_one_by_default(
    coverage: Coverage, tmp_path: Path, name: str, code_level: str | None, cells: set[tuple[str, str]]
) -> None:
    """--code-level decides which level such a code means; a place_id is never ambiguous."""
    log = write_log(tmp_path / "log.parquet", in_region(name))
    assert by_cell(coverage, count(coverage, log, code_level=code_level).counts) == dict.fromkeys(cells, ROWS)


@pytest.mark.parametrize(("name", "code_level"), [("94103", "county"), ("06075", "postal_code"), ("US-CA", "county")])
def test_a_code_of_one_level_means_the_same_whatever_the_code_level(
    coverage: Coverage, tmp_path: Path, name: str, code_level: str
) -> None:
    """--code-level decides between levels that share a code; it does not change the meaning of other codes."""
    log = write_log(tmp_path / "log.parquet", in_region(name))
    plain, told = (count(coverage, log, code_level=level) for level in (None, code_level))
    assert by_cell(coverage, told.counts) == by_cell(coverage, plain.counts)


@pytest.mark.parametrize(
    ("name", "options", "noted"),
    [
        ("06075", (), True),
        ("geoId/06075", (), False),
        ("06075", ("--code-level", "county"), False),
        ("94103", (), False),
        ("35013", (), False),
        ("US-CA", (), False),
    ],
)
def test_bare_codes_of_the_coarser_level_are_noted(
    publisher: Publisher, name: str, options: tuple[str, ...], noted: bool
) -> None:
    """A log that has county codes may mean a county by a code that is read as a postal code, so there is a note."""
    region = f"CASE WHEN i = 5 THEN '{name}' ELSE 'geoId/06017' END"
    code, out, err = publisher.anonymize(publisher.log(searches(region=region)), *options)
    assert code == 0
    assert "committed" in out
    assert ("--code-level" in err) is noted
    assert err.count("\n") == int(noted)
    assert "place_id" not in out


def test_an_unknown_code_level_is_refused(publisher: Publisher) -> None:
    """The error lists the levels."""
    result = publisher.anonymize(publisher.log(), "--code-level", "zip")
    assert_refused(publisher, result, "--code-level zip: the levels are state, county, postal_code")


def test_without_shared_codes_nothing_is_ambiguous(coverage: Coverage, tmp_path: Path) -> None:
    """If no two levels share a code, codes of any level are as clear as place_ids."""
    regions = [row for row in LITTLE_REGIONS if row[-1] != "zip/35013"]
    plain = Coverage(coverage.spec, load_geography(write_csv(tmp_path / "plain.csv", regions)))
    found = count(plain, write_log(tmp_path / "log.parquet", in_region("06075")))
    assert not found.ambiguous_codes
    assert by_cell(plain, found.counts) == dict.fromkeys(SAN_FRANCISCO, ROWS)


def test_regions_of_every_level_have_names_except_the_country(other_coverage: Coverage) -> None:
    """A search may name a region of any level at or below the coarsest counted one, counted or not."""
    names = region_names(other_coverage)
    assert "qz" not in names.names
    assert "QZ" not in names.names
    regions = other_coverage.geography.regions
    for region in regions[1:]:
        number = int(names.region_bits[names.names.index(region.place_id)]) & ((1 << NUMBER_BITS) - 1)
        assert regions[names.region_of_number[number]] is region


def test_every_name_is_listed_once(us_coverage: Coverage) -> None:
    """In the United States every region has a name, and no name stands for two regions."""
    names = region_names(us_coverage)
    assert len(set(names.names)) == len(names.names) == len(names.region_bits)
    assert set(names.region_of_number) == set(range(len(us_coverage.geography.regions)))


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
        assert region_names(coverage).names
        return
    with pytest.raises(GeographyError, match="15 size classes fit"):
        region_names(coverage)
