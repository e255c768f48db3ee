"""The command line: one thin command for each job, errors in one line, exit codes that scripts can rely on.

Exit codes: 0 done, 1 a check ran and its answer is no, 2 bad input, 3 a fault of the program, 130 or 143 interrupted,
141 the reader of the output went away.
"""

import argparse
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NoReturn

from search_insights.commands.console import Notes, flush, note, one_line, out
from search_insights.commands.settings_file import add_settings, settings_in
from search_insights.errors import SearchInsightsError, UsageError
from search_insights.support.files import is_text

# In the order in which data flows: what each does. Its module of `commands` has EXAMPLE, add_arguments and run, and is
# imported only if it is asked for: `--help` is quick.
COMMANDS = {
    "demo": "run everything end to end on a simulated log",
    "init": "begin a new release: a spec, a settings file and what to do next",
    "run": "do all that is due: check, anonymize, publish, dashboard, back up",
    "simulate": "write a search log of a simulated population",
    "classify": "train, apply or evaluate the classifier of queries, find queries to label, or make a vocabulary",
    "check": "look at weeks of a log before anything is spent: what is wrong with them?",
    "anonymize": "bound, count and noise weeks of a log, and commit them to the store",
    "publish": "make the public dataset from the store",
    "combine": "put the datasets of several countries into one folder",
    "dashboard": "make a static site from a published dataset",
    "serve": "preview a dashboard on this machine",
    "evaluate": "say how accurate a release of a simulated log is",
    "ledger": "show what was spent on which week",
    "store": "back a store up, restore a backup, declare a week lost, note a mistake, record a new edition",
    "privacy": "show what the noise promises, case by case",
    "audit": "try to break the promise by experiment",
    "calibrate": "find sigmas for a target epsilon and delta",
    "regions": "look a region up by code or name",
    "import-us": "make the US geography from the official Census and HUD files",
}

_signals: list[int] = []


class _Parser(argparse.ArgumentParser):
    """Turns a mistake on the command line into one line, with the option that was probably meant."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        # Before argparse looks for what is missing: a mistyped option is the reason why another seems to be missing.
        self._refuse_unknown_options(list(args or ()))
        known, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(f"unexpected argument {extra[0]!r}")
        return known, extra

    def _refuse_unknown_options(self, arguments: list[str]) -> None:
        for argument in arguments:
            if argument == "--" or (self._subparsers is not None and not argument.startswith("-")):
                return  # the rest is for the command that it names
            option = argument.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                close = _closest(option, self._option_string_actions)
                self.error(f"no option {option}" + (f" (did you mean {close}?)" if close else ""))

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see '{self.prog} --help'")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        flush()  # --help and --version end here; a closed pipe shows where it is handled
        super().exit(status, message)


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib import metadata

        out(f"search-insights {metadata.version('search-insights')}")
        parser.exit()


def _closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant: one that begins like it, or a similar one."""
    import difflib

    longer = [name for name in known if name.startswith(word)]
    return next(iter(longer or difflib.get_close_matches(word, known, n=1)), None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(100_000, 50, 50)  # a country's regions are many objects and no garbage: do not look for it often
    if argv is None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _end)
    logging.lastResort = Notes(logging.WARNING)
    arguments = list(sys.argv[1:] if argv is None else argv)
    _signals.clear()
    try:
        return _run(arguments)
    except BrokenPipeError:
        # The reader has seen enough (`| head`); keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE  # not 0: a check whose answer nobody read has not passed
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) or _signals:
            note("search-insights: interrupted")
            return 128 + (_signals or [signal.SIGINT])[0]
        if "--debug" in arguments:
            _print_frames(error)
        return _report(error)


def _print_frames(error: BaseException | None) -> None:
    """Print where an error arose. The text of an error that is not ours could hold a value of the search log."""
    import traceback

    while error is not None:
        text = f": {error}" if isinstance(error, SearchInsightsError) else ""
        frames = "".join(traceback.format_tb(error.__traceback__))
        note(f"Traceback (most recent call last):\n{frames}{type(error).__name__}{text}")
        error = None if error.__suppress_context__ else error.__context__


