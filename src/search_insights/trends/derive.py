"""From noisy counts to trends (Section 4): sums, normalized popularity, intervals, and which values are reliable.

Everything here reads only noisy counts and public facts, so it costs no budget and can be repeated at will. Arrays have
the axes (week, region, trend); the total is the first region, then come the reported ones in the store's order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.store.ledger import LedgerEntry, checksum
from search_insights.store.store import Store
from search_insights.support.arrays import Counts, Floats
from search_insights.trends.reliability import Ratios, assess


@dataclass(frozen=True)
class Trends:
    """The normalized popularity of every trend, week and region, before sparsity and scaling."""

    spec: Spec
    weeks: tuple[date, ...]
    regions: tuple[Region, ...]
    ratios: Ratios

    @cached_property
    def points(self) -> Floats:
        """The data points of each region in each week: 1 if any of its trends is reliable, else 0."""
        points: Floats = np.asarray(self.ratios.kept.any(axis=2), dtype=np.float64)
        return points

    def total_of(self, trend: str) -> Floats:
        """Return the weekly values of a trend for the total; NaN where unreliable."""
        number = [t.id for t in self.spec.trends].index(trend)
        values = self.ratios.value[:, 0, number].copy()
        values[~self.ratios.kept[:, 0, number]] = np.nan
        return values


def derive(store: Store, only: Sequence[date] | None = None) -> Trends:
    """Derive the trends of all weeks in a store, or of some of them."""
    spec = store.coverage.spec
    cells = CellList(store.coverage)
    entries = [entry for entry in store.entries() if only is None or entry.week in only]
    weeks = tuple(entry.week for entry in entries)
    shape = (len(weeks), -1, len(spec.categories))
    noisy = np.stack([checked_counts(store, entry) for entry in entries]).reshape(shape)
    regions = cells.regions
    variances = np.square(cells.sigmas).reshape(shape[1:])
    counts, variances = with_total(spec, regions, noisy.astype(np.float64), variances)
    x, y = trend_counts(spec, counts), counts[:, :, :1]
    x_sigma, y_sigma = np.sqrt(trend_counts(spec, variances)), np.sqrt(variances[:, :1])
    return Trends(
        spec, weeks, (store.coverage.geography.country, *regions), assess(x, y, x_sigma, y_sigma, spec.reliability)
    )


def checked_counts(store: Store, entry: LedgerEntry) -> Counts:
    """Return the noisy counts of a week; refuse counts that are not those that were committed."""
    noisy = store.noisy_counts(Week(entry.week, store.coverage.spec.time_zone))
    if checksum(entry.week, noisy) != entry.checksum:
        raise StoreError(f"{store.path}: the counts of week {entry.week} do not match the ledger; restore a backup")
    return noisy


def with_total(spec: Spec, regions: tuple[Region, ...], counts: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return counts and variances with the total first: the sum of the coarsest level, whose variances add up."""
    parts = [i for i, region in enumerate(regions) if region.level == spec.total.sum_of]
    totals = counts[:, parts].sum(axis=1, keepdims=True)
    return (
        np.concatenate([totals, counts], axis=1),
        np.concatenate([variances[parts].sum(axis=0, keepdims=True), variances], axis=0),
    )


def trend_counts(spec: Spec, of_categories: Floats) -> Floats:
    """Add up the categories of each trend (C3 is A1 + A2 + A3), for counts as well as for variances."""
    numbers = {c.id: i for i, c in enumerate(spec.categories)}
    sums = [of_categories[..., [numbers[c] for c in trend.sum_of]].sum(axis=-1) for trend in spec.trends]
    return np.stack(sums, axis=-1)
