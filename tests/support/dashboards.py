"""The dashboard's tests: datasets of the United States (few weeks) and of Qazaria, and how to read a site's files."""

import gzip
import hashlib
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import search_insights
from search_insights.dataset.publication import publish
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from tests.support.other_country import other_geography, other_spec
from tests.support.stores import add_weeks

PAGE = Path(search_insights.__file__).parent / "dashboards" / "page"
US = "US_vaccination_search_insights"
QAZARIA = "QZ_heating_search_trends"
US_WEEKS = 10  # more than one block of weeks of the map
FIRST_WEEK, LAST_WEEK = "2021-01-04", "2021-03-08"
CALIFORNIA, TEXAS, SAN_FRANCISCO, ZIP = "geoId/06", "geoId/48", "geoId/06075", "zip/94110"
TEXAS_ON_MAP = (0.48, 0.7)  # in shares of the width and height of the map

Counts = tuple[int, ...]


def us_dataset(folder: Path) -> Path:
    """Publish weeks in which interest rises, more in some counties than in others; small counties have no value."""
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
    """Publish Qazaria, whose names are hostile. One canton lacks the middle week, one commune every week."""
    coverage = Coverage(other_spec(), load_geography(other_geography(folder)))
    usual = (50_000, 4_000, 2_500, 1_500)
    gap: dict[str, Counts] = {"qz/c/011": (0, 0, 0, 0)}
    never: dict[str, Counts] = {"qz/m/0112": (0, 0, 0, 0)}
    weeks = [never | {"qz/p/01": (60_000, 3_000 + 500 * i, 2_000, 900)} | (gap if i == 2 else {}) for i in range(5)]
    publish(add_weeks(folder / "qazaria.db", coverage, *weeks, usual=usual), folder / "qazaria")
    return folder / "qazaria"


def with_a_zero(dataset: Path, copy: Path) -> Path:
    """Copy Qazaria's dataset with one value set to 0; noise and rounding can give 0, but not on demand."""
    shutil.copytree(dataset, copy)
    table = copy / f"{QAZARIA}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{table}'")
        connection.execute(
            "UPDATE t SET index_firewood = 0, index_firewood_low = 0 WHERE place_id = 'qz/c/012' "
            "AND date = DATE '2023-10-08'"
        )
        connection.execute(f"COPY t TO '{table}' (FORMAT parquet)")
        trends = ("index_firewood", "index_keeping_warm")
        values = ", ".join(f"CAST({c} AS DECIMAL(18, 3)) AS {c}" for c in trends)
        ends = ", ".join(f"{c}_low, {c}_high" for c in trends)
        rows = f"SELECT * EXCLUDE (level, code, {ends}) REPLACE ({values}) FROM t"
        connection.execute(f"COPY ({rows}) TO '{table.with_suffix('.csv')}' (HEADER)")
    return described_again(copy)


def described_again(dataset: Path) -> Path:
    """Write the size and checksum of each table to datapackage.json, as someone who changes a dataset would."""
    path = dataset / "datapackage.json"
    package = json.loads(path.read_text(encoding="utf-8"))
    for resource in package["resources"]:
        content = (dataset / resource["path"]).read_bytes()
        size = "bytes" if "bytes" in resource else "size"
        resource |= {size: len(content), "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
    path.write_text(json.dumps(package), encoding="utf-8")
    return dataset


# The files of a site


def read_json(path: Path) -> Any:
    """Read a compressed JSON file."""
    return json.loads(gzip.decompress(path.read_bytes()))


def read_numbers(path: Path) -> "np.ndarray[Any, np.dtype[np.int32]]":
    """Read a file of numbers as the page does: all lowest bytes, then all second bytes, and so on."""
    planes = np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8)
    return np.ascontiguousarray(planes.reshape(4, -1).T).view("<i4").ravel()


def read_outlines(path: Path) -> dict[str, Any]:
    """Read a file of packed outlines."""
    return unpacked_outlines(read_numbers(path))


def unpacked_outlines(numbers: "np.ndarray[Any, np.dtype[np.int32]]") -> dict[str, Any]:
    """Unpack outlines as outline_file.py describes them: lines as arrays of points, rings of each region."""
    stored = iter(numbers.tolist())

    def take(count: int) -> list[int]:
        return [(z >> 1) ^ -(z & 1) for z in itertools.islice(stored, count)]

    width, height, lines, regions = take(4)
    sizes, starts = take(lines), np.array(take(2 * lines)).reshape(-1, 2)
    found, end = [], np.zeros(2, dtype=int)
    for size, start in zip(sizes, starts, strict=True):
        steps = np.array(take(2 * (size - 1)), dtype=int).reshape(-1, 2)
        found.append(np.cumsum(np.vstack([end + start, steps]), axis=0))
        end = found[-1][-1]
    counts = [take(take(1)[0]) for _ in range(regions)]
    number, outlines = 0, []
    for region in counts:
        rings = []
        for size in region:
            references = take(size)
            numbers = number + np.cumsum([r >> 1 for r in references])
            number = int(numbers[-1])
            rings.append([int(~n if r & 1 else n) for n, r in zip(numbers, references, strict=True)])
        outlines.append(rings)
    return {"width": width, "height": height, "lines": found, "rings": outlines}


def data_folder(site: Path, key: str) -> Path:
    """Return the folder with the data files of a dataset."""
    datasets = json.loads((site / "site.json").read_text(encoding="utf-8"))["datasets"]
    [folder] = [str(entry["data"]) for entry in datasets if entry["key"] == key]
    return site / folder


def region_ids(data: Path) -> list[str]:
    """Return the place_ids in the order of the region numbers."""
    return [*read_json(data / "regions.json.gz")["id"], *read_json(data / "finer.json.gz")["id"]]


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file in a folder, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
