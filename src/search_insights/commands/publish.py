"""Make the public dataset from a store: derive, write, and put it in place all at once."""

import argparse
from pathlib import Path

from search_insights.commands.console import Steps, out, span, table

HELP = "make the public dataset from the store"
EXAMPLE = "search-insights publish --store releases.db --out dataset"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the dataset's folder")
    parser.add_argument("--correction", metavar="REASON", help="allow published values to change, and publish why")


def run(args: argparse.Namespace) -> int:
    """Publish, and say what was published and what was dropped."""
    from search_insights.dataset.publication import publish
    from search_insights.trends.release import OUTCOMES

    with Steps() as steps:
        published = publish(args.store, args.out, correction=args.correction, progress=steps.show)
    rows = [
        (row["level"], row["trend"], f"{row['regions_with_a_value']:,}", *(f"{row[outcome]:,}" for outcome in OUTCOMES))
        for row in published.summary
    ]
    out(table(("level", "trend", "regions", *OUTCOMES), rows, right=range(2, 7)))
    out(f"\n{published.csv}: {published.rows:,} rows, {span(published.release.trends.weeks)}")
    out(f"{args.out}: datapackage.json, PRIVACY.md, privacy.json, summary.svg describe it")
    return 0
