"""Several published datasets, one for each country: which folders they are in, and whether they share one scale."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from search_insights.dataset.folder import Dataset, TableFile, TrendColumn
from search_insights.dataset.form import COMBINED, require_form
from search_insights.errors import InputError
from search_insights.support.files import read_plain
from search_insights.support.sql import public_tables
from search_insights.support.strict_json import parse_json

COMBINED_KIND = "search-insights combine"  # what `program` of a combined folder says
_NAME = re.compile(r"[\w-][\w.-]*")  # of a folder in a combined one


def read_combined(folder: Path) -> dict[str, Any] | None:
    """Return the description of a folder of several datasets; None if it is not one."""
    path = folder / "datapackage.json"
    try:
        package = parse_json(read_plain(path), path)
    except InputError:
        return None
    if not isinstance(package, dict) or package.get("program") != COMBINED_KIND:
        return None
    require_form(package, COMBINED, path)
    return package


def dataset_folders(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders of datasets: those that are given, and those inside a combined folder."""
    for folder in folders:
        package = read_combined(folder)
        if package is None:
            yield folder
            continue
        for entry in package["datasets"]:
            if not _NAME.fullmatch(entry["path"]):
                raise InputError(f"{folder / 'datapackage.json'}: path {entry['path'][:80]!r}: expected a folder in it")
            yield folder / entry["path"]


def country_tables(folder: Path) -> Iterator[TableFile]:
    """Yield the tables of countries of a combined folder; none of any other folder."""
    for resource in (read_combined(folder) or {"resources": []})["resources"]:
        if not _NAME.fullmatch(resource["path"]):
            raise InputError(f"{folder / 'datapackage.json'}: path {resource['path'][:80]!r}: expected a file in it")
        yield TableFile(folder / resource["path"], resource.get("bytes", resource.get("size")), resource["hash"])


def country_of(dataset: Dataset) -> tuple[str, str]:
    """Return the code and the name of a dataset's country, as its rows have them."""
    with public_tables() as connection:
        query = f"SELECT country_region_code, any_value(country_region) FROM {dataset.table} GROUP BY 1"
        rows = connection.execute(query).fetchall()
    if len(rows) != 1 or None in rows[0]:
        raise InputError(f"{dataset.folder}: its rows do not name one country; publish the dataset again")
    code, name = rows[0]
    return str(code), str(name)


def factor_of(dataset: Dataset) -> float | None:
    """Return the one factor that scales all values of a dataset; None if it has several."""
    factor = dataset.privacy.get("scaling", {}).get("factor")
    return None if factor is None else float(factor)


def share_scale(datasets: Sequence[Dataset]) -> bool:
    """Return whether the values of datasets can be compared: one factor, the same for all."""
    factors = {factor_of(dataset) for dataset in datasets}
    return len(factors) == 1 and None not in factors


def shared_trends(datasets: Sequence[Dataset]) -> tuple[TrendColumn, ...]:
    """Return the trends that all datasets have, as the first of them describes them."""
    times = Counter((trend.column, trend.name) for dataset in datasets for trend in dataset.trends)
    return tuple(t for t in datasets[0].trends if times[t.column, t.name] == len(datasets))
