"""How often intervals of reconciled counts contain the truth, in every region of the United States, computed exactly.

Every kind of region is computed, with all cells that take part in its values. The noise of X - rY depends on the true
counts only through their ratio r, so a grid of ratios stands for all true counts.
"""

from dataclasses import dataclass

import numpy as np
from tests.support.exact_coverage import ratios_up_to
from tests.support.exact_means import Value, kinds_of, values_of

from evidence.measuring import Result
from evidence.pages import markdown_table
from search_insights.commands.console import note
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats

SPEC = "vaccination-v2"
DENOMINATORS_PER_REPEAT = 4
AT_ONCE = 32  # ratios
LIMITS = 0.795, 0.84
SHARES = np.geomspace(0.02, 0.2, 12)  # ratios of published values
OFF = 1.1  # a factor of the variances that must be noticed ...
NOTICED = 0.79, 0.81  # ... by a coverage below or above these


@dataclass(frozen=True)
class Row:
    """The coverage of one level, class and trend, over all kinds of regions and all ratios."""

    level: str
    trends: str
    kinds: int
    regions: int
    least: float
    most: float
    typical: tuple[float, float]  # the least and most at the shares of published values
    less: float  # the median of these if variances were stated too small
    more: float  # the same if they were stated too large


def coverage_of_reconciled(repeats: int) -> Result:
    """Compute the coverage of every kind of region and trend at all fractions with small denominators."""
    cells = CellList(Coverage(load_spec(SPEC), load_geography()))
    ratios, kinds = ratios_up_to(DENOMINATORS_PER_REPEAT * repeats), kinds_of(cells)
    found: dict[tuple[str, str], list[Value]] = {}
    for value in values_of(cells, kinds):
        found.setdefault((value.kind.name, value.trends), []).append(value)
    rows = []
    for (level, trends), values in found.items():
        note(f"{level} {trends}: {len(values)} kinds of regions")
        rows.append(_row(level, trends, values, ratios))
    showed = (
        f"{SPEC} on the United States: {ratios.size:,} true ratios from 0 to 2 for each of {len(kinds):,} kinds of "
        f"regions: coverage is {min(row.least for row in rows):.2%} to {max(row.most for row in rows):.2%}; at shares "
        f"of 2 to 20% {min(row.typical[0] for row in rows):.2%} to {max(row.typical[1] for row in rows):.2%}. There, "
        f"variances stated 10% too small would give {max(row.less for row in rows):.1%} or less in the median, and "
        f"10% too large {min(row.more for row in rows):.1%} or more"
    )
    broken = [
        f"{row.level} {row.trends}: covers {row.least:.2%} to {row.most:.2%}"
        for row in rows
        if row.least < LIMITS[0] or row.most > LIMITS[1]
    ]
    broken += [
        f"{row.level} {row.trends}: variances that are 10% off would not be noticed"
        for row in rows
        if row.less > NOTICED[0] or row.more < NOTICED[1]
    ]
    return Result(showed, [vars(row) for row in rows], _table(rows), broken)


def _row(level: str, trends: str, values: list[Value], ratios: Floats) -> Row:
    found = np.stack([_coverage(value, ratios) for value in values])
    less, typical, more = (np.stack([_coverage(value, SHARES, by) for value in values]) for by in (1 / OFF, 1, OFF))
    return Row(
        level,
        trends,
        len(values),
        sum(value.kind.regions for value in values),
        min(float(found.min()), float(typical.min())),
        max(float(found.max()), float(typical.max())),
        (float(typical.min()), float(typical.max())),
        float(np.median(less)),
        float(np.median(more)),
    )


def _coverage(value: Value, ratios: Floats, variance: float = 1.0) -> Floats:
    """Compute ratios of about the same size together: the series is as long as the largest needs."""
    parts = np.array_split(ratios, -(-ratios.size // AT_ONCE))
    return np.concatenate([value.coverage(part, variance) for part in parts])


def _table(rows: list[Row]) -> list[str]:
    header = ("level", "trends", "regions", "kinds", "least", "most", "at 2 to 20%", "variances / 1.1", "x 1.1")
    lines = [
        (
            row.level,
            row.trends,
            f"{row.regions:,}",
            f"{row.kinds:,}",
            f"{row.least:.2%}",
            f"{row.most:.2%}",
            f"{row.typical[0]:.2%} to {row.typical[1]:.2%}",
            f"{row.less:.2%}",
            f"{row.more:.2%}",
        )
        for row in rows
    ]
    return markdown_table(header, lines, text_columns=range(2))
