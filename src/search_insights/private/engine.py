"""What every engine gives to counting: the bounded contributions of a day, and the rows that were not used.

An engine holds the log. Only sums leave it: how many user-days contribute to which regions, how many rows are bad.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from datetime import date, datetime
from typing import Any, Protocol

import numpy as np

from search_insights.classifier.model import Classifier
from search_insights.classifier.vocabulary import Vocabulary
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames
from search_insights.private.times import TimeReading
from search_insights.spec.spec import Spec
from search_insights.support.arrays import Counts, Numbers


@dataclass(frozen=True, slots=True)
class Unplaced:
    """How many rows have a user, but no region that counts at any level, by what they name instead. Private."""

    no_region: int = 0
    country_only: int = 0
    unknown_region: int = 0

    @property
    def total(self) -> int:
        """The number of these rows."""
        return sum(astuple(self))

    def __add__(self, other: "Unplaced") -> "Unplaced":
        return Unplaced(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Contributions:
    """How many user-days contribute to each (category, place at open, at classed and at the finest classed level).

    Places are those of `RegionNames`; -1 means no contribution at these levels. `events` is the number of log rows that
    they were drawn from, `unknown_category` how many of them have a category unknown to the spec. `no_region` is, for
    each column of `RegionNames`, how many have a name there that means no region. `unplaced` are further rows of the
    day, which were not used. Private.
    """

    events: int
    unknown_category: int
    unplaced: Unplaced
    no_region: tuple[int, ...]
    categories: Numbers
    open_places: Numbers
    classed_places: Numbers
    finest_places: Numbers
    user_days: Counts


def combined(parts: Sequence[Contributions]) -> Contributions:
    """Combine the contributions of different users."""
    return Contributions(
        events=sum(part.events for part in parts),
        unknown_category=sum(part.unknown_category for part in parts),
        unplaced=sum((part.unplaced for part in parts), Unplaced()),
        no_region=tuple(map(sum, zip(*(part.no_region for part in parts), strict=True))),
        categories=np.concatenate([part.categories for part in parts]),
        open_places=np.concatenate([part.open_places for part in parts]),
        classed_places=np.concatenate([part.classed_places for part in parts]),
        finest_places=np.concatenate([part.finest_places for part in parts]),
        user_days=np.concatenate([part.user_days for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class UnusedRows:
    """How many rows of a week's files were not used, and why. Private: only the operator sees it."""

    rows: int = 0
    no_user: int = 0
    no_region: int = 0
    country_only: int = 0
    unknown_region: int = 0
    outside: int = 0

    @property
    def total(self) -> int:
        """The number of rows that were not used."""
        return self.no_user + self.no_region + self.country_only + self.unknown_region + self.outside

    def describe(self) -> str:
        """Return one line that says how many rows were not used, and why."""
        parts = {
            "without a user": self.no_user,
            "without a region": self.no_region,
            "known to the country only": self.country_only,
            "with an unknown region": self.unknown_region,
            "with no time, or a time outside the requested weeks": self.outside,
        }
        return ", ".join(f"{n:,} {reason}" for reason, n in parts.items() if n) or "none"


class OpenLog(Protocol):
    """A log that was checked and is open."""

    @property
    def source(self) -> LogSource:
        """Where it is, and the names of its columns."""

    @property
    def files(self) -> tuple[str, ...]:
        """Its files; none if it is a table."""

    @property
    def times(self) -> TimeReading:
        """How its times are read."""

    def between(self, begin: datetime, end: datetime) -> str:
        """Return the condition that an event lies between two instants, the first included, the second not."""


class Engine(Protocol):
    """A log that is open for counting."""

    @property
    def name(self) -> str:
        """The engine's name in the ledger."""

    @property
    def log(self) -> OpenLog:
        """The log."""

    @property
    def model(self) -> Classifier | None:
        """The model that classifies queries; None if the log has categories."""

    def bound(self, day: date, begin: datetime, end: datetime, vocabulary: Vocabulary | None = None) -> Contributions:
        """Bound the events of a day, which begins and ends at two instants, and add up the contributions.

        With a vocabulary, the engine also keeps one text of each user-day in `week_texts` (top_searches.sql), until it
        is told to forget them. Only a log with queries has texts.
        """

    def forget_texts(self) -> None:
        """Forget the texts that were kept, so that those of another week can be."""

    def unused_rows(
        self,
        begin: datetime,
        end: datetime,
        requested: tuple[datetime, datetime],
        used: int,
        unplaced: Unplaced,
    ) -> UnusedRows:
        """Count the rows that were not used, by reason, in the files that hold events of a week.

        The week lies between `begin` and `end`, within the span that was `requested`. Its days were bounded: `used` of
        their rows were used, and others are `unplaced`.
        """

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, of few rows, over the view `log` and the tables of names."""

    def arrays(self, sql: str) -> dict[str, Any]:
        """Return the columns of a query; texts are an array of objects."""

    def run(self, sql: str) -> None:
        """Run a statement that creates a view."""

    def give(self, table: str, columns: Mapping[str, Numbers | Sequence[str]]) -> None:
        """Create or replace a small table: its columns are whole numbers or texts."""

    def give_texts(self, table: str, texts: Sequence[str]) -> None:
        """Create or replace a small table of texts as `week_texts` has them, which may be numbers: (text, number).

        `number` is the place of each in `texts`. A text that nobody searched for may have no row.
        """

    def candidates(self) -> dict[str, int]:
        """Return the users of each text of the view `candidates` (top_searches.sql)."""

    def batches(self, sql: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in batches; ask nothing else in between."""


# Opens a log for counting, given the spec and the names and numbers of its regions.
OpenEngine = Callable[[LogSource, Spec, RegionNames], AbstractContextManager[Engine]]
