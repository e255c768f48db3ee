"""What top searches show of a simulated week, how much of it is right, and what they cost.

    python -m evidence.benchmarks.top_searches [--events 10e6 40e6] [--cost-events 50e6] [--cost-rounds 6] [--record]

For each size a log of query texts is simulated and anonymized by the program itself. What its store shows is compared
with the people who typed each text, which the simulator knows. The true top 10 of a place are the texts of topics that
most people typed there, whether or not they are made of the public vocabulary; a place with a shorter list misses some.
Trend values are those that the same week publishes with the sigmas of `vaccination-v2`, next to the smaller ones that
the same promise would allow without texts. The cost is the CPU of the whole command, next to the same command with the
same spec without [top_searches], in turn; the least of each is taken. With --record the numbers go to
evidence/results/top_searches.json, and into the tables of docs/top-searches.md.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from evidence.benchmarks.specs import Counted, counted, outcome
from evidence.measuring import PROGRAM, RESULTS, Result, parser_of, print_result, write_json
from evidence.top_searches_tables import cost_lines, lists_table, values_table, write_pages
from evidence.watched import watch
from search_insights.calibration.calibration import calibrate
from search_insights.commands.console import note
from search_insights.evaluation.text_truth import write_text_truth
from search_insights.simulation.planted import OF_FIVE, OF_ONE
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.store.opening import open_store
from search_insights.store.top_searches import TopSearchWeek
from search_insights.support.arrays import Bools, Counts
from search_insights.support.sql import connect, literal

SPEC = "vaccination-v2"
WEEK = date(2021, 3, 8)
SEED = 7
TEN = 10
LARGE = 10  # states
MOST_CPU, COST_EVENTS = 1.3, 50e6
SECTION = "[top_searches]\n"


def packaged() -> Coverage:
    """Load the spec with top searches, and its geography."""
    return Coverage(load_spec(SPEC), load_geography())


def anonymized(log: Path, store: Path, spec: str) -> float:
    """Anonymize the week with the program itself; return the CPU seconds that it took, with all it starts.

    The store gets a folder of its own: beside the journal of another one, the week would be refused.
    """
    store.parent.mkdir()
    return watch([PROGRAM, "anonymize", str(log), "--store", str(store), "--week", str(WEEK), "--spec", spec]).cpu


def lists(coverage: Coverage, shown: TopSearchWeek, truth: Path) -> dict[str, Any]:
    """Compare what is shown with the people who typed it: in the country, in large states, in the middle one."""
    cells = CellList(coverage)
    top, states = coverage.spec.top_searches, [cells.regions[i] for i in cells.coarsest]
    places = [coverage.geography.country.place_id, *(state.place_id for state in states)]
    true = users_of(truth)
    least = [top.total_threshold, *[top.region_shown_from] * len(states)] if top else []
    listed = shown.noisy >= np.array(least)
    right = np.array([_right(shown, i, listed[:, i], true[place]) for i, place in enumerate(places)])
    texts = listed.sum(axis=0)
    large = 1 + np.argsort([-(state.population or 0) for state in states])[:LARGE]
    return {
        "country texts": int(texts[0]),
        "country right": int(right[0]),
        "large state texts": float(np.median(texts[large])),
        "large state right": float(right[large].mean()),
        "median state texts": float(np.median(texts[1:])),
        "median state right": float(np.median(right[1:])),
        "states": len(states),
        "states with ten": int((texts[1:] >= TEN).sum()),
        "states with none": int((texts[1:] == 0).sum()),
        "planted": planted_in([text.text for text in shown.texts]),
    }


def users_of(truth: Path) -> dict[str, dict[str, int]]:
    """Return how many people typed each text, by place."""
    found: dict[str, dict[str, int]] = {}
    with connect() as connection:
        rows = connection.execute(f"""
            SELECT place_id, query, sum(users) FROM {literal(str(truth))} GROUP BY ALL""").fetchall()
    for place, text, users in rows:
        found.setdefault(place, {})[text] = int(users)
    return found


def _right(shown: TopSearchWeek, place: int, listed: Bools, true: Mapping[str, int]) -> int:
    """Return how many of the first ten of a list are among the ten texts that most people typed; ties are right."""
    tenth = sorted(true.values(), reverse=True)[:TEN][-1]
    order = np.flatnonzero(listed)
    first = order[np.argsort(-shown.noisy[order, place], kind="stable")][:TEN]
    return sum(true.get(shown.texts[i].text, 0) >= tenth for i in first.tolist())


def planted_in(texts: Sequence[str]) -> int:
    """Return how many texts have one of the personal texts in them."""
    return sum(any(personal in text for personal in (*OF_ONE, *OF_FIVE)) for text in texts)


def trend_values(named: SimulatedLog, coverage: Coverage, rounds: int) -> dict[str, Any]:
    """Return the values that the week publishes with texts beside them, and with the sigmas that would do without."""
    alone = calibrate(replace(coverage.spec, top_searches=None), coverage.spec.promise)
    counts: Counts = counted(named, coverage)
    found: dict[str, Any] = {"rounds": rounds, "sigmas": coverage.spec.sigmas[0].value / alone.sigmas[0].value}
    for name, spec in (("with", coverage.spec), ("without", alone)):
        of = outcome(Counted(CellList(replace(coverage, spec=spec)), (WEEK,), counts), rounds)
        levels = np.array(of.levels)
        found[name] = {
            str(level): round(int(of.published[:, levels == level].sum()) / rounds, 1)
            for level in dict.fromkeys(levels)
        }
    return found


def measure_week(events: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Simulate, anonymize and look at a week."""
    coverage = packaged()
    log, named, truth, store = (folder / name for name in ("log", "named", "truth.parquet", "store/store.db"))
    named.mkdir()
    written = simulate(log, coverage, WEEK, 1, events, SEED, queries=True, truth=truth, named=named, progress=note)
    texts = write_text_truth(truth, log, named, written.weeks, coverage)
    note(f"{events:,} events: anonymize")
    anonymized(log, store, SPEC)
    with open_store(store) as opened:
        shown = opened.top_searches(WEEK)
    if shown is None:
        raise SystemExit("the store has no texts")
    values = trend_values(replace(written, folder=named), coverage, rounds)
    return {"events": events, **lists(coverage, shown, texts), "values": values}


