"""How fast other libraries for differential privacy release the same cells from the same log, next to this program.

    make bench-peers                     # or: python -m benchmarks.bench_peers [--events 50e6] [--peer-events 1e6]

The log is that of bench_anonymize: 3 million users, 7 days, every ZIP code area. Peers read a share of its users (all
of their searches, so that a user-day looks the same), made ready for them: the user-day is one number, and the state,
county and ZIP code area of each search are columns already. Each peer releases the same 65,208 public cells with
Gaussian noise and bounds each user-day to one count a level and category. Each is measured in a process and an
environment of its own, from process start to the last noisy count; this program from process start to the committed
week, on the whole log and on the peers' share. Several rounds in turn; the least of each is taken.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from benchmarks.bench_anonymize import MONDAY, make_log
from benchmarks.watched import watch
from search_insights.cells import CellList
from search_insights.console import table
from search_insights.coverage import Coverage
from search_insights.database import connect
from search_insights.geography import load_geography
from search_insights.spec_file import load_spec

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / "build" / "peers"
RESULTS = ROOT / "benchmarks" / "results" / "peers.json"
LEVELS = ("state", "county", "postal_code")
PEERS = {
    "pipelinedp": "PipelineDP (local)",
    "opendp_polars": "OpenDP (Polars context)",
    "tumult": "Tumult Analytics (Spark local)",
}
LIMIT = 900.0  # seconds, for one peer


@dataclass(frozen=True)
class Run:
    """One measurement; `cpu` has all processes."""

    who: str
    events: int
    seconds: float = math.inf
    cpu: float = 0.0
    cells: int = 0
    state_total: float = 0.0

    @property
    def rate(self) -> float:
        """Events a second; 0 if it did not run."""
        return self.events / self.seconds


def install(peer: str) -> Path | None:
    """Make a peer's environment, if it is not there; give its Python, or None if it cannot be installed here."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    stamp = ENVIRONMENTS / peer / "installed"
    requirements = ROOT / "benchmarks" / "peers" / f"{peer}.txt"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    print(f"installing {PEERS[peer]}", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENTS / peer)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-r", str(requirements)]
    if subprocess.run(pip, check=False).returncode:
        return None
    stamp.write_text(requirements.read_text())
    return python


def make_share(log: Path, folder: Path, events: int, peer_events: int) -> int:
    """Write what the peers read: log.parquet and cells.json. Also the same searches as a log for this program."""
    coverage = Coverage(load_spec(), load_geography())
    regions, numbers = coverage.geography.regions, {r.place_id: i for i, r in enumerate(coverage.geography.regions)}
    above = []
    for region in regions:
        if region.level == "postal_code":
            county = coverage.geography.by_place_id[str(region.parent)]
            above.append((region.code, numbers[str(county.parent)], numbers[county.place_id], numbers[region.place_id]))
    cells = CellList(coverage)
    listed = {
        level: sorted({numbers[c.region.place_id] for c in cells.cells if c.region.level == level}) for level in LEVELS
    }
    (folder / "cells.json").write_text(json.dumps(listed))
    (folder / "share").mkdir()
    with connect() as connection:
        connection.execute("CREATE TABLE above (region TEXT, state BIGINT, county BIGINT, postal_code BIGINT)")
        connection.executemany("INSERT INTO above VALUES (?, ?, ?, ?)", above)
        chosen = f"hash(user_id) % {events} < {peer_events}"
        connection.execute(f"""
            COPY (SELECT * FROM '{log}/*.parquet' WHERE {chosen})
            TO '{folder}/share/log.parquet' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1_000_000)""")
        connection.execute(f"""
            COPY (
                SELECT user_id * 7 + date_diff('day', DATE '{MONDAY}', (timestamp - INTERVAL 8 HOUR)::DATE) AS user_day,
                       coalesce(substr(category, 2, 1), '0')::BIGINT AS category, state, county, postal_code
                FROM '{folder}/share/log.parquet' JOIN above USING (region)
            ) TO '{folder}/log.parquet' (FORMAT parquet)""")
        (row,) = connection.execute(f"SELECT count(*) FROM '{folder}/log.parquet'").fetchall()
    return int(row[0])


def measure_peer(peer: str, python: Path | None, folder: Path, events: int) -> Run:
    """Run a peer's script; if it is not installed, fails or takes too long, it took for ever."""
    script = ROOT / "benchmarks" / "peers" / f"{peer}.py"
    try:
        used = watch([str(python), str(script), str(folder)], LIMIT) if python else None
    except SystemExit as failed:
        print(f"{PEERS[peer]}: {failed}", file=sys.stderr, flush=True)
        used = None
    if used is None:
        return Run(PEERS[peer], events)
    return Run(PEERS[peer], events, used.seconds, used.cpu, **json.loads(used.output.splitlines()[-1]))


def measure_program(log: Path, events: int) -> Run:
    """Run the whole command on a log."""
    with tempfile.TemporaryDirectory() as scratch:
        program = str(Path(sys.executable).with_name("search-insights"))
        store = f"{scratch}/store.db"
        used = watch([program, "anonymize", str(log), "--store", store, "--week", str(MONDAY)])
        return Run("search-insights", events, used.seconds, used.cpu)


def measure(events: int, peer_events: int, rounds: int) -> Iterator[Run]:
    """Measure everything in one run."""
    pythons = {peer: install(peer) for peer in PEERS}
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        (folder / "log").mkdir()
        make_log(folder / "log", events, False, 1_000_000)
        shared = make_share(folder / "log", folder, events, peer_events)
        for _ in range(rounds):
            yield measure_program(folder / "log", events)
            yield measure_program(folder / "share", shared)
            for peer, python in pythons.items():
                yield measure_peer(peer, python, folder, shared)


def keep(runs: Sequence[Run]) -> None:
    """Write what was measured so far."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[1]:.1f}"
    ran = [asdict(run) for run in runs if run.rate]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"date": str(date.today()), "machine": machine, "runs": ran}, indent=1) + "\n")


def summary(runs: Sequence[Run]) -> str:
    """Lay out the best run of each, and how many times faster this program is on its whole log."""
    best: dict[tuple[str, int], Run] = {}
    for run in runs:
        key = (run.who, run.events)
        best[key] = min(best.get(key, run), run, key=lambda r: r.seconds)
    ours = max(run.rate for run in best.values() if run.who == "search-insights")
    rows = [
        [
            run.who,
            f"{run.events:,}",
            f"{run.seconds:.1f} s",
            f"{run.rate:,.0f}",
            f"{1e6 * run.cpu / run.events:.2f}",
            f"{ours / run.rate:,.0f}",
        ]
        if run.rate
        else [run.who, f"{run.events:,}", "does not run here", "", "", ""]
        for run in best.values()
    ]
    header = ("who", "events", "time", "events a second", "CPU us an event", "times slower")
    return table(header, rows, right=(1, 2, 3, 4, 5))


def main() -> None:
    """Print the table; keep the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=float, default=50e6)
    parser.add_argument("--peer-events", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    for run in measure(int(args.events), int(args.peer_events), args.rounds):
        runs.append(run)
        keep(runs)
        print(run, file=sys.stderr, flush=True)
    print(summary(runs))


if __name__ == "__main__":
    main()
