"""A long run: anonymize and publish week after week with random kills, then compare with an undisturbed run."""

import random
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.opening import create_or_open_store, open_store
from tests.lab.kill_cases import FIRST, PUBLISH, anonymize_words, new_folder, week_log
from tests.lab.kills import run_process

# The share of runs of a command that are killed, and the seconds within which the kill happens.
_SHARE, _WITHIN = 0.5, 1.2


@dataclass(frozen=True)
class Soaked:
    """The result of a long run: kills, files that differ from the undisturbed run, files left over, sizes by week."""

    kills: int
    differs: list[str]
    leftovers: list[str]
    store_bytes: list[int]
    dataset_bytes: list[int]


def soak(home: Path, weeks: int, seed: int) -> Soaked:
    """Release the weeks with random kills; then release the same noisy counts again, undisturbed."""
    draw, folder = random.Random(seed), new_folder(home / "disturbed")
    kills, sizes = 0, []
    for number in range(weeks):
        week = FIRST + timedelta(weeks=number)
        log = week_log(folder, week, rows=5_000)
        kills += _until_done(anonymize_words(week), folder, draw)
        kills += _until_done(PUBLISH, folder, draw)
        log.unlink()
        sizes.append(((folder / "store.db").stat().st_size, _size(folder / "dataset")))
    quiet = _again(folder, home / "quiet")
    files = sorted({path.name for path in (folder / "dataset").iterdir()} | {path.name for path in quiet.iterdir()})
    differs = [name for name in files if _bytes(folder / "dataset" / name) != _bytes(quiet / name)]
    known = {"store.db", "store.db.journal", "dataset", "log", "tmp", "heating-v2.toml", "qazaria.csv"}
    left = [path.name for path in folder.iterdir() if path.name not in known]
    left += [path.name for path in (folder / "tmp").iterdir()]
    return Soaked(kills, differs, left, [store for store, _ in sizes], [dataset for _, dataset in sizes])


def _until_done(words: tuple[str, ...], folder: Path, draw: random.Random) -> int:
    """Run a command until it succeeds; return how often it was killed."""
    kills = 0
    while True:
        after = draw.uniform(0, _WITHIN) if draw.random() < _SHARE else None
        ended = run_process(words, folder, after=after)
        if ended.code == 0:
            return kills
        if not ended.killed:
            raise AssertionError(f"{words}: {ended}")
        kills += 1


def _again(folder: Path, home: Path) -> Path:
    """Commit the same noisy counts week by week to a new store, and publish after each week."""
    home.mkdir()
    coverage = Coverage(load_spec(folder / "heating-v2.toml"), load_geography(folder / "qazaria.csv"))
    with open_store(folder / "store.db") as store:
        identity, entries, models = (
            store.identity,
            store.entries(),
            {model.fingerprint: model for model in store.models()},
        )
        weeks = [Week(entry.week, coverage.spec.time_zone) for entry in entries]
        noise = [store.noisy_counts(week) for week in weeks]
    for week, noisy, entry in zip(weeks, noise, entries, strict=True):
        with create_or_open_store(home / "store.db", coverage, identity) as copy:
            copy.commit_week(week, noisy, entry, models.get(entry.classifier))
        ended = run_process(PUBLISH, home)
        if ended.code:
            raise AssertionError(ended)
    shutil.rmtree(home / "tmp")
    return home / "dataset"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b"(no such file)"
