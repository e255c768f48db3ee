"""Accuracy compares published values with the exact bounded ratios; expected numbers are computed by hand."""

import json
import math
import stat
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from search_insights.errors import InputError
from search_insights.evaluation.accuracy import Accuracy, evaluate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from tests.support.command_line import Run
from tests.support.other_country import other_geography, other_spec_file
from tests.support.stores import CITY, FIRST, NOTHING, USUAL, add_weeks, released

STATES = ("geoId/01", "geoId/06", "geoId/35")


def write_truth(
    path: Path,
    coverage: Coverage,
    given: Mapping[str, tuple[int, ...]],
    week: date = FIRST,
    omitted: tuple[str, ...] = (),
) -> Path:
    """Write exact counts of a week: those given, the usual ones for other regions, the states' sum for the country."""
    counts = {r.place_id: given.get(r.place_id, USUAL) for r in CellList(coverage).regions}
    counts["country/USA"] = tuple(map(sum, zip(*(counts[state] for state in STATES), strict=True)))
    rows = [
        (week, place, category.id, n)
        for place, of_place in counts.items()
        if place not in omitted
        for category, n in zip(coverage.spec.categories, of_place, strict=True)
    ]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE truth (week DATE, place_id TEXT, category TEXT, exact_count BIGINT)")
        connection.executemany("INSERT INTO truth VALUES (?, ?, ?, ?)", rows)
        connection.table("truth").write_parquet(str(path))
    return path


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """One week, in which one of the two postal codes has no value."""
    return add_weeks(tmp_path / "store.db", short_coverage, {CITY: NOTHING})


def by_level(rows: list[Accuracy]) -> dict[tuple[str, str], Accuracy]:
    return {(row.level, row.trend): row for row in rows}


def test_a_release_without_noise_has_no_error(store: Path, short_coverage: Coverage) -> None:
    """Where noisy and exact counts are equal, errors are 0 and every interval contains the truth."""
    rows = evaluate(store, write_truth(store.parent / "truth.parquet", short_coverage, {}))
    assert [(row.level, row.points, row.published) for row in rows] == [
        *[("country", 1, 1.0)] * 3,
        *[("state", 3, 1.0)] * 3,
        *[("county", 5, 1.0)] * 3,
        *[("postal_code", 1, 0.5)] * 3,
    ]
    assert all((row.median, row.p90, row.within_limit, row.coverage) == (0, 0, 1, 1) for row in rows)


def test_errors_and_coverage_are_as_computed_by_hand(store: Path, short_coverage: Coverage) -> None:
    """One of three states has 2,500 searches where 3,000 were published: an error of 20 %, outside the interval."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {"geoId/01": (100_000, 2_500, 2_000, 1_000)})
    rows = by_level(evaluate(store, truth))
    state = rows["state", "vaccination_intent"]
    assert state.points == 3
    assert state.median == 0
    assert state.p90 == pytest.approx(0.8 * 0.2)  # the 90th percentile of 0, 0, 0.2 lies 0.8 of the way to the last
    assert (state.within_limit, state.coverage) == pytest.approx((2 / 3, 2 / 3))
    country = rows["country", "vaccination_intent"]
    assert country.median == pytest.approx(9_000 / 8_500 - 1)
    assert (country.within_limit, country.coverage) == (1, 0)
    whole = rows["state", "covid19_vaccination"]
    assert whole.p90 == pytest.approx(0.8 * (6_000 / 5_500 - 1))
    assert (whole.within_limit, whole.coverage) == pytest.approx((1, 2 / 3))
    assert rows["state", "safety_side_effects"].coverage == 1


def test_the_truth_has_its_own_denominator(store: Path, short_coverage: Coverage) -> None:
    """The truth is a ratio of exact counts: if there are a tenth fewer searches, the value is a tenth too low."""
    truth = write_truth(
        store.parent / "truth.parquet", short_coverage, dict.fromkeys(STATES, (90_000, 3_000, 2_000, 1_000))
    )
    row = by_level(evaluate(store, truth))["state", "vaccination_intent"]
    assert (row.median, row.p90, row.coverage) == pytest.approx((0.1, 0.1, 0))


def test_only_common_weeks_are_compared(store: Path, short_coverage: Coverage) -> None:
    """Weeks that only the store has are ignored."""
    add_weeks(store, short_coverage, {}, start=1, usual=(100_000, 9_000, 9_000, 9_000))
    rows = evaluate(store, write_truth(store.parent / "truth.parquet", short_coverage, {}))
    assert {row.median for row in rows} == {0.0}
    assert by_level(rows)["state", "vaccination_intent"].points == 3


def test_regions_that_the_truth_does_not_have_are_not_compared(store: Path, short_coverage: Coverage) -> None:
    """They count as published, but not in the errors."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {}, omitted=("geoId/06075", "geoId/35"))
    rows = by_level(evaluate(store, truth))
    county = rows["county", "covid19_vaccination"]
    assert (county.points, county.published, county.median, county.coverage) == (4, 1.0, 0, 1)
    assert rows["state", "covid19_vaccination"].points == 2


def test_sparse_regions_are_not_compared(store: Path, short_coverage: Coverage) -> None:
    """Values of a region that the release removed count neither as published nor in the errors."""
    add_weeks(store, short_coverage, {}, {CITY: NOTHING}, {CITY: NOTHING}, start=1)
    released(store)
    second = write_truth(store.parent / "truth.parquet", short_coverage, {}, week=date(2021, 1, 11))
    row = by_level(evaluate(store, second))["postal_code", "covid19_vaccination"]
    assert (row.points, row.published) == (1, 0.5)


