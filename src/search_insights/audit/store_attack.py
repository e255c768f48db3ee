"""Check what is stored: both neighbouring logs are anonymized as the program does it, and the stores are read.

Only in an experiment are the exact counts known, and with them the noise in the store. It must be on every cell, of the
promised size, drawn afresh for each store, and never drawn twice for one week.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search_insights.anonymization import anonymize
from search_insights.audit.attack import Neighbours
from search_insights.private.log import LogSource
from search_insights.spec.cells import CellList
from search_insights.spec.weeks import Week
from search_insights.store.opening import open_store
from search_insights.support.arrays import Counts, Floats

RISK = 1e-6  # of a false alarm by any of the checks

# A discrete Gaussian of this sigma has the moments of a continuous one, to about one percent.
_LEAST_SIGMA = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One property that the stores must have, whether it holds, and what was seen."""

    name: str
    holds: bool
    seen: str


def audit_store(
    cells: CellList, logs: Neighbours, exact: Sequence[Counts], progress: Callable[[str], None]
) -> list[Finding]:
    """Anonymize each log into its own store, and check the stores against the exact counts."""
    folder = logs.without.parent
    stored = []
    for log in (logs.without, logs.with_it):
        progress(f"anonymizing the log {log.stem} the attacked user-day")
        stored.append(_anonymized(cells, log, logs.week, folder / f"{log.stem}.db"))
    again = _anonymized(cells, logs.with_it, logs.week, folder / f"{logs.without.stem}.db")
    once = Finding("a week is noised once", bool(np.array_equal(again, stored[0])), "another log of it changed nothing")
    full = all(counts.size == len(cells.cells) for counts in stored)
    complete = Finding("every cell is in both stores", full, f"{len(cells.cells):,} cells")
    if not complete.holds:
        return [complete, once]
    noise = [(noisy - counts) / cells.sigmas for noisy, counts in zip(stored, exact, strict=True)]
    return [complete, once, *_check_sizes(cells, exact, noise), *_check_independence(noise)]


def _anonymized(cells: CellList, log: Path, week: Week, store: Path) -> Counts:
    # The attacker's two logs are two releases, whose stores may lie side by side.
    anonymize(LogSource((str(log),)), store, [week], cells.coverage, another_release=True)
    with open_store(store) as opened:
        return opened.noisy_counts(week)


def _check_sizes(cells: CellList, exact: Sequence[Counts], noise: list[Floats]) -> list[Finding]:
    """Check the noise of each level, class and category, of cells without any search, and of rest cells.

    Noise with a sigma below 1 is almost always -1, 0 or 1, and its sum of squares is not chi-squared; it is left to the
    attack.
    """
    kinds = [(c.region.level, c.size_class, c.category) for c in cells.cells]
    wide = np.tile(cells.sigmas >= 1, 2)
    names = [" ".join(filter(None, kind)) for kind in kinds]
    groups = {f"noise on {name}": wide & np.tile(np.array(names) == name, 2) for name in dict.fromkeys(names)}
    groups["noise on empty cells"] = wide & (np.concatenate(exact) == 0)
    rests = {rest.place_id for rest in cells.rests}
    groups["noise on rest cells"] = wide & np.tile([c.region.place_id in rests for c in cells.cells], 2)
    drawn, sigmas = np.concatenate(noise), np.tile(cells.sigmas, 2)
    return [
        _check_size(name, drawn[group], float(sigmas[group].min()), RISK / 4 / len(groups))
        for name, group in groups.items()
        if group.any()
    ]


def _check_size(name: str, noise: Floats, sigma: float, risk: float) -> Finding:
    """Check noise, in units of its sigma, by its sum of squares, which is chi-squared.

    The noise is whole numbers. Where so little noise that it is suspect would be mostly zeros, because cells are few
    and the least sigma is small, chi-squared no longer holds and the lower tail says nothing: all of it may well be 0.
    """
    from scipy import stats

    squares = float(np.square(noise).sum())
    distribution = stats.chi2(noise.size)
    suspect_sigma = sigma * np.sqrt(distribution.ppf(risk) / noise.size)
    too_small = suspect_sigma >= _LEAST_SIGMA and distribution.cdf(squares) <= risk
    seen = f"{np.sqrt(squares / noise.size):.3f} of the promised sigma over {noise.size:,} cells"
    return Finding(name, not (too_small or distribution.sf(squares) <= risk), seen)


def _check_independence(noise: list[Floats]) -> list[Finding]:
    """Check that noise is independent between the stores and from cell to cell."""
    from scipy import stats

    pairs = {
        "noise of the two stores is independent": (noise[0], noise[1]),
        "noise of neighbouring cells is independent": (noise[0][:-1], noise[0][1:]),
    }
    findings = []
    for name, (one, other) in pairs.items():
        correlation = float(one @ other / max(1e-9, np.linalg.norm(one) * np.linalg.norm(other)))
        tail = 2 * stats.norm.sf(abs(correlation) * np.sqrt(one.size))
        findings.append(Finding(name, bool(tail > RISK / 4), f"correlation {correlation:+.4f}"))
    return findings
