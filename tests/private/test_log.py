"""A search log may come in many forms; each is read to the same counts, or refused in a line that betrays nothing."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import duckdb
import pyarrow
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search_insights.commands.anonymize import parse_columns
from search_insights.errors import LogError, UsageError
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.log import LogSource, SearchLog, open_log
from search_insights.private.log_files import find_files
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from tests.support.bounded import INSTANTS
from tests.support.logs import (
    MONDAY,
    ROWS,
    WEEK,
    Publisher,
    assert_refused,
    by_cell,
    count,
    read,
    searches,
    write_log,
    write_rows,
)

PACIFIC = ZoneInfo("America/Los_Angeles")
Rows = list[tuple[str, str, str, str]]
TYPES = ("BIGINT", "TIMESTAMPTZ", "VARCHAR", "VARCHAR")
# A word that stands for anything private; no output may have it.
SECRET = "hushhush"


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The usual log, read from one Parquet file."""
    rows = read(write_log(tmp_path_factory.mktemp("usual") / "log.parquet"))
    assert len(rows) == ROWS
    return rows


def of_day(day: int) -> str:
    """Take the usual log's searches of one day of the week."""
    return f"SELECT * FROM ({searches()}) WHERE date_diff('day', TIMESTAMPTZ '{MONDAY} 00:00:00+00', timestamp) = {day}"


# Files


def test_a_log_is_counted_by_user_day_region_and_category(coverage: Coverage, tmp_path: Path) -> None:
    """Three searches of two users on two days make the counts that one finds by hand."""
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


@pytest.mark.parametrize(
    "name", ["log.parquet", "LOG.PARQUET", "log.pq", "log.csv", "log.csv.gz", "log.tsv", "log.tsv.gz"]
)
def test_every_format_is_read_alike(usual: Rows, tmp_path: Path, name: str) -> None:
    """Parquet, CSV and TSV, packed or not, are told apart by their names and read alike."""
    path = write_log(tmp_path / name.lower()).rename(tmp_path / name)
    assert read(path) == usual


def test_a_semicolon_may_separate_columns(usual: Rows, tmp_path: Path) -> None:
    """CSV as spreadsheets of many countries write it is read too."""
    path = tmp_path / "log.csv"
    path.write_text(write_log(tmp_path / "a.csv").read_text().replace(",", ";"))
    assert read(path) == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("pattern", ["", "*", "**/*.{suffix}", "day=*", "day=2021-03-*/part.{suffix}"])
def test_a_log_may_be_named_by_folders_and_globs(usual: Rows, tmp_path: Path, suffix: str, pattern: str) -> None:
    """A log that is partitioned by day can be named by its folder or by any glob over folders or files."""
    for day in range(7):
        write_log(tmp_path / "log" / f"day=2021-03-{8 + day:02}" / f"part.{suffix}", of_day(day))
    path = f"{tmp_path / 'log'}/{pattern.format(suffix=suffix)}"
    assert read(path) == usual


def test_files_may_be_named_one_by_one_and_twice(usual: Rows, tmp_path: Path) -> None:
    """Many files are one log; one that is named twice is read once."""
    files = [write_log(tmp_path / f"{day}.parquet", of_day(day)) for day in range(7)]
    assert read(*files, tmp_path) == usual
    assert find_files([str(f) for f in [*files, *files]]) == tuple(str(f) for f in files)


def test_a_folder_is_searched_for_log_files_only(usual: Rows, tmp_path: Path) -> None:
    """What a cluster leaves beside its output does no harm."""
    write_log(tmp_path / "log" / "part-0.parquet")
    for name in ("_SUCCESS", "part-0.parquet.crc", "README.txt"):
        (tmp_path / "log" / name).write_text("not a log")
    assert read(tmp_path / "log") == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    "name", ["it's a log", '"quoted"', "lo[1]", "lo?", "lo*", "a;b, c", "журнал", "day=x y", "{0}", "$HOME"]
)
def test_any_file_name_is_just_a_name(usual: Rows, tmp_path: Path, suffix: str, name: str) -> None:
    """A file whose name has quotes, blanks or the signs of globs is read, and no other that it would match."""
    path = write_log(tmp_path / f"{name}.{suffix}")
    for decoy in ("lo1", "draw"):
        write_log(tmp_path / f"{decoy}.{suffix}", searches(region="'96120'"))
    assert read(path) == usual


