"""What people ask: the top and rising searches of a dataset, in files that the page loads as it needs them.

    asked/N-B.json.gz       the lists of region N in block B of weeks: rows of one list each, in the order of `_ROW`

The folder may come from anyone, so every text, number and name is checked before anything is made from it. The page
sets texts as text only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

from search_insights.dashboards.values import ask
from search_insights.dataset.folder import Dataset, TopSearchFiles, csv_table
from search_insights.errors import InputError
from search_insights.spec.geography import require_publishable
from search_insights.support.sql import file_literal, identifier

_KINDS = ("top", "rising")
_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")
_DECIMALS = 3  # of the numbers of a list, on the page and in the CSV file
_MOST_ROWS = 5_000_000
_MOST_RANKS = 1_000
# What a row of a file holds: numbers of week, topic and kind of list, then the search. Missing is null.
_ROW = ("week", "topic", "kind", "query", "others", *_NUMBERS, "is_new")

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """The lists of a dataset. `rows` begin with the number of the region; they are in the order of their ranks."""

    topics: tuple[dict[str, str], ...]
    trends: tuple[tuple[int, ...], ...]  # the numbers of the topics that each trend is about
    rows: tuple[Row, ...]

    @property
    def weeks(self) -> list[int]:
        """The numbers of the weeks that have a list."""
        return sorted({row[1] for row in self.rows})

    def files(self, block_weeks: int) -> Iterator[tuple[str, list[Row]]]:
        """Yield the name and the rows of each file."""
        for (region, block), rows in groupby(self.rows, key=lambda row: (row[0], row[1] // block_weeks)):
            yield f"{region}-{block}", [row[1:] for row in rows]


def read_asked(dataset: Dataset, number_of: Mapping[str, int]) -> Asked | None:
    """Return the lists of a dataset; None if it has none."""
    files = dataset.top_searches
    if files is None:
        return None
    _require_rows(dataset, files)
    topics = _topics(dataset)
    rows = _rows(dataset, files, number_of, _numbers(topics))
    _require_same_csv(dataset, files)
    return Asked(topics, tuple(_topics_of(trend.topics, topics) for trend in dataset.trends), tuple(rows))


def _topics(dataset: Dataset) -> tuple[dict[str, str], ...]:
    """Return the topics in the order of the dataset, each with the title of the trend that is about it alone."""
    titles = {trend.topics: trend.title for trend in dataset.trends}
    return tuple(
        {"id": t["id"], "name": t["name"], "title": titles.get((t["id"],), t["name"].replace("_", " ").capitalize())}
        for t in dataset.package.get("classification", {}).get("topics", [])
    )


def _numbers(topics: tuple[dict[str, str], ...]) -> dict[str, int]:
    """Return the number of each topic by what a row may call it."""
    return {topic[key]: number for number, topic in enumerate(topics) for key in ("id", "name")}


def _topics_of(ids: tuple[str, ...], topics: tuple[dict[str, str], ...]) -> tuple[int, ...]:
    """Return the numbers of a trend's topics; all, if the dataset does not tell."""
    return tuple(number for number, topic in enumerate(topics) if not ids or topic["id"] in ids)


def _rows(
    dataset: Dataset, files: TopSearchFiles, number_of: Mapping[str, int], topic_of: Mapping[str, int]
) -> list[Row]:
    week_of = {week: number for number, week in enumerate(dataset.weeks)}
    numbers = ", ".join(f"round(CAST({name} AS DOUBLE), {_DECIMALS})" for name in _NUMBERS)
    found = ask(
        dataset,
        f"SELECT CAST(place_id AS TEXT), CAST(date AS DATE), CAST(category AS TEXT), CAST(query_type AS TEXT), "
        f"CAST(query AS TEXT), CAST(members AS TEXT[]), {numbers}, CAST(is_new AS BOOLEAN) FROM {_table(files)} "
        "ORDER BY place_id, date, category, query_type DESC, CAST(rank AS INTEGER)",
        files.parquet,
    )
    rows = [_row(row, files, number_of, week_of, topic_of) for row in found]
    rows.sort(key=lambda row: row[:4])
    return rows


def _row(
    row: Row,
    files: TopSearchFiles,
    number_of: Mapping[str, int],
    week_of: Mapping[date, int],
    topic_of: Mapping[str, int],
) -> Row:
    place, week, topic, kind, query, members, *numbers, is_new = row
    if place not in number_of or week not in week_of or topic not in topic_of or kind not in _KINDS:
        raise InputError(
            f"{files.parquet.path}: a row has a region, week, category or query_type that the dataset does not have; "
            "publish the dataset again"
        )
    for text in (query, *(members or ())):
        require_publishable(text or "", "query", str(files.parquet.path))
    others = [text for text in members or () if text != query]
    return (number_of[place], week_of[week], topic_of[topic], _KINDS.index(kind), query, others, *numbers, bool(is_new))


def _require_rows(dataset: Dataset, files: TopSearchFiles) -> None:
    """Refuse a table with too many rows, two for one rank, or numbers that are none."""
    key = "(date, place_id, category, query_type, rank)"
    wrong = " OR ".join(f"NOT isfinite(coalesce(CAST({name} AS DOUBLE), 0))" for name in _NUMBERS)
    sql = f"""
        SELECT count(*) <= {_MOST_ROWS} AND count(*) = count(DISTINCT {key})
           AND count_if(NOT CAST(rank AS INTEGER) BETWEEN 1 AND {_MOST_RANKS} OR rank IS NULL) = 0
           AND count_if({wrong}) = 0
        FROM {_table(files)}"""
    if not ask(dataset, sql, files.parquet)[0][0]:
        raise InputError(f"{files.parquet.path}: has two rows for one rank, or numbers that are none; publish it again")


def _require_same_csv(dataset: Dataset, files: TopSearchFiles) -> None:
    """Refuse a CSV file that says anything else than the Parquet file: both are offered, and only one is shown."""
    table = csv_table(files.csv.path)
    columns = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {_table(files)}", files.parquet)]
    header = [row[0] for row in ask(dataset, f"DESCRIBE SELECT * FROM {table}", files.csv)]
    written = ", ".join(_written(name) for name in columns)
    sql = f"""
        SELECT (SELECT count(*) FROM {table}) = (SELECT count(*) FROM {_table(files)})
           AND NOT EXISTS (SELECT * FROM {table} EXCEPT ALL SELECT {written} FROM {_table(files)})"""
    if header != columns or not ask(dataset, sql, files.csv)[0][0]:
        raise InputError(f"{files.csv.path}: does not have the rows of {files.parquet.path.name}; publish it again")


def _written(column: str) -> str:
    """Write the SQL of a column as it stands in the CSV file."""
    name = identifier(column)
    if column == "members":
        return f"array_to_string({name}, ' | ')"
    return f"CAST(CAST({name} AS DECIMAL(18, {_DECIMALS})) AS TEXT)" if column in _NUMBERS else f"CAST({name} AS TEXT)"


def _table(files: TopSearchFiles) -> str:
    return f"read_parquet({file_literal(files.parquet.path)})"
