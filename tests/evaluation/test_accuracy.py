"""Accuracy compares published values with the exact bounded ratios; expected numbers are computed by hand."""

import json
import math
import stat
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import pytest

from search_insights.dp.noise import add_noise
from search_insights.errors import InputError
from search_insights.evaluation.accuracy import Accuracy, accuracy_of, evaluate
from search_insights.simulation.truth import IDENTITY, read_truth
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.support.sql import literal
from search_insights.trends.derive import derive
from tests.support.command_line import Run
from tests.support.other_country import other_geography, other_spec_file
from tests.support.stores import CITY, FIRST, NOTHING, USUAL, add_weeks, entry_for, released

IN_STORE = {CITY: NOTHING}  # what the first week of the store has besides the usual counts
STATES = ("geoId/01", "geoId/06", "geoId/35")


def identity_of(coverage: Coverage) -> dict[str, str]:
    """Return what a truth of this release says about itself."""
    return {"spec": coverage.spec.fingerprint, "geography": coverage.geography.fingerprint}


def compared(store_path: Path, truth_path: Path) -> list[Accuracy]:
    """Compare a store with a truth that is not its own, which `evaluate` refuses."""
    with open_store(store_path) as store:
        trends = derive(store)
        return accuracy_of(trends, store.sparsity(), read_truth(truth_path, store.coverage, trends.regions))


def write_truth(
    path: Path,
    coverage: Coverage,
    given: Mapping[str, tuple[int, ...]],
    week: date = FIRST,
    omitted: tuple[str, ...] = (),
    identity: Mapping[str, str] | None = None,
    usual: tuple[int, ...] = USUAL,
) -> Path:
    """Write exact counts of a week: those given, the usual ones for other regions, the states' sum for the country."""
    counts = {r.place_id: given.get(r.place_id, usual) for r in CellList(coverage).regions}
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
        metadata = f"{IDENTITY}: {literal(json.dumps(identity_of(coverage) if identity is None else identity))}"
        connection.execute(f"COPY truth TO {literal(str(path))} (FORMAT parquet, KV_METADATA {{{metadata}}})")
    return path


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """One week, in which one of the two postal codes has no value."""
    return add_weeks(tmp_path / "store.db", short_coverage, IN_STORE)


def by_level(rows: list[Accuracy]) -> dict[tuple[str, str], Accuracy]:
    return {(row.level, row.trend): row for row in rows}


def test_a_release_without_noise_has_no_error(store: Path, short_coverage: Coverage) -> None:
    """Where noisy and exact counts are equal, errors are 0 and every interval contains the truth."""
    rows = evaluate(store, write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE))
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
    rows = by_level(compared(store, truth))
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
    row = by_level(compared(store, truth))["state", "vaccination_intent"]
    assert (row.median, row.p90, row.coverage) == pytest.approx((0.1, 0.1, 0))


def test_only_common_weeks_are_compared(store: Path, short_coverage: Coverage) -> None:
    """Weeks that only the store has are ignored."""
    add_weeks(store, short_coverage, {}, start=1, usual=(100_000, 9_000, 9_000, 9_000))
    rows = evaluate(store, write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE))
    assert {row.median for row in rows} == {0.0}
    assert by_level(rows)["state", "vaccination_intent"].points == 3


def test_regions_that_the_truth_does_not_have_are_not_compared(store: Path, short_coverage: Coverage) -> None:
    """They count as published, but not in the errors."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE, omitted=("geoId/06075", "geoId/35"))
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


@pytest.mark.parametrize("what", ["spec", "geography"])
def test_a_truth_of_another_release_is_refused(store: Path, short_coverage: Coverage, run: Run, what: str) -> None:
    """A truth says to which spec and geography it belongs; the error names both files."""
    identity = identity_of(short_coverage) | {what: "other"}
    truth = write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE, identity=identity)
    code, out, err = run("evaluate", "--store", store, "--truth", truth)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{truth}: is of another {what} than {store}" in err


@pytest.mark.parametrize("identity", [{}, {"seed": "7"}])
def test_a_truth_that_does_not_say_of_what_is_refused(
    store: Path, short_coverage: Coverage, identity: dict[str, str]
) -> None:
    """Earlier versions wrote no identity: the counts might be those of another geography with the same ids."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE, identity=identity)
    with pytest.raises(InputError, match="is of another spec"):
        evaluate(store, truth)
    duckdb.execute(f"COPY (FROM {literal(str(truth))}) TO {literal(str(truth))} (FORMAT parquet)")
    with pytest.raises(InputError, match="does not say which spec and geography"):
        evaluate(store, truth)


def noisy_store(path: Path, coverage: Coverage, share: float, classifier: str = "") -> Path:
    """Commit the usual counts with fresh noise, after those of topics changed by a share."""
    cells = CellList(coverage)
    usual = np.tile(np.array(USUAL), len(cells.regions))
    topics = np.arange(usual.size) % len(USUAL) > 0
    noisy = add_noise(np.where(topics, usual * (1 + share), usual).astype(np.int64), cells.sigmas)
    week = Week(FIRST, coverage.spec.time_zone)
    with create_or_open_store(path, coverage) as opened:
        opened.commit_week(week, noisy, replace(entry_for(coverage, noisy, week), classifier=classifier))
    return path