def test_columns_are_matched_by_name_in_every_file(usual: Rows, tmp_path: Path) -> None:
    """Files may have their columns in another order, and columns of their own."""
    for day in range(7):
        columns = "*, 1 AS extra" if day % 2 else "category, region, timestamp, user_id"
        write_log(tmp_path / f"{day}.csv", f"SELECT {columns} FROM ({of_day(day)})")
    assert read(tmp_path) == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("role", ["user_id", "timestamp", "region", "category"])
def test_a_file_that_lacks_a_column_of_the_others_is_refused(publisher: Publisher, suffix: str, role: str) -> None:
    """Its searches would be lost, or pass for searches without a category; the file and the column are named."""
    for day in range(7):
        publisher.log(of_day(day), f"log/{day}.{suffix}")
    publisher.log(f"SELECT * EXCLUDE ({role}) FROM ({of_day(3)})", f"log/3.{suffix}")
    result = publisher.anonymize(publisher.folder / "log")
    assert_refused(publisher, result, f"log/3.{suffix}: no column {role!r}, which other files of the log have")


def test_a_partition_may_hold_the_category(usual: Rows, tmp_path: Path) -> None:
    """A column that is spelt in the folders' names is a column; the name for nothing means nothing."""
    for word in ("A1", "A2", "A3", None):
        where = f"category IS NOT DISTINCT FROM {'NULL' if word is None else repr(word)}"
        folder = tmp_path / f"category={word or '__HIVE_DEFAULT_PARTITION__'}"
        write_log(folder / "part.parquet", f"SELECT * EXCLUDE (category) FROM ({searches()}) WHERE {where}")
    assert read(tmp_path) == usual


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
    """Whatever the type, a user's three searches of a day in one place count once."""
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
    """No row of CSV is passed over or torn apart, whatever quotes, comments and separators its fields are made of."""
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
def test_columns_may_have_any_name(usual: Rows, tmp_path: Path, suffix: str, names: tuple[str, ...]) -> None:
    """Each role can be mapped to a column, also one whose name has blanks and quotes."""
    roles = ("user_id", "timestamp", "region", "category")
    columns = dict(zip(roles, names, strict=True))
    quoted = (f'{role} AS "{name.replace(chr(34), chr(34) * 2)}"' for role, name in columns.items())
    log = write_log(tmp_path / f"log.{suffix}", f"SELECT {', '.join(quoted)} FROM ({searches()})")
    assert read(log, columns=columns) == usual


def test_options_map_columns(publisher: Publisher) -> None:
    """`--column ROLE=NAME` can be given for each role; a name may hold an equals sign."""
    query = f'SELECT user_id AS "u=1", timestamp AS ts, region, category FROM ({searches()})'
    code, out, err = publisher.anonymize(publisher.log(query), "--column", "user_id=u=1", "--column", "timestamp=ts")
    assert (code, err) == (0, "")
    assert "committed" in out


@pytest.mark.parametrize("pair", ["user_id", "user_id=", "=uid", "uid=user_id", "USER_ID=uid", ""])
def test_a_column_option_that_maps_nothing_is_refused(pair: str) -> None:
    """The line repeats the option and lists the roles."""
    with pytest.raises(UsageError) as refused:
        parse_columns([pair])
    words = "expected ROLE=NAME with a role of user_id, timestamp, region, category, query"
    assert str(refused.value) == f"--column {pair}: {words}"


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["filename", "file", "name", "draw"])
def test_other_columns_of_a_log_do_no_harm(
    coverage: Coverage, usual: Rows, tmp_path: Path, suffix: str, name: str
) -> None:
    """A log may have columns that the program has names for too; they may even play a role."""
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
    """Every search counts as any; one with a topic counts in that topic too."""
    log = write_log(tmp_path / f"log.{suffix}", searches(region="'US-NM'", category=expression))
    counts = by_cell(coverage, count(coverage, log).counts)
    assert counts == {("geoId/35", category): 140 for category in kept}


def test_a_category_beside_the_query_is_used(usual: Rows, tmp_path: Path) -> None:
    """A log that was classified already may still have its queries; they are not looked at."""
    log = write_log(tmp_path / "log.csv", searches(more=f"'{SECRET}, \"where\"' AS query"))
    assert read(log) == usual


