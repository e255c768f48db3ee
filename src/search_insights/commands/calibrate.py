"""Find sigmas for a target epsilon and delta, and write them as a new spec file. The proportions of the given spec are
kept and every size class meets the target. A spec without sigmas gets proportions that suit the populations of the
geography; so does any other with --start. With --optimize, the sigmas are those that publish the most values for a
public profile of expected counts. Never make the profile from the private log: the sigmas would tell something about
it."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search_insights.commands.console import Steps, out, out_json, table
from search_insights.commands.options import add_coverage, add_json
from search_insights.errors import UsageError
from search_insights.spec.commented import commented_toml
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Promise, Spec
from search_insights.spec.spec_file import load_draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from search_insights.calibration.optimization import Expectation
    from search_insights.calibration.profile import Profile
    from search_insights.dp.accounting import Accounting

HELP = "find sigmas for a target epsilon and delta"
EXAMPLE = (
    "search-insights calibrate --out release.toml\n"
    "search-insights calibrate --epsilon 1 --delta 1e-6 --out stricter.toml\n"
    "search-insights calibrate --optimize profile.csv --out release.toml\n"
    "search-insights calibrate --spec draft.toml --geography regions.csv --out spec.toml"
)


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
        help="a public profile: CSV with level, size_class, regions and a count for each category, "
        "the truth of a simulated log (Parquet), or the store of an earlier release, whose counts have noise already",
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
    from search_insights.calibration.optimization import expect
    from search_insights.dp.accounting import account

    if args.out.exists():
        raise UsageError(f"--out {args.out}: exists already; a spec that a release was made with must not change")
    if not args.out.parent.is_dir():
        raise UsageError(f"--out {args.out}: the folder {args.out.parent} does not exist")
    old, has_sigmas = load_draft(args.spec, start=args.start)
    with Steps() as steps:
        steps.show("looking for sigmas")
        starting = args.start or not has_sigmas
        coverage = Coverage(old, load_geography(args.geography)) if starting or args.optimize else None
        profile = _profile(args.optimize, coverage) if args.optimize and coverage else None
        named = replace(old, name=args.name or (f"{old.name}-calibrated" if has_sigmas else old.name))
        new = _found(named, _promise(args, old), coverage, profile, starting)
        specs = (new,) if starting else (old, new)
        expected = [expect(spec, coverage, profile) for spec in specs] if coverage and profile else []
        accountings = [account(spec) for spec in specs]
    _write(args.out, new)
    if args.json:
        out_json(_json(args.out, new, accountings[-1], expected))
    else:
        _print(args.out, specs, accountings, expected)
    return 0


def _profile(path: Path, coverage: Coverage) -> "Profile":
    from search_insights.calibration.profile import read_profile
    from search_insights.calibration.stored_profile import is_store, profile_of_store

    return profile_of_store(path, coverage) if path.is_file() and is_store(path) else read_profile(path, coverage)


def _promise(args: argparse.Namespace, old: Spec) -> Promise:
    return Promise(
        old.promise.epsilon if args.epsilon is None else args.epsilon,
        old.promise.delta if args.delta is None else args.delta,
    )


def _found(spec: Spec, promise: Promise, coverage: Coverage | None, profile: "Profile | None", starting: bool) -> Spec:
    """Return the spec with sigmas from nothing or from those that it has, optimized if there is a profile."""
    from search_insights.calibration.calibration import calibrate
    from search_insights.calibration.optimization import optimize
    from search_insights.calibration.start import start

    if coverage is None:
        return calibrate(spec, promise)
    begun = start(replace(coverage, spec=spec), promise, profile) if starting else spec
    return begun if profile is None else optimize(begun, promise, coverage, profile)


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


def _json(path: Path, new: Spec, accounting: "Accounting", expected: "Sequence[Expectation]") -> dict[str, Any]:
    answer: dict[str, Any] = {
        "spec": str(path),
        "promise": {"epsilon": new.promise.epsilon, "delta": new.promise.delta},
        "cases": [{"name": c.case.name, "epsilon": c.epsilon} for c in accounting.cases],
        "sigmas": [
            {"level": s.level, "size_class": s.size_class, "category": s.category, "sigma": s.value} for s in new.sigmas
        ],
    }
    if expected:
        before = {"before": expected[0].total} if len(expected) > 1 else {}
        answer["expected_points"] = {**before, "after": expected[-1].total}
    return answer


def _print(
    path: Path, specs: "Sequence[Spec]", accountings: "Sequence[Accounting]", expected: "Sequence[Expectation]"
) -> None:
    """Show the new spec; beside the old one, if that had sigmas."""
    new, right = specs[-1], (1, 2)[: len(specs)]
    epsilons = zip(*(a.cases for a in accountings), strict=True)
    rows = [(of_case[0].case.name, *(f"{c.epsilon:.4f}" for c in of_case)) for of_case in epsilons]
    header = [f"epsilon of {specs[0].name}", *(f"of {spec.name}" for spec in specs[1:])]
    out(table(("case", *header), rows, right=right))
    out(f"\nThe target is epsilon {new.promise.epsilon:g} at delta {new.promise.delta:g}.\n")
    sigmas = zip(*(spec.sigmas for spec in specs), strict=True)
    changed = [(pair[0].key.removeprefix("sigma."), *(f"{s.value:g}" for s in pair)) for pair in sigmas]
    out(table(("sigma", *(spec.name for spec in specs)), changed, right=right))
    if expected:
        _print_points(expected)
    out(f"\n{path}: the new spec. A store keeps the spec it began with; begin a new store with this one.")


def _print_points(expected: "Sequence[Expectation]") -> None:
    names = [trend.name for trend in expected[0].spec.trends]
    rows = [
        (" ".join(filter(None, group)), name, *(f"{e.points[group][i]:,.0f}" for e in expected))
        for group in expected[0].points
        for i, name in enumerate(names)
    ]
    rows.append(("all", "", *(f"{e.total:,.0f}" for e in expected)))
    out("")
    right = (2, 3)[: len(expected)]
    out(table(("expected values", "trend", *(e.spec.name for e in expected)), rows, right=right))
