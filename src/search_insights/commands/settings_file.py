"""Which settings file a command line means: the options --settings and --no-settings, and the current folder."""

import argparse
import os
import stat
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from search_insights.errors import InputError, UsageError
from search_insights.routine.file_name import FILE_NAME


def add_settings(parser: argparse.ArgumentParser, *, hidden: bool = False) -> None:
    """Add --settings and --no-settings; `settings_in` reads them, because they may stand anywhere."""
    for option, words in (
        ("--settings", f"the settings file (default: {FILE_NAME} in the current folder, if there is one)"),
        ("--no-settings", "use no settings file"),
    ):
        how: dict[str, Any] = {"metavar": "FILE"} if option == "--settings" else {"action": "store_true"}
        words = argparse.SUPPRESS if hidden else words
        parser.add_argument(option, dest=argparse.SUPPRESS, default=argparse.SUPPRESS, help=words, **how)


def settings_in(arguments: Sequence[str]) -> Path | None:
    """Return the settings file that a command line means: the one named, or that of the current folder."""
    words = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    named = [word.partition("=")[2] for word in words if word.startswith("--settings=")]
    named += [after for word, after in pairwise(words) if word == "--settings"]
    if "--no-settings" in words:
        if named:
            raise UsageError("give --settings or --no-settings, not both")
        return None
    if named:
        return Path(named[-1])
    return _of_this_folder()


def _of_this_folder() -> Path | None:
    """Return the file of the current folder; refuse one that somebody else could have put there.

    It may name a cluster, which gets the log. By --settings any file may be named.
    """
    file = Path(FILE_NAME)
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{file}: cannot read the settings ({error.strerror})") from None
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
        raise UsageError(
            f"{file}: belongs to another user, or anyone may write to it; if you trust it, name it with --settings "
            f"{file}, or use none with --no-settings"
        )
    return file
