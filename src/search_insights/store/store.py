"""The store: the only state. Noisy counts, the ledger, and the spec and geography that they belong to.

It is one DuckDB file, which `opening.py` creates and opens. A week's counts and its ledger entry are committed in one
transaction, so that a crash at any moment leaves the whole week or nothing of it. DuckDB locks the file for one
process; the lock is held from before the log is read until after the commit, so that no two processes can noise the
same week. What was committed is also recorded in the journal beside the store (journal.py), in case the file is damaged
or an older copy of it is restored.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.store.editions import Change, Edition, edition_of
from search_insights.store.file_errors import explained
from search_insights.store.identity import Known, Mark, mark_of
from search_insights.store.journal import refuse_lost, refuse_second_noise, remember, remember_lost
from search_insights.store.ledger import (
    CorrectionRecord,
    FinalWeek,
    LedgerEntry,
    LostWeek,
    ModelRecord,
    ScalingRecord,
    SparsityRecord,
    WeekNote,
    checksum,
    instants_of,
)
from search_insights.store.top_searches import (
    ShownText,
    TopSearchWeek,
    add_top_searches,
    shown_texts_of,
    top_searches_of,
)
from search_insights.support.arrays import Counts

if TYPE_CHECKING:
    import duckdb

# Rows inserted by one statement: DuckDB writes larger inserts to the file before they are committed, and noise that was
# never released should not be there.
_ROWS_PER_INSERT = 100_000

# Weeks read by one query, which takes about as long for some as for one. All of their counts are in memory at once.
_WEEKS_PER_QUERY = 16

_TABLES = {ScalingRecord: "scaling", SparsityRecord: "sparsity", CorrectionRecord: "corrections"}


@dataclass(frozen=True)
class Store:
    """An open store."""

    connection: "duckdb.DuckDBPyConnection"
    path: Path
    editions: tuple[Edition, ...]
    identity: str

    @property
    def known(self) -> Known:
        """By what its backups and datasets are known to be of the same release."""
        specs, geographies = (frozenset(getattr(c, key) for c in self.changes()) for key in ("spec", "geography"))
        return Known(self.identity, specs, geographies)

    @property
    def mark(self) -> Mark:
        """What its journal says of the release."""
        return mark_of(self.identity, self.coverage)

    @property
    def coverage(self) -> Coverage:
        """The spec and geography of the present edition."""
        return self.editions[-1].coverage

    def edition_of(self, first_day: date) -> Edition:
        """Return the edition of the week that begins on a day."""
        return edition_of(self.editions, first_day)

    def changes(self) -> list[Change]:
        """Return the recorded changes of spec and geography, the oldest first."""
        with explained(self.path):
            return changes_of(self.connection)

    def entries(self) -> list[LedgerEntry]:
        """Return the ledger, the oldest week first."""
        with explained(self.path):
            return entries_of(self.connection)

    def present_entries(self) -> list[LedgerEntry]:
        """Return the entries of the present edition's weeks."""
        present = self.editions[-1].number
        return [entry for entry in self.entries() if self.edition_of(entry.week).number == present]

    def holds(self, week: Week) -> bool:
        """Return whether a week was noised already."""
        return bool(self._rows("SELECT 1 FROM ledger WHERE week = ?", week.first_day))

    def _overlaps(self, week: Week) -> bool:
        """Return whether the ledger has any instant of the week."""
        finals = self._rows("SELECT week, checksum, begins_at, ends_at FROM ledger")
        return any(FinalWeek(*final).overlaps(week) for final in finals)

    def commit_week(
        self,
        week: Week,
        noisy: Counts,
        entry: LedgerEntry,
        model: ModelRecord | None = None,
        top: TopSearchWeek | None = None,
    ) -> None:
        """Make a week final, once: commit its noisy counts, its texts, its ledger entry and its model, all or none."""
        if model is not None and model.fingerprint != entry.classifier:
            raise StoreError(f"{self.path}: the ledger entry of week {week} names another model")
        belongs = (entry.week, entry.begins_at, entry.ends_at) == (week.first_day, *instants_of(week))
        if not belongs or entry.checksum != checksum(week.first_day, noisy):
            raise StoreError(f"{self.path}: the ledger entry does not belong to the counts of week {week}")
        recorded = (top.week, top.checksum) if top else (week.first_day, "")
        if (week.first_day, entry.top_searches) != recorded or bool(entry.vocabulary) != (top is not None):
            raise StoreError(f"{self.path}: the ledger entry does not belong to the top searches of week {week}")
        given = {"cell": np.arange(noisy.size, dtype=np.int32), "noisy": noisy}
        with explained(self.path), transaction(self.connection):
            if self._overlaps(week):
                raise StoreError(f"{self.path}: already has week {week} or some of its instants; a week is noised once")
            refuse_second_noise(self.path, [week])
            refuse_lost(self.path, week, self.lost())
            self.connection.register("given", given)
            insert = "INSERT INTO counts SELECT CAST(? AS DATE), cell, noisy FROM given WHERE cell BETWEEN ? AND ?"
            for first in range(0, noisy.size, _ROWS_PER_INSERT):
                self.connection.execute(insert, [week.first_day, first, first + _ROWS_PER_INSERT - 1])
            if top is not None:
                add_top_searches(self.connection, self.path, top, _ROWS_PER_INSERT)
            marks = ", ".join("?" for _ in astuple(entry))
            self.connection.execute(f"INSERT INTO ledger VALUES ({marks})", list(astuple(entry)))
            if model is not None:  # what an earlier week recorded of it stays
                self.connection.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", list(astuple(model)))
        self.connection.unregister("given")
        remember(self.path, [entry.final], mark=self.mark)

    def shown_texts(self) -> tuple[ShownText, ...]:
        """Return the public list of texts that were shown, in the order in which they joined it."""
        with explained(self.path):
            return shown_texts_of(self.connection)

    def top_searches(self, week: date) -> TopSearchWeek | None:
        """Return the texts of the week that begins on a day, with their noisy counts; None if it has none."""
        with explained(self.path):
            return top_searches_of(self.connection, week)

    def weeks_of_texts(self) -> list[date]:
        """Return the weeks that have texts, or counts of them."""
        sql = "SELECT week FROM top_weeks UNION SELECT week FROM top_counts UNION SELECT first_week FROM top_texts"
        return sorted(week for (week,) in self._rows(sql))

    def models(self) -> list[ModelRecord]:
        """Return the models of which the store has facts: none for weeks that an earlier version committed."""
        return [ModelRecord(*row) for row in self._rows("SELECT * FROM models ORDER BY fingerprint")]

    def lost(self) -> list[LostWeek]:
        """Return the weeks that were declared lost, the oldest first."""
        with explained(self.path):
            return lost_of(self.connection)

    def lose(self, lost: LostWeek) -> None:
        """Declare a week lost, once. The store must not hold it, and never will."""
        with explained(self.path), transaction(self.connection):
            self.require_can_be_lost(lost)
            self.connection.execute("INSERT INTO lost VALUES (?, ?, ?, ?, ?)", list(astuple(lost)))
        remember_lost(self.path, [lost])

    def require_can_be_lost(self, lost: LostWeek) -> None:
        """Refuse a week that the store holds, and one that was declared lost already.

        One that shares hours with a week of another edition is lost: it can never be counted.
        """
        week = Week(lost.week, self.edition_of(lost.week).counted.spec.time_zone)
        if self.holds(week):
            raise StoreError(f"{self.path}: holds week {week}; it is not lost")
        for known in self.lost():
            if known.week == lost.week:
                raise StoreError(
                    f"{self.path}: week {week} was declared lost on {known.recorded_at}, and the reason is recorded; "
                    "it does not change"
                )

    def scaling(self) -> ScalingRecord | None:
        """Return the factor that a release fixed last, if there was one."""
        return next(reversed(self.scalings()), None)

    def sparsity(self) -> SparsityRecord | None:
        """Return which regions of the first edition were removed, if that was decided."""
        return next(iter(self.sparsities()), None)

    def notes(self) -> list[WeekNote]:
        """Return what readers should know of weeks, the oldest week first."""
        return [WeekNote(*row) for row in self._rows("SELECT * FROM notes ORDER BY week, rowid")]

    def note(self, note: WeekNote) -> None:
        """Record what readers should know of a week that the store holds."""
        with explained(self.path), transaction(self.connection):
            self.require_can_be_noted(note)
            self.connection.execute("INSERT INTO notes VALUES (?, ?, ?)", list(astuple(note)))

    def require_can_be_noted(self, note: WeekNote) -> None:
        """Refuse a week that the store does not hold, and words that are recorded already."""
        if note.week not in {entry.week for entry in self.entries()}:
            raise StoreError(
                f"{self.path}: does not hold week {note.week}, so there is nothing to say of it; a week that never "
                "comes is declared with 'store lose'"
            )
        if any((known.week, known.reason) == (note.week, note.reason) for known in self.notes()):
            raise StoreError(f"{self.path}: has this note on week {note.week} already")

    def scalings(self) -> list[ScalingRecord]:
        """Return the factors that releases fixed, those of the latest change last."""
        return [ScalingRecord(*row) for row in self._rows("SELECT * FROM scaling ORDER BY change, rowid")]

    def sparsities(self) -> list[SparsityRecord]:
        """Return which regions were removed, those of the latest change last."""
        return [SparsityRecord(*row) for row in self._rows("SELECT * FROM sparsity ORDER BY change, edition")]

    def corrections(self) -> list[CorrectionRecord]:
        """Return the recorded changes of published values."""
        return [CorrectionRecord(*row) for row in self._rows("SELECT * FROM corrections ORDER BY recorded_at, rowid")]

    def fix(self, record: ScalingRecord | SparsityRecord | CorrectionRecord) -> None:
        """Record what a release decided; scaling and sparsity are fixed once for each change that asks for them."""
        table = _TABLES[type(record)]
        values = list(astuple(record))
        with explained(self.path), transaction(self.connection):
            if self._is_fixed(record):
                raise StoreError(f"{self.path}: {table} is fixed already; it does not change")
            self.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in values)})", values)

    def _is_fixed(self, record: ScalingRecord | SparsityRecord | CorrectionRecord) -> bool:
        """Return whether a release has decided the same thing already."""
        if isinstance(record, ScalingRecord):
            return (record.change, record.trend) in {(known.change, known.trend) for known in self.scalings()}
        if isinstance(record, SparsityRecord):
            return (record.change, record.edition) in {(known.change, known.edition) for known in self.sparsities()}
        return False

    def noisy_counts(self, week: Week) -> Counts:
        """Return a week's noisy counts in the order of the cells."""
        return self.numbered_counts(week.first_day)[1]

    def numbered_counts(self, week: date) -> tuple[Counts, Counts]:
        """Return the cell numbers and the noisy counts of the week that begins on a day."""
        return next(self.numbered_counts_of([week]))

    def numbered_counts_of(self, weeks: Sequence[date]) -> Iterator[tuple[Counts, Counts]]:
        """Yield the cell numbers and the noisy counts of each week, in the order of `weeks`.

        The counts of a week almost always lie in the file in the order of their cells.
        """
        for first in range(0, len(weeks), _WEEKS_PER_QUERY):
            asked = list(weeks[first : first + _WEEKS_PER_QUERY])
            with explained(self.path):
                sql = f"SELECT week, cell, noisy FROM counts WHERE week IN ({', '.join('?' for _ in asked)})"
                columns = self.connection.execute(sql, asked).fetchnumpy()
            days = columns["week"].astype("datetime64[D]")
            for week in asked:
                of_week = days == np.datetime64(week)
                cell, noisy = columns["cell"][of_week], columns["noisy"][of_week]
                order = slice(None) if (np.diff(cell) > 0).all() else np.lexsort((noisy, cell))
                yield cell[order], noisy[order]

    def counted_weeks(self) -> list[date]:
        """Return the weeks that have counts."""
        return [week for (week,) in self._rows("SELECT DISTINCT week FROM counts ORDER BY week")]

    def cells(self, edition: int = 1) -> list[tuple[int, str, str, float]]:
        """Return the list of cells of an edition: number, place_id, category, sigma."""
        rows = self._rows("SELECT * EXCLUDE (edition) FROM cells WHERE edition = ? ORDER BY cell", edition)
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with explained(self.path):
            return self.connection.execute(sql, parameters).fetchall()


def changes_of(connection: "duckdb.DuckDBPyConnection") -> list[Change]:
    """Return the recorded changes of a store that is open, the oldest first."""
    columns = ", ".join(field.name for field in fields(Change))
    return [Change(*row) for row in connection.execute(f"SELECT {columns} FROM changes ORDER BY number").fetchall()]


def entries_of(connection: "duckdb.DuckDBPyConnection") -> list[LedgerEntry]:
    """Return the ledger of a store that is open, the oldest week first."""
    columns = ", ".join(field.name for field in fields(LedgerEntry))
    return [LedgerEntry(*row) for row in connection.execute(f"SELECT {columns} FROM ledger ORDER BY week").fetchall()]


def lost_of(connection: "duckdb.DuckDBPyConnection") -> list[LostWeek]:
    """Return the weeks that were declared lost in a store that is open, the oldest first."""
    return [LostWeek(*row) for row in connection.execute("SELECT * FROM lost ORDER BY week").fetchall()]


@contextmanager
def transaction(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    """Commit what is done inside, or nothing of it."""
    connection.begin()
    try:
        yield
    except BaseException:
        with suppress(Exception):  # a database that failed completely has rolled back already
            connection.rollback()
        raise
    connection.commit()
