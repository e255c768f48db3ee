"""How much the bounding keeps and how it shifts regions, next to other rules, on simulated weeks.

    python -m evidence.benchmarks.bounding [--events-per-week 5000000] [--seeds 7 ...]

A possible contribution is a user-day and category with at least one event whose size class is known: without X4 each
could count once in its county. Open levels are not shown: every rule keeps all of them there.

The bias is that of a county's share of searches about a topic, relative to the share if every user-day counted in each
county that it searched from, which no bound allows: for all counties of a size class together, and on average over
counties (weighted by their searches about a topic, in absolute terms, so it includes the chance of the draws). With
several seeds, a week is simulated for each and the means are shown.

The last figures are about the finest level: the contributions that count in a postal code, next to those that would if
the search drawn for the county decided about the postal code too.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evidence.measuring import Result, parser_of, print_result, united_states
from evidence.pages import markdown_table
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import week_of

Numbers = npt.NDArray[np.float64]

# `searches` has each event of a known class under its category and as any search (category 0), with its county.
SEARCHES = """
    CREATE OR REPLACE TEMP TABLE searches AS
    WITH placed AS (
        SELECT user_id, category, events.draw & 15 AS class, hash(events.draw) AS draw, county
        FROM events JOIN counties ON number = (events.draw >> 4) & place_mask() WHERE events.draw & 15 > 0
    )
    FROM placed UNION ALL BY NAME SELECT * REPLACE (0 AS category) FROM placed WHERE category > 0"""

# The contributions that count in a reported region of the finest level, by topic, in two ways.
FINEST = """
    SELECT category > 0 AS topic,
           count(*) FILTER (WHERE (finest_draw >> 4) & place_mask() IN (SELECT number FROM countable)) AS preferred,
           count(*) FILTER (WHERE (classed_draw >> 4) & place_mask() IN (SELECT number FROM countable)) AS plain
    FROM contributions GROUP BY topic ORDER BY topic"""

EVERYWHERE = "every county it searched from"
WITHOUT_X4 = "without X4"
THIS_PROGRAM = "this program"
FREE = (EVERYWHERE, WITHOUT_X4)  # the rules that do not keep X4
# Every rule returns a row for each contribution it keeps: user_id, category (0 = any search) and county.
RULES = {
    EVERYWHERE: "SELECT DISTINCT user_id, category, county FROM searches",
    WITHOUT_X4: "SELECT user_id, category, arg_min(county, draw) AS county FROM searches GROUP BY ALL",
    THIS_PROGRAM: """
        SELECT user_id, category, county
        FROM contributions JOIN counties ON number = (classed_draw >> 4) & place_mask()""",
    # X1 first: one event for each category, whatever its class; then X4 drops those of other classes than one of them.
    "the paper's order of drops": """
        WITH kept AS (
            SELECT user_id, category, arg_min({'class': class, 'county': county}, hash(draw, category)) AS event
            FROM searches GROUP BY ALL
        ), chosen AS (
            SELECT user_id, arg_min(event.class, (category = 0, hash(user_id, category))) AS class
            FROM kept GROUP BY user_id
        )
        SELECT kept.user_id, category, event.county AS county
        FROM kept JOIN chosen ON kept.user_id = chosen.user_id AND event.class = chosen.class""",
    "class of any search": """
        WITH chosen AS (SELECT user_id, arg_min(class, draw) AS class FROM searches GROUP BY user_id)
        SELECT user_id, category, arg_min(county, draw) AS county
        FROM searches JOIN chosen USING (user_id, class) GROUP BY user_id, category""",
    "class that keeps most": """
        WITH sizes AS (SELECT user_id, class, count(DISTINCT category) AS n FROM searches GROUP BY ALL),
             chosen AS (SELECT user_id, arg_max(class, (n, hash(user_id, class))) AS class FROM sizes GROUP BY user_id)
        SELECT user_id, category, arg_min(county, draw) AS county
        FROM searches JOIN chosen USING (user_id, class) GROUP BY user_id, category""",
}


def measure(events_per_week: int, seed: int) -> dict[str, dict[str, Any]]:
    """Count what each rule keeps over a week, and how far it shifts the share of a topic."""
    coverage = united_states()
    week = week_of(coverage.spec, date(2021, 3, 8))
    names = region_names(coverage)
    regions = len(coverage.geography.regions)
    counts = {rule: np.zeros((regions, 2)) for rule in RULES}
    finest = np.zeros((2, 2), dtype=np.int64)
    with tempfile.TemporaryDirectory() as folder:
        simulate(Path(folder) / "log", coverage, week.first_day, 1, events_per_week, seed=seed)
        with open_duckdb_engine(LogSource((f"{folder}/log",)), coverage.spec, names) as engine:
            _register_counties(engine, coverage)
            engine.connection.execute(f"CREATE TEMP MACRO place_mask() AS {(1 << names.place_bits) - 1}")
            for day in week.days:
                engine.bound(day, *week.day_bounds(day))
                engine.connection.execute(SEARCHES)
                for rule, sql in RULES.items():
                    _add(counts[rule], engine, sql)
                finest += np.array([row[1:] for row in engine.connection.execute(FINEST).fetchall()])
    found = {rule: _summary(rule, counts, coverage) for rule in RULES}
    found[THIS_PROGRAM]["in a postal code"] = dict(zip(("any search", "topics"), finest.tolist(), strict=True))
    return found


def _register_counties(engine: DuckDbEngine, coverage: Coverage) -> None:
    geography = coverage.geography
    place = {region.place_id: i for i, region in enumerate(geography.regions)}
    county_of = [
        next((place[r.place_id] for r in geography.lineage(region) if r.level == coverage.spec.class_level), -1)
        for region in geography.regions
    ]
    given = {"number": np.arange(len(county_of)), "county": np.array(county_of)}
    engine.connection.register("counties_given", given)
    engine.connection.execute("CREATE TEMP TABLE counties AS SELECT * FROM counties_given WHERE county >= 0")
    finest = coverage.spec.level_names[-1]
    everywhere = dict.fromkeys(coverage.spec.level_names, np.arange(len(geography.regions)))
    countable = CellList(coverage).first_cells(everywhere)[finest] >= 0
    engine.connection.register("countable_given", {"number": np.flatnonzero(countable)})
    engine.connection.execute("CREATE TEMP TABLE countable AS SELECT * FROM countable_given")


def _add(counts: Numbers, engine: DuckDbEngine, sql: str) -> None:
    """Count contributions of any search (column 0) and of topics (column 1) by county."""
    found = engine.connection.execute(
        f"SELECT county, (category > 0)::INT AS topic, count(*) AS n FROM ({sql}) GROUP BY ALL"
    ).fetchnumpy()
    np.add.at(counts, (found["county"], found["topic"]), found["n"])


def _summary(rule: str, counts: Mapping[str, Numbers], coverage: Coverage) -> dict[str, Any]:
    mine, reference = counts[rule], counts[EVERYWHERE]
    possible = counts[WITHOUT_X4].sum(axis=0)
    kept = mine.sum(axis=0) / possible
    standings = coverage.standings
    classes = np.array([standings[r.place_id].size_class or "" for r in coverage.geography.regions])
    some = (mine[:, 0] > 0) & (reference[:, 1] > 0)
    off = np.abs(_share(mine[some]) / _share(reference[some]) - 1)
    bias = {}
    for size_class in coverage.spec.class_names:
        ours, all_of_them = (_share(c[classes == size_class].sum(axis=0)) for c in (mine, reference))
        bias[size_class] = round(float(ours / all_of_them - 1), 5)
    return {
        "any search kept": round(float(kept[0]), 5),
        "topics kept": round(float(kept[1]), 5),
        "bias by class": bias,
        "mean county off by": round(float(np.average(off, weights=reference[some, 1])), 5),
    }


def _share(counts: Numbers) -> Numbers:
    share: Numbers = counts[..., 1] / counts[..., 0]
    return share


def rules_table(weeks: Sequence[Mapping[str, dict[str, Any]]]) -> list[str]:
    """Lay out the means over the weeks, one row a rule."""
    classes = list(weeks[0][THIS_PROGRAM]["bias by class"])
    rows = []
    for rule in RULES:
        found = [week[rule] for week in weeks]
        kept = [f"{np.mean([row[what] for row in found]):.2%}" for what in ("any search kept", "topics kept")]
        biases = [f"{np.mean([row['bias by class'][each] for row in found]):+.2%}" for each in classes]
        rows.append([rule, *kept, *biases, f"{np.mean([row['mean county off by'] for row in found]):.2%}"])
    biases = [f"bias {each}" for each in classes]
    return markdown_table(("rule", "any search kept", "topics kept", *biases, "a county is off by"), rows)


def main() -> int:
    """Measure a week for each seed."""
    parser = parser_of(__doc__)
    parser.add_argument("--events-per-week", type=int, default=5_000_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7])
    args = parser.parse_args()
    weeks = [measure(args.events_per_week, seed) for seed in args.seeds]
    kept = np.mean([week[THIS_PROGRAM]["topics kept"] for week in weeks])
    most = np.mean([max(week[rule]["topics kept"] for rule in RULES if rule not in FREE) for week in weeks])
    finest = np.sum([list(week[THIS_PROGRAM]["in a postal code"].values()) for week in weeks], axis=0)
    more = ", ".join(
        f"{preferred:,} {what} instead of {plain:,}"
        for what, (preferred, plain) in zip(("any search", "topics"), finest, strict=True)
    )
    showed = (
        f"keeps {kept:.2%} of topic contributions; the most that any rule with X4 kept was {most:.2%}; "
        f"in a postal code: {more}"
    )
    return print_result(Result(showed, dict(zip(map(str, args.seeds), weeks, strict=True)), rules_table(weeks)))


if __name__ == "__main__":
    sys.exit(main())
