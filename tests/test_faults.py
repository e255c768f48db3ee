"""Faults outside the program: full disks, read-only stores, wrong clocks, changing files, two processes at once.

After each of them the store is intact, the error is one line, and the next run without the fault completes the work.
"""

import ctypes
import os
import resource
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from search_insights.errors import StoreError
from search_insights.private.duckdb_engine import DuckDbEngine
from search_insights.store.journal import read_journal
from search_insights.store.opening import open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems
from tests.lab.kill_cases import BACKUP, PUBLISH, WEEKS, anonymize_words, new_folder
from tests.lab.kills import Ended, digest, run_process
from tests.support.clocks import clock
from tests.support.command_line import assert_one_line
from tests.support.logs import MONDAY, Publisher, searches, write_log


def weeks_in(folder: Path) -> list[str]:
    """Open a store, check that it is intact, and list its weeks; none if it is missing or empty."""
    try:
        with open_store(folder / "store.db") as store:
            assert problems(store, scale_problems) == []
            return [str(entry.week) for entry in store.entries()]
    except StoreError as error:
        if "no such store" in str(error) or "store is empty" in str(error):
            return []
        raise


def assert_refused_in_one_line(ended: Ended) -> None:
    """Check that a process ended with exit code 2 and, after its progress, one line that is not a fault's."""
    assert ended.code == 2, ended.text
    lines = [line for line in ended.text.splitlines(keepends=True) if not line.startswith(("[", "week "))]
    assert_one_line("".join(lines))
    assert "fault of the program" not in lines[0]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A publisher of Qazaria who has committed and published one week, and has the log of the next."""
    folder = new_folder(tmp_path_factory.mktemp("one") / "work", *WEEKS[:2])
    for words in (anonymize_words(WEEKS[0]), PUBLISH):
        assert run_process(words, folder).code == 0
    return folder


@pytest.fixture
def one(template: Path, tmp_path: Path) -> Path:
    """A copy of that publisher's folder, which the test may change."""
    return shutil.copytree(template, tmp_path / "work")


# A full disk


