"""How fast a dataset is derived and written, as a ratio to DuckDB writing the same rows to CSV.

    python -m evidence.benchmarks.bench_publish.py [--weeks 160] [--rounds 3]

The store has made-up noisy counts of the whole packaged United States: every region has searches in proportion to its
population, 2 % of them about vaccination in the mean week, more in some than in others. The reference copies the
published Parquet file back to CSV, the columns of the CSV only. Each is measured in a process of its own, several
times in turn, and the least is taken, because other work on the machine only ever adds time.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np

from search_insights.dp.noise import Counts
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.ledger import LedgerEntry, checksum
from search_insights.store.store import create_or_open_store

TOPICS = np.array([1.0, 0.009, 0.004, 0.007])  # any search, A1, A2, A3
SEARCHES_PER_HEAD = 0.2


def make_store(path: Path, weeks: int) -> None:
    """Commit weeks of counts as a log could have given them, with rounded normal noise: good enough for speed."""
    coverage = Coverage(load_spec(), load_geography())
    cells, spec = CellList(coverage), coverage.spec
    population = np.array([region.population or 5_000 for region in cells.regions], dtype=np.float64)
    expected = SEARCHES_PER_HEAD * population[:, None] * TOPICS
    rng = np.random.default_rng(7)
    with create_or_open_store(path, coverage) as store:
        for number in range(weeks):
            week = Week(spec.sparsity.first_week + timedelta(weeks=number), spec.time_zone)
            interest = np.array([1.0, *[1 + 0.8 * np.sin(number / 8)] * 3])
            noisy: Counts = (rng.poisson(expected * interest).ravel() + rng.normal(0, cells.sigmas)).astype(np.int64)
            store.commit_week(week, noisy, entry_of(coverage, week, noisy))


def entry_of(coverage: Coverage, week: Week, noisy: Counts) -> LedgerEntry:
    """Make the ledger entry of made-up counts."""
    promise = coverage.spec.promise
    return LedgerEntry(
        week=week.first_day,
        committed_at=f"{week.days[-1]}T12:00:00+00:00",
        epsilon=promise.epsilon,
        delta=promise.delta,
        mechanism="made up",
        cells=noisy.size,
        checksum=checksum(week.first_day, noisy),
        spec=coverage.spec.fingerprint,
        geography=coverage.geography.fingerprint,
        engine="none",
        program="0",
        missing_days="",
        classifier="",
        naive_zone="",
    )


def publish_once(store: Path, out: Path) -> dict[str, float]:
    """Derive and write the dataset: how long it took, the imports included, and how long each step."""
    begin = time.perf_counter()
    from search_insights.dataset.publication import publish

    steps: list[tuple[str, float]] = []
    done = publish(store, out, progress=lambda text: steps.append((text, time.perf_counter())))
    times = [*(at for _, at in steps), time.perf_counter()]
    return {
        "publish": times[-1] - begin,
        "rows": done.rows,
        "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        **{text: times[i + 1] - at for i, (text, at) in enumerate(steps)},
    }


def in_own_process(store: Path, out: Path) -> dict[str, float]:
    """Measure in a fresh process, so that no measurement inherits the memory of another."""
    done = subprocess.run(
        [sys.executable, __file__, "--once", str(store), str(out)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def reference(dataset: Path, out: Path) -> float:
    """Have DuckDB write the rows of the published Parquet file as CSV."""
    [parquet], [csv] = dataset.glob("*.parquet"), dataset.glob("*.csv")
    with csv.open(encoding="utf-8") as file:
        columns = file.readline().strip()
    with duckdb.connect() as connection:
        begin = time.perf_counter()
        connection.execute(f"COPY (SELECT {columns} FROM '{parquet}') TO '{out}' (HEADER)")
        return time.perf_counter() - begin


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def measure(weeks: int, rounds: int) -> dict[str, float | bool]:
    """Measure everything on one store; each round publishes anew, and the bytes must be the same."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "store.db", weeks)
        runs, references, same = [], [], True
        for number in range(rounds):
            out = folder / f"dataset{number}"
            runs.append(in_own_process(folder / "store.db", out))
            references.append(reference(out, folder / "reference.csv"))
            same = same and contents(out) == contents(folder / "dataset0")
        again = in_own_process(folder / "store.db", folder / "dataset0")
        size = sum(len(content) for content in contents(folder / "dataset0").values())
    best = min(runs, key=lambda run: run["publish"])
    return {
        "weeks": weeks,
        "megabytes": round(size / 1e6, 1),
        "reference": round(min(references), 3),
        **{key: round(value, 3) for key, value in best.items()},
        "tables_ratio": round((best["deriving the trends"] + best["writing the tables"]) / min(references), 2),
        "publish_ratio": round(best["publish"] / min(references), 2),
        "over_an_older_dataset": round(again["publish"], 3),
        "same_bytes": same,
    }


def main() -> None:
    """Print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weeks", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", type=Path, nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    print(json.dumps(publish_once(*args.once) if args.once else measure(args.weeks, args.rounds)))


if __name__ == "__main__":
    main()
