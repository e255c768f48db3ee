"""Top searches in the store: the public list of texts that were shown, and the noisy counts of a week's texts.

The list only grows. A week has a noisy count for every text that is on the list when the week is committed, in the
total and in every region of the coarsest level. All of it is committed with the week's other counts, or none.
"""

import hashlib
import json
from dataclasses import astuple, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.errors import StoreError
from search_insights.support.arrays import Counts

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of the public list.

    category    the id of its topic when it was first shown
    cluster     what it has in common with texts that ask for the same, by the rule of that time
    first_week  the week in which it was first shown

    What is recorded here does not change when a model or a list of synonyms does, and so published lists do not.
    """

    text: str
    category: str
    cluster: str
    first_week: date


@dataclass(frozen=True)
class TopSearchWeek:
    """The noisy counts of the texts of a week.

    texts          the public list as it is with this week, in the order in which texts joined it
    noisy          a row for each text: its count in the total, then in each region of the coarsest level
    compared_with  the week before, if the store had its texts when this one was committed. A week that comes later
                   changes nothing in this one
    """

    week: date
    texts: tuple[ShownText, ...]
    noisy: Counts
    compared_with: date | None

    @property
    def checksum(self) -> str:
        """The SHA-256 of all of it, as the ledger has it."""
        texts = [[*astuple(text)[:3], text.first_week.isoformat()] for text in self.texts]
        compared_with = self.compared_with.isoformat() if self.compared_with else ""
        words = json.dumps([self.week.isoformat(), compared_with, self.noisy.size, texts])
        return hashlib.sha256(words.encode() + self.noisy.astype("<i8").tobytes()).hexdigest()


def shown_texts_of(connection: "duckdb.DuckDBPyConnection") -> tuple[ShownText, ...]:
    """Return the public list, in the order in which texts joined it."""
    rows = connection.execute("SELECT * EXCLUDE (number) FROM top_texts ORDER BY number").fetchall()
    return tuple(ShownText(*row) for row in rows)


def top_searches_of(connection: "duckdb.DuckDBPyConnection", week: date) -> TopSearchWeek | None:
    """Return the texts of a week with their noisy counts; None if it was committed without."""
    found = connection.execute("SELECT texts, compared_with FROM top_weeks WHERE week = ?", [week]).fetchall()
    if not found:
        return None
    ((size, compared_with),) = found
    sql = "SELECT noisy FROM top_counts WHERE week = ? ORDER BY text, region"
    noisy: Counts = connection.execute(sql, [week]).fetchnumpy()["noisy"].astype(np.int64)
    even = size > 0 and noisy.size % size == 0  # damaged tables are told by the checksum
    return TopSearchWeek(
        week, shown_texts_of(connection)[:size], noisy.reshape((size, -1) if even else (0, 0)), compared_with
    )


def add_top_searches(
    connection: "duckdb.DuckDBPyConnection", path: Path, top: TopSearchWeek, rows_per_insert: int
) -> None:
    """Add the texts of a week and their noisy counts, inside the caller's transaction; the list only grows."""
    known = shown_texts_of(connection)
    new = top.texts[len(known) :]
    if top.texts[: len(known)] != known or any(text.first_week != top.week for text in new):
        raise StoreError(f"{path}: the texts of week {top.week} do not continue the store's public list of texts")
    if new:
        words = {name: [getattr(text, name) for text in new] for name in ("text", "category", "cluster")}
        added: dict[str, Any] = {name: np.array(values, dtype=object) for name, values in words.items()}
        connection.register("given_texts", {"number": np.arange(len(known), len(top.texts)), **added})
        connection.execute(
            "INSERT INTO top_texts SELECT number, text, category, cluster, ? FROM given_texts", [top.week]
        )
        connection.unregister("given_texts")
    connection.execute("INSERT INTO top_weeks VALUES (?, ?, ?)", [top.week, len(top.texts), top.compared_with])
    texts, regions = (each.astype(np.int32) for each in np.divmod(np.arange(top.noisy.size), top.noisy.shape[1]))
    given: dict[str, Any] = {"text": texts, "region": regions, "noisy": top.noisy.ravel()}
    for first in range(0, top.noisy.size, rows_per_insert):
        part = {name: values[first : first + rows_per_insert] for name, values in given.items()}
        connection.register("given_texts", part)
        connection.execute("INSERT INTO top_counts SELECT ?, text, region, noisy FROM given_texts", [top.week])
        connection.unregister("given_texts")