def test_a_truth_is_accepted_with_noise_and_refused_with_more(tmp_path: Path, short_coverage: Coverage) -> None:
    """The store's own truth passes with real noise (false alarms: 1e-8); counts that are twice as large do not."""
    truth = write_truth(tmp_path / "truth.parquet", short_coverage, {})
    assert evaluate(noisy_store(tmp_path / "own.db", short_coverage, 0.0), truth)
    with pytest.raises(
        InputError, match=r"is not the truth of the log in .*: the counts differ by more than the noise"
    ):
        evaluate(noisy_store(tmp_path / "other.db", short_coverage, 1.0), truth)


def test_what_a_classifier_gets_wrong_is_not_held_against_a_truth(tmp_path: Path, short_coverage: Coverage) -> None:
    """The truth of a log of queries knows their real topics; only the counts of any search must be the same."""
    truth = write_truth(tmp_path / "truth.parquet", short_coverage, {})
    assert evaluate(noisy_store(tmp_path / "s.db", short_coverage, 1.0, classifier="c" * 64), truth)
    write_truth(truth, short_coverage, dict.fromkeys(STATES, (200_000, *USUAL[1:])))
    with pytest.raises(InputError, match="is not the truth of the log"):
        evaluate(tmp_path / "s.db", truth)


def test_where_zips_straddle_counties_one_level_must_agree(tmp_path: Path, short_coverage: Coverage) -> None:
    """A store that counts counties by the ZIP differs from where people were, but not in its ZIPs."""
    store = noisy_store(tmp_path / "s.db", short_coverage, 0.0)
    twice = {r.place_id: (200_000, *USUAL[1:]) for r in CellList(short_coverage).regions}
    coarser = {place: counts for place, counts in twice.items() if not place.startswith("zip/")}
    straddling = identity_of(short_coverage) | {"straddling": "some"}
    truth = write_truth(tmp_path / "truth.parquet", short_coverage, coarser, identity=straddling)
    assert evaluate(store, truth)
    for given, identity in ((coarser, None), (twice, straddling)):
        write_truth(truth, short_coverage, given, identity=identity)
        with pytest.raises(InputError, match="is not the truth of the log"):
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
    truth = write_truth(store.parent / "truth.parquet", short_coverage, {}, week=date(2021, 1, 11), usual=NOTHING)
    code, out, err = run("evaluate", "--store", store, "--truth", truth)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert len(lines) == 1 + 4 * 3
    assert lines[1] == ["country", "covid19_vaccination", "0", "0.0%", "-", "-", "-", "-"]
    write_truth(truth, short_coverage, IN_STORE)
    _, out, _ = run("evaluate", "--store", store, "--truth", truth)
    assert out.splitlines()[-1].split() == [
        *("postal_code", "safety_side_effects", "1", "50.0%"),
        *("0.0%", "0.0%", "100.0%", "100.0%"),
    ]


def test_the_command_prints_json(store: Path, short_coverage: Coverage, run: Run) -> None:
    """The JSON has the same numbers; a number that does not exist is null, never NaN."""
    add_weeks(store, short_coverage, {}, start=1, usual=NOTHING)
    truth = write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE)
    code, out, err = run("evaluate", "--store", store, "--truth", truth, "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert [Accuracy(**row) for row in rows] == evaluate(store, truth)
    write_truth(truth, short_coverage, {}, week=date(2021, 1, 11), usual=NOTHING)
    _, out, _ = run("evaluate", "--store", store, "--truth", truth, "--json")
    assert "NaN" not in out
    assert {row["median"] for row in json.loads(out)} == {None}
    assert all(math.isnan(row.median) for row in evaluate(store, truth))


@pytest.mark.parametrize("week", [FIRST, date(2021, 1, 11)])
def test_the_command_draws_a_picture(store: Path, short_coverage: Coverage, run: Run, week: date) -> None:
    """The picture is SVG or PNG by the ending of its name, also when nothing was published."""
    add_weeks(store, short_coverage, {}, start=1, usual=NOTHING)
    given, usual = (IN_STORE, USUAL) if week == FIRST else ({}, NOTHING)
    truth = write_truth(store.parent / "truth.parquet", short_coverage, given, week=week, usual=usual)
    svg, png = store.parent / "accuracy.svg", store.parent / "accuracy.png"
    for picture in (svg, png):
        code, out, err = run("evaluate", "--store", store, "--truth", truth, "--picture", picture)
        assert (code, err) == (0, "")
        assert f"{picture}: the same as a picture" in out
    assert ElementTree.fromstring(svg.read_text(encoding="utf-8")).tag == "{http://www.w3.org/2000/svg}svg"
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_another_kind_is_refused(store: Path, short_coverage: Coverage, run: Run) -> None:
    """A name with another ending gives one line, and nothing is written."""
    truth = write_truth(store.parent / "truth.parquet", short_coverage, IN_STORE)
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