def largest_file(size: int) -> None:
    """Let no file grow beyond a size; writes then fail as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 4_000, 600_000])
def test_a_disk_that_is_full_while_a_store_is_made_spends_nothing_twice(tmp_path: Path, size: int) -> None:
    """Wherever space runs out, the run ends in one line or commits the week; the next run completes it."""
    folder = new_folder(tmp_path / "work", WEEKS[0])
    full = run_process(anonymize_words(WEEKS[0]), folder, setup=partial(largest_file, size))
    if full.code:
        assert full.code == 2 or size < 200  # then there is no space for the message itself
    noise = read_journal(folder / "store.db").checksums
    weeks_in(folder)
    assert run_process(anonymize_words(WEEKS[0]), folder).code == 0
    assert weeks_in(folder) == [str(WEEKS[0])]
    assert noise in ({}, read_journal(folder / "store.db").checksums)


@pytest.mark.parametrize("words", [anonymize_words(WEEKS[1]), PUBLISH, BACKUP], ids=["anonymize", "publish", "backup"])
@pytest.mark.parametrize("space", [20_000])
def test_a_disk_that_is_full_changes_nothing(one: Path, words: tuple[str, ...], space: int) -> None:
    """Store and dataset do not change, and there is one line and no partial file; with space, the work is done."""
    if words == PUBLISH:
        assert run_process(anonymize_words(WEEKS[1]), one).code == 0
    weeks, dataset, names = weeks_in(one), digest(one / "dataset"), {path.name for path in one.iterdir()}
    ended = run_process(words, one, setup=partial(largest_file, space))
    if ended.code or words != anonymize_words(WEEKS[1]):  # a week may still fit into the .wal file
        assert_refused_in_one_line(ended)
        assert weeks_in(one) == weeks
        assert {path.name for path in one.iterdir()} - {"store.db.wal"} == names
    assert digest(one / "dataset") == dataset
    assert run_process(words, one).code == 0


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system of this size on a folder, if the user may."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a file system; run as root to include it")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_real_disk_that_is_full_is_reported_and_can_be_used_again(one: Path, tmp_path: Path) -> None:
    """On a full file system every command ends in one line; with space again, it works."""
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, "9m"):
        shutil.copytree(one, disk / "work")
        folder = disk / "work"
        filler = disk / "filler"
        with suppress(OSError):  # until there is no space left
            filler.write_bytes(bytes(9 << 20))
        for words in (anonymize_words(WEEKS[1]), BACKUP):
            ended = run_process(words, tmp_path, setup=partial(be_in, folder))
            assert_refused_in_one_line(ended)
            assert weeks_in(folder) == [str(WEEKS[0])]
        filler.unlink()
        for words in (anonymize_words(WEEKS[1]), PUBLISH, BACKUP):
            assert run_process(words, tmp_path, setup=partial(be_in, folder)).code == 0
        assert weeks_in(folder) == [str(week) for week in WEEKS[:2]]


def be_in(folder: Path) -> None:
    """Work in this folder, while output and temporary files go to another."""
    os.chdir(folder)


# A store that cannot be written


def drop_privileges() -> None:
    """Give up the rights of root (capset), which ignore read-only modes."""
    if os.geteuid() == 0:
        header, none = struct.pack("Ii", 0x20080522, 0), bytes(24)
        if ctypes.CDLL(None).capset(header, none):
            raise OSError("capset")


@pytest.fixture
def read_only(one: Path) -> Iterator[Path]:
    """The same with a store that cannot be written."""
    (one / "store.db").chmod(0o400)
    yield one
    one.chmod(0o700)


def test_a_read_only_store_is_one_line(read_only: Path) -> None:
    """`anonymize` on a read-only store ends in one line and commits nothing."""
    ended = run_process(anonymize_words(WEEKS[1]), read_only, setup=drop_privileges)
    assert_refused_in_one_line(ended)
    assert "store.db: the store may not be opened by this user" in ended.text
    assert weeks_in(read_only) == [str(WEEKS[0])]


def test_a_read_only_store_can_be_read(read_only: Path) -> None:
    """Showing the ledger, publishing and making a backup need no write access to the store."""
    for words in (("ledger", "--store", "store.db", "--verify"), PUBLISH, BACKUP):
        ended = run_process(words, read_only, setup=drop_privileges)
        assert ended.code == 0, ended.text


@pytest.mark.parametrize("words", [anonymize_words(WEEKS[1]), PUBLISH, BACKUP], ids=["anonymize", "publish", "backup"])
def test_a_read_only_folder_is_one_line(read_only: Path, words: tuple[str, ...]) -> None:
    """If the folder of the journal, the dataset and the backup is read-only, there is one line and no change."""
    (read_only / "store.db").chmod(0o600)
    (read_only / "store.db.journal").unlink()
    (read_only / "tmp").chmod(0o700)
    before = digest(read_only)
    ended = run_process(words, read_only, setup=in_a_read_only_folder)
    assert_refused_in_one_line(ended)
    read_only.chmod(0o700)
    assert digest(read_only) == before


def in_a_read_only_folder() -> None:
    """Make the working folder read-only."""
    Path.cwd().chmod(0o500)
    drop_privileges()


def test_output_that_cannot_be_written_is_one_line(one: Path) -> None:
    """If standard output is on a full disk, the command fails with one line and no traceback."""
    ended = run_process(("ledger", "--store", "store.db"), one, setup=to_a_full_disk)
    assert ended.code == 2
    assert ended.text == "search-insights: output: No space left on device\n"


def to_a_full_disk() -> None:
    """Send standard output to a device that is always full."""
    if not Path("/dev/full").exists():
        os._exit(2)
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


# Clocks


@pytest.mark.parametrize("year", [1970, 2020])
def test_a_clock_that_is_behind_spends_nothing(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    """A week that is not over by the clock is refused, whatever is in the log."""
    monkeypatch.setattr("search_insights.anonymization.datetime", clock(datetime(year, 1, 1, tzinfo=UTC)))
    code, _, err = publisher.anonymize(publisher.log())
    assert code == 2
    assert f"week {MONDAY} is not over" in err
    assert not publisher.store.exists()


def test_a_clock_that_jumps_back_during_a_run_does_no_harm(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger records the day of the clock; nothing depends on the order of these days."""
    moments = [datetime(2099, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr("search_insights.anonymization.datetime", clock(*moments))
    assert publisher.anonymize(publisher.log())[0] == 0
    assert [entry.committed_at for entry in publisher.ledger()] == ["1999-01-01"]
    monkeypatch.undo()
    assert publisher.anonymize(publisher.log())[1].startswith(f"week {MONDAY}: is in the store already")


# Files that change


def touch(path: Path) -> None:
    """Change the time of the last write: more may be written."""
    os.utime(path, ns=(1, 1))


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"later,2021-03-08T20:00:00Z,94103,A1\n")


def exchange(path: Path) -> None:
    write_log(path.with_name("new.csv"), searches(category="'A2'")).rename(path)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("change", [touch, append, exchange, empty, Path.unlink])
@pytest.mark.parametrize("day", [0, 3, 6])
def test_a_log_that_changes_while_it_is_read_is_refused(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], day: int
) -> None:
    """A week is noised once, so if a file is written, replaced or deleted during the run, nothing is spent."""
    log, bound, days = publisher.log(name="log.csv"), DuckDbEngine.bound, iter(range(99))

    def change_on_a_day(engine, *arguments):  # type: ignore[no-untyped-def]
        found = bound(engine, *arguments)
        if next(days) == day:
            change(log)
        return found

    monkeypatch.setattr(DuckDbEngine, "bound", change_on_a_day)
    code, out, err = publisher.anonymize(log)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "fault of the program" not in err
    assert not publisher.store.exists()


