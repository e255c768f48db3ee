"""The records of the store: what was spent on which week, when and how, and what a release fixed.

A ledger entry is written once, together with the counts that it describes. No record is ever changed. Nor may the
meaning of an existing field change: a new meaning needs a new field, and a new version of the store's schema.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from search_insights.errors import InputError
from search_insights.spec.weeks import DAYS_OF_WEEK, FIRST_WEEK, LAST_WEEK, Week
from search_insights.support.arrays import Counts

_MOST_OF_A_REASON = 500  # characters
_JOINERS = "\u200c\u200d"  # not printable by themselves, but many scripts need them
_CHECKSUM = re.compile("[0-9a-fA-F]{64}")

# Days of a calendar begin up to 26 hours apart, so weeks that begin farther apart than this share no instant.
_FARTHEST = timedelta(days=DAYS_OF_WEEK + 2)

UNKNOWN = "unknown"  # how times were read in a week of schema version 1, whose times were text or had no zone


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One week that was noised.

    week            the first day of the week
    committed_at    the day, in UTC. Not the time: it would tell how long the run took, and so how large the log is
    epsilon, delta  what was promised for each user-day of the week; weeks share no user-day
    mechanism       the distribution of the noise and the sampler that drew it
    cells           the number of cells that were noised, which is public
    checksum        SHA-256 of the week and its noisy counts, in the order of the cells
    spec, geography their fingerprints
    engine, program the engine that counted, and the version of this program
    missing_days    days that the publisher declared to have no events
    classifier      fingerprint of the model that classified queries; empty if the log had categories
    naive_zone      the zone for times without a zone; empty if the times had their own
    begins_at       the first instant of the week, in UTC, as ISO 8601
    ends_at         the first instant after it
    times           how times were read: `instant` (a type that fixes it), `offset` (text with offsets), `clock` (times
                    without a zone, read in `naive_zone`), `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns` (whole numbers
                    since 1970 in that unit), or `unknown` (a store of schema version 1)
    zone_data       the version of the zone data by which its instants were found; empty for schema version 1
    time_column     the column of the log from which times were read; empty for schema version 1
    top_searches    SHA-256 of the week's texts and their noisy counts (top_searches.py); empty if it has none
    vocabulary      fingerprint of the public vocabulary that its texts are made of; empty if it has none
    """

    week: date
    committed_at: str
    epsilon: float
    delta: float
    mechanism: str
    cells: int
    checksum: str
    spec: str
    geography: str
    engine: str
    program: str
    missing_days: str
    classifier: str
    naive_zone: str
    begins_at: str
    ends_at: str
    times: str
    zone_data: str
    time_column: str
    top_searches: str = ""
    vocabulary: str = ""

    @property
    def reading(self) -> str:
        """The words for how times were read."""
        return self.final.reading

    @property
    def final(self) -> "FinalWeek":
        """What other records of this week say about it."""
        return FinalWeek(**{field.name: getattr(self, field.name) for field in fields(FinalWeek)})


@dataclass(frozen=True, slots=True)
class FinalWeek:
    """A week that became final, as the ledger, the journal and a published dataset know it.

    Journals and datasets of earlier versions have only the first day and the checksum; the rest is then empty.
    """

    week: date
    checksum: str
    begins_at: str = ""
    ends_at: str = ""
    times: str = ""
    naive_zone: str = ""
    time_column: str = ""

    @property
    def reading(self) -> str:
        """The words for how times were read."""
        return described_reading(self.times, self.naive_zone)

    def overlaps(self, week: Week) -> bool:
        """Return whether a week has an instant of this one.

        Instants that are not known, or cannot be right, are taken to lie as far apart as they may: a dataset may have
        been changed.
        """
        return _shares_instants(self.week, self.begins_at, self.ends_at, week)


@dataclass(frozen=True, slots=True)
class LostWeek:
    """A week that the store does not hold and never will: it is never noised.

    begins_at, ends_at  its instants, as in a ledger entry
    reason              why it is lost, in the publisher's words; it is published
    recorded_at         the day on which it was declared lost, in UTC

    The journal has no reason and no day, and no instants of a week that `store restore` found to be lost.
    """

    week: date
    begins_at: str = ""
    ends_at: str = ""
    reason: str = ""
    recorded_at: str = ""

    def overlaps(self, week: Week) -> bool:
        """Return whether a week has an instant of this one."""
        return _shares_instants(self.week, self.begins_at, self.ends_at, week)


