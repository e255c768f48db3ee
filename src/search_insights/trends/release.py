"""A release: the trends of a store, with sparse regions removed and values scaled, ready to be written."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search_insights.spec.coverage import Coverage
from search_insights.store.journal import refuse_contradiction, remember
from search_insights.store.ledger import (
    CorrectionRecord,
    LedgerEntry,
    LostWeek,
    ModelRecord,
    ScalingRecord,
    SparsityRecord,
)
from search_insights.store.opening import open_store
from search_insights.support.arrays import Bools, Floats
from search_insights.trends.derive import Trends, derive
from search_insights.trends.scaling import scaling_factor
from search_insights.trends.sparsity import Window, sparse_regions, window_of

# The outcome of a value: it is published, or the reason why not.
OUTCOMES = ("published", "sparse region", "not positive", "too uncertain")

Record = ScalingRecord | SparsityRecord | CorrectionRecord


@dataclass(frozen=True)
class Release:
    """Everything that the dataset is made from. Arrays have the axes (week, region, trend).

    `decisions` are what this release is the first to fix; `record_decisions` writes them to the store.
    """

    coverage: Coverage
    trends: Trends
    entries: tuple[LedgerEntry, ...]
    lost: tuple[LostWeek, ...]
    scaling: ScalingRecord
    sparsity: SparsityRecord | None
    corrections: tuple[CorrectionRecord, ...]
    decisions: tuple[Record, ...]
    models: tuple[ModelRecord, ...]

    @property
    def created(self) -> str:
        """The day on which the newest of its weeks was committed, so the same however often the release is made.

        The day only: a run that begins at a known time and says when it ended would reveal how large the log is.
        """
        return f"{max(entry.committed_at for entry in self.entries)[:10]}T00:00:00Z"

    @cached_property
    def window(self) -> Window:
        """The weeks of the sparsity window."""
        return window_of(self.coverage.spec.sparsity, self.trends.weeks, [lost.week for lost in self.lost])

    @cached_property
    def removed(self) -> Bools:
        """Which regions are removed for sparsity."""
        removed = set(self.sparsity.removed) if self.sparsity else set()
        return np.array([region.place_id in removed for region in self.trends.regions])

    @cached_property
    def published(self) -> Bools:
        """Which values are published."""
        return self.trends.ratios.kept & ~self.removed[None, :, None]

    @cached_property
    def values(self) -> tuple[Floats, Floats, Floats]:
        """The scaled values and the low and high ends of their intervals; NaN where not published."""
        ratios = self.trends.ratios
        scaled = (
            np.where(self.published, self.scaling.factor * part, np.nan)
            for part in (ratios.value, ratios.low, ratios.high)
        )
        value, low, high = scaled
        return value, low, high

    @cached_property
    def outcomes(self) -> npt.NDArray[np.int8]:
        """For each value, the number of its outcome in OUTCOMES."""
        ratios = self.trends.ratios
        outcome = np.where(ratios.kept, 0, np.where(ratios.positive, 3, 2))
        return np.where(self.removed[None, :, None], 1, outcome).astype(np.int8)


def make_release(store_path: Path, *, only_look: bool = False) -> Release:
    """Derive a release from a store, which is only read: a release that is refused fixes nothing.

    The store's weeks are recorded in its journal first, unless the caller will `only_look` at the release.
    """
    with open_store(store_path) as store:
        entries, lost = tuple(store.entries()), tuple(store.lost())
        # Before anyone can see them: from now on they are never noised again.
        (refuse_contradiction if only_look else remember)(store_path, [entry.final for entry in entries], lost)
        trends = derive(store)
        window = window_of(store.coverage.spec.sparsity, trends.weeks, [week.week for week in lost])
        scaling, sparsity = store.scaling() or _scaling(trends), store.sparsity() or _sparsity(trends, window)
        known = (store.scaling(), store.sparsity())
        decisions = tuple(r for r in (scaling, sparsity) if r is not None and r not in known)
        corrections = tuple(store.corrections())
        return Release(
            store.coverage, trends, entries, lost, scaling, sparsity, corrections, decisions, tuple(store.models())
        )


def _scaling(trends: Trends) -> ScalingRecord:
    return ScalingRecord(scaling_factor(trends), trends.weeks[0], trends.weeks[-1], len(trends.weeks), _today())


def _sparsity(trends: Trends, window: Window) -> SparsityRecord | None:
    removed = sparse_regions(trends, window)
    return None if removed is None else SparsityRecord(trends.weeks[0], trends.weeks[-1], removed, _today(), [])


def withdrawing(release: Release, shown: Collection[str]) -> Release:
    """Return the release with the record of which regions it removes although they were shown until now.

    Only the release that decides which regions are sparse records it.
    """
    decided = release.sparsity
    if decided is None or decided not in release.decisions:
        return release
    record = replace(decided, withdrawn=[place_id for place_id in decided.removed if place_id in shown])
    decisions = tuple(record if decision is decided else decision for decision in release.decisions)
    return replace(release, sparsity=record, decisions=decisions)


def corrected(release: Release, changed_values: int, reason: str) -> Release:
    """Return the release with the record of a correction of published values."""
    record = CorrectionRecord(_today(), changed_values, reason)
    return replace(release, corrections=(*release.corrections, record), decisions=(*release.decisions, record))


def record_decisions(store_path: Path, release: Release) -> None:
    """Write to the store what must be the same in all later releases, just before this one is put in place.

    If the program is stopped in between, the next release is still bound by it, and so agrees with whatever may have
    been published. If another release was faster, the store refuses, and this one is not put in place.
    """
    if release.decisions:
        with open_store(store_path, writable=True) as store:
            for record in release.decisions:
                store.fix(record)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
