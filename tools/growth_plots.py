"""Draw docs/images/growth.svg and peers.svg from the recorded measurements in benchmarks/results.

.venv/bin/python tools/growth_plots.py
"""

import json
from pathlib import Path
from typing import Any

from search_insights.charts import save_chart

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
IMAGES = ROOT / "docs" / "images"
NAMES = {"duckdb": "DuckDB", "spark": "Spark, local"}
COLOURS = {"domain": list(NAMES.values()), "range": ["#1f6f8b", "#d1662a"]}


def points() -> list[dict[str, Any]]:
    """Read the growth measurements, one dictionary a run."""
    runs = json.loads((RESULTS / "growth.json").read_text(encoding="utf-8"))
    return [
        {
            "engine": NAMES[run["engine"]],
            "millions": run["events"] / 1e6,
            "cpu": 1e6 * run["cpu_seconds"] / run["events"],
            "memory": run["peak_gb"],
        }
        for run in runs
    ]


def panel(field: str, title: str) -> dict[str, Any]:
    """Draw one quantity by the size of the log, a line an engine."""
    largest = max(point[field] for point in points())
    return {
        "width": 300,
        "height": 220,
        "title": title,
        "mark": {"type": "line", "point": {"filled": True, "size": 50}},
        "encoding": {
            "x": {
                "field": "millions",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [4, 600], "nice": False},
                "axis": {"values": [5, 20, 50, 100, 200, 500], "title": "million searches a week"},
            },
            "y": {
                "field": field,
                "type": "quantitative",
                "scale": {"domain": [0, 1.1 * largest]},
                "axis": {"title": None, "grid": True, "tickCount": 5},
            },
            "color": {
                "field": "engine",
                "type": "nominal",
                "scale": COLOURS,
                "legend": {"title": None, "orient": "bottom"},
            },
        },
    }


def growth() -> dict[str, Any]:
    """Draw cost and memory side by side."""
    panels = [panel("cpu", "CPU time a search (microseconds)"), panel("memory", "Peak memory (GB)")]
    return {"data": {"values": points()}, "hconcat": panels}


def peers() -> dict[str, Any]:
    """Draw the best rate of each library on a logarithmic axis."""
    best: dict[str, float] = {}
    for run in json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["runs"]:
        best[run["who"]] = max(best.get(run["who"], 0.0), run["events"] / run["seconds"])
    values = [{"who": who, "rate": rate, "shown": f"{rate:,.0f}"} for who, rate in best.items()]
    y = {"field": "who", "type": "nominal", "sort": "-x", "axis": {"title": None, "labelLimit": 240, "grid": True}}
    scale = {"type": "log", "domain": [100, 30_000_000]}
    x = {"field": "rate", "type": "quantitative", "scale": scale, "axis": {"title": "searches a second"}}
    return {
        "width": 420,
        "height": 120,
        "title": "The same cells from the same log",
        "data": {"values": values},
        "encoding": {"y": y, "x": x},
        "layer": [
            {"mark": {"type": "point", "filled": True, "size": 90, "color": "#1f6f8b"}},
            {"mark": {"type": "text", "align": "left", "dx": 9}, "encoding": {"text": {"field": "shown"}}},
        ],
    }


def main() -> None:
    """Draw both."""
    save_chart(growth(), IMAGES / "growth.svg")
    save_chart(peers(), IMAGES / "peers.svg")


if __name__ == "__main__":
    main()
