"""A series lives for ten years: 520 weeks in which its spec, its regions, its model and its machine change.

After every step the ledger verifies, no value that was published has moved without a record, and no instant was counted
in two weeks.
"""

import csv
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from search_insights.dataset import statement
from search_insights.dataset.folder import published_weeks
from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed, StoreError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.crosswalk import read_crosswalk
from search_insights.spec.geography import load_geography
from search_insights.spec.publication_rules import Reliability, Sparsity
from search_insights.spec.spec import Category, Spec, Trend
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week, week_of
from search_insights.store.backup import back_up, restore
from search_insights.store.ledger import ModelRecord
from search_insights.store.lost import lose
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.recording import plan_change, record_change
from search_insights.store.store import Store
from search_insights.store.verification import problems
from search_insights.support.arrays import Counts
from search_insights.trends.scaling import scale_problems
from tests.support.logs import LITTLE_REGIONS, little_coverage
from tests.support.other_country import Row, write_csv
from tests.support.quick_accounting import patch_account
from tests.support.stores import entry_for

MODELS = (ModelRecord("ab" * 32, '{"name": "first"}'), ModelRecord("cd" * 32, '{"name": "second"}'))
TOPIC, TREND = Category("A4", "boosters"), Trend("C4", "boosters", "Boosters", ("A4",), "sni_boosters")

FIRST = date(2011, 1, 3)  # so that ten years are over

# What is published: values by week, region and column.
Values = dict[tuple[str, str, str], str]


@dataclass
class Series:
    """A publisher's folder over the years, and what readers have seen of it."""

    home: Path
    coverage: Coverage
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(19))
    model: ModelRecord = MODELS[0]
    next_week: date = FIRST
    seen: Values = field(default_factory=dict)
    corrections: int = 0

    @property
    def store(self) -> Path:
        """The store."""
        return self.home / "store.db"

    @property
    def dataset(self) -> Path:
        """The published folder."""
        return self.home / "dataset"

    def count(self, *weeks: date) -> None:
        """Commit weeks, each under its edition, as a log would make them."""
        with create_or_open_store(self.store, self.coverage) as store:
            for first_day in weeks:
                counted = store.edition_of(first_day).counted
                self._commit(store, counted, week_of(counted.spec, first_day))

    def _commit(self, store: Store, counted: Coverage, week: Week) -> None:
        noisy = noisy_counts(counted, self.rng)
        entry = replace(entry_for(counted, noisy, week), classifier=self.model.fingerprint)
        promise = counted.spec.promise
        store.commit_week(week, noisy, replace(entry, epsilon=promise.epsilon, delta=promise.delta), self.model)

    def live(self, weeks: int, without: Sequence[int] = ()) -> None:
        """Let weeks pass, each committed but for those of some numbers."""
        passed = [self.next_week + timedelta(weeks=i) for i in range(weeks)]
        self.count(*(week for i, week in enumerate(passed) if i not in without))
        self.next_week = passed[-1] + timedelta(weeks=1)

    def change(self, to: Coverage, reason: str, *, crosswalk: str = "", new_edition: bool = True) -> None:
        """Record a change, from the next week on if it is one of counting."""
        with open_store(self.store) as store:
            successors = None
            if crosswalk:
                (self.home / "crosswalk.csv").write_text(f"place_id,succeeded_by\n{crosswalk}")
                successors = read_crosswalk(self.home / "crosswalk.csv", store.editions[-1].counted, to)
            from_week = self.next_week if new_edition else None
            plan = plan_change(store, to, reason, from_week=from_week, crosswalk=successors)
        record_change(self.store, plan)
        self.coverage = to

    def check(self) -> Values:
        """Publish, and check what must hold after every step; return the values that moved or went."""
        publish(self.store, self.dataset)
        with open_store(self.store) as store:
            assert problems(store, scale_problems) == []
            instants = [(entry.begins_at, entry.ends_at) for entry in store.entries()]
            recorded = len(store.corrections())
        assert all(earlier[1] <= later[0] for earlier, later in pairwise(instants))
        now = values_of(self.dataset)
        moved = {key: value for key, value in self.seen.items() if now.get(key) != value}
        assert not moved or recorded > self.corrections, "a value moved without a record"
        self.seen, self.corrections = now, recorded
        return moved


