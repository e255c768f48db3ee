"""Where the log of a week is: the files whose names tell a day or a week."""

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import InputError
from search_insights.routine.location import Location, beside, patterns_of_weeks, require_placeholders
from search_insights.spec.weeks import Week
from tests.support.other_country import other_spec, plain_spec

SUNDAY = date(2023, 10, 1)
SPEC = other_spec()  # weeks begin on Sunday, in Kathmandu
WEEK = Week(SUNDAY, SPEC.time_zone)
ZONES = ("Asia/Kathmandu", "UTC", "America/Los_Angeles", "Pacific/Kiritimati", "Pacific/Pago_Pago")


def location(*patterns: str, zone: str = SPEC.time_zone) -> Location:
    return Location(patterns, SPEC, zone)


@given(st.dates(date(1990, 1, 1), date(2030, 1, 1)), st.sampled_from(ZONES), st.sampled_from(["{date}", "{week}"]))
def test_the_files_of_a_week_hold_every_instant_of_it_and_none_is_read_in_vain(
    day: date, zone: str, pattern: str
) -> None:
    """Whatever midnight the files are cut at: together they cover the week, and each has an instant of it."""
    place = Location((pattern,), plain_spec(), zone)
    week = Week(place.first_day_of_week(day), plain_spec().time_zone)
    days = [date.fromisoformat(name) for name in place.week_log(week, {}).patterns]
    spans = [
        Week(d, zone).day_bounds(d) if pattern == "{date}" else (Week(d, zone).begin, Week(d, zone).end) for d in days
    ]
    assert all(begin < week.end and week.begin < end for begin, end in spans)
    assert spans[0][0] <= week.begin
    assert spans[-1][1] >= week.end
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    assert place.week_log(week, {}).complete_at == max(week.end, spans[-1][1])


def test_files_cut_at_the_midnight_of_the_release_are_seven() -> None:
    """With another zone, the file before or after belongs to the week too."""
    own = location("{date}.csv").week_log(WEEK, {})
    assert own.patterns == tuple(f"2023-10-0{i}.csv" for i in range(1, 8))
    assert not own.other_weeks
    utc = location("{date}.csv", zone="UTC").week_log(WEEK, {})
    assert utc.patterns == ("2023-09-30.csv", *own.patterns)
    by_week = location("{week}.csv", zone="UTC").week_log(WEEK, {})
    assert by_week.patterns == ("2023-09-24.csv", "2023-10-01.csv")
    assert by_week.other_weeks


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("{date}.csv", ["2023-10-01.csv", "2023-10-02.csv"]),
        ("{week}/{date}-*.csv", ["2023-10-01/2023-10-01-a.csv", "2023-10-01/2023-10-02-b.csv"]),
        ("{date}", ["2023-10-01/part.csv", "2023-10-02/part.csv"]),
        ("year/**/{date}.csv", ["year/2023-10-01.csv", "year/2023/10/2023-10-02.csv"]),
        ("[[]a]/{date}.csv", ["[a]/2023-10-01.csv", "[a]/2023-10-02.csv"]),
    ],
)
def test_files_are_found_by_the_day_in_their_name(tmp_path: Path, pattern: str, files: list[str]) -> None:
    """In folders, with globs, with both placeholders; other names, and an empty folder, tell no day."""
    for name in (*files, "2023-13-01.csv", "2023-10-99.csv", "other.csv", "2023-10-03.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "2023-10-04").mkdir()
    place = location(f"{tmp_path}/{pattern}")
    there = place.found()
    assert list(there[place.patterns[0]]) == [date(2023, 10, 1), date(2023, 10, 2)]
    log = place.week_log(WEEK, there)
    assert log.missing == tuple(date(2023, 10, i) for i in range(3, 8))
    assert len(log.patterns) == 2
    assert place.weeks_found(there) == {SUNDAY}


def test_every_location_of_a_list_needs_its_file(tmp_path: Path) -> None:
    """A day that has one of two files is missing one; what cannot be listed here is taken as it is."""
    (tmp_path / "a-2023-10-01.csv").touch()
    place = location(f"{tmp_path}/a-{{week}}.csv", f"{tmp_path}/b-{{week}}.csv", "s3a://logs/{date}", "table:searches")
    log = place.week_log(WEEK, place.found())
    assert log.missing == (SUNDAY,)
    assert log.patterns[0] == f"{tmp_path}/a-2023-10-01.csv"
    assert log.patterns[1:3] == ("s3a://logs/2023-10-01", "s3a://logs/2023-10-02")
    assert log.patterns[-1] == "table:searches"
    assert log.other_weeks
    assert not log.listed


def test_a_day_without_a_file_is_refused_unless_it_may_be_missing(tmp_path: Path) -> None:
    """The day and the option are named; a day that may be missing, and is, is left out."""
    for day in range(1, 6):
        (tmp_path / f"2023-10-0{day}.csv").touch()
    patterns, sixth = [f"{tmp_path}/{{date}}.csv"], date(2023, 10, 6)
    with pytest.raises(
        InputError, match=r"\{date\}.csv: no file for 2023-10-06 and 1 more; .*`missing_days` 2023-10-06"
    ):
        patterns_of_weeks(patterns, [WEEK], SPEC)
    (tmp_path / "2023-10-07.csv").touch()
    allowed = patterns_of_weeks(patterns, [WEEK], SPEC, missing_days=[sixth, sixth - timedelta(days=1)])
    assert [Path(name).stem for name in allowed] == [f"2023-10-0{day}" for day in (1, 2, 3, 4, 5, 7)]
    assert patterns_of_weeks(["a.csv", "b"], [WEEK], SPEC) == ("a.csv", "b")


@pytest.mark.parametrize(("wrong", "meant"), [("{day}", "{date}"), ("{weeks}", "{week}"), ("{}", "{date}")])
def test_an_unknown_placeholder_names_the_right_one(wrong: str, meant: str) -> None:
    """A misspelt one would stand for no file, for ever."""
    with pytest.raises(ValueError, match=rf"did you mean \{meant}"):
        require_placeholders(f"logs/{wrong}.csv")


def test_a_location_is_relative_to_the_folder_of_its_settings() -> None:
    """Whose own name is no pattern; absolute paths and addresses stay."""
    assert beside("logs/{date}", Path("/a[b]")) == "/a[[]b]/logs/{date}"
    assert beside("logs", Path()) == "logs"
    assert beside("/logs", Path("/a")) == "/logs"
    assert beside("s3a://x/{date}", Path("/a")) == "s3a://x/{date}"
    assert beside("table:x", Path("/a")) == "table:x"
