"""Promises about the events of a simulated day: when they happen, and how precisely their place is known."""

import math
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from search_insights.spec.coverage import Coverage
from tests.support.simulated_logs import MONDAY, ONE_IN_A_MILLION, US_EVENTS, Query, simulate_small


@pytest.mark.parametrize(("week", "hours"), [(MONDAY, 23), (date(2021, 11, 1), 25), (date(2021, 1, 4), 24)])
def test_events_fall_within_their_local_day(tmp_path: Path, us_coverage: Coverage, week: date, hours: int) -> None:
    """From midnight to midnight in the spec's time zone, also when the clocks change, and in order of time."""
    zone = ZoneInfo("America/Los_Angeles")
    days = simulate_small(tmp_path / "log", us_coverage, week, events_per_week=70_000)
    for name, events in days.items():
        midnight = datetime.combine(date.fromisoformat(name), time(), zone)
        begin = midnight.timestamp() * 1e6
        end = datetime.combine(midnight.date() + timedelta(days=1), time(), zone).timestamp() * 1e6
        times = [row[1] for row in events]
        assert begin <= times[0] < begin + 600e6
        assert end - 600e6 < times[-1] < end
        assert times == sorted(times)
    assert (end - begin) / 3600e6 == hours


def test_people_search_more_by_day_than_by_night(us_log: Query) -> None:
    """The evening is busy and the early hours are quiet, in the time zone of the release."""
    hours: dict[int, int] = dict(us_log("SELECT hour(timestamp), count(*) FROM log GROUP BY 1"))
    assert len(hours) == 24
    assert hours[20] > 4 * hours[3]
    assert us_log(
        "SELECT count(*) FROM log WHERE date_trunc('day', timestamp) = '2021-03-14' AND hour(timestamp) = 2"
    ) == [(0,)]


def test_a_few_events_are_known_only_to_the_county_or_the_state(us_log: Query) -> None:
    """3 % and 1 %. A county is written as its place_id, because its code may be a ZIP elsewhere."""
    found: dict[str, int] = dict(us_log("SELECT level, count(*) FROM log JOIN names USING (region) GROUP BY 1"))
    assert sum(found.values()) == US_EVENTS
    for level, share in (("county", 0.03), ("state", 0.01)):
        error = found[level] - share * US_EVENTS
        slack = 500  # people who live in a county without ZIPs
        assert abs(error) < ONE_IN_A_MILLION * math.sqrt(share * US_EVENTS) + slack
        assert abs(error) + 0.1 * share * US_EVENTS > ONE_IN_A_MILLION * math.sqrt(share * US_EVENTS)
    assert us_log("SELECT count(*) FROM log WHERE region LIKE 'geoId/%'") == [(found["county"],)]
    assert us_log("SELECT count(*) FROM log WHERE region LIKE 'US-__'") == [(found["state"],)]
