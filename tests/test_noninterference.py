"""Store and dataset depend on the log through the noisy counts only.

With noisy counts replaced by fixed numbers, two very different logs must give the same store and the same dataset, byte
for byte. Any difference would reveal something about the log without noise: the existence of a cell, the order of rows,
the size of a file, a bound, a name.
"""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights import anonymization
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import spec_toml
from search_insights.store.identity import new_identity
from search_insights.support.arrays import Counts, Floats
from search_insights.trends import release
from tests.lab.mutants import everywhere, other_noise
from tests.support.clocks import clock
from tests.support.command_line import Run
from tests.support.logs import MONDAY, Publisher, little_geography, new_publisher, searches

BUSY = searches(category="['A1', 'A2', 'A3'][(i % 3) + 1]", rows=40_000)
SPARSE = searches(region="'US-AL'", category="'A3'", rows=30_000)


def fixed_noise(counts: Counts, sigmas: Floats) -> Counts:
    """Return numbers that depend only on the position of a cell and are large enough to be published."""
    place = np.arange(counts.size, dtype=np.int64)
    return place % 7 + np.resize(np.array([80_000, 3_600, 2_800, 3_200], dtype=np.int64), counts.size)


@pytest.fixture
def published(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, Publisher]:
    """Two publishers whose logs have little in common, at the same time, and of the same random identity."""
    other_noise(fixed_noise)(monkeypatch)
    everywhere(monkeypatch, new_identity, lambda: "6f1c1f0e-5d0a-4b7e-9a53-0d6f1b1f3c11")
    for module in (anonymization, release):
        monkeypatch.setattr(module, "datetime", clock(datetime(2022, 2, 2, 12, tzinfo=UTC)))
    publishers = {}
    for name, query in (("everywhere", BUSY), ("in one state", SPARSE)):
        folder = tmp_path / name
        folder.mkdir()
        publisher = replace(new_publisher(folder, run, monkeypatch), geography=little_geography(tmp_path))
        assert publisher.anonymize(publisher.log(query))[0] == 0
        assert run("publish", "--store", publisher.store, "--out", folder / "dataset")[0] == 0
        publishers[name] = publisher
    return publishers


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _tables(store: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table of a store, in the order in which they are stored."""
    with duckdb.connect(store, read_only=True) as connection:
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() for name in names}


def test_the_store_depends_on_the_log_through_noisy_counts_only(published: dict[str, Publisher]) -> None:
    """With the same noisy counts, two different logs give the same tables."""
    busy, sparse = (_tables(publisher.store) for publisher in published.values())
    assert busy["counts"]
    assert busy == sparse


def test_the_dataset_depends_on_the_log_through_noisy_counts_only(published: dict[str, Publisher]) -> None:
    """With the same noisy counts, two different logs give the same files: rows, order, sizes, statements."""
    busy, sparse = (_files(publisher.folder / "dataset") for publisher in published.values())
    assert len(busy) >= 6
    assert busy == sparse


def test_privacy_checks_survive_python_dash_o(paper: Spec, tmp_path: Path) -> None:
    """`python -O` removes asserts; a spec that promises too much is still refused before the log is read."""
    text = spec_toml(paper).replace("epsilon = 2.19", "epsilon = 1.0")
    (tmp_path / "boast.toml").write_text(text, encoding="utf-8")
    program = "import sys; from search_insights.commands.cli import main; sys.exit(main())"
    command = [sys.executable, "-O", "-c", program, "anonymize", "none.parquet", "--week", MONDAY]
    options = ["--store", str(tmp_path / "store.db"), "--spec", str(tmp_path / "boast.toml")]
    done = subprocess.run([*command, *options], env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "promises epsilon 1 at delta" in done.stderr
    assert not (tmp_path / "store.db").exists()
