"""Whatever the input, the program succeeds, or says in one line what is wrong and writes nothing.

The corpus is built here, and Hypothesis adds to it. Private values in it contain SECRET, which must not be printed.
"""

import gzip
import os
import random
import resource
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_insights.commands.cli import main
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec, spec_toml
from tests.lab.kill_cases import PUBLISH, WEEKS, anonymize_words, week_log
from tests.lab.kills import run_process
from tests.support.command_line import Run, assert_one_line
from tests.support.logs import MONDAY, ROWS, SECRET, Publisher, little_geography, searches, write_log
from tests.support.other_country import OTHER_REGIONS, OTHER_SPEC, write_csv

HEADER = "user_id,timestamp,region,category,query\n"
LINES = "".join(f"{SECRET}{i},2021-03-{8 + i % 7:02d}T20:00:00Z,94103,A1,{SECRET} q{i}\n" for i in range(ROWS))
CSV = HEADER + LINES
DOUBLE = "".join(f"{'x' if i else 'user_id'},{line}\n" for i, line in enumerate(CSV.splitlines()))
NOT_REGULAR = "not a regular file, and the log is read more than once"

Make = Callable[[Path], Path]


@pytest.fixture
def publisher(publisher: Publisher, temporary: Path) -> Publisher:
    """A publisher with a temporary folder in the publisher's own folder."""
    return publisher


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def assert_success_or_one_line(publisher: Publisher, log: Path, *options: str) -> tuple[int, str]:
    """Anonymize a log and check that the week is committed, or that there is one line and no file; return both."""
    before = files_in(publisher.folder)
    code, out, err = publisher.anonymize(log, *options)
    assert SECRET not in out + err
    assert "Traceback" not in err
    if code == 0:
        assert out == f"week {MONDAY}: committed to {publisher.store}\n"
        return code, ""
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert "fault of the program" not in err
    assert files_in(publisher.folder) == before
    return code, err


def parquet(**columns: str) -> Make:
    """Make the usual log with other columns."""
    return lambda folder: write_log(folder / "log.parquet", searches(**columns))  # type: ignore[arg-type]


