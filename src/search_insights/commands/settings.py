"""The settings file behind the options: which setting stands in for which option of which command.

An option that is not given takes the value of the setting, if there is one, then its own default. This is the only
place that knows it: a command sees its options and not where they come from.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search_insights.commands.console import note
from search_insights.routine.settings import KEYS, Settings, read_settings


def _same(value: Any) -> Any:
    return value


def _pairs(columns: dict[str, str]) -> list[str]:
    return [f"{role}={name}" for role, name in columns.items()]


def _query_column(columns: dict[str, str]) -> str:
    return columns.get("query", "query")


def _as_list(value: Any) -> list[Any]:
    return [value]


def _always(args: argparse.Namespace) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Standin:
    """A setting that stands in for an option: the option's name in the arguments, its form there, and when."""

    setting: str
    option: str
    form: Callable[[Any], Any] = _same
    when: Callable[[argparse.Namespace], bool] = _always


_STORE, _SPEC, _GEOGRAPHY = (Standin(name, name) for name in ("store", "spec", "geography"))
_MODEL = Standin("model", "model")
_LOG = (
    Standin("log.location", "log", list),
    Standin("log.file_zone", "file_zone"),
    Standin("log.columns", "column", _pairs),
    Standin("log.code_level", "code_level"),
    Standin("log.naive_zone", "naive_zone"),
    Standin("log.time_unit", "time_unit"),
    Standin("log.max_unused", "max_left_out"),
    Standin("log.missing_days", "allow_missing_day", lambda days: [str(day) for day in days]),
    Standin("log.accept", "accept", list),
    _MODEL,
    Standin("engine", "engine"),
    # Each engine has options that the other refuses; a setting of the other engine is not meant.
    Standin("memory", "memory", when=lambda args: args.engine == "duckdb"),
    Standin("master", "master", when=lambda args: args.engine == "spark" and not args.remote),
)

# By command, or by command and job. A command that is not here has no option that a setting could stand in for.
STANDINS: dict[str, tuple[Standin, ...]] = {
    "simulate": (_SPEC, _GEOGRAPHY),
    "classify apply": (_MODEL,),
    "classify evaluate": (_MODEL, _SPEC),
    "classify pool": (_SPEC, _GEOGRAPHY),
    "classify suggest": (_MODEL, _SPEC, Standin("log.columns", "column", _query_column)),
    "classify train": (_SPEC, _GEOGRAPHY),
    "classify vocabulary": (_SPEC, _GEOGRAPHY),
    "check": (_STORE, _SPEC, _GEOGRAPHY, *_LOG),
    "anonymize": (_STORE, _SPEC, _GEOGRAPHY, *_LOG),
    "publish": (_STORE, Standin("dataset", "out"), Standin("blocklist", "blocklist")),
    "dashboard": (
        Standin("dataset", "dataset", _as_list),
        Standin("site", "out"),
        Standin("geography", "geography", _as_list),
        Standin("spec", "spec", _as_list),
        Standin("shapes", "shapes", list),
        Standin("shape_id", "shape_id"),
        Standin("site_address", "address"),
    ),
    "serve": (Standin("site", "site"),),
    "evaluate": (_STORE,),
    "ledger": (_STORE,),
    "store backup": (_STORE, Standin("backups.folder", "out", lambda folder: f"{folder}/")),
    "store restore": (_STORE, Standin("dataset", "dataset", when=lambda args: not args.never_published)),
    "store lose": (_STORE,),
    "store note": (_STORE,),
    # By itself it lists the editions; only a change that has a reason is one to the spec of the settings.
    "store edition": (
        _STORE,
        Standin("spec", "spec", when=lambda args: bool(args.reason)),
        Standin("geography", "geography", when=lambda args: bool(args.reason)),
    ),
    "privacy": (_SPEC,),
    "audit": (_SPEC, _GEOGRAPHY),
    "calibrate": (_SPEC, _GEOGRAPHY),
    "regions": (_SPEC, _GEOGRAPHY),
}


