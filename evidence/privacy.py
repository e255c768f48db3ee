"""The longer experiments behind docs/privacy.md.

    python -m evidence.privacy                             # all of them, about half an hour on 2 cores
    python -m evidence.privacy audits noise --repeats 3    # some, with fewer repetitions

Writes build/evidence/privacy.md with plots, and privacy.json with all numbers. Exit code 1 if anything is broken.
"""

import secrets
import sys
import tempfile
from dataclasses import asdict
from datetime import date
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from evidence.exact_coverage import coverage_by_level
from evidence.experiments import picture_path, run_experiments
from evidence.inputs import simulate_with_truth
from evidence.measuring import Result, parser_of, united_states
from evidence.random_specs import attack, attack_variants
from evidence.reconciled_coverage import coverage_of_reconciled
from evidence.rising import rising
from search_insights.anonymization import anonymize
from search_insights.audit.audit import CONFIDENCE, Audit, audit
from search_insights.audit.bound import Difference, lower_advantage
from search_insights.commands.console import note
from search_insights.dp.accounting import account
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_advantage
from search_insights.dp.noise import add_noise
from search_insights.evaluation.accuracy import evaluate
from search_insights.private.log import LogSource
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.support.charts import save_chart

DRAWS = 20_000  # of each log for each repetition of `noticing`
NOISE_DRAWS = 50_000  # of each sigma for each repetition of `noise`
PER_GROUP = 50  # draws expected in each group of the chi-square test
SEEDS_PER_REPEAT = 0.5  # simulated logs of `intervals`
LEAST_P = 1e-6
MOST_VIOLATIONS = 20  # that are listed
MOST_OFF = 6.0  # standard deviations of independent values; those of a cell are not, as they share a denominator
POINT, LINE = "#0072b2", "#d55e00"


def audits(repeats: int) -> Result:
    """Audit both specs many times: bounds must be close to epsilon, and above it no oftener than confidence allows."""
    geography = united_states().geography
    runs: dict[str, list[Audit]] = {}
    for name in PACKAGED_SPECS:
        coverage = Coverage(load_spec(name), geography)
        for run in range(repeats):
            note(f"{name}: audit {run + 1} of {repeats}")
            runs.setdefault(name, []).append(audit(coverage))
    rows = [
        {"case": f"{name}: {c.name}", "share": c.epsilon_lower / c.epsilon_upper}
        for name, audits in runs.items()
        for found in audits
        for c in found.cases
    ]
    axis = {
        "field": "share",
        "type": "quantitative",
        "axis": {"format": "%"},
        "title": None,
        "scale": {"domain": [0.9, 1.01]},
    }
    chart = {
        "title": f"Epsilon reached by {repeats} audits of each spec, as a share of what is allowed",
        "data": {"values": rows},
        "width": 420,
        "height": {"step": 28},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "color": POINT, "size": 50},
                "encoding": {"y": {"field": "case", "type": "nominal", "title": None, "sort": None}, "x": axis},
            },
            {"mark": {"type": "rule", "color": LINE}, "encoding": {"x": {"datum": 1.0}}},
        ],
    }
    save_chart(chart, picture_path("audits"))
    every = [found for audits in runs.values() for found in audits]
    cases = [case for found in every for case in found.cases]
    least = ", ".join(
        f"{min(c.epsilon_lower / c.epsilon_upper for found in audits for c in found.cases):.1%} of it for {name}"
        for name, audits in runs.items()
    )
    above = sum(case.epsilon_lower > case.epsilon_upper for case in cases)
    by_chance = (1 - CONFIDENCE) * len(cases)
    wrong = [f"{finding.name}: {finding.seen}" for found in every for finding in found.store if not finding.holds]
    broken = [
        f"case {case.name}: other counts changed than those accounted for" for case in cases if not case.as_accounted
    ]
    if stats.binom.sf(above - 1, len(cases), 1 - CONFIDENCE) < LEAST_P:
        broken.append(f"{above} of {len(cases)} bounds are above the epsilon allowed")
    showed = (
        f"{repeats} audits of each packaged spec, {len(cases)} cases: of the epsilon allowed the attack reached at "
        f"least {least}; {above} bounds were above it (expected by chance: {by_chance:.2g}); {len(wrong)} findings in "
        "the stores did not hold"
    )
    numbers = {name: [asdict(found) for found in audits] for name, audits in runs.items()}
    return Result(showed, numbers, broken=broken + wrong)


