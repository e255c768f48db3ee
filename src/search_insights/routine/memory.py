"""What the operator's side remembers of the logs of released weeks, to tell when one has changed since.

A file beside the settings file, for its owner only: of each file of a week's log its name, size, time and a hash with a
random key that is in the same file. It is not part of the store or the dataset, and nothing depends on it: without it,
changes are noticed from then on.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from search_insights.errors import InputError
from search_insights.support.files import MOST_OF_A_STATEMENT, private_files, read_at_most, replacing_file
from search_insights.support.strict_json import parse_json

_VERSION = 1
_KEY_BYTES, _HASH_BYTES = 32, 16


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of a log as it was: size, time of its last change (in microseconds), and its keyed hash."""

    size: int
    modified: int
    hash: str


WeekFiles = dict[str, FileState]


@dataclass(frozen=True)
class Memory:
    """The files of each released week, by the week's first day and the file's name."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES), repr=False)
    weeks: Mapping[date, WeekFiles] = field(default_factory=dict)

    def with_week(self, week: date, files: WeekFiles) -> "Memory":
        """Return a memory that also knows this week."""
        return Memory(self.key, {**self.weeks, week: files})

    def without_week(self, week: date) -> "Memory":
        """Return a memory that does not know this week."""
        return Memory(self.key, {known: files for known, files in self.weeks.items() if known != week})

    def look(self, week: date, files: Sequence[str], folder: Path) -> WeekFiles:
        """Return the files of a week's log as they are; a file whose size and time did not change is not read."""
        known = self.weeks.get(week, {})
        return {name: self._state(file, known.get(name)) for file in files for name in [_name(file, folder)]}

    def _state(self, file: str, known: FileState | None) -> FileState:
        with Path(file).open("rb") as opened:
            found = os.fstat(opened.fileno())
            size, modified = found.st_size, found.st_mtime_ns // 1000
            if known and (known.size, known.modified) == (size, modified):
                return known
            digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(key=self.key, digest_size=_HASH_BYTES))
        return FileState(size, modified, digest.hexdigest())

    def changed(self, week: date, now: WeekFiles) -> list[str]:
        """Return the files that are new or have other content; one that is gone may have been deleted by rule."""
        known = self.weeks[week]
        return [name for name, state in now.items() if name not in known or known[name].hash != state.hash]


def _name(file: str, folder: Path) -> str:
    """Name a file in the same way wherever the program was started."""
    return os.path.relpath(Path(file).absolute(), folder.absolute())


def read_memory(path: Path) -> Memory:
    """Read the memory; an InputError or OSError says why it cannot be used."""
    value = parse_json(read_at_most(path, MOST_OF_A_STATEMENT), path)
    try:
        key = bytes.fromhex(value["key"])
        weeks = {date.fromisoformat(week): _files(files) for week, files in value["weeks"].items()}
        if value["version"] != _VERSION or len(key) != _KEY_BYTES:
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{path}: not a memory of this program, or damaged") from None
    return Memory(key, weeks)


def _files(files: Any) -> WeekFiles:
    return {str(name): FileState(int(s["size"]), int(s["modified"]), str(s["hash"])) for name, s in files.items()}


def write_memory(path: Path, memory: Memory) -> None:
    """Write the memory for its owner only, as a whole or not at all."""
    weeks = {
        week.isoformat(): {name: asdict(state) for name, state in files.items()}
        for week, files in sorted(memory.weeks.items())
    }
    content = {"version": _VERSION, "key": memory.key.hex(), "weeks": weeks}
    with private_files(), replacing_file(path) as draft:
        draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
