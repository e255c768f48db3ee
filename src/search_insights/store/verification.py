"""Whether a store is what was committed to it: each week's counts, its ledger entry, the cells, the fixed scale.

DuckDB finds out by itself when a block of the file that it reads was damaged. Here it is made to read all of them, and
what they say is held against the checksums of the ledger, the spec and the journal.
"""

import math
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

import numpy as np

from search_insights.spec.cells import CellList
from search_insights.spec.spec import WEEKDAYS
from search_insights.spec.weeks import DAYS_OF_WEEK
from search_insights.store.journal import journal_path, read_journal
from search_insights.store.ledger import LedgerEntry, checksum
from search_insights.store.store import Store
from search_insights.trends.derive import derive
from search_insights.trends.scaling import scaling_factor

# The same sums in another order, or of another version of NumPy, differ by less.
_ROUNDING = 1e-9


def problems(store: Store) -> list[str]:
    """List what is wrong with a store and its journal, one line each; nothing if all is as it should be."""
    return [*damage(store), *_wrong_with_journal(store)]


def damage(store: Store) -> list[str]:
    """List what is wrong with a store by itself; nothing if it is whole, were it an older copy."""
    entries = store.entries()
    of_counts = [line for entry in entries for line in _wrong_with_week(store, entry)]
    # Only counts that are what they were can be held against what was once made of them.
    of_scale = [] if of_counts else _wrong_with_scale(store)
    return [
        *_wrong_with_cells(store),
        *of_counts,
        *_wrong_with_ledger(store, entries),
        *of_scale,
    ]


def _wrong_with_cells(store: Store) -> Iterator[str]:
    """The public list of cells is the one that spec and geography give, which have fingerprints of their own."""
    cells = store.coverage.cells
    expected = [(i, cell.region.place_id, cell.category, cell.sigma) for i, cell in enumerate(cells)]
    if store.cells() != expected:
        yield "the list of cells is not the one of the spec and the geography"


def _wrong_with_week(store: Store, entry: LedgerEntry) -> Iterator[str]:
    numbers, noisy = store.numbered_counts(entry.week)
    size = CellList(store.coverage).sigmas.size
    if entry.cells != size or not np.array_equal(numbers, np.arange(size)):
        yield f"week {entry.week}: {numbers.size:,} counts, {entry.cells:,} in the ledger; the release has {size:,}"
    if checksum(entry.week, noisy) != entry.checksum:
        yield f"week {entry.week}: the counts are not those that were committed (checksum)"
    spec = store.coverage.spec
    if (entry.epsilon, entry.delta) != (spec.promise.epsilon, spec.promise.delta):
        yield f"week {entry.week}: epsilon and delta in the ledger are not those of the spec"
    if (entry.spec, entry.geography) != (spec.fingerprint, store.coverage.geography.fingerprint):
        yield f"week {entry.week}: committed under another spec or geography"
    if WEEKDAYS[entry.week.weekday()] != spec.first_day_of_week:
        yield f"week {entry.week}: does not begin on {spec.first_day_of_week.capitalize()}"


def _wrong_with_ledger(store: Store, entries: list[LedgerEntry]) -> Iterator[str]:
    """Every count has its entry, and no day is in two weeks."""
    weeks = [entry.week for entry in entries]
    for week in sorted(set(store.counted_weeks()) - set(weeks)):
        yield f"week {week}: has counts, but no entry in the ledger"
    for one, next_one in pairwise(weeks):
        if next_one - one < timedelta(days=DAYS_OF_WEEK):
            yield f"weeks {one} and {next_one} share days"


def _wrong_with_scale(store: Store) -> list[str]:
    """The factor comes from the weeks that fixed it, as long as no week was put between them later."""
    record = store.scaling()
    weeks: list[date] = []
    if record:
        weeks = [entry.week for entry in store.entries() if record.first_week <= entry.week <= record.last_week]
    if not record or len(weeks) != record.weeks:
        return []
    factor = scaling_factor(derive(store, weeks))
    same = math.isclose(factor, record.factor, rel_tol=_ROUNDING)
    return [] if same else [f"the scaling factor is not the one that weeks {weeks[0]} to {weeks[-1]} give"]


def _wrong_with_journal(store: Store) -> Iterator[str]:
    """A week that the journal lists is in the store, with that noise; one that it lacks yet will be added to it."""
    mine = {entry.week: entry.checksum for entry in store.entries()}
    for week, there in read_journal(store.path).items():
        if week not in mine:
            yield f"week {week}: is in {journal_path(store.path).name}, but not in the store: an older copy of it?"
        elif mine[week] != there:
            yield f"week {week}: has other noise than {journal_path(store.path).name} says was committed"
