"""Compare a published dataset with files of the original's: the form, what is missing, and the national curve.

The original's files (Google COVID-19 Vaccination Search Insights) are not part of this project. Give the folder with
`Global_l0_vaccination_search_insights.csv` and `IE_vaccination_search_insights.csv`, and run `make demo` first.

    .venv/bin/python -m tools.compare_with_original ORIGINALS [demo/dataset] [docs/images/original.svg]
"""

import sys
from pathlib import Path
from typing import Any

import duckdb

from search_insights.dataset.folder import csv_table, read_description
from search_insights.support.charts import save_chart

TRENDS = {
    "sni_covid19_vaccination": "COVID-19 vaccination",
    "sni_vaccination_intent": "Vaccination intent",
    "sni_safety_side_effects": "Safety and side effects",
}
LEVEL = """CASE WHEN sub_region_3_code IS NOT NULL THEN '3 postal code' WHEN sub_region_2 IS NOT NULL THEN '2 county'
                WHEN sub_region_1 IS NOT NULL THEN '1 state' ELSE '0 country' END"""


def main(originals: str, dataset: str = "demo/dataset", picture: str = "docs/images/original.svg") -> None:
    """Print what can be compared as Markdown, and draw the two national curves."""
    ours = read_description(Path(dataset)).csv.path
    countries = Path(originals) / "Global_l0_vaccination_search_insights.csv"
    ireland = Path(originals) / "IE_vaccination_search_insights.csv"
    headers = {path.read_text(encoding="utf-8").split("\n", 1)[0] for path in (ours, countries, ireland)}
    print(f"The header is {'the same' if len(headers) == 1 else 'NOT the same'} in all files.\n")
    for name, path in (("demonstration", ours), ("original, Ireland", ireland)):
        print(_missing(name, path))
    curves = [*_curve("original", countries), *_curve("demonstration", ours)]
    print(_differences(curves))
    save_chart(_chart(curves), Path(picture))


def _missing(name: str, path: Path) -> str:
    """Return the share of rows with a value, by level, quarter and trend."""
    shares = ", ".join(f"round(100 * count({column}) / count(*), 1)" for column in TRENDS)
    rows = duckdb.execute(f"""
        SELECT {LEVEL} AS level, strftime(date_trunc('quarter', CAST(date AS DATE)), '%Y-%m') AS quarter,
               count(*), {shares}
        FROM {csv_table(path)} GROUP BY ALL ORDER BY ALL""").fetchall()
    header = f"| {name}: level | quarter from | rows | {' | '.join(f'{title}, %' for title in TRENDS.values())} |"
    lines = [f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |" for row in rows]
    return "\n".join([header, "| --- | --- |" + " ---: |" * 4, *lines, ""])


def _curve(name: str, path: Path) -> list[dict[str, Any]]:
    """Return the values of the United States from January to May 2021."""
    rows = duckdb.execute(f"""
        SELECT date, {", ".join(TRENDS)} FROM {csv_table(path)}
        WHERE country_region_code = 'US' AND sub_region_1 IS NULL AND date <= '2021-05-31' ORDER BY date""").fetchall()
    return [
        {"file": name, "week": row[0], "trend": title, "value": float(value)}
        for row in rows
        for title, value in zip(TRENDS.values(), row[1:], strict=True)
    ]


def _differences(curves: list[dict[str, Any]]) -> str:
    """Return how far the two national curves are apart."""
    found = {(c["file"], c["trend"], c["week"]): c["value"] for c in curves}
    lines = ["| trend | correlation over the weeks | median difference, % |", "| --- | ---: | ---: |"]
    for title in TRENDS.values():
        weeks = sorted(week for file, trend, week in found if (file, trend) == ("original", title))
        pairs = [(found["original", title, w], found["demonstration", title, w]) for w in weeks]
        table = "(SELECT unnest(?::DOUBLE[]) AS x, unnest(?::DOUBLE[]) AS y)"
        sql = f"SELECT corr(x, y), 100 * median(abs(y / x - 1)) FROM {table}"
        ((correlation, median),) = duckdb.execute(sql, [list(column) for column in zip(*pairs, strict=True)]).fetchall()
        lines.append(f"| {title} | {correlation:.3f} | {median:.1f} |")
    return "\n".join([*lines, ""])


def _chart(curves: list[dict[str, Any]]) -> dict[str, Any]:
    colour = {"domain": ["original", "demonstration"], "range": ["#333333", "#1f77b4"]}
    return {
        "title": "United States, January to May 2021: the original and the demonstration",
        "data": {"values": curves},
        "facet": {"column": {"field": "trend", "title": None, "sort": list(TRENDS.values())}},
        "spec": {
            "width": 240,
            "height": 180,
            "mark": {"type": "line", "point": {"size": 12}},
            "encoding": {
                "x": {"field": "week", "type": "temporal", "title": None, "axis": {"format": "%b"}},
                "y": {"field": "value", "type": "quantitative", "title": "scaled popularity"},
                "color": {"field": "file", "scale": colour, "title": None, "legend": {"orient": "bottom"}},
                "strokeDash": {"field": "file", "legend": None},
            },
        },
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
