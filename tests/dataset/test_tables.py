"""The tables of a dataset have the original's form, and what is missing is empty."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.dataset.tables import _rounded
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import build_geography
from search_insights.support.sql import public_tables
from tests.support.datasets import COLUMNS, HEADER, dataset_of, parquet_rows, rows_of, text_of
from tests.support.logs import LITTLE_REGIONS
from tests.support.other_country import OTHER_REGIONS
from tests.support.stores import CITY, TOWN, USUAL, add_weeks


def test_the_header_is_the_originals(store: Path) -> None:
    """The header line is that of the original dataset, byte for byte."""
    assert text_of(dataset_of(store)).split("\n")[0] == HEADER


def test_the_form_of_lines_and_values_is_the_originals(store: Path) -> None:
    """Lines end in LF, dates are the week's first day, values have 3 decimals, missing values are empty."""
    text = text_of(dataset_of(store))
    assert "\r" not in text
    assert text.endswith("\n")
    assert not text.startswith("\ufeff")
    lines = text.split("\n")
    assert lines[1] == "2021-01-04,United States,US,,,,,,,country/USA,100.000,50.000,33.333"
    assert lines[-2] == (
        "2021-01-11,United States,US,California,US-CA,El Dorado,,postal_code,95667,zip/95667,66.667,50.000,"
    )


def test_rows_of_each_level_fill_the_columns_of_their_level(store: Path) -> None:
    """States have ISO codes, counties FIPS codes; postal codes have the county's name without code, and the ZIP."""
    rows = {row["place_id"]: list(row.values())[1:10] for row in rows_of(dataset_of(store))}
    us = ["United States", "US"]
    assert rows["country/USA"] == [*us, "", "", "", "", "", "", "country/USA"]
    assert rows["geoId/06"] == [*us, "California", "US-CA", "", "", "", "", "geoId/06"]
    assert rows["geoId/06075"] == [*us, "California", "US-CA", "San Francisco", "06075", "", "", "geoId/06075"]
    assert rows[CITY] == [*us, "California", "US-CA", "San Francisco", "", "postal_code", "94103", CITY]


def test_rows_are_sorted_by_level_code_and_date(store: Path) -> None:
    """Rows are in the order of the public list of regions, and the weeks of a region in order of time."""
    rows = rows_of(dataset_of(store))
    order = [row[-1] for row in LITTLE_REGIONS if row[-1] not in ("zip/35013", "zip/94104", "zip/96120")]
    assert list(dict.fromkeys(row["place_id"] for row in rows)) == order
    keys = [(order.index(row["place_id"]), row["date"]) for row in rows]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("regions", [1, 3])
def test_it_does_not_matter_how_many_regions_are_put_in_order_at_once(
    store: Path, monkeypatch: pytest.MonkeyPatch, regions: int
) -> None:
    """The rows are the same, whether all regions are taken at once or some after the others."""
    rows, in_parquet = text_of(dataset_of(store)), parquet_rows(dataset_of(store))
    monkeypatch.setattr("search_insights.dataset.tables._REGIONS_AT_ONCE", regions)
    again = dataset_of(store)
    assert (text_of(again), parquet_rows(again)) == (rows, in_parquet)


def test_missing_is_empty_and_never_0(store: Path) -> None:
    """A row without any value is omitted; in other rows a missing value is empty."""
    rows = {(row["place_id"], row["date"]): row for row in rows_of(dataset_of(store))}
    assert (CITY, "2021-01-04") in rows
    assert (CITY, "2021-01-11") not in rows
    assert rows[TOWN, "2021-01-11"]["sni_safety_side_effects"] == ""
    values = [row[column] for row in rows.values() for column in COLUMNS]
    assert values.count("") == 1
    assert all(float(value) > 0 for value in values if value)


def test_regions_that_are_not_reported_have_no_row(store: Path) -> None:
    """Postal codes of small counties (X3) and regions under 3 km2 are not in the dataset."""
    shown = {row["place_id"] for row in rows_of(dataset_of(store))}
    assert len(shown) == 1 + 3 + 5 + 2
    assert not shown & {"zip/35013", "zip/94104", "zip/96120"}


def test_the_first_maximum_is_100_and_later_values_may_be_higher(store: Path, short_coverage: Coverage) -> None:
    """The week with the most interest has 100.000; a later week with twice that interest has 200.000."""
    country = [r for r in rows_of(dataset_of(store)) if r["place_id"] == "country/USA"]
    assert max(float(row[COLUMNS[0]]) for row in country) == 100.0
    assert country[0][COLUMNS[0]] == "100.000"
    add_weeks(store, short_coverage, {}, start=2, usual=(100_000, 6_000, 4_000, 2_000))
    country = [r for r in rows_of(dataset_of(store)) if r["place_id"] == "country/USA"]
    assert [row[COLUMNS[0]] for row in country] == ["100.000", "100.000", "200.000"]


