"""What people ask: the top and rising searches of a dataset, in files that the page loads as it needs them.

    asked/N-B.json.gz       the lists of region N in block B of weeks: rows of one list each, in the order of `_ROW`

The folder may come from anyone, so every text, number and name is checked before anything is made from it. The page
sets texts as text only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from search_insights.dashboards.values import ask
from search_insights.dataset.folder import Dataset, TableFile, csv_table
from search_insights.errors import InputError
from search_insights.spec.geography import require_publishable
from search_insights.support.sql import file_literal, identifier

_KINDS = ("top", "rising")
_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")
_DECIMALS = 3  # of the numbers in the CSV file
_MOST_ROWS = 5_000_000
_MOST_RANKS = 1_000
# What a row of a file holds: the numbers of week, trend and kind of list, then the search. Missing is null.
_ROW = ("week", "trend", "kind", "query", "others", *_NUMBERS, "is_new")

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """The lists of a dataset.

    weeks  the numbers of the weeks that have lists
    rows   begin with the number of the region, and are in the order of their ranks
    """

    weeks: tuple[int, ...]
    rows: tuple[Row, ...]

    def files(self, block_weeks: int) -> Iterator[tuple[str, list[Row]]]:
        """Yield the name and the rows of each file."""
        for (region, block), rows in groupby(self.rows, key=lambda row: (row[0], row[1] // block_weeks)):
            yield f"{region}-{block}", [row[1:] for row in rows]


def read_asked(dataset: Dataset, number_of: Mapping[str, int]) -> Asked | None:
    """Return the lists of a dataset; None if it has none."""
    if dataset.top_searches is None:
        return None
    csv, parquet = dataset.top_searches
    _require_rows(dataset, parquet)
    rows = _rows(dataset, parquet, number_of)
    _require_same_csv(dataset, csv, parquet)
    return Asked(_weeks(dataset, rows), rows)


def _weeks(dataset: Dataset, rows: tuple[Row, ...]) -> tuple[int, ...]:
    """Return the weeks with lists: all, if the statement says so, although a list may have no line; else those seen."""
    if dataset.privacy.get("top_searches", {}).get("weeks_without") == 0:
        return tuple(range(len(dataset.weeks)))
    return tuple(sorted({row[1] for row in rows}))


def _rows(dataset: Dataset, table: TableFile, number_of: Mapping[str, int]) -> tuple[Row, ...]:
    numbers = ", ".join(f"CAST({name} AS DOUBLE)" for name in _NUMBERS)
    found = ask(
        dataset,
        "SELECT CAST(place_id AS TEXT), CAST(date AS DATE), CAST(category AS TEXT), CAST(query_type AS TEXT), "
        f"CAST(query AS TEXT), CAST(members AS TEXT[]), {numbers}, CAST(is_new AS BOOLEAN) FROM {_read(table)} "
        "ORDER BY CAST(rank AS INTEGER)",
        table,
    )
    week_of = {week: number for number, week in enumerate(dataset.weeks)}
    trend_of = {trend.name: number for number, trend in enumerate(dataset.trends)}
    kind_of = {kind: number for number, kind in enumerate(_KINDS)}
    rows = []
    for place, week, category, kind, query, members, *rest in found:
        try:
            where = (number_of[place], week_of[week], trend_of[category], kind_of[kind])
        except KeyError:
            raise _unknown(table) from None
        for text in (query, *(members or ())):
            require_publishable(text or "", "query", str(table.path))
        rows.append((*where, query, [text for text in members or () if text != query], *rest))
    return tuple(sorted(rows, key=lambda row: row[:4]))


def _unknown(table: TableFile) -> InputError:
    return InputError(
        f"{table.path}: a row has a region, week, category or query_type that the dataset does not have; "
        "publish the dataset again"
    )


def _require_rows(dataset: Dataset, table: TableFile) -> None:
    """Refuse a table with too many rows, two for one rank, or numbers that are none."""
    key = "(date, place_id, category, query_type, rank)"
    wrong = " OR ".join(f"NOT isfinite(coalesce(CAST({name} AS DOUBLE), 0))" for name in _NUMBERS)
    sql = f"""
        SELECT count(*) <= {_MOST_ROWS} AND count(*) = count(DISTINCT {key})
           AND count(*) FILTER ({wrong} OR rank IS NULL OR CAST(rank AS INTEGER) NOT BETWEEN 1 AND {_MOST_RANKS}) = 0
        FROM {_read(table)}"""
    if not ask(dataset, sql, table)[0][0]:
        raise InputError(f"{table.path}: has two rows for one rank, or numbers that are none; publish it again")


def _require_same_csv(dataset: Dataset, csv: TableFile, parquet: TableFile) -> None:
    """Refuse a CSV file that says anything else than the Parquet file: both are offered, and only one is shown."""
    written, shown = csv_table(csv.path), _read(parquet)
    header = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {written}", csv)]
    columns = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {shown}", parquet)]
    columns = [column for column in columns if column not in ("level", "code")]
    texts = ", ".join(map(_csv_text, columns))
    sql = f"""
        SELECT (SELECT count(*) FROM {written}) = (SELECT count(*) FROM {shown})
           AND NOT EXISTS (SELECT * FROM {written} EXCEPT ALL SELECT {texts} FROM {shown})"""
    if header != columns or not ask(dataset, sql, csv)[0][0]:
        raise InputError(f"{csv.path}: does not have the rows of {parquet.path.name}; publish it again")


def _csv_text(column: str) -> str:
    """Write the SQL of a column as it stands in the CSV file."""
    name = identifier(column)
    if column == "members":
        return f"array_to_string({name}, ' | ')"
    return f"CAST(CAST({name} AS DECIMAL(18, {_DECIMALS})) AS TEXT)" if column in _NUMBERS else f"CAST({name} AS TEXT)"


def _read(table: TableFile) -> str:
    return f"read_parquet({file_literal(table.path)})"
