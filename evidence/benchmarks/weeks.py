"""How publishing and the site grow with the weeks: a new dataset, one more week, and the site of it.

    python -m evidence.benchmarks.weeks [--weeks 160 520] [--rounds 3]

The stores are those of the benchmark `publish`. Each command is a process of its own, from its start to its end, run
several times in turn; the least time and the least CPU time are taken, because other work on the machine only ever adds
time. `one more week` publishes over a dataset of the weeks before. The last rows divide what is added by more weeks by
what the fewest weeks take, both by the week: 1 is linear growth, and fixed costs make it less.
"""

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence.inputs import make_store
from evidence.measuring import Result, parser_of, print_result
from evidence.pages import markdown_table
from evidence.watched import Used, watch

PROGRAM = (sys.executable, "-m", "search_insights")
JOBS = ("publish", "one more week", "site")
WANTED = 8.0  # seconds, for 160 weeks on 2 quiet cores


def run(job: str, folder: Path) -> Used:
    """Run a job from the state that it needs; the dataset of the weeks is left for the others."""
    dataset, again, site = (folder / name for name in ("dataset", "again", "site"))
    for path in (dataset, again, site) if job == "publish" else (again, site):
        shutil.rmtree(path, ignore_errors=True)
    if job == "publish":
        return watch((*PROGRAM, "publish", "--store", f"{folder}/store.db", "--out", f"{dataset}"))
    if job == "site":
        return watch((*PROGRAM, "dashboard", f"{dataset}", "--out", f"{site}"))
    shutil.copytree(dataset, again)
    return watch((*PROGRAM, "publish", "--store", f"{folder}/later.db", "--out", f"{again}"))


def measure(weeks: int, rounds: int) -> dict[str, dict[str, float]]:
    """Measure all jobs on one store."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "store.db", weeks)
        for end in ("", ".journal"):
            shutil.copy(folder / f"store.db{end}", folder / f"later.db{end}")
        make_store(folder / "later.db", 1, first=weeks)
        runs: dict[str, list[Used]] = {job: [] for job in JOBS}
        for _ in range(rounds):
            for job in JOBS:
                runs[job].append(run(job, folder))
    return {
        job: {
            "seconds": round(min(used.seconds for used in found), 2),
            "cpu": round(min(used.cpu for used in found), 2),
            "memory_gb": round(max(used.peak_gb for used in found), 2),
        }
        for job, found in runs.items()
    }


def growth(found: Mapping[int, Mapping[str, Mapping[str, float]]], job: str) -> float:
    """Return what a further week costs in CPU, as a ratio to what one of the fewest weeks costs."""
    few, many = min(found), max(found)
    further = (found[many][job]["cpu"] - found[few][job]["cpu"]) / (many - few)
    return round(further / (found[few][job]["cpu"] / few), 2)


def table(found: Mapping[int, Mapping[str, Mapping[str, float]]]) -> Sequence[str]:
    """Lay out the measurements, one row for each job and number of weeks."""
    rows = [
        [job, str(weeks), f"{row['seconds']:.1f} s", f"{row['cpu']:.1f} s", f"{row['memory_gb']:.2f} GB"]
        for job in JOBS
        for weeks, jobs in found.items()
        for row in [jobs[job]]
    ]
    return markdown_table(("job", "weeks", "time", "CPU", "memory"), rows)


def main() -> int:
    """Measure every number of weeks."""
    parser = parser_of(__doc__)
    parser.add_argument("--weeks", type=int, nargs="+", default=[160, 520])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    found = {weeks: measure(weeks, args.rounds) for weeks in sorted(args.weeks)}
    ratios = {job: growth(found, job) for job in JOBS} if len(found) > 1 else {}
    times = "; ".join(
        f"{weeks} weeks: "
        + ", ".join(f"{job} {row['seconds']:.1f} s ({row['cpu']:.1f} s of CPU)" for job, row in jobs.items())
        for weeks, jobs in found.items()
    )
    more = "; a further week costs " + ", ".join(f"{ratio:.2f} ({job})" for job, ratio in ratios.items())
    showed = f"{times} (wanted: {WANTED:g} s for 160 weeks){more + ' of one of the fewest weeks' if ratios else ''}"
    values = {"weeks": {str(weeks): jobs for weeks, jobs in found.items()}, "growth": ratios}
    return print_result(Result(showed, values, list(table(found))))


if __name__ == "__main__":
    sys.exit(main())
