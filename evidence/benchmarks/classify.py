"""How fast the classifier is on one core, how much memory it takes, and what it adds to bounding a log of queries.

    python -m evidence.benchmarks.classify [--texts 400000] [--events-per-week 3000000] [--queries FILE]

The reference of the same run is DuckDB on one thread, hashing each of the same distinct texts. Without --queries (CSV
or Parquet with a column `query`) the texts are those of the simulator. Texts that all have a cue are measured as well.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np

from evidence.measuring import Result, least_cpu, parser_of, print_result, united_states
from search_insights.classifier.features import normalise, texts_with_cue
from search_insights.classifier.files import read_texts
from search_insights.classifier.model import load_classifier
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import week_of
from search_insights.support.sql import connect

FIRST = date(2021, 3, 8)
ROUNDS = 5


def memory_of_classifier() -> dict[str, int]:
    """Return the peak memory of this process in MB, and how much of it classifying 100,000 long texts added."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    load_classifier().classify(["covid vaccine near me " * 10] * 100_000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"process_mb": after // 1024, "classifier_mb": (after - before) // 1024}


def speed_of(texts: Sequence[str]) -> dict[str, float]:
    """Compare the classifier with DuckDB's hash of the same texts."""
    classifier = load_classifier()
    own = least_cpu(lambda: classifier.classify(texts), ROUNDS)
    with connect(threads=1) as connection:
        connection.register("given", {"query": np.array(texts, dtype=object)})
        connection.execute("CREATE TABLE texts AS SELECT DISTINCT query FROM given")
        count = "SELECT count(DISTINCT hash(query)) FROM texts"
        reference = least_cpu(lambda: connection.execute(count).fetchall(), ROUNDS)
    seen = sum(texts_with_cue(normalise(texts[i : i + 9999]), classifier.cues).size for i in range(0, len(texts), 9999))
    return {
        "texts": len(texts),
        "with_cue": round(seen / len(texts), 4),
        "texts_per_second": round(len(texts) / own),
        "ratio": round(own / reference, 2),
    }


def bounding_with_queries(coverage: Coverage, queries: Path, categories: Path) -> dict[str, float]:
    """Compare bounding a week of queries with bounding the same week with categories."""
    week = week_of(coverage.spec, FIRST)
    seconds = {}
    for name, log in (("queries_s", queries), ("categories_s", categories)):
        with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
            begin = time.perf_counter()
            for day in week.days:
                engine.bound(day, *week.day_bounds(day))
            seconds[name] = round(time.perf_counter() - begin, 2)
    return seconds


def measure(texts: int, events_per_week: int, queries: Path | None) -> dict[str, dict[str, float]]:
    """Measure memory, then speed on distinct texts, then what classifying adds to a week."""
    found: dict[str, dict[str, float]] = {"memory": dict(memory_of_classifier())}
    coverage = united_states()
    with tempfile.TemporaryDirectory() as name:
        log, named = Path(name) / "log", Path(name) / "named"
        named.mkdir()
        simulate(log, coverage, FIRST, 1, events_per_week, 7, queries=True, named=named)
        with connect() as connection:
            rows = connection.execute(f"SELECT DISTINCT query FROM '{log}/*.parquet' LIMIT {texts}").fetchall()
        distinct = read_texts(queries)[:texts] if queries else [text for (text,) in rows]
        found["all texts"] = speed_of(distinct)
        cues = load_classifier().cues
        found["texts with a cue"] = speed_of([distinct[i] for i in texts_with_cue(normalise(distinct), cues).tolist()])
        found["bounding a week"] = bounding_with_queries(coverage, log, named)
    return found


def main() -> int:
    """Measure the packaged classifier."""
    parser = parser_of(__doc__)
    parser.add_argument("--texts", type=int, default=400_000)
    parser.add_argument("--events-per-week", type=int, default=3_000_000)
    parser.add_argument("--queries", type=Path)
    args = parser.parse_args()
    found = measure(args.texts, args.events_per_week, args.queries)
    every, cue, week = found["all texts"], found["texts with a cue"], found["bounding a week"]
    showed = (
        f"{every['texts_per_second']:,} distinct texts a second on one core ({cue['texts_per_second']:,} where all "
        f"have a cue), {every['ratio']:.0f} times the CPU of DuckDB's hash; bounding a week of queries takes "
        f"{week['queries_s'] / week['categories_s']:.1f} times as long as with categories"
    )
    return print_result(Result(showed, found))


if __name__ == "__main__":
    sys.exit(main())
