"""OpenDP's Polars context: one query for each level, size class and category, one row a user-day (X1, X2, X4).

X4: `truncate_num_groups` keeps one size class of a user-day before anything looks at topics. It keeps a group less
than it is asked for (0.16.0 numbers groups from 1 and keeps those below k), hence the 2, and its draw at random fails on
the one column ("multiple fields with name"), hence `keep="first"`: the class is the user-day's smallest. The same step
puts searches of the query's topic before others, so that the one row that is kept is one of them if there is any.
A context adds up what its queries cost, also those of size classes that exclude each other.
"""

import sys

import opendp.prelude as dp
import polars as pl
from measured import CATEGORIES, groups_of, report, rho_of

dp.enable_features("contrib")


def main(folder: str) -> None:
    """Read the log and release noisy counts of all cells."""
    groups = groups_of(folder)
    weights = [rho_of(sigma) for group in groups for sigma in group.sigmas]
    context = dp.Context.compositor(
        data=pl.scan_parquet(f"{folder}/log.parquet"),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_day"),
        privacy_loss=dp.loss_of(rho=sum(weights)),
        split_by_weights=weights,
    )
    released, scales = [], []
    for group in groups:
        keys = pl.LazyFrame({group.level: group.regions}, schema={group.level: pl.Int64})
        for category in CATEGORIES:
            query = context.query()
            if group.size_class:
                query = query.truncate_num_groups(2, by=["size_class"], keep="first")
            if category:
                query = query.truncate_num_groups(2, by=[pl.col("category") != category], keep="first")
            query = query.truncate_per_group(1)
            if group.size_class:
                query = query.filter(pl.col("size_class") == group.size_class)
            if category:
                query = query.filter(pl.col("category") == category)
            query = query.group_by(group.level).agg(dp.len(signed=True)).with_keys(keys)
            if len(scales) < len(CATEGORIES):
                scales.append(query.summarize()["scale"][0])
            released.append(query.release().collect()["len"])
    totals = [counts.sum() for counts in released[: len(CATEGORIES)]]
    report(sum(len(counts) for counts in released), totals, scales)


if __name__ == "__main__":
    main(sys.argv[1])
