"""How fast a week is anonymized, as a ratio to DuckDB counting its distinct users day by day.

    python -m evidence.benchmarks.anonymize [--events 50e6 ...] [--specs vaccination-v1 vaccination-v2] [--text-ids]
                                            [--row-group 1000000] [--rounds 3]

The log has 3 million users, 7 days, one Parquet file a day, every ZIP code area, 3 % of searches about vaccination.
Reference, bounding and the whole command (from process start to commit) are measured in turn, several times. A ratio is
the median of those of the rounds, because the speed of a shared machine changes from one minute to the next; times are
the least of all rounds. On a busy machine only the ratios of CPU time mean something.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from evidence.inputs import MONDAY, ROW_GROUP, make_log
from evidence.measuring import PROGRAM, Result, in_own_process, parser_of, print_result
from evidence.watched import Used, watch
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.spec.weeks import Week
from search_insights.support.sql import connect


@dataclass(frozen=True)
class Cost:
    """What something took, in seconds."""

    seconds: float
    cpu: float

    @classmethod
    def least(cls, costs: Sequence["Cost"]) -> "Cost":
        """Return the least of each."""
        return cls(min(cost.seconds for cost in costs), min(cost.cpu for cost in costs))


@contextmanager
def measured(found: list[float]) -> Iterator[None]:
    """Add the seconds and the CPU seconds of this process to a list."""
    begin, cpu = time.perf_counter(), time.process_time()
    yield
    found += [time.perf_counter() - begin, time.process_time() - cpu]


def reference(log: Path) -> list[float]:
    """Return the seconds and CPU seconds that DuckDB takes to count the distinct users of each day."""
    found: list[float] = []
    with connect() as connection, measured(found):
        for file in sorted(log.glob("*.parquet")):
            connection.execute(f"SELECT count(DISTINCT user_id) FROM '{file}'").fetchall()
    return found


def bounding(log: Path, spec: Path) -> list[float]:
    """Return the seconds and CPU seconds that the program's engine takes to bound each day."""
    coverage = Coverage(load_spec(str(spec)), load_geography())
    week = Week(MONDAY, coverage.spec.time_zone)
    found: list[float] = []
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine, measured(found):
        for day in week.days:
            engine.bound(day, *week.day_bounds(day))
    return found


def command(log: Path, spec: str) -> Used:
    """Run the whole command."""
    with tempfile.TemporaryDirectory() as scratch:
        store = ("--store", f"{scratch}/store.db", "--spec", spec)
        return watch([PROGRAM, "anonymize", str(log), *store, "--week", str(MONDAY)])


@dataclass(frozen=True)
class Round:
    """What was measured one after the other."""

    reference: Cost
    bounding: Cost
    command: Cost
    memory_gb: float


def measure(events: int, specs: Sequence[str], text_ids: bool, row_group: int, rounds: int) -> list[dict[str, Any]]:
    """Measure everything on one log."""
    found: dict[str, list[Round]] = {spec: [] for spec in specs}
    with tempfile.TemporaryDirectory() as name:
        log = Path(name)
        make_log(log, events, text_ids=text_ids, row_group=row_group)
        for _ in range(rounds):
            for spec, of_spec in found.items():
                before = (Cost(*in_own_process(reference, log)), Cost(*in_own_process(bounding, log, Path(spec))))
                used = command(log, spec)
                of_spec.append(Round(*before, Cost(used.seconds, used.cpu), used.peak_gb))
    return [
        {"events": events, "spec": spec, "text_ids": text_ids, "row_group": row_group}
        | _ratios(of_spec)
        | {"bounding_ns_per_event": round(1e9 * min(each.bounding.seconds for each in of_spec) / events, 1)}
        for spec, of_spec in found.items()
    ]


def _ratios(rounds: Sequence[Round]) -> dict[str, float]:
    parts = ("reference", "bounding", "command")
    least = {part: Cost.least([getattr(each, part) for each in rounds]) for part in parts}

    def ratio(part: str, of: str) -> float:
        found: list[float] = [getattr(getattr(each, part), of) / getattr(each.reference, of) for each in rounds]
        return round(median(found), 2)

    return {
        **{name: round(cost.seconds, 3) for name, cost in least.items()},
        **{f"{name}_cpu": round(cost.cpu, 3) for name, cost in least.items()},
        "memory_gb": round(max(each.memory_gb for each in rounds), 3),
        "bounding_ratio": ratio("bounding", "seconds"),
        "command_ratio": ratio("command", "seconds"),
        "bounding_cpu_ratio": ratio("bounding", "cpu"),
        "command_cpu_ratio": ratio("command", "cpu"),
    }


def main() -> int:
    """Measure a log of each size."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, nargs="+", default=[50e6])
    parser.add_argument("--specs", nargs="+", default=list(PACKAGED_SPECS))
    parser.add_argument("--text-ids", action="store_true", help="user ids of 32 characters")
    parser.add_argument("--row-group", type=int, default=ROW_GROUP)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    numbers = [
        row
        for events in args.events
        for row in measure(int(events), args.specs, args.text_ids, args.row_group, args.rounds)
    ]
    showed = "; ".join(
        f"{row['events'] / 1e6:g} million searches, {row['spec']}: DuckDB's count of distinct users takes "
        f"{row['reference']:.2f} s, bounding {row['bounding_ratio']:.2f} times and the whole command "
        f"{row['command_ratio']:.2f} times as long ({row['bounding_cpu_ratio']:.2f} and "
        f"{row['command_cpu_ratio']:.2f} times the CPU), at most {row['memory_gb']:.2f} GB"
        for row in numbers
    )
    return print_result(Result(showed, numbers))


if __name__ == "__main__":
    sys.exit(main())
