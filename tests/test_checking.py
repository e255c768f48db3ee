"""Promises about `check`: it tells what `anonymize` would meet, spends nothing, and its report stays private."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import search_insights
from search_insights.anonymization import LogSource, Tolerance
from search_insights.checking import PRIVATE, Check, check
from search_insights.classifier.model import load_classifier
from search_insights.errors import InputError, StoreError
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Engine
from search_insights.private.region_names import RegionNames, region_names
from search_insights.private.spark.engine import spark_engine
from search_insights.private.spark.session import private_session
from search_insights.private.survey import (
    rows_of,
    shifted_times,
    survey_categories,
    survey_codes,
    survey_days,
    survey_times,
    survey_unknown_codes,
)
from search_insights.private.texts import survey_texts
from search_insights.spec.coverage import Coverage
from tests.support.logs import MONDAY, NOON, ROWS, SECRET, WEEK, Publisher, assert_refused, searches
from tests.support.stores import add_weeks, short_window_coverage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WEEK_BEFORE = 8  # 2021-03-01, in weeks from the first one of `add_weeks`
EVERYWHERE = "['94103', '95667', 'geoId/06003', 'US-NM', 'US-AL'][(i % 5) + 1]"
ALL_STATES = searches(region=EVERYWHERE)


def checked(publisher: Publisher, *arguments: Path | str, week: str = MONDAY) -> tuple[int, dict[str, Any]]:
    """Run `check --json`; returns the exit code and the report."""
    options = ("--geography", publisher.geography, "--week", week, "--json")
    code, out, err = publisher.run("check", *arguments, *options)
    assert err == ""
    report: dict[str, Any] = json.loads(out)
    return code, report


def kinds(report: dict[str, Any]) -> list[str]:
    return [warning["kind"] for warning in report["warnings"]]


def check_here(publisher: Publisher, log: Path, **options: Any) -> Check:
    return check(LogSource((str(log),)), [WEEK], publisher.coverage, **options)


def test_a_sound_log_has_no_warning(publisher: Publisher) -> None:
    """The report says in its first line that it is private, and that nothing stands."""
    log = publisher.log(ALL_STATES)
    code, out, err = publisher.run("check", log, "--geography", publisher.geography, "--week", MONDAY)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert (lines[0], lines[-1]) == (PRIVATE, "no warning stands")
    assert set(publisher.folder.iterdir()) == {publisher.geography, log}


def test_everything_that_was_read_adds_up(publisher: Publisher) -> None:
    """Rows, days, user-days, codes and categories are those of the log, also where a user searches twice a day."""
    log = publisher.log(searches(region=EVERYWHERE, user_id="i % 70"))
    _, report = checked(publisher, log)
    (week,) = report["weeks"]
    assert (report["files"], report["rows"], report["times"]["inside"]) == (1, ROWS, ROWS)
    assert [(day["rows"], day["used"], day["user_days"]) for day in week["days"]] == [(20, 20, 10)] * 7
    codes = {entry["level"]: (entry["rows"], entry["regions"], entry["known"]) for entry in week["codes"]}
    assert codes == {"state": (56, 2, 3), "county": (28, 1, 5), "postal_code": (56, 2, 5)}
    rows = {entry["category"]: entry["rows"] for entry in week["categories"]}
    assert rows == {"none": 56, "A1": 28, "A2": 28, "A3": 28}
    assert [entry["per_100_000"] for entry in week["categories"]] == [40_000.0, 20_000.0, 20_000.0, 20_000.0]


def test_the_most_frequent_unknown_codes_are_shown(publisher: Publisher) -> None:
    """They are why rows are not used; a naming error shows as one code with many rows."""
    region = "CASE WHEN i < 30 THEN 'Kalifornien' WHEN i < 33 THEN 'x' || i WHEN i < 40 THEN 'US' ELSE '94103' END"
    code, report = checked(publisher, publisher.log(searches(region=region)))
    (week,) = report["weeks"]
    assert code == 1
    assert "unused-rows" in kinds(report)
    assert (week["unused"]["unknown_region"], week["unused"]["country_only"]) == (33, 7)
    (unknown,) = week["unknown_codes"]
    assert [(code["value"], code["rows"]) for code in unknown["codes"]][:2] == [("Kalifornien", 30), ("US", 7)]


def test_the_unknown_codes_of_each_level_are_shown(publisher: Publisher) -> None:
    """Where levels have columns, each column has its own unknown codes and its own count of rows."""
    log = publisher.log(
        searches(region="", more="'US-CA' AS st, CASE WHEN i < 20 THEN '6075' ELSE '06075' END AS fips")
    )
    _, report = checked(publisher, log, "--column", "state=st", "--column", "county=fips")
    (week,) = report["weeks"]
    assert week["unknown_rows"] == {"county": 20}
    assert week["unknown_codes"] == [{"column": "county", "codes": [{"value": "6075", "rows": 20}]}]
    assert {(c["column"], c["level"], c["rows"]) for c in week["codes"]} == {
        ("state", "state", ROWS),
        ("county", "county", ROWS - 20),
    }


def test_all_that_is_wrong_is_told_at_once(publisher: Publisher) -> None:
    """What `anonymize` refuses one by one is a list here, each with what to do, and the exit code is 1."""
    noon = f"TIMESTAMP '{MONDAY} 12:00:00' + to_days((i % 6)::INTEGER)"
    region = "CASE WHEN i < 20 THEN '35013' WHEN i < 40 THEN '06075' WHEN i < 60 THEN NULL ELSE '94103' END"
    log = publisher.log(searches(timestamp=noon, region=region, category="CASE WHEN i = 70 THEN 'A9' END"))
    code, report = checked(publisher, log)
    assert code == 1
    assert set(kinds(report)) == {
        *("naive-times", "unknown-category", "ambiguous-codes", "unused-rows", "missing-days", "empty-region"),
    }
    assert len(kinds(report)) == 6
    texts = {warning["kind"]: warning["text"] for warning in report["warnings"]}
    assert "--naive-zone America/Los_Angeles" in texts["naive-times"]
    assert "--allow-missing-day 2021-03-14" in texts["missing-days"]
    assert "--code-level" in texts["ambiguous-codes"]
    assert "--max-left-out" in texts["unused-rows"]
    assert not any("\n" in text for text in texts.values())


def test_a_named_zone_answers_the_question(publisher: Publisher) -> None:
    """Times without a zone are a warning until the zone is named; the report says how they were read."""
    log = publisher.log(searches(region=EVERYWHERE, timestamp=f"({NOON}) AT TIME ZONE 'UTC'"))
    _, report = checked(publisher, log, "--naive-zone", "UTC")
    times = report["times"]
    assert kinds(report) == []
    assert (times["kind"], times["zone"]) == ("clock", "UTC")
    assert (times["first"], times["last"]) == ("2021-03-08 20:00:00", "2021-03-14 20:00:00")


def test_rows_near_the_weeks_are_counted(publisher: Publisher) -> None:
    """`anonymize` ignores rows of the day before and after; the report says how many there are."""
    hours = "TIMESTAMPTZ '2021-03-06 08:00:00+00' + to_hours((i * 12)::INTEGER)"
    times = check_here(publisher, publisher.log(searches(timestamp=hours, rows=24))).times
    assert (times.day_before, times.inside, times.day_after) == (2, 14, 2)
    assert (times.elsewhere, times.unreadable) == (6, 0)


@pytest.mark.parametrize(("zone", "shifted"), [("America/Los_Angeles", False), ("Asia/Tokyo", True), ("UTC", True)])
def test_times_in_the_wrong_zone_are_noticed(publisher: Publisher, zone: str, shifted: bool) -> None:
    """A log that was cut at its own midnight and is read in another zone is empty at one end of the week."""
    every_minute = f"TIMESTAMP '{MONDAY} 00:00:00' + to_minutes(i::INTEGER)"
    log = publisher.log(searches(region=EVERYWHERE, timestamp=every_minute, rows=7 * 24 * 60))
    code, report = checked(publisher, log, "--naive-zone", zone)
    assert ("shifted-times" in kinds(report)) == shifted
    assert code == int(bool(kinds(report)))


def test_texts_are_shown_as_the_model_takes_them(publisher: Publisher) -> None:
    """The most frequent texts of each category, and those near the boundary with their margins."""
    texts = "['covid vaccine near me', 'is the covid vaccine safe', 'weather', 'Weather', 'pfizer shot pregnant']"
    log = publisher.log(searches(region=EVERYWHERE, category="", more=f"{texts}[least(i % 7, 4) + 1] AS query"))
    (week,) = check_here(publisher, log).weeks
    found = {entry.category: entry.frequent for entry in week.categories}
    assert [(text.value, text.rows) for text in found["A1"]] == [("covid vaccine near me", 20)]
    assert {text.value for text in found["none"]} >= {"weather", "Weather"}
    assert sum(entry.rows for entry in week.categories) == ROWS
    assert week.texts is not None
    assert (week.texts.distinct, week.texts.rows, week.texts.all_rows) == (5, ROWS, ROWS)
    assert week.texts.near[0].text == "pfizer shot pregnant"
    assert {text.category for text in week.texts.near if text.margin > 0} <= {"A1", "A2", "A3"}
    assert {text.category for text in week.texts.near if text.margin <= 0} <= {"none"}


def test_nothing_is_spent_or_stored(publisher: Publisher) -> None:
    """Not a byte of the folder changes: the store is only read."""
    add_weeks(publisher.store, publisher.coverage, {}, start=WEEK_BEFORE)
    log = publisher.log()
    before = {path: path.read_bytes() for path in publisher.folder.iterdir()}
    code, report = checked(publisher, log, "--store", publisher.store)
    assert (code, report["weeks"][0]["comparison"]["week"]) == (1, "2021-03-01")
    assert {path: path.read_bytes() for path in publisher.folder.iterdir()} == before


def test_a_collapsed_state_is_told_by_check_and_refused_by_anonymize(publisher: Publisher) -> None:
    """Next to noisy counts of 100,000, a log of 140 rows has lost every state. Only the report has the numbers."""
    add_weeks(publisher.store, publisher.coverage, {}, start=WEEK_BEFORE)
    log = publisher.log(ALL_STATES)
    _, report = checked(publisher, log, "--store", publisher.store)
    assert kinds(report) == ["collapsed-total", "collapsed-topic", "collapsed-region"]
    assert "100,000 to 28" in report["warnings"][2]["text"]
    accepted: list[str] = []
    for kind in kinds(report):
        code, out, err = publisher.anonymize(log, *accepted)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"go on with --accept {kind}" in err
        assert not any(number in err for number in ("100,000", "140", " 28"))
        accepted += ["--accept", kind]
    assert "Alabama (geoId/01), California (geoId/06), New Mexico (geoId/35)" in err
    assert len(publisher.ledger()) == 1
    assert checked(publisher, log, "--store", publisher.store, *accepted)[0] == 0
    assert publisher.anonymize(log, *accepted)[0] == 0
    assert len(publisher.ledger()) == 2


def test_a_state_that_is_missing_from_the_first_week_on_is_told(publisher: Publisher) -> None:
    """Without a week to compare with, a state without any search is a warning; the publisher may accept it."""
    _, report = checked(publisher, publisher.log())
    assert kinds(report) == ["empty-region"]
    assert "Alabama (geoId/01)" in report["warnings"][0]["text"]
    code, report = checked(publisher, publisher.folder / "log.parquet", "--accept", "empty-region")
    assert (code, kinds(report), [w["kind"] for w in report["accepted"]]) == (0, [], ["empty-region"])


def test_weeks_of_one_check_are_compared_with_each_other(publisher: Publisher) -> None:
    """The second week of a log is compared with the first, although neither is in a store."""
    big = searches(region=EVERYWHERE, rows=70_000)
    small = searches(region=EVERYWHERE, timestamp=f"{NOON} + to_days(7)")
    log = publisher.log(f"{big} UNION ALL {small}")
    weeks = [WEEK, replace(WEEK, first_day=WEEK.days[-1].replace(day=15))]
    found = check(LogSource((str(log),)), weeks, publisher.coverage)
    assert {warning.kind for warning in found.warnings} >= {"collapsed-total", "collapsed-region"}
    assert found.weeks[0].comparison is None
    assert found.weeks[1].comparison is not None
    assert not found.weeks[1].comparison.noisy


def test_only_what_can_be_looked_into_can_be_accepted(publisher: Publisher) -> None:
    """Unknown categories are never right, and missing days have an option of their own."""
    for kind in ("unknown-category", "typo"):
        result = publisher.anonymize(publisher.log(), "--accept", kind)
        assert_refused(publisher, result, f"--accept {kind}: the kinds that can be accepted are collapsed-total,")
    with pytest.raises(InputError, match="`accepted` typo"):
        Tolerance(accepted=frozenset({"typo"}))


def test_the_report_goes_to_a_file_of_its_owner_only(publisher: Publisher) -> None:
    """The file is for its owner alone, and what is printed then names the kinds of warnings and no number."""
    place = publisher.folder / "private"
    place.mkdir()
    log, target = publisher.log(), place / "check.json"
    arguments = ("--geography", publisher.geography, "--week", MONDAY, "--json", "--out", target)
    code, out, err = publisher.run("check", log, *arguments)
    assert (code, err) == (1, "")
    assert out == f"{target}: the report, which is private; warnings stand: empty-region\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert json.loads(target.read_text(encoding="utf-8"))["private"] == PRIVATE


@pytest.mark.parametrize("place", ["beside the store", "beside another store", "in a dataset", "beside a dataset"])
def test_the_report_is_never_written_next_to_the_store_or_dataset(publisher: Publisher, place: str) -> None:
    """What lies there is published, copied or backed up; the check does not even begin."""
    folder = publisher.folder / "place"
    folder.mkdir()
    (folder / ("other.db.journal" if place == "beside another store" else "notes.txt")).touch()
    if "dataset" in place:
        dataset = folder / "dataset" if place == "beside a dataset" else folder
        dataset.mkdir(exist_ok=True)
        (dataset / "datapackage.json").touch()
    store = ("--store", folder / "releases.db") if place == "beside the store" else ()
    before = sorted(folder.rglob("*"))
    arguments = ("--geography", publisher.geography, "--week", MONDAY, "--out", folder / "check.txt", *store)
    result = publisher.run("check", publisher.log(), *arguments)
    assert_refused(publisher, result, "--out", "the report is private")
    assert sorted(folder.rglob("*")) == before


def test_a_value_of_the_log_cannot_forge_a_line_of_the_report(publisher: Publisher) -> None:
    """Values are shown on one line, whatever they hold."""
    log = publisher.log(searches(region=f"'{SECRET}' || chr(10) || 'no warning stands' || chr(27)"))
    code, out, _ = publisher.run("check", log, "--geography", publisher.geography, "--week", MONDAY)
    assert code == 1
    assert "no warning stands" not in out.splitlines()
    assert "\x1b" not in out


def test_a_log_that_cannot_be_read_is_refused(publisher: Publisher) -> None:
    """Bad input is not a warning: one line, exit code 2."""
    log = publisher.log(searches(user_id=""))
    result = publisher.run("check", log, "--geography", publisher.geography, "--week", MONDAY)
    assert_refused(publisher, result, "no column 'user_id'")


def test_a_store_of_another_release_is_refused(publisher: Publisher, tmp_path: Path) -> None:
    """As `anonymize` refuses it: what is compared must be of the same spec and geography."""
    log, other = publisher.log(), short_window_coverage(tmp_path)
    store = add_weeks(tmp_path / "other.db", other, {}, start=WEEK_BEFORE)
    with pytest.raises(StoreError, match="the store was made with another spec"):
        check_here(publisher, log, store_path=store)


def test_a_store_without_weeks_is_like_none(publisher: Publisher) -> None:
    """A run that was killed may leave one; the next week is then the first."""
    log = publisher.log(ALL_STATES)
    duckdb.connect(str(publisher.store)).close()
    for store in (publisher.store, publisher.folder / "none.db"):
        found = check_here(publisher, log, store_path=store)
        assert (found.warnings, found.weeks[0].comparison, found.weeks[0].in_store) == ((), None, False)


def test_a_check_of_no_week_is_refused(publisher: Publisher) -> None:
    """There is nothing to check."""
    with pytest.raises(InputError, match="give at least one week"):
        check(LogSource(("log.parquet",)), [], publisher.coverage)


def test_check_is_in_the_python_api() -> None:
    """It is documented beside `anonymize`."""
    assert search_insights.check is check


def surveyed(engine: Engine, coverage: Coverage, names: RegionNames) -> list[object]:
    """Return all that a report takes from an engine by queries of its own."""
    requested, of_week = (WEEK.begin, WEEK.end), engine.log.between(WEEK.begin, WEEK.end)
    times = survey_times(engine, requested)
    return [
        (len(engine.log.files), rows_of(engine), times, shifted_times(engine, requested, replace(times, day_after=99))),
        survey_days(engine, WEEK),
        survey_codes(engine, coverage, names, of_week),
        survey_unknown_codes(engine, names, of_week),
        survey_categories(engine, coverage.spec, of_week),
        survey_texts(engine, load_classifier(), coverage.spec, of_week),
    ]


def test_spark_reports_the_same(spark: "SparkSession", publisher: Publisher) -> None:
    """Every part of the report is made by the same queries on every engine."""
    region = "CASE WHEN i < 5 THEN 'Kalifornien' ELSE '94103' END"
    log = publisher.log(searches(region=region, category="", more="'covid vaccine ' || i % 9 AS query"))
    source, coverage = LogSource((str(log),)), publisher.coverage
    names = region_names(coverage, source)
    there = surveyed(spark_engine(private_session(spark), source, coverage.spec, names), coverage, names)
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        assert there == surveyed(engine, coverage, names)
