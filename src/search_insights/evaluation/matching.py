"""Whether a truth is that of the log in a store: an accuracy that compares two different logs means nothing.

A store knows nothing of its log, so no identity can tie the two. A truth names its spec and geography, which must be
the store's. Then its exact counts must explain the noisy ones: they may differ by as much as the noise, and not more.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from search_insights.errors import InputError
from search_insights.simulation.truth import Truth, truth_identity
from search_insights.spec.cells import CellList
from search_insights.spec.weeks import Week
from search_insights.store.ledger import LedgerEntry
from search_insights.store.store import Store
from search_insights.support.arrays import Floats

# How many standard deviations the sum of squares may be above what the noise gives: chance exceeds it once in 1e8 runs
# with 40 cells, and once in 1e14 with 65,000.
_LIMIT = 8.0


def require_same_release(truth: Path, store: Store) -> Mapping[str, Any]:
    """Refuse the truth of another spec or geography, and a file that does not say which; return what it says."""
    identity = truth_identity(truth)
    if identity is None:
        raise InputError(
            f"{truth}: does not say which spec and geography it is of; make it again with 'search-insights simulate'"
        )
    own = {"spec": store.coverage.spec.fingerprint, "geography": store.coverage.geography.fingerprint}
    for what, fingerprint in own.items():
        if identity.get(what) != fingerprint:
            raise InputError(f"{truth}: is of another {what} than {store.path}; give the truth of that store's log")
    return identity


def require_truth_of_log(path: Path, truth: Truth, store: Store, identity: Mapping[str, Any]) -> None:
    """Refuse a truth whose exact counts differ from the noisy ones by more than noise.

    Where ZIPs straddle counties, the truth is where people were, and a store that counts a level by the ZIP differs. It
    still agrees with the truth at one level: the finest, or the coarsest if each level has a column.
    """
    entries = [entry for entry in store.present_entries() if entry.week in truth.weeks]
    regions = np.array([region.level for region in CellList(store.coverage).regions])
    deviations = [_deviations(truth, store, entry) for entry in entries]
    excess = _excess(deviations)
    if "straddling" in identity:
        excess = min(_excess([of[regions == level] for of in deviations]) for level in store.coverage.spec.level_names)
    if excess > _LIMIT:
        raise InputError(
            f"{path}: is not the truth of the log in {store.path}: the counts differ by more than the noise; give the "
            "truth that 'search-insights simulate' wrote with that log"
        )


def _excess(deviations: Sequence[Floats]) -> float:
    """Return how many standard deviations a sum of squares is above what the noise gives."""
    squares = np.concatenate([np.square(of[~np.isnan(of)]) for of in deviations])
    return float((squares.sum() - squares.size) / np.sqrt(2 * max(squares.size, 1)))


def _deviations(truth: Truth, store: Store, entry: LedgerEntry) -> Floats:
    """Return noisy minus exact counts of a week, in units of sigma: a row for each region, NaN if not known."""
    cells, measures = CellList(store.coverage), len(store.coverage.spec.measures)
    regions = len(cells.regions)  # the truth does not know the rests, which come after them
    noisy = store.noisy_counts(Week(entry.week, store.coverage.spec.time_zone)).reshape(-1, measures)[:regions]
    exact = truth.counts[truth.weeks.index(entry.week), -regions:]  # the country may come first
    deviations: Floats = (noisy - exact) / cells.sigmas.reshape(-1, measures)[:regions]
    # A classifier errs about topics. The truth knows better, so only any search can be compared.
    return deviations[:, :1] if entry.classifier else deviations