def noticing(repeats: int) -> Result:
    """See how much too small sigmas must be for the audit to notice, in the first case of the paper's accounting."""
    spec = load_spec()
    case, draws = account(spec).cases[0], DRAWS * repeats
    promised = np.array([s.value for s in case.case.sigmas])
    zeros = np.zeros(promised.size, dtype=np.int64)
    rows = []
    for share in (1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.93, 0.9):
        note(f"sigmas at {share:.0%} of what is promised")
        mu = mu_of_advantage(lower_advantage(Difference(zeros, zeros + 1, share * promised), draws, CONFIDENCE))
        rows.append({"sigma": share, "epsilon": epsilon_of_mu(mu, spec.promise.delta)})
    sigma = {
        "field": "sigma",
        "type": "quantitative",
        "scale": {"zero": False},
        "axis": {"format": "%"},
        "title": "sigma, as a share of the promised one",
    }
    epsilon = {"field": "epsilon", "type": "quantitative", "scale": {"zero": False}, "title": None}
    chart = {
        "title": "Epsilon reached when sigmas are too small (line: allowed)",
        "data": {"values": rows},
        "width": 420,
        "height": 200,
        "layer": [
            {"mark": {"type": "line", "point": True, "color": POINT}, "encoding": {"x": sigma, "y": epsilon}},
            {"mark": {"type": "rule", "color": LINE}, "encoding": {"y": {"datum": case.epsilon}}},
        ],
    }
    save_chart(chart, picture_path("noticing"))
    noticed = max((row["sigma"] for row in rows if row["epsilon"] > case.epsilon), default=0.0)
    showed = f"with {draws:,} draws for each log, sigmas of {noticed:.0%} of the promised ones were noticed"
    return Result(showed, rows, broken=[] if noticed else ["sigmas of 90% of the promised ones were not noticed"])


def noise(repeats: int) -> Result:
    """Compare drawn noise with its law: its standard deviation, and how often each number is drawn."""
    draws, rows = NOISE_DRAWS * repeats, []
    for sigma in sorted({s.value for name in PACKAGED_SPECS for s in load_spec(name).sigmas}):
        note(f"noise of sigma {sigma:g}")
        drawn = add_noise(np.zeros(draws, dtype=np.int64), np.full(draws, sigma))
        deviation = float(np.sqrt(np.mean(drawn.astype(float) ** 2)))
        rows.append({"sigma": sigma, "seen": deviation, "p": _p_value(drawn, sigma)})
    least = min(row["p"] for row in rows)
    off = max(abs(row["seen"] / row["sigma"] - 1) for row in rows)
    showed = (
        f"{draws:,} draws for each of the {len(rows)} sigmas of the packaged specs: the standard deviation was "
        f"off by at most {off:.2%}; the smallest p-value of the exact law (chi-square) was {least:.3g}"
    )
    return Result(showed, rows, broken=[f"p-value {least:.3g}"] if least < LEAST_P else [])


