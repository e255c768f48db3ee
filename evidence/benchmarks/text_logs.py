"""How fast logs of text are read and bounded, as a ratio to DuckDB counting the rows of the same file.

    python -m evidence.benchmarks.text_logs [--events 7e6] [--rounds 3]

The same week of searches, with users that are text, is written as one file of each format, and times as text with an
offset. The reference is DuckDB's plain `read_csv` or `read_json`, which looks at every column of the file once.
`open` is what the program does before the first day is counted: it reads and checks every row and keeps a private copy.
`week` also bounds the seven days. Each is measured in a process of its own, several times in turn, and the least time
is taken, because other work on the machine only ever adds time; CPU seconds are those of that run.
"""

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence.inputs import MONDAY, make_log
from evidence.measuring import Result, in_own_process, parser_of, print_result, united_states
from evidence.pages import markdown_table
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.weeks import Week
from search_insights.support.sql import connect

FORMATS = {
    "log.parquet": "FORMAT parquet",
    "log.csv": "FORMAT csv, HEADER",
    "log.csv.gz": "FORMAT csv, HEADER, COMPRESSION gzip",
    "log.jsonl": "FORMAT json",
    "log.jsonl.gz": "FORMAT json, COMPRESSION gzip",
}
WANTED = {"log.csv": 1e6, "log.jsonl": 1e6, "log.csv.gz": 0.6e6, "log.jsonl.gz": 0.6e6}  # rows a second, 2 cores
COLUMNS = "user_id, timestamp, region, category"


def make_files(folder: Path, events: int) -> None:
    """Write the same log in each format, each as one file."""
    parts = folder / "parts"
    parts.mkdir()
    make_log(parts, events, text_ids=True, users=max(1, events // 17))
    with connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, options in FORMATS.items():
            times = "timestamp" if name == "log.parquet" else "strftime(timestamp, '%Y-%m-%dT%H:%M:%S.%fZ')"
            rows = f"SELECT * REPLACE ({times} AS timestamp) FROM '{parts}/*.parquet'"
            connection.execute(f"COPY ({rows}) TO '{folder / name}' ({options})")


def reference(log: Path) -> dict[str, float]:
    """Return the seconds that DuckDB takes to count the values of every column, with its own guesses of types."""
    counts = ", ".join(f"count({column})" for column in COLUMNS.split(", "))
    with connect() as connection:
        begin, cpu = time.perf_counter(), time.process_time()
        connection.execute(f"SELECT {counts} FROM '{log}'").fetchall()
        return {"reference": time.perf_counter() - begin, "reference_cpu": time.process_time() - cpu}


def week(log: Path) -> dict[str, float]:
    """Return the seconds that the program takes to open a log, and to open it and bound its days."""
    coverage = united_states()
    days = Week(MONDAY, coverage.spec.time_zone)
    names = region_names(coverage)
    begin, cpu = time.perf_counter(), time.process_time()
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, names) as engine:
        opened, opened_cpu = time.perf_counter() - begin, time.process_time() - cpu
        events = sum(engine.bound(day, *days.day_bounds(day)).events for day in days.days)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {"open": opened, "open_cpu": opened_cpu, "week": seconds, "week_cpu": cpu, "events": events}


def measure(events: int, rounds: int) -> dict[str, dict[str, float]]:
    """Measure every format on the same log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, events)
        runs: dict[str, list[dict[str, float]]] = {file: [] for file in FORMATS}
        for _ in range(rounds):
            for file, found in runs.items():
                found.append(in_own_process(reference, folder / file) | in_own_process(week, folder / file))
        sizes = {file: (folder / file).stat().st_size / 1e6 for file in FORMATS}
    return {file: {"megabytes": round(sizes[file], 1)} | _least(found) for file, found in runs.items()}


def _least(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for part in ("reference", "open", "week"):
        least = min(runs, key=lambda run: run[part])
        best |= {part: round(least[part], 3), f"{part}_cpu": round(least[f"{part}_cpu"], 3)}
    events = runs[0]["events"]
    rates = {f"{part}_rows_a_second": round(events / best[part]) for part in ("open", "week")}
    return {"events": events} | best | rates | {"ratio": round(best["week"] / best["reference"], 2)}


def table(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Lay out the measurements, one row a format."""
    rows = [
        [
            name,
            f"{row['megabytes']:,.0f} MB",
            f"{row['reference']:.2f} s",
            f"{row['open']:.2f} s ({row['open_cpu']:.2f} s)",
            f"{row['week']:.2f} s ({row['week_cpu']:.2f} s)",
            f"{row['ratio']:.1f}",
            f"{row['week_rows_a_second'] / 1e6:.2f} million",
        ]
        for name, row in found.items()
    ]
    header = ("file", "size", "reference", "open (CPU)", "open and bound (CPU)", "ratio", "rows a second")
    return markdown_table(header, rows)


def main() -> int:
    """Measure all formats."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, default=7e6)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    found = measure(int(args.events), args.rounds)
    rates = ", ".join(
        f"{name.removeprefix('log.')} {row['week_rows_a_second'] / 1e6:.2f} ({row['ratio']:.1f} times its reference; "
        f"wanted {WANTED[name] / 1e6:g})"
        for name, row in found.items()
        if name in WANTED
    )
    counted = {row["events"] for row in found.values()}
    showed = f"{args.events / 1e6:g} million searches, read and bounded, in million rows a second: {rates}"
    broken = [] if len(counted) == 1 else ["the formats do not have the same searches"]
    return print_result(Result(showed, found, table(found), broken))


if __name__ == "__main__":
    sys.exit(main())