def test_regions_and_users_may_be_enumerations(coverage: Coverage, tmp_path: Path) -> None:
    """Columns of few distinct values may be written as such."""
    log = write_log(tmp_path / "log.parquet", searches(region="'US-NM'::ENUM('US-CA', 'US-NM')", category="NULL"))
    assert by_cell(coverage, count(coverage, log).counts) == {("geoId/35", "A0"): 140}


# Refusals


@pytest.mark.parametrize("role", ["user_id", "timestamp", "region"])
def test_a_missing_column_is_refused(publisher: Publisher, role: str) -> None:
    """The line names the file, the column, the columns that there are, and the option that maps one."""
    log = publisher.log(f"SELECT * EXCLUDE ({role}) FROM ({searches()})")
    there = ", ".join(c for c in ("user_id", "timestamp", "region", "category") if c != role)
    words = f"{log}: no column {role!r} for {role}; the columns are {there}; map one with --column {role}=NAME"
    assert_refused(publisher, publisher.anonymize(log), words)


def test_a_missing_mapped_column_is_refused_by_its_name(publisher: Publisher) -> None:
    """The line speaks of the name that the publisher gave."""
    log = publisher.log()
    result = publisher.anonymize(log, "--column", "user_id=uid")
    assert_refused(publisher, result, f"{log}: no column 'uid' for user_id")
    result = publisher.anonymize(log, "--column", "category=topic")
    assert_refused(publisher, result, f"{log}: no column 'topic' or 'query'", "--column category=NAME")


def test_csv_without_a_header_does_not_show_its_first_line(publisher: Publisher) -> None:
    """What would be the names of columns is someone's search: it is not shown."""
    log = publisher.folder / "log.csv"
    log.write_text(f"{SECRET}1,2021-03-08 12:00,{SECRET}2,{SECRET}3\n" * 50)
    code, out, err = publisher.anonymize(log)
    assert_refused(publisher, (code, out, err), f"{log}: no column 'user_id'", "the first line must name the columns")
    assert SECRET not in err


@pytest.mark.parametrize(
    ("role", "expression", "words"),
    [
        ("user_id", "i::DOUBLE", "expected a whole number, text or UUID; its type is DOUBLE"),
        ("user_id", "[i]", "expected a whole number, text or UUID; its type is BIGINT[]"),
        ("region", "94103", "expected text, because codes have leading zeros; its type is INTEGER"),
        ("region", "94103::BIGINT", "expected text, because codes have leading zeros; its type is BIGINT"),
        ("timestamp", "1615233600::BIGINT", "expected a timestamp; its type is BIGINT"),
        ("timestamp", f"DATE '{MONDAY}'", "expected a timestamp; its type is DATE"),
        ("timestamp", "TIME '12:00'", "expected a timestamp; its type is TIME"),
    ],
)
def test_a_column_of_the_wrong_type_is_refused(publisher: Publisher, role: str, expression: str, words: str) -> None:
    """The line names the file and the column, what was expected, and the type that it has."""
    log = publisher.log(f"SELECT * REPLACE ({expression} AS {role}) FROM ({searches()}), range(1) AS r(i)")
    assert_refused(publisher, publisher.anonymize(log), f"{log}: column {role!r}: {words}")


def test_neither_category_nor_query_is_refused(publisher: Publisher) -> None:
    """The line names both and the option that maps one."""
    log = publisher.log(searches(category=""))
    assert_refused(
        publisher, publisher.anonymize(log), f"{log}: no column 'category' or 'query'; map one with --column"
    )


def broken(path: Path, damage: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(damage(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:100] + bytes(b ^ 255 for b in whole[100:600]) + whole[600:],
        lambda whole: b"",
        lambda whole: b"user_id,timestamp\n",
    ],
    ids=["cut short", "damaged inside", "empty", "not Parquet"],
)
def test_an_unreadable_parquet_file_is_named(publisher: Publisher, damage: Callable[[bytes], bytes]) -> None:
    """Among many files, the line names the one that is not whole."""
    for day in range(7):
        publisher.log(searches(rows=1400), f"log/{day}.parquet")
    bad = broken(publisher.folder / "log" / "3.parquet", damage)
    assert_refused(publisher, publisher.anonymize(publisher.folder / "log"), f"{bad}: cannot be read as parquet")


