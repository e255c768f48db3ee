"""Small simulated logs for tests, and the statistics they are checked with.

Statistical promises are tested with fixed seeds. The bounds would fail a correct program with a probability below one
in a million each; each test also shows that the same bound rejects a log that is wrong by 10 %.
"""

import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage

MONDAY = date(2021, 3, 8)  # the week of the national peak; summer time begins on its Sunday
SUNDAY = date(2023, 10, 1)  # a first day of the week in Qazaria
US_EVENTS = 1_000_000  # of the fixture `us_log`
ONE_IN_A_MILLION = 4.9  # standard deviations, both sides

Query = Callable[[str], list[tuple[Any, ...]]]


def simulate_small(
    out: Path, coverage: Coverage, first_week: date = SUNDAY, **options: Any
) -> dict[str, list[tuple[Any, ...]]]:
    """Simulate a small log and return its rows by day."""
    given: dict[str, Any] = {"weeks": 1, "events_per_week": 7000, "seed": 3} | options
    simulate(out, coverage, first_week, **given)
    return {path.stem: rows(path) for path in sorted(out.iterdir())}


def rows(path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a file in order, with instants as microseconds."""
    with duckdb.connect() as connection:
        connection.read_parquet(str(path)).create_view("t")
        return connection.execute("SELECT * REPLACE (epoch_us(timestamp) AS timestamp) FROM t").fetchall()


def chi_square(counts: npt.NDArray[np.float64], weights: npt.NDArray[Any]) -> float:
    """Return the chi-square statistic of counts that are expected in proportion to weights."""
    expected = counts.sum() * weights / weights.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def chi_square_bounds(degrees: int) -> tuple[float, float]:
    """Return the bounds that chi-square leaves once in a million (Wilson and Hilferty's approximation)."""
    spread = ONE_IN_A_MILLION * math.sqrt(2 / (9 * degrees))
    low, high = (degrees * (1 - 2 / (9 * degrees) + sign * spread) ** 3 for sign in (-1, 1))
    return low, high
