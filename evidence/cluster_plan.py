"""Plan the counting of a national log from the recorded measurements: cores, memory, shuffle, money.

    python -m evidence.cluster_plan [--events-a-day 10e9] [--hours 2] [--price 0.05]

The cost of a search is the slope between the smallest and the largest log measured on Spark, which leaves out the cost
of starting and planning, because that does not grow. Prices, the share of time that cores are busy and the equipment of
a node are assumed.
"""

import math
from typing import Any

from evidence.measuring import parser_of, read_record
from search_insights.commands.console import out, table

BUSY = 0.6  # the share of a cluster's core-hours that its tasks compute
NODE_CORES, NODE_GBIT, NODE_DISK_GB = 16, 12.5, 1.0  # the latter two a second
MEMORY_A_CORE_GB = 4
PASSES = 2  # over the log: one to bound it, one to count its rows by time


def slope(runs: list[dict[str, Any]], quantity: str) -> float:
    """Return the growth of a quantity per event; if there is one run only, all of it per event, which is more."""
    first, last = min(runs, key=lambda r: int(r["events"])), max(runs, key=lambda r: int(r["events"]))
    if first is last:
        return float(last[quantity]) / float(last["events"])
    return float(last[quantity] - first[quantity]) / float(last["events"] - first["events"])


def plan(runs: list[dict[str, Any]], events: float, hours: float, price: float) -> list[tuple[str, str, str]]:
    """List what one day's searches need, how much of it, and what that follows from."""
    of = {engine: [run for run in runs if run["engine"] == engine] for engine in ("duckdb", "spark")}
    cpu, shuffle, kept = (slope(of["spark"], q) for q in ("task_cpu_seconds", "shuffle_bytes", "kept_bytes"))
    read = PASSES * slope(of["duckdb"], "log_bytes")
    alone = slope(of["duckdb"], "cpu_seconds")
    core_hours = events * cpu / 3600 / BUSY
    nodes = math.ceil(core_hours / hours / NODE_CORES)
    cores = nodes * NODE_CORES
    network = nodes * NODE_GBIT / 8 * 1e9
    return [
        ("CPU of tasks", f"{events * cpu / 3600:,.1f} core-hours", f"{1e6 * cpu:.2f} us a search"),
        ("core-hours to pay", f"{core_hours:,.1f}", f"cores busy {BUSY:.0%} of the time"),
        ("nodes", f"{nodes:,}", f"of {NODE_CORES} cores, to be done in {hours:g} hours"),
        ("time", f"{core_hours / cores:,.1f} hours", f"on {cores:,} cores"),
        ("memory", f"{cores * MEMORY_A_CORE_GB:,.0f} GB", f"{MEMORY_A_CORE_GB} GB a core"),
        ("kept in memory, or else on disk", f"{events * kept / 1e12:,.2f} TB", f"{kept:.1f} bytes a search"),
        ("shuffled, on disk", f"{events * shuffle / 1e12:,.2f} TB", f"{shuffle:.1f} bytes a search"),
        ("read from storage", f"{events * read / 1e12:,.2f} TB", f"{read / PASSES:.1f} bytes a search, {PASSES} times"),
        (
            "time on the network",
            f"{events * (shuffle + read) / network / 60:,.1f} minutes",
            f"{NODE_GBIT:g} Gbit/s a node",
        ),
        (
            "time on the disks",
            f"{2 * events * (shuffle + kept) / nodes / NODE_DISK_GB / 1e9 / 60:,.1f} minutes",
            f"written and read again, {NODE_DISK_GB:g} GB/s a node",
        ),
        ("money", f"${core_hours * price:,.2f} a day", f"${price:g} a core-hour"),
        (
            "the same on DuckDB",
            f"{events * alone / 3600:,.1f} core-hours",
            f"{1e6 * alone:.2f} us a search, one machine",
        ),
    ]


def shown(events: float = 10e9, hours: float = 2.0, price: float = 0.05) -> str:
    """Lay out the plan as a table."""
    return table(("what", "how much", "from"), plan(read_record("growth"), events, hours, price))


def main() -> None:
    """Print the plan."""
    parser = parser_of(__doc__)
    parser.add_argument("--events-a-day", type=float, default=10e9)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument(
        "--price", type=float, default=0.05, help="of a core-hour with its memory, in dollars (assumed)"
    )
    args = parser.parse_args()
    out(shown(args.events_a_day, args.hours, args.price))


if __name__ == "__main__":
    main()
