"""Telling readers about a week that is final, but whose log was wrong.

A week is noised once, so it stays as it was counted: noise drawn again for a corrected log would be a second release of
almost the same searches, and the two together would promise less than one. What can be done is to say so.
"""

from datetime import UTC, date, datetime
from pathlib import Path

from search_insights.store.ledger import WeekNote, checked_reason
from search_insights.store.opening import open_store


def note_week(store_path: Path, first_day: date, reason: str) -> WeekNote:
    """Record what readers should know of a week of the store; it is published with the next dataset.

    A store of an earlier version is upgraded when it is opened for writing, so everything is checked before.
    """
    reason = checked_reason(reason, "reason", "readers should take care with the week")
    note = WeekNote(first_day, reason, datetime.now(UTC).date().isoformat())
    with open_store(store_path) as store:
        store.require_can_be_noted(note)
    with open_store(store_path, writable=True) as store:
        store.note(note)
    return note
