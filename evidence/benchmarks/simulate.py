"""How fast a log is simulated, and what a day costs: drawing it, and writing it as Parquet.

    python -m evidence.benchmarks.simulate [--events-per-week 10000000] [--weeks 3] [--queries]

Wall time depends on how busy the machine is; CPU time per event depends on that much less. The reference is the CPU
time that DuckDB takes to write as many rows of two columns of random numbers.
"""

import resource
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb
import numpy as np

from evidence.measuring import Result, least_cpu, parser_of, print_result, united_states
from search_insights.simulation.day import day_columns, events_on, make_world
from search_insights.simulation.files import open_writer, write_day
from search_insights.simulation.simulation import EVENTS_PER_USER, PEAK_SHARE, simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import week_of

FIRST = date(2021, 3, 8)
ROUNDS = 3


def measure_day(coverage: Coverage, events: int, queries: bool, folder: Path) -> dict[str, float]:
    """Measure the parts of one day on one thread, in ns of CPU per event."""
    users = max(1, events // EVENTS_PER_USER)
    begin = time.thread_time()
    world = make_world(coverage, 7, events, users, PEAK_SHARE, queries)
    people = time.thread_time() - begin
    week = week_of(coverage.spec, FIRST)
    count = events_on(world, week, FIRST)
    with open_writer(world) as connection:
        drawing = least_cpu(lambda: day_columns(world, week, FIRST), ROUNDS)
        both = least_cpu(lambda: write_day(connection, world, week, FIRST, folder, {}), ROUNDS)
    reference = least_cpu(lambda: _bare_write(count, folder), ROUNDS)
    return {
        "people": users,
        "people_cpu_s": round(people, 2),
        "events_of_day": count,
        "drawing_ns": round(drawing / count * 1e9),
        "writing_ns": round((both - drawing) / count * 1e9),
        "reference_ns": round(reference / count * 1e9, 1),
        "day_ratio": round(both / reference, 1),
    }


def measure_log(coverage: Coverage, weeks: int, events: int, queries: bool, folder: Path) -> dict[str, float]:
    """Measure a whole log, including making the people."""
    wall, cpu = time.perf_counter(), time.process_time()
    log = simulate(folder / "log", coverage, FIRST, weeks, events, 7, queries=queries)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "events": log.events,
        "seconds": round(wall, 1),
        "cpu_s": round(cpu, 1),
        "cpu_ns_per_event": round(cpu / log.events * 1e9),
        "megabytes": round(log.bytes / 1e6),
        "bytes_per_event": round(log.bytes / log.events, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def _bare_write(count: int, folder: Path) -> None:
    rng = np.random.default_rng(1)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("t", {"a": rng.integers(0, 2**21, count), "b": rng.integers(0, 2**15, count)})
        connection.execute(f"COPY t TO '{folder / 'bare.parquet'}' (FORMAT parquet)")


def main() -> int:
    """Measure a day and a log."""
    parser = parser_of(__doc__)
    parser.add_argument("--events-per-week", type=int, default=10_000_000)
    parser.add_argument("--weeks", type=int, default=3)
    parser.add_argument("--queries", action="store_true", help="a log of queries instead of categories")
    args = parser.parse_args()
    coverage = united_states()
    with tempfile.TemporaryDirectory() as folder:
        day = measure_day(coverage, args.events_per_week, args.queries, Path(folder))
        log = measure_log(coverage, args.weeks, args.events_per_week, args.queries, Path(folder))
    showed = (
        f"{log['events'] / log['seconds'] / 1e6:.1f} million events a second, {log['cpu_ns_per_event']:.0f} ns of CPU "
        f"per event; a day takes {day['day_ratio']:.1f} times the CPU of DuckDB writing two columns of numbers"
    )
    return print_result(Result(showed, {"day": day, "log": log}))


if __name__ == "__main__":
    sys.exit(main())
