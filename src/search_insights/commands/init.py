"""Begin a new release: write a folder with a commented spec, whose sigmas keep the promise, a settings file and a
README of what to do next. The levels come from the table of regions, size classes from its populations. Nothing is read
from a log, and nothing is spent. Look through the spec before the first week: a later change is a new edition,
which readers see as a break."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from search_insights.commands.console import Steps, note, out, table
from search_insights.commands.new_release import NewRelease, readme, settings_file
from search_insights.commands.options import about_option, is_us, parse_day
from search_insights.errors import GeographyError, Problem, SpecError, UsageError
from search_insights.spec.checks import require_line, require_word
from search_insights.spec.commented import commented_toml
from search_insights.spec.coverage import Coverage
from search_insights.spec.draft import ANY, Topic, draft_spec
from search_insights.spec.geography import (
    PACKAGED_GEOGRAPHY,
    Geography,
    copy_regions,
    load_country,
    load_geography,
    write_regions,
)
from search_insights.spec.publication_rules import Scaling
from search_insights.spec.spec import Promise, Spec
from search_insights.spec.table_file import is_parquet
from search_insights.spec.weeks import FIRST_WEEK, LAST_WEEK
from search_insights.store.identity import new_identity
from search_insights.support.replace_folder import making, require_free

EXAMPLE = (
    "search-insights init --out swiss --geography regions.csv --time-zone Europe/Zurich \\\n"
    '    --topic influenza --topic heat="Heat waves"\n'
    "search-insights init --out irish --country IE --time-zone Europe/Dublin --topic pollen\n"
    "search-insights init --out pollen --us --topic pollen --first-week 2027-01-04 --epsilon 1 --delta 1e-6"
)

_EPSILON, _DELTA = 2.19, 1e-5  # the paper's promise
_US_ZONE = "America/Los_Angeles"  # the paper's
_SPEC, _SETTINGS, _README = "spec.toml", "search-insights.toml", "README.md"
_HEAD = (
    "The spec of a release of {}, written by 'search-insights init'.\n"
    "Every key is explained where it stands first, and in docs/spec.md of the program. Section numbers and X1 to X4 "
    "are those of the paper, whose release is the packaged spec.\n"
    "Change what you like before the first week. After a change of levels, size classes or categories, find the "
    "sigmas anew with 'search-insights calibrate --start'."
)
# Which option sets a key of the new spec.
_OPTION_OF = {
    "promise.epsilon": "--epsilon",
    "promise.delta": "--delta",
    "time_zone": "--time-zone",
    "sparsity": "--first-week",
    "category": "--topic",
    "trend": "--topic",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the folder to make; new, or empty")
    regions = parser.add_mutually_exclusive_group(required=True)
    regions.add_argument("--geography", metavar="FILE", help="the table of regions, Parquet or CSV; it is copied")
    regions.add_argument("--us", action="store_true", help="the packaged United States")
    regions.add_argument(
        "--country",
        metavar="XX",
        help="a packaged country, by its ISO code, or a deeper table such as GB-authority; its table of regions is "
        "written, too",
    )
    parser.add_argument(
        "--topic",
        metavar="NAME",
        action="append",
        required=True,
        help='a topic, as the log or the model names it; NAME="Title" also gives its title; repeatable',
    )
    parser.add_argument(
        "--time-zone",
        metavar="ZONE",
        help=f"the zone of the release's days, such as Europe/Zurich (required without --us; with it: {_US_ZONE})",
    )
    parser.add_argument(
        "--first-week", metavar="DAY", help="the Monday with which the release begins (default: the next Monday)"
    )
    parser.add_argument(
        "--epsilon", metavar="E", type=float, default=_EPSILON, help=f"the promised epsilon (default: {_EPSILON})"
    )
    parser.add_argument(
        "--scale-of",
        metavar="DATASET",
        type=Path,
        help="a published dataset of the same topics, whose scaling factor this release takes: values of both can then "
        "be compared",
    )
    parser.add_argument("--delta", metavar="D", type=float, default=_DELTA, help="the promised delta (default: 1e-5)")


def run(args: argparse.Namespace) -> int:
    """Draft the spec, find its sigmas, and write the folder."""
    from search_insights.calibration.start import start

    require_free(args.out)
    if is_us(args.country):
        args.us, args.country = True, None
    topics = _topics(args.topic)
    first_week = _first_week(args.first_week)
    zone = args.time_zone or (_US_ZONE if args.us else None)
    if zone is None:
        raise UsageError("--time-zone: say in which zone a day is midnight to midnight, such as Europe/Zurich")
    geography = load_geography(PACKAGED_GEOGRAPHY) if args.us else _geography(args)
    draft = _draft(geography, topics, args, zone, first_week)
    if args.scale_of is not None:
        draft = replace(draft, scaling=_scale_of(args.scale_of, draft))
    with Steps() as steps:
        steps.show("looking for sigmas")
        coverage = Coverage(draft, geography)
        spec = start(coverage, draft.promise)
    release = NewRelease(spec, Coverage(spec, geography), _SPEC, _name_of_table(args), new_identity())
    _write(args, release)
    _report(args.out, release)
    return 0


def _geography(args: argparse.Namespace) -> Geography:
    if args.country is None:
        return load_geography(args.geography)
    with about_option("--country"):
        return load_country(args.country)


def _topics(texts: Sequence[str]) -> list[Topic]:
    """Read `--topic heat_wave` and `--topic heat_wave="Heat wave"` options."""
    topics = []
    for text in texts:
        name, equals, title = text.partition("=")
        if require_word(name, "") or (equals and require_line(title, "")):
            raise UsageError(
                f'--topic {text}: expected NAME or NAME="Title", a name of the letters a to z, digits, _ and -'
            )
        if name.lower() == ANY:
            raise UsageError(f"--topic {name}: this is the category of every search, which all releases have")
        topics.append(Topic(name, title or name.replace("_", " ").replace("-", " ").capitalize()))
    return topics


def _first_week(text: str | None) -> date:
    """Return the Monday on which the window of sparsity begins."""
    if text is None:
        today = date.today()
        return today + timedelta(days=7 - today.weekday())
    day = parse_day(text, "--first-week")
    if day.weekday():
        near = day - timedelta(days=day.weekday())
        raise UsageError(f"--first-week {day}: is a {day:%A}; weeks begin on Monday, such as {near}")
    if not FIRST_WEEK <= day <= LAST_WEEK:
        raise UsageError(f"--first-week {day}: is outside the calendar of searches, {FIRST_WEEK} to {LAST_WEEK}")
    return day


def _draft(geography: Geography, topics: list[Topic], args: argparse.Namespace, zone: str, first_week: date) -> Spec:
    if len(geography.levels) < 2:
        raise GeographyError(f"{geography.source}: has one level only; a release counts regions of a country")
    problems: list[Problem] = []
    promise = Promise(_EPSILON, _DELTA)
    try:
        promise = Promise(args.epsilon, args.delta)
    except SpecError as error:
        problems += error.problems
    try:
        draft = draft_spec(geography, topics, promise, zone, first_week)
    except SpecError as error:
        problems += error.problems
    if problems:
        raise UsageError("; ".join(map(_told, problems)))
    return draft


def _scale_of(folder: Path, draft: Spec) -> Scaling:
    """Return the scale of a published dataset, for a release of the same topics."""
    from search_insights.dataset.folder import read_dataset
    from search_insights.dataset.several import factor_of

    dataset = read_dataset(folder)
    rule, factor = dataset.package.get("scaling", {}), factor_of(dataset)
    if factor is None or "trend" not in rule:
        raise UsageError(f"--scale-of {folder}: has several scaling factors; one for all values is needed")
    trend = next((trend.id for trend in draft.trends if trend.name == rule["trend"]), None)
    if trend is None:
        raise UsageError(f"--scale-of {folder}: its scale is set by {rule['trend']!r}; give this --topic, too")
    return Scaling(rule["maximum"], trend, factor=factor, set_by=rule.get("set_by", dataset.stem))


def _told(problem: Problem) -> str:
    """Say what is wrong with the option behind a key."""
    option = next((o for key, o in _OPTION_OF.items() if problem.key.startswith(key)), None)
    named = option or f"the table of regions, for the key {problem.key!r}"
    return f"{named}: expected {problem.expected}, got {problem.got}"


def _name_of_table(args: argparse.Namespace) -> str:
    """Return how the settings name the geography: the packaged one, or the copy in the folder."""
    if args.us:
        return PACKAGED_GEOGRAPHY
    if args.country is not None:
        return "regions.csv"
    return "regions.parquet" if is_parquet(Path(args.geography)) else "regions.csv"


def _write(args: argparse.Namespace, release: NewRelease) -> None:
    head = _HEAD.format(release.country)
    with making(args.out) as folder:
        if args.country is not None:
            write_regions(folder / release.geography_name, release.coverage.geography.regions)
        elif not args.us:
            copy_regions(Path(args.geography), folder / release.geography_name, release.coverage.geography.regions)
        texts = {
            _SPEC: commented_toml(release.spec, head),
            _SETTINGS: settings_file(release),
            _README: readme(release),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")


def _report(folder: Path, release: NewRelease) -> None:
    spec = release.spec
    header = ("level", "size class", "regions", "reported", *(f"sigma {c.id}" for c in spec.measures))
    out(table(header, release.rows(), right=range(2, len(header))))
    if spec.class_level is None:
        note(
            f"no size classes: no level below {spec.level_names[0]} has populations (column 'population') that "
            "divide its regions"
        )
    if not spec.min_area_km2:
        note("regions of any size are reported: the table does not have the land area of each (column 'land_area_km2')")
    out(f"\nThe promise is epsilon {spec.promise.epsilon:g} at delta {spec.promise.delta:g} for each user and day.")
    out(f"{folder}: {_SPEC}, {_SETTINGS} and {_README}; read {folder / _README} next")
