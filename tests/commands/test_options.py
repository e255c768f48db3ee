"""Promises about options: a mistyped one is recognised, errors name them, and the reference page lists them all."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from search_insights import errors
from search_insights.commands.cli import COMMANDS, command_module, command_parsers
from search_insights.commands.options import OPTIONS
from search_insights.commands.reference import reference_page
from tests.support.command_line import Run, assert_one_line


def every_parser() -> Iterator[argparse.ArgumentParser]:
    """List the parsers of all commands and of the jobs inside them."""
    for parser in command_parsers().values():
        yield parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from action.choices.values()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("anonymize log --stor x --week 2021-03-08", "no option --stor (did you mean --store?)"),
        ("anonymize log --store x --wek=2021-03-08", "no option --wek (did you mean --week?)"),
        ("store backup --store x --ou y", "no option --ou (did you mean --out?)"),
        ("--versoin", "no option --versoin (did you mean --version?)"),
        ("privacy --zzzzzz", "no option --zzzzzz;"),
        ("regions a b", "unexpected argument 'b'"),
    ],
)
def test_a_mistyped_option_names_the_one_that_was_meant(run: Run, words: str, said: str) -> None:
    """Also where the mistake makes a required option seem to be missing; the line points to the command's help."""
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert said in err
    command = " ".join(word for word in words.split()[:2] if word in ("store", "backup", *COMMANDS))
    assert f"see 'search-insights {command}{' ' if command else ''}--help'" in err


def test_python_m_runs_the_same_program() -> None:
    """`python -m search_insights` is the program where no script is on the path."""
    command = [sys.executable, "-m", "search_insights", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"search-insights {metadata.version('search-insights')}\n"


def test_messages_of_the_library_name_the_option_on_the_command_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parameter in backquotes becomes the option that sets it; other words in backquotes stay as they are."""

    def fail(args: argparse.Namespace) -> int:
        raise errors.LogError("`naive_zone` Mars: expected a zone, or set `max_unused`; `other` stays")

    monkeypatch.setattr(command_module("privacy"), "run", fail)
    _, _, err = run("privacy")
    assert err == "search-insights: --naive-zone Mars: expected a zone, or set --max-left-out; `other` stays\n"


def test_every_parameter_that_the_library_names_has_an_option() -> None:
    """No message shows a backquoted parameter to somebody at a terminal; each option is one of a command."""
    shown = {name for parser in every_parser() for name in parser._option_string_actions}
    assert set(OPTIONS.values()) <= shown
    source = Path(errors.__file__).parent
    raised = re.compile(r"(?:Error|MissingDays|CheckFailed)\((.*?)\)(?: from|\n)", re.DOTALL)
    named = {
        name
        for path in source.rglob("*.py")
        if "commands" not in path.parts
        for call in raised.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r"`(\w+)`", call)
    }
    assert named
    assert named <= set(OPTIONS)


def test_the_reference_page_says_what_help_says() -> None:
    """docs/commands.md is made from the commands' own descriptions: `python -m search_insights.commands.reference`."""
    page = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
    assert page.read_text(encoding="utf-8") == reference_page()
