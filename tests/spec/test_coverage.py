"""The coverage of a release: size classes, which regions are reported and why, and the public list of cells."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.errors import GeographyError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import Geography, load_geography
from search_insights.spec.spec import Spec
from tests.support.other_country import OTHER_REGIONS, Row, other_geography, other_spec, plain_spec, write_csv


def us_table(folder: Path, *postal_codes: Row, population: int | None = 600_000) -> Geography:
    """Return a United States of one state, one county and these postal codes."""
    above: list[Row] = [
        ("US", "United States", "country", None, None, 100.0, None, None, "us"),
        ("US-CA", "California", "state", "us", None, 100.0, None, None, "ca"),
        ("06075", "San Francisco", "county", "ca", population, 100.0, None, None, "sf"),
    ]
    return load_geography(write_csv(folder / "us.csv", [*above, *postal_codes]))


def postal_code(code: str, population: int | None = None, area: float | None = 5.0) -> Row:
    return (code, code, "postal_code", "sf", population, area, None, None, code)


# Size classes


@pytest.mark.parametrize(
    ("population", "size_class"),
    [(99_999, "small"), (100_000, "medium"), (500_000, "medium"), (500_001, "large")],
)
def test_a_postal_code_takes_the_class_of_its_county(
    tmp_path: Path, paper: Spec, population: int, size_class: str
) -> None:
    """Section 2: the class depends on the county's population only, not on the postal code's."""
    codes = (postal_code("1", 1), postal_code("2", 900_000), postal_code("3", None))
    coverage = Coverage(paper, us_table(tmp_path, *codes, population=population))
    assert {coverage.standings[p].size_class for p in ("sf", "1", "2", "3")} == {size_class}


def test_regions_above_the_class_level_have_no_class(us_coverage: Coverage) -> None:
    """States and the country have no size class."""
    classes = {us_coverage.standings[p].size_class for p in ("country/USA", "geoId/06", "geoId/11")}
    assert classes == {None}


def test_every_region_at_or_below_the_class_level_has_the_class_of_its_lineage(other_coverage: Coverage) -> None:
    """A region at any level below the cantons has the class of its canton."""
    spec, geography = other_coverage.spec, other_coverage.geography
    seen = Counter[str | None]()
    for region in geography.regions:
        cantons = [r for r in geography.lineage(region) if r.level == "canton"]
        wanted = spec.class_of(cantons[0].population or 0) if cantons else None
        assert other_coverage.standings[region.place_id].size_class == wanted
        seen[wanted] += 1
    assert seen == {None: 4, "rural": 10, "urban": 16}


def test_a_missing_population_at_the_class_level_is_refused(tmp_path: Path, paper: Spec) -> None:
    """Without a population there is no size class, and so no sigma; the error names the region."""
    with pytest.raises(GeographyError, match=r"us\.csv: region 'sf' has no population, which its size class needs"):
        Coverage(paper, us_table(tmp_path, postal_code("1", 5), population=None))


def test_without_size_classes_no_population_is_needed(tmp_path: Path) -> None:
    """A spec without size classes needs no population of any region."""
    rows = [(*row[:4], None, *row[5:]) for row in OTHER_REGIONS]
    coverage = Coverage(plain_spec(), load_geography(write_csv(tmp_path / "g.csv", rows)))
    assert coverage.standings["qz/m/0211"].reported


# What is reported


def test_x3_postal_codes_of_small_counties_are_not_reported(tmp_path: Path, paper: Spec) -> None:
    """X3: a small county is reported, its postal codes are not, and the reason says so."""
    coverage = Coverage(paper, us_table(tmp_path, postal_code("1"), population=99_999))
    assert coverage.standings["sf"].reported
    standing = coverage.standings["1"]
    assert not standing.reported
    assert standing.reason == "X3: postal_code regions of size class small are not reported"


@pytest.mark.parametrize(
    ("area", "reported", "reason"),
    [
        (2.999999, False, "its land area is under 3 km2"),
        (0.0, False, "its land area is under 3 km2"),
        (3.0, True, "with noise of its own"),
        (3.000001, True, "with noise of its own"),
        (None, False, "its land area is not known"),
    ],
)
def test_a_region_under_3_km2_is_not_reported(
    tmp_path: Path, paper: Spec, area: float | None, reported: bool, reason: str
) -> None:
    """Section 2: reported regions have an area of at least 3 km2; a region of unknown area is not reported."""
    coverage = Coverage(paper, us_table(tmp_path, postal_code("1", area=area)))
    assert tuple(coverage.standings["1"]) == ("large", reported, reason)


def test_the_minimum_area_is_the_specs(other_coverage: Coverage) -> None:
    """Qazaria's minimum is 0.5 km2; a region of exactly that area is reported."""
    reported = {p: other_coverage.standings[p].reported for p in ("qz/m/0211", "qz/s/p07", "qz/s/p08")}
    assert reported == {"qz/m/0211": True, "qz/s/p07": False, "qz/s/p08": False}
    assert other_coverage.standings["qz/s/p07"].reason == "its land area is under 0.5 km2"
    assert other_coverage.standings["qz/s/p08"].reason == "its land area is not known"


