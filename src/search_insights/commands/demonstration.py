"""What `demo` does: everything end to end on a simulated country, from January to May 2021."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from search_insights.anonymization import LogSource, anonymize, open_duckdb_engine
from search_insights.calibration.start import start
from search_insights.dashboards.site import dashboard
from search_insights.dataset.publication import Published, publish
from search_insights.evaluation.accuracy import Accuracy, evaluate, save_accuracy_chart
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.evaluation.remembered_counts import RememberedCounts
from search_insights.simulation.simulation import simulate
from search_insights.spec.commented import commented_toml
from search_insights.spec.coverage import Coverage
from search_insights.spec.draft import Topic, draft_spec
from search_insights.spec.geography import load_country, load_geography, write_regions
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import PACKAGED_SPECS, load_spec
from search_insights.support.working_folder import temporary_folder

FIRST_WEEK = date(2021, 1, 4)
WEEKS = 22
WEEKS_OF_TEXTS = 8  # texts take about three times as long as categories to make and to count
EVENTS_PER_WEEK = 10_000_000
SEED = 7
_HEAD = "The spec of a demonstration, written by 'search-insights demo'."


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """Where the demonstration puts what it makes."""

    path: Path

    @property
    def log(self) -> Path:
        """The simulated search log."""
        return self.path / "log"

    @property
    def spec(self) -> Path:
        """The spec of a demonstration that has one of its own."""
        return self.path / "spec.toml"

    @property
    def regions(self) -> Path:
        """The table of regions of such a demonstration."""
        return self.path / "regions.csv"

    @property
    def store(self) -> Path:
        """The store of noisy counts."""
        return self.path / "releases.db"

    @property
    def dataset(self) -> Path:
        """The published dataset."""
        return self.path / "dataset"

    @property
    def site(self) -> Path:
        """The dashboard."""
        return self.path / "site"

    @property
    def truth(self) -> Path:
        """The exact counts, which only a simulation may keep."""
        return self.path / "truth.parquet"

    @property
    def accuracy_chart(self) -> Path:
        """The picture of the release's accuracy."""
        return self.path / "accuracy.svg"


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration made, how accurate it is, and how long it took."""

    folder: DemoFolder
    published: Published
    accuracy: list[Accuracy]
    seconds: float


def usual_weeks(spec: Spec) -> int:
    """Return of how many weeks a demonstration is: with texts of fewer, so that it takes about as long."""
    return WEEKS if spec.top_searches is None else WEEKS_OF_TEXTS


def coverage_of_us(spec: str) -> Coverage:
    """Return a packaged spec, applied to the packaged United States."""
    return Coverage(load_spec(spec), load_geography())


def coverage_of_country(code: str) -> Coverage:
    """Return a release of a packaged country on the first two topics of the paper, as `init` would begin it."""
    geography, paper = load_country(code), load_spec()
    topics = [Topic(trend.name, trend.title) for trend in paper.trends if len(trend.sum_of) == 1]
    draft = Coverage(draft_spec(geography, topics, paper.promise, "UTC", FIRST_WEEK), geography)
    return Coverage(start(draft, paper.promise), geography)


def demonstrate(
    folder: Path, coverage: Coverage, events_per_week: int, weeks: int, progress: Callable[[str], None]
) -> Demo:
    """Simulate, anonymize, publish, show and evaluate. Run again, it leaves the weeks that it noised as they are.

    A spec with top searches gets a log of texts.
    """
    begin = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    made = DemoFolder(folder)
    progress(f"simulating {weeks * events_per_week / 1e6:,.0f} million searches")
    with temporary_folder("categories-") as working:
        # The truth of texts is counted by the categories they were made from: no classifier has a part in it.
        named = working if coverage.spec.top_searches else None
        simulated = simulate(
            *(made.log, coverage, FIRST_WEEK, weeks, events_per_week, SEED),
            queries=named is not None,
            truth=made.truth,
            named=named,
            progress=progress,
        )
        if coverage.spec.name not in PACKAGED_SPECS:
            made.spec.write_text(commented_toml(coverage.spec, _HEAD), encoding="utf-8")
            write_regions(made.regions, coverage.geography.regions)
        exact = RememberedCounts(coverage)
        anonymize(
            *(LogSource((str(made.log),)), made.store, simulated.weeks, coverage),
            open_engine=exact.open_engine if named is None else open_duckdb_engine,
            progress=progress,
        )
        published = publish(made.store, made.dataset, progress=progress)
        dashboard([made.dataset], made.site, progress=progress)
        known = exact.of_weeks(simulated.weeks)  # not those that the store had before this run
        add_exact_counts(made.truth, named or made.log, simulated.weeks, coverage, progress, known=known)
    progress("comparing with the truth")
    accuracy = evaluate(made.store, made.truth)
    save_accuracy_chart(accuracy, made.accuracy_chart)
    return Demo(made, published, accuracy, time.monotonic() - begin)
