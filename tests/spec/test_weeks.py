"""Days and weeks are calendar dates of one time zone, and begin and end at its midnights."""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search_insights.commands.options import parse_day
from search_insights.errors import InputError, UsageError
from search_insights.spec.spec import WEEKDAYS, Spec
from search_insights.spec.weeks import Week, week_of, weeks_between
from tests.support.other_country import other_spec, specs

PACIFIC = "America/Los_Angeles"
# Some change their clocks at midnight, by half an hour, or not at all.
ZONES = (
    PACIFIC, "UTC", "Europe/Dublin", "Asia/Kathmandu", "America/Sao_Paulo", "America/Havana", "Africa/Cairo",
    "Australia/Lord_Howe", "Pacific/Kiritimati",
)  # fmt: skip

days = st.dates(date(2012, 1, 1), date(2037, 12, 31))


def hours(week: Week, day: date) -> float:
    begin, end = week.day_bounds(day)
    return (end - begin) / timedelta(hours=1)


@given(day=days, zone=st.sampled_from(ZONES))
@example(day=date(2018, 11, 4), zone="America/Sao_Paulo")  # its midnight does not exist
@example(day=date(2018, 2, 17), zone="America/Sao_Paulo")  # its last hour comes twice
@example(day=date(2021, 11, 7), zone="America/Havana")  # its first hour comes twice
@example(day=date(2023, 4, 28), zone="Africa/Cairo")
def test_a_day_holds_the_instants_of_its_date_and_no_others(day: date, zone: str) -> None:
    """Instants from the day's begin to its end have its date in the release's zone, and no others have."""
    begin, end = Week(day, zone).day_bounds(day)
    moment = timedelta(microseconds=1)
    instants = (begin - moment, begin, end - moment, end)
    dates = [instant.astimezone(ZoneInfo(zone)).date() for instant in instants]
    assert dates == [day - timedelta(days=1), day, day, day + timedelta(days=1)]


@given(first=days, zone=st.sampled_from(ZONES))
def test_the_days_of_a_week_follow_each_other_without_gap_or_overlap(first: date, zone: str) -> None:
    """Every instant of a week belongs to exactly one of its seven days."""
    week = Week(first, zone)
    bounds = [week.day_bounds(day) for day in week.days]
    assert len(bounds) == 7
    assert [begin for begin, _ in bounds[1:]] == [end for _, end in bounds[:-1]]
    assert (week.begin, week.end) == (bounds[0][0], bounds[-1][1])
    assert week.end == Week(first + timedelta(days=7), zone).begin


def test_days_have_23_and_25_hours_at_the_changes_of_summer_time() -> None:
    """The Sundays of the change have 23 and 25 hours; all other days of their weeks have 24."""
    spring, autumn = Week(date(2021, 3, 8), PACIFIC), Week(date(2021, 11, 1), PACIFIC)
    assert [hours(spring, day) for day in spring.days] == [24] * 6 + [23]
    assert [hours(autumn, day) for day in autumn.days] == [24] * 6 + [25]


def test_midnights_are_those_of_the_zone() -> None:
    """A Pacific week begins at 8:00 UTC, and ends at 7:00 UTC once summer time has begun."""
    week = Week(date(2021, 3, 8), PACIFIC)
    assert week.begin == datetime(2021, 3, 8, 8, tzinfo=UTC)
    assert week.end == datetime(2021, 3, 15, 7, tzinfo=UTC)


@given(spec=specs(), day=days)
def test_a_week_is_named_by_its_first_day_only(spec: Spec, day: date) -> None:
    """Any other day is refused, and the error names the first day of the week that contains it."""
    if WEEKDAYS[day.weekday()] == spec.first_day_of_week:
        assert week_of(spec, day) == Week(day, spec.time_zone)
        return
    with pytest.raises(InputError, match=f"{day} is a ") as refused:
        week_of(spec, day)
    (named,) = re.findall(r"use (\S+) for the week", str(refused.value))
    assert day in week_of(spec, date.fromisoformat(named)).days


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-25", "9990-01-08", "9999-12-27"])
def test_a_week_that_the_journal_could_not_hold_is_refused(paper: Spec, day: str) -> None:
    """A week that was committed and cannot be read back would lock its store for ever."""
    with pytest.raises(InputError, match="is outside the calendar"):
        week_of(paper, date.fromisoformat(day))


def test_the_refusal_names_the_weekdays_and_the_right_day(paper: Spec) -> None:
    """For a Wednesday the error names the Monday to use, or the Sunday where weeks begin on Sunday."""
    with pytest.raises(InputError) as refused:
        week_of(paper, date(2021, 3, 10))
    assert str(refused.value) == (
        "2021-03-10 is a Wednesday; weeks begin on Monday: use 2021-03-08 for the week that contains it"
    )
    with pytest.raises(InputError, match="is a Monday; weeks begin on Sunday: use 2023-10-01"):
        week_of(other_spec(), date(2023, 10, 2))


def test_from_and_to_name_the_first_and_the_last_week(paper: Spec) -> None:
    """Both weeks are included, and they may be the same."""
    first, last = date(2021, 1, 4), date(2021, 5, 31)
    weeks = list(weeks_between(paper, first, last))
    assert [week.first_day for week in weeks] == [first + timedelta(weeks=i) for i in range(22)]
    assert list(weeks_between(paper, first, first)) == [Week(first, PACIFIC)]


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2021-03-15", "2021-03-08", "the last week, 2021-03-08, is before the first, 2021-03-15"),
        ("2021-03-09", "2021-03-15", "2021-03-09 is a Tuesday"),
        ("2021-03-08", "2021-03-14", "2021-03-14 is a Sunday"),
    ],
)
def test_from_and_to_are_first_days_in_order(paper: Spec, first: str, last: str, words: str) -> None:
    """A wrong day at either end is refused, and the error names it."""
    with pytest.raises(InputError, match=re.escape(words)):
        list(weeks_between(paper, date.fromisoformat(first), date.fromisoformat(last)))


@pytest.mark.parametrize("text", ["8 March", "2021-3-8", "2021-02-30", "", "monday"])
def test_a_text_that_is_not_a_date_is_refused(text: str) -> None:
    """The error shows what a date looks like."""
    with pytest.raises(UsageError, match="expected a date such as 2021-03-08"):
        parse_day(text, "--week")


@given(first=days, zone=st.sampled_from(ZONES))
def test_a_week_is_over_from_the_instant_of_its_end(first: date, zone: str) -> None:
    """A week is over at its end, and not a microsecond before."""
    week = Week(first, zone)
    assert week.is_over(week.end)
    assert not week.is_over(week.end - timedelta(microseconds=1))
    assert not week.is_over(week.begin)


def test_weeks_sort_by_time() -> None:
    """The earlier week sorts first."""
    weeks = [Week(date(2021, 3, 15), PACIFIC), Week(date(2021, 3, 8), PACIFIC)]
    assert [str(week) for week in sorted(weeks)] == ["2021-03-08", "2021-03-15"]
