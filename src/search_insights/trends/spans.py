"""The editions that a release has weeks of, and what their recorded changes asked for.

A rule of derivation holds for all weeks, from the change on that asked for it. What a release fixes for good (a scale,
which regions are sparse) is fixed once for each change that asks for it, so it must be known which one did.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise

from search_insights.spec.changes import Difference, differences
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.store.coverages import coverage_reader
from search_insights.store.editions import Change, Edition
from search_insights.store.store import Store


@dataclass(frozen=True)
class Span:
    """An edition and its weeks in a release."""

    edition: Edition
    weeks: tuple[date, ...]

    @property
    def coverage(self) -> Coverage:
        """What its weeks are derived and shown by."""
        return self.edition.coverage

    @property
    def begun_by(self) -> Change:
        """The change that began the edition."""
        return self.edition.changes[0]


@dataclass(frozen=True)
class Step:
    """A recorded change, the coverage from it on, and what differs from the one before; nothing for the first."""

    change: Change
    coverage: Coverage
    differences: tuple[Difference, ...] = ()


def spans_of(store: Store) -> tuple[Span, ...]:
    """Return the editions that have weeks, the oldest first."""
    weeks = [entry.week for entry in store.entries()]
    groups = groupby(weeks, key=lambda week: store.edition_of(week).number)
    return tuple(Span(store.editions[number - 1], tuple(group)) for number, group in groups)


def steps_of(store: Store) -> tuple[Step, ...]:
    """Return the recorded changes of a store, the oldest first, each with what it changed."""
    changes = store.changes()
    read = coverage_reader(store.connection, store.path, [edition.counted for edition in store.editions])
    coverages = [read(change.spec, change.geography) for change in changes]
    first = Step(changes[0], coverages[0])
    return (first, *(Step(c, new, tuple(differences(old, new))) for c, (old, new) in _later(changes, coverages)))


def _later(
    changes: Sequence[Change], coverages: Sequence[Coverage]
) -> Iterator[tuple[Change, tuple[Coverage, Coverage]]]:
    return zip(changes[1:], pairwise(coverages), strict=True)


def asked_by(steps: Sequence[Step], rule: Callable[[Spec], object]) -> int:
    """Return the number of the last change that changed a rule; 1 if none did."""
    later = (
        step.change.number for before, step in pairwise(steps) if rule(before.coverage.spec) != rule(step.coverage.spec)
    )
    return max(later, default=1)
