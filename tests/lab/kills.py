"""Kill the program with SIGKILL: at a random moment, or just before any line of the modules that write.

The program runs in separate processes, forked from a server that has already loaded it. The program itself has no hook:
a process that is to die at a line traces its own lines. `check` holds the promise of every command. After the kill, the
store opens, each week is complete or absent, no week has been noised twice, and an older dataset is unchanged. Running
the command again completes it and leaves nothing behind.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any

import search_insights
from search_insights.errors import StoreError
from search_insights.store.journal import read_journal
from search_insights.store.opening import open_store
from search_insights.store.store import Store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems
from tests.lab.fork_server import start_forked
from tests.support.quick_accounting import patch_accounting

Step = tuple[str, int, int]  # module, line, how often it was reached

# The modules that write files. A process that is to die at a step dies before one of their lines.
WRITERS = (
    "anonymization.py",
    "dataset/combination.py",
    "dataset/counts.py",
    "dataset/publication.py",
    "dataset/tables.py",
    "dataset/top_searches.py",
    "dashboards/data_files.py",
    "dashboards/downloads.py",
    "dashboards/site.py",
    "routine/backups.py",
    "routine/logs_since.py",
    "routine/memory.py",
    "routine/run.py",
    "routine/steps.py",
    "store/backup.py",
    "store/journal.py",
    "store/lost.py",
    "store/opening.py",
    "store/store.py",
    "store/top_searches.py",
    "support/replace_folder.py",
    "support/working_folder.py",
    "trends/release.py",
)
_PACKAGE = Path(search_insights.__file__).parent


# The processes


@dataclass(frozen=True)
class Ended:
    """The exit code of a process and what it printed."""

    code: int
    text: str

    @property
    def killed(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.code == -signal.SIGKILL


def run_process(
    arguments: Sequence[str | Path],
    folder: Path,
    *,
    at: Step | None = None,
    after: float | None = None,
    send: int = signal.SIGKILL,
    steps: Path | None = None,
    setup: Callable[[], object] | None = None,
) -> Ended:
    """Run the program in a folder; kill it at step `at`, or send a signal after `after` seconds.

    `steps` is a file to list the steps in; `setup` is called first in the process.
    """
    output = folder / f"output-{uuid.uuid4().hex}.txt"
    process = start_process(arguments, folder, output=output, at=at, steps=steps, setup=setup)
    if after is not None:
        process.join(after)
        if process.is_alive() and process.pid:
            os.kill(process.pid, send)
    process.join(120)
    code = process.exitcode
    process.close()
    text = output.read_text(errors="replace") if output.exists() else ""
    output.unlink(missing_ok=True)
    return Ended(-99 if code is None else code, text)


def start_process(
    arguments: Sequence[str | Path],
    folder: Path,
    *,
    output: Path | None = None,
    at: Step | None = None,
    steps: Path | None = None,
    setup: Callable[[], object] | None = None,
) -> BaseProcess:
    """Start the program in a folder and return the running process."""
    words = [str(argument) for argument in arguments]
    return start_forked(_run, words, folder, output or Path(os.devnull), at, steps, setup)


def _run(
    arguments: list[str],
    folder: Path,
    output: Path,
    at: Step | None,
    steps: Path | None,
    setup: Callable[[], object] | None,
) -> None:
    """Run the program in the forked process."""
    from search_insights.commands.cli import _end, main

    patch_accounting(setattr)  # accounting writes no file, and would take most of every process's time
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.chdir(folder)
    (folder / "tmp").mkdir(exist_ok=True)
    tempfile.tempdir = str(folder / "tmp")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)  # as in the installed program
    if setup:
        setup()
    watch = _Watch(at)
    if at or steps:
        sys.settrace(watch.enter)
    code = main(arguments)
    sys.settrace(None)
    sys.stdout.flush()
    if steps:
        steps.write_text("".join(json.dumps(step) + "\n" for step in watch.steps), encoding="utf-8")
    os._exit(code)


def die_after_commit() -> None:
    """Make the process die when a week is committed and the file is not yet closed."""
    commit = Store.commit_week

    def last_commit(store: Store, *week: Any) -> None:
        commit(store, *week)
        os.kill(os.getpid(), signal.SIGKILL)

    Store.commit_week = last_commit  # type: ignore[method-assign, assignment]


@cache
def _module(filename: str) -> str:
    """Return a file relative to the package; empty if it belongs to another package."""
    path = Path(filename)
    return path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else ""


class _Watch:
    """Count the lines of the writing modules as they are reached, and die at one of them.

    A process that is to die watches the lines of one module only; one that is to list its steps watches all.
    """

    def __init__(self, at: Step | None) -> None:
        self._at, self._modules = at, frozenset([at[0]] if at else WRITERS)
        self._reached: Counter[tuple[str, int]] = Counter()
        self.steps: list[Step] = []

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if _module(frame.f_code.co_filename) in self._modules else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            where = _module(frame.f_code.co_filename), frame.f_lineno
            self._reached[where] += 1
            step = (*where, self._reached[where])
            if self._at is None:
                self.steps.append(step)
            elif step == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._line


# The commands


@dataclass(frozen=True)
class Case:
    """A command to kill: the folder before it runs, and the files that it makes."""

    name: str
    before: Path
    arguments: tuple[str, ...]
    makes: tuple[str, ...] = ()
    again: frozenset[int] = frozenset({0})
    may_lack: tuple[date, ...] = ()
    folders: tuple[str, ...] = ("dataset",)


@dataclass
class Tally:
    """How often a command was killed, and how often it ended before the kill."""

    killed: int = 0
    ended: int = 0


def steps_of(case: Case, most: int = 2) -> list[Step]:
    """List the steps of an undisturbed run in order, each line at most `most` times."""
    with copy_of(case) as folder:
        listed = folder / "steps.jsonl"
        ended = run_process(case.arguments, folder, steps=listed)
        if ended.code:
            raise AssertionError(f"{case.name}: {ended}")
        steps = [tuple(json.loads(line)) for line in listed.read_text().splitlines()]
    return [(name, line, times) for name, line, times in steps if times <= most]


def seconds_of(case: Case) -> float:
    """Return how long an undisturbed run takes."""
    with copy_of(case) as folder:
        begin = time.monotonic()
        run_process(case.arguments, folder)
        return time.monotonic() - begin


@contextmanager
def copy_of(case: Case) -> Iterator[Path]:
    """Yield a copy of the folder as it is before the command."""
    with tempfile.TemporaryDirectory(prefix="kill-") as parent:
        folder = Path(parent) / "work"
        shutil.copytree(case.before, folder)
        yield folder


def check(case: Case, tally: Tally, *, at: Step | None = None, after: float | None = None) -> None:
    """Kill a command once and check every promise; then run it again, undisturbed."""
    with copy_of(case) as folder:
        names = {path.name for path in folder.iterdir()}
        before = {name: digest(folder / name) for name in case.folders}
        killed = run_process(case.arguments, folder, at=at, after=after)
        tally.killed += killed.killed
        tally.ended += not killed.killed
        if not (killed.killed or killed.code in case.again):
            raise AssertionError(f"{case.name} {at}: {killed}")
        left = {name: digest(folder / name) for name in case.folders}
        noise: dict[str, str] = {}
        _require_sound(case, folder, noise)
        again = run_process(case.arguments, folder)
        if again.code not in case.again:
            raise AssertionError(f"{case.name} {at} {after}: running again: {again}")
        _require_sound(case, folder, noise)
        for name in case.folders:
            if left[name] not in (before[name], digest(folder / name)):
                raise AssertionError(f"{case.name} {at}: {name} was half replaced")
        found = {path.name for path in folder.iterdir()}
        if not found <= names | set(case.makes) | {"tmp"} or list((folder / "tmp").iterdir()):
            raise AssertionError(f"{case.name} {at}: leaves {found - names}")


def _require_sound(case: Case, folder: Path, noise: dict[str, str]) -> None:
    """Require that the store is absent or sound, and that store, journal and dataset agree on each week's noise."""
    store = folder / "store.db"
    seen = [(str(w), c) for w, c in read_journal(store).checksums.items()]
    try:
        with open_store(store) as opened:
            wrong = [
                line
                for line in problems(opened, scale_problems)
                if not any(str(week) in line for week in case.may_lack)
            ]
            if wrong:
                raise AssertionError(f"{case.name}: {wrong}")
            seen += [(str(entry.week), entry.checksum) for entry in opened.entries()]
            seen += [(f"{entry.week} (texts)", entry.top_searches) for entry in opened.entries()]
    except StoreError as error:
        if "no such store" not in str(error) and "store is empty" not in str(error):
            raise
    for statement in folder.glob("*/privacy.json"):
        seen += [(row["week"], row["checksum"]) for row in json.loads(statement.read_text())["ledger"]]
    for week, checksum in seen:
        if noise.setdefault(week, checksum) != checksum:
            raise AssertionError(f"{case.name}: week {week} has two noises")


def digest(folder: Path) -> str:
    """Return a checksum of all files below a folder; empty if there is no such folder."""
    if not folder.is_dir():
        return ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = [f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def random_moments(case: Case, count: int, seed: int) -> list[float]:
    """Draw random moments within a run and shortly after its end."""
    draw = random.Random(seed)
    longest = 1.1 * seconds_of(case)
    return [draw.uniform(0, longest) for _ in range(count)]
