"""The examples run end to end as their pages say, through the installed command line."""

import csv
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from search_insights.classifier.model import load_classifier
from search_insights.store.opening import open_store
from tests.support.browser import running_browser, served, visit

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "switzerland"
USERS = 8_000
# Noise alone takes one of 156 counts beyond this in fewer than one of a million runs.
SIGMAS = 6.0


def program(*arguments: str | Path, cwd: Path) -> str:
    """Run Python with the package of this folder; return what was printed."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads that wait cost time of others
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")} | one_thread
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The example's folder with everything in it, and what its commands printed."""
    folder = tmp_path_factory.mktemp("switzerland") / "out"
    return folder, program(EXAMPLE / "run.py", "--out", folder, "--users", str(USERS), cwd=ROOT)


@pytest.fixture(scope="module")
def swiss(made: tuple[Path, str]) -> Path:
    """The release's folder."""
    return made[0] / "swiss"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


def test_the_page_shows_the_commands_that_are_run(made: tuple[Path, str]) -> None:
    """Every command of the example is on its page, in the same order; the page may show more after the last."""
    page = (EXAMPLE / "README.md").read_text(encoding="utf-8").replace(" \\\n    ", " ")
    shown = [line for line in page.splitlines() if line.startswith("$ search-insights ")]
    run = [line for line in made[1].splitlines() if line.startswith("$ search-insights ")]
    assert len(run) > 7
    assert shown[: len(run)] == run


def test_a_dataset_and_a_site_are_there(swiss: Path) -> None:
    """Both weeks are published with the publisher's names, titles and definitions; the store is backed up."""
    with (swiss / "dataset" / "CH_search_trends.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["date"] for row in rows} == {"2025-06-02", "2025-06-09"}
    assert {row["sub_region_2"] for row in rows} >= {"Zürich", "Graubünden", "Genève"}
    statement = (swiss / "dataset" / "PRIVACY.md").read_text(encoding="utf-8")
    assert "- **influenza.** Symptoms, contagion" in statement
    assert (swiss / "site" / "index.html").is_file()
    assert list((swiss / "backups").glob("releases-*.db"))


def test_a_place_that_only_heat_waves_name_is_no_heat_wave(swiss: Path) -> None:
    """The trap of few labels: the model of the example counts "hitze basel-stadt", and not "kino basel-stadt"."""
    ordinary = ["kino basel-stadt", "kinoprogramm basel-stadt", "stadtplan basel-stadt", "basel-stadt", "wahlen basel"]
    answers = load_classifier(swiss / "topics.model").classify([*ordinary, "hitze basel-stadt", "grippe basel-stadt"])
    assert list(answers) == [0] * len(ordinary) + [2, 1]


def test_noisy_counts_of_the_example_are_the_truth_plus_noise(made: tuple[Path, str]) -> None:
    """In every canton and week: ordinary searches such as "kino basel-stadt" count in no topic, and topics do count."""
    folder, _ = made
    differences = []
    with open_store(folder / "swiss" / "releases.db") as store:
        cells = {(place, category): (number, sigma) for number, place, category, sigma in store.cells()}
        counts = {week: dict(zip(*store.numbered_counts(week), strict=True)) for week in store.counted_weeks()}
    with (folder / "data" / "truth.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for category in ("any", "influenza", "heat_wave"):
                number, sigma = cells[row["canton"], category]
                noisy = counts[date.fromisoformat(row["week"])][number]
                differences.append((noisy - int(row[category])) / sigma)
    assert len(differences) == 2 * 26 * 3
    assert np.abs(differences).max() < SIGMAS
    assert np.std(differences) > 0.7  # there is noise


def test_the_first_check_shows_what_the_first_model_gets_wrong(made: tuple[Path, str]) -> None:
    """Before anything is spent, the report shows "influencer" as influenza; after more labels it does not."""
    reports = [(made[0] / "private" / f"check-{n}.txt").read_text(encoding="utf-8") for n in (1, 2)]
    first, second = (next(line for line in r.splitlines() if line.startswith("  influenza, most")) for r in reports)
    assert "influencer" in first
    assert "influencer" not in second
    for report in reports:  # how many may be wrong is told before the texts, whose heading stands above their table
        after = report.split("may be wrong", 1)[1].split("nearest to the decision boundary", 1)[1]
        assert after.splitlines()[1].split() == ["margin", "answer", "nearest", "rows", "text"]


def test_no_text_of_the_log_leaves_the_private_side(swiss: Path) -> None:
    """Neither store nor journal, backup, dataset or site has a text that people typed."""
    public = [swiss / "releases.db", swiss / "releases.db.journal"]
    public += [path for name in ("backups", "dataset", "site") for path in (swiss / name).rglob("*") if path.is_file()]
    assert len(public) > 20
    assert [path for path in public if b"kino" in path.read_bytes()] == []


def test_running_the_example_again_changes_nothing(swiss: Path) -> None:
    """`run` with nothing due says so, and every file stays as it was."""

    def files() -> dict[Path, str]:
        found = [path for path in swiss.rglob("*") if path.is_file()]
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    before = files()
    assert "no week is due" in program("-m", "search_insights", "run", cwd=swiss)
    assert files() == before


def test_a_site_without_outlines_shows_its_whole_table(swiss: Path, browser: Browser) -> None:
    """Without a map, the table fits its card, regions lead on, and a frame that asks for the map shows the charts."""
    with served(swiss / "site") as address, visit(browser, address) as visitor:
        page = visitor.open()
        table = page.locator("#table-card table")
        assert table.evaluate("t => t.scrollWidth <= t.parentElement.clientWidth")
        assert page.locator("#updated").inner_text().count("Schweiz") == 1
        page.get_by_role("button", name="Ostschweiz", exact=True).click()
        visitor.wait_for(region="R5")
        assert "Graubünden" in page.locator("#table-card").inner_text()
        page = visitor.open("?embed=map")
        assert page.locator("#series-card").is_visible()
