"""What `demo` does: everything end to end on a simulated United States, from January to May 2021."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.anonymization import LogSource, anonymize
from search_insights.dashboards.site import Site, dashboard
from search_insights.dataset.publication import Published, publish
from search_insights.evaluation.accuracy import Accuracy, evaluate, save_accuracy_chart
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec

FIRST_WEEK = date(2021, 1, 4)
WEEKS = 22
EVENTS_PER_WEEK = 10_000_000
SEED = 7


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration made and where, and how long it took."""

    folder: Path
    published: Published
    site: Site
    accuracy: list[Accuracy]
    seconds: float

    @property
    def log(self) -> Path:
        """The simulated search log."""
        return self.folder / "log"

    @property
    def store(self) -> Path:
        """The store of noisy counts."""
        return self.folder / "releases.db"

    @property
    def dataset(self) -> Path:
        """The published dataset."""
        return self.folder / "dataset"

    @property
    def truth(self) -> Path:
        """The exact counts, which only a simulation may keep."""
        return self.folder / "truth.parquet"


def demonstrate(folder: Path, events_per_week: int, weeks: int, progress: Callable[[str], None]) -> Demo:
    """Simulate, anonymize, publish, show and evaluate. Run again, it finds its weeks noised and leaves them so."""
    begin = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    coverage = Coverage(load_spec(), load_geography())
    log, store, truth = folder / "log", folder / "releases.db", folder / "truth.parquet"
    progress(f"simulating {weeks * events_per_week / 1e6:,.0f} million searches")
    simulated = simulate(log, coverage, FIRST_WEEK, weeks, events_per_week, SEED, truth=truth, progress=progress)
    anonymize(LogSource((str(log),)), store, simulated.weeks, coverage, progress=progress)
    published = publish(store, folder / "dataset", progress=progress)
    site = dashboard([folder / "dataset"], folder / "site", progress=progress)
    add_exact_counts(truth, log, simulated.weeks, coverage, progress)
    progress("comparing with the truth")
    accuracy = evaluate(store, truth)
    save_accuracy_chart(accuracy, folder / "accuracy.svg")
    return Demo(folder, published, site, accuracy, time.monotonic() - begin)
