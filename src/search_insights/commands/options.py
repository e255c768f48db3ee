"""Options that several commands share, and the options behind the parameters that errors of the library name."""

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

from search_insights.commands.settings_file import add_settings
from search_insights.errors import InputError, UsageError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import PACKAGED_GEOGRAPHY, load_geography
from search_insights.spec.spec_file import DEFAULT_SPEC, load_spec

# Which option sets a parameter of the library. Its messages name parameters in backquotes.
OPTIONS = {
    "accepted": "--accept",
    "another_release": "--another-release",
    "base_rate": "--base-rate",
    "blocklist": "--blocklist",
    "code_level": "--code-level",
    "columns": "--column",
    "correction": "--correction",
    "crosswalk": "--crosswalk",
    "events_per_week": "--events-per-week",
    "from_week": "--from",
    "geography": "--geography",
    "master": "--master",
    "max_unused": "--max-left-out",
    "memory": "--memory",
    "missing_days": "--allow-missing-day",
    "min_precision": "--min-precision",
    "model": "--model",
    "model_changed": "--model-changed",
    "naive_zone": "--naive-zone",
    "not_below": "--not-below",
    "other_weeks": "--other-weeks",
    "peak_share": "--peak-share",
    "port": "--port",
    "reason": "--reason",
    "remote": "--remote",
    "replace": "--replace",
    "seed": "--seed",
    "settings": "--conf",
    "shape_id": "--shape-id",
    "spec": "--spec",
    "store": "--store",
    "straddling": "--straddling",
    "time_unit": "--time-unit",
    "times_changed": "--times-changed",
    "users": "--users",
    "week": "--week",
    "weeks": "--weeks",
}


def with_options(message: str) -> str:
    """Put the option in the place of each parameter that a message of the library names."""
    return re.sub(r"`(\w+)`", lambda named: OPTIONS.get(named[1], named[0]), message)


@contextmanager
def about_option(option: str) -> Iterator[None]:
    """Put the option before an error about its value."""
    try:
        yield
    except InputError as error:
        raise UsageError(f"{option} {error}") from None


def parse_day(text: str, option: str) -> date:
    """Read a date as it stands on the command line."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text}: expected a date such as 2021-03-08") from None


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
        help="the table of regions, Parquet or CSV, or the ISO code of a packaged country or name of a deeper table "
        f"(default: {PACKAGED_GEOGRAPHY}, the packaged United States)",
    )


def coverage_of(args: argparse.Namespace) -> Coverage:
    """Load the spec and the geography that the options name."""
    return Coverage(load_spec(args.spec), load_geography(args.geography))


def is_us(country: str | None) -> bool:
    """Return whether --country names the United States, which has a packaged table of its own."""
    return country is not None and country.lower() == PACKAGED_GEOGRAPHY


def add_straddling(parser: argparse.ArgumentParser) -> None:
    """Add --straddling."""
    parser.add_argument(
        "--straddling",
        metavar="FILE",
        help="the table of regions that extend into several others, Parquet or CSV (default: the packaged one, with "
        "the packaged United States)",
    )


def add_jobs(
    parser: argparse.ArgumentParser, summaries: dict[str, str], examples: str
) -> list[argparse.ArgumentParser]:
    """Add a parser for each job of a command, with the example of that job; `args.job` names the job."""
    jobs = parser.add_subparsers(title="jobs", metavar="JOB", dest="job", required=True, parser_class=type(parser))
    for (name, summary), example in zip(summaries.items(), examples.splitlines(), strict=True):
        job = jobs.add_parser(
            name,
            help=summary,
            description=f"{summary.capitalize()}.",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        # --debug and --settings may stand at the end, as with other commands.
        job.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        add_settings(job, hidden=True)
    return list(jobs.choices.values())


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
