"""Do all that is due, as the settings file says: check and anonymize every finished week whose log is there and which
the store lacks, then publish, build the dashboard and back the store up. With nothing due it changes nothing, so a
scheduler can run it as often as it likes. Exit code 2 if a week was refused; the others are done."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, note, one_line, out
from search_insights.commands.options import with_options
from search_insights.commands.settings import with_settings
from search_insights.errors import InputError, UsageError
from search_insights.routine.file_name import FILE_NAME

if TYPE_CHECKING:
    from search_insights.routine.run import WeekRun

EXAMPLE = "search-insights run --dry-run\nsearch-insights run --settings /srv/trends/search-insights.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--dry-run", action="store_true", help="write nothing; show what would be done")
    parser.add_argument(
        "--accept-changes",
        action="store_true",
        help="logs that changed after their week was released are known: remember them as they are now",
    )


def run(args: argparse.Namespace) -> int:
    """Do what is due, one line for each week."""
    from search_insights.routine.run import run as run_all

    if args.settings is None:
        raise UsageError(f"no {FILE_NAME} in this folder; make one, or name one with --settings FILE")
    with Steps() as steps:
        lines = _Lines(steps)
        weeks = run_all(
            args.settings,
            dry_run=args.dry_run,
            accept_changes=args.accept_changes,
            progress=steps.show,
            report=lines.week,
            tell=lines.say,
        )
        lines.say_waiting()
    _note_ways_out(weeks)
    return InputError.exit_code if any(week.outcome == "refused" for week in weeks) else 0


class _Lines:
    """Prints one line for each week; weeks in a row that wait for the same reason share one."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._waiting: list[WeekRun] = []

    def week(self, week: "WeekRun") -> None:
        """Print what was done about a week."""
        if self._waiting and (week.outcome, week.reason) != (self._waiting[-1].outcome, self._waiting[-1].reason):
            self.say_waiting()
        if week.outcome in ("waiting", "no log"):
            self._waiting.append(week)
        else:
            self.say(_line(week))

    def say(self, text: str) -> None:
        """Print a line."""
        self.say_waiting()
        self._steps.clear()
        out(one_line(text))

    def say_waiting(self) -> None:
        """Print the weeks that wait."""
        waiting, self._waiting = self._waiting, []
        if len(waiting) > 1:
            self.say(f"weeks {waiting[0].week} to {waiting[-1].week} ({len(waiting)} weeks): {_words(waiting[0])}")
        elif waiting:
            self.say(_line(waiting[0]))


def _line(week: "WeekRun") -> str:
    return f"week {week.week}: {_words(week)}"


def _words(week: "WeekRun") -> str:
    return {
        "committed": week.reason,
        "due": "would be anonymized",
        "refused": f"refused: {_reason(week)}",
        "waiting": f"waiting: {week.reason}",
        "no log": f"not there yet: {week.reason}",
        "changed": week.reason,
    }[week.outcome]


def _reason(week: "WeekRun") -> str:
    """Say why a week was refused, with the settings that change it, or the options where there is no setting."""
    return with_options(with_settings(week.reason))


def _note_ways_out(weeks: "Sequence[WeekRun]") -> None:
    """Say how to go on where a week stays as it is until somebody does something."""
    outcomes = {week.outcome: week for week in reversed(weeks)}
    with_option = [week for week in weeks if week.outcome == "refused" and " --" in _reason(week)]
    if with_option:
        note(f"to give an option for one week: search-insights anonymize --week {with_option[0].week} and the option")
    if waiting := outcomes.get("waiting"):
        note(
            "a week that waits is done when its log is there. If it never comes: search-insights store lose --week "
            f"{waiting.week} --reason TEXT. The setting log.missing_days allows days without a file; log.first_week "
            "leaves out the weeks before it"
        )
    if "changed" in outcomes:
        note(
            "noise drawn again for a changed log would be a second release of the same searches. To tell readers what "
            f"is wrong with a week: search-insights store note --week {outcomes['changed'].week} --reason TEXT. To be "
            "told of changed logs no more: search-insights run --accept-changes"
        )