def noisy_counts(coverage: Coverage, rng: np.random.Generator) -> Counts:
    """Return noisy counts in which every region has about the same number of searches, and some of each topic."""
    cells = CellList(coverage)
    usual = [100_000, *(3_000 - 500 * i for i in range(len(coverage.spec.measures) - 1))]
    counts = np.tile(usual, len(cells.nodes)) + np.rint(rng.normal(0, cells.sigmas))
    return counts.astype(np.int64)


def values_of(folder: Path) -> Values:
    """Return the published values."""
    with next(folder.glob("*_search_insights.csv")).open(newline="") as file:
        return {
            (row["date"], row["place_id"], column): value
            for row in csv.DictReader(file)
            for column, value in row.items()
            if column.startswith("sni_") and value
        }


def of_column(values: Mapping[tuple[str, str, str], str], column: str) -> set[tuple[str, str]]:
    """Return the weeks and regions that have a value of a column."""
    return {(week, place_id) for week, place_id, name in values if name == column}


def with_rows(series: Series, rows: Sequence[Row]) -> Coverage:
    """Return the release with another table of regions."""
    return Coverage(series.coverage.spec, load_geography(write_csv(series.home / "regions.csv", rows)))


def with_spec(series: Series, change: Callable[[Spec], Spec]) -> Coverage:
    """Return the release with another spec."""
    return Coverage(change(series.coverage.spec), series.coverage.geography)


def with_topic(spec: Spec) -> Spec:
    """Return a spec with one more topic and trend, and more noise, so that the promise holds."""
    sigmas = (*spec.sigmas, *(replace(s, category="A4") for s in spec.sigmas if s.category == "A3"))
    louder = tuple(replace(sigma, value=sigma.value * 1.2) for sigma in sigmas)
    return replace(spec, categories=(*spec.categories, TOPIC), trends=(*spec.trends, TREND), sigmas=louder)


def renamed(rows: Sequence[Row], place_id: str, name: str) -> tuple[Row, ...]:
    """Return rows in which a region has another name."""
    return tuple((row[0], name, *row[2:]) if row[-1] == place_id else row for row in rows)


def without(rows: Sequence[Row], *place_ids: str) -> tuple[Row, ...]:
    """Return rows without some regions, and without those in them."""
    return tuple(row for row in rows if row[-1] not in place_ids and row[3] not in place_ids)


