"""How many data points are published with calibrated and with optimized sigmas, next to the paper's table.

    python -m evidence.benchmarks.bench_calibrate [--weeks 6] [--events-per-week 10000000]

The profile for the optimization comes from one simulated log, the measurement from another of the same model. All three
specs promise the same epsilon and delta; what is counted is what `evaluate` finds published.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

from search_insights.anonymization import anonymize
from search_insights.calibration.calibration import calibrate
from search_insights.calibration.optimization import optimize
from search_insights.calibration.profile import profile_of_truth
from search_insights.dp.accounting import account
from search_insights.evaluation.accuracy import Accuracy, evaluate
from search_insights.evaluation.truth import add_exact_counts
from search_insights.private.log import LogSource
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec

FIRST_WEEK = date(2021, 1, 25)


def measure(weeks: int, events_per_week: int) -> dict[str, object]:
    """Publish one log with each spec and count the values."""
    paper = load_spec()
    coverage = Coverage(paper, load_geography())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _simulated(folder / "profile", coverage, weeks, events_per_week, seed=11)
        profile = profile_of_truth(folder / "profile.parquet", coverage)
        log = _simulated(folder / "log", coverage, weeks, events_per_week, seed=12)
        specs = {
            "the paper's table": paper,
            "calibrated, proportions kept": calibrate(replace(paper, name="calibrated"), paper.promise),
            "optimized": optimize(replace(paper, name="optimized"), paper.promise, coverage, profile),
        }
        return {words: _of_spec(spec, coverage, folder, log) for words, spec in specs.items()}


def _simulated(out: Path, coverage: Coverage, weeks: int, events_per_week: int, seed: int) -> SimulatedLog:
    truth = out.with_suffix(".parquet")
    log = simulate(out, coverage, FIRST_WEEK, weeks, events_per_week, seed=seed, truth=truth)
    add_exact_counts(truth, out, log.weeks, coverage, lambda text: None)
    return log


def _of_spec(spec: Spec, coverage: Coverage, folder: Path, log: SimulatedLog) -> dict[str, object]:
    store = folder / f"{spec.name}.db"
    anonymize(LogSource((str(log.folder),)), store, log.weeks, Coverage(spec, coverage.geography))
    rows = evaluate(store, folder / "log.parquet")
    return {
        "epsilon": round(account(spec).epsilon, 4),
        "published": sum(row.points for row in rows),
        "by level": {level: _points(rows, level) for level in dict.fromkeys(row.level for row in rows)},
    }


def _points(rows: list[Accuracy], level: str) -> dict[str, int]:
    return {row.trend: row.points for row in rows if row.level == level}


def main() -> None:
    """Print the numbers as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weeks", type=int, default=6)
    parser.add_argument("--events-per-week", type=int, default=10_000_000)
    args = parser.parse_args()
    print(json.dumps(measure(args.weeks, args.events_per_week), indent=2))


if __name__ == "__main__":
    main()
