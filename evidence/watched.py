"""Running a command and watching what it uses, with all that it starts: seconds, CPU seconds, memory.

The command gets a session of its own. What it leaves behind becomes a child of this process (Linux's "subreaper"), so
that it can be ended with the rest, disturbs no later measurement, and its CPU time is added like all other.
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

SET_CHILD_SUBREAPER = 36  # of prctl(2)
GRACE = 5.0  # seconds for what a command left behind to end by itself


@dataclass(frozen=True)
class Used:
    """What a command used, and what it printed."""

    seconds: float
    cpu: float
    peak_gb: float
    output: str


def watch(command: Sequence[str], limit: float = 3600.0) -> Used:
    """Run a command to its end, looking at its processes ten times a second; SystemExit if it fails or takes longer."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        before = _cpu_of_children()
        with _adopting():
            begin = time.perf_counter()
            process = subprocess.Popen(command, stdout=output, stderr=errors, start_new_session=True)
            grace = 0.0
            try:
                peak = _follow(process, begin + limit)
                seconds = time.perf_counter() - begin
                grace = GRACE if process.returncode is not None else 0.0
            finally:
                _end(process, grace)
        for file in (output, errors):
            file.seek(0)
        if not grace:
            raise SystemExit(f"{command[0]} was ended after {limit:g} s")
        if process.returncode:
            raise SystemExit(f"{command[0]} failed: {errors.read()[-500:].decode(errors='replace')}")
        return Used(seconds, _cpu_of_children() - before, peak, output.read().decode(errors="replace"))


def _follow(process: "subprocess.Popen[bytes]", deadline: float) -> float:
    """Wait for a command until a moment; give the most memory in GB that its session had at once."""
    peak = 0.0
    while time.perf_counter() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
            break
        peak = max(peak, sum(memory for _, memory in _session(process.pid)))
    return peak


def _end(process: "subprocess.Popen[bytes]", grace: float) -> None:
    """End all processes of a command's session, and wait for them, which is what adds their CPU time to ours."""
    deadline = time.perf_counter() + grace
    while left := [pid for pid, _ in _session(process.pid)]:
        for pid in left:
            with suppress(ProcessLookupError):
                if time.perf_counter() >= deadline:
                    os.kill(pid, signal.SIGKILL)
            if pid == process.pid:
                process.poll()
            else:
                with suppress(ChildProcessError):  # its parent still lives; it comes to us with the parent's end
                    os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


@contextmanager
def _adopting() -> Iterator[None]:
    """Become the parent of processes whose own has ended."""
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


def _session(leader: int) -> list[tuple[int, float]]:
    """List the processes of a session, ended ones that nobody waited for too, each with its memory in GB."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[3]) == leader:
            found.append((int(file.parent.name), int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e9))
    return found
