"""PipelineDP on its local backend: one aggregation for each level and category, one partition a user-day (X1, X2)."""

import sys

import pipeline_dp
import pyarrow.parquet as parquet
from measured import CATEGORIES, LEVELS, cells_of, report


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
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: 0,
    )
    results = []
    for level in LEVELS:
        rows = list(zip(log["user_day"], log[level], log["category"], strict=True))
        for category in CATEGORIES:
            chosen = [row for row in rows if category in (0, row[2])]
            results.append(engine.aggregate(chosen, params, extractors, public_partitions=cells_of(folder, level)))
    accountant.compute_budgets()
    released = [list(result) for result in results]
    report(sum(len(cells) for cells in released), sum(metrics.count for _, metrics in released[0]))


if __name__ == "__main__":
    main(sys.argv[1])
