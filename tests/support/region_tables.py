"""What the tests of region tables share."""

from typing import Any

Row = tuple[Any, ...]

# The columns of a table of regions and their types in DuckDB.
REGION_COLUMNS = [
    ("code", "VARCHAR"),
    ("name", "VARCHAR"),
    ("level", "VARCHAR"),
    ("parent", "VARCHAR"),
    ("population", "BIGINT"),
    ("land_area_km2", "DOUBLE"),
    ("latitude", "DOUBLE"),
    ("longitude", "DOUBLE"),
    ("place_id", "VARCHAR"),
]