def _report(error: Exception) -> int:
    """Say what went wrong, in one line or in one for each problem of a file; return the exit code."""
    from search_insights.commands.options import with_options

    if isinstance(error, SearchInsightsError):
        first, *rest = (one_line(with_options(line)) for line in error.lines)
        note("\n  ".join([f"search-insights: {first}", *rest]))
        return error.exit_code
    if isinstance(error, OSError):
        if not error.filename:  # then it is the output that cannot be written; keep Python from trying again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        note(f"search-insights: {one_line(str(error.filename or 'output'))}: {error.strerror or 'cannot be used'}")
        return 2
    # Not the error's own text: it could hold a value of the search log.
    note(f"search-insights: a fault of the program ({type(error).__name__}); --debug shows where")
    return 3


def _end(number: int, frame: object) -> NoReturn:
    """End on Ctrl-C and SIGTERM as on any error, so that what lies in temporary folders is removed.

    It is remembered which it was, because DuckDB turns what is raised here into an error of its own.
    """
    _signals.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _run(arguments: Sequence[str]) -> int:
    if not arguments:
        _outline().print_help()
        flush()
        return 0
    if arguments[0] in ("-h", "--help"):
        _outline().parse_args(arguments[:1])
    _refuse_unknown_command(arguments[0])
    for argument in arguments:
        if not is_text(argument):
            raise UsageError(f"{argument}: is not text in UTF-8; rename what has this name")
    args = (_parser(arguments[0]) if arguments[0] in COMMANDS else _parser()).parse_args(arguments)
    from search_insights.commands.settings import fill_in

    fill_in(args, settings_in(arguments))
    code: int = args.run(args)
    flush()  # a closed pipe shows here, where it is handled
    return code


def _refuse_unknown_command(word: str) -> None:
    if word.startswith("-") or word in COMMANDS:
        return
    close = _closest(word, COMMANDS)
    hint = f"did you mean {close!r}?" if close else f"the commands are {', '.join(COMMANDS)}"
    raise UsageError(f"no command {word!r}; {hint}")


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by name."""
    (commands,) = (action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


@cache
def _parser(*names: str) -> argparse.ArgumentParser:
    """Return the parser of these commands, or of all: a command that is not asked for is not imported."""
    parser, subparsers, everywhere = _frame()
    for name in names or COMMANDS:
        _add_command(subparsers, name, everywhere)
    return parser


def _outline() -> argparse.ArgumentParser:
    """Return a parser that knows what the commands do and nothing else of them, for the help on all of them."""
    parser, subparsers, _ = _frame()
    for name, summary in COMMANDS.items():
        subparsers.add_parser(name, help=summary)
    return parser


def _frame() -> "tuple[_Parser, argparse._SubParsersAction[_Parser], _Parser]":
    """Return a parser without commands, where to add them, and the options that all of them have."""
    everywhere = _Parser(add_help=False)
    everywhere.add_argument("--debug", action="store_true", help="show where an error arose, with a traceback")
    add_settings(everywhere)
    parser = _Parser(
        prog="search-insights",
        description="Publish weekly search trends by region under differential privacy.",
        parents=[everywhere],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    return parser, subparsers, everywhere


def _add_command(subparsers: "argparse._SubParsersAction[_Parser]", name: str, everywhere: _Parser) -> None:
    from search_insights.commands.settings import open_to_settings

    module = command_module(name)
    parser = subparsers.add_parser(
        name,
        help=COMMANDS[name],
        description=module.__doc__,
        epilog="example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLE.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[everywhere],
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    open_to_settings(parser, name)
    parser.set_defaults(run=lambda args: module.run(args))


def command_module(name: str) -> ModuleType:
    """Find the module behind a command."""
    return importlib.import_module(f"search_insights.commands.{name.replace('-', '_')}")
