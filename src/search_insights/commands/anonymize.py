"""Bound, count and noise weeks of a search log, and commit them to a store. A week is noised once: running it again
says that it is there and changes nothing."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, note, out
from search_insights.commands.log_options import add_log_options, log_source_of
from search_insights.commands.options import about_option, add_coverage, coverage_of, parse_day
from search_insights.errors import LogError, MissingDays, UsageError
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week, week_of, weeks_between

if TYPE_CHECKING:
    from search_insights.anonymization import OpenEngine, WeekDone

HELP = "bound, count and noise weeks of a log, and commit them to the store"
EXAMPLE = (
    "search-insights anonymize log/*.parquet --store releases.db --week 2021-03-08\n"
    "search-insights anonymize log.csv --store releases.db --from 2021-01-04 --to 2021-05-31 --column user_id=uid\n"
    "search-insights anonymize s3a://logs/2021/*.parquet --store releases.db --week 2021-03-08 \\\n"
    "    --engine spark --master spark://host:7077"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    reading = add_log_options(parser)
    parser.add_argument("--store", metavar="FILE", type=Path, required=True, help="the store; made if it is not there")
    parser.add_argument(
        "--week", metavar="DAY", action="append", default=[], help="the first day of a week; repeatable"
    )
    parser.add_argument("--from", dest="first", metavar="DAY", help="the first day of the first week")
    parser.add_argument("--to", dest="last", metavar="DAY", help="the first day of the last week")
    add_coverage(parser)
    reading.add_argument(
        "--times-changed",
        action="store_true",
        help="the times have another form than in earlier weeks, but are the same instants. If they are not, searches "
        "count in two weeks, and the promise does not hold for them",
    )
    reading.add_argument("--model-changed", action="store_true", help="earlier weeks were classified by another model")
    group = parser.add_argument_group("what may be wrong with the log")
    group.add_argument(
        "--allow-missing-day", metavar="DAY", action="append", default=[], help="a day that may have no event"
    )
    group.add_argument(
        "--max-left-out",
        metavar="SHARE",
        type=float,
        default=0.05,
        help="the largest share of rows that cannot be used (default: 0.05)",
    )
    group.add_argument("--other-weeks", action="store_true", help="the files may hold other weeks too")
    group = parser.add_argument_group("where to count")
    group.add_argument(
        "--engine", choices=("duckdb", "spark"), default="duckdb", help="on this machine, or on Spark (default: duckdb)"
    )
    group.add_argument("--memory", metavar="SIZE", help="DuckDB's, for a day; the rest goes to disk (default: 2GB)")
    group.add_argument("--master", metavar="URL", help="Spark's: local[*] (the default), spark://host:7077, yarn, k8s")
    group.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    group.add_argument(
        "--conf", metavar="KEY=VALUE", action="append", default=[], help="a setting of Spark; repeatable"
    )


def run(args: argparse.Namespace) -> int:
    """Anonymize the weeks, and tell the operator how it went."""
    from search_insights.anonymization import Tolerance, anonymize

    coverage = coverage_of(args)
    weeks = _weeks(args, coverage)
    source = log_source_of(args)
    if not 0 <= args.max_left_out <= 1:
        raise UsageError(f"--max-left-out {args.max_left_out}: expected a share between 0 and 1")
    tolerance = Tolerance(
        max_unused=args.max_left_out,
        missing_days=frozenset(parse_day(day, "--allow-missing-day") for day in args.allow_missing_day),
        other_weeks=args.other_weeks,
    )
    with Steps() as steps, _allowing_missing_days():
        anonymize(
            source,
            args.store,
            weeks,
            coverage,
            tolerance=tolerance,
            open_engine=_engine(args),
            model_changed=args.model_changed,
            times_changed=args.times_changed,
            progress=steps.show,
            report=lambda week: _report(week, args.store, steps),
        )
    return 0


def _engine(args: argparse.Namespace) -> "OpenEngine":
    """Choose the engine, and refuse options of the other."""
    from search_insights.anonymization import DEFAULT_MEMORY, Cluster, open_duckdb_engine, open_spark_engine
    from search_insights.classifier.model import PACKAGED_MODEL

    model = args.model or PACKAGED_MODEL
    if args.engine == "duckdb":
        if args.master or args.remote or args.conf:
            raise UsageError("--master, --remote and --conf are for Spark: add --engine spark")
        return partial(open_duckdb_engine, memory=args.memory or DEFAULT_MEMORY, model=model)
    if args.memory:
        raise UsageError("--memory is for DuckDB; for Spark use --conf spark.driver.memory=4g or spark.executor.memory")
    if args.master and args.remote:
        raise UsageError("give --master, to start Spark, or --remote, to join a running one; not both")
    cluster = Cluster(args.master or Cluster().master, args.remote, parse_settings(args.conf))
    return partial(open_spark_engine, cluster=cluster, model=model)


def _report(done: "WeekDone", store: Path, steps: Steps) -> None:
    steps.clear()
    if done.was_there:
        out(f"week {done.week}: is in the store already, nothing changed")
        return
    out(f"week {done.week}: committed to {store}")
    if done.time_unit:
        note(f"week {done.week}: times were read as whole numbers in {done.time_unit} since 1970")
    if done.unused.total:
        note(f"week {done.week}: rows not used: {done.unused.describe()} (private, not stored)")
    for level, rows in done.unknown.items():
        note(f"week {done.week}: {rows:,} rows name no known {level}, and do not count there (private, not stored)")


def _weeks(args: argparse.Namespace, coverage: Coverage) -> list[Week]:
    spec = coverage.spec
    if bool(args.week) == bool(args.first or args.last) or bool(args.first) != bool(args.last):
        raise UsageError("say which weeks: one or more --week DAY, or --from DAY --to DAY")
    if args.week:
        days: set[date] = {parse_day(text, "--week") for text in args.week}
        with about_option("--week"):
            return [week_of(spec, day) for day in sorted(days)]
    first, last = parse_day(args.first, "--from"), parse_day(args.last, "--to")
    if last < first:
        raise UsageError(f"--to {last} is before --from {first}")
    for day, option in ((last, "--to"), (first, "--from")):
        with about_option(option):
            week_of(spec, day)
    return list(weeks_between(spec, first, last))


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read `--conf spark.executor.memory=8g` options."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.startswith("spark."):
            # Not the value: it may be a password.
            raise UsageError(f"--conf {key}: expected KEY=VALUE with a setting of Spark such as spark.executor.memory")
        settings[key] = value
    return settings


@contextmanager
def _allowing_missing_days() -> Iterator[None]:
    """Tell how to go on where days have no event."""
    try:
        yield
    except MissingDays as error:
        options = " ".join(f"--allow-missing-day {day}" for day in error.days)
        raise LogError(f"{error} If there really were none: {options}") from None
