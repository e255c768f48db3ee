"""Bound, count and noise weeks of a search log, and commit them to a store. A week is noised once: running it again
says that it is there and changes nothing."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, note, out
from search_insights.commands.log_options import (
    add_log_options,
    engine_of,
    log_source_of,
    tolerance_of,
    weeks_of,
)
from search_insights.commands.options import coverage_of

if TYPE_CHECKING:
    from search_insights.anonymization import WeekDone

EXAMPLE = (
    "search-insights anonymize log/*.parquet --store releases.db --week 2021-03-08\n"
    "search-insights anonymize log.csv --store releases.db --from 2021-01-04 --to 2021-05-31 --column user_id=uid\n"
    "search-insights anonymize s3a://logs/2021/*.parquet --store releases.db --week 2021-03-08 \\\n"
    "    --engine spark --master spark://host:7077"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_log_options(parser)
    parser.add_argument(
        "--another-release",
        action="store_true",
        help="begin a new store although another in its folder has these weeks: this is the log of another release",
    )


def run(args: argparse.Namespace) -> int:
    """Anonymize the weeks, and tell the operator how it went."""
    from search_insights.anonymization import anonymize

    coverage = coverage_of(args)
    weeks = weeks_of(args, coverage.spec)
    # With another store than that of the settings, what they say of the release is not meant.
    own = args.settings if args.settings and args.settings.store == args.store else None
    with Steps() as steps:
        done = anonymize(
            log_source_of(args, coverage.spec, weeks),
            args.store,
            weeks,
            coverage,
            tolerance=tolerance_of(args),
            open_engine=engine_of(args),
            model_changed=args.model_changed,
            times_changed=args.times_changed,
            identity=(own and own.identity) or "",
            datasets=[own.dataset] if own and own.dataset else [],
            another_release=args.another_release,
            progress=steps.show,
            report=lambda week: _report(week, args.store, steps),
        )
    _note_weeks_there([week for week in done if week.was_there])
    return 0


def _note_weeks_there(there: "Sequence[WeekDone]") -> None:
    """Say what can be done about a log that was corrected after its week was noised."""
    if there:
        note(
            "a week is noised once: noise drawn again, also for a corrected log, would be a second release of the same "
            f"searches. To tell readers of a mistake: search-insights store note --week {there[0].week} --reason TEXT"
        )


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
