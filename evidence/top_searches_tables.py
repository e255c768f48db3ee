"""The tables of docs/top-searches.md: what is shown, what is right, what it costs, and how often rising texts rose.

python -m evidence.top_searches_tables    # write them again
"""

from collections.abc import Mapping
from typing import Any

from evidence.measuring import ROOT, read_record
from evidence.pages import filled, markdown_table

PAGE = ROOT / "docs" / "top-searches.md"


def lists_table(found: Mapping[str, Any]) -> list[str]:
    """Lay out what is shown of weeks of each size, and how much of the true top 10 it has."""
    weeks = found["weeks"]
    rows = [
        ("texts shown in the country", *(f"{w['country texts']:,}" for w in weeks)),
        ("of its true top 10", *(f"{w['country right']}" for w in weeks)),
        ("texts in a large state (median of the ten largest)", *(f"{w['large state texts']:g}" for w in weeks)),
        ("of its true top 10 (mean of these)", *(f"{w['large state right']:.1f}" for w in weeks)),
        ("texts in the median state", *(f"{w['median state texts']:g}" for w in weeks)),
        ("of its true top 10 (median of all states)", *(f"{w['median state right']:g}" for w in weeks)),
        ("states with ten texts or more", *(f"{w['states with ten']} of {w['states']}" for w in weeks)),
        ("states with none", *(f"{w['states with none']}" for w in weeks)),
        ("planted personal texts shown", *(f"{w['planted']}" for w in weeks)),
    ]
    return markdown_table(("", *_sizes(found)), rows)


def values_table(found: Mapping[str, Any]) -> list[str]:
    """Lay out the trend values that a week publishes beside texts, and how many more it would without."""
    rows = []
    for level in found["weeks"][0]["values"]["with"]:
        cells = []
        for week in found["weeks"]:
            beside, alone = (week["values"][name][level] for name in ("with", "without"))
            cells.append(f"{beside:,.0f} of {alone:,.0f} ({beside / alone - 1:+.1%})" if alone else "")
        rows.append((level.replace("_", " "), *cells))
    return markdown_table(("trend values, with texts and without", *_sizes(found)), rows)


def _sizes(found: Mapping[str, Any]) -> list[str]:
    return [f"{week['events'] / 1e6:g} million searches" for week in found["weeks"]]


def cost_lines(found: Mapping[str, Any]) -> list[str]:
    """Say what texts cost in CPU and in sigmas."""
    cost, values = found["cost"], found["weeks"][0]["values"]
    seconds = {name: f"{min(times):,.0f} s" for name, times in cost["cpu"].items()}
    return [
        f"Anonymizing a week of {cost['events'] / 1e6:g} million searches takes **{cost['ratio']:.2f} times the CPU** "
        f"of the same log with the same spec without `[top_searches]`: {seconds['with']} and {seconds['without']}. The "
        f"sigmas of trends are {values['sigmas']:.4f} times those that would do without texts ({found['at']}).",
    ]


def rising_lines() -> list[str]:
    """Return what the last run of the part `rising` showed."""
    return [f"{read_record('report')['rising']['showed']}.".replace("..", ".")]


def blocks(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what docs/top-searches.md shows of the records."""
    return {
        "top searches shown": lists_table(found),
        "top searches cost": [*values_table(found), "", *cost_lines(found)],
        "rising shown": rising_lines(),
    }


def write_pages(found: Mapping[str, Any]) -> None:
    """Write the tables into their page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(found)), encoding="utf-8")


if __name__ == "__main__":
    write_pages(read_record("top_searches"))
