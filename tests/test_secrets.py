"""Nothing private leaves the log: no output, store or temporary file that remains contains a value of it."""

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights.anonymization import anonymize
from search_insights.commands.console import Steps
from search_insights.errors import LogError
from search_insights.private.log import LogSource
from search_insights.spec.cells import CellList
from search_insights.store.journal import journal_path
from tests.lab.kill_cases import BACKUP, PUBLISH, WEEKS, anonymize_words, new_folder
from tests.lab.kills import run_process, start_process
from tests.support.logs import SECRET, WEEK, Publisher, count, searches, write_log

USER, QUERY, PLACE = "canaryuser", "canaryquery", "canaryplace"
CANARIES = [word.encode() for word in (USER, QUERY, PLACE)]


def log_with_canaries(folder: Path, rows: int = 20_000, kind: str = "parquet") -> Path:
    """Write a week in which all users and queries and some places are canaries."""
    query = f"""
        SELECT '{USER}' || i AS user_id, '{QUERY} ' || i AS query,
               TIMESTAMPTZ '{WEEKS[0]} 06:00:00+00' + to_days((i % 7)::INTEGER) AS timestamp,
               CASE WHEN i % 50 = 0 THEN '{PLACE}' || i ELSE 'qz/s/p01' END AS region,
               ['H1', 'H2', 'H3', NULL][1 + (i // 3) % 4] AS category
        FROM range({rows}) AS r(i)"""
    return write_log(folder / "log" / f"log.{kind}", query)


