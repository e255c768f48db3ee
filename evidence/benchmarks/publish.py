"""How fast a dataset is derived and written, as a ratio to DuckDB writing the same rows to CSV.

    python -m evidence.benchmarks.publish [--weeks 160] [--rounds 3]

The store has made-up noisy counts of the whole packaged United States (`make_store` of evidence/inputs.py). The
reference copies the published Parquet file to CSV, with the columns of the published CSV. Each is measured in a process
of its own, several times in turn, and the least time is taken, because other work on the machine only ever adds time.
Every round must publish the same bytes. The CPU time is that of the whole process.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from evidence.inputs import make_store
from evidence.measuring import Result, in_own_process, parser_of, print_result


def publish_once(store: Path, out: Path) -> dict[str, float]:
    """Derive and write the dataset; return the seconds, imports included, in all and of each step."""
    begin = time.perf_counter()
    from search_insights.dataset.publication import publish

    steps: list[tuple[str, float]] = []
    done = publish(store, out, progress=lambda text: steps.append((text, time.perf_counter())))
    times = [*(at for _, at in steps), time.perf_counter()]
    return {
        "publish": times[-1] - begin,
        "cpu": time.process_time(),
        "rows": done.rows,
        "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        **{text: times[i + 1] - at for i, (text, at) in enumerate(steps)},
    }


def reference(dataset: Path, out: Path) -> float:
    """Return the seconds that DuckDB takes to write the rows of the published Parquet file as CSV."""
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
    """Measure everything on one store; each round publishes to a new folder, and the last over an older dataset."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "store.db", weeks)
        runs, references, same = [], [], True
        for number in range(rounds):
            out = folder / f"dataset{number}"
            runs.append(in_own_process(publish_once, folder / "store.db", out))
            references.append(in_own_process(reference, out, folder / "reference.csv"))
            same = same and contents(out) == contents(folder / "dataset0")
        again = in_own_process(publish_once, folder / "store.db", folder / "dataset0")
        size = sum(len(content) for content in contents(folder / "dataset0").values())
    best = min(runs, key=lambda run: float(run["publish"]))
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


def main() -> int:
    """Measure one store."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    found = measure(args.weeks, args.rounds)
    showed = (
        f"{args.weeks} weeks, {found['rows']:,} rows: {found['publish']:.1f} s ({found['cpu']:.1f} s of CPU), "
        f"of which deriving and writing both tables takes {found['tables_ratio']:.1f} times as long as "
        f"DuckDB writing the CSV; {found['memory_gb']:.2f} GB"
    )
    return print_result(
        Result(showed, found, broken=[] if found["same_bytes"] else ["two rounds published different bytes"])
    )


if __name__ == "__main__":
    sys.exit(main())
