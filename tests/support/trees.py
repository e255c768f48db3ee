"""A small country with regions of every level and class."""

from pathlib import Path

from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import Row, write_csv


def tree_of_cells(folder: Path) -> CellList:
    """Return the cells of vaccination-v2 for two states, in which every level and class has regions."""
    rows: list[Row] = [("US", "United States", "country", None, None, None, None, None, "US")]
    for state in ("S1", "S2"):
        rows.append((state, state, "state", "US", None, 9e4, None, None, state))
        for i, population in enumerate((50_000, 60_000, 90_000, 200_000, 900_000)):
            county = f"{state}{i}"
            rows.append((county, county, "county", state, population, 900.0, None, None, county))
            codes = [f"{county}{j}" for j in range(3)] if population >= 100_000 else []
            rows += [(code, "somewhere", "postal_code", county, None, 90.0, None, None, code) for code in codes]
    return CellList(Coverage(load_spec("vaccination-v2"), load_geography(write_csv(folder / "tree.csv", rows))))
