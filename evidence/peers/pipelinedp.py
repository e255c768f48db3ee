"""PipelineDP on its local backend: one aggregation for each level and category, one partition a user-day (X1, X2).

Aggregations choose independently of each other, so X4 cannot be expressed, and each has one noise scale. Each of the
twelve gets a twelfth of the promised epsilon and delta, as its accountant splits them.
"""

import sys

import pipeline_dp
import pyarrow.parquet as parquet
from measured import CATEGORIES, groups_of, report


def main(folder: str) -> None:
    """Read the log and release noisy counts of all cells."""
    log = parquet.read_table(f"{folder}/log.parquet").to_pydict()
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=2.19, total_delta=1e-5)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        output_noise_stddev=True,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,
    )
    cells: dict[str, list[int]] = {}
    for group in groups_of(folder):
        cells.setdefault(group.level, []).extend(group.regions)
    results = []
    for level, regions in cells.items():
        rows = list(zip(log["user_day"], log[level], log["category"], strict=True))
        for category in CATEGORIES:
            chosen = [row for row in rows if category in (0, row[2])]
            results.append(engine.aggregate(chosen, params, extractors, public_partitions=regions))
    accountant.compute_budgets()
    released = [[metrics for _, metrics in result] for result in results]
    states = released[: len(CATEGORIES)]
    report(
        sum(len(counts) for counts in released),
        [sum(metrics.count for metrics in counts) for counts in states],
        [counts[0].count_noise_stddev for counts in states],
    )


if __name__ == "__main__":
    main(sys.argv[1])
