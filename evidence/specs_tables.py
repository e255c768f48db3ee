"""The tables of docs/choosing-a-spec.md, docs/postprocessing.md and the README about both specs, from the records.

python -m evidence.specs_tables    # write them again
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evidence.measuring import ROOT, read_record
from evidence.pages import filled, markdown_table
from search_insights.spec.spec_file import PACKAGED_SPECS

PAGE = ROOT / "docs" / "choosing-a-spec.md"
POSTPROCESSING = ROOT / "docs" / "postprocessing.md"
README = ROOT / "README.md"
V1, V2 = PACKAGED_SPECS
TRENDS = "C3", "C1", "C2"
Row = Mapping[str, Any]


def values_table(found: Mapping[str, Any]) -> list[str]:
    """Lay out the published values and their median errors, by level and trend."""
    errors = ("error, all published", "error, both publish")
    header = ("level", "trend", "values, v1", "v2", "times", *(f"{e}{s}" for e in errors for s in (", v1", ", v2")))
    lines = []
    for row in found["rows"]:
        one, other = row["values"][V1], row["values"][V2]
        medians = [*_medians(row, "median"), *_medians(row, "median where both publish")]
        lines.append([*_names(row), f"{one:,}", f"{other:,}", f"{other / one:.2f}" if one else "", *medians])
    return markdown_table(header, lines, (0, 1))


def _medians(row: Row, what: str) -> list[str]:
    return [f"{row[what][name]:.2%}" if row["values"][name] else "" for name in (V1, V2)]


def coverage_table(found: Mapping[str, Any]) -> list[str]:
    """Lay out how often intervals contain the truth: of all values, and what selection does to the published ones."""
    header = ("level", "trend", *(f"{what}, {spec}" for what in _COVERAGE for spec in ("v1", "v2")))
    lines = [
        [*_names(row), *(form(row, name) for form in _COVERAGE.values() for name in (V1, V2))] for row in found["rows"]
    ]
    return markdown_table(header, lines, (0, 1))


def _names(row: Row) -> tuple[str, str]:
    return _plain(row["level"]), row["trend"]


def _plain(level: str) -> str:
    return level.replace("_", " ")


def _of_all(row: Row, name: str) -> str:
    return _with_error(row["coverage of all"][name])


def _of_published(row: Row, name: str) -> str:
    return _with_error(row["coverage"][name])


def _lucky(row: Row, name: str) -> str:
    """Return the share of published values that only noise made reliable."""
    return f"{row['coverage of lucky'][name]['values'] / max(1, row['coverage'][name]['values']):.1%}"


def _of_lucky(row: Row, name: str) -> str:
    return _with_error(row["coverage of lucky"][name])


_COVERAGE = {"all": _of_all, "published": _of_published, "only by noise": _lucky, "of these": _of_lucky}


def _with_error(of: Mapping[str, float]) -> str:
    """Show a share with its binomial standard error."""
    if not of["values"]:
        return ""
    error = (of["share"] * (1 - of["share"]) / of["values"]) ** 0.5
    return f"{100 * of['share']:.1f} ± {100 * error:.1f}%"


def blocks(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what docs/choosing-a-spec.md shows of the record."""
    size = f"{found['weeks']} simulated weeks of {found['events_per_week']:,} searches"
    total = f"On {size}, `{V2}` published **{found['ratio']:.2f} times** the values of `{V1}` ({found['at']})."
    others = [(words, f"{times:.2f}") for words, times in found["other logs"].items()]
    counts = found["exact counts, v2 next to v1"]
    costs = [(_plain(level), *(f"{of[t]:.3f}" for t in TRENDS)) for level, of in counts.items()]
    apart = found["exact shares, how far apart"]
    moved = [(_plain(level), *(_spread(of[t]) for t in TRENDS)) for level, of in apart.items()]
    return {
        "specs table": [total, "", *values_table(found)],
        "specs coverage": coverage_table(found),
        "other logs": markdown_table(("log", "values, v2 next to v1"), others),
        "exact counts": [*markdown_table(("level", *TRENDS), costs), "", _scale(found)],
        "first weeks": first_weeks(found["first weeks"]),
        "exact shares": markdown_table(("level", *TRENDS), moved),
    }


def _scale(found: Mapping[str, Any]) -> str:
    """Say how much lower the C3 is that 100 stands for."""
    peak = found["national peak of C3, v2 next to v1"]
    return (
        f"The highest share of C3 in the country is {peak:.3f} of v1's, so C1 and C2 are scaled up by {1 / peak:.3f}."
    )


def first_weeks(found: Mapping[str, Any]) -> list[str]:
    """Say how often published intervals of the rarest trend contain the truth in the first weeks."""
    row = found["rows"][-1]
    shares = [f"{_of_published(row, n)} of the {row['values'][n]:,} values of `{n}`" for n in (V1, V2)]
    return [f"- {_names(row)[0]}, {row['trend']}, {found['weeks']} weeks: {', '.join(shares)}."]


def _spread(of: Mapping[str, float]) -> str:
    return f"{of['median']:.2%}, {of['95th percentile']:.2%}"


def readme_block(found: Mapping[str, Any]) -> list[str]:
    """Return what the README shows of the record: values of all trends, and the errors of C3, by level."""
    errors = ("median error of C3, where both publish, v1", "v2", "of all that each publishes, v1", "v2")
    header = ("level", "values, v1", "v2", "times", *errors)
    lines = []
    for level in ("state", "county", "postal_code"):
        rows = [row for row in found["rows"] if row["level"] == level]
        one, other = (sum(row["values"][name] for row in rows) for name in (V1, V2))
        medians = [*_medians(rows[0], "median where both publish"), *_medians(rows[0], "median")]
        lines.append((_plain(level), f"{one:,}", f"{other:,}", f"{other / one:.2f}", *medians))
    return markdown_table(header, lines)


def reconciled_block() -> list[str]:
    """Return the table of the last run of the part `reconciled`."""
    lines: list[str] = read_record("report")["reconciled"]["details"]
    return lines


def pages(found: Mapping[str, Any]) -> dict[Path, dict[str, list[str]]]:
    """Return what each page shows of the records."""
    return {
        PAGE: blocks(found),
        POSTPROCESSING: {"reconciled coverage": reconciled_block()},
        README: {"specs": readme_block(found)},
    }


def write_pages(found: Mapping[str, Any]) -> None:
    """Write the tables into their pages."""
    for path, of_page in pages(found).items():
        path.write_text(filled(path.read_text(encoding="utf-8"), of_page), encoding="utf-8")


if __name__ == "__main__":
    write_pages(read_record("specs"))
