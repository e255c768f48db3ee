"""Options that several commands share."""

import argparse

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import PACKAGED_GEOGRAPHY, load_geography
from search_insights.spec.spec_file import DEFAULT_SPEC, load_spec


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add --spec."""
    parser.add_argument(
        "--spec",
        metavar="FILE",
        default=DEFAULT_SPEC,
        help=f"the release spec, a TOML file (default: {DEFAULT_SPEC})",
    )


def add_coverage(parser: argparse.ArgumentParser) -> None:
    """Add --spec and --geography."""
    add_spec(parser)
    parser.add_argument(
        "--geography",
        metavar="FILE",
        default=PACKAGED_GEOGRAPHY,
        help=f"the table of regions, Parquet or CSV (default: {PACKAGED_GEOGRAPHY}, the packaged United States)",
    )


def coverage_of(args: argparse.Namespace) -> Coverage:
    """Load the spec and the geography that the options name."""
    return Coverage(load_spec(args.spec), load_geography(args.geography))


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
