"""How fast the classifier is on one core, how much memory it takes, and what it adds to anonymizing a log of queries.

    python -m evidence.benchmarks.bench_classify.py [--texts 400000] [--events-per-week 3000000] [--queries FILE]

The reference of the same run is DuckDB on one thread, hashing each of the same distinct texts. Without --queries (CSV
or Parquet with a column `query`) the texts are those of the simulator; also measured are texts that all have a cue.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import numpy as np

from search_insights.classifier.features import normalise, texts_with_cue
from search_insights.classifier.files import read_texts
from search_insights.classifier.model import load_classifier
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import week_of
from search_insights.support.database import connect

ROUNDS = 5


def fastest(work: Callable[[], object]) -> float:
    """Time work several times on this thread; other work of the machine only ever adds."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.thread_time()
        work()
        seconds.append(time.thread_time() - begin)
    return min(seconds)


def speed_of(texts: Sequence[str]) -> dict[str, float]:
    """Compare the classifier with DuckDB's hash of the same texts."""
    classifier = load_classifier()
    own = fastest(lambda: classifier.classify(texts))
    with connect(threads=1) as connection:
        connection.register("given", {"query": np.array(texts, dtype=object)})
        connection.execute("CREATE TABLE texts AS SELECT DISTINCT query FROM given")
        reference = fastest(lambda: connection.execute("SELECT count(DISTINCT hash(query)) FROM texts").fetchall())
    seen = sum(texts_with_cue(normalise(texts[i : i + 9999]), classifier.cues).size for i in range(0, len(texts), 9999))
    return {
        "texts": len(texts),
        "with a cue": round(seen / len(texts), 4),
        "texts a second, one core": round(len(texts) / own),
        "times the reference's seconds": round(own / reference, 2),
    }


def in_anonymize(coverage: Coverage, log: Path, named: Path) -> dict[str, float]:
    """Compare counting a day of queries with counting the same day with categories."""
    week = week_of(coverage.spec, date(2021, 3, 8))
    seconds = {}
    for name, folder in (("queries", log), ("categories", named)):
        with open_duckdb_engine(LogSource((str(folder),)), coverage.spec, region_names(coverage)) as engine:
            begin = time.perf_counter()
            for day in week.days:
                engine.bound(day, *week.day_bounds(day))
            seconds[name] = time.perf_counter() - begin
    return {"week of queries, seconds": round(seconds["queries"], 2), "of categories": round(seconds["categories"], 2)}


def main() -> None:
    """Print the measurements as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=400_000)
    parser.add_argument("--events-per-week", type=int, default=3_000_000)
    parser.add_argument("--queries", type=Path)
    args = parser.parse_args()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    load_classifier().classify(["covid vaccine near me " * 10] * 100_000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"process, MB": after // 1024, "of it the classifier": (after - before) // 1024}), flush=True)
    coverage = Coverage(load_spec(), load_geography())
    with tempfile.TemporaryDirectory() as folder:
        log, named = Path(folder) / "log", Path(folder) / "named"
        named.mkdir()
        simulate(log, coverage, date(2021, 3, 8), 1, args.events_per_week, 7, queries=True, named=named)
        with connect() as connection:
            rows = connection.execute(f"SELECT DISTINCT query FROM '{log}/*.parquet' LIMIT {args.texts}").fetchall()
        texts = read_texts(args.queries)[: args.texts] if args.queries else [text for (text,) in rows]
        print(json.dumps(speed_of(texts)), flush=True)
        cues = load_classifier().cues
        print(json.dumps(speed_of([texts[i] for i in texts_with_cue(normalise(texts), cues).tolist()])), flush=True)
        print(json.dumps(in_anonymize(coverage, log, named)), flush=True)


if __name__ == "__main__":
    main()
