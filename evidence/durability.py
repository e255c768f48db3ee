"""The long versions of the durability tests: kills, faults, large inputs and a long run.

    python -m evidence.durability                            # all of them, about an hour on 2 cores
    python -m evidence.durability kills soak --share 0.25    # some, a quarter of their size

Writes build/evidence/durability.md and .json. Exit code 1 if any promise of docs/durability.md was broken.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.lab.damage import flip, flips
from tests.lab.kill_cases import BACKUP, PUBLISH, WEEKS, Cases, anonymize_words, new_folder, week_query
from tests.lab.kills import Case, Ended, Step, Tally, check, die_after_commit, random_moments, run_process, steps_of
from tests.lab.large_days import LARGE_DAYS, measure
from tests.lab.soak import soak
from tests.support.logs import write_log

from evidence.experiments import run_experiments
from evidence.measuring import PROGRAM, Result, parser_of
from evidence.pages import markdown_table
from search_insights.commands.console import note
from search_insights.errors import StoreError
from search_insights.store.journal import read_journal
from search_insights.store.opening import open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems

Point = tuple[Step | None, float | None]  # where a command is killed: at a step, or after so many seconds

MEMORY = "2GB"
MOST_MEGABYTES = 2_700  # of the whole process, with that memory


@dataclass(frozen=True)
class Row:
    """One fault: how often it was tried, what happened, and what broke."""

    fault: str
    tried: int
    happened: str
    broken: list[str]


def summary(rows: Sequence[Row], tried: str) -> Result:
    """Sum up rows as a result; `tried` names what the tries were."""
    broken = [f"{row.fault}: {line}" for row in rows for line in row.broken]
    total = sum(row.tried for row in rows)
    showed = f"{total:,} {tried}, {len(broken)} broken"
    if len(rows) == 1:
        showed += f"; {rows[0].happened}"
    cells = [(row.fault, f"{row.tried:,}", str(len(row.broken)), row.happened) for row in rows]
    details = markdown_table(("fault", "tried", "broken", "what happened"), cells, text_columns=(0, 3))
    return Result(showed, [asdict(row) for row in rows], details, broken)


def some_of(full: int, share: float) -> int:
    """Return a share of a number, at least 1."""
    return max(1, round(full * share))


def kills(share: float) -> Result:
    """Kill each command just before every line of the modules that write; with a share of 0.5 every second line."""
    every = round(1 / share)

    def points(case: Case, number: int) -> list[Point]:
        return [(step, None) for step in steps_of(case, most=1)[number % every :: every]]

    return summary(_killed("SIGKILL before a line", points), "kills")


def moments(share: float) -> Result:
    """Kill each command at random moments."""

    def points(case: Case, number: int) -> list[Point]:
        return [(None, seconds) for seconds in random_moments(case, some_of(50, share), seed=number)]

    return summary(_killed("SIGKILL at a random moment", points), "runs")


def _killed(fault: str, points: Callable[[Case, int], list[Point]]) -> list[Row]:
    """Kill each command at its points, and check its promises each time."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for number, case in enumerate(Cases(Path(home)).values()):
            tally, broken, tries = Tally(), [], points(case, number)
            for step, seconds in tries:
                try:
                    check(case, tally, at=step, after=seconds)
                except AssertionError as error:
                    broken.append(f"{step or seconds}: {error}")
            happened = f"{tally.killed} killed, {tally.ended} were done before; all completed by a rerun"
            rows.append(Row(f"{fault}: {case.name}", len(tries), happened, broken))
            _note(rows[-1])
    return rows


