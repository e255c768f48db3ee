"""The usual log as the program reads it."""

import pytest

from tests.support.logs import ROWS, ReadRow, read, write_log


@pytest.fixture(scope="session")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[ReadRow]:
    """The rows of the usual log, read from one Parquet file."""
    rows = read(write_log(tmp_path_factory.mktemp("usual") / "log.parquet"))
    assert len(rows) == ROWS
    return rows