def text(content: str | bytes, name: str = "log.csv") -> Make:
    """Make a file with this content."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def bomb(begin: bytes, name: str) -> Make:
    """Make a small file that becomes 50 MB in one line; when it is needed, because packing it takes time."""
    return lambda folder: text(gzip.compress(begin + b"0" * 50_000_000), name)(folder)


def cut_parquet(folder: Path) -> Path:
    path = write_log(folder / "log.parquet")
    path.write_bytes(path.read_bytes()[:-500])
    return path


def corrupt_parquet(folder: Path) -> Path:
    path = write_log(folder / "log.parquet", searches(user_id=f"'{SECRET}' || i", rows=5_000))
    data = bytearray(path.read_bytes())
    for place in range(20, len(data) - 2_000, 97):
        data[place] ^= 0xFF
    path.write_bytes(data)
    return path


def double_parquet(folder: Path) -> Path:
    table = pa.table(
        [["1"], ["2"], ["2021-03-08T20:00:00Z"], ["94103"], ["A1"]], names=["user_id", *HEADER.split(",")[:4]]
    )
    pq.write_table(table, folder / "log.parquet")
    return folder / "log.parquet"


def folder_of(name: str, target: str | None = None) -> Make:
    def make(folder: Path) -> Path:
        (folder / "log").mkdir()
        path = folder / "log" / name
        if target is None:
            path.mkdir()
        else:
            path.symlink_to(folder / "log" / target)
        return path

    return make


def loop_with_a_log(folder: Path) -> Path:
    (folder / "log").mkdir()
    (folder / "log" / "again").symlink_to(folder / "log")
    return write_log(folder / "log" / "log.parquet").parent


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "log.csv")
    return folder / "log.csv"


def secret(expression: str) -> str:
    """Return a column of texts that contain the secret."""
    return f"'{SECRET}' || {expression}"


# The input and the words of the error; no words if it is accepted.
CORPUS: dict[str, tuple[Make, str]] = {
    # Types
    "users that are fractions": (parquet(user_id="i + 0.5"), "column 'user_id': expected a whole number, text or UUID"),
    "users that are NaN": (parquet(user_id="'NaN'::DOUBLE"), "its type is DOUBLE"),
    "users that are true": (parquet(user_id="i % 2 = 0"), "its type is BOOLEAN"),
    "users that are lists": (parquet(user_id=f"['{SECRET}']"), "its type is VARCHAR[]"),
    "users that are structs": (parquet(user_id=f"{{'a': '{SECRET}'}}"), "its type is STRUCT"),
    "users beyond 64 bits": (parquet(user_id="i::HUGEINT * 10::HUGEINT ** 25"), "its type is DOUBLE"),
    "users below 0": (parquet(user_id="-9223372036854775807 + i"), ""),
    "users with NUL": (parquet(user_id=f"chr(0) || '{SECRET}' || i"), ""),
    "users of bytes": (parquet(user_id=f"encode('{SECRET}' || i)"), ""),
    "users of a megabyte": (parquet(user_id=f"'{SECRET}' || repeat('x', 1_000_000) || i"), ""),
    "no users at all": (parquet(user_id="NULL::VARCHAR"), "140 without a user"),
    "times that are numbers": (parquet(timestamp="20210308 + i"), "its numbers are no times from 1990 to 2099"),
    "times that are days": (parquet(timestamp="DATE '2021-03-08' + (i % 7)::INTEGER"), "its type is DATE"),
    "times that are text of no form": (parquet(timestamp=secret("i")), "140 with no time"),
    "times in the year 0": (parquet(timestamp="'0000-01-01 00:00:00'"), "no usable event on Monday"),
    "times in the year 9999": (parquet(timestamp="'9999-12-31 23:59:59'"), "no usable event on Monday"),
    "times at the end of the calendar": (parquet(timestamp="TIMESTAMPTZ '290000-01-01 00:00:00+00'"), "no usable"),
    "times without end": (parquet(timestamp="'infinity'::TIMESTAMPTZ"), "no usable event on Monday"),
    "times in zones that there are not": (parquet(timestamp="'2021-03-08 20:00:00 ' || 'Mars/Phobos'"), "no time"),
    "times in several zones": (
        parquet(timestamp="'2021-03-' || lpad((8 + i % 7)::VARCHAR, 2, '0') || ['T20:00:00Z', ' 12:00:00', "
                          "' 15:00:00 America/New_York', ' 23:00:00+03'][1 + i % 4]"), "70 of 140 rows cannot be used"),
    "times with several offsets": (
        parquet(timestamp="'2021-03-' || lpad((8 + i % 7)::VARCHAR, 2, '0') || ['T20:00:00Z', ' 20:00:00 UTC', "
                          "' 15:00:00-0500', ' 23:00:00.5+03'][1 + i % 4]"), ""),
    "regions that are numbers": (parquet(region="94103"), "column 'region': expected text, because codes have leading"),
    "regions that are not there": (parquet(region=secret("i")), "140 with an unknown region"),
    "regions with blanks": (parquet(region="' 94103'"), "140 with an unknown region"),
    "categories that are not there": (parquet(category=secret("i")), "have an unknown value"),
    "categories that are lists": (parquet(category="['A1']"), "have an unknown value"),
    "no categories": (parquet(category="NULL"), ""),
    # Columns
    "a column that is missing": (parquet(region=""), "no column 'region' for region"),
    "CSV with a column twice": (text(DOUBLE), "column 'user_id' occurs twice; keep one of them"),
    "Parquet with a column twice": (double_parquet, "column 'user_id' occurs twice; keep one of them"),
    "a column that only looks double": (parquet(more="i AS user_id_1"), ""),
    "CSV without a header": (text(LINES), "the first line must name the columns"),
    # Files
    "an empty CSV file": (text(""), "no column 'user_id'"),
    "a header alone": (text(HEADER), "no usable event on Monday"),
    "an empty Parquet file": (text("", "log.parquet"), "cannot be read as parquet; is the file complete?"),
    "text called Parquet": (text(CSV, "log.parquet"), "cannot be read as parquet"),
    "Parquet called CSV": (lambda f: write_log(f / "log.parquet").rename(f / "log.csv"), "cannot be read as csv"),
    "Parquet cut short": (cut_parquet, "cannot be read as parquet; is the file complete?"),
    "corrupt Parquet": (corrupt_parquet, "cannot be read as parquet; is the file complete?"),
    "text called gzip": (text(CSV, "log.csv.gz"), "cannot be read as csv"),
    "gzip cut short": (text(gzip.compress(os.urandom(9) + (CSV * 50).encode())[:-3000], "log.csv.gz"), "cannot"),
    "gzip": (text(gzip.compress(CSV.encode()), "log.csv.gz"), ""),
    "a bomb of one line": (bomb(HEADER.encode(), "log.csv.gz"), "as many fields"),
    "a bomb of one line of JSON": (bomb(b'{"a": "', "log.jsonl.gz"), "cannot"),
    "JSON in UTF-16": (text('{"user_id": "hushhush"}\n'.encode("utf-16"), "log.jsonl"), "cannot be read as JSON lines"),
    "a folder called Parquet": (folder_of("log.parquet"), "a folder without log files"),
    "a link to itself": (folder_of("log.parquet", "log.parquet"), NOT_REGULAR),
    "a link to nothing": (folder_of("log.parquet", "gone.parquet"), "not a regular file"),
    "a folder that holds itself": (loop_with_a_log, ""),
    "a pipe": (pipe, NOT_REGULAR),
    "a glob that matches nothing": (lambda f: f / "*.parquet", "no such file"),
    "a glob that is none": (lambda f: f / "[", "no such file"),
    "an address": (lambda f: Path("s3://bucket/log.parquet"), "no such file"),
    # The text of CSV
    "CSV with NULs": (text(CSV.replace(f"{SECRET}7,", f"{SECRET}\x007,")), ""),
    "CSV in Latin-1": (text(CSV.encode().replace(b"q7", b"\xe9\xff")), "cannot be read as csv"),
    "CSV in UTF-16": (text(CSV.encode("utf-16")), "cannot be read as csv"),
    "CSV with a mark of UTF-8": (text("\ufeff" + CSV), ""),
    "CSV with the line ends of Windows": (text(CSV.replace("\n", "\r\n")), ""),
    "CSV with a line too long": (text(CSV + SECRET + "x" * 10_000_000 + ",2021-03-08T20:00:00Z,94103,A1,\n"), "cannot"),
    "CSV with a field too many": (text(CSV.replace("94103", "94103,94103", 1)), "all lines have as many fields"),
    "CSV with a field too few": (text(CSV.replace(",94103", "", 1)), "all lines have as many fields"),
    "CSV with quotes": (text(CSV.replace(f"{SECRET} q8\n", f'"{SECRET} ""q8"", yes"\n')), ""),
    "CSV with a quote that does not end": (text(CSV.replace(f"\n{SECRET}7,", f'\n"{SECRET}7,')), "cannot be read"),
    "CSV with rows swallowed by a user": (
        text(CSV.replace(f"\n{SECRET}7,", f'\n"{SECRET}7,').replace(f"\n{SECRET}99,", f'\n{SECRET}99",')),
        "a value contains a line break; a stray quote may hide rows"),
    "CSV with rows swallowed by a query": (
        text(CSV.replace(f",{SECRET} q7\n", f',"{SECRET} q7\n').replace(f",{SECRET} q99\n", f',{SECRET} q99"\n')),
        "a value contains a line break; a stray quote may hide rows"),
}  # fmt: skip


@pytest.mark.parametrize("what", CORPUS)
def test_any_log_succeeds_or_is_refused_in_one_line(publisher: Publisher, what: str) -> None:
    """The error says what is wrong, shows nothing private, and nothing is written."""
    make, words = CORPUS[what]
    code, err = assert_success_or_one_line(publisher, make(publisher.folder))
    assert code == (2 if words else 0), err
    assert words in err


@pytest.mark.parametrize(
    "what", ["users that are structs", "categories that are not there", "corrupt Parquet", "CSV with a line too long"]
)
def test_a_traceback_shows_nothing_private(publisher: Publisher, what: str) -> None:
    """--debug shows where an error occurred, and no value of the log."""
    _, _, err = publisher.anonymize(CORPUS[what][0](publisher.folder), "--debug")
    assert "Traceback" in err
    assert SECRET not in err


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_log_may_have_hundreds_of_files(publisher: Publisher, suffix: str) -> None:
    """A log with a file for every hour of some weeks is read; the long version in evidence/ has 10,000."""
    log = publisher.folder / "log"
    first = write_log(log / f"0000.{suffix}")
    for number in range(1, 300):
        os.link(first, log / f"{number:04d}.{suffix}")
    assert publisher.anonymize(log)[0] == 0


EXPRESSIONS = st.sampled_from(
    [
        *("i", "-i", "i::UTINYINT", "i::HUGEINT", "i / 7", "'NaN'::FLOAT", "NULL", "NULL::VARCHAR", "true", "''"),
        *(f"'{SECRET}'", f"'{SECRET}' || i", f"['{SECRET}']", f"{{'{SECRET}': i}}", f"MAP {{'{SECRET}': i}}"),
        *(f"encode('{SECRET}')", "uuid()", "chr(0)", "repeat('9', 100000)", "INTERVAL 3 DAYS", "TIME '10:00'"),
        *("DATE '2021-03-08'", "TIMESTAMP '2021-03-08 12:00:00'", "TIMESTAMPTZ '2021-03-10 12:00:00+00'"),
        *("TIMESTAMP_NS '2021-03-09 12:00:00'", "'infinity'::TIMESTAMP", "'2021-03-11 12:00 Asia/Tokyo'", "'94103'"),
        *("'geoId/06075'", "'A1'", "'US-CA'", "'A2'::ENUM('A2')", "i::DECIMAL(38, 9)", "i::BIT", "'2021-03-12'"),
    ]
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.tuples(*([st.none() | EXPRESSIONS] * 4)), share=st.sampled_from(["0", "0.05", "1"]))
def test_any_types_succeed_or_are_refused_in_one_line(
    publisher: Publisher, columns: tuple[str | None, ...], share: str
) -> None:
    """Columns may have any types in any combination."""
    roles = ("user_id", "timestamp", "region", "category")
    given_columns = {role: column for role, column in zip(roles, columns, strict=True) if column is not None}
    publisher.log(searches(**given_columns))  # type: ignore[arg-type]
    days = [word for day in range(8, 15) for word in ("--allow-missing-day", f"2021-03-{day:02d}")]
    code, _ = assert_success_or_one_line(publisher, publisher.folder / "log.parquet", *days, "--max-left-out", share)
    if code == 0:
        publisher.forget()


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return a text with bytes changed, removed and added at random."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        place, what = draw.randrange(len(changed)), draw.random()
        if what < 0.4:
            changed[place] = draw.randrange(256)
        elif what < 0.7:
            del changed[place : place + draw.randint(1, 20)]
        else:
            changed[place:place] = draw.choice(
                [b",", b'"', b"\n", b"\0", b"-", b"9" * 20, b"=", b"[", b"nan", b"1e999"]
            )
    return bytes(changed)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_any_damage_to_csv_succeeds_or_is_refused_in_one_line(publisher: Publisher, seed: int) -> None:
    """CSV with bytes changed, removed and added is counted or refused."""
    path = publisher.folder / "log.csv"
    path.write_bytes(mutated(CSV.encode(), random.Random(seed)))
    if assert_success_or_one_line(publisher, path, "--max-left-out", "1")[0] == 0:
        publisher.forget()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["--geography", "--spec"]))
def test_any_damage_to_a_spec_or_geography_succeeds_or_every_problem_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, kind: str
) -> None:
    """`regions` with a damaged spec or geography answers, or says what is wrong with the file."""
    geography = little_geography(tmp_path)
    good = geography.read_bytes() if kind == "--geography" else spec_toml(load_spec()).encode()
    bad = tmp_path / ("bad.csv" if kind == "--geography" else "bad.toml")
    bad.write_bytes(mutated(good, random.Random(seed)))
    other = ("--geography", geography) if kind == "--spec" else ()
    capsys.readouterr()
    code = main(["regions", "94103", kind, str(bad), *(str(word) for word in other)])
    err = capsys.readouterr().err
    assert code in (0, 1, 2)
    assert "fault of the program" not in err
    first, *others = err.splitlines() or [""]
    assert not others or first.endswith(f" {len(others)} problems") or others[-1].endswith(" more")


# Names


@pytest.mark.parametrize("begin", ["=", "+", "-", "@"])
@pytest.mark.parametrize("column", ["name", "code", "place_id"])
def test_a_name_that_a_spreadsheet_would_run_is_refused(run: Run, tmp_path: Path, begin: str, column: str) -> None:
    """The dataset is CSV in a fixed form, so a name that begins like a formula cannot be published safely."""
    old = {"name": "Alabama", "code": "US-AL", "place_id": "geoId/01009"}[column]
    geography = little_geography(tmp_path)
    geography.write_text(geography.read_text().replace(old, f"{begin}HYPERLINK(1)"))
    code, out, err = run("regions", "94103", "--geography", geography)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"column {column!r}: got '{begin}HYPERLINK(1)'; it is published, and a spreadsheet would take" in err


def test_the_packaged_names_are_safe() -> None:
    """No name, code or place_id of the packaged country begins like a formula."""
    texts = [text for r in load_geography().regions for text in (r.name, r.code, r.place_id)]
    assert [text for text in texts if text.startswith(("=", "+", "-", "@"))] == []


def test_names_become_neither_sql_nor_paths_nor_html(tmp_path: Path) -> None:
    """Names and titles with SQL, paths and HTML are published as text everywhere."""
    folder = tmp_path / "work"
    folder.mkdir()
    bad = "../../'); DROP TABLE counts; /*<script>alert(1)</script>"
    rows = [(row[0], bad, *row[2:]) for row in OTHER_REGIONS]
    write_csv(folder / "qazaria.csv", rows)
    (folder / "heating-v2.toml").write_text(OTHER_SPEC.replace("What Qazaria asks", "<script>alert(1)</script>"))
    week_log(folder, WEEKS[0])
    for words in (anonymize_words(WEEKS[0]), PUBLISH):
        ended = run_process(words, folder)
        assert ended.code == 0, ended.text
    assert {path.name for path in tmp_path.iterdir()} == {"work"}
    assert all(path.resolve().parent == folder / "dataset" for path in (folder / "dataset").rglob("*"))
    for name in ("summary.svg", "PRIVACY.md"):
        assert "<script>" not in (folder / "dataset" / name).read_text()


# Bombs


def test_a_small_file_of_long_texts_does_not_fill_the_memory(tmp_path: Path) -> None:
    """With 10 MB of text for each of 100 users in a file of a few kB, --memory holds or the error says to raise it."""
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), pa.array(["9" * 10_000_000]))
    times = pa.array(["2021-03-08T20:00:00Z"] * 100)
    table = pa.table({"user_id": words, "timestamp": times, "region": ["94103"] * 100, "category": ["A1"] * 100})
    pq.write_table(table, tmp_path / "log.parquet", compression="zstd", dictionary_pagesize_limit=1 << 26)
    little_geography(tmp_path)
    options = ("--store", "store.db", "--geography", "little.csv", "--week", MONDAY, "--memory", "200MB")
    ended = run_process(("anonymize", "log.parquet", *options), tmp_path, setup=two_gigabytes)
    assert ended.code == 2
    assert "raise --memory" in ended.text or "no usable event" in ended.text
    assert not (tmp_path / "store.db").exists()


def two_gigabytes() -> None:
    """Limit the process's memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
