"""Running the experiments of a module, such as evidence/privacy.py, and keeping what each showed in build/evidence."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evidence.measuring import ROOT, Result, print_result, write_json
from search_insights.commands.console import note

OUT = ROOT / "build" / "evidence"


def run_experiments(
    name: str, title: str, experiments: Mapping[str, Callable[[], Result]], asked: Sequence[str]
) -> int:
    """Run the experiments asked for, or all; write NAME.json and NAME.md as results come in; return the exit code.

    An experiment that is run again replaces its older result in those files.
    """
    if unknown := sorted(set(asked) - set(experiments)):
        note(f"no such experiment: {', '.join(unknown)}; there are {', '.join(experiments)}")
        return 2
    path = OUT / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found: dict[str, Result] = {}
    for each in asked or list(experiments):
        note(f"[{time.strftime('%H:%M:%S')}] {each}")
        found[each] = experiments[each]()
        kept[each] = asdict(found[each])
        write_json(path, kept)
        page = [f"# {title}", *(_section(other, kept[other]) for other in experiments if other in kept)]
        path.with_suffix(".md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    return print_result(next(iter(found.values())) if len(found) == 1 else _together(found))


def _section(name: str, result: dict[str, Any]) -> str:
    lines = [f"## {name}", result["showed"] + "."]
    if result["details"]:
        lines.append("\n".join(result["details"]))
    if (OUT / f"{name}.svg").exists():
        lines.append(f"![{name}]({name}.svg)")
    return "\n\n".join([*lines, *(f"BROKEN: {line}" for line in result["broken"])])


def _together(found: Mapping[str, Result]) -> Result:
    """Put the results of several experiments into one."""
    return Result(
        showed="; ".join(f"{name}: {result.showed}" for name, result in found.items()),
        numbers={name: result.numbers for name, result in found.items()},
        details=[line for result in found.values() for line in (*result.details, "")],
        broken=[f"{name}: {line}" for name, result in found.items() for line in result.broken],
    )


def picture_path(name: str) -> Path:
    """Return where the picture of an experiment is saved."""
    OUT.mkdir(parents=True, exist_ok=True)
    return OUT / f"{name}.svg"
