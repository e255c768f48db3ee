"""Try to break the promise by experiment, on the program's own code path.

For each case of the accounting, two neighbouring logs are written (`attack`). Both go through the program's own
reading, bounding and counting; an attacker looks for the difference between their exact counts. Then the program's own
noise is drawn many times, and the best test guesses which log it came from (`bound`): how often it is right bounds
epsilon from below. For one case both logs are also anonymized, and the contents of the stores are checked
(`store_attack`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from search_insights.audit.text_attack import TextNeighbours, audit_threshold, text_neighbours, text_noise
from search_insights.dp.accounting import Case, CaseEpsilon, account, advantage_of, epsilon_of, sigmas_of_texts
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_advantage, mu_of_epsilon
from search_insights.errors import CheckFailed, InputError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.support.arrays import Counts

CONFIDENCE = 0.999
# Unless a number of draws is given, the bound on the attacker's advantage is this much below the truth on average.
_SHORTFALL = 0.025

Progress = Callable[[str], None]
Mechanism = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """What an attack on one case reached, and what the accounting allows.

    `as_accounted` says whether the attacking user-day changed exactly the counts that the case has mechanisms for, each
    by 1. If so, the bounds X1 to X4 did what the accounting relies on.
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
        """Whether the attack reached more than the accounting allows."""
        return self.epsilon_lower > self.epsilon_upper or not self.as_accounted


@dataclass(frozen=True, slots=True)
class Audit:
    """What all attacks reached, what was found in the stores, and the cases that have no region in the geography.

    `without_texts` says why top searches were not attacked, if the spec has them.
    """

    cases: tuple[AuditedCase, ...]
    store: tuple[Finding, ...]
    without_region: tuple[str, ...]
    without_texts: str = ""

    @property
    def holds(self) -> bool:
        """Whether no attack broke the promise and every finding holds."""
        return not any(case.broken for case in self.cases) and all(finding.holds for finding in self.store)


def audit(
    coverage: Coverage,
    draws: int | None = None,
    confidence: float = CONFIDENCE,
    progress: Progress = lambda text: None,
) -> Audit:
    """Attack every case of the accounting, and check what is stored.

    Without a number of draws, enough are made for the bound to reach about 97 % of the truth.
    """
    cells = CellList(coverage)
    uppers = account(replace(coverage.spec, top_searches=None)).cases  # the trends; texts have attacks of their own
    attackable = [upper for upper in uppers if target_of(coverage, upper.case) is not None]
    if not attackable:
        raise CheckFailed(f"{coverage.geography.source}: no case of the accounting has a region; nothing to audit")
    cases: list[AuditedCase] = []
    findings: list[Finding] = []
    for upper in attackable:
        progress(f"attacking case {upper.case.name}")
        with neighbouring_logs(coverage, worst_user_day(coverage, upper.case)) as logs:
            counts = _exact_counts(cells, logs)
            findings = findings or audit_store(cells, logs, counts, progress)
        cases.append(_audit_case(cells, upper, counts, draws, confidence, progress))
    spec, all_cases = coverage.spec, tuple(upper.case for upper in uppers)
    findings.append(_audit_all_classes(cells, "all classes", (None, *spec.topics), all_cases))
    if spec.has_one_place:  # a topic alone is where a signed measure is negative
        findings += [_audit_all_classes(cells, f"topic {t} alone", (t,), all_cases) for t in spec.topics]
    without_texts = ""
    if spec.top_searches is not None:
        try:
            texts = text_neighbours(coverage)
        except InputError as error:  # such as a model that does not know the spec's categories
            without_texts = str(error)
        else:
            progress("attacking top searches")
            cases.append(_audit_known_text(coverage, texts, draws, confidence, progress))
            findings += [*texts.findings(spec.top_searches), *audit_threshold(spec.top_searches)]
    without_region = tuple(upper.case.name for upper in uppers if upper not in attackable)
    return Audit(tuple(cases), tuple(findings), without_region, without_texts)


def _exact_counts(cells: CellList, logs: Neighbours) -> tuple[Counts, Counts]:
    return exact_counts(cells, logs.without, logs.week), exact_counts(cells, logs.with_it, logs.week)


def _audit_case(
    cells: CellList,
    upper: CaseEpsilon,
    counts: tuple[Counts, Counts],
    draws: int | None,
    confidence: float,
    progress: Progress,
) -> AuditedCase:
    """Bound what the attack on a case reaches. The number of draws follows from the accounting, not from results."""
    changed = counts[0] != counts[1]
    difference = Difference(counts[0][changed], counts[1][changed], cells.sigmas[changed])
    delta = cells.coverage.spec.promise.delta
    allowed = advantage_of(upper.case.sigmas)
    n = draws or draws_needed(allowed, confidence, _SHORTFALL)
    reached = lower_advantage(difference, n, confidence, progress)
    # For noise of the accounted shape at another scale, mu changes in proportion.
    mu = mu_of_epsilon(upper.epsilon, delta) * mu_of_advantage(reached) / mu_of_advantage(allowed)
    return AuditedCase(
        upper.case.name,
        difference.size,
        _changed_mechanisms(cells, *counts) == _mechanisms(upper.case),
        n,
        epsilon_of_mu(mu, delta),
        upper.epsilon,
        confidence,
    )


def _audit_known_text(
    coverage: Coverage, texts: TextNeighbours, draws: int | None, confidence: float, progress: Progress
) -> AuditedCase:
    """Bound what the counts of public texts give away of one user-day, apart from the trends."""
    difference, delta = texts.difference(coverage), coverage.spec.promise.delta
    case = Case("known text", sigmas_of_texts(coverage.spec))
    gaps, sigmas = np.abs(difference.with_it - difference.without), [s.value for s in case.sigmas]
    as_accounted = gaps.tolist() == [1, 1] and difference.sigmas.tolist() == sigmas
    allowed, upper = advantage_of(case.sigmas), epsilon_of(case, delta)
    n = draws or draws_needed(allowed, confidence, _SHORTFALL)
    noise = text_noise(coverage) if as_accounted else None
    reached = lower_advantage(difference, n, confidence, progress, noise)
    mu = mu_of_epsilon(upper, delta) * mu_of_advantage(reached) / mu_of_advantage(allowed)
    return AuditedCase(case.name, difference.size, as_accounted, n, epsilon_of_mu(mu, delta), upper, confidence)


def _audit_all_classes(
    cells: CellList, words: str, topics: Sequence[str | None], all_cases: tuple[Case, ...]
) -> Finding:
    """Check that a user-day in regions of all classes changes only counts of a single case, each by at most 1."""
    with neighbouring_logs(cells.coverage, user_day_everywhere(cells.coverage, topics)) as logs:
        changed = _changed_mechanisms(cells, *_exact_counts(cells, logs))
    covering = [case.name for case in all_cases if changed <= _mechanisms(case)]
    seen = f"{changed.total()} counts change, " + (f"all of case {covering[0]}" if covering else "of no single case")
    return Finding(f"a user-day of {words} is of one case", bool(covering and changed), seen)


def _changed_mechanisms(cells: CellList, without: Counts, with_it: Counts) -> Counter[Mechanism]:
    """Return how much the cells of each mechanism changed in total."""
    changed: Counter[Mechanism] = Counter()
    for i in np.flatnonzero(with_it != without):
        cell = cells.cells[i]
        changed[cell.region.level, cell.size_class, cell.category] += abs(int(with_it[i] - without[i]))
    return changed


def _mechanisms(case: Case) -> Counter[Mechanism]:
    return Counter((s.level, s.size_class, s.category) for s in case.sigmas)
