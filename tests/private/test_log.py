"""Users, columns and categories of a log: each may have several forms, which are counted alike."""

import csv
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search_insights.commands.log_options import parse_columns
from search_insights.errors import UsageError
from search_insights.private.duckdb_log import open_log
from search_insights.private.log import LogSource
from search_insights.spec.coverage import Coverage
from tests.support.logs import (
    MONDAY,
    ROWS,
    SECRET,
    Publisher,
    ReadRow,
    by_cell,
    count,
    read,
    searches,
    write_log,
    write_rows,
)

TYPES = ("BIGINT", "TIMESTAMPTZ", "VARCHAR", "VARCHAR")


def test_a_log_is_counted_by_user_day_region_and_category(coverage: Coverage, tmp_path: Path) -> None:
    """A user's searches of a day count once for each category and level; the counts are computed by hand."""
    rows = [
        (1, "2021-03-08 20:00:00+00", "94103", "A1"),
        (1, "2021-03-08 21:00:00+00", "94103", "A1"),
        (1, "2021-03-09 20:00:00+00", "94103", None),
        (2, "2021-03-09 20:00:00+00", "95667", "A2"),
        *((3, f"2021-03-{day} 20:00:00+00", "US-NM", None) for day in range(10, 15)),
    ]
    log = write_rows(tmp_path / "log.parquet", rows, TYPES)
    assert by_cell(coverage, count(coverage, log).counts) == {
        ("geoId/06", "A0"): 3,
        ("geoId/06", "A1"): 1,
        ("geoId/06", "A2"): 1,
        ("geoId/06075", "A0"): 2,
        ("geoId/06075", "A1"): 1,
        ("zip/94103", "A0"): 2,
        ("zip/94103", "A1"): 1,
        ("geoId/06017", "A0"): 1,
        ("geoId/06017", "A2"): 1,
        ("zip/95667", "A0"): 1,
        ("zip/95667", "A2"): 1,
        ("geoId/35", "A0"): 5,
    }


# Users


@pytest.mark.parametrize(
    "user_id",
    [
        "i // 3",
        "(i // 3)::USMALLINT",
        "-(i // 3)",
        "'user ' || (i // 3)",
        "('00000000-0000-4000-8000-' || lpad((i // 3)::VARCHAR, 12, '0'))::UUID",
        "encode('user ' || (i // 3))",
        "('u' || (i // 3))::ENUM('u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9')",
    ],
)
def test_users_may_be_numbers_text_or_uuids(coverage: Coverage, tmp_path: Path, user_id: str) -> None:
    """Whatever the type of users, three searches of a user on one day in one place count once."""
    timestamp = f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_minutes(i::INTEGER)"
    query = searches(user_id=user_id, timestamp=timestamp, region="'94103'", category="'A1'", rows=30)
    days = " UNION ALL ".join(
        f"SELECT * REPLACE (timestamp + INTERVAL {day} DAY AS timestamp) FROM q" for day in range(7)
    )
    log = write_log(tmp_path / "log.parquet", f"WITH q AS ({query}) {days}")
    counts = by_cell(coverage, count(coverage, log).counts)
    assert set(counts.values()) == {70}
    assert {place for place, _ in counts} == {"geoId/06", "geoId/06075", "zip/94103"}


odd_text = st.text("ab1,;|\t'\"#\\ :-é漢", max_size=6)


@given(pairs=st.lists(st.tuples(odd_text, odd_text), min_size=1, max_size=20))
@example(pairs=[("'", "a"), ("'", "b")])  # not a quoted field of two lines
@example(pairs=[("#", "b"), ("a", "")])  # not a comment
def test_any_text_in_csv_is_a_user_or_a_query(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    """No row of CSV is skipped or split, whatever quotes, comment signs and separators its fields contain."""
    path = tmp_path_factory.mktemp("any") / "log.csv"
    rows = [(user, f"{MONDAY}T20:00:00Z", "94103", "A1", query) for user, query in pairs]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("user_id", "timestamp", "region", "category", "query"), *rows]
        )
    with duckdb.connect() as connection:
        open_log(connection, LogSource((str(path),)), "UTC")
        found = connection.execute("SELECT user_id, region, category FROM log").fetchall()
    assert found == [(user or None, "94103", "A1") for user, _ in pairs]


