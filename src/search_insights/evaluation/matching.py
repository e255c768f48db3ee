"""Whether a truth is that of the log in a store: an accuracy that compares two different logs means nothing.

A store knows nothing of its log, so no identity can tie the two. A truth names its spec and geography, which must be
the store's. Then its exact counts must explain the noisy ones: they may differ by as much as the noise, and not more.
"""

from pathlib import Path

import numpy as np

from search_insights.errors import InputError
from search_insights.simulation.truth import Truth, truth_identity
from search_insights.spec.cells import CellList
from search_insights.spec.weeks import Week
from search_insights.store.store import Store
from search_insights.support.arrays import Floats

# How many standard deviations the sum of squares may be above what the noise gives: chance exceeds it once in 1e8 runs
# with 40 cells, and once in 1e14 with 65,000.
_LIMIT = 8.0


def require_same_release(truth: Path, store: Store) -> None:
    """Refuse the truth of another spec or geography, and a file that does not say which."""
    identity = truth_identity(truth)
    if identity is None:
        raise InputError(
            f"{truth}: does not say which spec and geography it is of; make it again with 'search-insights simulate'"
        )
    own = {"spec": store.coverage.spec.fingerprint, "geography": store.coverage.geography.fingerprint}
    for what, fingerprint in own.items():
        if identity.get(what) != fingerprint:
            raise InputError(f"{truth}: is of another {what} than {store.path}; give the truth of that store's log")


def require_truth_of_log(path: Path, truth: Truth, store: Store) -> None:
    """Refuse a truth whose exact counts differ from the noisy ones by more than noise."""
    deviations = np.concatenate([_deviations(truth, store, week) for week in truth.weeks])
    excess = (np.square(deviations).sum() - deviations.size) / np.sqrt(2 * max(deviations.size, 1))
    if excess > _LIMIT:
        raise InputError(
            f"{path}: is not the truth of the log in {store.path}: the counts differ by more than the noise; give the "
            "truth that 'search-insights simulate' wrote with that log"
        )


def _deviations(truth: Truth, store: Store, week: object) -> Floats:
    """Return noisy minus exact counts of a week, in units of sigma, where the truth says something."""
    entry = next((entry for entry in store.entries() if entry.week == week), None)
    if entry is None:
        return np.zeros(0)
    cells, categories = CellList(store.coverage), len(store.coverage.spec.categories)
    noisy = store.noisy_counts(Week(entry.week, store.coverage.spec.time_zone)).reshape(-1, categories)
    exact = truth.counts[truth.weeks.index(entry.week), -noisy.shape[0] :]  # the country may come first
    deviations: Floats = (noisy - exact) / cells.sigmas.reshape(-1, categories)
    # A classifier errs about topics. The truth knows better, so only any search can be compared.
    known = deviations[:, :1] if entry.classifier else deviations
    return known[~np.isnan(known)]
