"""What a simulated log's weeks count to is remembered while they are anonymized, and is what a second count finds."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from search_insights.anonymization import LogSource, anonymize
from search_insights.evaluation.exact_counts import add_exact_counts
from search_insights.evaluation.remembered_counts import RememberedCounts
from search_insights.simulation.simulation import simulate
from search_insights.simulation.truth import read_truth
from search_insights.spec.coverage import Coverage


@pytest.mark.usefixtures("quick_accounting")
def test_a_truth_of_remembered_counts_is_that_of_a_second_count(tmp_path: Path, coverage: Coverage) -> None:
    """The counts are those that noise was added to; a week that was there before is not remembered, and is counted."""
    remembered, counted, folder = tmp_path / "truth.parquet", tmp_path / "counted.parquet", tmp_path / "log"
    log = simulate(folder, coverage, date(2021, 1, 4), 2, 20_000, seed=3, truth=remembered)
    shutil.copy(remembered, counted)
    anonymize(
        LogSource((str(folder / "2021-01-0*"), str(folder / "2021-01-10*"))),
        tmp_path / "store.db",
        log.weeks[:1],
        coverage,
    )
    exact = RememberedCounts(coverage)
    anonymize(LogSource((str(folder),)), tmp_path / "store.db", log.weeks, coverage, open_engine=exact.open_engine)
    known = exact.of_weeks(log.weeks)
    assert list(known) == [log.weeks[1].first_day]
    asked: list[str] = []
    add_exact_counts(remembered, folder, log.weeks, coverage, asked.append, known=known)
    assert asked == [f"truth of week {log.weeks[0]}"]
    add_exact_counts(counted, folder, log.weeks, coverage, asked.append)
    regions = coverage.geography.regions
    one, other = (read_truth(path, coverage, regions) for path in (remembered, counted))
    assert one.counts[one.counts > 0].size > 50
    assert one.weeks == other.weeks
    assert one.counts.tobytes() == other.counts.tobytes()
