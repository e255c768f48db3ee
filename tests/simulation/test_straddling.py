"""With a straddling table, simulated people live in one of the counties that a ZIP extends into, as the log says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from search_insights.errors import InputError
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.simulation.places import places_of
from search_insights.simulation.population import build_tree
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import load_spec
from search_insights.spec.straddling import Straddle, Straddling
from tests.support.command_line import Run
from tests.support.other_country import other_geography, other_spec_file
from tests.support.simulated_logs import MONDAY
from tests.support.straddling import EQUAL, HALF_ELSEWHERE, ZIPS

COVERAGE = Coverage(load_spec(), EQUAL)
EVENTS = 2_100


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> SimulatedLog:
    """A week in which hardly anyone searches twice."""
    folder = tmp_path_factory.mktemp("straddling")
    truth = folder / "truth.parquet"
    return simulate(
        folder / "log", COVERAGE, MONDAY, 1, EVENTS, 5, users=1_000_000, straddling=HALF_ELSEWHERE, truth=truth
    )


def query(log: SimulatedLog, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.read_parquet(f"{log.folder}/*.parquet").create_view("log")
        return connection.execute(sql).fetchall()


def test_people_live_in_the_pieces_by_their_shares() -> None:
    """Counties keep their population. Within A2, the piece of A1x has 50 people beside the 200 of its own ZIPs."""
    places = places_of(COVERAGE, HALF_ELSEWHERE)
    tree = build_tree(places.tree, places.region)
    weight = {place.place_id: w for place, w in zip(places.tree.regions, tree.weight, strict=True)}
    assert weight["A1"] == weight["A2"] == pytest.approx(1 / 4)
    assert weight["A1x in A2"] / weight["A2"] == pytest.approx(50 / 250)
    assert weight["A1x in B1"] / weight["B1"] == pytest.approx(10 / 210)
    assert weight["A1x"] / weight["A1"] == pytest.approx(40 / 140)
    people = np.where(tree.is_leaf, tree.weight, 0.0)
    by_region = tree.sum_by_region(people)
    assert len(by_region) == len(EQUAL.regions)
    assert by_region[0] == pytest.approx(1)
    x = [region.place_id for region in EQUAL.regions].index("A1x")
    assert by_region[x] == pytest.approx(weight["A1x"] + weight["A1x in A2"] + weight["A1x in B1"])


def test_the_log_names_the_county_where_the_person_is(log: SimulatedLog) -> None:
    """A ZIP that straddles has searches of all its counties, every other ZIP of one only; states follow the county."""
    rows = query(log, "SELECT DISTINCT region, state, county, postal_code FROM log WHERE postal_code IS NOT NULL")
    expected = {(code, code[0], code[:2], code) for code in ZIPS}
    assert set(rows) == expected | {("A1x", "A", "A2", "A1x"), ("A1x", "B", "B1", "A1x")}


def test_what_is_known_to_a_county_only_has_no_postal_code(log: SimulatedLog) -> None:
    """The columns of the finer levels are empty, and those above are not."""
    rows = query(log, "SELECT DISTINCT region, state, county FROM log WHERE postal_code IS NULL")
    assert {row for row in rows if row[2]} == {(c, str(c)[0], c) for c in ("A1", "A2", "B1", "B2")}
    assert {row for row in rows if not row[2]} <= {("A", "A", None), ("B", "B", None)}


def test_the_truth_is_counted_where_the_person_is(log: SimulatedLog) -> None:
    """Exact counts are those of the county column, where each user searches once; the region's county would differ."""
    assert log.truth is not None
    add_exact_counts(log.truth, log.folder, log.weeks, COVERAGE, lambda step: None, level_columns=True)
    once = "(SELECT * FROM log QUALIFY row_number() OVER (PARTITION BY user_id, timestamp::DATE) = 1)"
    by_column: dict[str, int] = dict(
        query(log, f"SELECT county, count(*) FROM {once} WHERE county IS NOT NULL GROUP BY 1")
    )
    by_zip: dict[str, int] = dict(
        query(log, f"SELECT left(region, 2), count(*) FROM {once} WHERE county IS NOT NULL GROUP BY 1")
    )
    with duckdb.connect() as connection:
        truth = connection.read_parquet(str(log.truth))
        exact = dict(truth.filter("level = 'county' AND category = 'A0'").project("place_id, exact_count").fetchall())
    assert all(abs(exact[county] - by_column[county]) <= 3 for county in exact)  # a few users search twice
    assert by_zip["A1"] > 1.2 * by_column["A1"]


def test_the_truth_expects_the_shares_of_whole_zips(log: SimulatedLog) -> None:
    """A row for each reported region and category, and none for a piece."""
    assert log.truth is not None
    with duckdb.connect() as connection:
        places = connection.read_parquet(str(log.truth)).project("place_id").distinct().fetchall()
    reported = {r.place_id for r in EQUAL.regions if COVERAGE.standings[r.place_id].reported}
    assert {place for (place,) in places} == reported


def test_a_log_with_pieces_does_not_mix_with_one_without(log: SimulatedLog) -> None:
    """Two simulations in one folder are refused, whichever came first."""
    with pytest.raises(InputError, match=r"holds another simulation \(straddling differs\)"):
        simulate(log.folder, COVERAGE, MONDAY, 1, EVENTS, 5, users=1_000_000)


@pytest.mark.parametrize(
    ("straddling", "message"),
    [
        (Straddling(EQUAL), "the geography country.csv has no straddling table"),
        (Straddling(EQUAL, (Straddle("A1", "B", 0.1),)), "its regions are of level county; people live in"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path: Path, straddling: Straddling, message: str
) -> None:
    """The parameter is named, and no folder is made."""
    with pytest.raises(InputError, match=f"`straddling`: {message}"):
        simulate(tmp_path / "log", COVERAGE, MONDAY, 1, EVENTS, 5, straddling=straddling)
    assert not (tmp_path / "log").exists()


def test_levels_named_like_columns_of_a_log_are_refused(tmp_path: Path) -> None:
    """The log has a column `region` already."""
    levels = tuple(replace(level, name="region") if level.name == "state" else level for level in COVERAGE.spec.levels)
    regions = [r._replace(level="region") if r.level == "state" else r for r in EQUAL.regions]
    geography = replace(EQUAL, regions=tuple(regions), levels=("country", "region", "county", "postal_code"))
    sigmas = tuple(replace(s, level="region") if s.level == "state" else s for s in COVERAGE.spec.sigmas)
    spec = replace(COVERAGE.spec, levels=levels, total=replace(COVERAGE.spec.total, sum_of="region"), sigmas=sigmas)
    with pytest.raises(InputError, match="`straddling`: the log needs a column for level region"):
        places_of(Coverage(spec, geography), replace(HALF_ELSEWHERE, geography=geography))


def test_the_command_refuses_a_geography_without_a_table(run: Run, tmp_path: Path) -> None:
    """One line, exit code 2, no folder."""
    other = ["--spec", str(other_spec_file(tmp_path)), "--geography", str(other_geography(tmp_path))]
    out = tmp_path / "log"
    code, _, err = run("simulate", "--out", str(out), "--from", "2023-10-01", "--seed", "1", "--straddling", *other)
    assert (code, err.count("\n")) == (2, 1)
    assert "--straddling us: is about the packaged geography" in err
    assert not out.exists()
