"""The tables of top searches: `<tables>_top_searches.csv` and `.parquet`, one row for each line of a list.

Rows are sorted by level, region and week, then by category, kind of list and rank. Values and changes are in percent
with 3 decimals. Missing is empty, never 0. Datasets without texts have no such tables.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from search_insights.dataset.folder import (
    TOP_SEARCHES,
    csv_table,
    published_lines,
    published_top_searches,
    published_trends,
)
from search_insights.dataset.tables import create_regions, file_stem, region_columns
from search_insights.errors import CheckFailed, InputError
from search_insights.spec.top_searches import TopSearches
from search_insights.support.sql import literal, public_tables
from search_insights.trends.blocklist import Blocklist
from search_insights.trends.release import Release
from search_insights.trends.top_searches import MOST_LINES, RISING, TOP, Lines, no_lines

if TYPE_CHECKING:
    import duckdb

SEPARATOR = " | "  # of the texts of a line, in the CSV file; no text has it
KEY = ["date", "place_id", "category", "query_type", "rank"]
_NUMBERS = ("value", "value_low", "value_high", "change", "change_low", "change_high")
_LINE = ("category", "query_type", "rank", "query", "members", *_NUMBERS, "is_new")
_ORDER = "ORDER BY region_rank, date, category_number, query_type DESC, rank"


def stem_of(release: Release) -> str:
    """Return the name of the tables without suffix."""
    return f"{file_stem(release)}{TOP_SEARCHES}"


def write_top_searches(release: Release, folder: Path) -> None:
    """Write both tables, if the release has top searches."""
    if release.top_searches is None:
        return
    stem = folder / stem_of(release)
    where = ", ".join(["date", *region_columns(release)])
    numbers = ", ".join(f"round({name}, 3) AS {name}" for name in _NUMBERS)
    with open_lines(release, release.top_searches) as connection:
        connection.execute(f"COPY ({_csv_rows(release)}) TO {literal(f'{stem}.csv')} (HEADER)")
        connection.execute(
            f"COPY (SELECT {where}, level, code, category, query_type, rank, query, "
            f"string_split(members, {literal(SEPARATOR)}) AS members, {numbers}, is_new FROM lines "
            f"JOIN regions USING (place_id) {_ORDER}) TO {literal(f'{stem}.parquet')} "
            "(FORMAT parquet, COMPRESSION zstd)"
        )


@contextmanager
def open_lines(release: Release, lines: Lines) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Yield a database in memory with the lines of a release and its regions."""
    columns: dict[str, Any] = {field.name: getattr(lines, field.name) for field in fields(Lines)}
    number_of = {trend.name: i for i, trend in enumerate(release.columns)}
    columns["day"] = np.array([day.toordinal() for day in columns.pop("date")], dtype=np.int32)
    columns["members"] = np.array([SEPARATOR.join(texts) for texts in columns["members"]], dtype=object)
    columns["category_number"] = np.array([number_of[name] for name in columns["trend"]], dtype=np.int32)
    numbers = ", ".join(f"CASE WHEN isnan({name}) THEN NULL ELSE 100 * {name} END AS {name}" for name in _NUMBERS)
    with public_tables() as connection:
        create_regions(connection, release)
        connection.execute("ALTER TABLE regions RENAME rank TO region_rank")
        connection.register("given", columns)
        connection.execute(
            "CREATE TEMP TABLE lines AS SELECT DATE '0001-01-01' + (day - 1) AS date, "
            "CAST(place AS VARCHAR) AS place_id, CAST(trend AS VARCHAR) AS category, category_number, "
            "CAST(query_type AS VARCHAR) AS query_type, CAST(rank AS INTEGER) AS rank, "
            f"CAST(query AS VARCHAR) AS query, CAST(members AS VARCHAR) AS members, {numbers}, is_new FROM given"
        )
        connection.unregister("given")
        yield connection


def _csv_rows(release: Release) -> str:
    """Write the SQL of the rows of the CSV file."""
    where = ", ".join(["date", *region_columns(release)])
    numbers = ", ".join(f"CAST({name} AS DECIMAL(18, 3)) AS {name}" for name in _NUMBERS)
    return (
        f"SELECT {where}, category, query_type, rank, query, members, {numbers}, is_new FROM lines "
        f"JOIN regions USING (place_id) {_ORDER}"
    )


def require_blocklist(release: Release, out: Path) -> None:
    """Refuse to publish without a blocklist where one was used: what it left out would be shown."""
    used = published_top_searches(out).get("blocklist", {}).get("entries", 0)
    if release.blocklist is None and used:
        raise CheckFailed(
            f"{out}: was published with a blocklist of {used:,} entries, without which texts may be shown that it left "
            "out; give it as `blocklist`, or an empty file if nothing is to be left out any more"
        )


def moved_lines(release: Release, out: Path) -> int:
    """Return how many lines of published weeks would change, vanish or appear; another rank alone is no change."""
    import duckdb

    old = _published_table(release, out)
    if old is None:
        return 0
    lines = no_lines() if release.top_searches is None else release.top_searches
    same = " AND ".join(f"o.{name} IS NOT DISTINCT FROM n.{name}" for name in ("members", *_NUMBERS, "is_new"))
    try:
        with open_lines(release, lines) as connection:
            new = f"(SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({_csv_rows(release)}))"
            before = f"(SELECT * REPLACE ({_renamed(release, out)} AS category) FROM {csv_table(old)})"
            return _number(
                connection,
                f"""SELECT count(*)
                FROM {before} AS o FULL JOIN {new} AS n USING (date, place_id, category, query_type, query)
                WHERE date IN (SELECT date FROM {before}) AND (o.rank IS NULL OR n.rank IS NULL OR NOT ({same}))""",
            )
    except duckdb.Error:
        raise InputError(f"{old}: cannot be read as the top searches of this dataset; move it away") from None


