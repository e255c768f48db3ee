"""The profile of an earlier release: what its store counted, with noise.

The counts have their noise already, so that choosing sigmas by them costs nothing of the promise; choosing them by the
log would.
"""

from pathlib import Path

import numpy as np

from search_insights.calibration.profile import Profile, profile_of_regions, require_all_groups
from search_insights.errors import InputError
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from search_insights.store.store import Store
from search_insights.support.arrays import Floats
from search_insights.trends.derive import checked_counts, estimates


def is_store(path: Path) -> bool:
    """Return whether a file is a database, and so no profile in CSV or Parquet."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def profile_of_store(path: Path, coverage: Coverage) -> Profile:
    """Return the profile of a store: for each region the mean of its noisy counts, which stands for every week.

    The weeks are those of its present edition.
    """
    with open_store(path) as store:
        _require_same_categories(store, coverage)
        regions, weeks = CellList(store.coverage).regions, store.present_entries()
        means = _means(store)
    place_ids = [store.coverage.geography.country.place_id, *(r.place_id for r in regions)]
    known = coverage.geography.by_place_id
    rows = [i for i, p in enumerate(place_ids) if p in known and coverage.standings[p].reported]
    profile = profile_of_regions(coverage, [known[place_ids[i]] for i in rows], means[rows], float(len(weeks)))
    require_all_groups(coverage.spec, profile.counts, path)
    return profile


def _means(store: Store) -> Floats:
    """Return the mean counts of the total and of each region; noise may take a mean below 0, a count cannot be."""
    noisy = np.stack(list(checked_counts(store, store.present_entries())))
    counts, _ = estimates(CellList(store.coverage), noisy.astype(np.float64))
    signed = np.array([bool(measure.against) for measure in store.coverage.spec.measures])
    means: Floats = counts.mean(axis=0)
    return np.where(signed, means, np.maximum(means, 0))


def _require_same_categories(store: Store, coverage: Coverage) -> None:
    old, new = ([c.id for c in spec.measures] for spec in (store.coverage.spec, coverage.spec))
    if old != new:
        raise InputError(f"{store.path}: counts the categories {', '.join(old)}; expected {', '.join(new)}")
    if not store.present_entries():
        raise InputError(
            f"{store.path}: its present edition has no week yet, so it says nothing of what is to be expected"
        )
