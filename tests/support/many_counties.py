"""A state of many counties with a known truth, its noisy counts, and what is published of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from search_insights.dataset.publication import publish
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec
from search_insights.spec.weeks import Week
from search_insights.store.opening import create_or_open_store
from search_insights.support.arrays import Counts, Floats
from search_insights.trends.derive import Trends, trends_of
from tests.support.other_country import write_csv
from tests.support.stores import entry_for

FIRST = date(2021, 3, 1)


def many_counties(folder: Path, populations: Sequence[int], spec: str = "vaccination-v1") -> CellList:
    """Return the cells of a country of one state and counties of these populations; the first must be small."""
    rows = [
        ("US", "United States", "country", None, None, 1e6, None, None, "country/USA"),
        ("US-CA", "California", "state", "country/USA", None, 1e6, None, None, "geoId/06"),
        *(
            (f"06{i:03}", f"County {i}", "county", "geoId/06", people, 1000.0, None, None, f"geoId/06{i:03}")
            for i, people in enumerate(populations)
        ),
        # The spec has this level; in a small county it is not reported (X3).
        ("90000", "90000", "postal_code", "geoId/06000", None, 100.0, None, None, "zip/90000"),
    ]
    return CellList(Coverage(load_spec(spec), load_geography(write_csv(folder / "regions.csv", rows))))


@dataclass(frozen=True)
class Truth:
    """What people searched: any search of each county, and the share of it about vaccination intent, week by week."""

    searches: Floats  # (county,)
    shares: Floats  # (week, county)

    def counts(self, cells: CellList) -> Floats:
        """Return the exact counts of all cells, a row for each week; other topics are half of intent each."""
        intent = np.rint(self.searches * self.shares)
        others = np.rint(intent / 2)
        topics = [intent, others, others]
        any_search = np.broadcast_to(self.searches, intent.shape)
        if cells.coverage.spec.counting.reconcile:
            union = intent + 2 * others
            topics = [union, 2 * intent - union, 2 * others - union]
        of_counties = np.stack([any_search, *topics], axis=-1)
        nodes = np.zeros((len(intent), len(cells.nodes), of_counties.shape[-1]))
        nodes[:, 0] = of_counties.sum(axis=1)
        nodes[:, 1 : 1 + of_counties.shape[1]] = of_counties
        return nodes.reshape(len(intent), -1)

    def published(self, cells: CellList, random: np.random.Generator) -> Trends:
        """Return the trends of noisy counts of this truth."""
        noisy: Counts = self.noisy(cells, random)
        weeks = [FIRST + timedelta(weeks=i) for i in range(len(noisy))]
        return trends_of(cells, weeks, noisy)

    def noisy(self, cells: CellList, random: np.random.Generator) -> Counts:
        """Return counts with noise, week by week."""
        exact = self.counts(cells)
        noise: Counts = np.rint(random.normal(size=exact.shape) * cells.sigmas).astype(np.int64)
        return exact.astype(np.int64) + noise


def publish_counties(folder: Path, cells: CellList, noisy: Counts, *, counts: bool | None = None) -> Path:
    """Publish noisy counts of weeks from the first of March 2021 on; return the dataset's folder."""
    coverage, spec = cells.coverage, cells.coverage.spec
    with create_or_open_store(folder / "store.db", coverage) as store:
        for i, row in enumerate(noisy):
            week = Week(FIRST + timedelta(weeks=i), spec.time_zone)
            spent = replace(entry_for(coverage, row, week), epsilon=spec.promise.epsilon, delta=spec.promise.delta)
            store.commit_week(week, row, spent)
    publish(folder / "store.db", folder / "dataset", counts=counts)
    return folder / "dataset"
