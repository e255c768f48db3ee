"""The journal beside the store: which noise of which week became final, even if the store forgets it.

A store can lose a week that was released: an older copy of it is restored, or its write-ahead log (`.wal`) is deleted
or damaged. Noising that week again would be a second release of its searches. So each final week is recorded here too:
after it is committed, and at the latest before anything is published from the store. A line is the first day of a week
and the checksum of its noisy counts. Lines are only added, never changed.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from search_insights.errors import StoreError
from search_insights.spec.weeks import DAYS_OF_WEEK, Week
from search_insights.store.ledger import CHECKSUM_DIGITS, LedgerEntry
from search_insights.support.files import flush, private_files


def journal_path(store: Path) -> Path:
    """Return the path of a store's journal: beside the file itself, also if the store is reached by a link."""
    real = store.resolve()
    return real.with_name(real.name + ".journal")


def read_journal(store: Path) -> dict[date, str]:
    """Return the checksum of every final week; none if there is no journal yet."""
    path = journal_path(store)
    try:
        *lines, _torn = path.read_text(encoding="ascii").split(
            "\n"
        )  # a last line without an end was cut off by a crash
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"{path}: the journal of {store.name} cannot be read; restore it from a backup") from None
    weeks: dict[date, str] = {}
    for number, line in enumerate(lines, start=1):
        week, checksum = _parse(line, f"{path}, line {number}")
        if weeks.setdefault(week, checksum) != checksum:
            raise StoreError(f"{path}, line {number}: week {week} is listed twice with different noise")
    return weeks


def _parse(line: str, where: str) -> tuple[date, str]:
    try:
        week, checksum = line.split(" ")
        if len(checksum) != CHECKSUM_DIGITS or int(checksum, 16) < 0:
            raise ValueError
        return date.fromisoformat(week), checksum
    except ValueError:
        raise StoreError(f"{where}: expected a week and a checksum; the journal is damaged, fix the line") from None


def remember(store: Path, entries: Iterable[LedgerEntry]) -> None:
    """Record the weeks that are not in the journal yet; refuse a store that contradicts it."""
    remember_checksums(store, {entry.week: entry.checksum for entry in entries})


def remember_checksums(store: Path, weeks: Mapping[date, str]) -> None:
    """Record weeks, given by their checksums; refuse one that contradicts the journal."""
    known = read_journal(store)
    for week, checksum in weeks.items():
        if known.get(week, checksum) != checksum:
            raise StoreError(
                f"{store}: week {week} has other noise than {journal_path(store)} says was committed; "
                "the journal belongs to another store; use the matching pair"
            )
    new = "".join(f"{week} {weeks[week]}\n" for week in sorted(weeks.keys() - known.keys()))
    if new:
        _append(journal_path(store), new)


def _append(path: Path, text: str) -> None:
    """Append lines, and force them to disk before anything relies on them."""
    try:
        with private_files(), path.open("a+b") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)  # a line that was cut off by a crash
            file.write(text.encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        flush(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); the store is intact: run again to continue"
        ) from None


def refuse_second_noise(store: Path, weeks: Iterable[Week]) -> None:
    """Refuse weeks that the store does not hold, although they or some of their days became final."""
    known = read_journal(store)
    for week in weeks:
        lost = [day for day in known if abs((day - week.first_day).days) < DAYS_OF_WEEK]
        if lost:
            path = journal_path(store)
            raise StoreError(
                f"{store}: does not hold week {min(lost)}, which {path} says was committed: is this an older copy? "
                "Noise drawn again would be a second release of the same searches. Restore the newest backup "
                f"('search-insights store restore'); only if that week was never published, remove {path.name}"
            )
