"""The long versions of the reliability tests: every kill, fault, load and the soak, with a table of what happened.

    python -m evidence.durability                 # all of it, about an hour on 2 cores
    python -m evidence.durability kills soak      # some sections

Writes build/evidence/reliability.json and .md; a section that is run again replaces what it said before. Exit code 1 if
anything broke a promise.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.lab.damage import flip, flips
from tests.lab.kill_cases import PUBLISH, WEEKS, anonymize_words, cases, new_folder, week_query
from tests.lab.kills import Tally, check, die_after_commit, random_moments, run_process, steps_of
from tests.lab.large_days import HEAVY, measure
from tests.lab.soak import soak
from tests.support.logs import write_log

from search_insights.errors import StoreError
from search_insights.store.journal import read_journal
from search_insights.store.store import open_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems

PROGRAM = Path(sysconfig.get_path("scripts")) / "search-insights"
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
    """Kill each command just before every line of the modules that write."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for case in cases(Path(home)):
            steps, tally, broken = steps_of(case, most=1), Tally(), []
            for step in steps:
                try:
                    check(case, tally, at=step)
                except AssertionError as error:
                    broken.append(f"{step}: {error}")
            happened = f"{tally.killed} killed; all whole, all completed by a rerun"
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


def program() -> list[Row]:
    """Kill the installed program itself, started anew each time, at random moments."""
    draw, broken, killed, tries = random.Random(5), [], 0, 40
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
            broken += _unsound(folder)
    return [Row("SIGKILL of the program as installed, one store", tries, f"{killed} killed; the store whole", broken)]


def _unsound(folder: Path) -> list[str]:
    try:
        with open_store(folder / "store.db") as store:
            return problems(store, scale_problems)
    except StoreError as error:
        return [] if "no such store" in str(error) or "is empty" in str(error) else [str(error)]


def bits() -> list[Row]:
    """Flip single bits all over a store, and of its log of changes."""
    with tempfile.TemporaryDirectory() as home:
        folder = new_folder(Path(home) / "work", *WEEKS)
        run_process(anonymize_words(*WEEKS), folder)
        run_process(PUBLISH, folder)
        store = folder / "store.db"
        size = store.stat().st_size
        places = random.Random(1).sample(range(size), 2_000)
        found, harmless = flips(store, places, Path(home))
        words = f"{found:,} found out, {harmless:,} in parts of the file that hold nothing"
        rows = [Row("one bit of the store flipped", len(places), words, [])]
    return [*rows, _bits_of_changes()]


