"""Put the published datasets of several countries into one folder, with a table of the countries like the original's
Global_ file. The datasets stay as they are. Their values can be compared if they are on one scale: begin the later
releases with 'init --scale-of'."""

import argparse
import shlex
from pathlib import Path

from search_insights.commands.console import note, out

EXAMPLE = "search-insights combine us/dataset ie/dataset --out world\nsearch-insights dashboard world --out site"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "dataset", metavar="DATASET", type=Path, nargs="+", help="the folder of a country's dataset, in this order"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder for all of them")


def run(args: argparse.Namespace) -> int:
    """Combine, and say whether the countries can be compared."""
    from search_insights.dataset.combination import combine

    combined = combine(args.dataset, args.out)
    out(f"{combined.csv}: {combined.rows:,} rows, {', '.join(combined.countries)}")
    if combined.one_scale:
        out("one factor scales all countries: their values can be compared")
    else:
        note("each country has its own scale: values of one cannot be compared with those of another")
    out(f"look at them:  search-insights dashboard {shlex.quote(str(args.out))} --out site")
    return 0
