"""Which share of the possible contributions the bounding keeps, next to other rules, on a simulated week.

    python benchmarks/bench_bounding.py [--events-per-week 5000000]

A possible contribution is a user-day and category with at least one event whose size class is known: without X4 each
could count once in its county. Open levels are not shown: every rule keeps all of them there.
"""

import argparse
import json
import tempfile
from datetime import date
from pathlib import Path

from search_insights.coverage import Coverage
from search_insights.duckdb_engine import open_duckdb_engine
from search_insights.geography import load_geography
from search_insights.log import LogSource
from search_insights.region_names import region_names
from search_insights.simulation import simulate
from search_insights.spec_file import load_spec
from search_insights.weeks import week_of

# Every rule gives one row for each contribution it keeps: user_id and category (0 = any search). `searches` has each
# event as itself and as any search.
SEARCHES = """
    CREATE OR REPLACE TEMP TABLE searches AS
    SELECT user_id, category, (lot >> 20) & 15 AS class, hash(lot) AS lot FROM events WHERE (lot >> 20) & 15 > 0
    UNION ALL BY NAME
    SELECT user_id, 0 AS category, (lot >> 20) & 15 AS class, hash(lot) AS lot FROM events
    WHERE (lot >> 20) & 15 > 0 AND category > 0"""

RULES = {
    "possible": "SELECT DISTINCT user_id, category FROM searches",
    "this program": """
        SELECT user_id, category FROM contributions WHERE (classed_lot >> 20) & 15 > 0""",
    # X1 first: one event for each category, whatever its class; then X4 drops those of other classes than one of them.
    "the paper's order of drops": """
        WITH kept AS (
            SELECT user_id, category, arg_min(class, hash(lot, category)) AS class FROM searches GROUP BY ALL
        ), chosen AS (
            SELECT user_id, arg_min(class, (category = 0, hash(user_id, category))) AS class FROM kept GROUP BY ALL
        )
        SELECT user_id, category FROM kept JOIN chosen USING (user_id, class)""",
    "class of any search": """
        WITH chosen AS (SELECT user_id, arg_min(class, lot) AS class FROM searches GROUP BY ALL)
        SELECT DISTINCT user_id, category FROM searches JOIN chosen USING (user_id, class)""",
    "class that keeps most": """
        WITH sizes AS (SELECT user_id, class, count(DISTINCT category) AS n FROM searches GROUP BY ALL),
             chosen AS (SELECT user_id, arg_max(class, n) AS class FROM sizes GROUP BY ALL)
        SELECT DISTINCT user_id, category FROM searches JOIN chosen USING (user_id, class)""",
}


def measure(events_per_week: int) -> dict[str, dict[str, float]]:
    """Count what each rule keeps over a week, of any search and of the topics."""
    coverage = Coverage(load_spec(), load_geography())
    week = week_of(coverage.spec, date(2021, 3, 8))
    kept = {rule: [0, 0] for rule in RULES}
    with tempfile.TemporaryDirectory() as folder:
        simulate(Path(folder) / "log", coverage, week.first_day, 1, events_per_week, seed=7)
        source = LogSource((f"{folder}/log",))
        with open_duckdb_engine(source, coverage.spec, region_names(coverage)) as engine:
            for day in week.days:
                engine.bound(day, *week.day_bounds(day))
                engine.connection.execute(SEARCHES)
                for rule, sql in RULES.items():
                    (row,) = engine.connection.execute(
                        f"SELECT count(*) FILTER (category = 0), count(*) FILTER (category > 0) FROM ({sql})"
                    ).fetchall()
                    kept[rule] = [kept[rule][0] + row[0], kept[rule][1] + row[1]]
    possible = kept["possible"]
    return {
        rule: {"any search": round(n[0] / possible[0], 5), "topics": round(n[1] / possible[1], 5)}
        for rule, n in kept.items()
    }


def main() -> None:
    """Print the shares as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events-per-week", type=int, default=5_000_000)
    print(json.dumps(measure(parser.parse_args().events_per_week), indent=2))


if __name__ == "__main__":
    main()
