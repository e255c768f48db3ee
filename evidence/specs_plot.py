"""Draw docs/images/specs.svg: what both packaged specs publish from the same log, by level and trend.

python -m evidence.specs_plot    # from the record in evidence/results
"""

from collections.abc import Mapping
from typing import Any

from evidence.measuring import ROOT, read_record
from search_insights.support.charts import save_chart

PICTURE = ROOT / "docs" / "images" / "specs.svg"
_COLOURS = {"domain": ["vaccination-v1", "vaccination-v2"], "range": ["#d1662a", "#1f6f8b"]}
_PANELS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("values", "Published values", {"type": "log"}, "~s"),
    ("median", "Median error, where both publish", {"zero": True}, "%"),
    ("covered", "Intervals that contain the truth", {"domain": [0.75, 0.85], "clamp": True}, "%"),
)


def chart(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture: one panel for each quantity, a row for each level and trend, a mark for each spec."""
    rows = [row for row in found["rows"] if row["level"] != "country"]
    values = [
        {"what": f"{row['level'].replace('_', ' ')}, {row['trend'].replace('_', ' ')}", "spec": spec}
        | {
            "values": row["values"][spec],
            "median": row["median where both publish"][spec],
            "covered": row["coverage of all"][spec]["share"],
        }
        for row in rows
        for spec in row["values"]
        if row["values"][spec]
    ]
    panels = [_panel(*panel, first=i == 0) for i, panel in enumerate(_PANELS)]
    room = {"left": 36, "right": 36, "top": 8, "bottom": 8}  # fonts differ: labels may be wider than they were measured
    return {"data": {"values": values}, "hconcat": panels, "spacing": 44, "padding": room}


def _panel(field: str, title: str, scale: Mapping[str, Any], form: str, *, first: bool) -> dict[str, Any]:
    labels = {"title": None, "labelLimit": 260, "grid": True}
    y = {"field": "what", "type": "nominal", "sort": None, "axis": labels if first else labels | {"labels": False}}
    x = {
        "field": field,
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": None, "format": form, "tickCount": 5},
    }
    legend = {"title": None, "orient": "bottom"}
    kind = {"field": "spec", "type": "nominal"}
    return {
        "width": 210,
        "height": {"step": 20},
        "title": {"text": title, "fontSize": 11},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "y": y,
            "x": x,
            "color": kind | {"scale": _COLOURS, "legend": legend},
            "shape": kind | {"scale": _COLOURS | {"range": ["circle", "diamond"]}, "legend": legend},
        },
    }


def draw(found: Mapping[str, Any]) -> None:
    """Draw the picture."""
    save_chart(chart(found), PICTURE)


if __name__ == "__main__":
    draw(read_record("specs"))
