"""Refusing to go on with an older copy of a store: it lacks weeks that were released, and would noise them again.

The journal beside the store knows them, unless an older copy of the journal was put back too. But a folder in which the
store was published knows the weeks that it shows, and the newest backup those that were in the store then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from search_insights.errors import SearchInsightsError, StoreError
from search_insights.store.identity import Known
from search_insights.store.journal import behind, journal_path, read_journal, remember
from search_insights.store.ledger import FinalWeek
from search_insights.store.opening import read_weeks
from search_insights.store.store import Store

# Reads the weeks that a folder shows of a release; raises if what it shows is damaged.
PublishedWeeks = Callable[[Path, Known], Mapping[date, FinalWeek]]

# How many files beside a backup are opened to find the newest backup of the same series.
_NEWEST_FILES = 5


_Witness = tuple[Path, Mapping[date, FinalWeek]]


def refuse_older_copy(store: Store, published_weeks: PublishedWeeks, shown: Sequence[_Witness] = ()) -> None:
    """Refuse a store that lacks a week which its journal, a published folder or a backup knows.

    `shown` are folders that the operator names as those of this store, with their weeks, whatever release they are of.
    """
    journal = read_journal(store.path)
    held = {entry.week: entry.checksum for entry in store.entries()}
    witnesses: list[_Witness] = [(journal_path(store.path), journal.weeks), *shown]
    witnesses += [(folder, _published_in(store, folder, published_weeks)) for folder in journal.places["published"]]
    for folder in journal.places["backed-up"]:
        witnesses += _newest_backup(store, folder)
    for witness, weeks in witnesses:
        for week, final in sorted(weeks.items()):
            if held.get(week) != final.checksum and week not in journal.lost:
                raise behind(store.path, week, witness)
    # Of a lost week the instants are those in which it was counted, not those in which it was declared lost.
    counted = {week: final for _, weeks in witnesses for week, final in weeks.items()}
    remember(store.path, [counted[week] for week in journal.lost if week in counted and week not in journal.weeks])


def _published_in(store: Store, folder: Path, published_weeks: PublishedWeeks) -> Mapping[date, FinalWeek]:
    """Return the weeks that a folder shows; refuse to go on if the store was published there and it cannot be seen."""
    try:
        return published_weeks(folder, store.known)
    except SearchInsightsError as error:
        raise StoreError(
            f"{error}. {store.path} was published there, so it cannot be seen whether it is an older copy; restore "
            "that file, or move the folder away if the store has every week that was published"
        ) from None


def _newest_backup(store: Store, folder: Path) -> Iterator[tuple[Path, Mapping[date, FinalWeek]]]:
    """Yield the newest backup in a folder that is of the same release, and its weeks."""
    for path, weeks in backups_in(folder, store.known):
        if path != store.path.resolve():
            yield path, weeks
            return


def backups_in(folder: Path, known: Known) -> Iterator[tuple[Path, Mapping[date, FinalWeek]]]:
    """Yield the stores of a release among the newest files of a folder, with their weeks, newest first."""
    for path in _newest_files(folder):
        try:
            of_file, weeks = read_weeks(path)
        except SearchInsightsError:
            continue  # not a backup, or it cannot be read
        if known.is_same(of_file):
            yield path.resolve(), {week.week: week for week in weeks}


def _newest_files(folder: Path) -> list[Path]:
    try:
        files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:_NEWEST_FILES]
    except (OSError, ValueError):
        return []  # no longer there, or no name of a folder
