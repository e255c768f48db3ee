"""Trying to break the promise by experiment, on the program's own path.

For each case of the accounting two neighbouring logs are written (audit_attack). Both go through the program's own
reading, bounding and counting; what differs between their exact counts is what an attacker looks for. Then the
program's own noise is drawn many times, and the best test guesses which log it came from (audit_bound): how often it
is right bounds epsilon from below. For one case both logs are anonymized whole, and what lands in the store is judged
(audit_store).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from search_insights.audit.attack import (
    Neighbours,
    exact_counts,
    neighbouring_logs,
    target_of,
    user_day_everywhere,
    worst_user_day,
)
from search_insights.audit.bound import Difference, draws_needed, lower_advantage
from search_insights.audit.store_attack import Finding, audit_store
from search_insights.dp.accounting import Case, CaseEpsilon, account, advantage_of
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_advantage, mu_of_epsilon
from search_insights.errors import CheckFailed
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts

CONFIDENCE = 0.999
# How far below the truth the bound on the attacker's advantage lies on average, unless draws are given.
_SHORTFALL = 0.025

Progress = Callable[[str], None]
Mechanism = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """What an attack on one case reached, next to what the accounting allows.

    `as_accounted` says whether the attacked user-day changed just the counts that the case has mechanisms for, each by
    1; then the bounds X1 to X4 did what the accounting relies on.
    """

    name: str
    cells_changed: int
    as_accounted: bool
    draws: int
    epsilon_lower: float
    epsilon_upper: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the experiment shows more than the accounting allows."""
        return self.epsilon_lower > self.epsilon_upper or not self.as_accounted


@dataclass(frozen=True, slots=True)
class Audit:
    """What all attacks reached, what was found in the stores, and which cases no region of the geography is in."""

    cases: tuple[AuditedCase, ...]
    store: tuple[Finding, ...]
    without_region: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was broken."""
        return not any(case.broken for case in self.cases) and all(finding.holds for finding in self.store)


def audit(
    coverage: Coverage,
    draws: int | None = None,
    confidence: float = CONFIDENCE,
    progress: Progress = lambda text: None,
) -> Audit:
    """Attack every case of the accounting, and look at what lands in the store.

    Without a number of draws, so many are drawn as bring the bound to about 97 % of the truth.
    """
    cells = CellList(coverage)
    uppers = account(coverage.spec).cases
    attackable = [upper for upper in uppers if target_of(coverage, upper.case) is not None]
    if not attackable:
        raise CheckFailed(f"{coverage.geography.source}: no region is in any case of the accounting; nothing to audit")
    cases: list[AuditedCase] = []
    findings: list[Finding] = []
    for upper in attackable:
        progress(f"attacking case {upper.case.name}")
        with neighbouring_logs(coverage, worst_user_day(coverage, upper.case)) as logs:
            counts = _counts(cells, logs)
            findings = findings or audit_store(cells, logs, counts, progress)
        cases.append(_attacked(cells, upper, counts, draws, confidence, progress))
    findings.append(_everywhere_at_once(cells, tuple(upper.case for upper in uppers)))
    left = tuple(upper.case.name for upper in uppers if upper not in attackable)
    return Audit(tuple(cases), tuple(findings), left)


def _counts(cells: CellList, logs: Neighbours) -> tuple[Counts, Counts]:
    return exact_counts(cells, logs.without, logs.week), exact_counts(cells, logs.with_it, logs.week)


def _attacked(
    cells: CellList,
    upper: CaseEpsilon,
    counts: tuple[Counts, Counts],
    draws: int | None,
    confidence: float,
    progress: Progress,
) -> AuditedCase:
    """Bound what the attack on a case reaches; how long to try follows from the accounting, not from what is seen."""
    changed = counts[0] != counts[1]
    seen = Difference(counts[0][changed], counts[1][changed], cells.sigmas[changed])
    delta = cells.coverage.spec.promise.delta
    allowed = advantage_of(upper.case.sigmas)
    n = draws or draws_needed(allowed, confidence, _SHORTFALL)
    reached = lower_advantage(seen, n, confidence, progress)
    # Noise of the accounted shape that gives this advantage has a mu in proportion.
    mu = mu_of_epsilon(upper.epsilon, delta) * mu_of_advantage(reached) / mu_of_advantage(allowed)
    return AuditedCase(
        upper.case.name,
        seen.size,
        _mechanisms_seen(cells, *counts) == _mechanisms(upper.case),
        n,
        epsilon_of_mu(mu, delta),
        upper.epsilon,
        confidence,
    )


def _everywhere_at_once(cells: CellList, all_cases: tuple[Case, ...]) -> Finding:
    """See which counts a user-day changes that searches about every topic in regions of all classes."""
    with neighbouring_logs(cells.coverage, user_day_everywhere(cells.coverage)) as logs:
        seen = _mechanisms_seen(cells, *_counts(cells, logs))
    within = [case.name for case in all_cases if seen <= _mechanisms(case)]
    words = f"{seen.total()} counts change, " + (f"all of case {within[0]}" if within else "of no single case")
    return Finding("a user-day of all classes is of one case", bool(within and seen), words)


def _mechanisms_seen(cells: CellList, without: Counts, with_it: Counts) -> Counter[Mechanism]:
    """Count for each mechanism by how much its cells changed in all."""
    seen: Counter[Mechanism] = Counter()
    for i in np.flatnonzero(with_it != without):
        cell = cells.cells[i]
        classed = cell.region.level in cells.coverage.spec.classed_levels
        size_class = cells.coverage.standings[cell.region.place_id].size_class if classed else None
        seen[cell.region.level, size_class, cell.category] += abs(int(with_it[i] - without[i]))
    return seen


def _mechanisms(case: Case) -> Counter[Mechanism]:
    return Counter((s.level, s.size_class, s.category) for s in case.sigmas)
