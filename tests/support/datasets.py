"""Published datasets of the little country, and how to read their files."""

import csv
import json
from pathlib import Path
from typing import Any

import duckdb

from search_insights.dataset.folder import REGIONS
from search_insights.dataset.publication import publish
from search_insights.support.sql import literal

STEM = "US_vaccination_search_insights"
HEADER = (
    "date,country_region,country_region_code,sub_region_1,sub_region_1_code,sub_region_2,sub_region_2_code,"
    "sub_region_3,sub_region_3_code,place_id,sni_covid19_vaccination,sni_vaccination_intent,sni_safety_side_effects"
)
COLUMNS = ("sni_covid19_vaccination", "sni_vaccination_intent", "sni_safety_side_effects")


def dataset_of(store: Path, name: str = "dataset") -> Path:
    """Publish a store to a folder beside it."""
    publish(store, store.parent / name)
    return store.parent / name


def text_of(dataset: Path) -> str:
    """Return the CSV file as text."""
    [path] = (path for path in dataset.glob("*.csv") if path.name != REGIONS)
    return path.read_bytes().decode("utf-8")


def rows_of(dataset: Path) -> list[dict[str, str]]:
    """Return the rows of the CSV file, read as any program would."""
    return list(csv.DictReader(text_of(dataset).splitlines()))


def parquet_rows(dataset: Path) -> list[dict[str, Any]]:
    """Return the rows of the Parquet file."""
    [path] = dataset.glob("*.parquet")
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM {literal(str(path))}")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def json_of(dataset: Path, name: str) -> Any:
    """Return the content of a JSON file."""
    return json.loads((dataset / name).read_text(encoding="utf-8"))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
