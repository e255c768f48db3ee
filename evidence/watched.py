"""Running a command and measuring what it uses, together with everything it starts: seconds, CPU seconds, memory.

Processes that outlive their parent become children of this process (Linux's "subreaper"). So they can be ended with the
rest, do not disturb later measurements, and their CPU time is added like that of all others.
"""

import ctypes
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SET_CHILD_SUBREAPER = 36  # of prctl(2)
GRACE = 5.0  # seconds in which processes that a command left behind may end by themselves


@dataclass(frozen=True)
class Ended:
    """What a command used, and its exit code; None if it was ended at its limit."""

    seconds: float
    cpu: float
    peak_gb: float
    code: int | None


@dataclass(frozen=True)
class Used:
    """What a command used, and what it printed."""

    seconds: float
    cpu: float
    peak_gb: float
    output: str


def watch(command: Sequence[str], limit: float = 3600.0) -> Used:
    """Run a command to its end; SystemExit if it fails or exceeds its limit in seconds."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        ended = run_to_limit(command, limit, output, errors)
        for file in (output, errors):
            file.seek(0)
        if ended.code is None:
            raise SystemExit(f"{command[0]} was ended after {limit:g} s")
        if ended.code:
            raise SystemExit(f"{command[0]} failed: {errors.read()[-500:].decode(errors='replace')}")
        return Used(ended.seconds, ended.cpu, ended.peak_gb, output.read().decode(errors="replace"))


def run_to_limit(
    command: Sequence[str], limit: float, output: IO[bytes], errors: IO[bytes], folder: Path | None = None
) -> Ended:
    """Run a command, looking at its processes ten times a second; at its limit in seconds all of them are ended."""
    before = _cpu_of_children()
    with _adopting():
        others = frozenset(pid for pid, (parent, _, _) in _processes().items() if parent == os.getpid())
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, cwd=folder, start_new_session=True)
        grace = 0.0
        try:
            peak = _follow(process, others, begin + limit)
            seconds = time.perf_counter() - begin
            code = process.returncode
            grace = 0.0 if code is None else GRACE
        finally:
            _end(process, others, grace)
    return Ended(seconds, _cpu_of_children() - before, peak, code)


def _follow(process: "subprocess.Popen[bytes]", others: frozenset[int], deadline: float) -> float:
    """Wait for a command until a deadline; return the most memory in GB that its processes had at once."""
    peak = 0.0
    while time.perf_counter() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
            break
        peak = max(peak, sum(_family(process.pid, others).values()))
    return peak


def _end(process: "subprocess.Popen[bytes]", others: frozenset[int], grace: float) -> None:
    """End all processes of a command and wait for them, which is what adds their CPU time to ours."""
    deadline = time.perf_counter() + grace
    while left := _family(process.pid, others):
        for pid in left:
            with suppress(ProcessLookupError):
                if time.perf_counter() >= deadline:
                    os.kill(pid, signal.SIGKILL)
            if pid == process.pid:
                process.poll()
            else:
                with suppress(ChildProcessError):  # its parent is alive; it becomes our child when the parent ends
                    os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


@contextmanager
def _adopting() -> Iterator[None]:
    """Become the parent of processes that outlive theirs."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    try:
        yield
    finally:
        prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _family(leader: int, others: frozenset[int]) -> dict[int, float]:
    """Return the memory in GB of a command's processes, zombies included.

    They are those of its session, those that we adopted (children of ours that are not among the others), and all
    descendants, which may have sessions of their own, as browsers do.
    """
    processes, own = _processes(), os.getpid()
    family = {
        pid
        for pid, (parent, session, _) in processes.items()
        if session == leader or (parent == own and pid not in others)
    }
    while children := {pid for pid, (parent, _, _) in processes.items() if parent in family} - family:
        family |= children
    return {pid: processes[pid][2] for pid in family}


def _processes() -> dict[int, tuple[int, int, float]]:
    """Return the parent, the session and the memory in GB of every process."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e9
        found[int(file.parent.name)] = int(fields[1]), int(fields[3]), memory
    return found
