"""The inputs of the benchmarks, all of the whole United States: made-up logs and stores, and simulated logs."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np

from evidence.measuring import united_states
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.simulation.simulation import SimulatedLog, simulate
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone_data_version
from search_insights.store.ledger import LedgerEntry, checksum, instants_of
from search_insights.store.opening import create_or_open_store
from search_insights.support.arrays import Counts
from search_insights.support.sql import connect

MONDAY = date(2021, 3, 1)  # of the log's week, which has seven days of 24 hours
USERS = 3_000_000
ROW_GROUP = 1_000_000  # rows

TOPICS = np.array([1.0, 0.009, 0.004, 0.007])  # any search, A1, A2, A3
SEARCHES_PER_HEAD = 0.2


def make_log(
    folder: Path, events: int, *, text_ids: bool = False, row_group: int = ROW_GROUP, users: int = USERS
) -> None:
    """Write a log of 7 days, one file a day: random users, two ZIP code areas a user, 3 % of searches about a topic.

    Beside `region` there are the columns `state`, `county` and `zip`, with the codes of these levels.

    Arrow writes a million rows a row group by default; then the region column is stored as a dictionary. With the
    122,880 rows that DuckDB writes it is not, and takes longer to read.
    """
    geography = load_geography()
    zips = [r for r in geography.regions if r.level == "postal_code"]
    above: dict[str, list[str]] = {"state": [], "county": []}
    for region in zips:
        for place in geography.lineage(region):
            above.get(place.level, []).append(place.code)
    columns = {"place_id": [r.place_id for r in zips], "zip": [r.code for r in zips], **above}
    user = f"hash(e.i, {{day}}, 1) % {users}"
    with connect() as connection:
        given = ", ".join(f"unnest(?::TEXT[]) AS {name}" for name in columns)
        connection.execute(
            f"CREATE TABLE zips AS SELECT unnest(range(?)) AS n, {given}", [len(zips), *columns.values()]
        )
        for day in range(7):
            who = user.format(day=day)
            connection.execute(f"""
                COPY (
                    SELECT {f"md5(CAST({who} AS TEXT))" if text_ids else f"CAST({who} AS BIGINT)"} AS user_id,
                           TIMESTAMPTZ '{MONDAY} 08:00:00+00' + to_days({day})
                               + to_microseconds(CAST(hash(e.i, {day}, 2) % 86_400_000_000 AS BIGINT)) AS timestamp,
                           place_id AS region, state, county, zip,
                           CASE WHEN topic < 13 THEN 'A1' WHEN topic < 18 THEN 'A2' WHEN topic < 30 THEN 'A3' END
                               AS category
                    FROM (
                        SELECT e.i, hash(e.i, {day}, 3) % 1000 AS topic,
                               CAST(hash({who}, hash(e.i, {day}, 5) % 10 // 8) % {len(zips)} AS BIGINT) AS n
                        FROM range({events // 7}) AS e(i)
                    ) AS e JOIN zips USING (n)
                ) TO '{folder}/{MONDAY + timedelta(days=day)}.parquet'
                (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {row_group})""")


def simulate_with_truth(
    folder: Path, coverage: Coverage, first_week: date, weeks: int, events_per_week: int, seed: int
) -> tuple[SimulatedLog, Path]:
    """Simulate a log; return it and the file of its exact counts, which lies beside the folder."""
    truth = folder.with_suffix(".parquet")
    log = simulate(folder, coverage, first_week, weeks, events_per_week, seed=seed, truth=truth)
    add_exact_counts(truth, folder, log.weeks, coverage, lambda text: None)
    return log, truth


def make_store(path: Path, weeks: int, *, first: int = 0) -> None:
    """Commit weeks of counts such as a log could give, with rounded normal noise, which is good enough for speed.

    They begin with week number `first`; a store that is there already gets them in addition.

    Every region has searches in proportion to its population; about 2 % of them are about vaccination, and that share
    varies from week to week.
    """
    coverage = united_states()
    cells, spec = CellList(coverage), coverage.spec
    population = np.array([region.population or 5_000 for region in cells.regions], dtype=np.float64)
    expected = SEARCHES_PER_HEAD * population[:, None] * TOPICS
    rng = np.random.default_rng(7 + first)
    with create_or_open_store(path, coverage) as store:
        for number in range(first, first + weeks):
            week = Week(spec.sparsity.first_week + timedelta(weeks=number), spec.time_zone)
            interest = np.array([1.0, *[1 + 0.8 * np.sin(number / 8)] * 3])
            noisy: Counts = (rng.poisson(expected * interest).ravel() + rng.normal(0, cells.sigmas)).astype(np.int64)
            store.commit_week(week, noisy, _entry_of(coverage, week, noisy))


def _entry_of(coverage: Coverage, week: Week, noisy: Counts) -> LedgerEntry:
    promise = coverage.spec.promise
    begins_at, ends_at = instants_of(week)
    return LedgerEntry(
        week=week.first_day,
        committed_at=str(week.days[-1]),
        epsilon=promise.epsilon,
        delta=promise.delta,
        mechanism="made up",
        cells=noisy.size,
        checksum=checksum(week.first_day, noisy),
        spec=coverage.spec.fingerprint,
        geography=coverage.geography.fingerprint,
        engine="none",
        program="0",
        missing_days="",
        classifier="",
        naive_zone="",
        begins_at=begins_at,
        ends_at=ends_at,
        times="instant",
        zone_data=zone_data_version(),
        time_column="timestamp",
    )
