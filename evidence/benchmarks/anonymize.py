"""How fast a week is anonymized, as a ratio to DuckDB counting its distinct users day by day.

    python -m evidence.benchmarks.anonymize [--events 50e6 ...] [--text-ids] [--row-group 1000000] [--rounds 3]

The log has 3 million users, 7 days, one Parquet file a day, every ZIP code area, 3 % of searches about vaccination.
Reference, bounding and the whole command (from process start to commit) are measured in turn, several times, and the
least time of each is taken, because other work on the machine only ever adds time.
"""

import sys
import tempfile
import time
from pathlib import Path

from evidence.inputs import MONDAY, ROW_GROUP, make_log
from evidence.measuring import PROGRAM, Result, in_own_process, parser_of, print_result, united_states
from evidence.watched import watch
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.weeks import Week
from search_insights.support.sql import connect


def reference(log: Path) -> float:
    """Return the seconds that DuckDB takes to count the distinct users of each day."""
    with connect() as connection:
        begin = time.perf_counter()
        for file in sorted(log.glob("*.parquet")):
            connection.execute(f"SELECT count(DISTINCT user_id) FROM '{file}'").fetchall()
        return time.perf_counter() - begin


def bounding(log: Path) -> float:
    """Return the seconds that the program's engine takes to bound each day."""
    coverage = united_states()
    week = Week(MONDAY, coverage.spec.time_zone)
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        begin = time.perf_counter()
        for day in week.days:
            engine.bound(day, *week.day_bounds(day))
        return time.perf_counter() - begin


def command(log: Path) -> tuple[float, float]:
    """Run the whole command; return its seconds and its peak memory in GB."""
    with tempfile.TemporaryDirectory() as scratch:
        used = watch([PROGRAM, "anonymize", str(log), "--store", f"{scratch}/store.db", "--week", str(MONDAY)])
        return used.seconds, used.peak_gb


def measure(events: int, text_ids: bool, row_group: int, rounds: int) -> dict[str, float]:
    """Measure everything on one log."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name)
        make_log(log, events, text_ids=text_ids, row_group=row_group)
        times: dict[str, list[float]] = {"reference": [], "bounding": [], "command": [], "memory_gb": []}
        for _ in range(rounds):
            times["reference"].append(in_own_process(reference, log))
            times["bounding"].append(in_own_process(bounding, log))
            seconds, memory = command(log)
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


def main() -> int:
    """Measure a log of each size."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, nargs="+", default=[50e6])
    parser.add_argument("--text-ids", action="store_true", help="user ids of 32 characters")
    parser.add_argument("--row-group", type=int, default=ROW_GROUP)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    numbers = [measure(int(events), args.text_ids, args.row_group, args.rounds) for events in args.events]
    showed = "; ".join(
        f"{row['events'] / 1e6:g} million searches: DuckDB's count of distinct users takes {row['reference']:.2f} s, "
        f"bounding {row['bounding_ratio']:.2f} times and the whole command {row['command_ratio']:.2f} times as long, "
        f"at most {row['memory_gb']:.2f} GB"
        for row in numbers
    )
    return print_result(Result(showed, numbers))


if __name__ == "__main__":
    sys.exit(main())
