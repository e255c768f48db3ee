"""The editions of a store: which spec and geography its weeks were counted under, and how that changed.

Every change of spec or geography is recorded, with its reason. A change of counting begins an edition, from a week on;
changes of words and of derivation apply to all weeks (spec/changes.py). No week is ever counted again.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from search_insights.spec.cells import CellList
from search_insights.spec.changes import Kind, derived_coverage
from search_insights.spec.coverage import Coverage

# Returns the coverage of the spec and the geography with these fingerprints.
ReadCoverage = Callable[[str, str], Coverage]


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded change of spec or geography. Change 1 is the beginning of the store.

    kind             `counting` begins an edition; `words` and `derivation` apply to all weeks
    from_week        the first week that is counted so; none for the first edition, nor for words and derivation
    spec, geography  their fingerprints, from this change on
    reason           in the publisher's words; it is published. Empty for the first
    recorded_at      the day, in UTC
    crosswalk        which regions succeed which, as JSON: place_ids by the place_id of a region that ended
    keeps_scale      whether the scaling factor goes on
    """

    number: int
    kind: Kind
    from_week: date | None
    spec: str
    geography: str
    reason: str
    recorded_at: str
    crosswalk: str = "{}"
    keeps_scale: bool = True

    @property
    def successors(self) -> Mapping[str, Sequence[str]]:
        """The place_ids of the regions that succeed each region that ended."""
        successors: dict[str, list[str]] = json.loads(self.crosswalk)
        return successors


@dataclass(frozen=True)
class Edition:
    """A run of weeks that are counted under one spec and geography.

    `counted` is what they are counted under; `coverage` is the same with the present words and derivation, by which
    they are shown. `changes` are the one that began it and those of words and derivation until the next edition: an
    entry of the ledger has the fingerprints of one of them.
    """

    number: int
    changes: tuple[Change, ...]
    counted: Coverage
    coverage: Coverage

    @property
    def first_week(self) -> date | None:
        """The first week of the edition; None for the first edition, which has no first week of its own."""
        return self.changes[0].from_week

    @property
    def fingerprints(self) -> frozenset[tuple[str, str]]:
        """The fingerprints of spec and geography that an entry of the ledger may have."""
        return frozenset((change.spec, change.geography) for change in self.changes)

    @cached_property
    def cells(self) -> CellList:
        """The cells of its weeks."""
        return CellList(self.coverage)


def editions_of(changes: Sequence[Change], read_coverage: ReadCoverage) -> tuple[Edition, ...]:
    """Return the editions that recorded changes make, the oldest first."""
    groups: list[list[Change]] = []
    for change in changes:
        if change.kind == "counting":
            groups.append([])
        groups[-1].append(change)
    counted = [read_coverage(group[-1].spec, group[-1].geography) for group in groups]
    return tuple(
        Edition(number, tuple(group), own, derived_coverage(own, counted[-1]))
        for number, (group, own) in enumerate(zip(groups, counted, strict=True), start=1)
    )


def edition_of(editions: Iterable[Edition], first_day: date) -> Edition:
    """Return the edition of the week that begins on a day."""
    begun = [edition for edition in editions if edition.first_week is None or edition.first_week <= first_day]
    return begun[-1]
