"""Running a command and watching what it uses, with all that it starts: seconds, CPU seconds, memory."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Used:
    """What a command used, and what it printed."""

    seconds: float
    cpu: float
    peak_gb: float
    output: str


def watch(command: Sequence[str], limit: float = 3600.0) -> Used:
    """Run a command to its end, looking at its processes ten times a second; SystemExit if it fails."""
    cpu: dict[int, float] = {}
    peak = 0.0
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        while process.poll() is None:
            peak = max(peak, _look(process.pid, cpu))
            if time.perf_counter() - begin > limit:
                process.terminate()
            time.sleep(0.1)
        seconds = time.perf_counter() - begin
        for file in (output, errors):
            file.seek(0)
        if process.returncode:
            raise SystemExit(f"{command[0]} failed: {errors.read()[-500:].decode(errors='replace')}")
        return Used(seconds, sum(cpu.values()), peak, output.read().decode())


def _look(pid: int, cpu: dict[int, float]) -> float:
    """Note the CPU seconds of each process; gives the memory of all of them in GB."""
    memory = 0.0
    for each in _with_children(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        cpu[each] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e9
    return memory


def _with_children(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return found
