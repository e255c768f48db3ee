"""Drawing Vega-Lite charts with vl-convert: no browser, no network, no Node."""

from pathlib import Path
from typing import Any

from search_insights.errors import InputError

_CONFIG = {
    "background": "white",
    "font": "sans-serif",
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "grid": False},
    "legend": {"labelFontSize": 11},
    "title": {"anchor": "start", "fontSize": 14},
    "view": {"stroke": None},
}


def save_chart(chart: dict[str, Any], path: Path) -> None:
    """Draw a Vega-Lite chart to a file, as SVG or PNG by its suffix."""
    import vl_convert

    spec = {"config": _CONFIG, "padding": 12} | chart
    if path.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"{path}: expected a name that ends in .svg or .png")
    if path.suffix.lower() == ".svg":
        path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    else:
        path.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
