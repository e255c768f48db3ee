"""How fast other libraries for differential privacy release the same cells, next to this program.

    python -m evidence.benchmarks.peers [--events 50e6] [--peer-events 2e5,8e5] [--rounds 2] [--record]

The log is that of the benchmark `anonymize`: 3 million users, 7 days, every ZIP code area. The peers read shares of its
users (all searches of each user, so that a user-day looks the same), prepared by peer_log.py. Each releases the same
public cells with Gaussian noise, and bounds each user-day as near to X1 to X4 as it can express. Each is measured
from process start to the last noisy count, in an environment of its own under build/peers, which is installed if it is
missing. This program is measured from process start to the committed week, on the shares and on the whole log. Several
rounds in turn; the least time of each is taken.

Two sizes give two rates: that of a whole run, with its fixed cost, and that of further searches. In every run the sums
of the states' counts are compared with the truth; if one is off by more than its noise can explain, the benchmark ends.
With --record the measurements go to evidence/results/peers.json, which docs/performance.md is made from.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from evidence.inputs import MONDAY
from evidence.measuring import PROGRAM, RESULTS, ROOT, Result, parser_of, print_result, united_states, write_json
from evidence.peer_log import Share, make_logs
from evidence.peer_rates import OURS, off_by
from evidence.performance_tables import comparison, peers_lines
from evidence.watched import Used, watch
from search_insights.commands.console import note
from search_insights.spec.cells import CellList
from search_insights.spec.weeks import Week
from search_insights.store.opening import open_store

ENVIRONMENTS = ROOT / "build" / "peers"
# The name that is shown, the environment and script, and the script's options.
PEERS = (
    ("PipelineDP (local)", "pipelinedp"),
    ("OpenDP (Polars context)", "opendp_polars"),
    ("OpenDP (Polars context), without X4", "opendp_polars", "--without-x4"),
    ("Tumult Analytics (Spark local)", "tumult"),
)
LIMIT = 900.0  # seconds, for one run of a peer
MOST_OFF = 6.0  # standard deviations; noise alone exceeds them about twice in a billion runs


@dataclass(frozen=True)
class Run:
    """One measurement; `cpu` is that of all processes. Totals and sigmas of the states are by category.

    `off` is by how many standard deviations of its noise a total differs from the truth, at worst.
    """

    who: str
    events: int
    seconds: float
    cpu: float
    load: float
    cells: int
    state_totals: tuple[int, ...]
    state_sigmas: tuple[float, ...]
    off: float


def install(peer: str) -> Path | None:
    """Install a peer's environment if it is missing; return its Python, or None if it cannot be installed here."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    stamp = ENVIRONMENTS / peer / "installed"
    requirements = ROOT / "evidence" / "peers" / f"{peer}.txt"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    note(f"installing {peer}")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENTS / peer)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-r", str(requirements)]
    if subprocess.run(pip, check=False, stdout=sys.stderr).returncode:
        note(f"{peer} cannot be installed here")
        return None
    stamp.write_text(requirements.read_text())
    return python


def measure_peer(who: str, python: Path, peer: str, options: Sequence[str], share: Share) -> Run | None:
    """Run a peer's script; None if it fails or takes too long."""
    script = ROOT / "evidence" / "peers" / f"{peer}.py"
    load = os.getloadavg()[0]
    try:
        used = watch([str(python), str(script), str(share.ready), *options], LIMIT)
    except SystemExit as failed:
        note(f"{who}: {failed}")
        return None
    reported = json.loads(used.output.splitlines()[-1])
    return _run(who, share, used, load, reported["cells"], reported["state_totals"], reported["state_sigmas"])


