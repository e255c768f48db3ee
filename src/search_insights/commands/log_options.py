"""Options that say which log to read, and how."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from search_insights.errors import UsageError
from search_insights.spec.spec_file import load_spec

if TYPE_CHECKING:
    from search_insights.anonymization import LogSource


# What add_argument_group returns has no public name.
def add_log_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add LOG and how to read it; return the group, for options of one command."""
    parser.add_argument(
        "log",
        metavar="LOG",
        nargs="+",
        help="Parquet, CSV or JSON lines files, folders of them, or globs; on Spark, Parquet wherever it reads, or "
        "table:NAME",
    )
    group = parser.add_argument_group("how to read the log")
    group.add_argument(
        "--column",
        metavar="ROLE=NAME",
        action="append",
        default=[],
        help="the column of a role, such as user_id=uid; instead of region, levels may have columns: county=fips",
    )
    group.add_argument("--naive-zone", metavar="ZONE", help="the zone of times without one (default: the release's)")
    group.add_argument(
        "--time-unit",
        choices=("s", "ms", "us", "ns"),
        help="the unit of times that are whole numbers since 1970 (default: found from the numbers, and told)",
    )
    group.add_argument(
        "--code-level",
        metavar="LEVEL",
        help="the level of all bare region codes, where levels share codes; a code of another level is then unknown",
    )
    group.add_argument(
        "--model", metavar="FILE", help="the classifier of a log with queries and no category (default: the packaged)"
    )
    return group


def log_source_of(args: argparse.Namespace) -> "LogSource":
    """Return the log that the options describe."""
    from search_insights.anonymization import LogSource

    columns = parse_columns(args.column, load_spec(args.spec).level_names)
    return LogSource(tuple(args.log), columns, args.naive_zone, args.code_level, args.time_unit)


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
