"""Killed at any moment, the program loses no data, spends no budget twice and reveals nothing private.

These are the quick versions; `python -m evidence.durability kills moments` kills at every line.
"""

import inspect
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import search_insights
from search_insights.dataset.folder import published_weeks
from search_insights.routine import backups
from search_insights.store.opening import open_store
from search_insights.store.store import Store
from search_insights.store.top_searches import add_top_searches
from search_insights.support import replace_folder
from search_insights.support.replace_folder import replacing
from search_insights.support.working_folder import working_folder
from tests.lab.kill_cases import WEEKS, Cases, anonymize_words, new_folder
from tests.lab.kills import (
    Step,
    Tally,
    check,
    copy_of,
    die_after_commit,
    random_moments,
    run_process,
    seconds_of,
    steps_of,
)
from tests.lab.soak import soak

NAMES = [
    "init",
    "anonymize, first",
    "anonymize, later",
    "anonymize, texts",
    "publish, first",
    "publish, again",
    "store backup",
    "dashboard",
    "combine",
    "store restore",
    "store lose",
    "store note",
    "store edition",
    "run",
]
# Where a kill could lose a week, noise it twice or break what is published: tried every time.
CRITICAL = ("anonymize, first", "anonymize, later", "publish, again", "store restore")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """The folder before each command, made when a test needs it."""
    return Cases(tmp_path_factory.mktemp("cases"))


