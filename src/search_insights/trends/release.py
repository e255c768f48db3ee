"""A release: the trends of a store, with sparse regions removed and values scaled, ready to be written."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Trend
from search_insights.store.journal import refuse_contradiction, remember
from search_insights.store.ledger import (
    CorrectionRecord,
    LedgerEntry,
    LostWeek,
    ModelRecord,
    ScalingRecord,
    SparsityRecord,
    WeekNote,
)
from search_insights.store.opening import open_store
from search_insights.support.arrays import Bools, Floats
from search_insights.trends.blocklist import Blocklist
from search_insights.trends.derive import Trends, derive
from search_insights.trends.scales import Scale, scales_of
from search_insights.trends.spans import Span, Step, spans_of, steps_of
from search_insights.trends.sparsity import Judgement, Window, judgements_of, sparse_regions
from search_insights.trends.top_searches import Lines, top_search_lines

Record = ScalingRecord | SparsityRecord | CorrectionRecord
Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Release:
    """Everything that the dataset is made from. Arrays have the axes (week, region, trend).

    `spans` are the editions that have weeks; `coverage` is that of the newest of them. `steps` are all recorded
    changes. `decisions` are what this release is the first to fix; `record_decisions` writes them to the store.
    `top_searches` are the lines of its lists, None if no week has texts; `shown_texts` is the length of the public list
    of texts, and `blocklist` what is left out of the lists, None if the publisher gave none.
    """

    identity: str
    coverage: Coverage
    trends: Trends
    entries: tuple[LedgerEntry, ...]
    lost: tuple[LostWeek, ...]
    notes: tuple[WeekNote, ...]
    spans: tuple[Span, ...]
    steps: tuple[Step, ...]
    scales: tuple[Scale, ...]
    judgements: tuple[Judgement, ...]
    sparsities: tuple[SparsityRecord, ...]
    corrections: tuple[CorrectionRecord, ...]
    decisions: tuple[Record, ...]
    models: tuple[ModelRecord, ...]
    top_searches: Lines | None = None
    shown_texts: int = 0
    blocklist: Blocklist | None = None

    @property
    def created(self) -> str:
        """The day on which the newest of its weeks was committed, so the same however often the release is made.

        The day only: a run that begins at a known time and says when it ended would reveal how large the log is.
        """
        return f"{max(entry.committed_at for entry in self.entries)[:10]}T00:00:00Z"

    @property
    def columns(self) -> tuple[Trend, ...]:
        """The trends that are published: the present ones, then those that only earlier editions have."""
        return self.trends.columns

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The published levels from the total down: the present ones, then those that only earlier editions have."""
        specs = [span.coverage.spec for span in reversed(self.spans)]
        return tuple(dict.fromkeys(level for spec in specs for level in (spec.total.level, *spec.level_names)))

    @cached_property
    def homes(self) -> dict[str, Coverage]:
        """For each published region, the coverage of the newest edition that reports it."""
        homes: dict[str, Coverage] = {}
        for span in reversed(self.spans):
            for region in (span.coverage.geography.country, *span.edition.cells.regions):
                homes.setdefault(region.place_id, span.coverage)
        return homes

    @property
    def scaling(self) -> ScalingRecord:
        """The record that scales the newest weeks."""
        return self.scales[-1].records[0]

    @property
    def sparsity(self) -> SparsityRecord | None:
        """The decision on the regions of the first edition; None if there is none yet."""
        return self.record_of(self.judgements[0])

    @property
    def window(self) -> Window:
        """The weeks of the sparsity window of the first edition."""
        return self.judgements[0].window

    def record_of(self, judgement: Judgement) -> SparsityRecord | None:
        """Return the decision that holds for a judgement: its own, or the last one until it can be made."""
        records = [record for record in self.sparsities if record.edition == judgement.edition]
        return max(records, key=lambda record: record.change, default=None)

    @cached_property
    def removed(self) -> Bools:
        """Which regions are removed for sparsity."""
        records = (self.record_of(judgement) for judgement in self.judgements)
        removed = {place for record in records if record for place in record.removed}
        return np.array([region.place_id in removed for region in self.trends.regions])

    @cached_property
    def published(self) -> Bools:
        """Which values are published: reliable, of a region that is not sparse, and of a trend that has a scale."""
        return self.trends.ratios.kept & ~self.removed[None, :, None] & ~np.isnan(self.factors)[:, None, :]

    @cached_property
    def factors(self) -> Floats:
        """The scaling factor of each week and trend, with the axes (week, trend)."""
        return np.concatenate([scale.factors(self.columns) for scale in self.scales])

    @cached_property
    def values(self) -> tuple[Floats, Floats, Floats]:
        """The scaled values and the low and high ends of their intervals; NaN where not published."""
        weeks, regions, _ = self.published.shape
        return self.values_of(*np.ogrid[:weeks, :regions])

    def values_of(self, weeks: Indexes, regions: Indexes) -> tuple[Floats, Floats, Floats]:
        """Return the same of some weeks and regions, in pairs; the last axis is the trend."""
        ratios, at = self.trends.ratios, weeks * len(self.trends.regions) + regions
        hidden, factors = ~_rows(self.published, at), np.take(self.factors, weeks, axis=0)

        def scaled(part: Floats) -> Floats:
            values: Floats = factors * _rows(part, at)
            values[hidden] = np.nan
            return values

        return scaled(ratios.value), scaled(ratios.low), scaled(ratios.high)

    @cached_property
    def outcomes(self) -> npt.NDArray[np.int8]:
        """For each value, the number of its outcome in outcomes.py."""
        outcome = np.where(self.trends.ratios.positive, np.int8(3), np.int8(2))
        outcome[self.published] = 0
        outcome[:, self.removed] = 1
        outcome[~self.trends.known] = 4
        return outcome

    @property
    def judges_again(self) -> bool:
        """Whether it decides anew on regions on which there was a decision."""
        new = [record.edition for record in self.decisions if isinstance(record, SparsityRecord)]
        return any(sum(record.edition == edition for record in self.sparsities) > 1 for edition in new)


