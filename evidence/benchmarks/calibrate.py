"""How many values are published with calibrated and with optimized sigmas, next to the paper's table.

    python -m evidence.benchmarks.calibrate [--weeks 6] [--events-per-week 10000000]

The profile for the optimization comes from one simulated log, the measurement from another of the same model. All specs
promise the same epsilon and delta; the values counted are those that `evaluate` finds published. Optimized sigmas may
lower no level and trend below the paper's table, as `calibrate --optimize` does by default; the last row is what is
found without that rule.
"""

import sys
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from evidence.inputs import simulate_with_truth
from evidence.measuring import Result, parser_of, print_result, united_states
from evidence.pages import markdown_table
from search_insights.anonymization import anonymize
from search_insights.calibration.calibration import calibrate
from search_insights.calibration.expectation import expect
from search_insights.calibration.optimization import optimize
from search_insights.calibration.profile import profile_of_truth
from search_insights.dp.accounting import account
from search_insights.evaluation.accuracy import Accuracy, evaluate
from search_insights.private.log import LogSource
from search_insights.simulation.simulation import SimulatedLog
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec

FIRST_WEEK = date(2021, 1, 25)
PAPER, OPTIMIZED, MOST = "the paper's table", "optimized", "optimized for the most in all"


def measure(weeks: int, events_per_week: int) -> dict[str, dict[str, Any]]:
    """Publish one log with each spec and count the values."""
    coverage = united_states()
    paper = coverage.spec
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, expected = simulate_with_truth(folder / "profile", coverage, FIRST_WEEK, weeks, events_per_week, seed=11)
        profile = profile_of_truth(expected, coverage)
        least = expect(paper, coverage, profile).of_levels
        log, truth = simulate_with_truth(folder / "log", coverage, FIRST_WEEK, weeks, events_per_week, seed=12)
        specs = {
            PAPER: paper,
            "calibrated, proportions kept": calibrate(replace(paper, name="calibrated"), paper.promise),
            OPTIMIZED: optimize(replace(paper, name="optimized"), paper.promise, coverage, profile, least),
            MOST: optimize(replace(paper, name="most"), paper.promise, coverage, profile),
        }
        return {name: _of_spec(spec, coverage, folder, log, truth) for name, spec in specs.items()}


def _of_spec(spec: Spec, coverage: Coverage, folder: Path, log: SimulatedLog, truth: Path) -> dict[str, Any]:
    store = folder / f"{spec.name}.db"
    anonymize(LogSource((str(log.folder),)), store, log.weeks, Coverage(spec, coverage.geography))
    rows = evaluate(store, truth)
    return {
        "epsilon": round(account(spec).epsilon, 4),
        "published": sum(row.points for row in rows),
        "by level": {level: _points(rows, level) for level in dict.fromkeys(row.level for row in rows)},
    }


def _points(rows: list[Accuracy], level: str) -> dict[str, int]:
    return {row.trend: row.points for row in rows if row.level == level}


def sigmas_table(found: dict[str, dict[str, Any]]) -> list[str]:
    """Lay out the values published with each spec, in all and by level."""
    levels = list(found[PAPER]["by level"])
    rows = [
        [
            name,
            f"{row['epsilon']:.4f}",
            f"{row['published']:,}",
            *(f"{sum(row['by level'].get(level, {}).values()):,}" for level in levels),
        ]
        for name, row in found.items()
    ]
    return markdown_table(("sigmas", "epsilon", "values", *levels), rows)


def main() -> int:
    """Measure the specs."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=6)
    parser.add_argument("--events-per-week", type=int, default=10_000_000)
    args = parser.parse_args()
    found = measure(args.weeks, args.events_per_week)
    values, more = found[OPTIMIZED]["published"], found[OPTIMIZED]["published"] / found[PAPER]["published"]
    showed = f"optimized sigmas publish {values:,} values, {more:.2f} times as many as the paper's table"
    return print_result(Result(showed, found, sigmas_table(found)))


if __name__ == "__main__":
    sys.exit(main())