def program(share: float) -> Result:
    """Kill the installed program itself, each time a new process, at random moments."""
    draw, broken, killed, tries = random.Random(5), [], 0, some_of(40, share)
    with tempfile.TemporaryDirectory() as home:
        folder = new_folder(Path(home) / "work", *WEEKS)
        for number in range(tries):
            words = anonymize_words(*WEEKS) if number % 2 else PUBLISH
            process = subprocess.Popen(
                [PROGRAM, *words], cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            try:
                process.wait(draw.uniform(0.5, 8))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.wait()
            broken += _store_problems(folder)
    happened = f"{killed} killed; the store was sound each time"
    return summary([Row("SIGKILL of the installed program, on one store", tries, happened, broken)], "runs")


def _store_problems(folder: Path) -> list[str]:
    """List what is wrong with a folder's store; a store that is missing or empty is not wrong."""
    try:
        with open_store(folder / "store.db") as store:
            return problems(store, scale_problems)
    except StoreError as error:
        return [] if "no such store" in str(error) or "is empty" in str(error) else [str(error)]


def bits(share: float) -> Result:
    """Flip single bits of a store, and of its write-ahead log."""
    return summary([_bits_of_store(some_of(2_000, share)), _bits_of_changes(some_of(150, share))], "bits flipped")


def _bits_of_store(tries: int) -> Row:
    with tempfile.TemporaryDirectory() as home:
        folder = new_folder(Path(home) / "work", *WEEKS)
        run_process(anonymize_words(*WEEKS), folder)
        run_process(PUBLISH, folder)
        store = folder / "store.db"
        places = random.Random(1).sample(range(store.stat().st_size), tries)
        try:
            found, harmless = flips(store, places, Path(home))
        except AssertionError as error:
            return Row("one bit of the store flipped", tries, "", [str(error)])
    happened = f"{found:,} detected, {harmless:,} in unused parts of the file"
    return Row("one bit of the store flipped", tries, happened, [])


def _bits_of_changes(tries: int) -> Row:
    """Flip bits of a write-ahead log that holds a week: the week must not be noised a second time."""
    refused = applied = 0
    broken = []
    with tempfile.TemporaryDirectory() as home:
        folder = new_folder(Path(home) / "work", *WEEKS[:2])
        run_process(anonymize_words(WEEKS[0]), folder)
        run_process(anonymize_words(WEEKS[1]), folder, setup=die_after_commit)
        noise = read_journal(folder / "store.db").checksums
        size = (folder / "store.db.wal").stat().st_size
        for number, place in enumerate(range(0, size, max(1, size // tries))):
            copy = Path(home) / "copy"
            shutil.copytree(folder, copy)
            flip(copy / "store.db.wal", place, number % 8)
            ended = run_process(anonymize_words(WEEKS[1]), copy)
            refused += ended.code == 2
            applied += ended.code == 0
            if ended.code not in (0, 2) or read_journal(copy / "store.db").checksums != noise:
                broken.append(f"byte {place}: {ended}")
            shutil.rmtree(copy)
    happened = f"{refused} refused (damage, or a week that the journal has and the store lacks), {applied} not affected"
    return Row("one bit of a store's write-ahead log flipped", refused + applied, happened, broken)


def disk(share: float) -> Result:
    """Let the disk be full at many file sizes."""
    every = round(1 / share)
    rows = []
    with tempfile.TemporaryDirectory() as home:
        nothing = new_folder(Path(home) / "nothing", *WEEKS[:2])
        one = Path(home) / "one"
        shutil.copytree(nothing, one)
        run_process(anonymize_words(WEEKS[0]), one)
        for name, before, words in (
            ("anonymize, first", nothing, anonymize_words(WEEKS[0])),
            ("anonymize, later", one, anonymize_words(WEEKS[1])),
            ("publish", one, PUBLISH),
            ("store backup", one, BACKUP),
        ):
            sizes = [int(1.35**i) * 64 for i in range(34)][::every]
            ends = [_full_disk(before, Path(home) / "copy", words, size) for size in sizes]
            refused = sum(full.code != 0 for full, _ in ends)
            happened = f"{refused} refused in one line, {len(sizes) - refused} had room; all completed by a rerun"
            broken = [f"{size} bytes: {wrong}" for size, (_, wrong) in zip(sizes, ends, strict=True) if wrong]
            rows.append(Row(f"disk full: {name}", len(sizes), happened, broken))
            _note(rows[-1])
    return summary(rows, "full disks")


def _full_disk(before: Path, copy: Path, words: tuple[str, ...], size: int) -> tuple[Ended, str]:
    """Run a command where no file may grow over a size, then again with room; return how it ended and what broke."""
    shutil.copytree(before, copy)
    full = run_process(words, copy, setup=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size)))
    noise, wrong = read_journal(copy / "store.db").checksums, _store_problems(copy)
    again = run_process(words, copy)
    ended = again.code == 0 or (words == BACKUP and full.code == 0)
    kept = all(read_journal(copy / "store.db").checksums.get(week) == n for week, n in noise.items())
    shutil.rmtree(copy)
    holds = full.code in (0, 2) and not wrong and ended and kept and "fault of" not in full.text
    return full, "" if holds else f"{full} {again} {wrong}"


def files(share: float) -> Result:
    """Anonymize a log of very many files."""
    rows, count = [], some_of(10_000, share)
    for suffix in ("parquet", "csv"):
        with tempfile.TemporaryDirectory() as home:
            folder = new_folder(Path(home) / "work")
            first = write_log(folder / "log" / f"00000.{suffix}", week_query(WEEKS[0], 100))
            for number in range(1, count):
                os.link(first, first.with_name(f"{number:05d}.{suffix}"))
            begin = time.monotonic()
            ended = run_process(anonymize_words(WEEKS[0]), folder)
            happened = f"exit code {ended.code} after {time.monotonic() - begin:.0f} s"
            broken = [] if ended.code == 0 else [ended.text]
            rows.append(Row(f"a log of {count:,} {suffix} files", 1, happened, broken))
            _note(rows[-1])
    return summary(rows, f"logs of {count:,} files")


def load(share: float) -> Result:
    """Count days with very many events."""
    rows, events = [], some_of(100_000_000, share)
    for large_day in LARGE_DAYS:
        day = measure(large_day, events, MEMORY)
        right = day.any_search["state"] == day.expected(large_day)
        happened = f"counted in {day.seconds:.0f} s, at most {day.megabytes:,} MB with --memory {MEMORY}"
        broken = [] if right and day.megabytes < MOST_MEGABYTES else [str(day)]
        rows.append(Row(f"{events:,} events in a day: {large_day.name}", 1, happened, broken))
        _note(rows[-1])
    return summary(rows, f"days of {events:,} events")


def long_run(share: float) -> Result:
    """Release week after week with kills in between."""
    weeks = max(16, some_of(160, share))
    with tempfile.TemporaryDirectory() as home:
        result = soak(Path(home), weeks=weeks, seed=1)
    stores, datasets = result.store_bytes, result.dataset_bytes
    broken = [f"differs: {name}" for name in result.differs] + [f"left: {name}" for name in result.leftovers]
    early, middle, late = weeks // 8 - 1, weeks // 2 - 1, 7 * weeks // 8 - 1
    for name, sizes in (("store", stores), ("dataset", datasets)):
        if sizes[late] - sizes[middle] > 1.5 * (sizes[middle] - sizes[early]) + 600_000:  # a store's block: 256 kB
            broken.append(f"the {name} grows faster than its weeks: {sizes}")
    shown = (early, middle, weeks - 1)
    happened = (
        f"{result.kills} kills; the dataset is byte for byte that of an undisturbed run with the same noise; after "
        f"{', '.join(str(i + 1) for i in shown)} weeks the store has "
        f"{', '.join(f'{stores[i] / 1e6:.2f}' for i in shown)} MB and the dataset "
        f"{', '.join(f'{datasets[i] / 1e6:.2f}' for i in shown)} MB"
    )
    return summary([Row("weekly releases with random kills", weeks, happened, broken)], "weekly releases")


def _note(row: Row) -> None:
    note(f"[{time.strftime('%H:%M:%S')}] {row.fault}: {row.tried}, {row.happened}, broken {len(row.broken)}")


EXPERIMENTS: dict[str, Callable[[float], Result]] = {
    "kills": kills,
    "moments": moments,
    "program": program,
    "bits": bits,
    "disk": disk,
    "files": files,
    "load": load,
    "soak": long_run,
}


def main() -> int:
    """Run the experiments asked for."""
    parser = parser_of(__doc__)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of tries, events and weeks")
    args = parser.parse_args()
    random.seed(0)
    ready = {name: partial(experiment, args.share) for name, experiment in EXPERIMENTS.items()}
    return run_experiments("durability", "Durability, as measured", ready, args.experiments)


if __name__ == "__main__":
    sys.exit(main())