def _shares_instants(first_day: date, begins_at: str, ends_at: str, week: Week) -> bool:
    """Return whether a week has an instant of the one that begins on a day, at an instant that may be unknown."""
    if abs(first_day - week.first_day) > _FARTHEST:
        return False
    first, last = _widest_span(first_day)
    if first <= begins_at < ends_at <= last:
        first, last = begins_at, ends_at
    begin, end = instants_of(week)
    return first < end and begin < last


def _widest_span(first_day: date) -> tuple[str, str]:
    """Return the instants between which a week lies in any zone, from the earliest midnight to the latest."""
    midnight = datetime.combine(first_day, time(), UTC)
    begin, end = midnight - timedelta(hours=14), midnight + timedelta(days=DAYS_OF_WEEK, hours=12)
    return instant_text(begin), instant_text(end)


def final_week(record: Mapping[str, Any]) -> FinalWeek:
    """Return the week that a line of a journal or a row of a published ledger describes.

    Either may have been changed. A ValueError, TypeError or KeyError says that it describes no week: what is read here
    may be written to a journal, and a journal with a line that is no week is of no use.
    """
    week = FinalWeek(**{**record, "week": date.fromisoformat(record["week"])})
    if not all(isinstance(value, str) for value in record.values()):
        raise TypeError
    if not FIRST_WEEK <= week.week <= LAST_WEEK or not _CHECKSUM.fullmatch(week.checksum):
        raise ValueError
    if bool(week.begins_at) != bool(week.ends_at):
        raise ValueError
    return week


def described_reading(times: str, naive_zone: str) -> str:
    """Return the words for how times were read."""
    words = {"instant": "instants", "offset": "text with offsets", "clock": f"times without a zone in {naive_zone}"}
    words |= {f"epoch_{unit}": f"whole numbers in {unit} since 1970" for unit in ("s", "ms", "us", "ns")}
    words[""] = "times of an unknown form"
    return words.get(times, f"text with offsets or times without a zone in {naive_zone}")


def instant_text(instant: datetime) -> str:
    """Write an instant to the second, which is exact for midnights; the order of the texts is the order of time."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A model that classified queries: its fingerprint, as ledger entries have it, and its public facts as JSON.

    The facts are those of the model's own file: its name, the number of its labels, and what was measured on them.
    """

    fingerprint: str
    facts: str


@dataclass(frozen=True, slots=True)
class ScalingRecord:
    """The scaling factor, the weeks of the release that fixed it, and on which day (UTC).

    `change` is the one that asked for it (store/editions.py); `trend` is the one that it holds for, empty for all.
    """

    factor: float
    first_week: date
    last_week: date
    weeks: int
    fixed_at: str
    change: int = 1
    trend: str = ""


@dataclass(frozen=True, slots=True)
class SparsityRecord:
    """The regions (place_ids) removed for sparsity, the weeks of the release that decided it, and the day (UTC).

    `withdrawn` are those of the removed regions that were published until then. `change` is the one that asked for the
    rule; `edition` is the one whose regions were judged.
    """

    first_week: date
    last_week: date
    removed: list[str]
    fixed_at: str
    withdrawn: list[str]
    change: int = 1
    edition: int = 1


@dataclass(frozen=True, slots=True)
class WeekNote:
    """What readers should know of a week that is final: the publisher's words, and the day on which they were recorded.

    A week is noised once, so a mistake in its log stays; it can only be told.
    """

    week: date
    reason: str
    recorded_at: str


@dataclass(frozen=True, slots=True)
class CorrectionRecord:
    """A change of published values: on which day (UTC), how many, and the publisher's reason."""

    recorded_at: str
    changed_values: int
    reason: str


def checked_reason(reason: str, parameter: str, why: str) -> str:
    """Return a reason as it is recorded and published: one line of plain text."""
    reason = reason.strip()
    if not reason:
        raise InputError(f"`{parameter}`: say briefly why {why}; the reason is published")
    if len(reason) > _MOST_OF_A_REASON:
        raise InputError(f"`{parameter}`: {len(reason):,} characters; use at most {_MOST_OF_A_REASON}")
    for character in reason:
        if not character.isprintable() and character not in _JOINERS:
            raise InputError(f"`{parameter}`: U+{ord(character):04X} cannot be shown; use one line of plain text")
    return reason


def instants_of(week: Week) -> tuple[str, str]:
    """Return a week's first instant and the first one after it, as a ledger entry records them."""
    return instant_text(week.begin), instant_text(week.end)


def checksum(week: date, noisy: Counts) -> str:
    """Return the checksum of a week's noisy counts, by which a damaged or altered store is detected."""
    return hashlib.sha256(week.isoformat().encode() + noisy.astype("<i8").tobytes()).hexdigest()
