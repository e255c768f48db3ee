"""The simulated dataset of docs/worked-example.md, and how the code of the page is run on it."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.support.arrays import Floats
from tests.support.many_counties import Truth, publish_counties
from tests.support.other_country import write_csv

PAGE = Path(__file__).resolve().parents[2] / "docs" / "worked-example.md"
PICTURE = PAGE.parent / "images" / "worked-example.svg"
WEEKS, STATE = 5, "geoId/06"
SEED = 5  # the one of 0 to 11 in which plain means put a county of one week first; the page says so
_BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Example:
    """The folder of the dataset, the names of its counties, and the true share of each at the beginning of March."""

    folder: Path
    names: tuple[str, ...]
    shares: Floats


def make_example(folder: Path, seed: int = SEED) -> Example:
    """Publish March 2021 of the counties of California, with simulated searches; noisy counts too."""
    every = load_geography()
    counties = [region for region in every.regions if region.parent == STATE]
    first = next(region for region in every.regions if region.parent == counties[1].place_id)  # in a small county
    chosen = [every.country, every.by_place_id[STATE], *counties, first]
    rows = [(r.code, r.name, r.level, r.parent, r.population, r.land_area_km2, None, None, r.place_id) for r in chosen]
    cells = CellList(Coverage(load_spec(), load_geography(write_csv(folder / "regions.csv", rows))))
    random = np.random.default_rng(seed)
    shares = 0.012 * np.exp(0.25 * random.normal(size=len(counties)))
    weekly = np.linspace(1.0, 1.2, WEEKS)[:, None]
    truth = Truth(np.rint(0.1 * np.array([county.population or 0 for county in counties])), shares * weekly)
    publish_counties(folder, cells, truth.noisy(cells, random), counts=True)
    return Example(folder, tuple(county.name for county in counties), shares)


def code_and_output() -> tuple[str, str]:
    """Return the code of the page, and the output that it shows."""
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return tuple("".join(text for kind, text in blocks if kind == wanted) for wanted in ("python", "text"))  # type: ignore[return-value]


def run_page(folder: Path) -> str:
    """Run the code of the page in a program of its own, beside the dataset; return what it prints."""
    done = subprocess.run([sys.executable, "-c", code_and_output()[0]], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout
