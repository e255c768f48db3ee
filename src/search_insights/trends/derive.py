"""From noisy counts to trends (Section 4): sums, normalized popularity, intervals, and which values are reliable.

Everything here reads only noisy counts and public facts, so it costs no budget and can be repeated at will. Arrays have
the axes (week, region, trend); the total is the first region, then come the reported ones in the store's order.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cached_property
from itertools import groupby

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.geography import Region
from search_insights.spec.spec import Spec, Trend
from search_insights.store.ledger import LedgerEntry, checksum
from search_insights.store.store import Store
from search_insights.support.arrays import Bools, Counts, Floats
from search_insights.trends.joining import joined
from search_insights.trends.reach_of_means import reach_of_means
from search_insights.trends.reconciliation import reconciled
from search_insights.trends.reliability import Ratios, assessment, in_rows


@dataclass(frozen=True)
class Trends:
    """The normalized popularity of every trend, week and region, before sparsity and scaling.

    `columns` are the trends in the order of the last axis. `known` says which values exist at all: of several editions
    that were joined (joining.py), not every one has every region and trend. `spec` is that of the newest.
    """

    spec: Spec
    weeks: tuple[date, ...]
    regions: tuple[Region, ...]
    ratios: Ratios
    columns: tuple[Trend, ...]
    known: Bools

    @cached_property
    def points(self) -> Floats:
        """The data points of each region in each week: 1 if any of its trends is reliable, else 0."""
        points: Floats = np.asarray(self.ratios.kept.any(axis=2), dtype=np.float64)
        return points

    def total_of(self, trend: str) -> Floats:
        """Return the weekly values of a trend for the total; NaN where unreliable."""
        number = [t.id for t in self.columns].index(trend)
        values = self.ratios.value[:, 0, number].copy()
        values[~self.ratios.kept[:, 0, number]] = np.nan
        return values

    def of_weeks(self, weeks: Collection[date]) -> "Trends":
        """Return the trends of some of the weeks."""
        chosen = np.array([week in weeks for week in self.weeks], dtype=bool)
        if chosen.all():
            return self
        ratios = Ratios(*(getattr(self.ratios, field.name)[chosen] for field in fields(Ratios)))
        kept = tuple(week for week in self.weeks if week in weeks)
        return replace(self, weeks=kept, ratios=ratios, known=self.known[chosen])


def derive(store: Store, only: Collection[date] | None = None) -> Trends:
    """Derive the trends of all weeks in a store, or of some of them: each edition by itself, then joined."""
    entries = [entry for entry in store.entries() if only is None or entry.week in only]
    of_edition = groupby(entries, key=lambda entry: store.edition_of(entry.week).number)
    return joined([_derive_edition(store, list(group)) for _, group in of_edition])


def _derive_edition(store: Store, entries: Sequence[LedgerEntry]) -> Trends:
    noisy = np.stack(list(checked_counts(store, entries)))
    return trends_of(store.edition_of(entries[0].week).cells, [entry.week for entry in entries], noisy)


def trends_of(cells: CellList, weeks: Sequence[date], noisy: Counts) -> Trends:
    """Derive the trends of weeks from their noisy counts, a row for each week."""
    spec = cells.coverage.spec
    _, variances = estimates(cells, noisy[:1].astype(np.float64))  # those of every week
    x_sigma, y_sigma = np.sqrt(trend_variances(spec, variances)), np.sqrt(variances[:, :1])
    assess_week = assessment(x_sigma, y_sigma, spec.reliability, trend_reaches(cells, variances))

    def of_week(counts: Counts) -> Ratios:
        found = estimates(cells, counts[None].astype(np.float64))[0][0]
        return assess_week(trend_counts(spec, found), found[:, :1])

    ratios = in_rows(lambda i: of_week(noisy[i]), len(noisy))
    regions = (cells.coverage.geography.country, *cells.regions)
    return Trends(spec, tuple(weeks), regions, ratios, spec.trends, np.ones(ratios.kept.shape, dtype=bool))


def estimates(cells: CellList, noisy: Floats, own: Floats | None = None) -> tuple[Floats, Floats]:
    """Return what is known of the counts of the total and all regions, and its variances, from weeks of noisy counts.

    Axes are (week, region, measure) and (region, measure). The noise of the cells has the variances `own`; those of the
    spec, if not given.
    """
    spec = cells.coverage.spec
    counts = noisy.reshape(len(noisy), len(cells.nodes), len(spec.measures))
    variances = _own_variances(cells) if own is None else own
    if spec.counting.reconcile:
        return reconciled(cells, counts, variances)
    regions = len(cells.regions)
    return with_total(cells, counts[:, :regions], variances[:regions])


def trend_reaches(cells: CellList, variances: Floats) -> Floats | None:
    """Return how far the noise of each trend's counts reaches, from the variances of the total's and regions' counts.

    None if it is the noise of whole numbers, whose reach depends on the ratio too.
    """
    own = _own_variances(cells)[: len(cells.regions)]
    return reaches_of(cells.coverage.spec, variances, np.concatenate([np.full_like(own[:1], np.inf), own]))


def reaches_of(spec: Spec, variances: Floats, own: Floats) -> Floats | None:
    """Return the same for any regions, by the variances of their counts and of the noise of their own cells.

    The total has no count of its own: its noise is infinite.
    """
    if not spec.counting.reconcile and all(set(_weights(trend)) == {1.0} for trend in spec.trends):
        return None
    share = variances / own
    sigma, own_sigma = (np.sqrt(trend_variances(spec, each)) for each in (variances, share * variances))
    steps = [(share[:, _numbers(spec, trend)] * np.abs(_weights(trend))).min(axis=1) for trend in spec.trends]
    return reach_of_means(sigma, own_sigma, np.stack(steps, axis=-1), spec.reliability.confidence)


def _own_variances(cells: CellList) -> Floats:
    """Return the variances of the noise of the cells, with the axes (node, measure)."""
    return np.square(cells.sigmas).reshape(len(cells.nodes), -1)


def checked_counts(store: Store, entries: Sequence[LedgerEntry]) -> Iterator[Counts]:
    """Yield the noisy counts of each week; when it is reached, refuse counts that are not those that were committed."""
    found = store.numbered_counts_of([entry.week for entry in entries])
    for entry, (_, noisy) in zip(entries, found, strict=True):
        if checksum(entry.week, noisy) != entry.checksum:
            raise StoreError(f"{store.path}: the counts of week {entry.week} do not match the ledger; restore a backup")
        yield noisy


def with_total(cells: CellList, counts: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return counts and variances with the total first: the sum of the coarsest level, whose variances add up."""
    parts = cells.coarsest
    totals = counts[:, parts].sum(axis=1, keepdims=True)
    return (
        np.concatenate([totals, counts], axis=1),
        np.concatenate([variances[parts].sum(axis=0, keepdims=True), variances], axis=0),
    )


def trend_counts(spec: Spec, of_measures: Floats) -> Floats:
    """Add up the measures of each trend (in the paper, C3 is A1 + A2 + A3), each times its weight."""
    return _combined(spec, of_measures, 1)


def trend_variances(spec: Spec, of_measures: Floats) -> Floats:
    """Return the variances of each trend's counts: the noise of measures is independent."""
    return _combined(spec, of_measures, 2)


def _combined(spec: Spec, of_measures: Floats, power: int) -> Floats:
    sums = [of_measures[..., _numbers(spec, trend)] @ np.array(_weights(trend)) ** power for trend in spec.trends]
    return np.stack(sums, axis=-1)


def _numbers(spec: Spec, trend: Trend) -> list[int]:
    """Return the numbers of a trend's measures."""
    measures = [measure.id for measure in spec.measures]
    return [measures.index(each) for each in trend.sum_of]


def _weights(trend: Trend) -> tuple[float, ...]:
    return trend.weights or (1.0,) * len(trend.sum_of)
