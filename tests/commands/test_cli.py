"""The command line: one-line errors, exit codes, help, and a quick start."""

import argparse
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from search_insights import errors
from search_insights.commands.cli import COMMANDS, command_module
from tests.support.command_line import Run, assert_one_line
from tests.support.packaged_spec import PACKAGED

PROGRAM = Path(sysconfig.get_path("scripts")) / "search-insights"
# Packages that take long to import; `--help` must not load them.
HEAVY = ("duckdb", "numpy", "scipy", "dp_accounting", "opendp", "vl_convert", "pyspark")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is buffered, as by default."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def raising(error: BaseException) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        raise error

    return run


# Wrong commands and options


@pytest.mark.parametrize(("typed", "meant"), [("region", "regions"), ("privcy", "privacy"), ("importus", "import-us")])
def test_a_mistyped_command_suggests_the_right_one(run: Run, typed: str, meant: str) -> None:
    """The error for a mistyped command names the most similar command."""
    code, out, err = run(typed, "x")
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert f"no command {typed!r}; did you mean {meant!r}?" in err


def test_an_unknown_command_lists_all_commands(run: Run) -> None:
    """If no command is similar, the error lists all of them."""
    code, _, err = run("zzz")
    assert code == 2
    assert_one_line(err)
    assert f"the commands are {', '.join(COMMANDS)}" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["regions", "x", "--nonsense"], "no option --nonsense"),
        (["regions"], "TEXT: give a code, a place_id, or a name"),
        (["regions", "x", "--spec"], "argument --spec: expected one argument"),
        (["regions", "x", "y"], "unexpected argument 'y'"),
        (["regions", "x", "--js"], "no option --js (did you mean --json?)"),
        (["simulate", "--events", "9"], "no option --events (did you mean --events-per-week?)"),
        (["--nonsense", "regions", "x"], "no option --nonsense"),
        (["--debug-not"], "no option --debug-not (did you mean --debug?)"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(run: Run, arguments: list[str], words: str) -> None:
    """The error says what is wrong and how to get help; abbreviated options are not accepted."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert words in err
    assert "--help'" in err


@pytest.mark.parametrize(
    "arguments", [["regions", "x", "--spec", "absent.toml"], ["regions", "x", "--geography", "absent.csv"]]
)
def test_bad_input_is_one_line_and_exit_code_2(run: Run, arguments: list[str]) -> None:
    """A file that cannot be used gives one line that names it, and exit code 2."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert arguments[-1] in err


# Errors and exit codes


ERRORS = [
    (thing, 1 if issubclass(thing, errors.CheckFailed) else 2)
    for thing in vars(errors).values()
    if isinstance(thing, type) and issubclass(thing, errors.SearchInsightsError)
]


@pytest.mark.parametrize(("error", "exit_code"), ERRORS)
def test_every_error_of_the_tree_has_its_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: type[errors.SearchInsightsError], exit_code: int
) -> None:
    """Exit code 2 means bad input and 1 a failed check; the message is always one line."""
    made = {errors.SpecError: ("a", "b", "c\nd"), errors.MissingDays: ("two\nlines", ())}
    instance = error(*made.get(error, ("two\nlines",)))
    monkeypatch.setattr(command_module("privacy"), "run", raising(instance))
    code, _, err = run("privacy")
    assert code == exit_code
    assert_one_line(err)
    assert "two lines" in err or "expected b, got c d" in err


def test_all_problems_of_a_spec_are_printed_one_on_a_line(run: Run, tmp_path: Path) -> None:
    """The first line has the file and their number; exit code 2."""
    path = tmp_path / "release.toml"
    path.write_text(
        PACKAGED.replace("epsilon = 2.19", "epsilon = 0").replace('"monday"', '"mon\\nday"'), encoding="utf-8"
    )
    code, out, err = run("privacy", "--spec", path)
    assert (code, out) == (2, "")
    first, *others = err.splitlines()
    assert first == f"search-insights: {path}: 2 problems"
    assert [line.split(":")[0] for line in others] == ["  key 'promise.epsilon'", "  key 'first_day_of_week'"]


def test_the_docstring_of_errors_shows_the_tree_of_errors() -> None:
    """The docstring of the module names every error."""
    drawn = errors.__doc__ or ""
    assert [error.__name__ for error, _ in ERRORS if error.__name__ not in drawn] == []


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback_and_keeps_the_exit_code(run: Run, place: str) -> None:
    """--debug, before or after the command, shows the traceback; the exit code is the same."""
    command = ["regions", "x", "--spec", "absent.toml"]
    code, _, err = run(*(["--debug", *command] if place == "before" else [*command, "--debug"]))
    assert code == 2
    assert "Traceback (most recent call last)" in err
    assert "cannot read the spec" in err


SECRET = "user 4711 searched for a clinic"


def secret_error() -> Exception:
    error = RuntimeError(SECRET)
    error.__cause__ = ValueError(SECRET)
    error.add_note(SECRET)
    return error


