"""Remembering what a simulated log's weeks count to while they are anonymized, so that the truth need not count again.

The demonstration anonymizes a log and compares with its truth: the same log, bounded and counted by the same rule, so
the same sums. Private, like every exact count: they stay in memory, and only `exact_counts` writes them, into a truth.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

import numpy as np

from search_insights.private.counting import add_contributions
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.engine import Contributions, Engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week
from search_insights.support.arrays import Counts


@dataclass(frozen=True)
class RememberedCounts:
    """The exact counts of the days that one of its engines bounded."""

    coverage: Coverage
    days: dict[date, Counts] = field(default_factory=dict)

    @contextmanager
    def open_engine(self, source: LogSource, spec: Spec, names: RegionNames) -> Iterator[Engine]:
        """Open a log for counting on this machine; what its days count to is remembered."""
        with open_duckdb_engine(source, spec, names) as engine:
            yield cast(Engine, _Remembering(engine, names, CellList(self.coverage), self.days))

    def of_weeks(self, weeks: tuple[Week, ...]) -> Mapping[date, Counts]:
        """Return the counts of those weeks all of whose days were bounded, by their first day."""
        whole = [week for week in weeks if all(day in self.days for day in week.days)]
        return {week.first_day: np.sum([self.days[day] for day in week.days], axis=0) for week in whole}


@dataclass(frozen=True)
class _Remembering:
    """An engine that remembers the counts of the days it bounds, and is otherwise as it was."""

    engine: Engine
    names: RegionNames
    cells: CellList
    days: dict[date, Counts]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def bound(self, day: date, *more: Any) -> Contributions:
        """Bound the events of a day, as the engine does."""
        found = self.engine.bound(day, *more)
        counts = self.cells.zeros()
        add_contributions(counts, self.cells, self.names, found)
        self.days[day] = counts
        return found
