"""The long versions of the reliability tests: every kill, fault, load and the soak, with a table of what happened.

    python -m tools.evidence_reliability                 # all of it, about an hour on 2 cores
    python -m tools.evidence_reliability kills soak      # some sections

Writes build/evidence/reliability.json and .md; a section that is run again replaces what it said before. Exit code 1 if
anything broke a promise.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.kill_cases import cases
from tests.kills import Tally, check, random_moments, steps_of

OUT = Path("build/evidence")


@dataclass(frozen=True)
class Row:
    """One fault: how often it was tried, what happened, and what broke."""

    fault: str
    tried: int
    happened: str
    broken: list[str]


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def kills() -> list[Row]:
    """Kill each command just before every line of the modules that write, the first and the second time."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for case in cases(Path(home)):
            steps, tally, broken = steps_of(case), Tally(), []
            for step in steps:
                try:
                    check(case, tally, at=step)
                except AssertionError as error:
                    broken.append(f"{step}: {error}")
            happened = (
                f"{tally.killed} killed at {len({s[:2] for s in steps})} lines, all whole, all completed by a rerun"
            )
            rows.append(Row(f"SIGKILL at every line: {case.name}", len(steps), happened, broken))
            _say(f"{rows[-1].fault}: {len(steps)}, broken {len(broken)}")
    return rows


def moments() -> list[Row]:
    """Kill each command at random moments."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for number, case in enumerate(cases(Path(home))):
            tally, broken = Tally(), []
            for moment in random_moments(case, 50, seed=number):
                try:
                    check(case, tally, after=moment)
                except AssertionError as error:
                    broken.append(f"{moment}: {error}")
            happened = f"{tally.killed} killed, {tally.ended} were done before; all whole, all completed by a rerun"
            rows.append(Row(f"SIGKILL at a random moment: {case.name}", 50, happened, broken))
            _say(f"{rows[-1].fault}: broken {len(broken)}")
    return rows


SECTIONS: dict[str, Callable[[], list[Row]]] = {"kills": kills, "moments": moments}


def main() -> int:
    """Run the sections that were asked for and write what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="(default: all)")
    asked = parser.parse_args().sections or list(SECTIONS)
    random.seed(0)
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "reliability.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in asked:
        begin = time.monotonic()
        rows = SECTIONS[name]()
        results[name] = {"seconds": round(time.monotonic() - begin), "rows": [asdict(row) for row in rows]}
        path.write_text(json.dumps(results, indent=2) + "\n")
        (OUT / "reliability.md").write_text(_page(results))
    broken = [line for section in results.values() for row in section["rows"] for line in row["broken"]]
    for line in broken:
        _say(f"BROKEN: {line}")
    return int(bool(broken))


def _page(results: dict[str, dict[str, object]]) -> str:
    lines = ["| fault | tried | broken | what happened |", "| --- | ---: | ---: | --- |"]
    for name in SECTIONS:
        lines += [
            f"| {row['fault']} | {row['tried']:,} | {len(row['broken'])} | {row['happened']} |"
            for row in results.get(name, {}).get("rows", [])  # type: ignore[attr-defined]
        ]
    return "# Reliability, as measured\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
