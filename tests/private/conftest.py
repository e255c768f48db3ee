"""The usual log as the program reads it, and the engines that bound."""

from typing import TYPE_CHECKING

import pytest

from tests.support.logs import ROWS, ReadRow, read, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[ReadRow]:
    """The rows of the usual log, read from one Parquet file."""
    rows = read(write_log(tmp_path_factory.mktemp("usual") / "log.parquet"))
    assert len(rows) == ROWS
    return rows


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark", marks=pytest.mark.thorough)])
def engine_session(request: pytest.FixtureRequest) -> "SparkSession | None":
    """A Spark session, None for DuckDB."""
    return request.getfixturevalue("spark") if request.param == "spark" else None
