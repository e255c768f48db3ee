"""Try to break the promise by experiment: print, for each case, the epsilon that an attack on the program's own path
was seen to reach, next to the one that the accounting allows, and what was found in the stores. Exit code 1 if the
attack reached more, or if what was stored is not as promised."""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, out, out_json, table
from search_insights.commands.options import add_coverage, add_json, coverage_of
from search_insights.errors import CheckFailed, UsageError

if TYPE_CHECKING:
    from search_insights.audit.audit import Audit, AuditedCase

EXAMPLE = "search-insights audit\nsearch-insights audit --draws 1000000 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_coverage(parser)
    parser.add_argument(
        "--draws", metavar="N", type=int, help="draws of the noise for each log and case (default: as many as needed)"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Attack every case and show how far it got."""
    from search_insights.audit.audit import audit

    if args.draws is not None and args.draws < 1:
        raise UsageError(f"--draws {args.draws}: expected a whole number from 1 up")
    with Steps() as steps:
        found = audit(coverage_of(args), args.draws, progress=steps.show)
    if args.json:
        out_json({"holds": found.holds, **asdict(found)})
    else:
        _print(found)
    return 0 if found.holds else CheckFailed.exit_code


def _verdict(case: "AuditedCase") -> str:
    if not case.as_accounted:
        return "BROKEN: other counts change than are accounted for"
    return "BROKEN: reached more than is allowed" if case.broken else "kept"


def _print(found: "Audit") -> None:
    rows = [
        (
            case.name,
            str(case.cells_changed),
            f"{case.draws:,}",
            f"{case.epsilon_lower:.3f}",
            f"{case.epsilon_upper:.3f}",
            f"{case.epsilon_lower / case.epsilon_upper:.1%}" if case.epsilon_upper else "-",
            _verdict(case),
        )
        for case in found.cases
    ]
    header = ("case", "cells changed", "draws", "epsilon reached", "epsilon allowed", "share", "bounds X1-X4")
    out(table(header, rows, right=range(1, 6)))
    wrong = 1000 * (1 - found.cases[0].confidence)
    confidence = f"{found.cases[0].confidence:.1%}"
    out(f"\nReached with {confidence} confidence in each case: of 1000 audits of a case that is as it should")
    out(f"be, at most {wrong:.0f} may reach more than is allowed.")
    if found.without_region:
        out(f"Not attacked, because no region of the geography is in it: {', '.join(found.without_region)}.")
    if found.without_texts:
        out(f"Top searches were not attacked: {found.without_texts}.")
    out("")
    findings = [("yes" if finding.holds else "NO", finding.name, finding.seen) for finding in found.store]
    out(table(("holds", "in the store", "seen"), findings))
    out("\nThe promise was not broken." if found.holds else "\nThe promise was broken.")