# Columns


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    "names",
    [("uid", "ts", "zip", "topic"), ('the "user" id', "time of day", "it's; here", "A1, A2"), ("1", "2", "3", "4")],
)
def test_columns_may_have_any_name(usual: list[ReadRow], tmp_path: Path, suffix: str, names: tuple[str, ...]) -> None:
    """Each role can be mapped to a column of any name, also with blanks and quotes."""
    roles = ("user_id", "timestamp", "region", "category")
    columns = dict(zip(roles, names, strict=True))
    quoted = (f'{role} AS "{name.replace(chr(34), chr(34) * 2)}"' for role, name in columns.items())
    log = write_log(tmp_path / f"log.{suffix}", f"SELECT {', '.join(quoted)} FROM ({searches()})")
    assert read(log, columns=columns) == usual


def test_options_map_columns(publisher: Publisher) -> None:
    """`--column ROLE=NAME` can be given for each role; a name may contain an equals sign."""
    query = f'SELECT user_id AS "u=1", timestamp AS ts, region, category FROM ({searches()})'
    code, out, err = publisher.anonymize(publisher.log(query), "--column", "user_id=u=1", "--column", "timestamp=ts")
    assert (code, err) == (0, "")
    assert "committed" in out


@pytest.mark.parametrize("pair", ["user_id", "user_id=", "=uid", "uid=user_id", "USER_ID=uid", ""])
def test_a_malformed_column_option_is_refused(pair: str) -> None:
    """The error repeats the option and lists the roles."""
    with pytest.raises(UsageError) as refused:
        parse_columns([pair])
    words = "expected ROLE=NAME with a role of user_id, timestamp, region, category, query"
    assert str(refused.value) == f"--column {pair}: {words}"


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["filename", "file", "name", "draw"])
def test_other_columns_may_have_names_that_the_program_uses(
    coverage: Coverage, usual: list[ReadRow], tmp_path: Path, suffix: str, name: str
) -> None:
    """A column may have the name of one that the program adds, unused or mapped to a role."""
    log = write_log(tmp_path / f"a.{suffix}", f"SELECT *, 'x' AS \"{name}\" FROM ({searches()})")
    assert read(log) == usual
    log = write_log(tmp_path / f"b.{suffix}", f'SELECT * EXCLUDE (region), region AS "{name}" FROM ({searches()})')
    assert read(log, columns={"region": name}) == usual
    assert sum(count(coverage, log, columns={"region": name}).counts) > 0


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("'vaccination_intent'", {"A0", "A1"}),
        ("'safety_side_effects'", {"A0", "A2"}),
        ("'A3'::ENUM('A3', 'B7')", {"A0", "A3"}),
        ("''", {"A0"}),
        ("NULL::VARCHAR", {"A0"}),
        ("'A0'", {"A0"}),
        ("'any'", {"A0"}),
    ],
)
def test_a_category_is_given_by_id_or_name_or_not_at_all(
    coverage: Coverage, tmp_path: Path, suffix: str, expression: str, kept: set[str]
) -> None:
    """Every search counts in A0; a search with a topic, given by id or name, also counts in that topic."""
    log = write_log(tmp_path / f"log.{suffix}", searches(region="'US-NM'", category=expression))
    counts = by_cell(coverage, count(coverage, log).counts)
    assert counts == {("geoId/35", category): 140 for category in kept}


def test_a_category_beside_the_query_is_used(usual: list[ReadRow], tmp_path: Path) -> None:
    """If a log has categories, its queries are not read."""
    log = write_log(tmp_path / "log.csv", searches(more=f"'{SECRET}, \"where\"' AS query"))
    assert read(log) == usual


def test_regions_and_users_may_be_enumerations(coverage: Coverage, tmp_path: Path) -> None:
    """A column may have an enumeration type."""
    log = write_log(tmp_path / "log.parquet", searches(region="'US-NM'::ENUM('US-CA', 'US-NM')", category="NULL"))
    assert by_cell(coverage, count(coverage, log).counts) == {("geoId/35", "A0"): 140}


def test_a_file_without_any_topic_fits_the_others(coverage: Coverage, tmp_path: Path) -> None:
    """A category column of nulls, to which pandas and Arrow give the null type, is accepted."""
    write_log(tmp_path / "b.parquet")
    table = pq.read_table(write_log(tmp_path / "a.parquet", searches(user_id="1000 + i")))
    pq.write_table(table.set_column(3, "category", pyarrow.nulls(len(table))), tmp_path / "a.parquet")
    assert by_cell(coverage, count(coverage, tmp_path).counts)["geoId/06", "A0"] == 2 * 3 * ROWS // 4
