"""What a command prints cannot command the terminal: names from elsewhere are shown, never obeyed."""

import ast
import io
import json
import logging
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import search_insights
from search_insights.commands import console
from tests.support.command_line import Run, assert_one_line
from tests.support.logs import little_geography

PACKAGE = Path(search_insights.__file__).parent
CLEAR = "\x1b[2J\x1b]0;owned\x07"  # clears the screen and renames the window
HOSTILE = [
    CLEAR,
    "\r",
    "\x08\x08",
    "\x7f",
    "\x9b31m",
    "\u202egpj.exe",
    "\u2066",
    "\u200b",
    "\u2028",
    "\ufeff",
    "\ud800",
]


def is_shown(text: str) -> bool:
    """Return whether a terminal only shows a text."""
    return all(c.isprintable() or c in "\n\u200c\u200d" for c in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_results_notes_and_tables_show_every_character(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences, control characters and changes of direction are printed as Python writes them."""
    console.out(f"a{text}b")
    console.note(f"a{text}b")
    console.out(console.table(("name",), [(f"a{text}b",)]))
    printed = capsys.readouterr()
    written = "".join(c.encode("unicode_escape").decode() for c in f"a{text}b")
    assert printed.out == f"{written}\nname\n{written}\n"
    assert printed.err == f"{written}\n"


@given(st.text(st.characters()))
def test_whatever_the_text_a_terminal_only_shows_it(text: str) -> None:
    """No character that is not printable is left, and printable text stays as it is."""
    assert is_shown(console.shown(text))
    assert console.shown(text) == text or not text.isprintable()


def test_names_of_all_scripts_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Letters of any script, with the joiners that some need, are no danger."""
    names = "Doña Ana, 東町, مدينة الشمال, क्\u200dष, Saint-Étienne, 10 km²"
    console.out(names)
    assert capsys.readouterr().out == f"{names}\n"


def test_a_cell_of_a_table_is_on_one_line() -> None:
    """A line break in a name cannot forge a row."""
    assert console.table(("name",), [("a\nb",)]).splitlines() == ["name", r"a\nb"]


@pytest.mark.parametrize("live", [True, False])
def test_progress_shows_names_too(monkeypatch: pytest.MonkeyPatch, live: bool) -> None:
    """A step names files; only the program's own codes move the line."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: live)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    console.Steps().show(f"reading {CLEAR}\n")
    assert CLEAR not in stream.getvalue()
    assert stream.getvalue().endswith(r"reading \x1b[2J\x1b]0;owned\x07\n" + ("" if live else "\n"))


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads back every character, and a terminal that shows the JSON is safe."""
    console.out_json({"name": "".join(HOSTILE)})
    printed = capsys.readouterr().out
    assert is_shown(printed)
    assert json.loads(printed) == {"name": "".join(HOSTILE)}


def test_a_narrow_encoding_does_not_end_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where standard output is ASCII, other letters are written as Python does."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    console.out("Doña Ana")
    stream.flush()
    assert stream.buffer.getvalue() == b"Do\\xf1a Ana\n"


def test_a_column_of_a_file_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    """An error lists the columns of a Parquet file, which may have any name, on one line."""
    table = pa.table([["1"], ["2"]], names=[CLEAR, "a\nsearch-insights: all is well"])
    pq.write_table(table, tmp_path / "log.parquet")
    code, out, err = run("anonymize", tmp_path / "log.parquet", "--store", tmp_path / "s.db", "--week", "2021-03-08")
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert is_shown(err)


@pytest.mark.parametrize(
    "words",
    [
        [CLEAR],
        ["regions", CLEAR],
        ["regions", "x", f"--{CLEAR}"],
        ["regions", "x", "--spec", f"{CLEAR}\n.toml"],
        ["regions", "x", "--geography", f"{CLEAR}\n.csv"],
        ["anonymize", f"{CLEAR}\n.parquet", "--store", "s.db", "--week", "2021-03-08"],
        ["anonymize", "log.parquet", "--store", "s.db", "--week", CLEAR],
        ["publish", "--store", f"{CLEAR}.db", "--out", "dataset"],
        ["dashboard", CLEAR, "--out", "site"],
        ["serve", CLEAR],
        ["serve", "site", "--port", CLEAR],
        ["ledger", "--store", CLEAR],
        ["classify", "evaluate", "--labels", CLEAR],
    ],
)
def test_the_words_of_a_command_line_cannot_command_the_terminal(run: Run, words: list[str]) -> None:
    """Whatever a command is given, what it says about it is one line that a terminal only shows."""
    code, out, err = run(*words)
    assert (code in (1, 2), out) == (True, "")
    assert_one_line(err)
    assert is_shown(err)


def test_a_table_of_regions_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    """A geography with a hostile column or name is refused in one line."""
    good = little_geography(tmp_path).read_text(encoding="utf-8")
    for old, new in (("name,", f"{CLEAR},"), ("Alabama", CLEAR)):
        bad = tmp_path / "bad.csv"
        bad.write_text(good.replace(old, new, 1), encoding="utf-8")
        code, _, err = run("regions", "94103", "--geography", bad)
        assert code == 2
        assert_one_line(err)
        assert is_shown(err)


def test_what_the_library_logs_is_shown_too(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A warning of the library names files; it reaches the operator in the same way."""
    run("--version")
    assert isinstance(logging.lastResort, console.Notes)
    logging.lastResort.handle(logging.LogRecord("x", logging.WARNING, "", 0, "%s: left out", (CLEAR,), None))
    assert capsys.readouterr().err == r"\x1b[2J\x1b]0;owned\x07: left out" + "\n"


@pytest.mark.parametrize("module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_everything_is_printed_through_the_console(module: Path) -> None:
    """No other module of the program writes to standard output or standard error."""
    if module != PACKAGE / "commands" / "console.py":
        tree = ast.parse(module.read_text(encoding="utf-8"))
        calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert [call for call in calls if re.fullmatch(r"print|.*\bstd(out|err)\b.*\.write(lines)?", call)] == []
