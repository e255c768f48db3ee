"""The files of a log: formats, names, folders and globs are read alike; files that are not a log are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from search_insights.private.log_files import find_files
from tests.support.logs import (
    SECRET,
    Publisher,
    ReadRow,
    assert_refused,
    read,
    searches,
    searches_of_day,
    write_log,
)


@pytest.mark.parametrize(
    "name",
    [
        *("log.parquet", "LOG.PARQUET", "log.pq", "log.csv", "log.csv.gz", "log.tsv", "log.tsv.gz"),
        *("log.jsonl", "log.jsonl.gz", "log.ndjson", "log.json", "log.json.gz"),
    ],
)
def test_every_format_is_read(usual: list[ReadRow], tmp_path: Path, name: str) -> None:
    """Parquet, CSV, TSV and JSON lines, compressed or not, are recognized by their names and give the same rows."""
    path = write_log(tmp_path / name.lower()).rename(tmp_path / name)
    assert read(path) == usual


def test_a_semicolon_may_separate_columns(usual: list[ReadRow], tmp_path: Path) -> None:
    """CSV with semicolons, as spreadsheets write it in many countries, is read."""
    path = tmp_path / "log.csv"
    path.write_text(write_log(tmp_path / "a.csv").read_text().replace(",", ";"))
    assert read(path) == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("pattern", ["", "*", "**/*.{suffix}", "day=*", "day=2021-03-*/part.{suffix}"])
def test_a_log_may_be_named_by_folders_and_globs(
    usual: list[ReadRow], tmp_path: Path, suffix: str, pattern: str
) -> None:
    """A log that is partitioned by day can be given by its folder or by any glob over folders or files."""
    for day in range(7):
        write_log(tmp_path / "log" / f"day=2021-03-{8 + day:02}" / f"part.{suffix}", searches_of_day(day))
    path = f"{tmp_path / 'log'}/{pattern.format(suffix=suffix)}"
    assert read(path) == usual


def test_files_may_be_named_one_by_one_and_twice(usual: list[ReadRow], tmp_path: Path) -> None:
    """Several files are one log; a file that is given twice is read once."""
    files = [write_log(tmp_path / f"{day}.parquet", searches_of_day(day)) for day in range(7)]
    assert read(*files, tmp_path) == usual
    assert find_files([str(f) for f in [*files, *files]]) == tuple(str(f) for f in files)


def test_a_folder_is_searched_for_log_files_only(usual: list[ReadRow], tmp_path: Path) -> None:
    """Other files in a folder, such as those that a cluster writes beside its output, are ignored."""
    write_log(tmp_path / "log" / "part-0.parquet")
    for name in ("_SUCCESS", "part-0.parquet.crc", "README.txt"):
        (tmp_path / "log" / name).write_text("not a log")
    assert read(tmp_path / "log") == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    "name", ["it's a log", '"quoted"', "lo[1]", "lo?", "lo*", "a;b, c", "журнал", "day=x y", "{0}", "$HOME"]
)
def test_any_file_name_is_taken_literally(usual: list[ReadRow], tmp_path: Path, suffix: str, name: str) -> None:
    """A file whose name has quotes, blanks or glob characters is read, and no other file that the glob matches."""
    path = write_log(tmp_path / f"{name}.{suffix}")
    for decoy in ("lo1", "log"):
        write_log(tmp_path / f"{decoy}.{suffix}", searches(region="'96120'"))
    assert read(path) == usual


def test_columns_are_matched_by_name_in_every_file(usual: list[ReadRow], tmp_path: Path) -> None:
    """Files may have their columns in different order, and additional columns."""
    for day in range(7):
        columns = "*, 1 AS extra" if day % 2 else "category, region, timestamp, user_id"
        write_log(tmp_path / f"{day}.csv", f"SELECT {columns} FROM ({searches_of_day(day)})")
    assert read(tmp_path) == usual


def test_a_partition_may_hold_the_category(usual: list[ReadRow], tmp_path: Path) -> None:
    """A column may be given by folders named key=value; Hive's default name means no value."""
    for word in ("A1", "A2", "A3", None):
        where = f"category IS NOT DISTINCT FROM {'NULL' if word is None else repr(word)}"
        folder = tmp_path / f"category={word or '__HIVE_DEFAULT_PARTITION__'}"
        write_log(folder / "part.parquet", f"SELECT * EXCLUDE (category) FROM ({searches()}) WHERE {where}")
    assert read(tmp_path) == usual