def test_the_parquet_file_has_the_same_rows_with_intervals(store: Path) -> None:
    """Both files have the same places, dates and values; Parquet adds level, code and an interval for each value."""
    dataset = dataset_of(store)
    wide = parquet_rows(dataset)
    assert len(wide) == len(rows_of(dataset))
    for row, full in zip(rows_of(dataset), wide, strict=True):
        assert full["date"] == date.fromisoformat(row["date"])
        for column in HEADER.split(",")[1:10]:
            assert (full[column] or "") == row[column]
        for column in COLUMNS:
            value, low, high = (full[column + end] for end in ("", "_low", "_high"))
            assert value == (float(row[column]) if row[column] else None)
            assert (low is None, high is None) == (value is None,) * 2
            assert value is None or 0 <= low <= value <= high
    levels = {full["place_id"]: (full["level"], full["code"]) for full in wide}
    assert levels["country/USA"] == ("country", "US")
    assert levels["geoId/35"] == ("state", "US-NM")
    assert levels["geoId/35013"] == ("county", "35013")
    assert levels[TOWN] == ("postal_code", "95667")


@given(st.lists(st.floats(0, 1e6) | st.integers(0, 10**6).map(lambda n: (n + 0.5) / 1000), min_size=1, max_size=50))
def test_values_are_rounded_to_the_nearest_and_halves_up(values: list[float]) -> None:
    """For all values: the same number as DuckDB gives, also halfway between two; a missing value stays missing."""
    with public_tables() as connection:
        wanted = connection.execute("SELECT round(unnest(?::DOUBLE[]), 3)", [values]).fetchall()
    assert _rounded(np.array(values)).tolist() == [value for (value,) in wanted]
    assert np.isnan(_rounded(np.array([np.nan]))).all()


def test_another_countrys_levels_and_hostile_names_are_kept(tmp_path: Path, other_coverage: Coverage) -> None:
    """A release of four levels gets a fourth pair of columns, and every name is read back from the CSV unchanged."""
    dataset = dataset_of(add_weeks(tmp_path / "store.db", other_coverage, {}))
    assert text_of(dataset).split("\n")[0] == HEADER.replace(
        "sub_region_3_code,", "sub_region_3_code,sub_region_4,sub_region_4_code,"
    ).replace(",".join(COLUMNS), "index_firewood,index_keeping_warm")
    assert (dataset / "QZ_heating_search_trends.csv").exists()
    names = {str(row[-1]): (row[1], row[0]) for row in OTHER_REGIONS}
    depths = {"qz/p": 1, "qz/c": 2, "qz/m": 3, "qz/s": 4}
    rows = [row for row in rows_of(dataset) if row["place_id"] != "qz"]
    assert len(rows) == 3 + 5 + 8 + 7
    for row in rows:
        depth = depths[row["place_id"][:4]]
        assert (row[f"sub_region_{depth}"], row[f"sub_region_{depth}_code"]) == names[row["place_id"]]
        assert [bool(row[f"sub_region_{i}"]) for i in range(1, 5)] == [i <= depth for i in range(1, 5)]
    again = dataset_of(tmp_path / "store.db")
    assert rows_of(again)[1:] == rows, "the comparison with the published dataset reads these names too"


@pytest.mark.parametrize("column", ["order", "vaccine-index", "Select"])
def test_a_column_may_have_any_name_that_a_spec_allows(tmp_path: Path, short_coverage: Coverage, column: str) -> None:
    """Keywords of SQL and names with hyphens are valid column names."""
    spec = short_coverage.spec
    trend = replace(spec.trends[0], column=column)
    renamed = Coverage(replace(spec, trends=(trend, *spec.trends[1:])), short_coverage.geography)
    dataset = dataset_of(add_weeks(tmp_path / "store.db", renamed, {}))
    assert rows_of(dataset)[0][column] == "100.000"
    assert parquet_rows(dataset)[0][f"{column}_low"] < 100
    dataset_of(tmp_path / "store.db")


def test_a_country_code_cannot_lead_out_of_the_folder(tmp_path: Path, short_coverage: Coverage) -> None:
    """The code is part of the file names. A table of regions must have a plain one; a store may have an older table."""
    regions = [r._replace(code="../U S") if r.code == "US" else r for r in short_coverage.geography.regions]
    strange = Coverage(short_coverage.spec, build_geography(regions, "an older table"))
    dataset = dataset_of(add_weeks(tmp_path / "store.db", strange, {}))
    assert {p.name for p in dataset.glob("*_search_insights.*")} == {
        "_._U_S_vaccination_search_insights.csv",
        "_._U_S_vaccination_search_insights.parquet",
    }
    assert rows_of(dataset)[0]["country_region_code"] == "../U S"


def test_random_counts_keep_every_promise_of_the_table(tmp_path: Path, short_coverage: Coverage) -> None:
    """Whatever the noise, values are positive, lie in their intervals, and are the same in both files."""
    rng = np.random.default_rng(4)
    regions = [str(row[-1]) for row in LITTLE_REGIONS]

    def draw() -> tuple[int, ...]:
        return int(rng.integers(-50, 9_000)), *map(int, rng.integers(-20, 300, 3))

    states = {"geoId/01": USUAL, "geoId/06": USUAL, "geoId/35": USUAL}
    weeks = [{place: draw() for place in regions} | states for _ in range(6)]
    dataset = dataset_of(add_weeks(tmp_path / "store.db", short_coverage, *weeks))
    table = parquet_rows(dataset)
    values = [(row[c], row[f"{c}_low"], row[f"{c}_high"]) for row in table for c in COLUMNS if row[c] is not None]
    assert 20 < len(values) < 3 * 6 * 11
    assert all(value > 0 and low <= value <= high for value, low, high in values)
    assert [[row[c] or "" for c in COLUMNS] for row in rows_of(dataset)] == [
        ["" if row[c] is None else f"{row[c]:.3f}" for c in COLUMNS] for row in table
    ]