@pytest.mark.parametrize(
    "line",
    [
        f'"{SECRET},2021-03-08 20:00:00+00,94103,A1'.encode(),
        f"{SECRET},2021-03-08 20:00:00+00,94103,A1,{SECRET},{SECRET}".encode(),
        SECRET.encode() + b"\xff\xfe,2021-03-08 20:00:00+00,94103,A1",
        f"{SECRET},2021-03-08 20:00:00+00".encode(),
    ],
    ids=["open quote", "too many fields", "not UTF-8", "too few fields"],
)
def test_a_line_of_csv_that_cannot_be_read_is_not_quoted(publisher: Publisher, line: bytes) -> None:
    """However deep in the file it is, the line names the file and keeps its content to itself, --debug or not."""
    log = broken(publisher.log(searches(rows=30_000), "log.csv"), lambda whole: whole + line + b"\n")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, f"{log}: cannot be read as csv; is the file whole?")
    assert SECRET not in result[2]
    assert SECRET not in publisher.anonymize(log, "--debug")[2]


def test_a_packed_file_that_was_cut_short_is_named(publisher: Publisher) -> None:
    """A gzipped log that ends too soon is not taken for a shorter log."""
    log = broken(publisher.log(searches(rows=30_000), "log.csv.gz"), lambda whole: whole[:-5000])
    assert_refused(publisher, publisher.anonymize(log), f"{log}: cannot be read as csv")


def test_an_empty_csv_file_is_refused(publisher: Publisher) -> None:
    """A file without so much as a header is no log."""
    log = publisher.folder / "log.csv"
    log.write_text("")
    assert_refused(publisher, publisher.anonymize(log), str(log), "user_id")


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_a_log_without_rows_has_no_days(publisher: Publisher, name: str) -> None:
    """Columns alone are not a week: every day is named as missing."""
    result = publisher.anonymize(publisher.log(searches(rows=0), name))
    assert_refused(publisher, result, "no usable event on Monday 2021-03-08, Tuesday 2021-03-09", "Sunday 2021-03-14")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("nothing.parquet", "nothing.parquet: no such file"),
        ("*.pq", "*.pq: no such file"),
        ("empty", "empty: a folder without log files"),
        ("empty/*", "empty/*: no such file"),
        ("notes.txt", "notes.txt: not a log file; expected a name that ends in .parquet, .pq, .csv"),
    ],
)
def test_what_is_no_log_is_refused(publisher: Publisher, pattern: str, words: str) -> None:
    """The line repeats what was given and says what may be."""
    (publisher.folder / "empty").mkdir()
    (publisher.folder / "notes.txt").write_text("hello")
    publisher.log()
    assert_refused(publisher, publisher.anonymize(publisher.folder / pattern), words)


def test_parquet_and_csv_together_are_refused(publisher: Publisher) -> None:
    """A log is of one format."""
    publisher.log(name="log/a.parquet")
    publisher.log(name="log/b.csv")
    words = "log: Parquet and CSV files together; give files of one format"
    assert_refused(publisher, publisher.anonymize(publisher.folder / "log"), words)


def test_files_of_types_that_do_not_agree_are_refused(publisher: Publisher) -> None:
    """A column that is a time in one file and a list in another cannot be read as either."""
    publisher.log(of_day(0), "log/0.parquet")
    publisher.log(f"SELECT * REPLACE ([1.5] AS timestamp) FROM ({of_day(1)})", "log/1.parquet")
    code, out, err = publisher.anonymize(publisher.folder / "log")
    assert_refused(publisher, (code, out, err), "log")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("debug", [(), ("--debug",)], ids=["plain", "debug"])
def test_an_unknown_category_is_refused_without_being_shown(
    publisher: Publisher, suffix: str, debug: tuple[str, ...]
) -> None:
    """The line names the column, the day and what is known; neither it nor a traceback has a value of the log."""
    query = searches(
        user_id=f"'{SECRET}-user-' || i",
        category=f"CASE WHEN i % 7 = 4 THEN '{SECRET}-category' WHEN i % 7 = 3 THEN 'A1' END",
        region=f"CASE WHEN i = 1 THEN '{SECRET}-region' ELSE '94103' END",
    )
    code, out, err = publisher.anonymize(publisher.log(query, f"log.{suffix}"), *debug)
    last = err.splitlines(keepends=True)[-1]
    words = "column 'category': rows of 2021-03-12 have an unknown value; expected A1 or vaccination_intent"
    assert_refused(publisher, (code, out, last), words)
    assert SECRET not in err


