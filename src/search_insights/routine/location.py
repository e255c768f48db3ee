"""Where the log of a week is: locations with `{date}` and `{week}`, and which files of them are there.

A file holds the searches of one day or week, from midnight to midnight. Where that is the midnight of another zone than
the release's, the first or last hours of a week are in the file before or after, so that file belongs to the week too.
"""

import difflib
import glob
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from search_insights.errors import InputError
from search_insights.spec.spec import WEEKDAYS, Spec
from search_insights.spec.weeks import DAYS_OF_WEEK, FIRST_WEEK, LAST_WEEK, Week

_PLACEHOLDERS = ("date", "week")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_DAY = re.compile(r"(?=(\d{4}-\d{2}-\d{2}))")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:")  # s3a://..., table:...: Spark finds it, this machine does not


def require_placeholders(pattern: str) -> None:
    """Refuse a placeholder that there is not; a ValueError says which was meant."""
    for name in _PLACEHOLDER.findall(pattern):
        if name not in _PLACEHOLDERS:
            close = difflib.get_close_matches(name, _PLACEHOLDERS, n=1, cutoff=0.3) or _PLACEHOLDERS
            raise ValueError(f"no placeholder {{{name}}}; did you mean {{{close[0]}}}?")


def beside(pattern: str, folder: Path) -> str:
    """Return a location relative to a folder, whose own name is not taken for a pattern; an address stays as it is."""
    if _ADDRESS.match(pattern) or Path(pattern).is_absolute() or folder == Path():
        return pattern
    return f"{glob.escape(str(folder))}/{pattern}"


def has_placeholder(pattern: str) -> bool:
    """Return whether a location stands for other files each day or week."""
    return bool(_PLACEHOLDER.search(pattern))


def _by_week(pattern: str) -> bool:
    return "{date}" not in pattern


def is_listed(pattern: str) -> bool:
    """Return whether the files of a location can be listed here, by the day or week that their names tell."""
    return has_placeholder(pattern) and not _ADDRESS.match(pattern)


@dataclass(frozen=True, slots=True)
class WeekLog:
    """The log of a week: where its files are, and the days without one.

    files        the files and folders that were found at the locations that can be listed
    other_weeks  the files hold other weeks, too
    listed       all files are known by the day or week in their names
    complete_at  when the last of the files is complete
    """

    week: Week
    patterns: tuple[str, ...]
    files: tuple[str, ...]
    missing: tuple[date, ...]
    other_weeks: bool
    listed: bool
    complete_at: datetime


@dataclass(frozen=True, slots=True)
class Location:
    """The locations of a log."""

    patterns: tuple[str, ...]
    spec: Spec
    file_zone: str

    def week_log(self, week: Week, there: "Found") -> WeekLog:
        """Return the log of a week, with the files that are there; all files of locations that cannot be listed."""
        named = [(p, day) for p in self.patterns if has_placeholder(p) for day in self._days(p, week)]
        gone = {(p, day) for p, day in named if p in there and day not in there[p]}
        fixed = [p for p in self.patterns if not has_placeholder(p)]
        filled = [self._filled(p, day) for p, day in named if (p, day) not in gone]
        files = [name for p, day in named for name in there.get(p, {}).get(day, ())]
        ends = [self._span(p, day)[1] for p, day in named]
        return WeekLog(
            week,
            patterns=tuple(dict.fromkeys([*filled, *fixed])),
            files=tuple(files),
            missing=tuple(sorted({day for _, day in gone})),
            other_weeks=bool(fixed) or any(_by_week(p) and day != week.first_day for p, day in named),
            listed=all(p in there for p in self.patterns),
            complete_at=max([week.end, *ends]),
        )

    def first_day_of_week(self, day: date) -> date:
        """Return the first day of the week that contains a day."""
        back = (day.weekday() - WEEKDAYS.index(self.spec.first_day_of_week)) % DAYS_OF_WEEK
        return day - timedelta(days=back)

    def _days(self, pattern: str, week: Week) -> Iterator[date]:
        """Yield the days that name the files with an instant of the week."""
        step = timedelta(days=DAYS_OF_WEEK if _by_week(pattern) else 1)
        day = week.first_day - 2 * step
        while day < week.first_day + timedelta(days=DAYS_OF_WEEK) + 2 * step:  # zones differ by 26 hours at most
            begin, end = self._span(pattern, day)
            if begin < week.end and week.begin < end:
                yield day
            day += step

    def _span(self, pattern: str, day: date) -> tuple[datetime, datetime]:
        return _span_of_file(_by_week(pattern), day, self.file_zone)

    def _filled(self, pattern: str, day: date) -> str:
        of_name = {"date": day, "week": self.first_day_of_week(day)}
        return _PLACEHOLDER.sub(lambda found: of_name[found[1]].isoformat(), pattern)

    def found(self) -> "Found":
        """Look which files are there, by the days that their names tell."""
        return {pattern: self._found_at(pattern) for pattern in self.patterns if is_listed(pattern)}

    def _found_at(self, pattern: str) -> dict[date, list[str]]:
        found: dict[date, list[str]] = {}
        wide = _PLACEHOLDER.sub("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]", pattern)
        for name in glob.iglob(wide, recursive=True):  # noqa: PTH207 - a pattern may be absolute
            for day in _days_in(name):
                # The name matches already; `**/` may stand for no folder at all, which fnmatch does not know.
                if fnmatchcase(name, self._filled(pattern, day).replace("**/", "*")) and _has_content(Path(name)):
                    found.setdefault(day, []).append(name)
        return found

    def weeks_found(self, there: "Found") -> set[date]:
        """Return the first days of the weeks that have a file."""
        return {self.first_day_of_week(day) for days in there.values() for day in days}


Found = dict[str, dict[date, list[str]]]  # the days that have a file, and the files, by location


@lru_cache(maxsize=1 << 12)  # neighbouring weeks ask for the same files
def _span_of_file(by_week: bool, day: date, zone: str) -> tuple[datetime, datetime]:
    """Return the first and last instant of the file that a day names."""
    named = Week(day, zone)
    return (named.begin, named.end) if by_week else named.day_bounds(day)


def _days_in(name: str) -> Iterator[date]:
    for text in dict.fromkeys(_DAY.findall(name)):
        with suppress(ValueError):  # 2021-99-99
            day = date.fromisoformat(text)
            if FIRST_WEEK <= day <= LAST_WEEK:  # 0001-01-01 is no day of searches: its week has no beginning
                yield day


def _has_content(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def patterns_of_weeks(
    patterns: Sequence[str],
    weeks: Iterable[Week],
    spec: Spec,
    file_zone: str | None = None,
    missing_days: Iterable[date] = (),
) -> tuple[str, ...]:
    """Return the locations of all files of some weeks; without the files of days that may be missing and are.

    A day whose file is neither there nor allowed to be missing is refused.
    """
    if not any(has_placeholder(pattern) for pattern in patterns):
        return tuple(patterns)
    location = Location(tuple(patterns), spec, file_zone or spec.time_zone)
    there = location.found()
    logs = [location.week_log(week, there) for week in weeks]
    missing = sorted({day for log in logs for day in log.missing} - set(missing_days))
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(
            f"{', '.join(patterns)}: no file for {missing[0]}{more}; complete the log or, if there was no search, "
            f"allow it with `missing_days` {missing[0]}"
        )
    return tuple(dict.fromkeys(pattern for log in logs for pattern in log.patterns))
