"""Tumult Analytics on a local Spark: one query for each level and category, one row a user-day (X1, X2)."""

import os
import sys

from measured import CATEGORIES, LEVELS, cells_of, report
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, CountMechanism, KeySet, MaxRowsPerID, QueryBuilder, RhoZCDPBudget, Session


def main(folder: str) -> None:
    """Read the log and release noisy counts of all cells."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.extraJavaOptions", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
        .getOrCreate()
    )
    budget = RhoZCDPBudget(0.1)
    session = Session.from_dataframe(
        budget, "log", spark.read.parquet(f"{folder}/log.parquet"), protected_change=AddRowsWithID("user_day")
    )
    each = RhoZCDPBudget(0.1 / (len(LEVELS) * len(CATEGORIES)))
    cells, total = 0, 0
    for level in LEVELS:
        keys = KeySet.from_dict({level: cells_of(folder, level)})
        for category in CATEGORIES:
            query = QueryBuilder("log")
            if category:
                query = query.filter(f"category = {category}")
            counted = query.enforce(MaxRowsPerID(1)).groupby(keys).count(mechanism=CountMechanism.GAUSSIAN)
            rows = session.evaluate(counted, each).collect()
            cells += len(rows)
            total = total or sum(row["count"] for row in rows)
    report(cells, total)


if __name__ == "__main__":
    main(sys.argv[1])
