"""How complete and correct a log must be: missing days, unusable rows, and rows of other weeks."""

import pytest

from tests.support.logs import (
    MONDAY,
    NOON,
    ROWS,
    SECRET,
    Publisher,
    assert_refused,
    by_cell,
    count,
    searches,
    searches_of_weeks,
)

# Missing days


def test_a_missing_day_is_refused_unless_it_is_allowed(publisher: Publisher) -> None:
    """A day without events is refused; the error names the option to allow it, and the ledger records its use."""
    log = publisher.log(f"SELECT * FROM ({searches()}) WHERE isodow(timestamp) != 3")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "week 2021-03-08: no usable event on Wednesday 2021-03-10; is the log complete?")
    result = publisher.anonymize(log, "--allow-missing-day", "2021-03-11")
    assert_refused(publisher, result, "Wednesday 2021-03-10", "--allow-missing-day 2021-03-10")
    code, _, err = publisher.anonymize(log, "--allow-missing-day", "2021-03-10", "--allow-missing-day", "2021-03-24")
    assert (code, err) == (0, "")
    assert [entry.missing_days for entry in publisher.ledger()] == ["2021-03-10"]


def test_a_complete_week_has_no_missing_days_in_the_ledger(publisher: Publisher) -> None:
    """The ledger records no missing days if none were allowed."""
    assert publisher.anonymize(publisher.log())[0] == 0
    assert [entry.missing_days for entry in publisher.ledger()] == [""]


def test_a_day_without_usable_rows_is_missing(publisher: Publisher) -> None:
    """A day whose rows all lack a user counts as a day without events."""
    log = publisher.log(searches(user_id="CASE WHEN i % 7 != 6 THEN i END"))
    result = publisher.anonymize(log, "--max-left-out", "1")
    assert_refused(publisher, result, "no usable event on Sunday 2021-03-14")


# Unusable rows


