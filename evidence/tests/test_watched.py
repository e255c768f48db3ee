"""Measuring a command: everything that it starts is measured, and nothing of it is left running."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence.watched import watch

BURN = "import time\nwhile time.process_time() < 0.06: pass"


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


def lives(pid: int) -> bool:
    """Return whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_cpu_of_short_and_of_abandoned_processes_counts() -> None:
    """CPU time is that of everything the command started, even if too short to be seen or not waited for."""
    waited = f"import subprocess, sys\nfor _ in range(5): subprocess.run([sys.executable, '-S', '-c', {BURN!r}])\n"
    abandoned = f"for _ in range(5): subprocess.Popen([sys.executable, '-S', '-c', {BURN!r}])\n"
    assert watch(python(waited)).cpu >= 5 * 0.06
    assert watch(python(waited + abandoned)).cpu >= 10 * 0.06


def test_a_command_over_its_limit_leaves_nothing_running(tmp_path: Path) -> None:
    """At the limit all processes of the command end, also those with a process group or a session of their own."""
    said = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time\n"
        "sleeper = [sys.executable, '-S', '-c', 'import time; time.sleep(600)']\n"
        "options = [{}, {'process_group': 0}, {'start_new_session': True}]\n"
        "pids = [os.getpid(), *(subprocess.Popen(sleeper, **each).pid for each in options)]\n"
        f"open({str(said)!r}, 'w').write(' '.join(map(str, pids)))\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(SystemExit, match="was ended after 2 s"):
        watch(python(code), limit=2)
    pids = [int(pid) for pid in said.read_text().split()]
    assert len(pids) == 4
    assert [pid for pid in pids if lives(pid)] == []


def test_a_command_that_fails_says_why() -> None:
    """The error shows what a failing command printed last."""
    with pytest.raises(SystemExit, match="no such thing"):
        watch(python("import sys; sys.exit('no such thing')"))


def test_other_children_are_left_alone() -> None:
    """A process that was started before is neither ended nor waited for."""
    with subprocess.Popen(python("import time; time.sleep(600)")) as other:
        watch(python(""))
        assert other.poll() is None
        other.kill()
