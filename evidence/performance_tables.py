"""Write the tables of docs/scaling.md from the recorded measurements in evidence/results.

    python -m evidence.performance_tables

What stands between a marker such as `<!-- growth table -->` and the next `<!-- end -->` is written anew; a test
compares it with the records, so that no measured number is pasted by hand.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence import cluster_plan
from evidence.peer_rates import OURS, Rates, least, rates, ratio

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "evidence" / "results"
LESS = "without X4"  # so ends the name of a run that asks for less than its library can express
PAGE = ROOT / "docs" / "scaling.md"


def growth_lines(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Lay out the measurements of bench_growth; of each entry only what the table shows is looked at."""
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
    return _markdown(header, rows)


def peers_lines(record: dict[str, Any]) -> list[str]:
    """Lay out the measurements of bench_peers, and say how they were made and what they come to."""
    runs = record["runs"]
    low, high = record["load"]
    found = rates(runs)
    worst = max(run["off"] for run in runs)
    made = (
        f"Measured in one run on {record['date']}, on {record['machine']}, load {low:g} to {high:g}, with "
        f"`{record['command']}`; the least time of each is shown. In all {len(runs)} runs the sums of the states' "
        f"counts differ from the truth by {worst:.1f} standard deviations of their noise at most."
    )
    return [*_peers_table(runs, found), "", made, "", _comparison(runs, found)]


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
                _times(ratio(ours.whole, rate)),
                f"{marginal:,.0f}" if marginal else "",
                _times(ratio(ours.marginal, marginal)),
            ]
        )
    header = ("who", "searches", "time", "CPU a search", "searches a second", "times slower")
    return _markdown((*header, "further searches a second", "times slower"), rows)


def _comparison(runs: Sequence[dict[str, Any]], found: Sequence[Rates]) -> str:
    """Say how many times as fast this program is as the fastest of the others: with X4 where it can be had, and all."""
    near = [each for each in found[1:] if not each.who.endswith(LESS)]
    told = [f"Beside the fastest that is as near to X1 to X4 as it can be, this program did {_beside(found, near)}"]
    if less := [each for each in found[1:] if each not in near]:
        told.append(f"Beside {less[0].who}, which asks for less, it did {_beside(found, less)}")
    sizes = {run["events"] for run in runs if run["who"] != OURS}
    same = {run["events"]: run["seconds"] for run in least(runs) if run["who"] == OURS}
    told.append(f"The logs were of {found[0].events:,} searches here and {max(sizes):,} there")
    if max(sizes) in same:
        on_same = min(each.seconds / same[each.events] for each in found[1:] if each.events in same)
        told[-1] += f"; on the latter this program took {_times(1 / on_same)} times as long as the fastest of all"
    return ". ".join(told) + "."


def _beside(found: Sequence[Rates], others: Sequence[Rates]) -> str:
    ours = found[0]
    whole = min(ours.whole / each.whole for each in others)
    slopes = [slope for each in others if (slope := ratio(ours.marginal, each.marginal))]
    further = f", and {_times(min(slopes))} times as many further searches" if len(slopes) == len(others) else ""
    return f"{_times(whole)} times as many searches a second in whole runs{further}"


def _times(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _millions(number: int) -> str:
    return f"{number / 1e6:,.{0 if number >= 1e7 or number % 1_000_000 == 0 else 1}f} million"


def _bytes(number: int | None) -> str:
    return "" if number is None else f"{number / 1e6:,.0f} MB"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table of which all columns but the first are numbers."""
    rule = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


def filled(page: str, blocks: dict[str, list[str]]) -> str:
    """Put each block between its markers; ValueError if a page has not exactly one place for it."""
    for name, lines in blocks.items():
        pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(?=<!-- end -->\n)", re.DOTALL)
        block = "\n".join(lines)
        if len(pattern.findall(page)) != 1:
            raise ValueError(f"expected one block <!-- {name} --> ... <!-- end -->")
        before, after = pattern.split(page)[0], pattern.split(page)[-1]
        page = f"{before}<!-- {name} -->\n\n{block}\n\n{after}"
    return page


def read(name: str) -> Any:
    """Read a record of evidence/results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def blocks() -> dict[str, list[str]]:
    """Lay out all that the page takes from the records."""
    return {
        "growth table": growth_lines(read("growth")),
        "peers table": peers_lines(read("peers")),
        "plan": ["```", *cluster_plan.shown().splitlines(), "```"],
    }


def main() -> None:
    """Write the tables."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks()), encoding="utf-8")


if __name__ == "__main__":
    main()
