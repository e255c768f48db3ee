"""What `vaccination-v2` publishes next to `vaccination-v1`, on the same simulated log, each with fresh noise.

    python -m evidence.benchmarks.specs [--weeks 22] [--events-per-week 10000000] [--seed 7] [--record]

The log is counted exactly under each spec, noise is added, and what would be published is compared with the exact
counts of the same spec. Three logs unlike the one that the sigmas were chosen for are made by scaling the exact counts.
What one place a user-day and a union cost is the exact count of v2 next to that of v1. With --record the numbers go to
evidence/results/specs.json, and docs/images/specs.svg and the tables of docs/choosing-a-spec.md are made from them.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from evidence.measuring import RESULTS, ROOT, Result, parser_of, print_result, write_json
from evidence.pages import filled, markdown_table
from evidence.specs_plot import draw
from search_insights.calibration.reference import OTHER_LOGS
from search_insights.commands.console import note
from search_insights.dp.noise import add_noise
from search_insights.evaluation.accuracy import Accuracy, accuracy_of
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.simulation.truth import Truth
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.store.ledger import SparsityRecord
from search_insights.support.arrays import Counts, Floats
from search_insights.trends.derive import Trends, trend_counts, trends_of, with_total
from search_insights.trends.sparsity import sparse_regions, window_of

PAGE = ROOT / "docs" / "choosing-a-spec.md"
FIRST_WEEK = date(2021, 1, 4)
V1, V2 = PACKAGED_SPECS
TRENDS = 3
COVERAGE = (0.795, 0.84)
SHARES = (("median", 2), ("median where both publish", 2), ("coverage", 1))  # of the table, with their digits
CLEAR = 10.0  # sigmas: a denominator that is clearly positive
DEVIATIONS = 4  # by which the coverage of a sample may be off, besides
LEAST_RATIO = 2.1


@dataclass(frozen=True)
class Counted:
    """The exact counts of a log under one spec, a row for each week."""

    cells: CellList
    weeks: tuple[date, ...]
    counts: Counts

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


def counted(log: SimulatedLog, coverage: Coverage) -> Counted:
    """Count a log exactly under a spec, as the program does before it adds noise."""
    cells, source = CellList(coverage), LogSource((str(log.folder),))
    names, span = region_names(coverage, source), (log.weeks[0].begin, log.weeks[-1].end)
    found = []
    with open_duckdb_engine(source, coverage.spec, names) as engine:
        for week in log.weeks:
            note(f"{coverage.spec.name}: week {week}")
            tolerance = Tolerance(other_weeks=True)
            found.append(count_week(engine, cells, names, week, span, tolerance, lambda day: None).counts)
    return Counted(cells, tuple(week.first_day for week in log.weeks), np.stack(found))


@dataclass(frozen=True)
class Outcome:
    """What would be published, how often the intervals of all values contain the truth, published or not, and the
    errors of the published values; NaN elsewhere."""

    rows: list[Accuracy]
    covered: list[dict[str, float]]
    errors: Floats
    levels: Sequence[str]


def published(of_spec: Counted) -> Outcome:
    """Add fresh noise, and compare with the exact counts."""
    noisy = np.stack([add_noise(week, of_spec.cells.sigmas) for week in of_spec.counts])
    trends = trends_of(of_spec.cells, of_spec.weeks, noisy)
    true, sparse = exact(of_spec), _sparse(trends)
    rows = accuracy_of(trends, sparse, Truth(of_spec.weeks, true))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = trend_counts(trends.spec, true) / true[:, :, :1]
        errors = np.where(trends.ratios.kept, np.abs(trends.ratios.value / ratios - 1), np.nan)
    errors[:, np.isin([r.place_id for r in trends.regions], sparse.removed if sparse else [])] = np.nan
    levels = [region.level for region in trends.regions]
    return Outcome(rows, _covered(of_spec.cells, trends, true, ratios, rows), errors, levels)


def _covered(
    cells: CellList, trends: Trends, true: Floats, ratios: Floats, rows: Sequence[Accuracy]
) -> list[dict[str, float]]:
    """Return the coverage of all values whose denominator is clearly positive: other intervals are unbounded."""
    sigmas = cells.sigmas.reshape(len(cells.nodes), -1)[: len(cells.regions), 0]
    clear = true[:, :, 0] > CLEAR * np.concatenate([[0.0], sigmas])
    hits = (trends.ratios.low <= ratios) & (ratios <= trends.ratios.high)
    levels = np.array([region.level for region in trends.regions])
    names = [trend.name for trend in trends.spec.trends]
    found = []
    for row in rows:
        here = hits[:, :, names.index(row.trend)][clear & (levels == row.level)]
        found.append({"values": here.size, "share": float(here.mean()) if here.size else np.nan})
    return found


def _sparse(trends: Trends) -> SparsityRecord | None:
    window = window_of(trends.spec.sparsity, trends.weeks, ())
    removed = sparse_regions(trends, window)
    return None if removed is None else SparsityRecord(trends.weeks[0], trends.weeks[-1], removed, "", [])


def exact(of_spec: Counted) -> Floats:
    """Return the exact counts of the total and the regions, with the axes (week, region, measure)."""
    cells = of_spec.cells
    shape = len(of_spec.weeks), len(cells.nodes), len(cells.coverage.spec.measures)
    shaped = of_spec.counts.reshape(shape)[:, : len(cells.regions)].astype(np.float64)
    return with_total(cells.coverage.spec, cells.regions, shaped, np.zeros(shaped.shape[1:]))[0]


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


def rows_of(found: Mapping[str, Outcome]) -> list[dict[str, Any]]:
    """Lay out both specs side by side, by level and trend."""
    return [
        {
            "level": one.level,
            "trend": one.trend,
            "values": {V1: one.points, V2: other.points},
            "median": {V1: one.median, V2: other.median},
            "median where both publish": _medians(found, one.level, i % TRENDS),
            "coverage": {V1: one.coverage, V2: other.coverage},
            "coverage of all": {name: found[name].covered[i] for name in (V1, V2)},
        }
        for i, (one, other) in enumerate(zip(found[V1].rows, found[V2].rows, strict=True))
    ]


def _medians(found: Mapping[str, Outcome], level: str, trend: int) -> dict[str, float]:
    """Return the median errors of the values that both publish: v2 alone publishes harder ones."""
    here = np.array(found[V1].levels) == level
    errors = {name: found[name].errors[:, here, trend] for name in (V1, V2)}
    both = ~np.isnan(errors[V1]) & ~np.isnan(errors[V2])
    return {name: float(np.median(of[both])) if both.any() else np.nan for name, of in errors.items()}


def ratio(found: Mapping[str, Outcome]) -> float:
    """Return how many times as many values v2 publishes."""
    of_v1, of_v2 = (sum(row.points for row in found[name].rows) for name in (V1, V2))
    return of_v2 / max(1, of_v1)


def measure(weeks: int, events: int, seed: int) -> dict[str, Any]:
    """Simulate the log and publish it, and logs unlike it, under both specs."""
    coverages = {name: Coverage(load_spec(name), load_geography()) for name in (V1, V2)}
    with tempfile.TemporaryDirectory() as name:
        log = simulate(Path(name) / "log", coverages[V1], FIRST_WEEK, weeks, events, seed)
        of_specs = {name: counted(log, coverage) for name, coverage in coverages.items()}
    found = {name: published(each) for name, each in of_specs.items()}
    others = {}
    for log_unlike in OTHER_LOGS:
        note(log_unlike.name)
        scaled = {name: each.scaled(log_unlike.any_search, log_unlike.topics) for name, each in of_specs.items()}
        others[log_unlike.name] = ratio({name: published(each) for name, each in scaled.items()})
    return {
        "at": f"{datetime.now():%Y-%m-%d}",
        "weeks": weeks,
        "events_per_week": events,
        "ratio": ratio(found),
        "rows": rows_of(found),
        "other logs": others,
        "exact counts, v2 next to v1": costs(of_specs[V1], of_specs[V2]),
    }


def table(found: Mapping[str, Any]) -> list[str]:
    """Lay out values, median errors and coverage of both specs by level and trend."""
    pairs = ("values", "median error", "where both publish", "contain the truth", "of all values")
    header = ("level", "trend", *(f"{name}, {spec}" for name in pairs for spec in ("v1", "v2")), "times")
    lines = []
    for row in found["rows"]:
        one, other = row["values"][V1], row["values"][V2]
        shares = [f"{row[what][name]:.{digits}%}" for what, digits in SHARES for name in (V1, V2)]
        shares += [f"{row['coverage of all'][name]['share']:.1%}" for name in (V1, V2)]
        times = f"{other / one:.2f}" if one else ""
        lines.append([row["level"], row["trend"], f"{one:,}", f"{other:,}", *shares, times])
    return markdown_table(header, lines, (0, 1))


def blocks(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the page shows of the record."""
    size = f"{found['weeks']} simulated weeks of {found['events_per_week']:,} searches"
    total = f"On {size}, `{V2}` published **{found['ratio']:.2f} times** the values of `{V1}` ({found['at']})."
    others = [(words, f"{times:.2f}") for words, times in found["other logs"].items()]
    counts = found["exact counts, v2 next to v1"]
    costs = [(level, *(f"{of_trend[t]:.3f}" for t in ("C3", "C1", "C2"))) for level, of_trend in counts.items()]
    return {
        "specs table": [total, "", *table(found)],
        "other logs": markdown_table(("log", "values, v2 next to v1"), others),
        "exact counts": markdown_table(("level", "C3", "C1", "C2"), costs),
    }


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
    if whole and found["ratio"] < LEAST_RATIO:
        wrong.append(f"{found['ratio']:.2f} times the values, not {LEAST_RATIO}")
    return wrong


def main() -> int:
    """Measure both specs."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=22)
    parser.add_argument("--events-per-week", type=float, default=10e6)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--record", action="store_true", help="write evidence/results/specs.json and its picture")
    args = parser.parse_args()
    found = measure(args.weeks, int(args.events_per_week), args.seed)
    if args.record:
        write_json(RESULTS / "specs.json", found)
        draw(found)
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(found)), encoding="utf-8")
    union = found["exact counts, v2 next to v1"]["country"]["C3"]
    others = ", ".join(f"{words}: {times:.2f}" for words, times in found["other logs"].items())
    showed = (
        f"on one log of {args.weeks} weeks {V2} publishes {found['ratio']:.2f} times the values of {V1} (other logs: "
        f"{others}); its C3, a union, counts {union:.3f} of the sum"
    )
    demonstration = args.weeks == 22 and args.events_per_week == 10e6
    return print_result(Result(showed, found, table(found), broken(found, demonstration)))


if __name__ == "__main__":
    sys.exit(main())
