"""Nothing private gets out: a canary in every column of the log, and every place it could get to is searched."""

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.kill_cases import PUBLISH, WEEKS, anonymize_words, new_folder
from tests.lab.kills import run_process, start_process
from tests.support.logs import write_log

USER, QUERY, PLACE = "canaryuser", "canaryquery", "canaryplace"
CANARIES = [word.encode() for word in (USER, QUERY, PLACE)]


def log_with_canaries(folder: Path, rows: int = 20_000, kind: str = "parquet") -> Path:
    """Write a week whose users, queries and some of its places are canaries."""
    query = f"""
        SELECT '{USER}' || i AS user_id, '{QUERY} ' || i AS query,
               TIMESTAMPTZ '{WEEKS[0]} 06:00:00+00' + to_days((i % 7)::INTEGER) AS timestamp,
               CASE WHEN i % 50 = 0 THEN '{PLACE}' || i ELSE 'qz/s/p01' END AS region,
               ['H1', 'H2', 'H3', NULL][1 + (i // 3) % 4] AS category
        FROM range({rows}) AS r(i)"""
    return write_log(folder / "log" / f"log.{kind}", query)


def told_in(folder: Path) -> list[str]:
    """List the files, other than the log, that hold a canary."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "log" and any(word in path.read_bytes() for word in CANARIES)
    ]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_no_canary_leaves_the_log(tmp_path: Path, kind: str) -> None:
    """Not in the store, the journal, a backup, the dataset, what is printed, or a temporary file that stays."""
    folder = new_folder(tmp_path / "work")
    log_with_canaries(folder, kind=kind)
    printed = ""
    backup = ("store", "backup", "--store", "store.db", "--out", "backup.db")
    for words in (anonymize_words(WEEKS[0]), PUBLISH, backup, ("ledger", "--store", "store.db", "--verify")):
        ended = run_process(words, folder)
        assert ended.code == 0, ended.text
        printed += ended.text
    assert "400 with an unknown region" in printed
    assert not any(word.decode() in printed for word in CANARIES)
    assert told_in(folder) == []
    assert list((folder / "tmp").iterdir()) == []


def test_what_a_killed_run_spilled_is_private_and_goes_with_the_next_run(tmp_path: Path) -> None:
    """A day that does not fit into memory lies in a folder of mode 0700; killed, it lies there until the next start."""
    folder = new_folder(tmp_path / "work")
    log_with_canaries(folder, rows=1_500_000)
    words = (*anonymize_words(WEEKS[0]), "--memory", "60MB")
    process = start_process(words, folder, setup=two_threads)
    spilled = _wait_for_spill(folder / "tmp", process.is_alive)
    title = Path(f"/proc/{process.pid}/cmdline")
    if title.exists():
        assert not any(word in title.read_bytes() for word in CANARIES)
    if process.pid:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert spilled, "the run ended without spilling; give it less memory"
    left = list((folder / "tmp").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o700]
    assert told_in(folder) != []
    ended = run_process((*anonymize_words(WEEKS[0]), "--max-left-out", "0"), folder)
    assert ended.code == 2
    assert list((folder / "tmp").iterdir()) == []
    assert told_in(folder) == []


def _wait_for_spill(temporary: Path, alive: Callable[[], bool]) -> bool:
    """Wait until a canary lies in a temporary file."""
    while alive():
        for path in temporary.glob("*/*"):
            try:
                if USER.encode() in path.read_bytes():
                    return True
            except FileNotFoundError:
                continue
        time.sleep(0.01)
    return False


def two_threads() -> None:
    """Give each of DuckDB's threads more of the little memory."""
    os.cpu_count = lambda: 1


@pytest.mark.parametrize("name", ["core.txt", "dev.txt"])
def test_every_dependency_is_pinned_by_hash(name: str) -> None:
    """An exact version with the SHA-256 of its files: nothing else is installed."""
    text = (Path(__file__).parent.parent / "requirements" / name).read_text(encoding="utf-8")
    wanted = [part for part in text.replace("\\\n", " ").splitlines() if part and not part.lstrip().startswith("#")]
    assert len(wanted) > 10
    assert [line for line in wanted if "==" not in line or "--hash=sha256:" not in line] == []
