"""The longer experiments behind docs/privacy.md: runs them and writes a report with plots.

    python -m evidence.privacy [--out build/evidence] [--audits 10] [--seeds 5]

Takes about half an hour on 2 cores; `make evidence` runs it. Nothing here is needed to use the program.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from evidence.benchmarks import bench_bounding, bench_calibrate
from search_insights.anonymization import anonymize
from search_insights.audit.audit import CONFIDENCE, Audit, audit
from search_insights.audit.bound import Difference, lower_advantage
from search_insights.commands.console import note
from search_insights.dp.accounting import account
from search_insights.dp.gaussian import epsilon_of_mu, mu_of_advantage
from search_insights.dp.noise import add_noise
from search_insights.evaluation.accuracy import evaluate
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.private.log import LogSource
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.support.charts import save_chart


@dataclass(frozen=True)
class Section:
    """A part of the report: what was tried and seen, with the numbers behind it."""

    title: str
    words: str
    numbers: Any


def audits(coverage: Coverage, times: int, out: Path) -> Section:
    """Audit many times: the bound must be near to epsilon and, as often as it is confident, not above it."""
    runs: list[Audit] = []
    for run in range(times):
        note(f"audit {run + 1} of {times}")
        runs.append(audit(coverage))
    rows = [
        {"run": i + 1, "case": c.name, "share": c.epsilon_lower / c.epsilon_upper}
        for i, found in enumerate(runs)
        for c in found.cases
    ]
    chart = {
        "title": f"Epsilon reached by {times} audits, as a share of what is allowed",
        "data": {"values": rows},
        "width": 420,
        "height": {"step": 28},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "color": "#0072b2", "size": 50},
                "encoding": {
                    "y": {"field": "case", "type": "nominal", "title": None, "sort": None},
                    "x": {
                        "field": "share",
                        "type": "quantitative",
                        "axis": {"format": "%"},
                        "title": None,
                        "scale": {"domain": [0.9, 1.01]},
                    },
                },
            },
            {"mark": {"type": "rule", "color": "#d55e00"}, "encoding": {"x": {"datum": 1.0}}},
        ],
    }
    save_chart(chart, out / "audits.svg")
    least = min(c.epsilon_lower / c.epsilon_upper for found in runs for c in found.cases)
    above = sum(c.broken for found in runs for c in found.cases)
    stored = sum(not finding.holds for found in runs for finding in found.store)
    words = (
        f"{times} audits of {len(runs[0].cases)} cases: the least share of epsilon reached was {least:.1%}; "
        f"{above} bounds lay above what is allowed ({(1 - CONFIDENCE) * len(rows):.2g} may by chance); "
        f"{stored} findings in the stores were not as promised.\n\n![audits](audits.svg)"
    )
    return Section("Attacks", words, [asdict(found) for found in runs])


def noticing(out: Path, draws: int) -> Section:
    """See how much too small sigmas must be for the audit to notice, in the case of the paper's small counties."""
    case = account(load_spec()).cases[0]
    promised = np.array([s.value for s in case.case.sigmas])
    zeros = np.zeros(promised.size, dtype=np.int64)
    rows = []
    for share in (1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.93, 0.9):
        note(f"sigmas at {share:.0%} of what was promised")
        mu = mu_of_advantage(lower_advantage(Difference(zeros, zeros + 1, share * promised), draws, CONFIDENCE))
        rows.append({"sigma": share, "epsilon": epsilon_of_mu(mu, load_spec().promise.delta)})
    chart = {
        "title": "Epsilon reached when sigmas are too small (line: allowed)",
        "data": {"values": rows},
        "width": 420,
        "height": 200,
        "layer": [
            {
                "mark": {"type": "line", "point": True, "color": "#0072b2"},
                "encoding": {
                    "x": {
                        "field": "sigma",
                        "type": "quantitative",
                        "scale": {"zero": False},
                        "axis": {"format": "%"},
                        "title": "sigma, as a share of the promised one",
                    },
                    "y": {"field": "epsilon", "type": "quantitative", "scale": {"zero": False}, "title": None},
                },
            },
            {"mark": {"type": "rule", "color": "#d55e00"}, "encoding": {"y": {"datum": case.epsilon}}},
        ],
    }
    save_chart(chart, out / "noticing.svg")
    noticed = [row["sigma"] for row in rows if row["epsilon"] > case.epsilon]
    words = (
        f"With {draws:,} draws for each log, sigmas of at most {max(noticed, default=0):.0%} of the promised ones were "
        "noticed as breaking the promise.\n\n![what is noticed](noticing.svg)"
    )
    return Section("What the attack notices", words, rows)


