"""How long small commands and a small log take, as a ratio to importing DuckDB and NumPy.

    python -m evidence.benchmarks.small [--rounds 5]

Each command is a process of its own, from its start to its end, and finds its modules compiled, as an installed program
does. All are run in turn, several times, and the least time
and the least CPU time of each are taken, because other work on the machine only ever adds time. The log has 7,000
searches of 3,000 people; every cell of the United States gets noise, as with any log.
"""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence.inputs import MONDAY
from evidence.measuring import Result, parser_of, print_result
from evidence.pages import markdown_table
from evidence.watched import Used, watch

PROGRAM = (sys.executable, "-m", "search_insights")
REFERENCE = "import duckdb, numpy"
EVENTS, USERS = 7_000, 3_000
WANTED = {"--help": 0.15, "privacy": 1.5, "ledger": 0.6, "anonymize": 1.5}  # seconds, on 2 quiet cores


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands that are measured; `anonymize` writes the store that is there already when it begins anew."""
    return {
        REFERENCE: (sys.executable, "-c", REFERENCE),
        "--help": (*PROGRAM, "--help"),
        "privacy": (*PROGRAM, "privacy"),
        "anonymize": (*PROGRAM, "anonymize", f"{folder}/log", "--store", f"{folder}/store.db", "--week", str(MONDAY)),
        "ledger": (*PROGRAM, "ledger", "--store", f"{folder}/store.db"),
    }


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Measure every command in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"  # by the first round
        sizes = ("--events-per-week", str(EVENTS), "--users", str(USERS), "--seed", "1")
        watch((*PROGRAM, "simulate", "--out", f"{folder}/log", "--from", str(MONDAY), *sizes))
        runs: dict[str, list[Used]] = {command: [] for command in commands(folder)}
        for _ in range(rounds):
            for file in folder.glob("store.db*"):
                file.unlink()
            for command, line in commands(folder).items():
                runs[command].append(watch(line))
    least = {c: (min(u.seconds for u in used), min(u.cpu for u in used)) for c, used in runs.items()}
    reference = least[REFERENCE][1]
    return {
        command: {"seconds": round(seconds, 3), "cpu": round(cpu, 3), "cpu_ratio": round(cpu / reference, 2)}
        for command, (seconds, cpu) in least.items()
    }


def table(found: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
    """Lay out the measurements, one row a command."""
    rows = [
        [
            f"`{command}`",
            f"{row['seconds']:.2f} s",
            f"{row['cpu']:.2f} s",
            f"{row['cpu_ratio']:.1f}",
            f"{WANTED[command]:g} s" if command in WANTED else "",
        ]
        for command, row in found.items()
    ]
    return markdown_table(("command", "time", "CPU", "times the reference's CPU", "wanted on 2 quiet cores"), rows)


def main() -> int:
    """Measure all commands."""
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    found = measure(args.rounds)
    times = ", ".join(
        f"{command} {row['seconds']:.2f} s ({row['cpu_ratio']:.1f} times; wanted {WANTED[command]:g} s)"
        for command, row in found.items()
        if command in WANTED
    )
    showed = f"the least time, and CPU next to that of `{REFERENCE}`; {EVENTS:,} searches are anonymized: {times}"
    return print_result(Result(showed, found, list(table(found))))


if __name__ == "__main__":
    sys.exit(main())