def _bits_of_changes() -> Row:
    """Flip bits of a log of changes that holds a week: none may lead to a second noise."""
    refused = applied = 0
    broken = []
    with tempfile.TemporaryDirectory() as home:
        folder = new_folder(Path(home) / "work", *WEEKS[:2])
        run_process(anonymize_words(WEEKS[0]), folder)
        run_process(anonymize_words(WEEKS[1]), folder, setup=die_after_commit)
        noise = read_journal(folder / "store.db")
        size = (folder / "store.db.wal").stat().st_size
        for number, place in enumerate(range(0, size, max(1, size // 150))):
            copy = Path(home) / "copy"
            shutil.copytree(folder, copy)
            flip(copy / "store.db.wal", place, number % 8)
            ended = run_process(anonymize_words(WEEKS[1]), copy)
            refused += ended.code == 2
            applied += ended.code == 0
            if ended.code not in (0, 2) or read_journal(copy / "store.db") != noise:
                broken.append(f"byte {place}: {ended}")
            shutil.rmtree(copy)
    words = f"{refused} refused (damage, or a week that the journal has and the store lacks), {applied} not affected"
    return Row("one bit of a store's log of changes flipped", refused + applied, words, broken)


def disk() -> list[Row]:
    """Let the disk be full at many sizes of file."""
    rows = []
    backup = ("store", "backup", "--store", "store.db", "--out", "backup.db")
    with tempfile.TemporaryDirectory() as home:
        nothing = new_folder(Path(home) / "nothing", *WEEKS[:2])
        one = Path(home) / "one"
        shutil.copytree(nothing, one)
        run_process(anonymize_words(WEEKS[0]), one)
        for name, before, words in (
            ("anonymize, first", nothing, anonymize_words(WEEKS[0])),
            ("anonymize, later", one, anonymize_words(WEEKS[1])),
            ("publish", one, PUBLISH),
            ("store backup", one, backup),
        ):
            refused, broken, sizes = 0, [], [int(1.35**i) * 64 for i in range(34)]
            for size in sizes:
                copy = Path(home) / "copy"
                shutil.copytree(before, copy)
                full = run_process(words, copy, setup=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size)))
                noise, wrong = read_journal(copy / "store.db"), _unsound(copy)
                refused += full.code != 0
                again = run_process(words, copy)
                ended = again.code == 0 or (words == backup and full.code == 0)
                kept = all(read_journal(copy / "store.db").get(week) == n for week, n in noise.items())
                if full.code not in (0, 2) or wrong or not ended or not kept or "fault of" in full.text:
                    broken.append(f"{name}, {size} bytes: {full} {again} {wrong}")
                shutil.rmtree(copy)
            happened = f"{refused} refused in one line, {len(sizes) - refused} had room; all completed by a rerun"
            rows.append(Row(f"disk full: {name}", len(sizes), happened, broken))
            _say(f"{rows[-1].fault}: broken {len(broken)}")
    return rows


def files() -> list[Row]:
    """Anonymize a log of 10,000 files."""
    rows = []
    for suffix in ("parquet", "csv"):
        with tempfile.TemporaryDirectory() as home:
            folder = new_folder(Path(home) / "work")
            first = write_log(folder / "log" / f"00000.{suffix}", week_query(WEEKS[0], 100))
            for number in range(1, 10_000):
                os.link(first, first.with_name(f"{number:05d}.{suffix}"))
            begin = time.monotonic()
            ended = run_process(anonymize_words(WEEKS[0]), folder)
            words = f"exit code {ended.code} after {time.monotonic() - begin:.0f} s"
            rows.append(Row(f"a log of 10,000 {suffix} files", 1, words, [] if ended.code == 0 else [ended.text]))
    return rows


def load() -> list[Row]:
    """Count days of 100 million events."""
    rows = []
    for heavy in HEAVY:
        day = measure(heavy, 100_000_000, "2GB")
        right = day.any_search["state"] == day.expected(heavy)
        words = f"counted right in {day.seconds:.0f} s, at most {day.megabytes:,} MB with --memory 2GB"
        broken = [] if right and day.megabytes < 2_700 else [str(day)]
        rows.append(Row(f"100,000,000 events in a day: {heavy.name}", 1, words, broken))
        _say(f"{rows[-1].fault}: {words}")
    return rows


def long_run() -> list[Row]:
    """Release 160 weeks with crashes in between."""
    with tempfile.TemporaryDirectory() as home:
        result = soak(Path(home), weeks=160, seed=1)
    stores, datasets = result.store_bytes, result.dataset_bytes
    broken = [f"differs: {name}" for name in result.differs] + [f"left: {name}" for name in result.leftovers]
    for name, sizes in (("store", stores), ("dataset", datasets)):
        first, second = sizes[79] - sizes[19], sizes[139] - sizes[79]
        if second > 1.5 * first + 600_000:  # a store grows by blocks of 256 kB
            broken.append(f"{name} grows faster than its weeks: {sizes[19::20]}")
    words = (
        f"{result.kills} kills; the dataset is byte for byte that of a quiet run with the same noise; after 20, 80 and "
        f"160 weeks the store has {', '.join(f'{stores[i] / 1e6:.2f}' for i in (19, 79, 159))} MB and the dataset "
        f"{', '.join(f'{datasets[i] / 1e6:.2f}' for i in (19, 79, 159))} MB"
    )
    return [Row("160 weekly releases with random kills", 160, words, broken)]


SECTIONS: dict[str, Callable[[], list[Row]]] = {
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
