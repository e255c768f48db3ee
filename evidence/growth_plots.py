"""Draw docs/images/growth.svg and peers.svg from the recorded measurements in evidence/results.

python -m evidence.growth_plots
"""

from typing import Any

from evidence.measuring import ROOT, read_record
from evidence.peer_rates import rates
from search_insights.support.charts import save_chart

IMAGES = ROOT / "docs" / "images"
NAMES = {"duckdb": "DuckDB", "duckdb-8gb": "DuckDB, 8 GB", "spark": "Spark, local"}
COLOURS = {"domain": list(NAMES.values()), "range": ["#1f6f8b", "#6a4c93", "#d1662a"]}


def points() -> list[dict[str, Any]]:
    """Return the measurements of growth that are drawn, one dictionary a run."""
    return [
        {
            "engine": NAMES[run["engine"]],
            "millions": run["events"] / 1e6,
            "cpu": 1e6 * run["cpu_seconds"] / run["events"],
            "memory": run["peak_gb"],
        }
        for run in read_record("growth")
        if run["engine"] in NAMES
    ]


def panel(field: str, title: str, scale: dict[str, Any], ticks: list[float]) -> dict[str, Any]:
    """Plot one quantity against the size of the log, one line an engine."""
    return {
        "width": 300,
        "height": 220,
        "title": title,
        "mark": {"type": "line", "point": {"filled": True, "size": 50}},
        "encoding": {
            "x": {
                "field": "millions",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [4, 2500], "nice": False},
                "axis": {"values": [5, 20, 50, 200, 500, 2000], "title": "million searches a week"},
            },
            "y": {
                "field": field,
                "type": "quantitative",
                "scale": scale,
                "axis": {"title": None, "grid": True, "values": ticks},
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
    """Plot cost and memory side by side."""
    cpu = {"type": "log", "domain": [0.2, 50], "nice": False}
    panels = [
        panel("cpu", "CPU time a search (microseconds)", cpu, [0.2, 0.5, 1, 2, 5, 10, 20, 50]),
        panel("memory", "Peak memory (GB)", {"domain": [0, 9]}, [0, 1, 2, 4, 6, 8]),
    ]
    return {"data": {"values": points()}, "hconcat": panels}


def peers() -> dict[str, Any]:
    """Plot the two rates of each program on a logarithmic axis."""
    kinds = ("whole run, on the largest log it read", "further searches (slope between its logs)")
    values = [
        {"who": each.who, "rate": rate, "kind": kind}
        for each in rates(read_record("peers")["runs"])
        for kind, rate in zip(kinds, (each.whole, each.marginal), strict=True)
        if rate
    ]
    y = {"field": "who", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 260, "grid": True}}
    x = {"field": "rate", "type": "quantitative", "scale": {"type": "log"}, "axis": {"title": "searches a second"}}
    legend = {"title": None, "orient": "bottom", "direction": "vertical", "labelLimit": 400}
    kind = {"field": "kind", "type": "nominal", "scale": {"domain": list(kinds)}, "legend": legend}
    colour = kind | {"scale": {"domain": list(kinds), "range": ["#1f6f8b", "#d1662a"]}}
    shape = kind | {"scale": {"domain": list(kinds), "range": ["circle", "diamond"]}}
    return {
        "width": 420,
        "height": 150,
        "title": "The same cells; the others read a share of the log",
        "data": {"values": values},
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {"y": y, "x": x, "color": colour, "shape": shape},
    }


def main() -> None:
    """Draw both pictures."""
    save_chart(growth(), IMAGES / "growth.svg")
    save_chart(peers(), IMAGES / "peers.svg")


if __name__ == "__main__":
    main()