BAD_ROWS = {
    "no user": ({"user_id": "CASE WHEN i >= {bad} THEN i END"}, "without a user"),
    "no region": ({"region": "CASE WHEN i >= {bad} THEN '94103' END"}, "without a region"),
    "unknown region": (
        {"region": f"CASE WHEN i >= {{bad}} THEN '94103' ELSE '{SECRET}' END"},
        "with an unknown region",
    ),
    "no time": ({"timestamp": f"CASE WHEN i >= {{bad}} THEN {NOON} END"}, "with no time, or a time outside"),
    "another time": (
        {"timestamp": f"{NOON} - to_days(CASE WHEN i >= {{bad}} THEN 0 ELSE 70 END)"},
        "with no time, or a time outside",
    ),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_more_unusable_rows_than_the_limit_are_refused(publisher: Publisher, kind: str) -> None:
    """More than 5 % unusable rows are refused; the error says how many of which kind, and shows no value."""
    columns, words = BAD_ROWS[kind]
    bad = {role: expression.format(bad=8) for role, expression in columns.items()}
    result = publisher.anonymize(publisher.log(searches(**bad)))  # type: ignore[arg-type]
    assert_refused(publisher, result, f"week 2021-03-08: 8 of 140 rows cannot be used (8 {words}", "more than 5%")
    assert SECRET not in result[2]


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_unusable_rows_within_the_limit_are_told_to_the_operator_only(publisher: Publisher, kind: str) -> None:
    """5 % are accepted; the number of unused rows is printed on standard error only, and the rows are not counted."""
    columns, words = BAD_ROWS[kind]
    bad = {role: expression.format(bad=7) for role, expression in columns.items()}
    log = publisher.log(searches(**bad))  # type: ignore[arg-type]
    code, out, err = publisher.anonymize(log)
    assert code == 0
    assert err.startswith(f"week 2021-03-08: rows not used: 7 {words}")
    assert err.endswith("(private, not stored)\n")
    assert SECRET not in err
    assert out == f"week 2021-03-08: committed to {publisher.store}\n"
    counts = by_cell(publisher.coverage, count(publisher.coverage, log).counts)
    assert sum(n for (place, category), n in counts.items() if len(place) == 8 and category == "A0") == ROWS - 7


def test_unusable_rows_of_several_kinds_are_counted_once(publisher: Publisher) -> None:
    """Every kind is named with its number, and a row without user and region is counted once."""
    query = searches(
        user_id="CASE WHEN i >= 3 THEN i END",
        region=f"CASE WHEN i < 1 OR i BETWEEN 3 AND 5 THEN NULL WHEN i = 6 THEN '{SECRET}' ELSE '94103' END",
    )
    words = "rows not used: 3 without a user, 3 without a region, 1 with an unknown region (private, not stored)"
    code, _, err = publisher.anonymize(publisher.log(query))
    assert (code, err) == (0, f"week 2021-03-08: {words}\n")


@pytest.mark.parametrize(("share", "code"), [("0.1", 0), ("0.099", 2), ("1", 0), ("0", 2)])
def test_the_limit_can_be_set(publisher: Publisher, share: str, code: int) -> None:
    """--max-left-out is the largest share of unusable rows that is accepted."""
    log = publisher.log(searches(user_id="CASE WHEN i >= 14 THEN i END"))
    result = publisher.anonymize(log, "--max-left-out", share)
    assert result[0] == code
    if code:
        assert f"more than {100 * float(share):g}%; fix the log, or allow more with --max-left-out" in result[2]
        assert "--other-weeks" not in result[2]


# Other weeks


def test_files_of_other_weeks_do_not_count(publisher: Publisher) -> None:
    """A folder with one file for each week of a year is a log of any of its weeks; other files' rows do not count."""
    for offset in (-30, -1, 1, 30):
        bad = searches(user_id="NULL::BIGINT", timestamp=f"{NOON} + to_days({7 * offset})")
        publisher.log(bad, f"log/{offset}.parquet")
    publisher.log(name="log/0.parquet")
    code, _, err = publisher.anonymize(publisher.folder / "log")
    assert (code, err) == (0, "")


def test_events_within_a_day_of_the_week_do_not_count_as_unusable(publisher: Publisher) -> None:
    """Files may be cut at midnights of another zone, so events up to a day outside the week are not an error."""
    near = " UNION ALL ".join(
        searches(timestamp=f"TIMESTAMPTZ '{moment}'") for moment in ("2021-03-07 08:00:00+00", "2021-03-16 06:59:59+00")
    )
    code, _, err = publisher.anonymize(publisher.log(f"{searches()} UNION ALL {near}"))
    assert (code, err) == (0, "")
    far = publisher.log(
        f"{searches()} UNION ALL {searches(timestamp='TIMESTAMPTZ $$2021-03-07 07:59:59+00$$')}", "b.csv"
    )
    publisher.forget()
    assert_refused(publisher, publisher.anonymize(far), "140 of 280 rows cannot be used")


def test_one_file_of_many_weeks_needs_the_option(publisher: Publisher) -> None:
    """Other weeks in the week's own file may be a mistake: they are refused without --other-weeks."""
    log = publisher.log(searches_of_weeks(-3, 0, 3))
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "280 of 420 rows cannot be used", "; --other-weeks if the files are meant to")
    code, _, err = publisher.anonymize(log, "--other-weeks")
    assert code == 0
    assert err == (
        "week 2021-03-08: rows not used: 280 with no time, or a time outside the requested weeks "
        "(private, not stored)\n"
    )


def test_other_weeks_do_not_excuse_bad_rows(publisher: Publisher) -> None:
    """With --other-weeks, rows without a user still count as unusable."""
    query = f"{searches_of_weeks(-3)} UNION ALL {searches(user_id='CASE WHEN i % 2 = 0 THEN i END')}"
    result = publisher.anonymize(publisher.log(query), "--other-weeks")
    assert_refused(publisher, result, "70 without a user")


def test_one_file_of_the_weeks_asked_for_needs_no_option(publisher: Publisher) -> None:
    """If all weeks of a file are asked for, --other-weeks is not needed."""
    options = ("--from", MONDAY, "--to", "2021-03-22")
    code, out, err = publisher.anonymize(publisher.log(searches_of_weeks(0, 1, 2)), *options, week=None)
    assert (code, err) == (0, "")
    assert out.count("committed") == 3
