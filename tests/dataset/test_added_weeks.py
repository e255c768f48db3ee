"""A table to which weeks were added is known by its bytes; anything else is left to the comparison of values."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_insights.dataset.added_weeks import weeks_added_to

HEADER = "date,place_id,value\n"
WEEKS = ("2021-01-04", "2021-01-11", "2021-01-18", "2021-01-25")
ROWS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.sampled_from(WEEKS)), st.integers(0, 99), min_size=1, max_size=20
)


def write(path: Path, rows: dict[tuple[int, str], int], header: str = HEADER) -> Path:
    lines = [f"{week},place/{place},{value}\n" for (place, week), value in sorted(rows.items())]
    path.write_text(header + "".join(lines), encoding="utf-8")
    return path


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, ROWS)
def test_weeks_are_added_only_if_every_row_of_the_old_weeks_is_the_same(
    tmp_path: Path, old: dict[tuple[int, str], int], new: dict[tuple[int, str], int]
) -> None:
    """The rows of the old table's weeks are the same in both: none changed, is missing, or is new."""
    weeks = {week for _, week in old}
    same = {key: value for key, value in new.items() if key[1] in weeks} == old
    for table, wanted in ((new, same), (old | {key: v for key, v in new.items() if key[1] not in weeks}, True)):
        found = weeks_added_to(write(tmp_path / "old.csv", old), write(tmp_path / "new.csv", table))
        assert found == ({date.fromisoformat(week) for week in weeks} if wanted else None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", HEADER),
        (HEADER + "2021-01-04,a,1", HEADER + "2021-01-04,a,1\n"),
        (HEADER + "2021-01-04,a,1\n", "date,place_id,other\n2021-01-04,a,1\n"),
        (HEADER + "2021-1-04,aaa,1\n", HEADER + "2021-1-04,aaa,1\n"),
        (HEADER + '2021-01-04,"a\nb",1\n', HEADER + '2021-01-04,"a\nb",1\n'),
        (HEADER + "2021-01-04,a,1\n", HEADER + "2021-01-11,a,1\n"),
    ],
    ids=["empty", "no last line end", "another header", "no date", "a row of two lines", "the week is gone"],
)
def test_what_is_not_plain_is_left_to_the_comparison(tmp_path: Path, old: str, new: str) -> None:
    """Files that differ in any other way, or whose rows do not begin with a week, are not judged by their bytes."""
    for name, text in (("old", old), ("new", new)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert weeks_added_to(tmp_path / "old", tmp_path / "new") is None


def test_a_table_of_no_rows_has_no_weeks(tmp_path: Path) -> None:
    """To a header alone every row is added."""
    old = write(tmp_path / "old.csv", {})
    assert weeks_added_to(old, write(tmp_path / "new.csv", {(1, WEEKS[0]): 5})) == set()
