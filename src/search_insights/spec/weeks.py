"""Weeks and days: calendar dates in the release's time zone, and the instants at which they begin and end."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from search_insights.errors import InputError
from search_insights.spec.spec import WEEKDAYS, Spec
from search_insights.spec.zones import zone

DAYS_OF_WEEK = 7

# What is outside is not a week of searches, nor one whose end can be computed in every zone.
FIRST_WEEK, LAST_WEEK = date(1900, 1, 1), date(9990, 1, 1)


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """Seven calendar days of one time zone, named by the first of them."""

    first_day: date
    time_zone: str

    def __str__(self) -> str:
        return self.first_day.isoformat()

    @property
    def days(self) -> tuple[date, ...]:
        """The seven days in order."""
        return tuple(self.first_day + timedelta(days=i) for i in range(DAYS_OF_WEEK))

    @property
    def begin(self) -> datetime:
        """The instant at which the week begins."""
        return self.day_bounds(self.first_day)[0]

    @property
    def end(self) -> datetime:
        """The instant at which the next week begins."""
        return self.day_bounds(self.days[-1])[1]

    def day_bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the instants, in UTC, at which a day begins and ends: midnight to midnight, 23 to 25 hours."""
        midnights = (datetime.combine(d, time(), zone(self.time_zone)) for d in (day, day + timedelta(days=1)))
        begin, end = (midnight.astimezone(UTC) for midnight in midnights)
        return begin, end

    def is_over(self, now: datetime) -> bool:
        """Return whether the week has ended, so that no further event can fall into it."""
        return self.end <= now


def week_of(spec: Spec, first_day: date) -> Week:
    """Return the week that begins on a day; refuse a day on which no week begins."""
    if not FIRST_WEEK <= first_day <= LAST_WEEK:
        raise InputError(f"{first_day}: is outside the calendar of searches, which begins in {FIRST_WEEK.year}")
    weekday = WEEKDAYS[first_day.weekday()]
    if weekday != spec.first_day_of_week:
        back = (first_day.weekday() - WEEKDAYS.index(spec.first_day_of_week)) % DAYS_OF_WEEK
        near = first_day - timedelta(days=back)
        raise InputError(
            f"{first_day} is a {weekday.capitalize()}; weeks begin on {spec.first_day_of_week.capitalize()}: "
            f"use {near} for the week that contains it"
        )
    return Week(first_day, spec.time_zone)


def weeks_between(spec: Spec, first: date, last: date) -> Iterator[Week]:
    """Yield the weeks from the one that begins on `first` to the one that begins on `last`."""
    if last < first:
        raise InputError(f"the last week, {last}, is before the first, {first}")
    week_of(spec, last)
    day = week_of(spec, first).first_day
    while day <= last:
        yield Week(day, spec.time_zone)
        day += timedelta(days=DAYS_OF_WEEK)


def first_days(first: date, last: date) -> list[date]:
    """Return the first days of the weeks from one that begins on `first` to the one that begins on `last`."""
    return [first + timedelta(days=i) for i in range(0, (last - first).days + 1, DAYS_OF_WEEK)]
