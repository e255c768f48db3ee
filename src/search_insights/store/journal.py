"""The journal beside the store: which noise of which week became final, even if the store forgets it.

A store can lose a week that was released: an older copy of it is restored, or its write-ahead log (`.wal`) is deleted
or damaged. Noising that week again would be a second release of its searches. So each final week is recorded here too:
after it is committed, and at the latest before anything is published from the store.

A line is a week that became final, as a JSON object. Or it says that a week is `lost`; or in which folder the store was
`published` or `backed-up`, because what lies there may know of more weeks than a store and a journal that were both
replaced by older copies. Lines are only added, never changed. Earlier versions wrote a week's first day and checksum.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal

from search_insights.errors import StoreError
from search_insights.spec.weeks import Week
from search_insights.store.ledger import FinalWeek, final_week
from search_insights.support.files import flush, private_files

Place = Literal["published", "backed-up"]
_PLACES: tuple[Place, ...] = ("published", "backed-up")
_LOST = "lost"


@dataclass(frozen=True, slots=True)
class Journal:
    """What a journal says. `tail` is a last line that is not whole: a crash cut it off, or the file is damaged."""

    weeks: dict[date, FinalWeek] = field(default_factory=dict)
    lost: set[date] = field(default_factory=set)
    places: dict[Place, list[Path]] = field(default_factory=lambda: {place: [] for place in _PLACES})
    tail: str = ""

    @property
    def checksums(self) -> dict[date, str]:
        """The checksum of every final week."""
        return {week: final.checksum for week, final in self.weeks.items()}


def journal_path(store: Path) -> Path:
    """Return the path of a store's journal: beside the file itself, also if the store is reached by a link."""
    real = store.resolve()
    return real.with_name(real.name + ".journal")


def read_journal(store: Path) -> Journal:
    """Read a store's journal; an empty one if there is none yet. A last line without its end counts if it is whole."""
    path = journal_path(store)
    try:
        *lines, tail = path.read_text(encoding="ascii").split("\n")
    except FileNotFoundError:
        return Journal()
    except (OSError, UnicodeDecodeError):
        raise StoreError(f"{path}: the journal of {store.name} cannot be read; restore it from a backup") from None
    journal = Journal(tail="" if _parse(tail) else tail)
    for number, line in enumerate([*lines, tail] if _parse(tail) else lines, start=1):
        _add(journal, line, f"{path}, line {number}")
    return journal


def _add(journal: Journal, line: str, where: str) -> None:
    """Add what a line says."""
    record = _parse(line)
    if isinstance(record, FinalWeek):
        known = journal.weeks.get(record.week, record)
        if known.checksum != record.checksum:
            raise StoreError(f"{where}: week {record.week} is listed twice with different noise")
        journal.weeks[record.week] = record if record.begins_at else known
    elif isinstance(record, date):
        journal.lost.add(record)
    elif record:
        place, folder = record
        journal.places[place].append(folder)
    else:
        raise StoreError(f"{where}: expected a week and a checksum; the journal is damaged, fix the line")


def _parse(line: str) -> FinalWeek | date | tuple[Place, Path] | None:
    """Return the record of a line; None if it is not one."""
    try:
        if line.startswith("{"):
            return final_week(json.loads(line))
        first, rest = line.split(" ", 1)
        if first == _LOST:
            return date.fromisoformat(rest)
        for place in _PLACES:
            if first == place:
                return place, Path(str(json.loads(rest)))
        return final_week({"week": first, "checksum": rest})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def remember(store: Path, weeks: Iterable[FinalWeek]) -> None:
    """Record weeks that the journal does not have, or not with their instants; refuse one that contradicts it."""
    journal = read_journal(store)
    new: list[str] = []
    for week in sorted(weeks, key=lambda week: week.week):
        known = journal.weeks.get(week.week)
        if known and known.checksum != week.checksum:
            raise StoreError(
                f"{store}: week {week.week} has other noise than {journal_path(store)} says was committed; "
                "the journal belongs to another store; use the matching pair"
            )
        if not known or (week.begins_at and not known.begins_at):
            new.append(json.dumps({**asdict(week), "week": week.week.isoformat()}))
    _append(store, journal, new)


def remember_lost(store: Path, weeks: Iterable[date]) -> None:
    """Record that weeks are known to be lost: the store goes on without them, and they are not noised again."""
    journal = read_journal(store)
    _append(store, journal, [f"{_LOST} {week}" for week in sorted(set(weeks) - journal.lost)])


def remember_place(store: Path, place: Place, folder: Path) -> None:
    """Record a folder in which the store was published or backed up."""
    journal = read_journal(store)
    if folder.resolve() not in journal.places[place]:
        _append(store, journal, [f"{place} {json.dumps(str(folder.resolve()))}"])


def _append(store: Path, journal: Journal, lines: Sequence[str]) -> None:
    """Append lines, and force them to disk before anything relies on them."""
    path = journal_path(store)
    if not _may_be_cut(journal.tail, lines):
        raise StoreError(
            f"{path}: the last line is not whole, and not of a week in {store.name}; compare it with the weeks that "
            "were published, then complete the line or remove it"
        )
    if not lines:
        return
    try:
        with private_files(), path.open("a+b") as file:
            file.seek(0)
            text = file.read().decode("ascii")
            if not text.endswith(journal.tail):
                raise StoreError(f"{path}: another process is writing to it; run again")
            file.truncate(len(text) - len(journal.tail))
            unended = text and not journal.tail and not text.endswith("\n")
            file.write("".join(["\n" if unended else "", *(f"{line}\n" for line in lines)]).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        flush(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); the store is intact: run again to continue"
        ) from None


def _may_be_cut(tail: str, lines: Sequence[str]) -> bool:
    """Return whether a last line that is not whole may be removed.

    A crash cuts off a week's line after the week was committed, so the store has the week, and its line is now written
    again. What begins another line is no week.
    """
    is_other = any(tail.startswith(word) or word.startswith(tail) for word in (_LOST, *_PLACES))
    return is_other or any(line.startswith(tail) for line in lines)


def refuse_second_noise(store: Path, weeks: Iterable[Week]) -> None:
    """Refuse weeks that the store does not hold, although they or some of their instants became final."""
    known = read_journal(store).weeks.values()
    for week in weeks:
        for final in known:
            if final.overlaps(week):
                raise behind(store, final.week, journal_path(store))


def behind(store: Path, week: date, witness: Path) -> StoreError:
    """Return the error for a store that lacks a week although something else knows that it was committed."""
    return StoreError(
        f"{store}: does not hold week {week}, which {witness} says was committed: is this an older copy? Noise drawn "
        "again would be a second release of the same searches. Restore the newest backup ('search-insights store "
        "restore', with the published dataset); if none has the week, that records it as lost"
    )