def test_a_fault_shows_only_its_kind(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of an unexpected error could contain a value of the search log, so it is not shown."""
    monkeypatch.setattr(command_module("privacy"), "run", raising(secret_error()))
    code, out, err = run("privacy")
    assert code == 3
    assert_one_line(err)
    assert "RuntimeError" in err
    assert "4711" not in out + err


def test_debug_shows_where_a_fault_occurred(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --debug the operator sees the frames and kinds of errors, but still no text that could hold a value."""
    monkeypatch.setattr(command_module("privacy"), "run", raising(secret_error()))
    code, out, err = run("privacy", "--debug")
    assert (code, out) == (3, "")
    assert "Traceback" in err
    assert "in run" in err
    assert "RuntimeError" in err
    assert SECRET not in err


def test_an_interruption_is_one_line_and_exit_code_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C gives exit code 128 plus the number of the signal, as shells expect."""
    monkeypatch.setattr(command_module("privacy"), "run", raising(KeyboardInterrupt()))
    code, out, err = run("privacy")
    assert (code, out) == (130, "")
    assert_one_line(err)


@pytest.mark.usefixtures("environment")
def test_a_closed_pipe_is_not_an_error() -> None:
    """`search-insights regions a --json | head -1` prints no error; its exit code says that the pipe was closed."""
    with subprocess.Popen(
        [PROGRAM, "regions", "a", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == "[\n"
        program.stdout.close()
        assert program.stderr.read() == ""
        assert program.wait() == 141


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["regions", "--help"], ["regions", "94103"]])
def test_a_closed_pipe_is_not_an_error_for_short_output(arguments: list[str]) -> None:
    """Output that fits into the buffer meets the closed pipe only when it is flushed; that prints no error either."""
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([PROGRAM, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


# Help


def test_no_arguments_give_the_help(run: Run) -> None:
    """`search-insights` alone prints the help."""
    assert run() == run("--help")
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out.startswith("usage: search-insights")


def test_the_help_names_every_command_with_its_line(run: Run) -> None:
    """The help lists all commands, each with one line that says what it does."""
    _, out, _ = run("--help")
    words = " ".join(out.split())
    assert [name for name, summary in COMMANDS.items() if f"{name} {summary}" not in words] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example(run: Run, name: str) -> None:
    """The help of each command has its usage, an example and its options."""
    code, out, err = run(name, "--help")
    assert (code, err) == (0, "")
    assert f"usage: search-insights {name}" in out
    assert f"\nexample:\n  search-insights {name}" in out
    assert "--debug" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_a_module_of_one_form(name: str) -> None:
    """A module of `commands` has EXAMPLE, add_arguments and run, and the table of commands says what it does."""
    module = command_module(name)
    assert module.__doc__
    assert COMMANDS[name]
    assert all(line.startswith(("search-insights ", "  ")) for line in module.EXAMPLE.splitlines())
    assert callable(module.add_arguments)
    assert callable(module.run)


def test_the_version_is_the_packages(run: Run) -> None:
    """--version prints the version of the installed package."""
    assert run("--version") == (0, f"search-insights {metadata.version('search-insights')}\n", "")


# Import times


def loaded_by(code: str) -> set[str]:
    """Run code in a new interpreter and return which heavy packages it loaded."""
    report = f"import sys\n{code}\nsys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))"
    ended = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(filter(None, ended.stderr.split(",")))


def test_importing_the_package_loads_nothing_heavy() -> None:
    """`import search_insights` loads none of the heavy packages."""
    assert loaded_by("import search_insights") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["regions", "--help"], ["regoins"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """Help and mistyped commands load none of the heavy packages."""
    code = f"from search_insights.commands.cli import main\ntry:\n    main({arguments!r})\nexcept SystemExit:\n    pass"
    if arguments == ["regoins"]:
        code = f"import io\nsys.stderr = io.StringIO()\n{code}\nsys.stderr = sys.__stderr__"
    assert loaded_by(code) == set()


def test_a_command_imports_no_other_command() -> None:
    """A command that is named first loads its own module; the others would only make it wait."""
    code = (
        "import sys\nfrom search_insights.commands.cli import COMMANDS, main\n"
        "try:\n    main(['privacy', '--help'])\nexcept SystemExit:\n    pass\n"
        "names = (name.replace('-', '_') for name in COMMANDS)\n"
        "sys.stderr.write(' '.join(n for n in names if f'search_insights.commands.{n}' in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "privacy"


def test_the_check_for_heavy_packages_sees_them() -> None:
    """The check itself works: it reports a heavy package that is loaded."""
    assert loaded_by("import duckdb") >= {"duckdb"}


def test_the_help_on_all_commands_imports_none_of_them() -> None:
    """`--help` knows the commands by their lines alone, so that it is quick."""
    code = (
        "import sys\nfrom search_insights.commands.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(name for name in sys.modules if name.startswith('search_insights.spec')))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
