"""Find sigmas for a target epsilon and delta, and write them as a new spec file. The proportions of the given spec are
kept and every size class meets the target; with --optimize, the sigmas are those that publish the most values for a
public profile of expected counts. Never make the profile from the private log: the sigmas would tell something about
it."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from search_insights.commands.console import Steps, out, out_json, table
from search_insights.commands.options import add_coverage, add_json, coverage_of
from search_insights.errors import UsageError
from search_insights.spec.spec import Promise, Spec
from search_insights.spec.spec_file import load_spec, spec_toml

if TYPE_CHECKING:
    from search_insights.calibration.optimization import Expectation
    from search_insights.dp.accounting import Accounting

HELP = "find sigmas for a target epsilon and delta"
EXAMPLE = (
    "search-insights calibrate --out release.toml\n"
    "search-insights calibrate --epsilon 1 --delta 1e-6 --out stricter.toml\n"
    "search-insights calibrate --optimize profile.csv --out release.toml"
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
        "or the truth of a simulated log (Parquet)",
    )
    parser.add_argument(
        "--name", metavar="NAME", help="the name of the new spec (default: the old one with -calibrated)"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the spec file to write")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Find the sigmas, write the spec and show what changes."""
    from search_insights.calibration.calibration import calibrate
    from search_insights.calibration.optimization import expect, optimize
    from search_insights.calibration.profile import read_profile
    from search_insights.dp.accounting import account

    if args.out.exists():
        raise UsageError(f"--out {args.out}: exists already; a spec that a release was made with must not change")
    if not args.out.parent.is_dir():
        raise UsageError(f"--out {args.out}: the folder {args.out.parent} does not exist")
    old = load_spec(args.spec)
    promise = Promise(
        old.promise.epsilon if args.epsilon is None else args.epsilon,
        old.promise.delta if args.delta is None else args.delta,
    )
    named = replace(old, name=args.name or f"{old.name}-calibrated")
    expected: tuple[Expectation, ...] = ()
    with Steps() as steps:
        steps.show("looking for sigmas")
        if args.optimize is None:
            new = calibrate(named, promise)
        else:
            coverage = coverage_of(args)
            profile = read_profile(args.optimize, coverage)
            new = optimize(named, promise, coverage, profile)
            expected = (expect(old, coverage, profile), expect(new, coverage, profile))
        accountings = (account(old), account(new))
    _write(args.out, new)
    if args.json:
        out_json(_json(args.out, new, accountings[1], expected))
    else:
        _print(args.out, (old, new), accountings, expected)
    return 0


def _write(path: Path, spec: Spec) -> None:
    """Write the spec, whole or not at all, and never over another."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(spec_toml(spec))
    except FileExistsError:
        raise UsageError(f"--out {path}: exists already") from None
    except OSError as error:
        path.unlink(missing_ok=True)
        raise UsageError(f"--out {path}: cannot write the spec ({error.strerror})") from None


def _json(path: Path, new: Spec, accounting: "Accounting", expected: "tuple[Expectation, ...]") -> dict[str, Any]:
    answer: dict[str, Any] = {
        "spec": str(path),
        "promise": {"epsilon": new.promise.epsilon, "delta": new.promise.delta},
        "cases": [{"name": c.case.name, "epsilon": c.epsilon} for c in accounting.cases],
        "sigmas": [
            {"level": s.level, "size_class": s.size_class, "category": s.category, "sigma": s.value} for s in new.sigmas
        ],
    }
    if expected:
        answer["expected_points"] = {"before": expected[0].total, "after": expected[1].total}
    return answer


def _print(
    path: Path,
    specs: tuple[Spec, Spec],
    accountings: "tuple[Accounting, Accounting]",
    expected: "tuple[Expectation, ...]",
) -> None:
    old, new = specs
    epsilons = zip(*(a.cases for a in accountings), strict=True)
    rows = [(b.case.name, f"{a.epsilon:.4f}", f"{b.epsilon:.4f}") for a, b in epsilons]
    out(table(("case", f"epsilon of {old.name}", f"of {new.name}"), rows, right=(1, 2)))
    out(f"\nThe target is epsilon {new.promise.epsilon:g} at delta {new.promise.delta:g}.\n")
    sigmas = zip(old.sigmas, new.sigmas, strict=True)
    changed = [(b.key.removeprefix("sigma."), f"{a.value:g}", f"{b.value:g}") for a, b in sigmas]
    out(table(("sigma", old.name, new.name), changed, right=(1, 2)))
    if expected:
        _print_points(*expected)
    out(f"\n{path}: the new spec. A store keeps the spec it began with; begin a new store with this one.")


def _print_points(before: "Expectation", after: "Expectation") -> None:
    names = [trend.name for trend in before.spec.trends]
    rows = [
        (" ".join(filter(None, group)), name, f"{a:,.0f}", f"{b:,.0f}")
        for group in before.points
        for name, a, b in zip(names, before.points[group], after.points[group], strict=True)
    ]
    rows.append(("all", "", f"{before.total:,.0f}", f"{after.total:,.0f}"))
    out("")
    out(table(("expected values", "trend", before.spec.name, after.spec.name), rows, right=(2, 3)))
