"""Logs of JSON lines: every line is one search, read as it is written, or the log is refused."""

import json
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from search_insights.errors import LogError
from search_insights.private.duckdb_log import open_log
from search_insights.private.log import LogSource
from tests.support.logs import (
    MONDAY,
    ROWS,
    SECRET,
    ReadRow,
    read,
    searches,
    searches_of_day,
    write_log,
)

LINE = {"user_id": "u", "timestamp": f"{MONDAY}T20:00:00Z", "region": "94103", "category": "A1"}


def write_lines(path: Path, *lines: object) -> Path:
    """Write objects as JSON lines; text is written as it is."""
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def opened(log: Path, select: str = "user_id, region, category, query") -> list[tuple[object, ...]]:
    """Return the rows of the view `log`."""
    with duckdb.connect() as connection:
        open_log(connection, LogSource((str(log),)), "UTC")
        return connection.execute(f"SELECT {select} FROM log").fetchall()


def refusal(log: Path) -> str:
    """Return the message with which a log is refused; it never has a private value."""
    with pytest.raises(LogError) as refused:
        opened(log)
    assert SECRET not in str(refused.value)
    return str(refused.value)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=15)
@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=20))
@example(pairs=[("", '"'), ("null", "{}"), ('"quoted"', "\\"), ("a\nb", "\x00"), ("007", "[1]")])
def test_any_text_in_json_is_a_user_or_a_query(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    """A text is read as it was before it was written, whatever it contains."""
    rows = [{**LINE, "user_id": user, "query": query, "category": None} for user, query in pairs]
    for row in rows:
        del row["category"]
    found = opened(write_lines(tmp_path_factory.mktemp("any") / "log.jsonl", *rows), "user_id, query")
    assert sorted(found) == sorted(pairs)


def test_users_that_are_numbers_are_those_written_as_text(tmp_path: Path) -> None:
    """123 and "123" are one user, also where the number is larger than a machine's."""
    users = [123, "123", 18446744073709551616, "18446744073709551616", None]
    log = write_lines(tmp_path / "log.jsonl", *({**LINE, "user_id": user} for user in users))
    found = [user for (user,) in opened(log, "user_id")]
    assert sorted(found, key=str) == ["123", "123", "18446744073709551616", "18446744073709551616", None]


def test_types_are_not_guessed_from_the_first_rows(tmp_path: Path) -> None:
    """A user who comes late and looks different from the first 30,000 is read, not lost."""
    rows = [{**LINE, "user_id": str(i), "query": 1} for i in range(30_000)]
    log = write_lines(tmp_path / "log.jsonl", *rows, {**LINE, "user_id": "x7", "query": SECRET})
    (found,) = opened(log, "count(user_id), count(timestamp), max(user_id)")
    assert found == (30_001, 30_001, "x7")


def test_a_category_that_comes_late_is_used(tmp_path: Path) -> None:
    """Writers may leave out a key that has no value; queries are read only if no row has a category."""
    bare = {key: value for key, value in LINE.items() if key != "category"} | {"query": SECRET}
    log = write_lines(tmp_path / "log.jsonl", *[bare] * 5_000, LINE)
    assert opened(log, "count(*), count(category), count(query)") == [(5_001, 1, 0)]
    log = write_lines(tmp_path / "log.jsonl", *[bare] * 10)
    assert opened(log, "count(*), count(category), count(query)") == [(10, 0, 10)]


def test_other_keys_may_have_any_value(usual: list[ReadRow], tmp_path: Path) -> None:
    """Keys that are not used may hold lists and objects, blank lines may be there, and keys come in any order."""
    lines = write_log(tmp_path / "a.jsonl", searches(more="{'a': [i]} AS extra, i AS file")).read_text().split("\n")
    turned = [json.dumps(dict(reversed(json.loads(line).items()))) for line in lines if line]
    assert len(turned) == ROWS
    assert read(write_lines(tmp_path / "log.jsonl", *turned, "", "")) == usual


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (f'{{"user_id": "{SECRET}', 11),
        (f'{{"user_id": "{SECRET}"}} {{"user_id": "b"}}', 11),
        (f'["{SECRET}"]', 11),
        (f'"{SECRET}"', 11),
        (json.dumps({**LINE, "query": SECRET})[:-1] + f', "user_id": "{SECRET}"}}', 11),
    ],
    ids=["cut", "two objects", "a list", "a text", "a key twice"],
)
def test_a_line_that_is_not_one_object_is_refused(tmp_path: Path, line: str, number: int) -> None:
    """The error names the file and the line, and does not show the line."""
    log = write_lines(tmp_path / "log.jsonl", *[LINE] * 10, line, *[LINE] * 10)
    words = f"{log}: cannot be read as JSON lines, one object on each line; is the file complete? See line {number}"
    assert refusal(log) == words


