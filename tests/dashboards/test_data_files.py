"""The dashboard's data files hold every published value, exactly, and nothing that is not published."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from search_insights.dashboards.data_files import BLOCK_WEEKS
from search_insights.dashboards.values import MISSING
from search_insights.spec.coverage import Coverage
from tests.support.dashboards import QAZARIA, US, data_folder, read_json, read_numbers, region_ids

TRENDS = 3
PARTS = 3


def published(dataset: Path, column: str) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Read one trend of the dataset with plain SQL."""
    [parquet] = dataset.glob("*.parquet")
    rows = duckdb.connect().execute(
        f"SELECT place_id, strftime(date, '%Y-%m-%d'), {column}, {column}_low, {column}_high FROM '{parquet}' "
        f"WHERE {column} IS NOT NULL"
    )
    return {(place, week): (value, low, high) for place, week, value, low, high in rows.fetchall()}


def test_the_series_are_the_published_values_and_no_others(us_data: Path, us_site: Path) -> None:
    """Every published value and interval is in a series file, to the last digit. A missing value is never 0."""
    data = data_folder(us_site, US)
    index, ids = read_json(data / "index.json.gz"), region_ids(data)
    for t, trend in enumerate(index["trends"]):
        found = {}
        for number in index["withSeries"]:
            found.update(series_values(data / "series" / f"{number}.bin.gz", t, index, ids))
        expected = published(us_data, trend["column"])
        assert found.keys() == expected.keys()
        np.testing.assert_allclose([found[k] for k in expected], list(expected.values()), atol=5e-4)


def series_values(path: Path, trend: int, index: dict[str, Any], ids: list[str]) -> dict[tuple[str, str], Any]:
    given = read_numbers(path)
    rows = given[1 : given[0] + 1]
    cells = given[given[0] + 1 :].reshape(len(rows), TRENDS, PARTS, len(index["weeks"]))[:, trend] / 1000.0
    return {
        (ids[region], index["weeks"][w]): (
            cells[i, 0, w],
            cells[i, 0, w] - cells[i, 1, w],
            cells[i, 0, w] + cells[i, 2, w],
        )
        for i, region in enumerate(rows)
        for w in np.flatnonzero(cells[i, 0] != MISSING / 1000.0)
    }


def test_the_map_holds_the_published_values_of_the_levels_with_outlines(us_data: Path, us_site: Path) -> None:
    """States and counties of every week, in blocks of weeks; the last block may be shorter."""
    data = data_folder(us_site, US)
    index, ids = read_json(data / "index.json.gz"), region_ids(data)[: 1 + 51 + 3142]
    assert index["core"] == len(ids)
    number = {place: n for n, place in enumerate(ids)}
    expected = np.full((len(index["weeks"]), len(ids)), MISSING)
    for (place, week), (value, _, _) in published(us_data, index["trends"][1]["column"]).items():
        if place in number:
            expected[index["weeks"].index(week), number[place]] = round(value * 1000)
    blocks = [read_numbers(data / "map" / f"1-{block}.bin.gz").reshape(-1, PARTS, len(ids)) for block in range(2)]
    assert [len(block) for block in blocks] == [BLOCK_WEEKS, len(index["weeks"]) - BLOCK_WEEKS]
    np.testing.assert_array_equal(np.concatenate(blocks)[:, 0], expected)


def test_a_value_of_zero_is_kept_and_is_not_missing(zero_site: Path) -> None:
    """In the files, a published 0 differs from a week without a value."""
    data = data_folder(zero_site, QAZARIA)
    index, ids = read_json(data / "index.json.gz"), region_ids(data)
    given = read_numbers(data / "series" / f"{ids.index('qz/p/01')}.bin.gz")
    rows = list(given[1 : given[0] + 1])
    cells = given[given[0] + 1 :].reshape(len(rows), 2, PARTS, len(index["weeks"]))
    assert cells[rows.index(ids.index("qz/c/012")), 0, 0, 1] == 0
    assert cells[rows.index(ids.index("qz/c/011")), 0, 0, 2] == MISSING


def test_the_scale_of_a_trend_is_the_same_in_all_weeks(us_data: Path, us_site: Path) -> None:
    """A trend has one step, which keeps most values of all weeks below the open-ended last class."""
    index = read_json(data_folder(us_site, US) / "index.json.gz")
    for trend in index["trends"]:
        values = [v[0] for v in published(us_data, trend["column"]).values()]
        assert 0.9 < np.mean(np.array(values) < trend["step"] * (index["classes"] - 1)) <= 1


def test_regions_say_why_they_are_not_reported(us_site: Path, us_coverage: Coverage) -> None:
    """Exactly the regions that the spec excludes are marked, each with its reason in plain words."""
    data = data_folder(us_site, US)
    index = read_json(data / "index.json.gz")
    marked: dict[str, str] = {}
    for name in ("regions", "finer"):
        columns = read_json(data / f"{name}.json.gz")
        marked |= {i: index["reasons"][why - 1] for i, why in zip(columns["id"], columns["why"], strict=True) if why}
    assert set(marked) == {place for place, standing in us_coverage.standings.items() if not standing.reported}
    assert len(index["reasons"]) == 2
    levels = {"level": {"level": "postal_code"}, "parent": {"level": "county"}}
    assert {"say": "why_small_parent", **levels, "people": 100_000} in index["reasons"]
    assert {"say": "why_area", "area": {"number": 3.0}} in index["reasons"]


def test_the_explanations_come_from_the_datasets_own_statements(us_site: Path) -> None:
    """The metadata says what a value means, why some are missing, what is promised and when it was updated."""
    index = read_json(data_folder(us_site, US) / "index.json.gz")
    facts = {fact["say"]: fact for part in index["about"] for fact in part["text"] if isinstance(fact, dict)}
    scale = facts["value_is_on_scale"]
    assert (scale["maximum"], scale["topic"]["text"]) == ({"number": 100.0}, {"trend": "covid19_vaccination"})
    assert facts["missing_rule"] == {"say": "missing_rule", "confidence": {"percent": 0.8}, "error": {"percent": 0.15}}
    assert facts["promise"] == {"say": "promise", "epsilon": {"number": 2.19}, "delta": {"number": 1e-5}}
    assert facts["weeks_held"]["count"] == len(index["weeks"])
