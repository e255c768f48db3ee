"""What lands in the store: both neighbouring logs are anonymized by the program's own command path, and read back.

The exact counts are known here, as only an experiment can know them, so the noise in the store is too. It must be on
every cell, of the promised size, drawn afresh for each store, and never drawn twice for one week.
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
from search_insights.store.store import open_store
from search_insights.support.arrays import Counts, Floats

# How often all checks together may raise a false alarm.
RISK = 1e-6


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that must hold of what is stored, and what was seen."""

    name: str
    holds: bool
    seen: str


def audit_store(
    cells: CellList, logs: Neighbours, exact: Sequence[Counts], progress: Callable[[str], None]
) -> list[Finding]:
    """Anonymize both logs, each into a store of its own, and judge what is in them by their exact counts."""
    folder = logs.without.parent
    stored = []
    for log in (logs.without, logs.with_it):
        progress(f"anonymizing the log {log.stem} the attacked user-day")
        stored.append(_anonymized(cells, log, logs.week, folder / f"{log.stem}.db"))
    again = _anonymized(cells, logs.with_it, logs.week, folder / f"{logs.without.stem}.db")
    once = Finding("a week is noised once", bool(np.array_equal(again, stored[0])), "another log of it changed nothing")
    complete = [counts.size == len(cells.cells) for counts in stored]
    every = Finding("every cell is in both stores", all(complete), f"{len(cells.cells):,} cells")
    if not every.holds:
        return [every, once]
    noise = [(noisy - counts) / cells.sigmas for noisy, counts in zip(stored, exact, strict=True)]
    return [every, once, *_right_size(cells, exact, noise), *_fresh(noise)]


def _anonymized(cells: CellList, log: Path, week: Week, store: Path) -> Counts:
    anonymize(LogSource((str(log),)), store, [week], cells.coverage)
    with open_store(store) as opened:
        return opened.noisy_counts(week)


def _right_size(cells: CellList, exact: Sequence[Counts], noise: list[Floats]) -> list[Finding]:
    """Judge the noise of each level, class and category, and that of cells without any search.

    Noise of a sigma under 1 is hardly ever anything but -1, 0 or 1, and its sum of squares is not chi-squared; it is
    left to the attack.
    """
    standings = cells.coverage.standings
    kinds = [(c.region.level, standings[c.region.place_id].size_class, c.category) for c in cells.cells]
    wide = np.tile(cells.sigmas >= 1, 2)
    names = [" ".join(filter(None, kind)) for kind in kinds]
    groups = {f"noise on {name}": wide & np.tile(np.array(names) == name, 2) for name in dict.fromkeys(names)}
    groups["noise on empty cells"] = wide & (np.concatenate(exact) == 0)
    drawn = np.concatenate(noise)
    return [_of_size_one(name, drawn[group], len(groups)) for name, group in groups.items() if group.any()]


def _of_size_one(name: str, noise: Floats, groups: int) -> Finding:
    """Judge noise, in units of its sigma, by its sum of squares, which is chi-squared."""
    from scipy import stats

    squares = float(np.square(noise).sum())
    law = stats.chi2(noise.size)
    tail = min(law.cdf(squares), law.sf(squares))
    seen = f"{np.sqrt(squares / noise.size):.3f} of the promised sigma over {noise.size:,} cells"
    return Finding(name, bool(tail > RISK / 4 / groups), seen)


def _fresh(noise: list[Floats]) -> list[Finding]:
    """Judge whether noise is independent, between the stores and from cell to cell."""
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