@pytest.mark.parametrize("word", ["a1", " A1", "A1 ", "Vaccination_Intent", "C1", "none", "0"])
def test_a_category_is_spelt_exactly(publisher: Publisher, word: str) -> None:
    """What is nearly a category is none: guessing could count a topic as another."""
    result = publisher.anonymize(publisher.log(searches(category=f"CASE WHEN i = 9 THEN '{word}' END")))
    assert_refused(publisher, result, "rows of 2021-03-10 have an unknown value")


def test_times_that_cannot_be_read_are_said_to_be(publisher: Publisher) -> None:
    """A log whose times are in a form of its own is not taken for a week without events."""
    log = publisher.log(searches(timestamp="'03/08/2021 12:00'"), "log.csv")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "140 of 140 rows cannot be used (140 with no time, or one outside the weeks")


def test_a_file_that_breaks_after_the_check_betrays_nothing(coverage: Coverage, tmp_path: Path) -> None:
    """An error of the database while a day is read quotes values of the log; it is replaced by one that does not."""
    log = write_log(tmp_path / "log.csv")
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        engine.connection.execute(f"""
            CREATE OR REPLACE TEMP VIEW log AS
            SELECT 1 AS user_id, TIMESTAMPTZ '2021-03-09 20:00:00+00' AS timestamp, '94103' AS region,
                   CAST(CAST('{SECRET}' AS INTEGER) AS VARCHAR) AS category""")
        with pytest.raises(LogError) as refused:
            engine.bound(WEEK.first_day, WEEK.begin, WEEK.end)
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__


def test_an_interrupt_in_the_middle_of_a_day_is_an_interrupt(coverage: Coverage) -> None:
    """Pressing Ctrl-C while the database works ends the run as interrupted, not as a fault."""

    class Interrupted:
        def execute(self, sql: str) -> None:
            raise RuntimeError("Query interrupted")  # so says DuckDB

    log = SearchLog(LogSource(()), (), (), INSTANTS, "BIGINT", queries=False)
    engine = DuckDbEngine(cast(duckdb.DuckDBPyConnection, Interrupted()), log, coverage.spec, model=None)
    with pytest.raises(KeyboardInterrupt):
        engine.bound(WEEK.first_day, WEEK.begin, WEEK.end)


@pytest.mark.parametrize(
    ("one", "other"), [("123::DOUBLE", "'123'"), ("123", "'123'"), ("123::DECIMAL(9, 2)", "'123'")]
)
def test_users_of_another_type_in_one_of_the_files_are_refused(publisher: Publisher, one: str, other: str) -> None:
    """123 and '123.0' would be two users to X1, so all files must write users the same way."""
    publisher.log(searches(user_id=one), "a.parquet")
    publisher.log(searches(user_id=other), "b.parquet")
    result = publisher.anonymize(publisher.folder / "[ab].parquet")
    assert_refused(publisher, result, "b.parquet: column 'user_id': its type is VARCHAR, in other files")


def test_a_file_without_a_single_topic_goes_with_the_others(coverage: Coverage, tmp_path: Path) -> None:
    """Its empty column has no type of its own where pandas or Arrow wrote it; nobody has to mend it."""
    write_log(tmp_path / "b.parquet")
    table = pq.read_table(write_log(tmp_path / "a.parquet", searches(user_id="1000 + i")))
    pq.write_table(table.set_column(3, "category", pyarrow.nulls(len(table))), tmp_path / "a.parquet")
    assert by_cell(coverage, count(coverage, tmp_path).counts)["geoId/06", "A0"] == 2 * 3 * ROWS // 4


def test_times_without_a_zone_are_read_in_one_zone_for_all_weeks(publisher: Publisher) -> None:
    """Read in another zone, the searches near a week's end would count in two weeks: that is refused."""
    first = publisher.log(searches(timestamp=f"TIMESTAMP '{MONDAY} 12:00:00' + to_days(i % 7)"), "first.parquet")
    assert publisher.anonymize(first, "--naive-zone", "UTC")[0] == 0
    later = searches(timestamp=f"TIMESTAMP '{MONDAY} 12:00:00' + to_days(7 + i % 7)")
    second = publisher.log(later, "second.parquet")
    code, _, err = publisher.run(
        "anonymize", second, "--store", publisher.store, "--geography", publisher.geography, "--week", "2021-03-15"
    )
    assert code == 2
    assert "read in UTC for earlier weeks, now in America/Los_Angeles; use --naive-zone UTC" in err
    assert len(publisher.ledger()) == 1
