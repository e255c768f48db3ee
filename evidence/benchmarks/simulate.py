"""How fast a log is simulated, and what a day costs: drawing it, and writing it as Parquet.

    python -m evidence.benchmarks.bench_simulate.py [--events-per-week N] [--weeks N] [--queries]

Wall time depends on how busy the machine is; CPU time per event does so much less. What DuckDB takes to write two
columns of random numbers is the yardstick.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import numpy as np

from search_insights.simulation.day import day_columns, events_on, make_world
from search_insights.simulation.files import open_writer, write_day
from search_insights.simulation.simulation import EVENTS_PER_USER, PEAK_SHARE, simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import week_of

FIRST = date(2021, 3, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events-per-week", type=int, default=10_000_000)
    parser.add_argument("--weeks", type=int, default=3)
    parser.add_argument("--queries", action="store_true")
    args = parser.parse_args()
    coverage = Coverage(load_spec(), load_geography())
    with tempfile.TemporaryDirectory() as folder:
        of_day(coverage, args.events_per_week, args.queries, Path(folder))
        whole(coverage, args.weeks, args.events_per_week, args.queries, Path(folder))


def of_day(coverage: Coverage, events: int, queries: bool, folder: Path) -> None:
    users = max(1, events // EVENTS_PER_USER)
    begin = time.thread_time()
    world = make_world(coverage, 7, events, users, PEAK_SHARE, queries)
    print(f"settling {users:,} people, once: {time.thread_time() - begin:.2f} s of CPU")
    week = week_of(coverage.spec, FIRST)
    count = events_on(world, week, FIRST)
    with open_writer(world) as connection:
        drawing = _best(lambda: day_columns(world, week, FIRST))
        both = _best(lambda: write_day(connection, world, week, FIRST, folder, {}))
    print(f"one day, one thread, {count:,} events, ns of CPU per event:")
    print(f"  drawing {drawing / count * 1e9:.0f}, writing {(both - drawing) / count * 1e9:.0f}")
    print(f"  bare write of two columns of numbers {_best(lambda: _bare_write(count, folder)) / count * 1e9:.0f}")


def whole(coverage: Coverage, weeks: int, events: int, queries: bool, folder: Path) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    log = simulate(folder / "log", coverage, FIRST, weeks, events, 7, queries=queries)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{log.events:,} events in {wall:.1f} s: {log.events / wall / 1e6:.1f} million a second")
    print(f"  CPU {cpu:.1f} s, {cpu / log.events * 1e9:.0f} ns per event, the people's settling included")
    print(f"  files {log.bytes / 1e6:,.0f} MB, {log.bytes / log.events:.1f} bytes per event; peak memory {peak:.0f} MB")


def _bare_write(count: int, folder: Path) -> None:
    rng = np.random.default_rng(1)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("t", {"a": rng.integers(0, 2**21, count), "b": rng.integers(0, 2**15, count)})
        connection.execute(f"COPY t TO '{folder / 'bare.parquet'}' (FORMAT parquet)")


def _best(work: Callable[[], object], times: int = 3) -> float:
    """Take the CPU time of the best run: the others had company."""
    taken = []
    for _ in range(times):
        begin = time.thread_time()
        work()
        taken.append(time.thread_time() - begin)
    return min(taken)


if __name__ == "__main__":
    main()
