"""Find sigmas for a target epsilon and delta, and write them as a new spec file. The proportions of the given spec are
kept and every size class meets the target. A spec without sigmas gets proportions that suit the populations of the
geography; so does any other with --start. With --optimize, the sigmas are those that publish the most values for a
public profile of expected counts, while no level and trend publishes fewer than the spec of --not-below; they are also
compared with it on logs unlike the profile. Exit code 1 if no such sigmas are found. Never make the profile from the
private log: the sigmas would tell something about it."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from search_insights.commands.calibrate_report import Found, print_found, print_found_json
from search_insights.commands.console import Steps
from search_insights.commands.options import about_option, add_coverage, add_json
from search_insights.errors import UsageError
from search_insights.spec.commented import commented_toml
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Promise, Spec
from search_insights.spec.spec_file import DEFAULT_SPEC, load_draft, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from search_insights.calibration.expectation import Outlook
    from search_insights.calibration.profile import Profile

EXAMPLE = (
    "search-insights calibrate --out release.toml\n"
    "search-insights calibrate --epsilon 1 --delta 1e-6 --out stricter.toml\n"
    "search-insights calibrate --optimize profile.csv --out release.toml\n"
    "search-insights calibrate --spec vaccination-v2 --optimize truth.parquet --out more.toml\n"
    "search-insights calibrate --spec draft.toml --geography regions.csv --out spec.toml"
)


_NONE = "none"
_HEAD = (
    "A spec whose sigmas were found by 'search-insights calibrate'.\n"
    "Every key is explained where it stands first, and in docs/spec.md. Section numbers and X1 to X4 are the paper's."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_coverage(parser)
    parser.add_argument("--epsilon", metavar="E", type=float, help="the target (default: the spec's promise)")
    parser.add_argument("--delta", metavar="D", type=float, help="the target (default: the spec's promise)")
    parser.add_argument(
        "--optimize",
        metavar="FILE",
        type=Path,
        help="a public profile: CSV with level, size_class, regions and a count for each measure, "
        "the truth of a simulated log (Parquet), or the store of an earlier release, whose counts have noise already",
    )
    parser.add_argument(
        "--not-below",
        metavar="SPEC",
        help="with --optimize: no level and trend may publish fewer values than this spec, a packaged one or a file; "
        f"one that promises something else is calibrated first (default: {DEFAULT_SPEC} for a spec with its levels, "
        "size classes, trends and rules, any other spec itself; none: the most in all)",
    )
    parser.add_argument(
        "--reference-profile",
        metavar="FILE",
        type=Path,
        help="the same profile in the measures of the spec of --not-below, if that counts others (default: its trends "
        "are taken to have the counts of --optimize)",
    )
    parser.add_argument(
        "--start",
        action="store_true",
        help="do not look at the sigmas of the spec: begin with proportions that suit the expected counts (always so "
        "for a spec without sigmas)",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="the name of the new spec (default: the old one with -calibrated; that of a draft stays)",
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the spec file to write")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Find the sigmas, write the spec and show what changes."""
    from search_insights.dp.accounting import account

    _require_options(args)
    old, has_sigmas = load_draft(args.spec, start=args.start)
    with Steps() as steps:
        starting = args.start or not has_sigmas
        promise = _promise(args, old)
        named = replace(old, name=args.name or (f"{old.name}-calibrated" if has_sigmas else old.name))
        coverage = Coverage(old, load_geography(args.geography)) if starting or args.optimize else None
        task = _Task(named, promise, starting, steps.show)
        if args.optimize and coverage:
            profile = _profile(args.optimize, coverage)
            steps.show("calibrating")
            reference = _reference(args, old, promise, coverage, profile, not starting)
            found = task.optimized(old, coverage, profile, reference)
        else:
            new = task.calibrated(coverage)
            found = Found((new,) if starting else (old, new))
        accountings = [account(spec) for spec in found.specs]
    _write(args.out, found.new)
    (print_found_json if args.json else print_found)(args.out, found, accountings)
    return 0