def _rows(of_all: npt.NDArray[Any], at: Indexes) -> npt.NDArray[Any]:
    """Return the values of all trends, for pairs of a week and a region that are numbered week by week."""
    return np.take(of_all.reshape(-1, of_all.shape[-1]), at, axis=0)


def make_release(store_path: Path, *, only_look: bool = False, blocklist: Blocklist | None = None) -> Release:
    """Derive a release from a store, which is only read: a release that is refused fixes nothing.

    The store's weeks are recorded in its journal first, unless the caller will `only_look` at the release.
    """
    with open_store(store_path) as store:
        entries, lost = tuple(store.entries()), tuple(store.lost())
        # Before anyone can see them: from now on they are never noised again.
        (refuse_contradiction if only_look else remember)(
            store_path, [entry.final for entry in entries], lost, store.mark
        )
        trends, spans, steps = derive(store), spans_of(store), steps_of(store)
        judgements = judgements_of(spans, steps, trends.weeks, [week.week for week in lost])
        scales = scales_of(spans, steps, trends, store.scalings(), [week.week for week in lost], _today())
        sparsities = [*store.sparsities(), *_new_sparsities(trends, judgements, store.sparsities())]
        known: list[Record] = [*store.scalings(), *store.sparsities()]
        fixed: list[Record] = [*(record for scale in scales for record in scale.records), *sparsities]
        return Release(
            identity=store.identity,
            coverage=spans[-1].coverage,
            trends=trends,
            entries=entries,
            lost=lost,
            notes=tuple(store.notes()),
            spans=spans,
            steps=steps,
            scales=scales,
            judgements=judgements,
            sparsities=tuple(sparsities),
            corrections=tuple(store.corrections()),
            decisions=tuple(record for i, record in enumerate(fixed) if record not in [*known, *fixed[:i]]),
            models=tuple(store.models()),
            top_searches=top_search_lines(store, spans, entries, blocklist or Blocklist()),
            shown_texts=len(store.shown_texts()),
            blocklist=blocklist,
        )


def _new_sparsities(
    trends: Trends, judgements: Sequence[Judgement], known: Sequence[SparsityRecord]
) -> Iterator[SparsityRecord]:
    """Yield the decisions that were asked for and can now be made."""
    made = {(record.change, record.edition) for record in known}
    for judgement in judgements:
        if (judgement.change, judgement.edition) in made:
            continue
        removed = sparse_regions(trends, judgement.window, judgement.places)
        if removed is not None:
            weeks = trends.weeks[0], trends.weeks[-1]
            yield SparsityRecord(*weeks, removed, _today(), [], judgement.change, judgement.edition)


def withdrawing(release: Release, shown: Collection[str]) -> Release:
    """Return the release with the record of which regions it removes although they were shown until now.

    Only the release that decides which regions are sparse records it.
    """
    records = {
        id(decided): replace(decided, withdrawn=[place for place in decided.removed if place in shown])
        for decided in release.decisions
        if isinstance(decided, SparsityRecord)
    }
    return replace(
        release,
        sparsities=tuple(records.get(id(record), record) for record in release.sparsities),
        decisions=tuple(records.get(id(decision), decision) for decision in release.decisions),
    )


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
        with open_store(store_path, writable=True, known=release.coverage) as store:
            for record in release.decisions:
                store.fix(record)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
