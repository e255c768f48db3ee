"""Say how accurate a release of a simulated log is: its published values next to the exact bounded ratios."""

import argparse
from dataclasses import asdict
from pathlib import Path

from search_insights.commands.console import out, out_json, table
from search_insights.commands.options import add_json

EXAMPLE = "search-insights evaluate --store releases.db --truth truth.parquet --picture accuracy.svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--truth", metavar="FILE", type=Path, required=True, help="the truth that 'simulate' wrote")
    parser.add_argument("--picture", metavar="FILE", type=Path, help="also draw it, to an SVG or PNG file")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the accuracy by level and trend."""
    from search_insights.evaluation.accuracy import Accuracy, evaluate, save_accuracy_chart

    rows = evaluate(args.store, args.truth)
    if args.picture:
        save_accuracy_chart(rows, args.picture)
    if args.json:
        out_json([{k: None if v != v else v for k, v in asdict(row).items()} for row in rows])  # NaN is not JSON
        return 0

    def line(row: Accuracy) -> tuple[str, ...]:
        shares = (row.published, row.median, row.p90, row.within_limit, row.coverage)
        return (row.level, row.trend, f"{row.points:,}", *("-" if s != s else f"{s:.1%}" for s in shares))

    header = ("level", "trend", "values", "published", "median error", "90th percentile", "within limit", "coverage")
    out(table(header, [line(row) for row in rows], right=range(2, 8)))
    if args.picture:
        out(f"\n{args.picture}: the same as a picture")
    return 0