def test_without_a_minimum_area_no_area_is_needed(tmp_path: Path) -> None:
    """A spec whose minimum is 0 reports regions of any area, known or unknown."""
    rows = [(*row[:5], None, *row[6:]) for row in OTHER_REGIONS]
    coverage = Coverage(plain_spec(), load_geography(write_csv(tmp_path / "g.csv", rows)))
    counted = [r for r in coverage.geography.regions if r.level in ("province", "commune")]
    assert all(coverage.standings[r.place_id].reported for r in counted)


def test_the_country_is_the_sum_of_noisy_values(us_coverage: Coverage) -> None:
    """The country is reported, but has no cell, so no budget is spent on it."""
    standing = us_coverage.standings["country/USA"]
    assert (standing.reported, standing.reason) == (True, "as the sum of noisy state values")
    assert all(cell.region.level != "country" for cell in CellList(us_coverage).cells)


def test_levels_that_the_spec_does_not_count_are_not_reported(tmp_path: Path) -> None:
    """Levels between or below the counted ones are not reported; the reason says where their searches count."""
    coverage = Coverage(plain_spec(), load_geography(other_geography(tmp_path)))
    assert {r.level for r in coverage.geography.regions if coverage.standings[r.place_id].reported} == {
        "nation",
        "province",
        "commune",
    }
    reason = coverage.standings["qz/c/011"].reason
    assert reason == "level canton is not counted; its searches count at the levels above"


# A spec and a geography that do not fit


@pytest.mark.parametrize("swap", [False, True])
def test_levels_that_do_not_fit_are_refused(tmp_path: Path, paper: Spec, swap: bool) -> None:
    """The error shows the levels of the spec and those of the table."""
    spec = other_spec() if swap else paper
    geography = us_table(tmp_path) if swap else load_geography(other_geography(tmp_path))
    ours = "nation > province > canton > commune > parish"
    wanted, got = (ours, "country > state > county") if swap else ("country > state > county > postal_code", ours)
    with pytest.raises(GeographyError) as refused:
        Coverage(spec, geography)
    assert str(refused.value).endswith(f"expected the levels {wanted} of spec {spec.name!r}; got {got}")


def test_a_table_that_lacks_the_finest_level_is_refused(tmp_path: Path, paper: Spec) -> None:
    """Every level of the spec must have regions in the table."""
    with pytest.raises(GeographyError, match=r"got country > state > county$"):
        Coverage(paper, us_table(tmp_path))


def test_levels_in_another_order_are_refused(tmp_path: Path) -> None:
    """The levels must be in the spec's order: a table with communes above provinces is refused."""
    turned = {"province": "commune", "commune": "province"}
    rows = [(*row[:2], turned.get(str(row[2]), row[2]), *row[3:]) for row in OTHER_REGIONS]
    with pytest.raises(GeographyError, match="got nation > commune > canton > province > parish"):
        Coverage(plain_spec(), load_geography(write_csv(tmp_path / "g.csv", rows)))


# The cells


def test_there_is_a_cell_for_every_reported_region_and_category(us_coverage: Coverage) -> None:
    """The packaged release has four cells a week for each reported region except the country."""
    reported = {p for p, standing in us_coverage.standings.items() if standing.reported} - {"country/USA"}
    cells = Counter((cell.region.place_id, cell.category) for cell in CellList(us_coverage).cells)
    assert cells == Counter((place_id, category) for place_id in reported for category in ("A0", "A1", "A2", "A3"))


def test_the_packaged_release_reports_as_many_regions_as_expected(us_coverage: Coverage) -> None:
    """All 51 states, all but a few counties, and about 13,100 postal codes are reported."""
    reported = Counter(cell.region.level for cell in CellList(us_coverage).cells if cell.category == "A0")
    assert reported["state"] == 51
    assert 3_130 <= reported["county"] <= 3_142
    assert 13_000 <= reported["postal_code"] <= 13_200


def test_every_cell_has_the_sigma_of_its_level_class_and_category(other_coverage: Coverage) -> None:
    """A cell has the sigma that the spec gives for its level, size class and category."""
    sigmas = {(cell.region.place_id, cell.category): cell.sigma for cell in CellList(other_coverage).cells}
    assert sigmas["qz/p/03", "H3"] == 25.0
    assert sigmas["qz/c/012", "H0"] == 12.0
    assert sigmas["qz/c/021", "H0"] == 40.0
    assert sigmas["qz/m/0311", "H1"] == 4.0
    assert sigmas["qz/s/p11", "H2"] == 3.3
    assert len(sigmas) == 4 * (3 + 5 + 8 + 7)


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_cells_are_the_same_whatever_the_order_of_the_table(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    """The list of cells is public and does not depend on the order of the rows in the file."""
    rows = list(OTHER_REGIONS)
    chance.shuffle(rows)
    folder = tmp_path_factory.mktemp("shuffled")
    shuffled = Coverage(other_spec(), load_geography(write_csv(folder / "g.csv", rows)))
    in_order = Coverage(other_spec(), load_geography(other_geography(folder)))
    assert CellList(shuffled).cells == CellList(in_order).cells