def measure_program(share: Share) -> Run:
    """Run the whole command on a log, and read what it released from its store."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch) / "store.db"
        load = os.getloadavg()[0]
        used = watch([PROGRAM, "anonymize", str(share.log), "--store", str(store), "--week", str(MONDAY)])
        return _run(OURS, share, used, load, *released(store))


def _run(
    who: str, share: Share, used: Used, load: float, cells: int, totals: Sequence[int], sigmas: Sequence[float]
) -> Run:
    by_category = zip(totals, share.state_totals, sigmas, strict=True)
    return Run(
        who=who,
        events=share.events,
        seconds=round(used.seconds, 2),
        cpu=round(used.cpu, 2),
        load=round(load, 1),
        cells=cells,
        state_totals=tuple(totals),
        state_sigmas=tuple(round(sigma, 3) for sigma in sigmas),
        off=round(max(off_by(total, truth, sigma, share.states) for total, truth, sigma in by_category), 2),
    )


def released(path: Path) -> tuple[int, list[int], list[float]]:
    """Read from a store the number of cells, and each category's total of the states and sigma of a state."""
    with open_store(path) as store:
        noisy = store.noisy_counts(Week(MONDAY, store.coverage.spec.time_zone))
        cells, categories = CellList(store.coverage).cells, store.coverage.spec.categories
        totals, sigmas = [], []
        for category in categories:
            states = [i for i, c in enumerate(cells) if c.region.level == "state" and c.category == category.id]
            totals.append(int(noisy[states].sum()))
            sigmas.append(cells[states[0]].sigma)
    return noisy.size, totals, sigmas


def checked(run: Run, cells: int) -> Run:
    """Refuse a run that released other cells, or totals that its noise does not explain."""
    if run.cells != cells:
        raise SystemExit(f"{run.who}: released {run.cells:,} cells; expected {cells:,}")
    if not run.off <= MOST_OFF:
        raise SystemExit(f"{run.who}: a total of the states is off by {run.off:.1f} standard deviations of its noise")
    return run


def measure(events: int, peer_events: Sequence[int], rounds: int) -> Iterator[Run]:
    """Measure everything in one run."""
    pythons = {peer: install(peer) for peer in dict.fromkeys(peer for _, peer, *_ in PEERS)}
    coverage = united_states()
    cells = len(CellList(coverage).cells)
    with tempfile.TemporaryDirectory(dir=ENVIRONMENTS) as name:
        whole, *shares = make_logs(Path(name), coverage, events, peer_events)
        for _ in range(rounds):
            for share in (whole, *shares):
                yield checked(measure_program(share), cells)
                for who, peer, *options in PEERS if share.ready else ():
                    python = pythons[peer]
                    run = measure_peer(who, python, peer, options, share) if python else None
                    if run:
                        yield checked(run, cells)


def record(runs: Sequence[Run], command: str) -> dict[str, Any]:
    """Lay out what was measured so far, as it is recorded."""
    return {
        "date": str(date.today()),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "load": [min(run.load for run in runs), max(run.load for run in runs)],
        "command": command,
        "runs": [asdict(run) for run in runs],
    }


def main() -> int:
    """Measure; note each run, and record the runs if asked to."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, default=50e6)
    parser.add_argument("--peer-events", default="2e5,8e5", help="about how many searches the peers read, each size")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="write the measurements to evidence/results/peers.json")
    args = parser.parse_args()
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    sizes = f"--events {args.events:g} --peer-events {args.peer_events}"
    command = f"python -m evidence.benchmarks.peers {sizes} --rounds {args.rounds}"
    runs: list[Run] = []
    for run in measure(int(args.events), [int(float(n)) for n in args.peer_events.split(",")], args.rounds):
        note(str(run))
        runs.append(run)
        if args.record:
            write_json(RESULTS / "peers.json", record(runs, command))
    found = record(runs, command)
    missing = [f"{who}: not measured" for who, *_ in PEERS if who not in {run.who for run in runs}]
    showed = comparison(found["runs"])[0] if len(missing) < len(PEERS) else "no other library could be measured"
    return print_result(Result(showed, found, peers_lines(found) if len(missing) < len(PEERS) else [], missing))


if __name__ == "__main__":
    sys.exit(main())
