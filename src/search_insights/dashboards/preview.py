"""What a shared link shows: a title, a description and a picture, in tags of the page that need no script.

The picture is of the first dataset in its newest week: the map of its first topic, or the weeks of the country where
there is no map. Who reads the tags wants whole addresses, which a folder of files cannot know: the caller says it.
"""

import html
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from search_insights.dashboards.data_files import CLASSES, View, step_of
from search_insights.dashboards.shapes import Shapes
from search_insights.dashboards.values import MISSING

PICTURE = "preview.png"
_WIDTH, _HEIGHT = 1200, 630
_RAMP = ("#f7f6cf", "#d9efb6", "#a6dbb8", "#6cc5bd", "#3aa9bf", "#2384b6", "#2460a3", "#253a8b", "#131d58")
_NO_VALUE, _INK, _MUTED, _LINE = "#e6e8ec", "#1c2330", "#5d6675", "#1d4e89"
_MAP = (40.0, 130.0, 1120.0, 470.0)  # left, top, width and height
_DIGITS = 1


def description(view: View) -> str:
    """Return a sentence about what the site shows."""
    dataset, topics = view.dataset, ", ".join(trend.title for trend in view.dataset.trends)
    return (
        f"How much people in {view.places.geography.country.name} search for {topics}: by region and week, "
        f"{dataset.weeks[0]} to {dataset.weeks[-1]}, with the uncertainty that privacy protection leaves."
    )


def preview_tags(view: View, address: str | None) -> str:
    """Return the tags; only with the site's address do they have one for the page and a whole one for the picture."""
    base = f"{address.rstrip('/')}/" if address else ""
    text = description(view)
    tags = {
        "og:type": "website",
        "og:title": view.dataset.title,
        "og:description": text,
        **({"og:url": base} if base else {}),
        "og:image": f"{base}{PICTURE}",
        "og:image:width": str(_WIDTH),
        "og:image:height": str(_HEIGHT),
        "og:image:alt": _headline(view),
        "twitter:card": "summary_large_image",
        "twitter:title": view.dataset.title,
        "twitter:description": text,
        "twitter:image": f"{base}{PICTURE}",
    }
    lines = [f'<meta name="description" content="{html.escape(text)}">']
    for name, value in tags.items():
        kind = "property" if name.startswith("og:") else "name"
        lines.append(f'<meta {kind}="{name}" content="{html.escape(value)}">')
    return "\n".join(lines)


def add_preview(view: View, site: Path, address: str | None) -> None:
    """Draw the picture, and write the tags and the title into the page."""
    import vl_convert

    (site / PICTURE).write_bytes(vl_convert.svg_to_png(_picture(view)))
    page = site / "index.html"
    text = page.read_text(encoding="utf-8")
    title = f"<title>{html.escape(view.dataset.title)}</title>"
    text = text.replace("<title>Search insights</title>", f"{title}\n{preview_tags(view, address)}", 1)
    page.write_text(text, encoding="utf-8")


def _headline(view: View) -> str:
    week = view.dataset.weeks[-1]
    return f"{view.dataset.trends[0].title}, {view.places.geography.country.name}, week of {week}"


def _picture(view: View) -> str:
    shapes = view.shapes  # without outlines if only the centres of regions are known
    body = _map(view, shapes) if shapes is not None and shapes.outlines else _chart(view)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        f"{_text(40, 64, 40, _INK, view.dataset.title, bold=True)}{_text(40, 106, 26, _MUTED, _headline(view))}"
        f"{''.join(body)}</svg>"
    )


def _text(x: float, y: float, size: int, fill: str, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    shown = html.escape("".join(c for c in text[:70] if c.isprintable()))
    return f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="{size}" fill="{fill}"{weight}>{shown}</text>'


def _map(view: View, shapes: Shapes) -> Iterator[str]:
    """Yield the regions of the finest outlined level in their colours, and below them the scale."""
    regions = view.places.regions
    left, top, width, height = _MAP
    k = min(width / shapes.width, (height - 40) / shapes.height)
    x0, y0 = left + (width - k * shapes.width) / 2, top
    values, step = _newest(view), step_of(view, 0)
    outlined = {region.level for region in regions if region.place_id in shapes.outlines}
    finest = next(level for level in reversed(view.places.geography.levels) if level in outlined)
    lines = _lines(shapes.arcs, k, x0, y0)
    paths: dict[str, list[str]] = {}
    for number, region in enumerate(regions[: view.core]):
        if region.level == finest and region.place_id in shapes.outlines:
            value = values.get(number)
            fill = _NO_VALUE if value is None else _RAMP[min(CLASSES - 1, max(0, int(value / step)))]
            rings = (_ring(lines, ring) for ring in shapes.outlines[region.place_id])
            paths.setdefault(fill, []).extend(rings)
    for fill, rings_of in paths.items():
        yield f'<path d="{"".join(rings_of)}" fill="{fill}" fill-rule="evenodd" stroke="#ffffff" stroke-width="0.4"/>'
    yield from _scale(step)


def _lines(arcs: list[list[int]], k: float, x0: float, y0: float) -> list[list[str]]:
    """Return the points of each line as texts: two regions have most lines, so they are written once."""
    lines = []
    for arc in arcs:
        points = np.cumsum(np.array(arc).reshape(-1, 2), axis=0) * k + (x0, y0)
        lines.append([f"{x:.{_DIGITS}f},{y:.{_DIGITS}f}" for x, y in points.tolist()])
    return lines


def _ring(lines: list[list[str]], ring: list[int]) -> str:
    """Return a ring of lines as a path; a line that is used backwards has the complement of its number."""
    points: list[str] = []
    for number in ring:
        line = lines[number] if number >= 0 else lines[~number][::-1]
        points += line[1:] if points else line
    return f"M{'L'.join(points)}Z"


def _scale(step: float) -> Iterator[str]:
    for i, fill in enumerate(_RAMP):
        suffix = "+" if i == CLASSES - 1 else ""
        yield f'<rect x="{40 + 60 * i}" y="582" width="60" height="16" fill="{fill}"/>'
        yield _text(40 + 60 * i, 620, 18, _MUTED, f"{i * step:.4g}{suffix}")


def _newest(view: View) -> dict[int, float]:
    """Return the values of the first topic in the newest week, by region number."""
    table = view.table
    column = table.values[:, 0, 0, -1]
    known = column != MISSING
    return dict(zip(table.numbers[known].tolist(), (column[known] / 10**table.decimals).tolist(), strict=True))


def _chart(view: View) -> Iterator[str]:
    """Yield the weeks of the country as a line, with gaps where a week has no value."""
    left, top, width, height = _MAP
    table = view.table
    rows = np.flatnonzero(table.numbers == 0)
    values = table.values[rows[0], 0, 0, :] if rows.size else np.empty(0, dtype=np.int32)
    known = values != MISSING
    most = max(1, int(values[known].max())) if known.any() else 1
    x = [left + width * i / max(1, len(values) - 1) for i in range(len(values))]
    parts = [
        f"{'L' if i and known[i - 1] else 'M'}{x[i]:.1f},{top + height * (1 - int(values[i]) / most):.1f}"
        for i in range(len(values))
        if known[i]
    ]
    yield f'<line x1="{left}" x2="{left + width}" y1="{top + height}" y2="{top + height}" stroke="{_MUTED}"/>'
    yield f'<path d="{"".join(parts)}" fill="none" stroke="{_LINE}" stroke-width="5" stroke-linecap="round"/>'
