"""Draw docs/images/specs.svg: what both packaged specs publish from the same log, by level and trend.

python -m evidence.specs_plot    # from the record in evidence/results
"""

from collections.abc import Mapping, Sequence
from typing import Any

from evidence.measuring import ROOT, read_record
from search_insights.support.charts import save_chart

PICTURE = ROOT / "docs" / "images" / "specs.svg"
_COLOURS = {"domain": ["vaccination-v1", "vaccination-v2"], "range": ["#d1662a", "#1f6f8b"]}
_SIZES = {"domain": ["vaccination-v1", "vaccination-v2"], "range": [90, 55]}  # so that neither hides the other
_COUNTS = {"type": "log", "domain": [500, 300_000]}, [1_000, 10_000, 100_000], "~s"
_ERRORS = {"domain": [0, 0.07]}, [0, 0.02, 0.04, 0.06], "%"
_SHARES = {"domain": [0.75, 0.85]}, [0.76, 0.78, 0.8, 0.82, 0.84], "%"
_Scale = tuple[Mapping[str, Any], Sequence[float], str]
_PANELS: tuple[tuple[str, tuple[str, str], _Scale], ...] = (
    ("values", ("Published values", "(logarithmic scale)"), _COUNTS),
    ("both", ("Median error of the values", "that both publish"), _ERRORS),
    ("median", ("Median error of all that each", "publishes: v2 adds small regions"), _ERRORS),
    ("all", ("80 % intervals that contain the", "truth, of all values"), _SHARES),
    ("published", ("80 % intervals that contain the", "truth, of published values"), _SHARES),
)


def chart(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture: one panel for each quantity, a row for each level and trend, a mark for each spec."""
    values = [
        {"what": f"{row['level'].replace('_', ' ')}, {row['trend'].replace('_', ' ')}", "spec": spec}
        | {
            "values": row["values"][spec],
            "both": row["median where both publish"][spec],
            "median": row["median"][spec],
            "all": row["coverage of all"][spec]["share"],
            "published": row["coverage"][spec]["share"],
        }
        for row in found["rows"]
        for spec in row["values"]
        if row["values"][spec] and row["level"] != "country"
    ]
    panels = [_panel(*panel, first=i == 0) for i, panel in enumerate(_PANELS)]
    room = {"left": 36, "right": 36, "top": 8, "bottom": 8}  # fonts differ: labels may be wider than they were measured
    return {"data": {"values": values}, "hconcat": panels, "spacing": 30, "padding": room}


def _panel(field: str, title: tuple[str, str], scale: _Scale, *, first: bool) -> dict[str, Any]:
    labels = {"title": None, "labelLimit": 260, "grid": True}
    y = {"field": "what", "type": "nominal", "sort": None, "axis": labels if first else labels | {"labels": False}}
    axis = {"title": None, "values": scale[1], "format": scale[2], "labelFlush": False}
    x = {"field": field, "type": "quantitative", "scale": scale[0], "axis": axis}
    legend = {"title": None, "orient": "bottom"}
    kind = {"field": "spec", "type": "nominal"}
    return {
        "width": 150,
        "height": {"step": 20},
        "title": {"text": list(title), "fontSize": 11},
        "mark": {"type": "point", "filled": True, "opacity": 1, "clip": True},
        "encoding": {
            "y": y,
            "x": x,
            "color": kind | {"scale": _COLOURS, "legend": legend},
            "shape": kind | {"scale": _COLOURS | {"range": ["circle", "diamond"]}, "legend": legend},
            "size": kind | {"scale": _SIZES, "legend": legend},
        },
    }


def draw(found: Mapping[str, Any]) -> None:
    """Draw the picture."""
    save_chart(chart(found), PICTURE)


if __name__ == "__main__":
    draw(read_record("specs"))
