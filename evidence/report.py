"""The report of the evidence: evidence/results/report.json, and report.md and the table of README.md made from it.

python -m evidence.report    # write both pages again, without running anything
"""

from collections.abc import Mapping
from typing import Any

from evidence.measuring import RESULTS, ROOT, read_record
from evidence.pages import filled, markdown_table
from evidence.parts import PARTS, Part

RECORD = RESULTS / "report.json"
PAGE = ROOT / "evidence" / "report.md"
README = ROOT / "evidence" / "README.md"
Entries = Mapping[str, dict[str, Any]]  # by the name of the part


def entries() -> Entries:
    """Read the results of the last run of each part."""
    found: Entries = read_record("report") if RECORD.exists() else {}
    return found


def report_page(found: Entries) -> str:
    """Lay out the report."""
    ran = [part for part in PARTS if part.name in found]
    failed = [part.name for part in ran if not found[part.name]["passed"]]
    minutes = sum(found[part.name]["seconds"] for part in ran) / 60
    outcome = f"failed: {', '.join(failed)}" if failed else "all passed"
    total = f"{len(ran)} of {len(PARTS)} parts, {minutes:.0f} minutes in all; {outcome}."
    head = [
        "# Evidence: the report",
        "Written by `python -m evidence` (`make evidence`); [README.md](README.md) says what each part is. "
        "Times depend on the machine and on its other work; ratios are to a reference measured in the same run.",
        "\n\n".join([total, *_environments(found)]) if ran else "Nothing has been run yet.",
    ]
    return "\n\n".join([*head, *(_section(part, found[part.name]) for part in ran)]) + "\n"


def _environments(found: Entries) -> list[str]:
    """List on what the parts were run; usually all on the same."""
    parts: dict[str, list[str]] = {}
    for part in PARTS:
        if part.name in found:
            entry = found[part.name]
            versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
            parts.setdefault(f"{entry['at'][:10]}, {entry['machine']}: {versions}", []).append(part.name)
    if len(parts) == 1:
        return [f"{environment}." for environment in parts]
    return [f"{environment} ({', '.join(names)})." for environment, names in parts.items()]


def _section(part: Part, entry: dict[str, Any]) -> str:
    lines = [
        f"## {part.name}",
        f"{part.measures[0].upper()}{part.measures[1:]}.",
        f"`{entry['command']}`, {entry['at']}, {_duration(entry['seconds'])} "
        f"({_duration(entry['cpu_seconds'])} of CPU, {entry['peak_gb']:.1f} GB): **{_outcome(entry)}**.",
        f"{entry['showed']}.".replace("..", ".") if entry["showed"] else "",
        "\n".join(entry["details"]),
        "\n".join(f"- broken: {line}" for line in entry["broken"]),
    ]
    return "\n\n".join(line for line in lines if line)


def readme_table(found: Entries) -> list[str]:
    """List all parts: the file, what it measures, how long it takes, and what it last showed."""
    header = ("part", "file", "what it measures", "takes", "`--full`", "last showed")
    rows = []
    for part in PARTS:
        entry = found.get(part.name)
        takes = _duration(entry["seconds"]) if entry else f"about {_minutes(part.minutes[0])}"
        rows.append(
            (
                f"`{part.name}`",
                f"[{part.file}]({part.file})",
                part.measures,
                takes,
                f"about {_minutes(part.minutes[1])}",
                f"{entry['at'][:10]}, {_outcome(entry)}: {entry['showed']}" if entry else "not run yet",
            )
        )
    return markdown_table(header, [[cell.replace("|", "\\|") for cell in row] for row in rows], text_columns=range(6))


def _outcome(entry: dict[str, Any]) -> str:
    return "passed" if entry["passed"] else "FAILED"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else _minutes(seconds / 60)


def _minutes(minutes: float) -> str:
    return f"{60 * minutes:.0f} s" if minutes < 1 else f"{minutes:.1f}".removesuffix(".0") + " min"


def write_pages(found: Entries) -> None:
    """Write report.md and the table of README.md."""
    PAGE.write_text(report_page(found), encoding="utf-8")
    blocks = {"parts": readme_table(found)}
    README.write_text(filled(README.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    write_pages(entries())
