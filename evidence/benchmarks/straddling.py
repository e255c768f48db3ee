"""What a log that names ZIPs only costs, next to a log with a column for each level, on the same simulated searches.

    python -m evidence.benchmarks.straddling [--weeks 4] [--events-per-week 10000000] [--seed 7]

A ZIP may extend into several counties, and the simulated people live in each of them by the crosswalk's shares. The log
is anonymized twice, into two stores: by its column `region`, where a ZIP counts in the county with most of its
addresses, and by its columns of levels, where each search counts in the county where it was made. Both are compared
with one truth: the exact bounded counts by where the person was, at each level.

`error` is |value / truth - 1| of published values, `bias` the mean of value / truth - 1, `contain the truth` the share
of intervals that do. `searches off by` needs no noise: the exact count of any search by ZIPs, next to the truth.
"""

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from evidence.measuring import Result, parser_of, print_result, united_states
from evidence.pages import markdown_table
from search_insights.anonymization import LogSource, anonymize
from search_insights.evaluation.accuracy import evaluate
from search_insights.evaluation.exact_counts import add_exact_counts, columns_of_levels
from search_insights.simulation.simulation import simulate
from search_insights.simulation.truth import read_truth
from search_insights.spec.coverage import Coverage
from search_insights.spec.straddling import Exchange, Straddling, load_straddling
from search_insights.spec.weeks import week_of
from search_insights.store.opening import open_store
from search_insights.support.arrays import Floats
from search_insights.trends.derive import Trends, derive, trend_counts

FIRST_WEEK = date(2021, 3, 8)
ZIPS, COLUMNS = "ZIPs only", "a column for each level"
_LARGE = 0.25  # a county that loses or receives more than this is one of the worst
_LEAST_COVERAGE = 0.78  # of county intervals by columns; they are made to cover 80 %


@dataclass(frozen=True)
class Made:
    """The stores of both ways, the truth, and the exact counts by ZIPs only."""

    stores: Mapping[str, Path]
    truth: Path
    by_zips: Path


def make(folder: Path, coverage: Coverage, straddling: Straddling, weeks: int, events: int, seed: int) -> Made:
    """Simulate the log, count it exactly in both ways, and anonymize it in both."""
    log, truth, by_zips = folder / "log", folder / "truth.parquet", folder / "by_zips.parquet"
    first = week_of(coverage.spec, FIRST_WEEK).first_day
    simulated = simulate(log, coverage, first, weeks, events, seed, straddling=straddling, truth=truth)
    shutil.copy(truth, by_zips)
    add_exact_counts(by_zips, log, simulated.weeks, coverage, lambda step: None)
    add_exact_counts(truth, log, simulated.weeks, coverage, lambda step: None, level_columns=True)
    stores = {ZIPS: folder / "zips.db", COLUMNS: folder / "columns.db"}
    for way, columns in {ZIPS: {}, COLUMNS: columns_of_levels(coverage.spec)}.items():
        anonymize(LogSource((str(log),), columns), stores[way], simulated.weeks, coverage, another_release=True)
    return Made(stores, truth, by_zips)


def by_level(made: Made) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what `evaluate` says of both ways, by level and trend."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for way, store in made.stores.items():
        for row in evaluate(store, made.truth):
            cells = {"values": row.points, "median": row.median, "coverage": row.coverage}
            found.setdefault(f"{row.level}, {row.trend}", {})[way] = cells
    return found


def groups(coverage: Coverage, exchanges: Mapping[str, Exchange]) -> dict[str, list[str]]:
    """Return the counties to look at, by how much they exchange with others."""
    counties = [r.place_id for r in coverage.geography.regions if r.level == "county"]
    of = {place: exchanges.get(place, Exchange(0.0, 0.0)) for place in counties}
    return {
        "all counties": counties,
        "under 1 % exchanged": [place for place in counties if max(of[place]) < 0.01],
        "over 1 %, up to a quarter": [place for place in counties if 0.01 <= max(of[place]) <= _LARGE],
        "over a quarter of their own counted elsewhere": [p for p in counties if of[p].counted_elsewhere > _LARGE],
        "over a quarter of their count from elsewhere": [p for p in counties if of[p].from_elsewhere > _LARGE],
    }


