"""What `vaccination-v2` publishes next to `vaccination-v1`, on the same simulated log, each with fresh noise.

    python -m evidence.benchmarks.specs [--weeks 22] [--events-per-week 10000000] [--seed 7] [--rounds 1] [--record]

The log is counted exactly under each spec, noise is added, and what would be published is compared with the exact
counts of the same spec; --rounds adds fresh noise to the same counts again. Three logs unlike the one that the sigmas
were chosen for are made by scaling the exact counts. What one place a user-day and a union cost is the exact count of
v2 next to that of v1. With --record the numbers go to evidence/results/specs.json, and docs/images/specs.svg and the
tables of docs/choosing-a-spec.md are made from them. Counting takes most of the time and does not depend on sigmas:
with --counts the exact counts are kept in a folder, and used again if they are there.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from evidence.measuring import RESULTS, Result, parser_of, print_result, write_json
from evidence.specs_plot import draw
from evidence.specs_tables import coverage_table, values_table, write_pages
from search_insights.calibration.reference import OTHER_LOGS
from search_insights.commands.console import note
from search_insights.dp.noise import add_noise
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.support.arrays import Bools, Counts, Floats
from search_insights.trends.derive import Trends, trend_counts, trends_of, with_total
from search_insights.trends.sparsity import sparse_regions, window_of

FIRST_WEEK = date(2021, 1, 4)
FIRST_WEEKS = 4
V1, V2 = PACKAGED_SPECS
COVERAGE = (0.795, 0.84)
CLEAR = 10.0  # sigmas: a denominator that is clearly positive
DEVIATIONS = 4  # by which the coverage of a sample may be off, besides
LEAST_RATIO = 2.1
HALVED = "county", "postal_code"  # the median error of C3, where both publish


@dataclass(frozen=True)
class Counted:
    """The exact counts of a log under one spec, a row for each week."""

    cells: CellList
    weeks: tuple[date, ...]
    counts: Counts

    def first(self, weeks: int) -> "Counted":
        """Return the counts of the first weeks."""
        return Counted(self.cells, self.weeks[:weeks], self.counts[:weeks])

    def scaled(self, any_search: float, topics: float) -> "Counted":
        """Return the counts of a log with other numbers of searches; regions stay the sums of their children."""
        measures = len(self.cells.coverage.spec.measures)
        factors = np.array([any_search, *[topics] * (measures - 1)])
        shaped = np.rint(self.counts.reshape(len(self.weeks), -1, measures) * factors).astype(np.int64)
        if self.cells.rests:
            _add_up(self.cells, shaped)
        return Counted(self.cells, self.weeks, shaped.reshape(self.counts.shape))


def _add_up(cells: CellList, shaped: Counts) -> None:
    """Replace the counts of regions with children by the sums of these, from the finest level up."""
    levels = np.array([node.level for node in cells.nodes])
    for level in reversed(cells.coverage.spec.level_names[1:]):
        children = np.flatnonzero(levels == level)
        parents = cells.parents[children]
        shaped[:, np.unique(parents)] = 0
        np.add.at(shaped.swapaxes(0, 1), parents, shaped[:, children].swapaxes(0, 1))


def counted(log: SimulatedLog, coverage: Coverage) -> Counts:
    """Count a log exactly under a spec, as the program does before it adds noise; a row for each week."""
    cells, source = CellList(coverage), LogSource((str(log.folder),))
    names, span = region_names(coverage, source), (log.weeks[0].begin, log.weeks[-1].end)
    found = []
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        for week in log.weeks:
            note(f"{coverage.spec.name}: week {week}")
            tolerance = Tolerance(other_weeks=True)
            found.append(count_week(engine, cells, names, week, span, tolerance, lambda day: None).counts)
    return np.stack(found)


@dataclass(frozen=True)
class Outcome:
    """Every value of a log under one spec, with the axes (week, region, trend); each round of noise has its own weeks.

    What is published, whether the interval contains the truth, the relative error, whether the denominator is clearly
    positive (other intervals are unbounded), and whether the exact counts would have passed for reliable.
    """

    levels: Sequence[str]
    trends: Sequence[str]
    rounds: int
    published: Bools
    covered: Bools
    errors: Floats
    clear: Bools
    certain: Bools

    def at(self, level: str, trend: str) -> tuple[slice, Bools, int]:
        """Return where the values of a level and trend are."""
        return np.s_[:], np.array(self.levels) == level, self.trends.index(trend)


def outcome(of_spec: Counted, rounds: int = 1) -> Outcome:
    """Add fresh noise, so many times, and compare with the exact counts."""
    cells, true = of_spec.cells, exact(of_spec)
    sigmas = cells.sigmas.reshape(len(cells.nodes), -1)[: len(cells.regions), 0]
    clear = true[:, :, :1] > CLEAR * np.concatenate([[0.0], sigmas])[:, None]
    ratios, certain = shares(of_spec), trends_of(cells, of_spec.weeks, of_spec.counts).ratios.kept
    found: list[tuple[Bools, Bools, Floats]] = []
    for number in range(rounds):
        note(f"{cells.coverage.spec.name}: noise, round {number + 1} of {rounds}")
        noisy = np.stack([add_noise(week, cells.sigmas) for week in of_spec.counts])
        trends = trends_of(cells, of_spec.weeks, noisy)
        covered = (trends.ratios.low <= ratios) & (ratios <= trends.ratios.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append((_published(trends), covered, np.abs(trends.ratios.value / ratios - 1)))
    published, hits, errors = (np.concatenate(each) for each in zip(*found, strict=True))
    again = [np.tile(each, (rounds, 1, 1)) for each in (np.broadcast_to(clear, certain.shape), certain)]
    levels = [region.level for region in trends.regions]
    return Outcome(levels, [t.name for t in trends.spec.trends], rounds, published, hits, errors, *again)


def _published(trends: Trends) -> Bools:
    """Return which values are published: those that are reliable, except in sparse regions."""
    sparse = sparse_regions(trends, window_of(trends.spec.sparsity, trends.weeks, ())) or ()
    removed = np.isin([region.place_id for region in trends.regions], list(sparse))
    published: Bools = trends.ratios.kept & ~removed[None, :, None]
    return published


def exact(of_spec: Counted) -> Floats:
    """Return the exact counts of the total and the regions, with the axes (week, region, measure)."""
    cells = of_spec.cells
    shape = len(of_spec.weeks), len(cells.nodes), len(cells.coverage.spec.measures)
    shaped = of_spec.counts.reshape(shape)[:, : len(cells.regions)].astype(np.float64)
    return with_total(cells, shaped, np.zeros(shaped.shape[1:]))[0]


def shares(of_spec: Counted) -> Floats:
    """Return the exact ratios, with the axes (week, region, trend)."""
    true = exact(of_spec)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: Floats = trend_counts(of_spec.cells.coverage.spec, true) / true[:, :, :1]
    return ratios


def costs(v1: Counted, v2: Counted) -> dict[str, dict[str, float]]:
    """Return, by level and trend, the exact count of v2 next to that of v1: unions, and topics in one place."""
    found: dict[str, dict[str, float]] = {}
    country = v1.cells.coverage.geography.country
    levels = np.array([region.level for region in (country, *v1.cells.regions)])
    ours, theirs = (trend_counts(each.cells.coverage.spec, exact(each)).sum(axis=0) for each in (v2, v1))
    for level in dict.fromkeys(levels):
        here = levels == level
        sums = ours[here].sum(axis=0) / theirs[here].sum(axis=0)
        found[str(level)] = dict(zip((t.id for t in v1.cells.coverage.spec.trends), sums.tolist(), strict=True))
    return found


def differences(of_specs: Mapping[str, Counted], found: Mapping[str, Outcome]) -> dict[str, dict[str, Any]]:
    """Return, by level and trend, how much the exact shares of v2 differ from v1's, where both publish.

    What is the same for all regions, the quotient of the country's shares over all weeks, is taken out first.
    """
    ours, theirs = (shares(of_specs[name]) for name in (V2, V1))
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(ours / theirs / (ours[:, :1] / theirs[:, :1]).mean(axis=0) - 1)
    both = (found[V1].published & found[V2].published)[: len(off)]
    ids = [trend.id for trend in of_specs[V1].cells.coverage.spec.trends]
    levels: dict[str, dict[str, Any]] = {}
    for level in dict.fromkeys(found[V1].levels):
        for i, trend in enumerate(ids):
            here = np.s_[:, np.array(found[V1].levels) == level, i]
            values = off[here][both[here]]
            median, most = np.quantile(values, [0.5, 0.95]).tolist() if values.size else (np.nan, np.nan)
            levels.setdefault(level, {})[trend] = {"median": median, "95th percentile": most}
    return levels


def rows_of(found: Mapping[str, Outcome]) -> list[dict[str, Any]]:
    """Lay out both specs side by side, by level and trend."""
    levels, trends = found[V1].levels, found[V1].trends
    return [_row_of(found, level, trend) for level in dict.fromkeys(levels) for trend in trends]


def _row_of(found: Mapping[str, Outcome], level: str, trend: str) -> dict[str, Any]:
    here = found[V1].at(level, trend)
    published = {name: of.published[here] for name, of in found.items()}
    both = published[V1] & published[V2]
    row: dict[str, Any] = {"level": level, "trend": trend}
    for name, of in found.items():
        errors, covered, shown = of.errors[here], of.covered[here], published[name]
        parts = {
            "values": round(int(shown.sum()) / of.rounds),
            "median": _median(errors[shown]),
            "median where both publish": _median(errors[both]),
            "coverage": _share(covered[shown]),
            "coverage of all": _share(covered[of.clear[here]]),
            "coverage of lucky": _share(covered[shown & ~of.certain[here]]),
        }
        for what, value in parts.items():
            row.setdefault(what, {})[name] = value
    return row


def _median(errors: Floats) -> float:
    return float(np.median(errors)) if errors.size else np.nan


def _share(hits: Bools) -> dict[str, float]:
    return {"values": hits.size, "share": float(hits.mean()) if hits.size else np.nan}


def ratio(found: Mapping[str, Outcome]) -> float:
    """Return how many times as many values v2 publishes."""
    return int(found[V2].published.sum()) / max(1, int(found[V1].published.sum()))


def counted_by_both(weeks: int, events: int, seed: int, kept: Path) -> dict[str, Counted]:
    """Return the exact counts of a simulated log under both specs; those that are in the folder are not made again."""
    coverages = {name: Coverage(load_spec(name), load_geography()) for name in (V1, V2)}
    files = {name: kept / f"{name}-{weeks}-{events}-{seed}.npy" for name in coverages}
    missing = [name for name in coverages if not files[name].exists()]
    if missing:
        with tempfile.TemporaryDirectory() as folder:
            log = simulate(Path(folder) / "log", coverages[V1], FIRST_WEEK, weeks, events, seed, progress=note)
            for name in missing:
                np.save(files[name], counted(log, coverages[name]))
    days = tuple(FIRST_WEEK + timedelta(7 * i) for i in range(weeks))
    return {name: Counted(CellList(coverages[name]), days, np.load(files[name])) for name in coverages}


def measure(weeks: int, events: int, seed: int, rounds: int, kept: Path) -> dict[str, Any]:
    """Simulate the log and publish it, and logs unlike it, under both specs."""
    of_specs = counted_by_both(weeks, events, seed, kept)
    found = {name: outcome(each, rounds) for name, each in of_specs.items()}
    others = {}
    for log_unlike in OTHER_LOGS:
        note(log_unlike.name)
        scaled = {name: each.scaled(log_unlike.any_search, log_unlike.topics) for name, each in of_specs.items()}
        others[log_unlike.name] = ratio({name: outcome(each) for name, each in scaled.items()})
    return {
        "at": f"{datetime.now():%Y-%m-%d}",
        "weeks": weeks,
        "events_per_week": events,
        "rounds": rounds,
        "ratio": ratio(found),
        "rows": rows_of(found),
        "first weeks": first_weeks(of_specs, rounds),
        "other logs": others,
        "exact counts, v2 next to v1": costs(of_specs[V1], of_specs[V2]),
        "exact shares, how far apart": differences(of_specs, found),
        "national peak of C3, v2 next to v1": float(np.divide(*(shares(of_specs[n])[:, 0, 0].max() for n in (V2, V1)))),
        "sigmas": {name: sigmas_of(name) for name in of_specs},
    }


def first_weeks(of_specs: Mapping[str, Counted], rounds: int) -> dict[str, Any]:
    """Publish the first weeks alone, in which topics are rarest and selection matters most."""
    found = {name: outcome(each.first(FIRST_WEEKS), rounds) for name, each in of_specs.items()}
    return {"weeks": FIRST_WEEKS, "rows": rows_of(found)}


def sigmas_of(name: str) -> dict[str, float]:
    """Return the sigmas of a spec, by level, class and measure: those that the record was made with."""
    return {" ".join(filter(None, (s.level, s.size_class, s.category))): s.value for s in load_spec(name).sigmas}


def broken(found: Mapping[str, Any], whole: bool) -> list[str]:
    """List what does not hold: no level and trend lower, coverage within its limits; for all 22 weeks the goals too."""
    rows = found["rows"]
    wrong = [
        f"{row['level']} {row['trend']}: fewer values than {V1}"
        for row in rows
        if row["values"][V2] < row["values"][V1]
    ]
    for row in rows:
        all_values = row["coverage of all"][V2]
        chance = DEVIATIONS * 0.4 / max(1, all_values["values"]) ** 0.5
        if not COVERAGE[0] - chance <= all_values["share"] <= COVERAGE[1] + chance:
            wrong.append(f"{row['level']} {row['trend']}: intervals cover {all_values['share']:.1%}")
    if not whole:
        return wrong
    if found["ratio"] < LEAST_RATIO:
        wrong.append(f"{found['ratio']:.2f} times the values, not {LEAST_RATIO}")
    for row in rows:
        errors = row["median where both publish"]
        if row["level"] in HALVED and row["trend"] == "covid19_vaccination" and errors[V2] > errors[V1] / 2:
            wrong.append(f"{row['level']} {row['trend']}: more than half of the median error")
    return wrong


def main() -> int:
    """Measure both specs."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=22)
    parser.add_argument("--events-per-week", type=float, default=10e6)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=1, help="of fresh noise; more make coverage more certain")
    parser.add_argument("--record", action="store_true", help="write evidence/results/specs.json and its picture")
    parser.add_argument("--counts", type=Path, metavar="FOLDER", help="keep exact counts here, and use those it has")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(args.weeks, int(args.events_per_week), args.seed, args.rounds, args.counts or Path(folder))
    if args.record:
        write_json(RESULTS / "specs.json", found)
        draw(found)
        write_pages(found)
    union = found["exact counts, v2 next to v1"]["country"]["C3"]
    others = ", ".join(f"{words}: {times:.2f}" for words, times in found["other logs"].items())
    showed = (
        f"on one log of {args.weeks} weeks {V2} publishes {found['ratio']:.2f} times the values of {V1} (other logs: "
        f"{others}); its C3, a union, counts {union:.3f} of the sum"
    )
    demonstration = args.weeks == 22 and args.events_per_week == 10e6
    return print_result(
        Result(showed, found, [*values_table(found), "", *coverage_table(found)], broken(found, demonstration))
    )


if __name__ == "__main__":
    sys.exit(main())