def _published_table(release: Release, out: Path) -> Path | None:
    """Return the CSV file of top searches that a folder has; it may be named after an earlier name of the dataset."""
    path = published_lines(out) or out / f"{stem_of(release)}.csv"
    return path if path.exists() else None


def _renamed(release: Release, out: Path) -> str:
    """Write the SQL of a published category by its present name: a trend is known by its id."""
    now = {trend.id: trend.name for trend in release.columns}
    pairs = [(name, now[key]) for key, name in published_trends(out).items() if now.get(key, name) != name]
    cases = " ".join(f"WHEN {literal(old)} THEN {literal(new)}" for old, new in pairs)
    return f"CASE category {cases} ELSE category END" if cases else "category"


def _number(connection: "duckdb.DuckDBPyConnection", sql: str) -> int:
    return int(connection.execute(sql).fetchall()[0][0])


def texts_not_yet_published(release: Release, out: Path) -> list[str]:
    """Return the texts of the release's lines that a published folder does not show, the most searched first."""
    lines = release.top_searches
    if lines is None:
        return []
    known: set[str] = set()
    if old := _published_table(release, out):
        with public_tables() as connection:
            sql = f"SELECT DISTINCT members FROM {csv_table(old)} WHERE members IS NOT NULL"
            rows = connection.execute(sql).fetchall()
        known = {text for (members,) in rows for text in members.split(SEPARATOR)}
    order = np.argsort(-lines.value, kind="stable")
    found = dict.fromkeys(text for members in lines.members[order] for text in members)
    return [text for text in found if text not in known]


def line_fields(release: Release, in_parquet: bool) -> list[dict[str, Any]]:
    """Return the description of the columns that say what a line is, for `datapackage.json`."""
    spec = release.coverage.spec
    percent = f"{spec.reliability.confidence:.0%}"
    interval = f"end of the {percent} interval"
    texts = {
        "category": "The name of the trend whose topics the list is about.",
        "query_type": f"{TOP}: the most searched texts of the week. {RISING}: those whose share of the category grew "
        "since the week before, beyond noise and chance; of these up to about 1 in 10 did not grow. At most "
        f"{MOST_LINES} lines each.",
        "rank": "The place in the list, from 1. Top: by the noisy count. Rising: by the least growth, change_low.",
        "query": "The text, without case and punctuation: of the texts of this line, the most searched in the "
        f"{spec.total.level}.",
        "members": "All texts of this line, which have the same words in another order or form"
        + (", as a list." if in_parquet else f", with {SEPARATOR!r} between them."),
        "value": "In percent: the users who searched for this, each once a week, divided by the user-days with a "
        "search of the category, in this region and week. A user-day counts in one text, so values add up to less than "
        "100.",
        "value_low": f"The lower {interval} of value for the noise.",
        "value_high": f"The upper {interval} of value for the noise.",
        "change": "In percent: how much the share of the category grew since the week before, of texts that have a "
        "count in both weeks; 50 is half as much again. Empty if it is not known.",
        "change_low": f"The lower {interval} of change, for noise and chance; of a new line, its least growth.",
        "change_high": f"The upper {interval} of change; empty if nothing limits it.",
        "is_new": "Whether none of its texts was shown before this week, though the week before has lists.",
    }
    # Frictionless has no type for a list of a Parquet file: its `array` is JSON, as text.
    kinds = {"rank": "integer", "is_new": "boolean", "members": "any" if in_parquet else "string"}
    kinds |= dict.fromkeys(_NUMBERS, "number")
    return [{"name": name, "type": kinds.get(name, "string"), "description": texts[name]} for name in _LINE]


def top_searches_json(release: Release) -> dict[str, Any] | None:
    """Return what the statement says of top searches; None if no spec of the release has them.

    The numbers are those of the latest edition that has them; those of earlier ones that differ are there too.
    """
    rules = [(_rules(top), span) for span in release.spans if (top := span.coverage.spec.top_searches) is not None]
    if not rules:
        return None
    present = rules[-1][0]
    weeks = [entry for entry in release.entries if entry.top_searches]
    of_weeks = {entry.week for entry in weeks}
    earlier = [
        {"first_week": min(shown).isoformat(), "last_week": max(shown).isoformat(), **rule}
        for rule, span in rules
        if rule != present and (shown := of_weeks.intersection(span.weeks))
    ]
    blocklist = release.blocklist or Blocklist()
    return {
        "weeks": len(weeks),
        "weeks_without": len(release.entries) - len(weeks),
        "texts": release.shown_texts,
        **present,
        **({"earlier": earlier} if earlier else {}),
        "total_level": release.coverage.spec.total.level,
        "region_level": release.coverage.spec.total.sum_of,
        "vocabularies": sorted({entry.vocabulary for entry in weeks}),
        "blocklist": {"entries": len(blocklist.entries), "fingerprint": blocklist.fingerprint},
    }


def _rules(top: TopSearches) -> dict[str, Any]:
    """Return the numbers that decide what is shown."""
    from search_insights.dp.top_searches import chance_of_showing

    return {
        "min_users": top.min_users,
        "total_sigma": top.total_sigma,
        "total_threshold": top.total_threshold,
        "region_sigma": top.region_sigma,
        "region_shown_from": top.region_shown_from,
        "chance_of_showing": float(f"{chance_of_showing(top):.2g}"),
    }
