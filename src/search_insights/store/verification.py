"""Checking that a store is what was committed to it: counts, ledger entries, cells, what releases fixed.

DuckDB notices damage in a block when it reads the block. So all blocks are read, and what they hold is compared with
the checksums of the ledger, the spec and the journal. What a release derived from the counts comes after the store, so
the caller supplies the check of it: `trends.scaling.scale_problems`.
"""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from search_insights.spec.spec import WEEKDAYS
from search_insights.spec.weeks import Week
from search_insights.spec.zones import zone_data_version
from search_insights.store.journal import journal_path, read_journal
from search_insights.store.ledger import LedgerEntry, checksum, instants_of
from search_insights.store.store import Store
from search_insights.store.top_searches import TopSearchWeek
from search_insights.support.arrays import Counts

# Lists what is wrong with what releases derived from a store's counts and fixed in it.
DerivedCheck = Callable[[Store], list[str]]


def problems(store: Store, check_derived: DerivedCheck) -> list[str]:
    """Return what is wrong with a store and its journal, one line each; empty if nothing is."""
    return [*damage(store, check_derived), *_journal_problems(store)]


def damage(store: Store, check_derived: DerivedCheck) -> list[str]:
    """Return what is wrong with a store by itself; empty if it is intact, even if it is an older copy."""
    entries = store.entries()
    counts = store.numbered_counts_of([entry.week for entry in entries])
    of_weeks = zip(entries, counts, strict=True)
    of_counts = [line for entry, found in of_weeks for line in _week_problems(store, entry, *found)]
    # What was derived can be checked only against the counts that were committed.
    of_derived = [] if of_counts else check_derived(store)
    of_ledger = [*_ledger_problems(store, entries), *_lost_problems(store, entries), *_model_problems(store, entries)]
    return [*_cell_problems(store), *of_counts, *_text_problems(store, entries), *of_ledger, *of_derived]


def _cell_problems(store: Store) -> Iterator[str]:
    """Check the public list of cells against the spec and the geography, which have fingerprints of their own."""
    for edition in store.editions:
        expected = [(i, c.region.place_id, c.category, c.sigma) for i, c in enumerate(edition.cells.cells)]
        if store.cells(edition.number) != expected:
            which = f" of edition {edition.number}" if len(store.editions) > 1 else ""
            yield f"the list of cells{which} is not the one of the spec and the geography"


def _week_problems(store: Store, entry: LedgerEntry, numbers: Counts, noisy: Counts) -> Iterator[str]:
    edition = store.edition_of(entry.week)
    size = edition.cells.sigmas.size
    if entry.cells != size or not np.array_equal(numbers, np.arange(size)):
        yield f"week {entry.week}: {numbers.size:,} counts, {entry.cells:,} in the ledger; the release has {size:,}"
    if checksum(entry.week, noisy) != entry.checksum:
        yield f"week {entry.week}: the counts are not those that were committed (checksum)"
    spec = edition.counted.spec
    if (entry.epsilon, entry.delta) != (spec.promise.epsilon, spec.promise.delta):
        yield f"week {entry.week}: epsilon and delta in the ledger are not those of the spec"
    if (entry.spec, entry.geography) not in edition.fingerprints:
        yield f"week {entry.week}: committed under another spec or geography"
    if (entry.begins_at, entry.ends_at) != instants_of(Week(entry.week, spec.time_zone)):
        yield f"week {entry.week}: begins or ends at another instant than by the zone data {zone_data_version()}"
    if WEEKDAYS[entry.week.weekday()] != spec.first_day_of_week:
        yield f"week {entry.week}: does not begin on {spec.first_day_of_week.capitalize()}"


def _text_problems(store: Store, entries: list[LedgerEntry]) -> Iterator[str]:
    """Check the texts of top searches: each week has those that were committed, and no text belongs to no week."""
    longest, listed = 0, set(store.weeks_of_texts())
    for entry in entries:
        found = store.top_searches(entry.week) if entry.week in listed else None
        if entry.top_searches != (found.checksum if found else "") or bool(entry.vocabulary) != (found is not None):
            yield f"week {entry.week}: the texts of top searches are not those that were committed (checksum)"
        elif found is not None:
            longest = max(longest, len(found.texts))
            yield from _shape_problems(store, found)
    for week in sorted(listed - {entry.week for entry in entries if entry.top_searches}):
        yield f"week {week}: has texts of top searches that are not in the ledger"
    if len(store.shown_texts()) != longest:
        yield "the public list of texts has some that no week has"


def _shape_problems(store: Store, found: TopSearchWeek) -> Iterator[str]:
    cells = store.edition_of(found.week).cells
    if found.texts and found.noisy.shape != (len(found.texts), 1 + cells.coarsest.size):
        yield f"week {found.week}: the texts of top searches do not have a count for each region"
    if cells.coverage.spec.top_searches is None:
        yield f"week {found.week}: has texts of top searches, and its spec has none"


def _ledger_problems(store: Store, entries: list[LedgerEntry]) -> Iterator[str]:
    """Check that every count has an entry, and that no instant is in two weeks."""
    weeks = [entry.week for entry in entries]
    for week in sorted(set(store.counted_weeks()) - set(weeks)):
        yield f"week {week}: has counts, but no entry in the ledger"
    for earlier, later in pairwise(entries):
        if later.begins_at < earlier.ends_at:
            yield f"weeks {earlier.week} and {later.week} share instants"


def _model_problems(store: Store, entries: list[LedgerEntry]) -> Iterator[str]:
    """Check that every model classified a week, and that its facts can be read."""
    for model in store.models():
        name = f"model {model.fingerprint[:12]}"
        if model.fingerprint not in {entry.classifier for entry in entries}:
            yield f"{name}: classified no week of the store"
        try:
            readable = isinstance(json.loads(model.facts), dict)
        except ValueError:
            readable = False
        if not readable:
            yield f"{name}: its facts are not readable"


def _lost_problems(store: Store, entries: list[LedgerEntry]) -> Iterator[str]:
    """Check that every lost week is a week of the spec, has a reason, and shares no instant with one of the store."""
    for lost in store.lost():
        spec = store.edition_of(lost.week).counted.spec
        week = Week(lost.week, spec.time_zone)
        if WEEKDAYS[lost.week.weekday()] != spec.first_day_of_week:
            yield f"lost week {week}: does not begin on {spec.first_day_of_week.capitalize()}"
        if (lost.begins_at, lost.ends_at) != instants_of(week):
            yield f"lost week {week}: begins or ends at another instant than by the zone data {zone_data_version()}"
        if not lost.reason.strip():
            yield f"lost week {week}: has no reason"
        for entry in entries:
            if entry.week == lost.week:
                yield f"week {entry.week}: is in the store, although week {week} was declared lost"


def _journal_problems(store: Store) -> Iterator[str]:
    """Check that every week of the journal is in the store, with the same noise; the journal may lack newer weeks."""
    stored = {entry.week: entry.checksum for entry in store.entries()}
    journal = read_journal(store.path)
    if journal.identity not in ("", store.identity):
        yield f"{journal_path(store.path).name}: belongs to another release than the store"
    if journal.tail:
        yield f"{journal_path(store.path).name}: the last line is not whole"
    for week, recorded in journal.weeks.items():
        if week not in stored and week not in journal.lost:
            yield f"week {week}: is in {journal_path(store.path).name}, but not in the store: an older copy of it?"
        elif stored.get(week, recorded.checksum) != recorded.checksum:
            yield f"week {week}: has other noise than {journal_path(store.path).name} says was committed"