def by_group(made: Made, coverage: Coverage, exchanges: Mapping[str, Exchange]) -> dict[str, dict[str, Any]]:
    """Return how far off the counties of each group are, all trends together."""
    found: dict[str, dict[str, Any]] = {
        name: {"counties": len(places), "searches off by": _searches_off(made, coverage, places)}
        for name, places in groups(coverage, exchanges).items()
    }
    for way, store in made.stores.items():
        with open_store(store) as opened:
            trends = derive(opened)
        exact = _exact_ratios(made.truth, coverage, trends)
        for name, places in groups(coverage, exchanges).items():
            found[name][way] = _errors(trends, exact, places)
    return found


def _searches_off(made: Made, coverage: Coverage, places: Sequence[str]) -> float:
    """Return the median over counties of how far the exact count of any search by ZIPs is from the truth."""
    regions = [coverage.geography.by_place_id[place] for place in places]
    ours, truth = (
        np.nansum(read_truth(path, coverage, regions).counts[:, :, 0], axis=0) for path in (made.by_zips, made.truth)
    )
    return float(np.median(np.abs(ours[truth > 0] / truth[truth > 0] - 1)))


def _exact_ratios(truth: Path, coverage: Coverage, trends: Trends) -> Floats:
    counts = read_truth(truth, coverage, trends.regions).counts
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(trend_counts(trends.spec, counts) / counts[:, :, :1])


def _errors(trends: Trends, exact: Floats, places: Sequence[str]) -> dict[str, Any]:
    """Return the errors of what is published of some regions; NaN where nothing is."""
    ratios = trends.ratios
    here = np.isin([region.place_id for region in trends.regions], list(places))[None, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        off = ratios.value / exact - 1
    kept = ratios.kept & here & np.isfinite(off)
    inside = (ratios.low <= exact) & (exact <= ratios.high)
    errors, hits = off[kept], inside[kept]
    figures = {"median error": np.nan, "p90": np.nan, "bias": np.nan, "coverage": np.nan}
    if errors.size:
        median, p90 = np.quantile(np.abs(errors), [0.5, 0.9])
        figures = {"median error": median, "p90": p90, "bias": errors.mean(), "coverage": hits.mean()}
    return {"values": int((ratios.kept & here).sum())} | {name: float(value) for name, value in figures.items()}


def _level_table(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    header = ("level, trend", *(f"{what}, {way}" for what in ("values", "median error") for way in (ZIPS, COLUMNS)))
    rows = [
        [
            name,
            *(f"{ways[way]['values']:,}" for way in (ZIPS, COLUMNS)),
            *(f"{ways[way]['median']:.2%}" for way in (ZIPS, COLUMNS)),
        ]
        for name, ways in found.items()
    ]
    return markdown_table(header, rows)


def _group_table(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    what = {"values": ",", "median error": ".1%", "p90": ".1%", "bias": "+.2%", "coverage": ".1%"}
    names = {"p90": "90th percentile", "coverage": "contain the truth"}
    header = ("counties", "", "searches off by", "log", *(names.get(each, each) for each in what))
    rows = [
        [name, f"{group['counties']:,}", off, way, *(f"{group[way][each]:{form}}" for each, form in what.items())]
        for name, group in found.items()
        for way, off in ((ZIPS, f"{group['searches off by']:.1%}"), (COLUMNS, "0"))
    ]
    return markdown_table(header, rows, (0, 3))


def main() -> int:
    """Make both stores and compare them with the truth."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, default=4)
    parser.add_argument("--events-per-week", type=float, default=10e6)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    coverage = united_states()
    straddling = load_straddling(coverage.geography)
    with tempfile.TemporaryDirectory() as name:
        made = make(Path(name), coverage, straddling, args.weeks, int(args.events_per_week), args.seed)
        levels = by_level(made)
        counties = by_group(made, coverage, straddling.exchanges)
    worst = counties["over a quarter of their own counted elsewhere"]
    all_of_them = counties["all counties"][COLUMNS]
    showed = (
        f"{args.weeks} weeks of {args.events_per_week / 1e6:g} million searches: in the {worst['counties']} counties "
        f"that lose over a quarter, values by ZIPs only are off by {worst[ZIPS]['median error']:.1%} in the median, by "
        f"a column for each level by {worst[COLUMNS]['median error']:.1%}; intervals contain the truth for "
        f"{worst[ZIPS]['coverage']:.0%} and {worst[COLUMNS]['coverage']:.0%}"
    )
    broken = [] if all_of_them["coverage"] >= _LEAST_COVERAGE else ["county intervals by columns cover too little"]
    details = [*_level_table(levels), "", *_group_table(counties)]
    return print_result(Result(showed, {"levels": levels, "counties": counties}, details, broken))


if __name__ == "__main__":
    sys.exit(main())
