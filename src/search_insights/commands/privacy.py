"""Account for a spec's promise, case by case. Exit code 1 if the promise does not hold."""

import argparse
import math
from itertools import groupby
from typing import Any

from search_insights.commands.console import out, out_json, table
from search_insights.commands.options import add_json, add_spec
from search_insights.errors import CheckFailed
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec

EXAMPLE = "search-insights privacy\nsearch-insights privacy --spec release.toml --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    add_spec(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the accounting and say whether the promise holds."""
    from search_insights.dp.accounting import account, delta_of_weeks, epsilon_of_weeks
    from search_insights.dp.reference import require_reference

    spec = load_spec(args.spec)
    accounting = account(spec)
    require_reference(accounting)
    week = {"epsilon": epsilon_of_weeks(spec, 1), "delta": delta_of_weeks(spec, 1)}
    if args.json:
        out_json(_json(spec, accounting, week))
    else:
        _print(spec, accounting, week)
    return 0 if accounting.holds else CheckFailed.exit_code


def _json(spec: Spec, accounting: Any, week: dict[str, float]) -> dict[str, Any]:
    delta = accounting.promise.delta
    return {
        "spec": spec.name,
        "unit": "one user's searches of one day",
        "mechanism": "discrete Gaussian, sensitivity 1",
        "promise": {"epsilon": accounting.promise.epsilon, "delta": delta},
        "holds": accounting.holds,
        "cases": [
            {
                "name": c.case.name,
                "epsilon": _finite(c.epsilon),
                "delta": delta,
                "sigmas": [s.value for s in c.case.sigmas],
                "chance_of_new_text": c.case.chance,
                "mechanisms": [{"level": s.level, "category": s.category, "sigma": s.value} for s in c.case.sigmas],
            }
            for c in accounting.cases
        ],
        "not_promised": {"user_active_on_7_days": week | {"epsilon": _finite(week["epsilon"])}},
    }


def _finite(epsilon: float) -> float | None:
    """Return None for an infinite epsilon, because JSON has no infinity."""
    return epsilon if math.isfinite(epsilon) else None


def _print(spec: Spec, accounting: Any, week: dict[str, float]) -> None:
    delta = accounting.promise.delta
    out(f"Spec {spec.name}: epsilon {accounting.promise.epsilon:g} at delta {delta:g} is promised for each user-day,")
    out("that is, for everything that one user searched on one day. Neighbouring logs differ by one user-day.\n")
    rows = [(c.case.name, f"{c.epsilon:.3f}", str(len(c.case.sigmas)), _sigma_words(c.case)) for c in accounting.cases]
    out(table(("case", "epsilon", "mechanisms", "sigma of the discrete Gaussian, sensitivity 1"), rows, right=(1, 2)))
    verdict = "holds" if accounting.holds else "DOES NOT HOLD"
    promised = f"promised {accounting.promise.epsilon:g}"
    out(f"\nThe promise {verdict}: the worst case gives {accounting.epsilon:.4f}, {promised}.")
    at = "the same delta" if week["delta"] == delta else f"delta {week['delta']:.4g}"
    words = f"has epsilon {week['epsilon']:.2f} at {at} for the week;"
    out(f"Not promised: a user active on all 7 days of a week {words}")
    out("longer activity has more. 'search-insights ledger' says what the weeks of a store add up to.")


def _sigma_words(case: Any) -> str:
    """Write the sigmas level by level, categories with equal noise together, and the chance that a new text shows."""
    parts = []
    for level, of_level in groupby(case.sigmas, key=lambda s: s.level):
        values = [f"{'/'.join(s.category for s in same)} {v:g}" for v, same in groupby(of_level, key=lambda s: s.value)]
        parts.append(f"{level} {', '.join(values)}")
    chance = [f"the text is shown with a chance of {case.chance:.3g}"] if case.chance else []
    return "; ".join(parts + chance)