# Refusals


def damaged(path: Path, damage: Callable[[bytes], bytes]) -> Path:
    """Damage a file."""
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
    """Among several files, the error names the damaged one."""
    for day in range(7):
        publisher.log(searches(rows=1400), f"log/{day}.parquet")
    bad = damaged(publisher.folder / "log" / "3.parquet", damage)
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
    """Wherever in the file the line is, the error names the file and does not show the line, even with --debug."""
    log = damaged(publisher.log(searches(rows=30_000), "log.csv"), lambda whole: whole + line + b"\n")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, f"{log}: cannot be read as csv; is the file complete? See line 30002")
    assert SECRET not in result[2]
    assert SECRET not in publisher.anonymize(log, "--debug")[2]


def test_a_compressed_file_that_was_cut_short_is_named(publisher: Publisher) -> None:
    """A gzipped log that was cut short is refused, not read as a shorter log."""
    log = damaged(publisher.log(searches(rows=30_000), "log.csv.gz"), lambda whole: whole[:-5000])
    assert_refused(publisher, publisher.anonymize(log), f"{log}: cannot be read as csv")


def test_an_empty_csv_file_is_refused(publisher: Publisher) -> None:
    """A CSV file without a header is refused."""
    log = publisher.folder / "log.csv"
    log.write_text("")
    assert_refused(publisher, publisher.anonymize(log), str(log), "user_id")


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_a_log_without_rows_has_no_days(publisher: Publisher, name: str) -> None:
    """For a log without rows the error names every day as missing."""
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
def test_a_path_without_a_log_is_refused(publisher: Publisher, pattern: str, words: str) -> None:
    """The error repeats the path and says what is wrong with it."""
    (publisher.folder / "empty").mkdir()
    (publisher.folder / "notes.txt").write_text("hello")
    publisher.log()
    assert_refused(publisher, publisher.anonymize(publisher.folder / pattern), words)


def test_parquet_and_csv_together_are_refused(publisher: Publisher) -> None:
    """All files of a log have the same format."""
    publisher.log(name="log/a.parquet")
    publisher.log(name="log/b.csv")
    words = "log: mixes Parquet and CSV files; give files of one format"
    assert_refused(publisher, publisher.anonymize(publisher.folder / "log"), words)


def test_json_in_a_folder_is_a_log_only_where_there_is_no_other(usual: list[ReadRow], tmp_path: Path) -> None:
    """Beside Parquet, a file called .json describes the table; alone in a folder it is the log."""
    write_log(tmp_path / "table" / "part-0.parquet")
    (tmp_path / "table" / "metadata").mkdir()
    (tmp_path / "table" / "metadata" / "v1.json").write_text('{"format": 2}')
    assert read(tmp_path / "table") == usual
    assert read(tmp_path / "table" / "*") == usual
    write_log(tmp_path / "log" / "monday.json")
    assert read(tmp_path / "log") == usual


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("role", ["user_id", "timestamp", "region", "category"])
def test_a_file_that_lacks_a_column_of_the_others_is_refused(publisher: Publisher, suffix: str, role: str) -> None:
    """Its searches would be lost, or counted without a category; the error names the file and the column."""
    for day in range(7):
        publisher.log(searches_of_day(day), f"log/{day}.{suffix}")
    publisher.log(f"SELECT * EXCLUDE ({role}) FROM ({searches_of_day(3)})", f"log/3.{suffix}")
    result = publisher.anonymize(publisher.folder / "log")
    assert_refused(publisher, result, f"log/3.{suffix}: no column {role!r}, which other files of the log have")
