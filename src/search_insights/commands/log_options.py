"""Options that say which log to read, which weeks of it and where: the same for every command that reads one."""

import argparse
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.options import about_option, add_coverage, parse_day
from search_insights.errors import UsageError
from search_insights.spec.spec import Spec
from search_insights.spec.weeks import Week, week_of, weeks_between

if TYPE_CHECKING:
    from search_insights.anonymization import LogSource, OpenEngine, Tolerance


def add_log_options(parser: argparse.ArgumentParser, *, store_required: bool = True) -> None:
    """Add the log, the store, the weeks, and how and where to read."""
    parser.add_argument(
        "log",
        metavar="LOG",
        nargs="+",
        help="Parquet, CSV or JSON lines files, folders of them, or globs; on Spark, Parquet wherever it reads, or "
        "table:NAME",
    )
    store_help = "the store; made if it is not there" if store_required else "the store, to compare with its weeks"
    parser.add_argument("--store", metavar="FILE", type=Path, required=store_required, help=store_help)
    parser.add_argument(
        "--week", metavar="DAY", action="append", default=[], help="the first day of a week; repeatable"
    )
    parser.add_argument("--from", dest="first", metavar="DAY", help="the first day of the first week")
    parser.add_argument("--to", dest="last", metavar="DAY", help="the first day of the last week")
    add_coverage(parser)
    _add_reading(parser)
    _add_tolerances(parser)
    _add_engine(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how to read the log")
    group.add_argument(
        "--column",
        metavar="ROLE=NAME",
        action="append",
        default=[],
        help="the column of a role, such as user_id=uid; instead of region, levels may have columns: county=fips",
    )
    group.add_argument(
        "--naive-zone", metavar="ZONE", help="the zone of times without one; must be given for a store's first week"
    )
    group.add_argument(
        "--time-unit",
        choices=("s", "ms", "us", "ns"),
        help="the unit of times that are whole numbers since 1970 (default: found from the numbers, and told)",
    )
    group.add_argument(
        "--times-changed",
        action="store_true",
        help="the times have another form than in earlier weeks, but are the same instants. If they are not, searches "
        "count in two weeks, and the promise does not hold for them",
    )
    group.add_argument(
        "--code-level",
        metavar="LEVEL",
        help="the level of all bare region codes, where levels share codes; a code of another level is then unknown",
    )
    group.add_argument(
        "--model", metavar="FILE", help="the classifier of a log with queries and no category (default: the packaged)"
    )
    group.add_argument("--model-changed", action="store_true", help="earlier weeks were classified by another model")


def _add_tolerances(parser: argparse.ArgumentParser) -> None:
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
    group.add_argument(
        "--accept",
        metavar="KIND",
        action="append",
        default=[],
        help="a kind of warning that you have looked into, such as collapsed-region; repeatable",
    )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where to count")
    group.add_argument(
        "--engine", choices=("duckdb", "spark"), default="duckdb", help="on this machine, or on Spark (default: duckdb)"
    )
    group.add_argument("--memory", metavar="SIZE", help="with DuckDB; what does not fit goes to disk (default: 2.5GB)")
    group.add_argument("--master", metavar="URL", help="Spark's: local[*] (the default), spark://host:7077, yarn, k8s")
    group.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    group.add_argument(
        "--conf", metavar="KEY=VALUE", action="append", default=[], help="a setting of Spark; repeatable"
    )


def log_source_of(args: argparse.Namespace, spec: Spec, weeks: Sequence[Week]) -> "LogSource":
    """Return where the log of these weeks is and how to read it."""
    from search_insights.anonymization import LogSource
    from search_insights.routine.location import patterns_of_weeks

    log = patterns_of_weeks(args.log, weeks, spec, getattr(args, "file_zone", None), _missing_days(args))
    columns = parse_columns(args.column, spec.level_names)
    return LogSource(log, columns, args.naive_zone, args.code_level, args.time_unit)


def tolerance_of(args: argparse.Namespace) -> "Tolerance":
    """Return what may be wrong with the log."""
    from search_insights.anonymization import Tolerance

    if not 0 <= args.max_left_out <= 1:
        raise UsageError(f"--max-left-out {args.max_left_out}: expected a share between 0 and 1")
    return Tolerance(
        max_unused=args.max_left_out,
        missing_days=_missing_days(args),
        other_weeks=args.other_weeks,
        accepted=frozenset(args.accept),
    )


def _missing_days(args: argparse.Namespace) -> frozenset[date]:
    return frozenset(parse_day(day, "--allow-missing-day") for day in args.allow_missing_day)


def engine_of(args: argparse.Namespace) -> "OpenEngine":
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


def weeks_of(args: argparse.Namespace, spec: Spec) -> list[Week]:
    """Return the weeks that the options name."""
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


def parse_columns(pairs: Sequence[str], levels: Sequence[str] = ()) -> dict[str, str]:
    """Read `--column user_id=uid` options; levels have roles, too."""
    from search_insights.anonymization import ROLES

    columns: dict[str, str] = {}
    roles = dict.fromkeys((*ROLES, *levels))
    for pair in pairs:
        role, equals, name = pair.partition("=")
        if not equals or not name or role not in roles:
            raise UsageError(f"--column {pair}: expected ROLE=NAME with a role of {', '.join(roles)}")
        columns[role] = name
    return columns


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
