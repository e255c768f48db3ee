"""OpenDP's Polars context: one query for each level and category, one row a user-day (X1, X2)."""

import sys

import opendp.prelude as dp
import polars as pl
from measured import CATEGORIES, LEVELS, cells_of, report

dp.enable_features("contrib")


def main(folder: str) -> None:
    """Read the log and release noisy counts of all cells."""
    context = dp.Context.compositor(
        data=pl.scan_parquet(f"{folder}/log.parquet"),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_day"),
        privacy_loss=dp.loss_of(rho=0.1),
        split_evenly_over=len(LEVELS) * len(CATEGORIES),
    )
    released = []
    for level in LEVELS:
        keys = pl.LazyFrame({level: cells_of(folder, level)}, schema={level: pl.Int64})
        for category in CATEGORIES:
            query = context.query()
            if category:
                query = query.filter(pl.col("category") == category)
            query = query.truncate_per_group(1).group_by(level).agg(dp.len(signed=True)).with_keys(keys)
            released.append(query.release().collect())
    report(sum(len(frame) for frame in released), int(released[0]["len"].sum()))


if __name__ == "__main__":
    main(sys.argv[1])