def _require_options(args: argparse.Namespace) -> None:
    if args.out.exists():
        raise UsageError(f"--out {args.out}: exists already; a spec that a release was made with must not change")
    if not args.out.parent.is_dir():
        raise UsageError(f"--out {args.out}: the folder {args.out.parent} does not exist")
    for option, given in (("--not-below", args.not_below), ("--reference-profile", args.reference_profile)):
        if given and not args.optimize:
            raise UsageError(f"{option} {given}: only with --optimize, whose profile says what to expect")
    if args.reference_profile and args.not_below == _NONE:
        raise UsageError("--reference-profile: only with a spec to compare with; --not-below is none")


@dataclass(frozen=True)
class _Reference:
    """The spec of --not-below, at the promise, and what it is expected to count."""

    spec: Spec
    outlook: "Outlook"


def _reference(
    args: argparse.Namespace, old: Spec, promise: Promise, coverage: Coverage, profile: "Profile", has_sigmas: bool
) -> _Reference | None:
    from search_insights.calibration.expectation import Outlook
    from search_insights.calibration.reference import at_promise, reference_for, require_comparable

    if args.not_below == _NONE:
        return None
    if args.not_below is None:
        given = reference_for(old, has_sigmas, load_spec(DEFAULT_SPEC))
    else:
        with about_option("--not-below"):
            given = load_spec(args.not_below)
    if given is None:
        return None
    require_comparable(old, given)
    counted = Coverage(given, coverage.geography) if args.reference_profile else coverage
    counts = _profile(args.reference_profile, counted) if args.reference_profile else profile
    return _Reference(at_promise(given, promise), Outlook.of(given, counted, counts))


@dataclass(frozen=True)
class _Task:
    """A spec, the promise that it is to keep, and whether its sigmas are to be found from nothing."""

    spec: Spec
    promise: Promise
    starting: bool
    progress: "Callable[[str], None]"

    def calibrated(self, coverage: Coverage | None, profile: "Profile | None" = None) -> Spec:
        """Return the spec with sigmas that keep the promise: scaled, or found from nothing for a coverage."""
        from search_insights.calibration.calibration import calibrate
        from search_insights.calibration.start import start

        if not self.starting or coverage is None:
            return calibrate(self.spec, self.promise)
        return start(replace(coverage, spec=self.spec), self.promise, profile)

    def optimized(self, old: Spec, coverage: Coverage, profile: "Profile", reference: _Reference | None) -> Found:
        """Return the sigmas that publish the most, and what they are compared with."""
        from search_insights.calibration.expectation import Outlook
        from search_insights.calibration.optimization import optimize
        from search_insights.calibration.reference import compare
        from search_insights.calibration.region_noise import table_of

        begun = self.calibrated(coverage, profile) if self.starting else self.spec
        least = reference.outlook.expect(table_of(reference.spec)) if reference else None
        new = optimize(
            begun, self.promise, coverage, profile, least.of_levels if least else None, progress=self.progress
        )
        self.progress("comparing")
        outlook = Outlook.of(old, coverage, profile)
        specs = (new,) if self.starting else (old, new)
        expected = tuple(replace(outlook.expect(table_of(spec)), spec=spec) for spec in specs)
        if reference is None or least is None:
            return Found(specs, expected)
        others = tuple(compare((new, outlook), (reference.spec, reference.outlook)))
        return Found(specs, expected, replace(least, spec=reference.spec), others)


def _profile(path: Path, coverage: Coverage) -> "Profile":
    from search_insights.calibration.profile import read_profile
    from search_insights.calibration.stored_profile import is_store, profile_of_store

    return profile_of_store(path, coverage) if path.is_file() and is_store(path) else read_profile(path, coverage)


def _promise(args: argparse.Namespace, old: Spec) -> Promise:
    return Promise(
        old.promise.epsilon if args.epsilon is None else args.epsilon,
        old.promise.delta if args.delta is None else args.delta,
    )


def _write(path: Path, spec: Spec) -> None:
    """Write the spec, whole or not at all, and never over another."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(commented_toml(spec, _HEAD))
    except FileExistsError:
        raise UsageError(f"--out {path}: exists already") from None
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UsageError(f"--out {path}: cannot write the spec ({error.strerror})") from None
