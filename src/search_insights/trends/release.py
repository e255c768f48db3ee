"""A release: the trends of a store, with the sparse regions removed and the values scaled, ready to be written."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search_insights.spec.coverage import Coverage
from search_insights.store.journal import remember
from search_insights.store.ledger import CorrectionRecord, LedgerEntry, ScalingRecord, SparsityRecord
from search_insights.store.store import open_store
from search_insights.trends.derive import Trends, derive
from search_insights.trends.reliability import Floats
from search_insights.trends.scaling import scaling_factor
from search_insights.trends.sparsity import sparse_regions

# Why a value is not in the dataset, in the order in which it is decided.
REASONS = ("published", "sparse region", "not positive", "too uncertain")

Record = ScalingRecord | SparsityRecord | CorrectionRecord


@dataclass(frozen=True)
class Release:
    """Everything that the dataset is made from. Arrays have the axes (week, region, trend).

    `unsettled` are the records that this release is the first to need; `settle` puts them into the store.
    """

    coverage: Coverage
    trends: Trends
    entries: tuple[LedgerEntry, ...]
    scaling: ScalingRecord
    sparsity: SparsityRecord | None
    corrections: tuple[CorrectionRecord, ...]
    unsettled: tuple[Record, ...] = ()

    @property
    def created(self) -> str:
        """The day on which the newest of its weeks was committed, the same however often the release is made.

        The day only: a run that begins at a known time and says when it ended would tell how large the log is.
        """
        return f"{max(entry.committed_at for entry in self.entries)[:10]}T00:00:00Z"

    @cached_property
    def removed(self) -> npt.NDArray[np.bool_]:
        """Which regions are removed for sparsity."""
        gone = set(self.sparsity.removed) if self.sparsity else set()
        return np.array([region.place_id in gone for region in self.trends.regions])

    @cached_property
    def published(self) -> npt.NDArray[np.bool_]:
        """Which values are published."""
        return self.trends.ratios.kept & ~self.removed[None, :, None]

    @cached_property
    def values(self) -> tuple[Floats, Floats, Floats]:
        """The scaled values with the low and high ends of their intervals; NaN where not published."""
        ratios = self.trends.ratios
        scaled = (
            np.where(self.published, self.scaling.factor * part, np.nan)
            for part in (ratios.value, ratios.low, ratios.high)
        )
        value, low, high = scaled
        return value, low, high

    @cached_property
    def fates(self) -> npt.NDArray[np.int8]:
        """For each value, the number of the reason why it is published or not."""
        ratios = self.trends.ratios
        with np.errstate(invalid="ignore"):
            fate = np.where(ratios.kept, 0, np.where(ratios.value > 0, 3, 2))
        return np.where(self.removed[None, :, None], 1, fate).astype(np.int8)


def make_release(store_path: Path) -> Release:
    """Derive a release from a store, which is only read: a release that is refused fixes nothing.

    The store's weeks are written down in its journal first.
    """
    with open_store(store_path) as store:
        remember(store_path, store.entries())  # before anyone can see them: from here on they are not noised again
        trends = derive(store)
        scaling, sparsity = store.scaling() or _scaling(trends), store.sparsity() or _sparsity(trends)
        known = (store.scaling(), store.sparsity())
        unsettled = tuple(r for r in (scaling, sparsity) if r is not None and r not in known)
        return Release(
            store.coverage, trends, tuple(store.entries()), scaling, sparsity, tuple(store.corrections()), unsettled
        )


def _scaling(trends: Trends) -> ScalingRecord:
    return ScalingRecord(scaling_factor(trends), trends.weeks[0], trends.weeks[-1], len(trends.weeks), _now())


def _sparsity(trends: Trends) -> SparsityRecord | None:
    removed = sparse_regions(trends)
    return None if removed is None else SparsityRecord(trends.weeks[0], trends.weeks[-1], removed, _now())


def corrected(release: Release, changed_values: int, reason: str) -> Release:
    """Add the record of a correction to a release that changes published values."""
    record = CorrectionRecord(_now(), changed_values, reason)
    return replace(release, corrections=(*release.corrections, record), unsettled=(*release.unsettled, record))


def settle(store_path: Path, release: Release) -> None:
    """Fix in the store what is to be the same in all later releases, just before this one is put in place.

    If the program is stopped in between, the next release is still bound by it, and so agrees with whatever may have
    been published. If another release was faster, the store refuses, and this one is not put in place.
    """
    if release.unsettled:
        with open_store(store_path, writable=True) as store:
            for record in release.unsettled:
                store.fix(record)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
