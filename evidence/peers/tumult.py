"""Tumult Analytics on a local Spark: one query for each level, size class and category (X1, X2, X4).

X4: `MaxGroupsPerID` keeps one size class of a user-day before topics are considered, and `partition_and_create` makes a
session of each class, so that together they cost as much as the most expensive of them.
"""

import os
import sys
from collections.abc import Iterator

from measured import CATEGORIES, Group, groups_of, report, rho_of
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    CountMechanism,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerID,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)


def spark_session(folder: str) -> SparkSession:
    """Start Spark on all cores."""
    return (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.extraJavaOptions", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
        .getOrCreate()
    )


def counts(session: Session, source: str, group: Group) -> Iterator[list[int]]:
    """Release the counts of a group, category by category."""
    keys = KeySet.from_dict({group.level: group.regions})
    for category, sigma in zip(CATEGORIES, group.sigmas, strict=True):
        query = QueryBuilder(source)
        if category:
            query = query.filter(f"category = {category}")
        counted = query.enforce(MaxRowsPerID(1)).groupby(keys).count(mechanism=CountMechanism.GAUSSIAN)
        yield [row["count"] for row in session.evaluate(counted, RhoZCDPBudget(rho_of(sigma))).collect()]


def main(folder: str) -> None:
    """Read the log and release noisy counts of all cells."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    log = spark_session(folder).read.parquet(f"{folder}/log.parquet")
    states, *classed = groups_of(folder)
    by_class: dict[int, list[Group]] = {}
    for group in classed:
        by_class.setdefault(group.size_class, []).append(group)
    costliest = max(sum(group.rho for group in groups) for groups in by_class.values())
    slack = 1 + 1e-9  # for sums of floating-point numbers
    budget = RhoZCDPBudget((states.rho + costliest * slack) * slack)
    session = Session.from_dataframe(budget, "log", log, protected_change=AddRowsWithID("user_day"))
    released = list(counts(session, "log", states))
    totals = [sum(found) for found in released]
    session.create_view(QueryBuilder("log").enforce(MaxGroupsPerID("size_class", 1)), "classed", cache=True)
    names = {f"class{number}": number for number in by_class}
    parts = session.partition_and_create("classed", RhoZCDPBudget(costliest * slack), "size_class", names)
    for name, part in parts.items():
        for group in by_class[names[name]]:
            released += counts(part, name, group)
        part.stop()
    report(sum(len(found) for found in released), totals, states.sigmas)


if __name__ == "__main__":
    main(sys.argv[1])
