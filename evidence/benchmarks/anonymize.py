"""How fast a week is anonymized, as a ratio to DuckDB counting its distinct users day by day.

    python -m evidence.benchmarks.bench_anonymize.py [--events 50e6] [--text-ids] [--growth]

The log has 3 million users, 7 days, one Parquet file a day, every ZIP code area, 3 % of searches about vaccination.
Reference, bounding and the whole command (from process start to commit) are measured in one run, several times in
turn, and the least of each is taken, because other work on the machine only ever adds time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.support.database import connect

MONDAY = date(2021, 3, 1)  # a week of seven times 24 hours
USERS = 3_000_000


def make_log(folder: Path, events: int, text_ids: bool, row_group: int, users: int = USERS) -> None:
    """Write the log: users and places at random, two places a user, 3 % of the searches about a topic.

    A million rows a row group, as Arrow writes them: then the region column is stored as a dictionary. With the
    122,880 rows that DuckDB writes it is not, and reading it takes longer.
    """
    zips = [r.code for r in load_geography().regions if r.level == "postal_code"]
    user = f"hash(e.i, {{day}}, 1) % {users}"
    with connect() as connection:
        connection.execute(
            "CREATE TABLE zips AS SELECT unnest(range(?)) AS n, unnest(?::TEXT[]) AS zip", [len(zips), zips]
        )
        for day in range(7):
            who = user.format(day=day)
            connection.execute(f"""
                COPY (
                    SELECT {f"md5(CAST({who} AS TEXT))" if text_ids else f"CAST({who} AS BIGINT)"} AS user_id,
                           TIMESTAMPTZ '{MONDAY} 08:00:00+00' + to_days({day})
                               + to_microseconds(CAST(hash(e.i, {day}, 2) % 86_400_000_000 AS BIGINT)) AS timestamp,
                           zip AS region,
                           CASE WHEN topic < 13 THEN 'A1' WHEN topic < 18 THEN 'A2' WHEN topic < 30 THEN 'A3' END
                               AS category
                    FROM (
                        SELECT e.i, hash(e.i, {day}, 3) % 1000 AS topic,
                               CAST(hash({who}, hash(e.i, {day}, 5) % 10 // 8) % {len(zips)} AS BIGINT) AS n
                        FROM range({events // 7}) AS e(i)
                    ) AS e JOIN zips USING (n)
                ) TO '{folder}/{MONDAY + timedelta(days=day)}.parquet'
                (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {row_group})""")


def reference(folder: Path) -> float:
    """Count the distinct users of each day."""
    with connect() as connection:
        begin = time.perf_counter()
        for file in sorted(folder.glob("*.parquet")):
            connection.execute(f"SELECT count(DISTINCT user_id) FROM '{file}'").fetchall()
        return time.perf_counter() - begin


def bounding(folder: Path) -> float:
    """Bound each day with the program's engine."""
    coverage = Coverage(load_spec(), load_geography())
    week = Week(MONDAY, coverage.spec.time_zone)
    with open_duckdb_engine(LogSource((str(folder),)), coverage.spec, region_names(coverage)) as engine:
        begin = time.perf_counter()
        for day in week.days:
            engine.bound(day, *week.day_bounds(day))
        return time.perf_counter() - begin


def command(folder: Path) -> tuple[float, float]:
    """Run the whole command in a process of its own; give its time and its peak memory in GB."""
    with tempfile.TemporaryDirectory() as scratch:
        run = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6)"
        )
        program = str(Path(sys.executable).with_name("search-insights"))
        arguments = ["anonymize", str(folder), "--store", f"{scratch}/store.db", "--week", str(MONDAY)]
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", run, program, *arguments], check=True, capture_output=True, text=True
        )
        return time.perf_counter() - begin, float(done.stdout)


def in_own_process(name: str, folder: Path) -> float:
    """Measure in a fresh process, so that no measurement inherits the memory of another."""
    code = f"from evidence.benchmarks.bench_anonymize import {name} as f, Path; print(f(Path({str(folder)!r})))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure(events: int, text_ids: bool, row_group: int, rounds: int) -> dict[str, float]:
    """Measure everything on one log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_log(folder, events, text_ids, row_group)
        times: dict[str, list[float]] = {"reference": [], "bounding": [], "command": [], "memory_gb": []}
        for _ in range(rounds):
            times["reference"].append(in_own_process("reference", folder))
            times["bounding"].append(in_own_process("bounding", folder))
            seconds, memory = command(folder)
            times["command"].append(seconds)
            times["memory_gb"].append(memory)
    best = {key: min(values) for key, values in times.items()}
    best["memory_gb"] = max(times["memory_gb"])
    return {
        "events": events,
        "text_ids": text_ids,
        "row_group": row_group,
        **{key: round(value, 3) for key, value in best.items()},
        "bounding_ratio": round(best["bounding"] / best["reference"], 2),
        "command_ratio": round(best["command"] / best["reference"], 2),
        "bounding_ns_per_event": round(1e9 * best["bounding"] / events, 1),
    }


def main() -> None:
    """Print one line of JSON for each log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=float, default=50e6)
    parser.add_argument("--text-ids", action="store_true")
    parser.add_argument("--growth", action="store_true", help="20 to 200 million events instead")
    parser.add_argument("--row-group", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    sizes = [20e6, 50e6, 100e6, 200e6] if args.growth else [args.events]
    for size in sizes:
        print(json.dumps(measure(int(size), args.text_ids, args.row_group, args.rounds)), flush=True)


if __name__ == "__main__":
    main()
