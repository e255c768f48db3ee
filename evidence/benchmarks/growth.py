"""How the cost of a week grows with its log: time, CPU, memory and disk of the whole command, on DuckDB and on Spark.

    python -m evidence.benchmarks.bench_growth [--duckdb 5e6,20e6,50e6,200e6,500e6] [--spark 5e6,20e6,50e6,200e6,500e6]

Users grow with the log: 17 searches a user and week, as in bench_anonymize with 50 million events. Larger logs are
copies of one of 5 million, each with users of its own whose searches lie in many files. Measurements are added to
evidence/results/growth.json, where they replace older ones of the same engine and size; evidence/growth_plots.py draws
them. CPU time and memory are those of the command and all that it starts; for Spark, its own log of events tells the
work of the tasks and the bytes that they shuffled.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from evidence.benchmarks.bench_anonymize import MONDAY, make_log
from evidence.watched import watch
from search_insights.support.database import connect

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "evidence" / "results" / "growth.json"
PART = 5_000_000  # events of the log that larger ones are copies of
PART_USERS = 300_000
HEAP = "4g"  # of Spark's driver, which is all of it on one machine
PROGRAM = str(Path(sys.executable).with_name("search-insights"))


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
    """Write the log that others are copies of."""
    folder.mkdir()
    make_log(folder, PART, False, 1_000_000, PART_USERS)
    return folder


def make_copies(part: Path, folder: Path, events: int) -> None:
    """Write as many copies as make so many events: for each day as many files as copies, each a slice of the day.

    So a user's searches lie in several files, as they do where servers write their logs by the hour. One search in
    200 has an unknown region, so that the program has to find out what it leaves out, as with any real log.
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
    """Run the command and watch it."""
    options = ["--store", str(scratch / "store.db"), "--week", str(MONDAY), "--engine", engine]
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
    """Add up what Spark's log of events says of its tasks, and of the events that were kept between them."""
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


def keep(measurement: Measurement) -> None:
    """Add a measurement to the recorded ones."""
    old = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    key = (measurement.engine, measurement.events)
    new = [entry for entry in old if (entry["engine"], entry["events"]) != key] + [asdict(measurement)]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(sorted(new, key=lambda e: (e["engine"], e["events"])), indent=1) + "\n")


def main() -> None:
    """Measure from small to large; print and keep each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duckdb", default="5e6,20e6,50e6,200e6,500e6")
    parser.add_argument("--spark", default="5e6,20e6,50e6,200e6,500e6")
    args = parser.parse_args()
    sizes = {e: [int(float(n)) for n in getattr(args, e).split(",") if n] for e in ("duckdb", "spark")}
    with tempfile.TemporaryDirectory() as name:
        part = make_part(Path(name) / "part")
        for events in sorted({n for of_engine in sizes.values() for n in of_engine}):
            with tempfile.TemporaryDirectory() as log:
                make_copies(part, Path(log) / "log", events)
                for engine in [e for e in sizes if events in sizes[e]]:
                    with tempfile.TemporaryDirectory() as scratch:
                        measurement = run(engine, Path(log) / "log", events, Path(scratch))
                    keep(measurement)
                    print(json.dumps(asdict(measurement)), flush=True)


if __name__ == "__main__":
    main()
