"""The reference page of the commands, docs/commands.md, made from what `--help` shows.

python -m search_insights.commands.reference > docs/commands.md
"""

import argparse
from collections.abc import Iterator

from search_insights.commands.cli import COMMANDS, command_module, command_parsers
from search_insights.commands.console import out

_HEAD = """\
# Commands

Every command has `--help`, with an example. This page is made from the same descriptions; a test keeps it up to date.
`python -m search_insights` is the same program as `search-insights`.

Exit codes: 0 done, 1 a check ran and its answer is no, 2 bad input (one line says what is wrong, where, and what to do,
and nothing is written), 3 a fault of the program, 130 or 143 interrupted, 141 the reader of the output
went away.

Settings can stand in for options: every command reads `search-insights.toml` in the current folder, or the file that
`--settings FILE` names, and says which of its settings it used. An option on the command line wins; `--no-settings`
ignores the file. [All settings](running.md#all-settings).
"""


_EVERYWHERE = {"--help", "--debug", "--settings", "--no-settings"}


def reference_page() -> str:
    """Return the page: a table of all commands, then each with its options and an example."""
    lines = [_HEAD, "| command | does |", "| --- | --- |"]
    lines += [f"| [`{name}`](#{name}) | {summary} |" for name, summary in COMMANDS.items()]
    for name, parser in command_parsers().items():
        lines += ["", f"## {name}", "", *_command(parser)]
        lines += ["", "```", *command_module(name).EXAMPLE.splitlines(), "```"]
    return "\n".join(lines) + "\n"


def _command(parser: argparse.ArgumentParser, summary: str = "") -> Iterator[str]:
    yield " ".join((parser.description or summary).split())
    jobs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    rows = list(_rows(parser))
    if rows:
        yield from ("", "| argument | meaning |", "| --- | --- |", *rows)
    for job in jobs:
        summaries = {choice.dest: f"{choice.help}." for choice in job._choices_actions}
        for name, sub in job.choices.items():
            yield from ("", f"### {parser.prog.split()[-1]} {name}", "", *_command(sub, summaries[name].capitalize()))


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Write a row for each argument, the options that all commands share left out."""
    for action in parser._actions:
        hidden = action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction)
        if not hidden and not _EVERYWHERE & set(action.option_strings):
            yield f"| {_name(action)} | {_meaning(action)} |"


def _name(action: argparse.Action) -> str:
    value = str(action.metavar or "|".join(map(str, action.choices or ())))
    if action.nargs == "?" and action.option_strings:
        value = f"[{value}]"
    words = [*action.option_strings[-1:], *([value] if value and action.nargs != 0 else [])]
    return f"`{' '.join(words)}{' ...' if action.nargs in ('+', '*') else ''}`".replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    needed = " (required)" if action.required and action.option_strings else ""
    return (action.help or "").replace("|", "\\|").replace("%%", "%") + needed


if __name__ == "__main__":
    out(reference_page().rstrip("\n"))
