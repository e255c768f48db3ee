"""Refusing to run with a store that lacks released weeks: it is gone, or an older copy, and would noise them again.

`anonymize` asks the journal, and the folders that the journal knows. But whoever runs unattended may find neither: a
disk that is not mounted looks like a publisher who has not begun. The settings name the dataset and the backups, so
these are asked too, before anything is written.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

from search_insights.errors import SearchInsightsError, StoreError
from search_insights.routine.backups import dated_backups
from search_insights.routine.due import Held, store_of
from search_insights.routine.settings import Settings
from search_insights.spec.coverage import Coverage
from search_insights.store.identity import Known
from search_insights.store.journal import behind
from search_insights.store.ledger import FinalWeek
from search_insights.store.opening import read_weeks

_Witness = tuple[Path, Mapping[date, FinalWeek]]


def refuse_forgotten_weeks(settings: Settings, coverage: Coverage, held: Held) -> None:
    """Refuse a store of another release, or one that lacks a week which the dataset or the newest backup has.

    A lost week may be missing.
    """
    if settings.identity and held.known and held.known.identity != settings.identity:
        raise StoreError(
            f"{store_of(settings)}: is of release {held.known.identity}, and {settings.file} is for release "
            f"{settings.identity}: give its store as 'store', or the release of this store as 'identity'"
        )
    checksums = {entry.week: entry.checksum for entry in held.entries}
    for witness, weeks in (*_dataset(settings, held), *_newest_backup(settings, coverage, held)):
        for week, final in sorted(weeks.items()):
            if checksums.get(week) != final.checksum and week not in held.lost:
                raise behind(store_of(settings), week, witness)


def _dataset(settings: Settings, held: Held) -> Iterator[_Witness]:
    """Yield what the dataset shows. Of a damaged one, publishing says so later, unless there is no store to publish."""
    from search_insights.dataset.folder import holds_dataset, published_weeks

    folder = settings.dataset
    if folder and holds_dataset(folder):
        try:
            yield folder, published_weeks(folder)
        except SearchInsightsError:
            if not held.entries:
                raise


def _newest_backup(settings: Settings, coverage: Coverage, held: Held) -> Iterator[_Witness]:
    """Yield the weeks of the newest backup that can be read, if it is of this release."""
    if not settings.backups.folder:
        return
    for path in reversed(dated_backups(store_of(settings), settings.backups.folder)):
        with suppress(SearchInsightsError):
            known, weeks = read_weeks(path)
            if known.is_same(held.known or _known(settings, coverage)):
                yield path, {week.week: week for week in weeks}
            return


def _known(settings: Settings, coverage: Coverage) -> Known:
    """Return by what a store that is not there would be known."""
    return Known(
        settings.identity or "", frozenset({coverage.spec.fingerprint}), frozenset({coverage.geography.fingerprint})
    )
