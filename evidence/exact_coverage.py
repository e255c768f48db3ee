"""How often intervals contain the truth, at every level, class and trend: summed exactly over the noise of both counts.

The noise of X - rY depends on the true counts only through their ratio r. So all true counts are covered if all ratios
are. Those with small denominators matter: there X - rY has the largest steps.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from tests.support.exact_coverage import (
    Pair,
    chance_within,
    interval_coverage,
    pairs_of,
    ratios_up_to,
    reach_coverage,
)

from evidence.measuring import Result
from evidence.pages import markdown_table
from search_insights.commands.console import note
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats

DENOMINATORS_PER_REPEAT = 20
TRUTHS_PER_REPEAT = 25
SHARES = 0.02, 0.2  # ratios of published values, for the typical coverage
SMALLER = 0.99  # a reach that must be noticed as too small
MOST_SIGMA = 60.0  # of a denominator whose noisy counts are all tried


@dataclass(frozen=True)
class Row:
    """The coverage of one level, class and trend."""

    level: str
    trend: str
    least: float
    median: float
    most: float
    plain: float
    smaller: float
    intervals: float | None


def coverage_by_level(repeats: int) -> Result:
    """Compute the coverage at all fractions with small denominators, and of whole intervals where that is feasible."""
    spec = load_spec()
    confidence, ratios = spec.reliability.confidence, ratios_up_to(DENOMINATORS_PER_REPEAT * repeats)
    rows = []
    for pair in pairs_of(spec):
        note(f"{pair.level} {pair.trend}")
        rows.append(_row(pair, ratios, confidence, TRUTHS_PER_REPEAT * repeats))
    whole = min(row.intervals for row in rows if row.intervals is not None)
    showed = (
        f"{ratios.size:,} true ratios from 0 to 2 (all with denominators up to {DENOMINATORS_PER_REPEAT * repeats}) "
        f"for each of {len(rows)} pairs of sigmas: coverage is at least {min(row.least for row in rows):.3%}; at "
        f"shares of 2 to 20% its median is at most {max(row.median for row in rows):.2%}; a reach 1% smaller falls to "
        f"{max(row.smaller for row in rows):.2%} or less, and the plain formula to "
        f"{min(row.plain for row in rows):.1%}; whole intervals, with counts from 0 up, cover at least {whole:.3%}"
    )
    broken = [f"{row.level} {row.trend}: covers {row.least:.4%}" for row in rows if row.least < confidence]
    broken += [f"{row.level} {row.trend}: intervals" for row in rows if (row.intervals or 1.0) < confidence]
    broken += [f"{row.level} {row.trend}: wider than needed" for row in rows if row.smaller >= confidence]
    return Result(showed, [vars(row) for row in rows], _table(rows), broken)


def _row(pair: Pair, ratios: Floats, confidence: float, truths: int) -> Row:
    found = reach_coverage(pair, ratios, confidence)
    typical = found[(ratios >= SHARES[0]) & (ratios <= SHARES[1])]
    sigma_x, sigma_y = pair.sigmas
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return Row(
        pair.level,
        pair.trend,
        float(found.min()),
        float(np.median(typical)),
        float(typical.max()),
        float(chance_within(pair, ratios, z * np.hypot(sigma_x, ratios * sigma_y)).min()),
        float(reach_coverage(pair, ratios, confidence, SMALLER).min()),
        _whole(pair, confidence, truths) if sigma_y <= MOST_SIGMA else None,
    )


def _whole(pair: Pair, confidence: float, truths: int) -> float:
    """Return the least coverage of whole intervals, for true counts that are spread over small and large ones."""
    rng = np.random.default_rng(truths)
    y = np.unique(np.geomspace(1, 3_000, truths).astype(int))
    x = np.rint(y * rng.choice([0.0, 0.01, 0.03, 0.05, 0.1, 0.125, 0.25, 1 / 3, 0.5, 1.0], y.size)).astype(int)
    return min(interval_coverage(pair, int(a), int(b), confidence) for a, b in zip(x, y, strict=True))


def _table(rows: list[Row]) -> list[str]:
    header = ("level", "trends", "least", "median, 2 to 20%", "most, 2 to 20%", "1% smaller", "plain", "intervals")
    lines = [
        (
            row.level,
            row.trend,
            *(f"{share:.3%}" for share in (row.least, row.median, row.most, row.smaller, row.plain)),
            "" if row.intervals is None else f"{row.intervals:.3%}",
        )
        for row in rows
    ]
    return markdown_table(header, lines, text_columns=range(2))