def measure_cost(events: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Anonymize one log with and without top searches, in turn."""
    file = resources.files("search_insights.spec") / "packaged" / f"{SPEC}.toml"
    whole = file.read_text(encoding="utf-8")
    plain = folder / "plain.toml"
    plain.write_text(whole[: whole.index(SECTION)], encoding="utf-8")  # it is the last section
    simulate(folder / "log", packaged(), WEEK, 1, events, SEED, queries=True, progress=note)
    cpu: dict[str, list[float]] = {"with": [], "without": []}
    for number in range(rounds):
        for name, spec in (("without", str(plain)), ("with", SPEC)):
            note(f"{events:,} events, {name} texts, round {number + 1} of {rounds}")
            cpu[name].append(anonymized(folder / "log", folder / f"{name}-{number}" / "store.db", spec))
    return {"events": events, "rounds": rounds, "cpu": cpu, "ratio": min(cpu["with"]) / min(cpu["without"])}


def broken(found: Mapping[str, Any]) -> list[str]:
    """List what does not hold: no personal text is shown, and the cost at the size for which there is a goal."""
    wrong = [f"{row['events']:,} events: {row['planted']} planted texts" for row in found["weeks"] if row["planted"]]
    cost = found["cost"]
    if cost["events"] >= COST_EVENTS and cost["ratio"] > MOST_CPU:
        wrong.append(f"{cost['ratio']:.2f} times the CPU, more than {MOST_CPU}")
    return wrong


def showed(found: Mapping[str, Any]) -> str:
    """Say in one sentence what was found."""
    weeks = "; ".join(
        f"{row['events'] / 1e6:g} million searches: {row['country texts']:,} texts in the country, "
        f"{row['country right']} of the true top 10; {row['large state texts']:g} in a large state, "
        f"{row['median state texts']:g} in the median one, ten or more in {row['states with ten']} of "
        f"{row['states']}; {row['planted']} planted ones"
        for row in found["weeks"]
    )
    cost = found["cost"]
    size = f"{cost['events'] / 1e6:g} million"
    return f"{weeks}; at {size}, {cost['ratio']:.2f} times the CPU of the same week without texts"


def main() -> int:
    """Measure weeks of each size, and the cost."""
    parser = parser_of(__doc__)
    parser.add_argument("--events", type=float, nargs="+", default=[10e6, 40e6])
    parser.add_argument("--cost-events", type=float, default=50e6)
    parser.add_argument("--rounds", type=int, default=2, help="of noise for trend values")
    parser.add_argument("--cost-rounds", type=int, default=6, help="of each command: other work only ever adds time")
    parser.add_argument("--record", action="store_true", help="write evidence/results/top_searches.json and its tables")
    args = parser.parse_args()
    found: dict[str, Any] = {"at": f"{datetime.now():%Y-%m-%d}", "weeks": []}
    for events in args.events:
        with tempfile.TemporaryDirectory() as folder:
            found["weeks"].append(measure_week(int(events), args.rounds, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        found["cost"] = measure_cost(int(args.cost_events), args.cost_rounds, Path(folder))
    if args.record:
        write_json(RESULTS / "top_searches.json", found)
        write_pages(found)
    details = [*lists_table(found), "", *values_table(found), "", *cost_lines(found)]
    return print_result(Result(showed(found), found, details, broken(found)))


if __name__ == "__main__":
    sys.exit(main())
