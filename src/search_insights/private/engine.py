"""What counting needs of an engine: the bounded contributions of a day, and which rows of the log it did not use.

An engine holds the log. Only sums leave it: how many user-days contribute to which regions, how many rows are bad.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

import numpy as np

from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Counts, Numbers


@dataclass(frozen=True, slots=True)
class Contributions:
    """How many user-days contribute to each (category, region at open levels, region at classed levels).

    Regions are numbers of `RegionNames`; -1 stands for no contribution at these levels. `events` is how many rows
    of the log they were drawn from, `unknown_category` how many of them have a category that the spec does not know.
    Private.
    """

    events: int
    unknown_category: int
    categories: Numbers
    open_regions: Numbers
    classed_regions: Numbers
    user_days: Counts


def combined(parts: Sequence[Contributions]) -> Contributions:
    """Combine the contributions of different users."""
    return Contributions(
        events=sum(part.events for part in parts),
        unknown_category=sum(part.unknown_category for part in parts),
        categories=np.concatenate([part.categories for part in parts]),
        open_regions=np.concatenate([part.open_regions for part in parts]),
        classed_regions=np.concatenate([part.classed_regions for part in parts]),
        user_days=np.concatenate([part.user_days for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class UnusedRows:
    """How many rows of a week's files were not used, and why. Private: for the operator's eyes only."""

    rows: int = 0
    no_user: int = 0
    no_region: int = 0
    unknown_region: int = 0
    outside: int = 0

    @property
    def total(self) -> int:
        """All rows that were not used."""
        return self.no_user + self.no_region + self.unknown_region + self.outside

    def describe(self) -> str:
        """Say in one line how many rows were not used, and why."""
        parts = {
            "without a user": self.no_user,
            "without a region": self.no_region,
            "with an unknown region": self.unknown_region,
            "with no time, or one outside the weeks asked for": self.outside,
        }
        return ", ".join(f"{n:,} {reason}" for reason, n in parts.items() if n) or "none"


class Engine(Protocol):
    """A log that is open for counting."""

    @property
    def name(self) -> str:
        """The engine's name in the ledger."""

    @property
    def naive_zone(self) -> str:
        """The zone that times without one are read in; empty if they carry their own."""

    @property
    def category_column(self) -> str:
        """The name of the log's column of categories."""

    @property
    def classifier(self) -> str:
        """The fingerprint of the model that names queries; empty if the log has categories."""

    def bound(self, day: date, begin: datetime, end: datetime) -> Contributions:
        """Bound the events of a day, which lies between two instants."""

    def unused_rows(self, begin: datetime, end: datetime, asked: tuple[datetime, datetime], used: int) -> UnusedRows:
        """Say what was not used of the files that hold events of a week.

        The week lies within the span of all that was asked for; so many of its events were used.
        """


# Opens a log for counting a release of it, with the numbers that stand for its regions.
OpenEngine = Callable[[LogSource, Spec, RegionNames], AbstractContextManager[Engine]]
