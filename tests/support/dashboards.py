"""Published datasets for the tests of the dashboard: the real United States with few weeks, and Qazaria."""

import shutil
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights.dataset.publication import publish
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import other_geography, other_spec
from tests.support.stores import add_weeks

US = "US_vaccination_search_insights"
QAZARIA = "QZ_heating_search_trends"
US_WEEKS = 10  # more than one block of weeks of the map
FIRST_WEEK, LAST_WEEK = date(2021, 1, 4), date(2021, 3, 8)

Counts = tuple[int, ...]


def us_dataset(folder: Path) -> Path:
    """Publish weeks in which interest rises, more in some counties than in others; little ones have no value."""
    coverage = Coverage(load_spec(), load_geography())
    weeks = [_us_week(coverage, number) for number in range(US_WEEKS)]
    publish(add_weeks(folder / "us.db", coverage, *weeks), folder / "us")
    return folder / "us"


def _us_week(coverage: Coverage, week: int) -> dict[str, Counts]:
    regions = coverage.geography.regions
    searches = 0.25 * np.array([region.population or 0 for region in regions])
    interest = (1 + 0.1 * week) * (0.6 + np.arange(len(regions)) * 37 % 100 / 100)
    counts = np.outer(searches * interest, [0.0, 0.02, 0.012, 0.009])
    counts[:, 0] = searches
    return {region.place_id: tuple(row) for region, row in zip(regions, counts.astype(int).tolist(), strict=True)}


def other_dataset(folder: Path) -> Path:
    """Publish Qazaria, whose names are hostile; one canton has no value in the middle week, one commune never."""
    coverage = Coverage(other_spec(), load_geography(other_geography(folder)))
    usual = (50_000, 4_000, 2_500, 1_500)
    gap: dict[str, Counts] = {"qz/c/011": (0, 0, 0, 0)}
    never: dict[str, Counts] = {"qz/m/0112": (0, 0, 0, 0)}
    weeks = [never | {"qz/p/01": (60_000, 3_000 + 500 * i, 2_000, 900)} | (gap if i == 2 else {}) for i in range(5)]
    publish(add_weeks(folder / "qazaria.db", coverage, *weeks, usual=usual), folder / "qazaria")
    return folder / "qazaria"


def quick_accounting(patch: pytest.MonkeyPatch) -> None:
    """Spare these tests the epsilon of several days, which takes longest and is not what they are about."""
    patch.setattr("search_insights.dataset.statement.epsilon_of_days", lambda spec, days: float(days))


def with_a_zero(dataset: Path, copy: Path) -> Path:
    """Copy Qazaria's dataset with one value set to 0, which rounding may give but no test can make noise give."""
    shutil.copytree(dataset, copy)
    table = copy / f"{QAZARIA}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{table}'")
        connection.execute(
            "UPDATE t SET index_firewood = 0, index_firewood_low = 0 WHERE place_id = 'qz/c/012' "
            "AND date = DATE '2023-10-08'"
        )
        connection.execute(f"COPY t TO '{table}' (FORMAT parquet)")
    return copy
