"""Run the evidence: the privacy and durability experiments and the benchmarks, one after another, and write the report.

    python -m evidence                      # all parts, about 50 minutes on 2 cores
    python -m evidence --only peers kills   # some parts, or groups: privacy, durability, benchmarks
    python -m evidence --full               # the long sizes, about three hours; records growth and peers

Each part runs in a process of its own and is ended at its time limit. A part that fails is reported as failed, the
others go on, and the exit code is 1. Results go to evidence/results/report.json, evidence/report.md and the table of
evidence/README.md; what a part printed on the way is in build/evidence/NAME.log. Only --full writes the records in
evidence/results that docs/performance.md is made from.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evidence.experiments import OUT
from evidence.measuring import ROOT, parser_of, write_json
from evidence.parts import PARTS, Part
from evidence.report import RECORD, entries, write_pages
from evidence.watched import Ended, run_to_limit
from search_insights.commands.console import note

PACKAGES = {"DuckDB": "duckdb", "OpenDP": "opendp", "dp-accounting": "dp-accounting", "PySpark": "pyspark"}


def run_part(part: Part, full: bool, limit: float | None = None) -> dict[str, Any]:
    """Run a part in a process of its own; return its entry of the report, also if it fails."""
    at, limit = time.strftime("%Y-%m-%d %H:%M"), limit or part.limit(full)
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as output, (OUT / f"{part.name}.log").open("w+b") as log:
        ended = run_to_limit([sys.executable, "-m", part.module, *part.arguments(full)], limit, output, log, ROOT)
        output.seek(0)
        log.seek(0)
        found = _result(ended, limit, output.read().decode(errors="replace"), log.read().decode(errors="replace"))
    return {
        "at": at,
        "command": part.command(full),
        "seconds": round(ended.seconds, 1),
        "cpu_seconds": round(ended.cpu, 1),
        "peak_gb": round(ended.peak_gb, 2),
        "passed": ended.code == 0 and not found["broken"],
        **found,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "versions": {"Python": platform.python_version()} | {name: version(p) for name, p in PACKAGES.items()},
    }


def _result(ended: Ended, limit: float, output: str, log: str) -> dict[str, Any]:
    """Read the result that a part printed; if it printed none, say why."""
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        last = (log.strip().splitlines() or ["no output"])[-1]
        why = f"exit code {ended.code}: {last}"
        if ended.code is None:
            why = f"ended at its limit of {limit / 60:.0f} minutes; the last line was: {last}"
        found = {"showed": "", "numbers": None, "details": [], "broken": [why]}
    return found | {"broken": [_without_paths(line) for line in found["broken"]]}


def _without_paths(text: str) -> str:
    """Remove the folders of this machine from a message."""
    for folder in (str(ROOT), sys.prefix, tempfile.gettempdir(), str(Path.home())):
        text = text.replace(f"{folder}/", "")
    return text


def run_parts(parts: Sequence[Part], full: bool) -> int:
    """Run parts one after another, and write the report after each; return 1 if any failed."""
    found = dict(entries())
    failed = []
    for number, part in enumerate(parts, 1):
        note(f"[{time.strftime('%H:%M:%S')}] {number}/{len(parts)} {part.name}: about {part.minutes[full]:g} minutes")
        entry = run_part(part, full)
        outcome = "passed" if entry["passed"] else "FAILED"
        note(f"[{time.strftime('%H:%M:%S')}] {part.name}: {outcome} after {entry['seconds']:.0f} s: {entry['showed']}")
        for line in entry["broken"]:
            note(f"    broken: {line}")
        failed += [part.name] if not entry["passed"] else []
        found[part.name] = entry
        write_json(RECORD, {each.name: found[each.name] for each in PARTS if each.name in found})
        write_pages(found)
    note(f"failed: {', '.join(failed)}" if failed else f"all {len(parts)} parts passed")
    return int(bool(failed))


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.prog = "python -m evidence"
    names = [part.name for part in PARTS] + list(dict.fromkeys(part.group for part in PARTS))
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=names, help=f"of {', '.join(names)}")
    parser.add_argument("--full", action="store_true", help="the long sizes, about three hours")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    args = _arguments(given)
    asked = [part for part in PARTS if not args.only or part.name in args.only or part.group in args.only]
    return run_parts(asked, args.full)


if __name__ == "__main__":
    sys.exit(main())
