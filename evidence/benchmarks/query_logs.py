"""What it costs that a log has texts, which must be classified, next to the same log with categories.

    python -m evidence.benchmarks.query_logs [--events 50e6] [--spec vaccination-v1] [--rounds 4]

One week is simulated with the texts that people typed, and beside it the same searches with the categories that they
were drawn from. The whole command runs on both in turn. The ratio is the median of those of the rounds, because the
speed of a shared machine changes from one minute to the next; times are the least of all rounds.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from evidence.measuring import PROGRAM, Result, parser_of, print_result
from evidence.watched import Used, watch
from search_insights.commands.console import note
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import DEFAULT_SPEC, load_spec

SEED = 7
WANTED, WANTED_EVENTS = 1.5, 50e6  # times the same log with categories


def measure(events: int, spec: str, rounds: int) -> dict[str, Any]:
    """Simulate a week both ways, and anonymize both."""
    coverage = Coverage(load_spec(spec), load_geography())
    first_week = coverage.spec.sparsity.first_week
    used: dict[str, list[Used]] = {"texts": [], "categories": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "categories").mkdir()
        logs = {kind: folder / kind for kind in used}
        simulate(logs["texts"], coverage, first_week, 1, events, SEED, queries=True, named=logs["categories"])
        for number in range(rounds):
            for kind, log in logs.items():
                note(f"{events:,} events with {kind}, round {number + 1} of {rounds}")
                home = folder / f"{kind}-{number}"  # beside the journal of another store, the week would be refused
                home.mkdir()
                store = ("--store", f"{home}/store.db", "--spec", spec)
                used[kind].append(watch([PROGRAM, "anonymize", str(log), *store, "--week", str(first_week)]))
    seconds = {kind: min(run.seconds for run in runs) for kind, runs in used.items()}
    cpu = {kind: min(run.cpu for run in runs) for kind, runs in used.items()}
    in_turn = list(zip(used["texts"], used["categories"], strict=True))
    return {
        "events": events,
        "spec": spec,
        **{f"{kind}_seconds": round(value, 2) for kind, value in seconds.items()},
        **{f"{kind}_cpu": round(value, 2) for kind, value in cpu.items()},
        "ratio": round(median(t.seconds / c.seconds for t, c in in_turn), 2),
        "cpu_ratio": round(median(t.cpu / c.cpu for t, c in in_turn), 2),
        "ratios": [round(t.seconds / c.seconds, 2) for t, c in in_turn],
    }


def main() -> int:
    """Measure one size."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, default=50e6)
    parser.add_argument("--spec", default=DEFAULT_SPEC)
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args()
    found = measure(int(args.events), args.spec, args.rounds)
    showed = (
        f"{found['events'] / 1e6:g} million searches, {found['spec']}: with texts the whole command takes "
        f"{found['ratio']:.2f} times as long as with categories ({found['cpu_ratio']:.2f} times the CPU)"
    )
    missed = found["events"] >= WANTED_EVENTS and found["ratio"] > WANTED
    broken = [f"{found['ratio']:.2f} times, more than {WANTED}"] if missed else []
    return print_result(Result(showed, [found], broken=broken))


if __name__ == "__main__":
    sys.exit(main())
