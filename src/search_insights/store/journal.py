"""The journal beside the store: which noise of which week became final, even if the store forgets it.

A store can lose a week that was released: an older copy of it is restored, or its write-ahead log (`.wal`) is deleted
or damaged. Noising that week again would be a second release of its searches. So each final week is recorded here too:
after it is committed, and at the latest before anything is published from the store.

A line is a week that became final, as a JSON object. Or it says to which `release` the journal belongs; or that a week
is `lost`, with its instants if it was declared so; or in which folder the store was `published` or `backed-up`, because
what lies there may know of more weeks than a store and a journal that were both replaced by older copies. Lines are
only added, never changed. Earlier versions wrote a week's first day and checksum.
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Literal

from search_insights.errors import InputError, StoreError
from search_insights.spec.weeks import FIRST_WEEK, LAST_WEEK, Week
from search_insights.store.file_errors import real_file
from search_insights.store.identity import Mark, read_mark
from search_insights.store.ledger import FinalWeek, LostWeek, final_week
from search_insights.support.files import flush, private_files, read_at_most

Place = Literal["published", "backed-up"]
_PLACES: tuple[Place, ...] = ("published", "backed-up")
_LOST, _RELEASE = "lost", "release"
_MOST_BYTES = 1 << 24  # a line has some 300 bytes, and a century has 5,200 weeks


@dataclass(frozen=True, slots=True)
class Journal:
    """What a journal says. `tail` is a last line that is not whole: a crash cut it off, or the file is damaged."""

    weeks: dict[date, FinalWeek] = field(default_factory=dict)
    lost: dict[date, LostWeek] = field(default_factory=dict)
    places: dict[Place, list[Path]] = field(default_factory=lambda: {place: [] for place in _PLACES})
    marks: list[Mark] = field(default_factory=list)
    tail: str = ""

    @property
    def identity(self) -> str:
        """The identity of the release to which it belongs; empty if it does not say."""
        return self.marks[0].identity if self.marks else ""

    @property
    def checksums(self) -> dict[date, str]:
        """The checksum of every final week."""
        return {week: final.checksum for week, final in self.weeks.items()}


def journal_path(store: Path) -> Path:
    """Return the path of a store's journal: beside the file itself, also if the store is reached by a link."""
    real = real_file(store)
    return real.with_name(real.name + ".journal")


def read_journal(store: Path) -> Journal:
    """Read a store's journal; an empty one if there is none yet. A last line without its end counts if it is whole."""
    path = journal_path(store)
    try:
        *lines, tail = read_at_most(path, _MOST_BYTES).decode("ascii").split("\n")
    except FileNotFoundError:
        return Journal()
    except (OSError, UnicodeDecodeError, InputError):
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
    elif isinstance(record, LostWeek):
        known_lost = journal.lost.get(record.week, record)
        journal.lost[record.week] = record if record.begins_at else known_lost
    elif isinstance(record, Mark):
        if journal.identity not in ("", record.identity):
            raise StoreError(f"{where}: another release than in the lines above; the journals of two stores were mixed")
        journal.marks.append(record)
    elif record:
        place, folder = record
        journal.places[place].append(folder)
    else:
        raise StoreError(f"{where}: expected a week and a checksum; the journal is damaged, fix the line")


@lru_cache(maxsize=4096)  # a journal is read before and after each week, and has a line for each
def _parse(line: str) -> FinalWeek | LostWeek | Mark | tuple[Place, Path] | None:
    """Return the record of a line; None if it is not one."""
    try:
        if line.startswith("{"):
            return final_week(json.loads(line))
        first, rest = line.split(" ", 1)
        if first == _LOST:
            return _lost_week(*rest.split(" "))
        if first == _RELEASE:
            return read_mark(rest)
        for place in _PLACES:
            if first == place:
                return place, Path(str(json.loads(rest)))
        return final_week({"week": first, "checksum": rest})
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _lost_week(week: str, begins_at: str = "", ends_at: str = "") -> LostWeek:
    first_day = date.fromisoformat(week)
    if not FIRST_WEEK <= first_day <= LAST_WEEK or bool(begins_at) != bool(ends_at):
        raise ValueError
    return LostWeek(first_day, begins_at, ends_at)


def remember(store: Path, weeks: Iterable[FinalWeek], lost: Iterable[LostWeek] = (), mark: Mark | None = None) -> None:
    """Record what the journal does not have: weeks, or their instants, and the release; refuse a contradiction."""
    journal = read_journal(store)
    _append(store, journal, _new_lines(store, journal, weeks, lost, mark))


