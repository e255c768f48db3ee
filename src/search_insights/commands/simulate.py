"""Write a search log of a simulated population, one Parquet file a day. The same options give the same log."""

import argparse
from pathlib import Path

from search_insights.commands.console import Steps, note, out
from search_insights.commands.options import about_option, add_coverage, coverage_of, parse_day
from search_insights.spec.geography import PACKAGED_GEOGRAPHY

EXAMPLE = "search-insights simulate --out LOG --from 2021-01-04 --weeks 22 --events-per-week 10000000 --seed 7"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--out", metavar="LOG", type=Path, required=True, help="the folder to write the log into")
    parser.add_argument(
        "--from", dest="first_week", metavar="DATE", required=True, help="the first day of the first week"
    )
    parser.add_argument("--weeks", metavar="N", type=int, default=1, help="how many weeks (default: 1)")
    parser.add_argument(
        "--events-per-week", metavar="N", type=int, default=10_000_000, help="searches a week (default: 10000000)"
    )
    parser.add_argument("--seed", metavar="N", type=int, required=True, help="any whole number from 0 up")
    parser.add_argument("--users", metavar="N", type=int, help="people who search (default: 1 for 4 searches a week)")
    parser.add_argument(
        "--peak-share",
        metavar="SHARE",
        type=float,
        help="share of searches about the topics in the national week of most interest (default: 0.10)",
    )
    parser.add_argument("--queries", action="store_true", help="write query texts in place of categories")
    parser.add_argument(
        "--straddling",
        metavar="FILE",
        nargs="?",
        const=PACKAGED_GEOGRAPHY,
        help="put people into every county that a ZIP extends into, by the geography's straddling table, and write a "
        "column for each level (without FILE: the packaged table)",
    )
    parser.add_argument(
        "--truth",
        metavar="FILE",
        type=Path,
        help="also write the expected shares and exact counts, a private file; with --queries, a file beside it has "
        "how many people typed each text",
    )
    add_coverage(parser)


def run(args: argparse.Namespace) -> int:
    """Write the log and say where it is."""
    from search_insights.evaluation.exact_counts import add_exact_counts
    from search_insights.evaluation.text_truth import text_truth_path, write_text_truth
    from search_insights.simulation.simulation import PEAK_SHARE, simulate
    from search_insights.spec.straddling import load_straddling
    from search_insights.spec.weeks import week_of
    from search_insights.support.working_folder import temporary_folder

    coverage = coverage_of(args)
    first_week = parse_day(args.first_week, "--from")
    with about_option("--from"):
        week_of(coverage.spec, first_week)
    straddling = load_straddling(coverage.geography, args.straddling) if args.straddling else None
    with temporary_folder("categories-") as folder:
        # The truth of queries is counted by the categories they were made from: no classifier has a part in it.
        named = folder if args.queries and args.truth else None
        log = simulate(
            args.out,
            coverage,
            first_week,
            args.weeks,
            args.events_per_week,
            args.seed,
            users=args.users,
            peak_share=PEAK_SHARE if args.peak_share is None else args.peak_share,
            queries=args.queries,
            straddling=straddling,
            truth=args.truth,
            named=named,
            progress=note,
        )
        out(f"{log.folder}: {log.files} days, {log.events:,} events, {log.bytes / 1e6:,.1f} MB")
        if log.truth is not None:
            with Steps() as steps:
                add_exact_counts(
                    log.truth,
                    named or args.out,
                    log.weeks,
                    coverage,
                    steps.show,
                    level_columns=straddling is not None,
                )
                if named is not None:
                    steps.show("truth of the texts")
                    write_text_truth(log.truth, args.out, named, log.weeks, coverage)
    if log.truth is not None:
        out(f"{log.truth}: the truth; private, for evaluation only: never publish this file")
        if args.queries:
            out(f"{text_truth_path(log.truth)}: how many people typed each text; private as well")
    return 0
