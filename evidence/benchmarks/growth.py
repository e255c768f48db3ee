"""How the cost of a week grows with its log: time, CPU, memory and disk of the whole command, on DuckDB and on Spark.

    python -m evidence.benchmarks.growth [--duckdb 5e6,50e6,500e6] [--duckdb-1gb 50e6,500e6]
        [--duckdb-8gb 500e6,2e9] [--spark 5e6,50e6,500e6] [--record]

Users grow with the log: 17 searches a user and week, as in the benchmark `anonymize` with 50 million events. Larger
logs are copies of one of 5 million, each with its own users, whose searches lie in many files. CPU time and memory are
those of the command and everything it starts. For Spark, its event log tells the work of the tasks and the bytes that
they shuffled. With --record the measurements go to evidence/results/growth.json, where they replace older ones of the
same engine and size; evidence/performance_tables.py and growth_plots.py make the tables and pictures of
docs/performance.md from them. `--duckdb 5e6,500e6 --spark 5e6,500e6` is enough for the CPU and the shuffled bytes of a
further search on both engines; it needs 10 GB of disk. A log of 500 million searches has 3.3 GB, one
of two billion 14 GB.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from evidence.inputs import MONDAY, make_log
from evidence.measuring import PROGRAM, RESULTS, Result, parser_of, print_result, read_record, write_json
from evidence.performance_tables import further_lines, growth_lines
from evidence.watched import watch
from search_insights.commands.console import note
from search_insights.support.sql import connect

# The engines, their options and the sizes at which they are measured. A day too large for memory is counted in parts.
OPTIONS = {
    "duckdb": ("--engine", "duckdb"),
    "duckdb-1gb": ("--engine", "duckdb", "--memory", "1GB"),
    "duckdb-8gb": ("--engine", "duckdb", "--memory", "8GB"),
    "spark": ("--engine", "spark"),
}
SIZES = {
    "duckdb": "5e6,50e6,500e6",
    "duckdb-1gb": "50e6,500e6",
    "duckdb-8gb": "500e6,2e9",
    "spark": "5e6,50e6,500e6",
}
PART = 5_000_000  # events of the log that larger ones are copies of
PART_USERS = 300_000
HEAP = "4g"  # of Spark's driver, which is all of Spark on one machine


@dataclass(frozen=True)
class Measurement:
    """One run of the whole command."""

    engine: str
    events: int
    users: int
    seconds: float
    cpu_seconds: float
    peak_gb: float
    log_bytes: int
    load: float
    date: str
    task_cpu_seconds: float | None = None
    shuffle_bytes: int | None = None
    spilled_bytes: int | None = None
    kept_bytes: int | None = None


def make_part(folder: Path) -> Path:
    """Write the log that larger ones are copies of."""
    folder.mkdir()
    make_log(folder, PART, users=PART_USERS)
    return folder


def make_copies(part: Path, folder: Path, events: int) -> None:
    """Write copies that have `events` events in all; of each day as many files as copies, each a slice of the day.

    So the searches of a user lie in several files, as they do where servers write a log file an hour. One search in 200
    has an unknown region, so that there are unused rows to count, as in any real log.
    """
    folder.mkdir()
    copies = events // PART
    with connect() as connection:
        for file in sorted(part.glob("*.parquet")):
            for piece in range(copies):
                connection.execute(f"""
                    COPY (
                        SELECT log.* REPLACE (
                            user_id + copy * {PART_USERS} AS user_id,
                            timestamp + to_microseconds((hash(user_id, copy) % 1_000_000)::BIGINT) AS timestamp,
                            CASE WHEN hash(user_id, timestamp) % 200 > 0 THEN region ELSE 'unknown' END AS region)
                        FROM '{file}' AS log, range({copies}) AS copies(copy)
                        WHERE epoch_us(timestamp) // 1_000_000 % 86_400 * {copies} // 86_400 = {piece}
                    ) TO '{folder}/{file.stem}-{piece:03}.parquet'
                    (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 1_000_000)""")


def run(engine: str, log: Path, events: int, scratch: Path) -> Measurement:
    """Run the command and measure it."""
    options = ["--store", str(scratch / "store.db"), "--week", str(MONDAY), *OPTIONS[engine]]
    history = scratch / "history"
    if engine == "spark":
        history.mkdir()
        options += ["--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={history}"]
        options += ["--conf", "spark.eventLog.compress=false", "--conf", "spark.eventLog.logBlockUpdates.enabled=true"]
        options += ["--conf", f"spark.driver.memory={HEAP}"]
    used = watch([PROGRAM, "anonymize", str(log), *options])
    return Measurement(
        engine=engine,
        events=events,
        users=events // PART * PART_USERS,
        seconds=round(used.seconds, 2),
        cpu_seconds=round(used.cpu, 2),
        peak_gb=round(used.peak_gb, 2),
        log_bytes=sum(file.stat().st_size for file in log.glob("*")),
        load=round(os.getloadavg()[0], 1),
        date=str(date.today()),
        **(tasks(history) if engine == "spark" else {}),
    )


def tasks(history: Path) -> dict[str, Any]:
    """Sum up what Spark's event log says of its tasks, and of the searches that were kept in memory or on disk."""
    found: dict[str, Any] = {"task_cpu_seconds": 0.0, "shuffle_bytes": 0, "spilled_bytes": 0}
    blocks: dict[str, int] = {}
    for file in (path for path in history.rglob("*") if path.is_file()):
        for line in file.open(encoding="utf-8"):
            entry = json.loads(line) if line.startswith("{") else {}
            if metrics := entry.get("Task Metrics") if entry.get("Event") == "SparkListenerTaskEnd" else None:
                found["task_cpu_seconds"] += metrics["Executor CPU Time"] / 1e9
                found["shuffle_bytes"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                found["spilled_bytes"] += metrics["Disk Bytes Spilled"]
            block = entry.get("Block Updated Info", {})
            if (name := block.get("Block ID", "")).startswith("rdd_"):
                blocks[name] = max(blocks.get(name, 0), block["Memory Size"] + block["Disk Size"])
    return found | {"task_cpu_seconds": round(found["task_cpu_seconds"], 2), "kept_bytes": sum(blocks.values())}


def record(measurement: Measurement) -> None:
    """Write a measurement to the recorded ones."""
    old = read_record("growth") if (RESULTS / "growth.json").exists() else []
    key = (measurement.engine, measurement.events)
    new = [entry for entry in old if (entry["engine"], entry["events"]) != key] + [asdict(measurement)]
    write_json(RESULTS / "growth.json", sorted(new, key=lambda entry: (entry["engine"], entry["events"])))


def measure(sizes: dict[str, list[int]]) -> Iterator[Measurement]:
    """Measure each engine at its sizes, from small to large."""
    with tempfile.TemporaryDirectory() as name:
        part = make_part(Path(name) / "part")
        for events in sorted({size for of_engine in sizes.values() for size in of_engine}):
            with tempfile.TemporaryDirectory() as log:
                make_copies(part, Path(log) / "log", events)
                for engine in [engine for engine in sizes if events in sizes[engine]]:
                    with tempfile.TemporaryDirectory() as scratch:
                        yield run(engine, Path(log) / "log", events, Path(scratch))


def main() -> int:
    """Measure; note each measurement, and record it if asked to."""
    parser = parser_of(__doc__)
    for engine, default in SIZES.items():
        parser.add_argument(f"--{engine}", dest=engine, default=default, help="searches, with commas; may be empty")
    parser.add_argument("--record", action="store_true", help="write the measurements to evidence/results/growth.json")
    args = parser.parse_args()
    sizes = {engine: [int(float(n)) for n in getattr(args, engine).split(",") if n] for engine in SIZES}
    found = []
    for measurement in measure(sizes):
        note(str(measurement))
        found.append(asdict(measurement))
        if args.record:
            record(measurement)
    largest = {entry["engine"]: entry for entry in sorted(found, key=lambda entry: int(entry["events"]))}
    showed = "; ".join(
        f"{engine} takes {1e6 * entry['cpu_seconds'] / entry['events']:.2f} us of CPU a search and "
        f"{entry['peak_gb']:.2f} GB at {entry['events'] / 1e6:g} million searches"
        for engine, entry in largest.items()
    )
    return print_result(Result(showed, found, [*growth_lines(found), *further_lines(found)]))


if __name__ == "__main__":
    sys.exit(main())
