"""Stores with known noisy counts, and releases of them."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.publication_rules import Sparsity
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone_data_version
from search_insights.store.journal import journal_path
from search_insights.store.ledger import LedgerEntry, ModelRecord, checksum, instants_of
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.recording import plan_change, record_change
from search_insights.support.arrays import Counts
from search_insights.trends.derive import Trends
from search_insights.trends.release import Release, make_release, record_decisions
from tests.support.logs import little_coverage

# The noisy counts of one week by place_id, one for each category.
WeekCounts = Mapping[str, tuple[int, ...]]

FIRST = date(2021, 1, 4)
USUAL = (100_000, 3_000, 2_000, 1_000)  # enough to be reliable at every level of the packaged spec
NOTHING = (0, 0, 0, 0)
NO_SAFETY = (100_000, 3_000, 0, 1_000)
CITY, TOWN = "zip/94103", "zip/95667"


def short_window_coverage(folder: Path, max_points: int = 2, weeks: int = 4) -> Coverage:
    """Return the packaged release of the little country with a sparsity window short enough for tests."""
    coverage = little_coverage(folder)
    sparsity = Sparsity(max_points, FIRST, FIRST + timedelta(weeks=weeks - 1))
    return Coverage(replace(coverage.spec, sparsity=sparsity), coverage.geography)


def entry_for(coverage: Coverage, noisy: Counts, week: Week) -> LedgerEntry:
    """Return the ledger entry that belongs to these counts."""
    return LedgerEntry(
        week.first_day, "2023-10-09", 3.0, 1e-6, "discrete Gaussian", noisy.size,
        checksum(week.first_day, noisy), coverage.spec.fingerprint, coverage.geography.fingerprint,
        "duckdb", "0", "", "", "", *instants_of(week), "instant", zone_data_version(), "timestamp",
    )  # fmt: skip


def add_weeks(
    path: Path,
    coverage: Coverage,
    *weeks: WeekCounts,
    start: int = 0,
    usual: tuple[int, ...] = USUAL,
    model: ModelRecord | None = None,
    identity: str = "",
) -> Path:
    """Commit noisy counts week by week, from the first week of the sparsity window plus `start`.

    Regions that a week does not name get the usual counts. If a `model` is given, it classified the weeks.
    A new store gets the `identity`, or a new one.
    """
    spec = coverage.spec
    classifier = model.fingerprint if model else ""
    regions = CellList(coverage).regions
    with create_or_open_store(path, coverage, identity) as store:
        for i, given in enumerate(weeks, start):
            week = Week(spec.sparsity.first_week + timedelta(weeks=i), spec.time_zone)
            noisy: Counts = np.array([given.get(r.place_id, usual) for r in regions], dtype=np.int64).ravel()
            entry = replace(entry_for(coverage, noisy, week), classifier=classifier)
            spent = replace(entry, epsilon=spec.promise.epsilon, delta=spec.promise.delta)
            store.commit_week(week, noisy, spent, model)
    return path


def copy_of_store(store: Path, folder: Path) -> Path:
    """Copy a store and its journal into a folder."""
    for path in (store, journal_path(store)):
        shutil.copy(path, folder / path.name)
    return folder / store.name


def changed(
    path: Path,
    coverage: Coverage,
    reason: str = "because",
    from_week: date | None = None,
    crosswalk: Mapping[str, Sequence[str]] | None = None,
    new_scale: bool = False,
) -> Path:
    """Record a change of spec or geography."""
    with open_store(path) as store:
        plan = plan_change(store, coverage, reason, from_week=from_week, crosswalk=crosswalk, new_scale=new_scale)
    record_change(path, plan)
    return path


def released(path: Path) -> Release:
    """Make a release of a store, and record the decisions that it is the first to make."""
    release = make_release(path)
    record_decisions(path, release)
    return release


def place_ids(trends: Trends) -> list[str]:
    """Return the place_ids of the regions in order."""
    return [region.place_id for region in trends.regions]


@contextmanager
def held_by_another_process(store: Path) -> Iterator[None]:
    """Keep a store open in another process."""
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.communicate()
