"""Declaring a week lost: the store will never hold it, and what waits for it goes on without it.

A week may be missing because its log is gone, because the series began later, or because no backup has it. Sparsity
waits for every week of its window, so a missing one would keep sparse regions for ever. A week that was declared lost
is never noised afterwards: the dataset says that it never comes.
"""

from datetime import UTC, date, datetime
from pathlib import Path

from search_insights.errors import InputError
from search_insights.spec.weeks import Week, week_of
from search_insights.store.journal import behind, journal_path, read_journal
from search_insights.store.ledger import LostWeek, checked_reason, instants_of
from search_insights.store.older_copy import PublishedWeeks, refuse_older_copy
from search_insights.store.opening import open_store
from search_insights.store.store import Store


def lose(
    store_path: Path, first_day: date, reason: str, published_weeks: PublishedWeeks = lambda folder, known: {}
) -> LostWeek:
    """Record in store and journal that a week is lost, and why; the reason is published.

    An older copy is refused: what it lacks may be in a backup, or in a published folder.

    A store of an earlier version is upgraded when it is opened for writing, so everything is checked before.
    """
    reason = checked_reason(reason, "reason", "the week is lost")
    with open_store(store_path) as store:
        week = _checked_week(store, first_day)
        now = datetime.now(UTC)
        if not week.is_over(now):
            raise InputError(f"week {week} is not over (it ends {week.end:%Y-%m-%d %H:%M} UTC), so it is not lost")
        lost = LostWeek(first_day, *instants_of(week), reason, now.date().isoformat())
        store.require_can_be_lost(lost)
        _refuse_older_copy(store, first_day)
        refuse_older_copy(store, published_weeks)
    with open_store(store_path, writable=True) as store:
        store.lose(lost)
    return lost


def _checked_week(store: Store, first_day: date) -> Week:
    try:
        return week_of(store.edition_of(first_day).counted.spec, first_day)
    except InputError as error:
        raise InputError(f"`week`: {error}") from None


def _refuse_older_copy(store: Store, first_day: date) -> None:
    """Refuse a week that was committed but is not in the store, unless a restore found no backup that has it."""
    journal = read_journal(store.path)
    if first_day in journal.weeks and first_day not in journal.lost:
        raise behind(store.path, first_day, journal_path(store.path))
