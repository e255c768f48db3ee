"""OpenDP's Polars context: one query for each level, size class and category, one row a user-day (X1, X2, X4).

X4: `truncate_num_groups` keeps one size class of a user-day before topics are considered. It keeps one group fewer than
it is asked for (0.16.0 numbers groups from 1 and keeps those below k), hence the 2. Its random choice fails on a single
column ("multiple fields with name"), hence `keep="first"`: the class is the user-day's smallest. The same step puts
searches of the query's topic before others, so that the one row kept is one of them if there is any.
A context adds up the cost of its queries, even of size classes that exclude each other, so X4 saves no budget in it.
With --without-x4 it is left out, and each query filters its rows first, which is less work.

The noise scale is given. `release()` would search for it in hundreds of steps for each query, which takes seconds.
"""

import sys

import opendp.prelude as dp
import polars as pl
from measured import CATEGORIES, Group, groups_of, report, rho_of
from opendp.extras.polars import LazyFrameQuery

dp.enable_features("contrib")

LEAST = {"k": 2, "keep": "first"}  # the first group only


def bounded(query: LazyFrameQuery, group: Group, category: int) -> LazyFrameQuery:
    """Keep one row of each user-day: of its one size class, and of the topic if it has any; then filter."""
    if group.size_class:
        query = query.truncate_num_groups(by=["size_class"], **LEAST)
    if category:
        query = query.truncate_num_groups(by=[pl.col("category") != category], **LEAST)
    return chosen(query.truncate_per_group(1), group, category)


def chosen(query: LazyFrameQuery, group: Group, category: int) -> LazyFrameQuery:
    """Keep the rows of a size class and category."""
    if group.size_class:
        query = query.filter(pl.col("size_class") == group.size_class)
    return query.filter(pl.col("category") == category) if category else query


def main(folder: str, *options: str) -> None:
    """Read the log and release noisy counts of all cells."""
    groups = groups_of(folder)
    weights = [rho_of(sigma) for group in groups for sigma in group.sigmas]
    context = dp.Context.compositor(
        data=pl.scan_parquet(f"{folder}/log.parquet"),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_day"),
        privacy_loss=dp.loss_of(rho=sum(weights) * (1 + 1e-9)),  # for sums of floating-point numbers
        split_by_weights=weights,
    )
    space, measure = context.accountant.input_space, context.accountant.output_measure
    released = []
    for group in groups:
        keys = pl.LazyFrame({group.level: group.regions}, schema={group.level: pl.Int64})
        for category, sigma in zip(CATEGORIES, group.sigmas, strict=True):
            if "--without-x4" in options:
                query = chosen(context.query(), group, category).truncate_per_group(1)
            else:
                query = bounded(context.query(), group, category)
            query = query.group_by(group.level).agg(dp.len(scale=sigma, signed=True)).with_keys(keys)
            counted = dp.m.make_private_lazyframe(*space, measure, query.polars_plan, global_scale=1.0)
            released.append(context(counted).collect()["len"])
    totals = [counts.sum() for counts in released[: len(CATEGORIES)]]
    report(sum(len(counts) for counts in released), totals, groups[0].sigmas)


if __name__ == "__main__":
    main(*sys.argv[1:])