def files_with_canaries(folder: Path) -> list[str]:
    """List the files, other than the log, that contain a canary."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "log" and any(word in path.read_bytes() for word in CANARIES)
    ]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_no_canary_leaves_the_log(tmp_path: Path, kind: str) -> None:
    """No canary is in the store, the journal, a backup, the dataset, the output or a remaining temporary file."""
    folder = new_folder(tmp_path / "work")
    log_with_canaries(folder, kind=kind)
    printed = ""
    for words in (anonymize_words(WEEKS[0]), PUBLISH, BACKUP, ("ledger", "--store", "store.db", "--verify")):
        ended = run_process(words, folder)
        assert ended.code == 0, ended.text
        printed += ended.text
    assert "400 with an unknown region" in printed
    assert not any(word.decode() in printed for word in CANARIES)
    assert files_with_canaries(folder) == []
    assert list((folder / "tmp").iterdir()) == []


def test_what_a_killed_run_spilled_is_private_and_removed_by_the_next_run(tmp_path: Path) -> None:
    """Data that does not fit into memory is in a folder of mode 0700; after a kill the next run removes it."""
    folder = new_folder(tmp_path / "work")
    log_with_canaries(folder, rows=1_500_000)
    words = (*anonymize_words(WEEKS[0]), "--memory", "30MB")
    process = start_process(words, folder, setup=two_threads)
    spilled = _wait_for_spill(folder / "tmp", process.is_alive)
    title = Path(f"/proc/{process.pid}/cmdline")
    if title.exists():
        assert not any(word in title.read_bytes() for word in CANARIES)
    if process.is_alive() and process.pid:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert spilled, "the run ended without spilling; give it less memory"
    left = list((folder / "tmp").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in left] == [0o700]
    assert files_with_canaries(folder) != []
    ended = run_process((*anonymize_words(WEEKS[0]), "--max-left-out", "0"), folder)
    assert ended.code == 2
    assert list((folder / "tmp").iterdir()) == []
    assert files_with_canaries(folder) == []


def _wait_for_spill(temporary: Path, alive: Callable[[], bool]) -> bool:
    """Wait until a temporary file contains a canary."""
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
    """Let DuckDB use few threads, so that each has more of the little memory."""
    os.cpu_count = lambda: 1


# The store and temporary files


def test_the_store_holds_no_user_query_or_exact_count(publisher: Publisher, temporary: Path) -> None:
    """Stored counts differ from the exact ones as the sigmas say; no table and no byte of a file has a secret."""
    log = publisher.log(
        searches(
            user_id=f"'{SECRET}-user-' || i",
            region=f"CASE WHEN i < 100 THEN '{SECRET}-place' ELSE ['94103', '95667', 'geoId/06003'][(i % 3) + 1] END",
            more=f"'{SECRET} query' AS query, '{SECRET}' AS extra",
            rows=7_000,
        )
    )
    code, out, err = publisher.anonymize(log)
    assert code == 0
    assert SECRET not in out + err
    exact = count(publisher.coverage, log).counts
    assert 2_000 < exact.max() < 7_000
    sigmas = CellList(publisher.coverage).sigmas
    score = float(np.square((publisher.noisy() - exact) / sigmas).mean())
    assert 0.2 < score < 3
    with duckdb.connect(str(publisher.store), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        assert {"about", "cells", "counts", "ledger", "regions"} <= set(tables)
        for table in tables:
            columns = connection.execute(f"SELECT * FROM {table}").fetchnumpy()
            assert SECRET not in str([list(column) for column in columns.values()])
            for column in columns.values():
                assert column.dtype == object or len(column) != exact.size or (column != exact).any()
    made = [path for path in publisher.folder.rglob("*") if path.is_file() and path not in (log, publisher.geography)]
    assert sorted(made) == [publisher.store, journal_path(publisher.store)]
    assert not any(SECRET.encode() in path.read_bytes() for path in made)


@pytest.mark.parametrize("category", ["NULL", f"CASE WHEN i % 7 = 6 THEN '{SECRET}' END"], ids=["success", "error"])
def test_the_folder_of_spilled_data_is_private_and_removed(
    publisher: Publisher, temporary: Path, category: str
) -> None:
    """While the log is read there is one folder of mode 0700; after success or failure there is none."""
    modes: list[list[int]] = []

    def look(step: str) -> None:
        if step != "reading the log":  # which is told before the log is opened
            modes.append([stat.S_IMODE(path.stat().st_mode) for path in temporary.iterdir()])

    source = LogSource((str(publisher.log(searches(category=category))),))
    try:
        anonymize(source, publisher.store, [WEEK], publisher.coverage, progress=look)
    except LogError as error:
        assert "unknown value" in str(error)  # noqa: PT017 - one of the two cases has no error
    assert len(modes) >= 7
    assert all(seen == [0o700] for seen in modes)
    assert list(temporary.iterdir()) == []


def test_an_interrupted_run_leaves_no_spilled_data_and_spends_nothing(
    publisher: Publisher, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a week ends with exit code 130; the folder is removed and the ledger is empty."""

    class Interrupted(Steps):
        def show(self, text: str) -> None:
            if text.endswith("Thu"):
                raise KeyboardInterrupt

    monkeypatch.setattr("search_insights.commands.anonymize.Steps", Interrupted)
    code, out, err = publisher.anonymize(publisher.log())
    assert (code, out, err) == (130, "", "search-insights: interrupted\n")
    assert list(temporary.iterdir()) == []
    assert publisher.ledger() == []


def test_a_run_with_nothing_to_do_removes_what_a_killed_one_left(publisher: Publisher, temporary: Path) -> None:
    """Spilled parts of a log do not wait for the next week: a week that is in the store already removes them too."""
    assert publisher.anonymize(publisher.log())[0] == 0
    for kind in ("", "spark-"):
        left = temporary / f"search-insights-temporary-{kind}abcdefgh"
        left.mkdir()
        (left / "spilled").write_text("a query")
    assert publisher.anonymize(publisher.log())[0] == 0
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["search-insights-releases", "search-insights-spark-releases"])
def test_a_folder_of_the_operator_is_not_taken_for_an_abandoned_one(
    publisher: Publisher, temporary: Path, name: str
) -> None:
    """Many try a program in the temporary folder: a store that lies there in a folder of its own stays."""
    store = temporary / name / "store.db"
    store.parent.mkdir(mode=0o700)
    store.write_text("weeks")
    assert publisher.anonymize(publisher.log())[0] == 0
    assert store.read_text() == "weeks"
