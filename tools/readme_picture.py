"""Draw the README's picture from the dataset of the demonstration: run `make demo` first.

.venv/bin/python tools/readme_picture.py [demo/dataset] [docs/images/demo.png]
"""

import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb

from search_insights.charts import save_chart

WEEK = "2021-03-08"
COLUMN = "sni_covid19_vaccination"


def rows(dataset: Path, sql: str) -> list[dict[str, Any]]:
    """Ask the dataset's Parquet file."""
    (parquet,) = dataset.glob("*.parquet")
    with duckdb.connect() as connection:
        cursor = connection.execute(sql.format(table=f"'{parquet}'", column=COLUMN, week=WEEK))
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def county_map(dataset: Path) -> dict[str, Any]:
    """Colour each county by its value; those without one stay grey, which is no low value."""
    shapes = json.loads((resources.files("search_insights") / "data" / "us_shapes.topojson").read_text())
    values = rows(dataset, "SELECT place_id AS id, {column} AS value FROM {table} WHERE level = 'county' "
                           "AND date = DATE '{week}' AND {column} IS NOT NULL")  # fmt: skip
    data = {"values": shapes, "format": {"type": "topojson", "feature": "counties"}}
    states = {"values": shapes, "format": {"type": "topojson", "feature": "states"}}
    return {
        "width": 620,
        "height": 380,
        "projection": {"type": "albersUsa"},
        "title": {
            "text": f"Interest in COVID-19 vaccination by county, week of {WEEK} (simulated searches)",
            "subtitle": "100 = the national peak. Grey: not enough data to publish.",
        },
        "layer": [
            {"data": data, "mark": {"type": "geoshape", "fill": "#e8e8e8"}},
            {
                "data": data,
                "transform": [
                    {"lookup": "id", "from": {"data": {"values": values}, "key": "id", "fields": ["value"]}},
                    {"filter": "isValid(datum.value)"},
                ],
                "mark": {"type": "geoshape"},
                "encoding": {
                    "color": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": {"scheme": "viridis", "domain": [40, 200], "clamp": True},
                        "legend": {"title": None, "orient": "right"},
                    }
                },
            },
            {"data": states, "mark": {"type": "geoshape", "fill": None, "stroke": "white", "strokeWidth": 0.7}},
        ],
    }


def county_series(dataset: Path) -> dict[str, Any]:
    """Draw one county's weeks with their intervals, next to the country's."""
    values = rows(dataset, "SELECT strftime(date, '%Y-%m-%d') AS date, {column} AS value, {column}_low AS low, "
                           "{column}_high AS high, coalesce(sub_region_2, country_region) AS place FROM {table} "
                           "WHERE place_id IN ('country/USA', 'geoId/06075') AND {column} IS NOT NULL")  # fmt: skip
    x = {"field": "date", "type": "temporal", "title": None}
    color = {"field": "place", "type": "nominal", "title": None, "scale": {"range": ["#d55e00", "#0072b2"]}}
    return {
        "width": 620,
        "height": 130,
        "data": {"values": values},
        "title": "Two of its series, with the interval that the noise leaves",
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.25},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": None},
                    "y2": {"field": "high"},
                    "color": color,
                },
            },
            {
                "mark": {"type": "line", "point": True},
                "encoding": {"x": x, "y": {"field": "value", "type": "quantitative"}, "color": color},
            },
        ],
    }


def main(dataset: str = "demo/dataset", picture: str = "docs/images/demo.png") -> None:
    """Draw the map above the series."""
    charts = [county_map(Path(dataset)), county_series(Path(dataset))]
    save_chart({"vconcat": charts, "resolve": {"scale": {"color": "independent"}}}, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