def test_ten_years(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifteen things happen to a series; see the page on editions for what to type and what readers see."""
    patch_account(monkeypatch.setattr)
    monkeypatch.setattr(statement, "epsilon_of_weeks", lambda *_: 1.0)  # takes long for years, and is tested alone
    monkeypatch.setattr("os.fsync", lambda file: None)  # nothing is killed here
    (tmp_path / "first").mkdir()
    first = little_coverage(tmp_path)
    window = Sparsity(max_points=2, first_week=FIRST, last_week=FIRST + timedelta(weeks=21))
    series = Series(tmp_path / "first", Coverage(replace(first.spec, sparsity=window), first.geography))
    rows: tuple[Row, ...] = LITTLE_REGIONS

    series.live(52)
    assert series.check() == {}
    assert len(of_column(series.seen, "sni_vaccination_intent")) > 400

    rows = renamed(rows, "geoId/35013", "Las Cruces County")
    series.change(with_rows(series, rows), "a county was renamed", new_edition=False)
    series.live(28)
    assert series.check() == {}
    assert "Las Cruces County" in next(series.dataset.glob("*_search_insights.csv")).read_text()

    stricter = Reliability(confidence=0.95, max_relative_error=0.02)
    series.change(with_spec(series, lambda spec: replace(spec, reliability=stricter)), "stricter", new_edition=False)
    series.live(24)
    assert series.check()

    louder = with_spec(series, lambda s: replace(s, sigmas=tuple(replace(g, value=g.value * 1.5) for g in s.sigmas)))
    series.change(louder, "more noise")
    series.live(52)
    assert series.check() == {}

    series.change(with_spec(series, with_topic), "boosters are searched for")
    began = series.next_week
    series.live(52)
    assert series.check() == {}
    weeks = {week for week, _ in of_column(series.seen, "sni_boosters")}
    assert weeks
    assert min(weeks) >= str(began)  # before, the column is empty, not 0

    rows = without(rows, "geoId/06003", "geoId/06017")  # two counties become one
    rows += (("06999", "Sierra", "county", "geoId/06", 191_779, 6_334.0, None, None, "geoId/06999"),)
    merged = "geoId/06003,geoId/06999\ngeoId/06017,geoId/06999\nzip/95667,geoId/06999\nzip/96120,geoId/06999\n"
    series.change(with_rows(series, rows), "two counties were merged", crosswalk=merged)
    ended = series.next_week
    series.live(52)
    assert series.check() == {}
    assert max(week for week, place, _ in series.seen if place == "geoId/06017") < str(ended)

    halves = (("06997", "North Sierra"), ("06998", "South Sierra"))
    rows = without(rows, "geoId/06999")
    rows += tuple((c, n, "county", "geoId/06", 95_000, 3_167.0, None, None, f"geoId/{c}") for c, n in halves)
    split = "geoId/06999,geoId/06997\ngeoId/06999,geoId/06998\n"
    series.change(with_rows(series, rows), "a county was split", crosswalk=split)
    series.live(40)
    assert series.check() == {}

    series.model = MODELS[1]
    series.live(10)
    assert series.check() == {}

    series.live(10, without=[4, 7])
    lost, late = (series.next_week - timedelta(weeks=10 - i) for i in (4, 7))
    lose(series.store, lost, "the log was deleted")
    with pytest.raises(StoreError, match="lost"):
        series.count(lost)
    assert series.check() == {}
    series.count(late)
    assert series.check() == {}
    assert any(week == str(late) for week, _, _ in series.seen)

    back_up(series.store, series.home / "backup.db", scale_problems)
    series.live(3)
    assert series.check() == {}
    gone = published_weeks(series.dataset)
    restore(series.home / "backup.db", series.store, scale_problems, published=gone.values(), replace=True)
    with pytest.raises(StoreError, match="lost"):
        series.count(series.next_week - timedelta(weeks=1))  # it was published: never again
    for i in (3, 2, 1):
        lose(series.store, series.next_week - timedelta(weeks=i), "no backup had it")
    with pytest.raises(CheckFailed, match="correction"):
        publish(series.store, series.dataset)  # three published weeks would go without a word
    publish(series.store, series.dataset, correction="a disk was lost")
    series.seen, series.corrections = values_of(series.dataset), series.corrections + 1
    series.live(20)
    assert series.check() == {}

    back_up(series.store, tmp_path / "moved.db", scale_problems)
    moved = tmp_path / "second"
    moved.mkdir()
    shutil.copytree(series.dataset, moved / "dataset")
    restore(
        tmp_path / "moved.db",
        moved / "store.db",
        scale_problems,
        published=published_weeks(moved / "dataset").values(),
    )
    shutil.rmtree(series.home)
    series.home = moved
    series.live(20)
    assert series.check() == {}

    v2 = load_spec("vaccination-v2")
    series.change(with_spec(series, lambda s: replace(v2, sparsity=s.sparsity, reliability=s.reliability)), "v2")
    series.live(60)
    assert series.check() == {}
    assert {column for _, _, column in series.seen} >= {"sni_boosters", "sni_covid19_vaccination"}

    eastern = with_spec(series, lambda spec: replace(spec, time_zone="America/New_York"))
    series.change(eastern, "the office moved")
    with pytest.raises(StoreError, match="some of its instants"):
        series.count(series.next_week)  # it shares three hours with the last week in the old zone
    lose(series.store, series.next_week, "between two time zones")
    series.next_week += timedelta(weeks=1)
    series.live(96)
    assert series.check() == {}

    series.change(with_spec(series, lambda spec: replace(spec, title="Ten years")), "an anniversary", new_edition=False)
    assert series.check() == {}
    assert (series.next_week - FIRST).days == 7 * 520
    with open_store(series.store) as store:
        assert [edition.number for edition in store.editions] == [1, 2, 3, 4, 5, 6, 7]
        assert len(store.entries()) == 520 - 5