def refuse_contradiction(
    store: Path, weeks: Iterable[FinalWeek], lost: Iterable[LostWeek] = (), mark: Mark | None = None
) -> None:
    """Refuse what `remember` would refuse, and write nothing."""
    journal = read_journal(store)
    _require_whole(store, journal, _new_lines(store, journal, weeks, lost, mark))


def _new_lines(
    store: Path, journal: Journal, weeks: Iterable[FinalWeek], lost: Iterable[LostWeek], mark: Mark | None
) -> list[str]:
    lines = [*_new_weeks(store, journal, weeks), *_new_lost(journal, lost)]
    return [*_new_marks(store, journal, mark), *lines] if mark and (lines or journal.weeks) else lines


def _new_marks(store: Path, journal: Journal, mark: Mark) -> list[str]:
    if journal.identity not in ("", mark.identity):
        raise StoreError(
            f"{store}: is of another release than {journal_path(store)}: the journal belongs to another store; use the "
            "matching pair"
        )
    return [] if mark in journal.marks else [f"{_RELEASE} {mark}"]


def _new_weeks(store: Path, journal: Journal, weeks: Iterable[FinalWeek]) -> list[str]:
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
    return new


def _new_lost(journal: Journal, lost: Iterable[LostWeek]) -> list[str]:
    new: list[str] = []
    for week in sorted(lost, key=lambda week: week.week):
        known = journal.lost.get(week.week)
        if not known or (week.begins_at and not known.begins_at):
            new.append(" ".join(filter(None, (_LOST, str(week.week), week.begins_at, week.ends_at))))
    return new


def remember_lost(store: Path, weeks: Iterable[LostWeek]) -> None:
    """Record that weeks are known to be lost: the store goes on without them, and they are never noised."""
    remember(store, (), weeks)


def remember_place(store: Path, place: Place, folder: Path) -> None:
    """Record a folder in which the store was published or backed up."""
    journal = read_journal(store)
    if folder.resolve() not in journal.places[place]:
        _append(store, journal, [f"{place} {json.dumps(str(folder.resolve()))}"])


def _append(store: Path, journal: Journal, lines: Sequence[str]) -> None:
    """Append lines, and force them to disk before anything relies on them."""
    path = journal_path(store)
    _require_whole(store, journal, lines)
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


def _require_whole(store: Path, journal: Journal, lines: Sequence[str]) -> None:
    """Refuse a journal whose last line is not whole, unless it may be removed."""
    if not _may_be_cut(journal.tail, lines):
        raise StoreError(
            f"{journal_path(store)}: the last line is not whole, and not of a week in {store.name}; compare it with "
            "the weeks that were published, then complete the line or remove it"
        )


def _may_be_cut(tail: str, lines: Sequence[str]) -> bool:
    """Return whether a last line that is not whole may be removed.

    A crash cuts off a week's line after the week was committed, so the store has the week, and its line is now written
    again. What begins another line is no week.
    """
    is_other = any(tail.startswith(word) or word.startswith(tail) for word in (_LOST, _RELEASE, *_PLACES))
    return is_other or any(line.startswith(tail) for line in lines)


def refuse_second_noise(store: Path, weeks: Iterable[Week], held: Collection[date] = ()) -> None:
    """Refuse weeks that the store does not hold, although they or some of their instants became final, or are lost.

    `held` are weeks that it does hold: with one of another edition a week may share hours.
    """
    journal = read_journal(store)
    for week in weeks:
        for final in journal.weeks.values():
            if final.overlaps(week) and final.week in held:
                raise StoreError(
                    f"{store}: week {week} shares hours with week {final.week}, which was counted already, in another "
                    "time zone or from another weekday on; no instant is counted twice. Declare it lost ('search-"
                    "insights store lose')"
                )
            if final.overlaps(week):
                raise behind(store, final.week, journal_path(store))
        # Of a week that was committed before it was lost, the instants are those of its own line.
        refuse_lost(store, week, (lost for lost in journal.lost.values() if lost.week not in journal.weeks))


def refuse_lost(store: Path, week: Week, lost: Iterable[LostWeek]) -> None:
    """Refuse to noise a week that is lost, or has instants of one that is: the dataset says that it never comes."""
    for other in lost:
        if other.overlaps(week):
            raise StoreError(
                f"{store}: week {week} is lost, or shares instants with week {other.week}, which is; a lost week is "
                "never noised. Leave it out"
            )


def behind(store: Path, week: date, witness: Path) -> StoreError:
    """Return the error for a store that lacks a week although something else knows that it was committed."""
    return StoreError(
        f"{store}: does not hold week {week}, which {witness} says was committed: is this an older copy? Noise drawn "
        "again would be a second release of the same searches. Restore the newest backup ('search-insights store "
        "restore', with the published dataset); if none has the week, that records it as lost"
    )
