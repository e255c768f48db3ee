"""Small sections of top searches for tests, and the exact distributions of what the mechanism shows of one text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from search_insights.classifier.cluster_keys import cluster_keys
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from search_insights.spec.top_searches import TopSearches
from search_insights.spec.weeks import Week
from search_insights.store.opening import create_or_open_store
from search_insights.store.store import Store
from search_insights.store.top_searches import ShownText, TopSearchWeek
from search_insights.support.arrays import Counts, Floats, Numbers
from tests.support.logs import little_coverage
from tests.support.stores import FIRST, USUAL, entry_for

SMALL = TopSearches(1, "users", 4, 2.0, 12, 1.5, 5, "vaccination")


def with_top_searches(spec: Spec, top: TopSearches = SMALL) -> Spec:
    """Return the spec with a section of top searches."""
    return replace(spec, top_searches=top)


def noise(sigma: float, counts: range, centre: int) -> Floats:
    """Return the probability of each noisy count, of an exact one with discrete Gaussian noise."""
    z = np.arange(-math.ceil(15 * sigma), math.ceil(15 * sigma) + 1)
    whole = np.exp(-((z / sigma) ** 2) / 2).sum()
    found: Floats = np.exp(-(((np.array(counts) - centre) / sigma) ** 2) / 2) / whole
    return found


def outcomes(top: TopSearches, users: int, in_region: int) -> Floats:
    """Return the probabilities of all outcomes for a new text: not shown, or shown with its noisy counts.

    The first is that of not being shown. The text is searched by so many users, and by so many in the one region that
    is looked at.
    """
    reach = math.ceil(12 * top.total_sigma), math.ceil(12 * top.region_sigma)
    largest = top.total_threshold + reach[0] + 40
    of_total = noise(top.total_sigma, range(top.total_threshold, largest), users)
    of_region = noise(top.region_sigma, range(-reach[1], in_region + reach[1] + 8), in_region)
    wide = np.zeros(2 * reach[1] + 40)
    wide[: of_region.size] = of_region
    shown = np.outer(of_total, wide) if users >= top.min_users else np.zeros((of_total.size, wide.size))
    return np.concatenate(([1 - shown.sum()], shown.ravel()))


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    """Return the delta at which the first distribution is within e^epsilon of the second."""
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@dataclass(frozen=True)
class Texts:
    """Exact numbers of users, as counting gives them."""

    texts: tuple[str, ...]
    categories: Numbers
    users: Counts
    text: Numbers
    region: Numbers
    users_there: Counts


def texts_of(users: Mapping[str, Mapping[int, int]], extra: int = 0) -> Texts:
    """Return texts with these users by region; `extra` users of each have no region."""
    names = sorted(users)
    entries = [(i, region, n) for i, name in enumerate(names) for region, n in users[name].items()]
    columns = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    totals = np.array([sum(users[name].values()) + extra for name in names], dtype=np.int64)
    return Texts(tuple(names), np.ones(len(names), dtype=np.int64), totals, *columns)


# Noisy counts of texts in a week: in the total, and in Alabama, California and New Mexico.
TextsOfWeek = Mapping[str, Sequence[int]]
VOCABULARY = "cd" * 32


def little_lists(folder: Path) -> Coverage:
    """Return the packaged release of the little country, with top searches."""
    coverage = little_coverage(folder)
    top = replace(SMALL, total_threshold=16)  # so high that the delta of a new text is within the promise
    return Coverage(with_top_searches(coverage.spec, top), coverage.geography)


def week_of_texts(store: Store, number: int, given: TextsOfWeek, topics: Mapping[str, str]) -> TopSearchWeek:
    """Return a week's texts as the bridge makes them: those of the list first, in its order; what is not given is 0."""
    week, known = FIRST + timedelta(weeks=number), store.shown_texts()
    new = [text for text in given if text not in {shown.text for shown in known}]
    keys = cluster_keys(new, {})
    added = [ShownText(text, topics.get(text, "A1"), key, week) for text, key in zip(new, keys, strict=True)]
    regions = 1 + CellList(store.coverage).coarsest.size
    counts = [given.get(shown.text, [0] * regions) for shown in (*known, *added)]
    before = week - timedelta(weeks=1)
    noisy: Counts = np.array(counts, dtype=np.int64).reshape(-1, regions)
    return TopSearchWeek(week, (*known, *added), noisy, before if store.top_searches(before) else None)


def add_texts(
    path: Path,
    coverage: Coverage,
    *weeks: TextsOfWeek | None,
    start: int = 0,
    topics: Mapping[str, str] | None = None,
    vocabulary: str = VOCABULARY,
    identity: str = "",
) -> Path:
    """Commit weeks with the usual counts and these texts; None is a week whose log had none.

    `topics` has the category of texts that are not about A1.
    """
    with create_or_open_store(path, coverage, identity) as store:
        for number, given in enumerate(weeks, start):
            week = Week(FIRST + timedelta(weeks=number), coverage.spec.time_zone)
            noisy: Counts = np.array([USUAL] * len(CellList(coverage).regions), dtype=np.int64).ravel()
            promise = coverage.spec.promise
            entry = replace(entry_for(coverage, noisy, week), epsilon=promise.epsilon, delta=promise.delta)
            top = None if given is None else week_of_texts(store, number, given, topics or {})
            if top is not None:
                entry = replace(entry, top_searches=top.checksum, vocabulary=vocabulary)
            store.commit_week(week, noisy, entry, None, top)
    return path