# Two at once


def at_once(folder: Path, *commands: tuple[str, ...]) -> list[Ended]:
    """Run commands at the same time."""
    with ThreadPoolExecutor(len(commands)) as pool:
        return list(pool.map(lambda words: run_process(words, folder), commands))


def test_two_processes_noise_a_week_once(tmp_path: Path) -> None:
    """Exactly one process commits the week; the others say that the store is in use or has the week already."""
    folder = new_folder(tmp_path / "work", WEEKS[0])
    ended = at_once(folder, *[anonymize_words(WEEKS[0])] * 4)
    assert sum("committed to" in e.text for e in ended) == 1
    for other in ended:
        if "committed to" not in other.text:
            assert "another process is using this store" in other.text or "is in the store already" in other.text
    assert weeks_in(folder) == [str(WEEKS[0])]
    assert list((folder / "tmp").iterdir()) == []


def test_two_processes_publish_the_same_dataset(one: Path) -> None:
    """Whichever process is last, the dataset is complete, and there are no other files beside it."""
    assert run_process(anonymize_words(WEEKS[1]), one).code == 0
    names = {path.name for path in one.iterdir()}
    ended = at_once(one, PUBLISH, PUBLISH)
    assert any(e.code == 0 for e in ended)
    assert all(e.code in (0, 2) for e in ended), [e.text for e in ended]
    assert {path.name for path in one.iterdir()} == names
    alone = digest(one / "dataset")
    assert run_process(PUBLISH, one).code == 0
    assert digest(one / "dataset") == alone


# Modes


def test_only_the_dataset_can_be_read_by_others(one: Path) -> None:
    """Store, journal and backup have mode 0600 whatever the process's mask; the dataset has 0755."""
    assert run_process(BACKUP, one, setup=partial(os.umask, 0)).code == 0
    for name in ("store.db", "store.db.journal", "backup.db"):
        assert stat.S_IMODE((one / name).stat().st_mode) == 0o600
    assert stat.S_IMODE((one / "dataset").stat().st_mode) == 0o755
