"""Write the tables of docs/performance.md from the recorded measurements in evidence/results.

    python -m evidence.performance_tables

The blocks between markers are written anew; a test compares them with the records, so that no measured number is pasted
by hand.
"""

from collections.abc import Sequence
from typing import Any

from evidence import cluster_plan
from evidence.measuring import ROOT, read_record
from evidence.pages import filled, markdown_table, ratio_text
from evidence.peer_rates import OURS, Rates, least, rates, ratio

LESS = "without X4"  # ends the name of a run that asks for less than its library can express
PAGE = ROOT / "docs" / "performance.md"


def growth_lines(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Lay out the measurements of the benchmark `growth`; fields that the table does not show may be missing."""
    header = ("engine", "searches", "users", "time", "CPU", "CPU a search", "peak memory", "shuffled", "spilled")
    rows = [
        [
            entry["engine"],
            _millions(entry["events"]),
            _millions(entry["users"]),
            f"{entry['seconds']:.1f} s",
            f"{entry['cpu_seconds']:.1f} s",
            f"{1e6 * entry['cpu_seconds'] / entry['events']:.2f} us",
            f"{entry['peak_gb']:.2f} GB",
            _bytes(entry.get("shuffle_bytes")),
            _bytes(entry.get("spilled_bytes")),
        ]
        for entry in sorted(entries, key=lambda entry: (entry["engine"], entry["events"]))
    ]
    return markdown_table(header, rows)


def further_lines(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Say what each further search costs on both engines, if both were measured at the same two sizes or more.

    It is the growth from the smallest to the largest of these logs, so that starting, planning and compiling are left
    out.
    """
    both = [{entry["events"] for entry in entries if entry["engine"] == engine} for engine in ("duckdb", "spark")]
    sizes = both[0] & both[1]
    if len(sizes) < 2:
        return []
    least, largest = min(sizes), max(sizes)
    same = [entry for entry in entries if entry["events"] in sizes]
    of = {engine: [entry for entry in same if entry["engine"] == engine] for engine in ("duckdb", "spark")}
    duckdb, spark = (1e6 * cluster_plan.slope(of[engine], "cpu_seconds") for engine in ("duckdb", "spark"))
    shuffled = cluster_plan.slope(of["spark"], "shuffle_bytes")
    span = f"From {_millions(least)} to {_millions(largest)} searches"
    cost = f"each further search takes {duckdb:.2f} us of CPU on DuckDB and {spark:.2f} us on Spark"
    return ["", f"{span}, {cost}, {spark / duckdb:.1f} times as much, and Spark shuffles {shuffled:.1f} bytes for it."]


def peers_lines(record: dict[str, Any]) -> list[str]:
    """Lay out the measurements of the benchmark `peers`, how they were made and how they compare."""
    runs = record["runs"]
    low, high = record["load"]
    found = rates(runs)
    worst = max(run["off"] for run in runs)
    made = (
        f"Measured in one run on {record['date']}, on {record['machine']}, load {low:g} to {high:g}, with "
        f"`{record['command']}`; the least time of each is shown. In all {len(runs)} runs the sums of the states' "
        f"counts differ from the truth by at most {worst:.1f} standard deviations of their noise."
    )
    return [*_peers_table(runs, found), "", made, "", " ".join(comparison(runs))]


def _peers_table(runs: Sequence[dict[str, Any]], found: Sequence[Rates]) -> list[str]:
    ours, by_who = found[0], {each.who: each for each in found}
    order = list(by_who)
    rows = []
    for run in sorted(least(runs), key=lambda run: (order.index(run["who"]), run["events"])):
        its = by_who[run["who"]]
        rate = run["events"] / run["seconds"]
        marginal = its.marginal if run["events"] == its.events else None
        rows.append(
            [
                run["who"],
                f"{run['events']:,}",
                f"{run['seconds']:.1f} s",
                f"{1e6 * run['cpu'] / run['events']:.2f} us",
                f"{rate:,.0f}",
                ratio_text(ratio(ours.whole, rate)),
                f"{marginal:,.0f}" if marginal else "",
                ratio_text(ratio(ours.marginal, marginal)),
            ]
        )
    header = ("who", "searches", "time", "CPU a search", "searches a second", "times slower")
    return markdown_table((*header, "further searches a second", "times slower"), rows)


def comparison(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Say in sentences how many times as fast this program is as the fastest of the others."""
    found = rates(runs)
    less = [each for each in found[1:] if each.who.endswith(LESS)]
    sentences = []
    if near := [each for each in found[1:] if each not in less]:
        closest = "the fastest library that comes as close to X1 to X4 as it can express"
        sentences.append(f"Compared with {closest}, this program did {_beside(found, near)}.")
    if less:
        sentences.append(f"Compared with {less[0].who}, which asks for less, it did {_beside(found, less)}.")
    size = max(run["events"] for run in runs if run["who"] != OURS)
    same = {run["events"]: run["seconds"] for run in least(runs) if run["who"] == OURS}
    ending = ""
    if size in same:
        on_same = min(each.seconds / same[each.events] for each in found[1:] if each.events in same)
        ending = f"; on the latter this program took {ratio_text(1 / on_same)} times as long as the fastest of all"
    return [*sentences, f"The logs had {found[0].events:,} searches here and {size:,} there{ending}."]


def _beside(found: Sequence[Rates], others: Sequence[Rates]) -> str:
    ours = found[0]
    whole = min(ours.whole / each.whole for each in others)
    slopes = [slope for each in others if (slope := ratio(ours.marginal, each.marginal))]
    further = f", and {ratio_text(min(slopes))} times as many further searches" if len(slopes) == len(others) else ""
    return f"{ratio_text(whole)} times as many searches a second in whole runs{further}"


def _millions(number: int) -> str:
    return f"{number / 1e6:,.{0 if number >= 1e7 or number % 1_000_000 == 0 else 1}f} million"


def _bytes(number: int | None) -> str:
    return "" if number is None else f"{number / 1e6:,.0f} MB"


def blocks() -> dict[str, list[str]]:
    """Lay out all blocks of the page."""
    return {
        "growth table": [*growth_lines(read_record("growth")), *further_lines(read_record("growth"))],
        "peers table": peers_lines(read_record("peers")),
        "plan": ["```", *cluster_plan.shown().splitlines(), "```"],
    }


def main() -> None:
    """Write the tables."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks()), encoding="utf-8")


if __name__ == "__main__":
    main()
