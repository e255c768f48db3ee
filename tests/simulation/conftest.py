"""The simulated United States that several test modules query."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pytest

from search_insights.simulation.files import log_region_names
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from tests.support.simulated_logs import MONDAY, US_EVENTS, Query


@pytest.fixture(scope="session")
def us_log(us_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """Query a simulated week of the United States: `log`, `truth`, and `names`, the regions as logs write them."""
    folder = tmp_path_factory.mktemp("us")
    simulate(folder / "log", us_coverage, MONDAY, 1, US_EVENTS, 7, truth=folder / "truth.parquet")
    regions = us_coverage.geography.regions
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/Los_Angeles'")
        connection.read_parquet(str(folder / "log/*.parquet")).create("log")
        connection.read_parquet(str(folder / "truth.parquet")).create("truth")
        lineages = [list(us_coverage.geography.lineage(r))[::-1] for r in regions]
        columns = {
            "region": log_region_names(us_coverage),
            "level": [r.level for r in regions],
            "state": [lineage[1].place_id if len(lineage) > 1 else "" for lineage in lineages],
            "county": [lineage[2].place_id if len(lineage) > 2 else "" for lineage in lineages],
        }
        connection.register("given", {k: np.array(v, dtype=object) for k, v in columns.items()})
        connection.execute("CREATE TABLE names AS FROM given WHERE level <> 'country'")
        yield lambda query: connection.execute(query).fetchall()
