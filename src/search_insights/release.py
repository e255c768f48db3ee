"""A release: the trends of a store, with the sparse regions removed and the values scaled, ready to be written."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search_insights.coverage import Coverage
from search_insights.derive import Trends, derive
from search_insights.errors import StoreError
from search_insights.ledger import CorrectionRecord, LedgerEntry, ScalingRecord, SparsityRecord
from search_insights.reliability import Floats
from search_insights.scaling import scaling_factor
from search_insights.sparsity import sparse_regions
from search_insights.store import Store, open_store

# Why a value is not in the dataset, in the order in which it is decided.
REASONS = ("published", "sparse region", "not positive", "too uncertain")


@dataclass(frozen=True)
class Release:
    """Everything that the dataset is made from. Arrays have the axes (week, region, trend)."""

    coverage: Coverage
    trends: Trends
    entries: tuple[LedgerEntry, ...]
    scaling: ScalingRecord
    sparsity: SparsityRecord | None
    corrections: tuple[CorrectionRecord, ...]

    @property
    def created(self) -> str:
        """When the newest of its weeks was committed: the release's own date, the same however often it is made."""
        return max(entry.committed_at for entry in self.entries)

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
    """Derive a release from a store, and fix in the store what is to be the same in all later ones.

    It is fixed before anything is published: if the program is stopped in between, the next release is still bound
    by it, and so agrees with whatever may have been published.
    """
    with open_store(store_path) as store:
        if not store.entries():
            raise StoreError(f"{store_path}: no week in the store; 'search-insights anonymize' adds some")
        trends = derive(store)
        unsettled = list(_unsettled(store, trends))
    if unsettled:
        with open_store(store_path, writable=True) as store:
            for record in unsettled:
                store.fix(record)
    with open_store(store_path) as store:
        scaling = store.scaling()
        if scaling is None:
            raise StoreError(
                f"{store_path}: no scaling factor, although it was just fixed; is the store being restored?"
            )
        return Release(
            store.coverage, trends, tuple(store.entries()), scaling, store.sparsity(), tuple(store.corrections())
        )


def _unsettled(store: Store, trends: Trends) -> Iterable[ScalingRecord | SparsityRecord]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    first, last = trends.weeks[0], trends.weeks[-1]
    if store.scaling() is None:
        yield ScalingRecord(scaling_factor(trends), first, last, len(trends.weeks), now)
    if store.sparsity() is None:
        removed = sparse_regions(trends)
        if removed is not None:
            yield SparsityRecord(first, last, removed, now)