@dataclass(frozen=True, slots=True)
class _Opened:
    """An option that a setting may stand in for: what it was before."""

    action: argparse.Action
    default: Any
    required: bool

    @property
    def name(self) -> str:
        return self.action.option_strings[0] if self.action.option_strings else str(self.action.metavar)


# Which setting sets a parameter of the library that its messages name in backquotes.
_SETTING_OF = {key.name.rpartition(".")[2]: key.name for key in KEYS} | {"accepted": "log.accept"}


def with_settings(message: str) -> str:
    """Put the setting in the place of each parameter that a message of the library names, where there is one."""
    return re.sub(
        r"`(\w+)`", lambda named: f"setting {_SETTING_OF[named[1]]}" if named[1] in _SETTING_OF else named[0], message
    )


def open_to_settings(parser: argparse.ArgumentParser, name: str) -> None:
    """Let settings stand in for the options of a command and of its jobs; what was required may come from there."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for job, job_parser in action.choices.items():
                open_to_settings(job_parser, f"{name} {job}")
    actions = {action.dest: action for action in parser._actions}
    standins = [standin for standin in STANDINS.get(name, ()) if standin.option in actions]
    opened = {standin.option: _open(actions[standin.option], standin.setting) for standin in standins}
    for group in parser._mutually_exclusive_groups:
        if group.required and any(one.action in group._group_actions for one in opened.values()):
            group.required = False
            parser.set_defaults(one_of=group)
    parser.set_defaults(command=name, opened=opened, parser=parser)


def _open(action: argparse.Action, setting: str) -> _Opened:
    """Make an option optional, and its absence visible."""
    before = _Opened(action, action.default, action.required)
    action.required = False
    if action.option_strings:
        action.default = argparse.SUPPRESS
    else:
        action.default, action.nargs = None, "*" if action.nargs == "+" else "?"
    needed = "required, " if before.required else ""
    action.help = f"{action.help} ({needed}or setting {setting})"
    return before


def fill_in(args: argparse.Namespace, file: Path | None) -> None:
    """Give every option that is not on the command line the value of its setting, or its default.

    The operator is told which settings were used, so that no value comes from a file unseen.
    """
    settings = read_settings(file) if file and _wants_settings(args) else None
    args.settings = settings
    used = list(_stand_in(args, settings)) if settings else []
    if settings and args.command == "run":
        used = [key.rpartition(".")[2] for key in settings.given]
    _require_all(args)
    if used and not getattr(args, "json", False):
        note(f"settings: {file} ({', '.join(used)})")


def _wants_settings(args: argparse.Namespace) -> bool:
    return args.command in STANDINS or args.command == "run"


def _stand_in(args: argparse.Namespace, settings: Settings) -> Iterator[str]:
    """Fill in what the settings give; yield the names of those that were used."""
    for standin in STANDINS.get(args.command, ()):
        given = standin.setting in settings.given and _is_absent(args, standin.option)
        if given and standin.when(_with_defaults(args)):
            setattr(args, standin.option, standin.form(settings.value(standin.setting)))
            yield standin.setting.rpartition(".")[2]


def _is_absent(args: argparse.Namespace, option: str) -> bool:
    return getattr(args, option, None) in (None, [])


def _with_defaults(args: argparse.Namespace) -> argparse.Namespace:
    defaults = {option: opened.default for option, opened in args.opened.items()}
    return argparse.Namespace(**{**defaults, **vars(args)})


def _require_all(args: argparse.Namespace) -> None:
    """Give defaults to what is still absent; refuse to go on without what is required."""
    absent = {option: opened for option, opened in args.opened.items() if _is_absent(args, option)}
    lacking = [opened.name for opened in absent.values() if opened.required]
    if lacking:
        args.parser.error(f"the following arguments are required: {', '.join(lacking)}")
    for option, opened in absent.items():
        setattr(args, option, opened.default)
    group = getattr(args, "one_of", None)
    if group and not any(getattr(args, action.dest) for action in group._group_actions):
        names = " ".join(action.option_strings[0] for action in group._group_actions)
        args.parser.error(f"one of the arguments {names} is required")