def test_a_truth_of_other_weeks_is_refused(store: Path, short_coverage: Coverage) -> None:
    """Without a common week there is nothing to compare; the error names both files."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {}, week=date(2022, 1, 3))
    with pytest.raises(InputError, match=r"truth\.parquet: has no week in common with .*store\.db"):
        evaluate(store, truth)


def test_a_truth_of_more_weeks_than_memory_holds_is_refused(store: Path, tmp_path: Path) -> None:
    """A small file can name millions of weeks, of which each would take memory for every region."""
    path = tmp_path / "truth.parquet"
    rows = "SELECT DATE '1900-01-01' + i::INTEGER AS week, 'geoId/06' AS place_id, 'A1' AS category, 1 AS exact_count"
    duckdb.execute(f"COPY ({rows} FROM range(1_000_000) AS r(i)) TO '{path}' (FORMAT parquet)")
    with pytest.raises(InputError, match="a truth of more than 1,040 weeks"):
        evaluate(store, path)


@pytest.mark.parametrize("kind", ["expected only", "text", "missing"])
def test_a_truth_without_exact_counts_is_refused(store: Path, kind: str, run: Run) -> None:
    """A file of expected ratios only, a text file and a missing file give one line and exit code 2."""
    truth = store.parent / "truth.parquet"
    if kind == "expected only":
        with duckdb.connect() as connection:
            sql = "SELECT DATE '2021-01-04' AS week, 'country/USA' AS place_id, 'A1' AS category, 0.1 AS expected_ratio"
            connection.sql(sql).write_parquet(str(truth))
    elif kind == "text":
        truth.write_text("no truth")
    code, out, err = run("evaluate", "--store", store, "--truth", truth)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "not a truth with exact counts" in err


def test_the_command_prints_a_table(store: Path, short_coverage: Coverage, run: Run) -> None:
    """The table has a line for each level and trend, shares as percentages, and dashes where nothing was published."""
    add_weeks(store, short_coverage, {}, start=1, usual=NOTHING)
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {}, week=date(2021, 1, 11))
    code, out, err = run("evaluate", "--store", store, "--truth", truth)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert len(lines) == 1 + 4 * 3
    assert lines[1] == ["country", "covid19_vaccination", "0", "0.0%", "-", "-", "-", "-"]
    write_truth(truth, short_coverage, {})
    _, out, _ = run("evaluate", "--store", store, "--truth", truth)
    assert out.splitlines()[-1].split() == [
        *("postal_code", "safety_side_effects", "1", "50.0%"),
        *("0.0%", "0.0%", "100.0%", "100.0%"),
    ]


def test_the_command_prints_json(store: Path, short_coverage: Coverage, run: Run) -> None:
    """The JSON has the same numbers; a number that does not exist is null, never NaN."""
    add_weeks(store, short_coverage, {}, start=1, usual=NOTHING)
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {})
    code, out, err = run("evaluate", "--store", store, "--truth", truth, "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert [Accuracy(**row) for row in rows] == evaluate(store, truth)
    write_truth(truth, short_coverage, {}, week=date(2021, 1, 11))
    _, out, _ = run("evaluate", "--store", store, "--truth", truth, "--json")
    assert "NaN" not in out
    assert {row["median"] for row in json.loads(out)} == {None}
    assert all(math.isnan(row.median) for row in evaluate(store, truth))


@pytest.mark.parametrize("week", [FIRST, date(2021, 1, 11)])
def test_the_command_draws_a_picture(store: Path, short_coverage: Coverage, run: Run, week: date) -> None:
    """The picture is SVG or PNG by the ending of its name, also when nothing was published."""
    add_weeks(store, short_coverage, {}, start=1, usual=NOTHING)
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {}, week=week)
    svg, png = store.parent / "accuracy.svg", store.parent / "accuracy.png"
    for picture in (svg, png):
        code, out, err = run("evaluate", "--store", store, "--truth", truth, "--picture", picture)
        assert (code, err) == (0, "")
        assert f"{picture}: the same as a picture" in out
    assert ElementTree.fromstring(svg.read_text(encoding="utf-8")).tag == "{http://www.w3.org/2000/svg}svg"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_another_kind_is_refused(store: Path, short_coverage: Coverage, run: Run) -> None:
    """A name with another ending gives one line, and nothing is written."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {})
    code, out, err = run("evaluate", "--store", store, "--truth", truth, "--picture", store.parent / "accuracy.jpg")
    assert (code, out) == (2, "")
    assert "expected a name that ends in .svg or .png" in err
    assert not (store.parent / "accuracy.jpg").exists()


def test_only_the_owner_can_read_exact_counts(tmp_path: Path, run: Run) -> None:
    """The truth of a simulated log is private: its file has mode 0600, and no draft of it is left."""
    options = (
        *("--from", "2023-10-01", "--events-per-week", "2000"),
        *("--seed", "1", "--truth", tmp_path / "truth.parquet"),
    )
    release = ("--spec", other_spec_file(tmp_path), "--geography", other_geography(tmp_path))
    assert run("simulate", "--out", tmp_path / "log", *options, *release)[0] == 0
    assert stat.S_IMODE((tmp_path / "truth.parquet").stat().st_mode) == 0o600
    assert list(tmp_path.glob(".*")) == []
