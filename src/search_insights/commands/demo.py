"""Run everything end to end on a simulated country, the United States or a packaged one: log, store, dataset,
dashboard, and how accurate it is."""

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.console import Steps, out, table
from search_insights.commands.options import about_option, is_us
from search_insights.errors import UsageError
from search_insights.spec.spec_file import DEFAULT_SPEC, PACKAGED_SPECS

if TYPE_CHECKING:
    from search_insights.commands.demonstration import Demo

EXAMPLE = "search-insights demo"

_SHOWN_RANKS = 3  # of each list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("demo"), help="the folder to write to (default: demo)"
    )
    parser.add_argument(
        "--spec",
        dest="packaged",  # not the spec of a settings file
        choices=PACKAGED_SPECS,
        help=f"the packaged spec to demonstrate (default: {DEFAULT_SPEC}); each needs a folder of its own",
    )
    parser.add_argument(
        "--country",
        metavar="XX",
        help="a packaged country, by its ISO code, in place of the United States; its spec is written, too",
    )
    parser.add_argument(
        "--weeks",
        metavar="N",
        type=int,
        help="how many weeks from 2021-01-04 (default: 22; 8 for a spec with top searches, whose log has texts)",
    )
    parser.add_argument("--events-per-week", metavar="N", type=int, help="searches a week (default: 10000000)")


def run(args: argparse.Namespace) -> int:
    """Run the demonstration and show what came out."""
    from search_insights.commands.demonstration import (
        EVENTS_PER_WEEK,
        coverage_of_country,
        coverage_of_us,
        demonstrate,
        usual_weeks,
    )

    if args.country is None or is_us(args.country):
        coverage = coverage_of_us(args.packaged or DEFAULT_SPEC)
    elif args.packaged:
        raise UsageError(f"--spec {args.packaged}: has the levels of the United States; leave it out with --country")
    else:
        with about_option("--country"):
            coverage = coverage_of_country(args.country)
    events, weeks = args.events_per_week or EVENTS_PER_WEEK, args.weeks or usual_weeks(coverage.spec)
    with Steps() as steps:
        demo = demonstrate(args.out, coverage, events, weeks, steps.show)
    _show(demo)
    return 0


def _show(demo: "Demo") -> None:
    release = demo.published.release
    promise, weeks = release.coverage.spec.promise, release.trends.weeks
    out(f"Done in {demo.seconds:.0f} s: {len(weeks)} weeks of simulated searches, {weeks[0]} to {weeks[-1]}.\n")
    for name, path in {
        "log (private)": demo.folder.log,
        "truth (private)": demo.folder.truth,
        "store": demo.folder.store,
        "dataset": demo.folder.dataset,
        "dashboard": demo.folder.site,
        "accuracy": demo.folder.accuracy_chart,
    }.items():
        out(f"  {name:<16}{path}")
    out(f"\nFive lines of {demo.published.csv.name} ({demo.published.rows:,} rows):\n")
    for line in _some_lines(demo.published.csv):
        out(f"  {line}")
    _show_lists(demo)
    out(f"\nSpent: epsilon {promise.epsilon:g}, delta {promise.delta:g} for each user's searches of one day;")
    out("every week was noised once.\n")
    out(_accuracy(demo))
    out("\nTry next:")
    out(f"  search-insights ledger --store {demo.folder.store}")
    chosen, regions, example = _names(demo)
    out(f"  search-insights privacy{chosen}")
    out(f"  search-insights regions {shlex.quote(example)}{chosen}{regions}")
    out(
        f"  search-insights anonymize {demo.folder.log} --store {demo.folder.store} --week {weeks[-1]}{chosen}{regions}"
        "    # noised once"
    )
    out("\nLook at the dashboard:")
    out(f"  {_program()} serve {shlex.quote(str(demo.folder.site))}")


def _names(demo: "Demo") -> tuple[str, str, str]:
    """Return the options that name the spec and the regions, if they are not the default, and a region to look up."""
    coverage = demo.published.release.coverage
    if coverage.spec.name in PACKAGED_SPECS:
        return "" if coverage.spec.name == DEFAULT_SPEC else f" --spec {coverage.spec.name}", "", "san benito"
    folder = demo.folder
    return f" --spec {folder.spec}", f" --geography {folder.regions}", coverage.geography.regions[-1].name


def _show_lists(demo: "Demo") -> None:
    """Show the first lines of the country's lists of the newest week, if there are lists."""
    release = demo.published.release
    lines = release.top_searches
    if lines is None or not lines.rank.size:
        return
    here = lines.place == release.coverage.geography.country.place_id
    newest = (lines.date == lines.date.max()) & here & (lines.rank <= _SHOWN_RANKS)
    rows = [
        (
            str(lines.trend[i]),
            str(lines.query_type[i]),
            str(lines.rank[i]),
            str(lines.query[i]),
            f"{lines.value[i]:.1%}",
        )
        for i in newest.nonzero()[0]
    ]
    out(f"\nWhat people asked in the newest week, in the whole country, of {lines.rank.size:,} lines of all lists:\n")
    out(table(("topic", "list", "rank", "search", "share"), rows, right=(2, 4)))


def _program() -> str:
    """Name the program as it can be typed here: by its path where it is not on the search path (`make demo`)."""
    return "search-insights" if shutil.which("search-insights") else os.path.relpath(sys.argv[0])


def _some_lines(csv: Path) -> list[str]:
    """Pick the header and one line of each level."""
    lines: dict[int, str] = {}
    with csv.open(encoding="utf-8") as file:
        header = next(file).rstrip()
        for line in file:
            place = line.split(",")[3:9]
            lines.setdefault(sum(bool(part) for part in place[::2]), line.rstrip())
    return [header, *(lines[level] for level in sorted(lines))][:5]


def _accuracy(demo: "Demo") -> str:
    limit = demo.published.release.coverage.spec.reliability.max_relative_error
    rows = [
        (a.level, a.trend, f"{a.points:,}", f"{a.published:.0%}", f"{a.median:.1%}", f"{a.within_limit:.0%}")
        for a in demo.accuracy
        if a.points
    ]
    header = ("level", "trend", "values", "published", "median error", f"within {limit:.0%}")
    texts = demo.published.release.coverage.spec.top_searches is not None
    mistakes = " (the classifier's mistakes are part of the error)" if texts else ""
    return f"Next to the truth, which only a simulation knows{mistakes}:\n\n" + table(header, rows, right=range(2, 6))