@pytest.mark.parametrize(
    "name",
    [
        name if name in CRITICAL else pytest.param(name, marks=pytest.mark.thorough)
        for name in NAMES
        if name not in ("run", "anonymize, texts")  # see below
    ],
)
def test_a_kill_at_a_step_leaves_all_or_nothing(prepared: Cases, name: str) -> None:
    """Killed before lines spread over the whole run, the program keeps the promises of `tests/lab/kills.py`."""
    case, tally = prepared[name], Tally()
    steps = steps_of(case, most=1)
    for step in steps[3 :: len(steps) // 2]:
        check(case, tally, at=step)
    assert tally.killed >= 2
    assert tally.ended == 0


def test_a_kill_around_the_commit_leaves_all_or_nothing(prepared: Cases) -> None:
    """The same promises hold before every third line of the commit; `make evidence` tries every line."""
    case, tally = prepared["anonymize, later"], Tally()
    around = [step for step in steps_of(case, most=1) if step[0] == "store/store.py" and step[1] in lines_of_commit()]
    assert len(around) > 8
    tried = around[4::3]  # from the beginning of the transaction on
    for step in tried:
        check(case, tally, at=step)
    assert tally.killed == len(tried)


def test_a_kill_among_the_texts_of_a_week_leaves_all_or_nothing(prepared: Cases) -> None:
    """Killed when the second week's texts are added but not committed, the first week stays and is not noised again."""
    case, tally = prepared["anonymize, texts"], Tally()
    lines, first = inspect.getsourcelines(add_top_searches)
    check(case, tally, at=("store/top_searches.py", first + len(lines) - 1, 2))
    assert tally.killed == 1


def lines_of_commit() -> range:
    """Return the line numbers of the function that makes a week final."""
    lines, first = inspect.getsourcelines(Store.commit_week)
    return range(first, first + len(lines))


@pytest.mark.parametrize("name", ["anonymize, later", "publish, again"])
def test_a_kill_at_a_random_moment_leaves_all_or_nothing(prepared: Cases, name: str) -> None:
    """The same promises hold wherever the process is killed, also in the database's own code."""
    case, tally = prepared[name], Tally()
    for moment in random_moments(case, 2, seed=7):
        check(case, tally, after=moment)
    assert tally.killed + tally.ended == 2


@pytest.mark.parametrize(
    "function",
    [None, *(pytest.param(f, marks=pytest.mark.thorough) for f in (replace_folder._exchange, backups.delete_surplus))],
)
def test_a_killed_run_is_completed_by_the_next(prepared: Cases, function: Callable[..., object] | None) -> None:
    """Killed after the commit, when the new dataset is in place and the old not removed, before a deletion."""
    case, store = prepared["run"], Path("store.db")
    with copy_of(case) as folder:
        how: dict[str, Any] = {"at": last_step(function)} if function else {"setup": die_after_commit}
        assert run_process(case.arguments, folder, **how).killed
        with open_store(folder / store) as opened:
            noise = opened.entries()
        assert run_process(case.arguments, folder).code == 0
        with open_store(folder / store) as opened:
            assert opened.entries() == noise
        shown = published_weeks(folder / "dataset")
        assert {week: final.checksum for week, final in shown.items()} == {e.week: e.checksum for e in noise}
        assert len(noise) == 2
        assert len(backups.dated_backups(folder / store, folder / "backups")) == 1
        assert not backups.backup_is_due(folder / store, folder / "backups")
        made = {path.name for path in folder.iterdir()} - {path.name for path in case.before.iterdir()}
        assert made <= {*case.makes, "tmp", "store.db.wal"}  # the log of changes is a part of the store
        assert list((folder / "tmp").iterdir()) == []  # a killed process may leave private data there


def last_step(function: Callable[..., object]) -> Step:
    """Return the line of a function that does the work, before it returns; of the exchange of two folders, the end."""
    lines, first = inspect.getsourcelines(function)
    module = Path(inspect.getfile(function)).relative_to(Path(search_insights.__file__).parent).as_posix()
    return module, first + len(lines) - (1 if function is replace_folder._exchange else 2), 1


def test_every_case_is_tested(prepared: Cases) -> None:
    """A new case must be added to the names that are tested here."""
    assert list(prepared) == NAMES


# Signals


@pytest.mark.parametrize("send", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(tmp_path: Path, send: int) -> None:
    """After SIGINT and SIGTERM nothing is spent, no private file is left, and the next run does the work."""
    folder = new_folder(tmp_path / "work", WEEKS[0])
    ended = run_process(anonymize_words(WEEKS[0]), folder, setup=interrupt if send == signal.SIGINT else terminate)
    assert ended.code == 128 + send
    assert "Traceback" not in ended.text
    assert not (folder / "store.db").exists()
    assert list((folder / "tmp").iterdir()) == []
    assert run_process(anonymize_words(WEEKS[0]), folder).code == 0


@pytest.mark.parametrize("send", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.thorough
def test_a_signal_during_a_query_is_not_a_fault(prepared: Cases, send: int) -> None:
    """DuckDB turns the exception of a signal into an error of its own; the exit code is still that of the signal."""
    case = prepared["publish, again"]
    seconds = seconds_of(case)
    for moment in (0.3, 0.7):
        with copy_of(case) as folder:
            ended = run_process(case.arguments, folder, after=moment * seconds, send=send)
            assert ended.code in (0, 128 + send), ended
            assert {path.name for path in folder.iterdir()} <= {path.name for path in case.before.iterdir()} | {"tmp"}


def interrupt() -> None:
    """Send SIGINT when the third day is counted."""
    _send_on_the_third_day(signal.SIGINT)


def terminate() -> None:
    """Send SIGTERM when the third day is counted."""
    _send_on_the_third_day(signal.SIGTERM)


def _send_on_the_third_day(number: int) -> None:
    from search_insights.private.duckdb_engine import DuckDbEngine

    count, days = DuckDbEngine.bound, iter(range(9))

    def bound(engine, *asked):  # type: ignore[no-untyped-def]
        if next(days) == 2:
            os.kill(os.getpid(), number)
        return count(engine, *asked)

    DuckDbEngine.bound = bound  # type: ignore[method-assign]


# What a killed process leaves


@pytest.fixture
def leftovers(tmp_path: Path) -> Path:
    """A folder with leftovers of a killed process, and with folders and links of other programs."""
    (tmp_path / "work-abandon1").mkdir()
    (tmp_path / "work-abandon1" / "private").write_text("spilled")
    (tmp_path / "work-abandon1-not").mkdir()
    (tmp_path / "other-abandon1").mkdir()
    (tmp_path / "work-linkedxx").symlink_to(tmp_path / "other-abandon1")
    return tmp_path


def test_what_a_killed_process_left_is_removed_by_the_next(leftovers: Path) -> None:
    """The next run removes the private data of a killed one, and nothing that belongs to other programs."""
    with working_folder(leftovers, "work-") as mine:
        assert stat.S_IMODE(mine.stat().st_mode) == 0o700
        assert {path.name for path in leftovers.iterdir()} == {
            *("work-abandon1-not", "other-abandon1", "work-linkedxx"),
            mine.name,
        }
    assert not mine.exists()


def test_the_folder_of_a_running_process_is_not_removed(tmp_path: Path) -> None:
    """Two runs at the same time do not remove each other's folders."""
    with working_folder(tmp_path, "work-") as one, working_folder(tmp_path, "work-") as other:
        assert one.is_dir()
        assert other.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_that_was_moved_aside_is_restored(tmp_path: Path) -> None:
    """Where two names cannot be exchanged in one step, a kill between the renames is undone by the next run."""
    (tmp_path / ".out.draft-abcdefgh.old").mkdir()
    (tmp_path / ".out.draft-abcdefgh.old" / "data").write_text("published")

    def fail() -> None:
        with replacing(tmp_path / "out"):
            assert (tmp_path / "out" / "data").read_text() == "published"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.thorough
def test_many_crashes_do_not_add_up(tmp_path: Path) -> None:
    """After several weeks with random kills the dataset is the same as without kills, and no files are left."""
    result = soak(tmp_path, weeks=2, seed=3)
    assert result.kills >= 1
    assert result.differs == []
    assert result.leftovers == []
    with open_store(tmp_path / "disturbed" / "store.db") as store:
        assert len(store.entries()) == 2
