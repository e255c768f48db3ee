"""Trying to break the promise by experiment, on the program's own path.

For each case of the accounting two neighbouring logs are written (audit_attack). Both go through the program's own
reading, bounding and counting; what differs between their exact counts is what an attacker looks for. Then the
program's own noise is drawn many times, and the best test guesses which log it came from (audit_bound): how often it
is right bounds epsilon from below. For one case both logs are anonymized whole, and what lands in the store is judged
(audit_store).
"""

from collections.abc import Callable
from dataclasses import dataclass

from search_insights.accounting import account
from search_insights.audit_attack import exact_counts, neighbouring_logs, worst_user_day
from search_insights.audit_bound import Difference, draws_needed, lower_mu
from search_insights.audit_store import Finding, audit_store
from search_insights.cells import CellList
from search_insights.coverage import Coverage
from search_insights.gaussian import epsilon_of_mu

CONFIDENCE = 0.999
# How far below the truth the bound on the attacker's advantage lies on average, unless draws are given.
_SHORTFALL = 0.022

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """What an attack on one case reached, next to what the accounting allows."""

    name: str
    cells_changed: int
    draws: int
    epsilon_lower: float
    epsilon_upper: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the experiment shows more than the accounting allows."""
        return self.epsilon_lower > self.epsilon_upper


@dataclass(frozen=True, slots=True)
class Audit:
    """What all attacks reached, and what was found in the stores."""

    cases: tuple[AuditedCase, ...]
    store: tuple[Finding, ...]

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
    cases: list[AuditedCase] = []
    findings: list[Finding] = []
    for upper in account(coverage.spec).cases:
        progress(f"attacking case {upper.case.name}")
        with neighbouring_logs(coverage, worst_user_day(coverage, upper.case)) as logs:
            without, with_it = (exact_counts(cells, log, logs.week) for log in (logs.without, logs.with_it))
            findings = findings or audit_store(cells, logs, progress)
        changed = with_it != without
        seen = Difference(without[changed], with_it[changed], cells.sigmas[changed])
        n = draws or draws_needed(seen.mu, confidence, _SHORTFALL)
        lower = epsilon_of_mu(lower_mu(seen, n, confidence, progress), coverage.spec.promise.delta)
        cases.append(AuditedCase(upper.case.name, int(changed.sum()), n, lower, upper.epsilon, confidence))
    return Audit(tuple(cases), tuple(findings))