def test_a_list_of_objects_is_refused(tmp_path: Path) -> None:
    """A file that is one JSON document over many lines is not JSON lines."""
    log = tmp_path / "log.json"
    log.write_text(json.dumps([LINE] * 3, indent=1))
    assert "one object on each line" in refusal(log)


def test_a_compressed_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    """It is not read as a shorter log."""
    log = write_log(tmp_path / "log.jsonl.gz", searches(rows=30_000))
    log.write_bytes(log.read_bytes()[:-9])
    assert refusal(log).startswith(f"{log}: cannot be read as JSON lines")


@pytest.mark.parametrize(
    ("role", "value", "words"),
    [
        ("user_id", 1.5, "expected text or whole numbers"),
        ("user_id", True, "expected text or whole numbers"),
        ("user_id", {SECRET: 1}, "expected text or whole numbers"),
        ("timestamp", 1615233600.25, "expected text or whole numbers"),
        ("timestamp", [SECRET], "expected text or whole numbers"),
        ("region", 94103, "expected text, because codes have leading zeros"),
        ("region", {"zip": SECRET}, "expected text, because codes have leading zeros"),
        ("category", [SECRET], "expected text"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(tmp_path: Path, role: str, value: object, words: str) -> None:
    """One such value, wherever it is, refuses the file: a number may have lost a zero, and 123.0 is not 123."""
    log = write_lines(tmp_path / "log.jsonl", *[LINE] * 3_000, {**LINE, role: value})
    assert refusal(log) == f"{log}: column {role!r}: {words}; some of its values are something else"


@pytest.mark.parametrize("role", ["user_id", "timestamp", "region"])
def test_a_key_that_never_occurs_is_a_missing_column(tmp_path: Path, role: str) -> None:
    """The error names the column and what maps another; other keys may be private and are not listed."""
    log = write_lines(tmp_path / "log.jsonl", {SECRET: 1, **{key: LINE[key] for key in LINE if key != role}})
    words = f"no column {role!r} for {role}; every line is one object, whose keys are the columns; map one with"
    assert refusal(log) == f"{log}: {words} `columns` {role}=NAME"


def test_a_log_without_a_topic_is_refused(tmp_path: Path) -> None:
    """Neither category nor query occurs in any row."""
    log = write_lines(tmp_path / "log.jsonl", {key: value for key, value in LINE.items() if key != "category"})
    assert "no column 'category' or 'query'" in refusal(log)


@pytest.mark.parametrize("role", ["user_id", "region", "category"])
def test_a_file_that_lacks_a_key_of_the_others_is_refused(tmp_path: Path, role: str) -> None:
    """Its searches would be lost, or counted without a category."""
    for day in range(3):
        write_log(tmp_path / f"{day}.jsonl", searches_of_day(day))
    log = write_log(tmp_path / "1.jsonl", f"SELECT * EXCLUDE ({role}) FROM ({searches_of_day(1)})")
    assert refusal(tmp_path).startswith(f"{log}: no column {role!r}, which other files of the log have")


def test_a_file_whose_categories_are_all_null_fits_the_others(usual: list[ReadRow], tmp_path: Path) -> None:
    """A key with null in every row is there; and a file without rows lacks nothing."""
    write_log(tmp_path / "log" / "a.jsonl")
    write_log(tmp_path / "log" / "b.jsonl", searches(user_id="1000 + i", category="NULL::VARCHAR"))
    (tmp_path / "log" / "c.jsonl").write_text("")
    found = read(tmp_path / "log")
    assert [row for row in found if int(row[0]) < 1000] == usual
    assert {row[3] for row in found if int(row[0]) >= 1000} == {"none"}


def test_an_empty_log_is_refused(tmp_path: Path) -> None:
    """A file without a line has no columns."""
    log = tmp_path / "log.jsonl"
    log.write_text("")
    assert "no column 'user_id'" in refusal(log)
