"""Run the example: from a table of regions and a search log to a published site, as docs/getting-started.md has it.

Every step is a command that a publisher types, or an edit of a file that `init` wrote. All of it goes to a folder.

    python examples/switzerland/run.py --out /tmp/switzerland
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEEK = "2025-06-02"
DEFINITIONS = {
    "influenza": "Symptoms, contagion, duration, tests, treatment and vaccination of influenza.",
    "heat_wave": "Forecasts and warnings of heat waves, protection, and what heat does to people and animals.",
}
SETTINGS = {
    "# model =": "model =",
    'location = "logs/{date}.parquet"': 'location = "../data/logs/{date}.jsonl"',
    '# [log.columns]\n# user_id = "uid"\n': (
        '[log.columns]\nuser_id = "uid"\ntimestamp = "ts"\nregion = "ort"\nquery = "suche"\n'
    ),
}


def search_insights(folder: Path, line: str) -> None:
    """Run a command in a folder, and show it with what it prints."""
    print(f"\n$ search-insights {line}", flush=True)
    beside = shutil.which("search-insights", path=str(Path(sys.executable).parent))
    program = beside or shutil.which("search-insights") or "search-insights"
    ended = subprocess.run([program, *shlex.split(line)], cwd=folder, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


def edit(path: Path, changes: dict[str, str]) -> None:
    """Replace parts of a file; each must be there once."""
    text = path.read_text(encoding="utf-8")
    for before, after in changes.items():
        if text.count(before) != 1:
            sys.exit(f"{path}: expected {before!r} once")
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    print(f"\n# edited {path.name}")


def define_topics(path: Path) -> None:
    """Say in the spec what each topic is."""
    names = {topic: f'[[category]]\nid = "{topic}"\nname = "{topic}"\n' for topic in DEFINITIONS}
    edit(path, {names[t]: f'{names[t]}definition = "{words}"\n' for t, words in DEFINITIONS.items()})


def prepare(folder: Path, users: int, weeks: int) -> Path:
    """Make the data and a new release, and say where the log is; return the folder of the release."""
    made = ["--out", str(folder / "data"), "--users", str(users), "--weeks", str(weeks)]
    subprocess.run([sys.executable, str(HERE / "make_data.py"), *made], check=True)
    search_insights(
        folder,
        "init --out swiss --geography data/regionen.csv --time-zone Europe/Zurich "
        f"--topic influenza=Grippe --topic heat_wave=Hitzewelle --first-week {WEEK}",
    )
    define_topics(folder / "swiss" / "spec.toml")
    edit(folder / "swiss" / "search-insights.toml", SETTINGS)
    return folder / "swiss"


def main() -> None:
    """Do all steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--users", type=int, default=40_000, help="people in the made-up log (default: 40000)")
    parser.add_argument("--weeks", type=int, default=2, help="weeks of the log (default: 2)")
    options = parser.parse_args()
    (options.out / "private").mkdir(parents=True, mode=0o700)
    release = prepare(options.out, options.users, options.weeks)
    for labels, report in (("labels.csv", "check-1.txt"), ("labels-2.csv", "check-2.txt")):
        search_insights(
            release,
            f"classify train --labels ../data/{labels} --ordinary ../data/ordinary.txt --min-precision 0.95 "
            "--out topics.model",
        )
        search_insights(release, f"check --week {WEEK} --out ../private/{report}")
    search_insights(release, f"anonymize --week {WEEK}")
    search_insights(release, "publish --dry-run")
    search_insights(release, "run")


if __name__ == "__main__":
    main()
