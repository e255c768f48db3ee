"""Try to break the promise by experiment: print, for each case, the epsilon that an attack on the program's own path
was seen to reach, next to the one that the accounting allows. Exit code 1 if it reached more."""

import argparse
from dataclasses import asdict

from search_insights.commands.options import add_coverage, add_json, coverage_of
from search_insights.console import Steps, out, out_json, table
from search_insights.errors import CheckFailed, UsageError

HELP = "try to break the promise by experiment"
EXAMPLE = "search-insights audit\nsearch-insights audit --samples 1000000 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_coverage(parser)
    parser.add_argument("--samples", metavar="N", type=int, help="draws of the noise for each log (default: 150000)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Attack every case and show how far it got."""
    from search_insights.audit import SAMPLES, audit

    samples = SAMPLES if args.samples is None else args.samples
    if samples < 1:
        raise UsageError(f"--samples {samples}: expected a whole number from 1 up")
    with Steps() as steps:
        cases = audit(coverage_of(args), samples, progress=steps.show)
    broken = any(case.broken for case in cases)
    if args.json:
        out_json({"holds": not broken, "samples": samples, "cases": [asdict(case) for case in cases]})
        return CheckFailed.exit_code if broken else 0
    rows = [
        (
            case.name,
            str(case.cells_changed),
            f"{case.epsilon_lower:.3f}",
            f"{case.epsilon_upper:.3f}",
            f"{case.epsilon_lower / case.epsilon_upper:.1%}",
        )
        for case in cases
    ]
    header = ("case", "cells changed", "epsilon reached", "epsilon allowed", "share")
    out(table(header, rows, right=range(1, 5)))
    confidence = f"{cases[0].confidence:.1%}"
    out(f"\nReached with {confidence} confidence in each case, from {samples:,} draws for each of two logs.")
    out("The promise was broken." if broken else "The promise was not broken.")
    return CheckFailed.exit_code if broken else 0