def _p_value(drawn: Any, sigma: float) -> float:
    """Test drawn noise against the discrete Gaussian, with all that is beyond 4 sigma as one more number."""
    reach, draws = int(4 * sigma) + 1, drawn.size
    support = np.arange(-reach, reach + 1)
    law = np.exp(-(support**2) / (2 * sigma**2))
    law /= np.exp(-(np.arange(-20 * reach, 20 * reach + 1) ** 2) / (2 * sigma**2)).sum()
    seen = np.bincount(drawn[np.abs(drawn) <= reach] + reach, minlength=support.size)
    seen, expected = np.append(seen, draws - seen.sum()), np.append(draws * law, draws * (1 - law.sum()))
    groups = np.minimum(np.cumsum(expected) // PER_GROUP, draws // PER_GROUP - 1).astype(int)
    merged = [np.bincount(groups, counts) for counts in (seen, expected)]
    filled = merged[1] > 0
    return float(stats.chisquare(merged[0][filled], merged[1][filled]).pvalue)


def intervals(repeats: int) -> Result:
    """Publish simulated logs of several seeds and see how often the published interval contains the exact ratio."""
    coverage, seeds = united_states(), max(1, round(SEEDS_PER_REPEAT * repeats))
    held: dict[str, list[tuple[int, float]]] = {}
    for seed in range(seeds):
        note(f"simulated log {seed + 1} of {seeds}")
        with tempfile.TemporaryDirectory() as name:
            store = Path(name) / "store.db"
            first = date(2021, 2, 8)
            log, truth = simulate_with_truth(Path(name) / "log", coverage, first, 3, 5_000_000, seed=100 + seed)
            anonymize(LogSource((str(log.folder),)), store, log.weeks, coverage)
            for row in evaluate(store, truth):
                if row.points:
                    held.setdefault(row.level, []).append((row.points, row.coverage))
    rows = {}
    for level, pairs in held.items():
        values = sum(n for n, _ in pairs)
        rows[level] = {"values": values, "held": sum(n * c for n, c in pairs) / values}
    promised = coverage.spec.reliability.confidence
    low = {level: promised - MOST_OFF * sqrt(promised * (1 - promised) / row["values"]) for level, row in rows.items()}
    shares = ", ".join(f"{row['held']:.1%} of {row['values']:,} {level} values" for level, row in rows.items())
    return Result(
        f"{seeds} simulated logs of 3 weeks: published intervals contained the exact ratio for {shares}",
        rows,
        broken=[f"{level}: {row['held']:.1%}" for level, row in rows.items() if row["held"] < low[level]],
    )


def random_specs(repeats: int) -> Result:
    """Attack random specs with random user-days for so many minutes, and broken variants more briefly."""
    seed = secrets.randbits(32)
    found = attack(seed, 60.0 * repeats)
    note(f"{found.specs} specs; now broken variants of the program")
    variants = attack_variants(seed, 2.0 * repeats)
    missed = [name for name, each in variants.items() if not each.violations]
    caught = ", ".join(f"{name} {len(each.violations)} times in {each.specs} specs" for name, each in variants.items())
    showed = (
        f"{found.specs:,} random specs with {found.user_days:,} user-days (seed {seed}): {len(found.violations)} "
        f"violations of what the accounting allows; epsilons compared for {found.compared:,} specs, at most "
        f"{found.reached:.2%} of what is claimed; the same attack on broken variants found violations: {caught}"
    )
    broken = found.violations[:MOST_VIOLATIONS] + [f"the attack did not notice {name}" for name in missed]
    numbers = asdict(found) | {"variants": {name: len(each.violations) for name, each in variants.items()}}
    return Result(showed, numbers | {"violations": len(found.violations)}, broken=broken)


EXPERIMENTS = {
    "audits": audits,
    "noticing": noticing,
    "noise": noise,
    "intervals": intervals,
    "coverage": coverage_by_level,
    "reconciled": coverage_of_reconciled,
    "random-specs": random_specs,
    "rising": rising,
}


def main() -> int:
    """Run the experiments asked for."""
    parser = parser_of(__doc__)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument(
        "--repeats",
        type=int,
        default=10,
        help="audits; the rest in proportion",
    )
    args = parser.parse_args()
    ready = {name: partial(experiment, args.repeats) for name, experiment in EXPERIMENTS.items()}
    return run_experiments("privacy", "Evidence for the promise", ready, args.experiments)


if __name__ == "__main__":
    sys.exit(main())
