"""The records of the store: what was spent on which week, when and how, and what a release fixed.

A ledger entry is written once, together with the counts that it describes. No record is ever changed. Nor may the
meaning of an existing field change: a new meaning needs a new field, and a new version of the store's schema.
"""

import hashlib
from dataclasses import dataclass
from datetime import date

from search_insights.support.arrays import Counts

CHECKSUM_DIGITS = 64


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One week that was noised.

    week            the first day of the week
    committed_at    when, in UTC, as ISO 8601
    epsilon, delta  what was promised for each user-day of the week; weeks share no user-day
    mechanism       the distribution of the noise and the sampler that drew it
    cells           the number of cells that were noised, which is public
    checksum        SHA-256 of the week and its noisy counts, in the order of the cells
    spec, geography their fingerprints
    engine, program the engine that counted, and the version of this program
    missing_days    days that the publisher declared to have no events
    classifier      fingerprint of the model that classified queries; empty if the log had categories
    naive_zone      the zone for times without a zone; empty if the times had their own
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


@dataclass(frozen=True, slots=True)
class ScalingRecord:
    """The scaling factor, the weeks of the release that fixed it, and when (UTC)."""

    factor: float
    first_week: date
    last_week: date
    weeks: int
    fixed_at: str


@dataclass(frozen=True, slots=True)
class SparsityRecord:
    """The regions (place_ids) removed for sparsity, the weeks of the release that decided it, and when (UTC)."""

    first_week: date
    last_week: date
    removed: list[str]
    fixed_at: str


@dataclass(frozen=True, slots=True)
class CorrectionRecord:
    """A change of published values: when (UTC), how many, and the publisher's reason."""

    recorded_at: str
    changed_values: int
    reason: str


def checksum(week: date, noisy: Counts) -> str:
    """Return the checksum of a week's noisy counts, by which a damaged or altered store is detected."""
    return hashlib.sha256(week.isoformat().encode() + noisy.astype("<i8").tobytes()).hexdigest()