def noise_law(draws: int) -> Section:
    """Compare drawn noise with its law: its size, and how often each number comes."""
    rows = []
    for sigma in sorted({s.value for s in load_spec().sigmas}):
        note(f"noise of sigma {sigma:g}")
        drawn = add_noise(np.zeros(draws, dtype=np.int64), np.full(draws, sigma))
        reach = int(4 * sigma) + 1
        support = np.arange(-reach, reach + 1)
        law = np.exp(-(support**2) / (2 * sigma**2))
        law /= np.exp(-(np.arange(-20 * reach, 20 * reach + 1) ** 2) / (2 * sigma**2)).sum()
        seen = np.bincount(drawn[np.abs(drawn) <= reach] + reach, minlength=support.size)
        expected = np.append(draws * law, draws * (1 - law.sum()))
        groups = np.cumsum(expected) // 50  # at least about 50 in each group
        merged = [np.bincount(groups.astype(int), x) for x in (np.append(seen, draws - seen.sum()), expected)]
        filled = merged[1] > 0
        p_value = stats.chisquare(merged[0][filled], merged[1][filled]).pvalue
        rows.append({"sigma": sigma, "seen": float(np.sqrt(np.mean(drawn.astype(float) ** 2))), "p": float(p_value)})
    worst = min(row["p"] for row in rows)
    off = max(abs(row["seen"] / row["sigma"] - 1) for row in rows)
    words = (
        f"{draws:,} draws of each of the {len(rows)} sigmas of the paper: the standard deviation was off by at most "
        f"{off:.2%}; the least of the p-values of the exact law (chi-square) was {worst:.3g}."
    )
    return Section("The law of the noise", words, rows)


def coverage_of_intervals(coverage: Coverage, seeds: int) -> Section:
    """Publish simulated logs of several seeds and see how often the published interval holds the truth."""
    held: dict[str, list[tuple[int, float]]] = {}
    for seed in range(seeds):
        note(f"simulated log {seed + 1} of {seeds}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            truth, log = folder / "truth.parquet", folder / "log"
            made = simulate(log, coverage, date(2021, 2, 8), 3, 5_000_000, seed=100 + seed, truth=truth)
            add_exact_counts(truth, log, made.weeks, coverage, lambda text: None)
            anonymize(LogSource((str(log),)), folder / "store.db", made.weeks, coverage)
            for row in evaluate(folder / "store.db", truth):
                if row.points:
                    held.setdefault(row.level, []).append((row.points, row.coverage))
    rows = {
        level: {"values": sum(n for n, _ in pairs), "held": sum(n * c for n, c in pairs) / sum(n for n, _ in pairs)}
        for level, pairs in held.items()
    }
    shares = "; ".join(f"{level} {row['held']:.1%} of {row['values']:,} values" for level, row in rows.items())
    words = f"{seeds} simulated logs of 3 weeks: published intervals held the exact ratio for {shares}."
    return Section("Intervals", words, rows)


def other_rules(seeds: int) -> Section:
    """Compare the bounding with other rules, on several simulated weeks."""
    found = {seed: bench_bounding.measure(5_000_000, seed) for seed in range(seeds)}
    rules = next(iter(found.values()))
    lines = ["| rule | topics kept | bias small | medium | large |", "| --- | ---: | ---: | ---: | ---: |"]
    for rule in rules:
        kept = np.mean([result[rule]["topics kept"] for result in found.values()])
        biases = [
            np.mean([result[rule]["bias by class"][size_class] for result in found.values()])
            for size_class in ("small", "medium", "large")
        ]
        lines.append(f"| {rule} | {kept:.2%} | " + " | ".join(f"{bias:+.2%}" for bias in biases) + " |")
    return Section("The bounding next to other rules", "\n".join(lines), found)


def calibration() -> Section:
    """Publish with calibrated and with optimized sigmas."""
    found: dict[str, Any] = bench_calibrate.measure(6, 10_000_000)
    words = "; ".join(f"{name}: {row['published']:,} values at epsilon {row['epsilon']}" for name, row in found.items())
    return Section("Sigmas", words + ".", found)


def main() -> None:
    """Run every experiment and write the report as it grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/evidence"))
    parser.add_argument("--audits", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    coverage = Coverage(load_spec(), load_geography())
    experiments: tuple[Callable[[], Section], ...] = (
        lambda: audits(coverage, args.audits, args.out),
        lambda: noticing(args.out, 20_000 * args.audits),
        lambda: noise_law(50_000 * args.audits),
        lambda: coverage_of_intervals(coverage, args.seeds),
        lambda: other_rules(args.seeds),
        calibration,
    )
    sections: list[Section] = []
    for experiment in experiments:
        sections.append(experiment())
        report = "\n\n".join(f"## {s.title}\n\n{s.words}" for s in sections)
        (args.out / "privacy.md").write_text(f"# Evidence for the promise\n\n{report}\n", encoding="utf-8")
        numbers = {s.title: s.numbers for s in sections}
        (args.out / "privacy.json").write_text(json.dumps(numbers, indent=1, default=str), encoding="utf-8")
    note(f"{args.out / 'privacy.md'}: the report")


if __name__ == "__main__":
    main()
