"""Contribution bounding, X1 to X4 (Section 3.1): the queries that feed bounding.sql, sum its result and
count the rows that are not used.

The rule itself is in the SQL file, to be reviewed there. Everything is the same for every engine, except the hash.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib import resources
from typing import Any

from search_insights.classifier.topics import part_read
from search_insights.private.engine import Contributions, Unplaced
from search_insights.private.region_names import (
    CLASS_BITS,
    CLASS_MASK,
    NO_CLASS,
    NO_TOPIC,
    UNREPORTED,
    NameColumn,
    RegionNames,
)
from search_insights.spec.spec import Spec
from search_insights.support.sql import literal

# The category number of an event whose category the spec does not know; such a log is refused.
UNKNOWN_CATEGORY = 1 << 30

# What a row that is not used has in place of a category: it names no region, the country only, or an unknown region.
_NO_REGION, _COUNTRY_ONLY, _UNKNOWN_REGION = -1, -2, -3

# The events of a day: those of its rows that are used. Nothing that bounds or counts texts sees the others.
EVENTS_VIEW = "CREATE OR REPLACE TEMP VIEW events AS SELECT * FROM rows_of_day WHERE category >= 0"


def rows_query(
    spec: Spec,
    names: RegionNames,
    day: date,
    condition: str,
    random: Callable[[int, int], str],
    *,
    queries: bool,
    texts: bool = False,
) -> str:
    """Return the query for `rows_of_day`: each row of a day that has a user, with its category number and its draw.

    A row whose region counts at no level is not used. It is only counted (`row_counts_query`), and has a number below 0
    that says why; to look for such rows afterwards would mean to read the log again.

    The number comes from the log's category or, if the log has `queries`, from the table `topics`. Where a user-day has
    one place, it is a bit instead, so that the topics of a user-day add up to one number. With `texts`, `topics` also
    has the text that an event may count in (top_searches.sql), and `rows_of_day` gets it.

    The draw is a hash of the user, the time and a key, so that a rerun draws the same events. The key is not a secret:
    even if it is known, what is drawn from one user's events depends on that user's events alone.

    `random(key, mask)` returns the engine's SQL for the hash of user_id, timestamp and key, cut to the mask's bits.
    """
    key = int.from_bytes(hashlib.sha256(f"{spec.fingerprint} {day}".encode()).digest()[:7])
    columns = ", ".join(column.log_column for column in names.columns)
    text = ", text" if texts else ""
    log = _classified_log(spec, columns, condition, text) if queries else _categorized_log(spec, columns, condition)
    # Random bits before the join with names: fewer columns then pass it.
    no_topic = f"CASE WHEN category = 0 THEN CAST({NO_TOPIC} AS BIGINT) ELSE CAST(0 AS BIGINT) END"
    random_bits = random(key, NO_TOPIC - (1 << (names.place_bits + CLASS_BITS)))
    drawn = f"""
            SELECT user_id, {columns}, category{text}, {random_bits} | {no_topic} AS random_bits
            FROM ({log}) AS given WHERE user_id IS NOT NULL"""
    return f"""
        SELECT user_id, {_category_or_reason(names)} AS category{text}, random_bits | {_place(names)} AS draw
        FROM ({_placed(names, drawn, text)}) AS placed"""


def _category_or_reason(names: RegionNames) -> str:
    """Return the SQL for the category of a row that is used, or the reason why it is not."""
    # As hexadecimal digits, because engines differ in how they read a backslash in a literal.
    of_country = ", ".join(literal(name.encode("utf-8").hex().upper()) for name in names.country)
    return f"""CAST(CASE
                WHEN is_known THEN category
                WHEN region IS NULL THEN {_NO_REGION}
                WHEN hex(region) IN ({of_country}) THEN {_COUNTRY_ONLY}
                ELSE {_UNKNOWN_REGION} END AS INTEGER)"""


def _placed(names: RegionNames, log: str, text: str) -> str:
    """Return the query that adds the bits of their regions to rows: a row `is_known` if one of its regions is.

    Where a log has columns of levels, they are put together from the coarsest on.
    """
    tables = [column.table for column in names.columns]
    joined = f"/*+ BROADCAST({', '.join(tables)}) */ user_id, category{text}, random_bits"
    if not names.by_level:
        return f"""
            SELECT {joined}, region, names.bits AS bits, names.bits IS NOT NULL AS is_known
            FROM ({log}) AS log {_joins(names)}"""
    known = " | ".join(f"coalesce({table}.bits, 0)" for table in tables)
    bits = ", ".join(f"{_bits(column)} AS bits_{i}" for i, column in enumerate(names.columns))
    region = f"coalesce({', '.join(column.log_column for column in names.columns)})"
    query = f"""
            SELECT {joined}, {region} AS region, {bits}, (({known}) & {UNREPORTED - 1}) > 0 AS is_known
            FROM ({log}) AS log {_joins(names)}"""
    before = "bits_0"
    for i, column in enumerate(names.columns[1:], start=1):
        coarser = any(other.has_classes for other in names.columns[:i])
        added = _added(before, f"bits_{i}", column) if coarser and column.has_classes else f"{before} | bits_{i}"
        query = f"""
            SELECT *, {added} AS place_{i} FROM ({query}) AS to_{i}"""
        before = f"place_{i}"
    return query


def _bits(column: NameColumn) -> str:
    """Return the SQL for the bits of a column of a level; a name that is not in the table means no region."""
    no_region = column.no_region << (column.shift + CLASS_BITS) | column.unreported
    return f"coalesce({column.table}.bits, CAST({no_region} AS BIGINT))"


def _added(place: str, bits: str, column: NameColumn) -> str:
    """Return the SQL that adds a finer region to a place. X4: a region of another class than the place's is left out.

    Nearly always they have the same class, so this is asked first.
    """
    return f"""CASE
                WHEN ({bits} & {CLASS_MASK}) = ({place} & {CLASS_MASK}) THEN {place} | {bits}
                WHEN ({bits} & {CLASS_MASK}) = 0 OR ({place} & {CLASS_MASK}) = 0 THEN {place} | {bits}
                ELSE {place} | CAST({column.unreported} AS BIGINT) END"""


def _place(names: RegionNames) -> str:
    """Return the SQL for the place of a draw, with its size class."""
    if not names.by_level:
        return "bits"
    last = len(names.columns) - 1
    place = f"place_{last}" if last else "bits_0"
    return f"CASE WHEN ({place} & {CLASS_MASK}) = 0 THEN {place} | CAST({NO_CLASS} AS BIGINT) ELSE {place} END"


def _joins(names: RegionNames) -> str:
    """Return the joins of `log` with the tables of its names; in those of levels, no name has a row of its own."""
    same = "IS NOT DISTINCT FROM" if names.by_level else "="
    return " ".join(f"LEFT JOIN {c.table} ON {c.table}.name {same} log.{c.log_column}" for c in names.columns)


def bounding_statements(spec: Spec) -> list[str]:
    """Return the statements that lead from `events` to `contributions`, from the file of the spec's rule."""
    name = "one_place.sql" if spec.has_one_place else "bounding.sql"
    sql = (resources.files("search_insights.private") / name).read_text(encoding="utf-8")
    layout = (f"draw & {CLASS_MASK} ", f"draw & {2 * NO_CLASS - 1 - UNREPORTED})")
    if not spec.has_one_place and not all(part in sql for part in layout):
        raise RuntimeError(f"{name} reads draws in another layout than they are written in")
    return statements_of(sql)


def statements_of(sql: str) -> list[str]:
    """Return the statements of a text of SQL, without comments; each ends at a semicolon."""
    code = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    return [statement for statement in code.split(";") if statement.strip()]


def row_counts_query(names: RegionNames, *, knows_size: bool) -> str:
    """Return the query that counts the rows of a day: all of them, those that are not events, those of unknown
    categories, those that are not used, by reason, and for each column the events with a name that means no region.

    Nearly all rows are none of these. An engine that `knows_size` tells the number of all rows without reading them,
    and looks for the others alone.
    """
    no_event = "(category >= 0) IS NOT TRUE"  # what the view `events` leaves out
    no_region = [
        f"category >= 0 AND (draw >> {c.shift + CLASS_BITS}) & {c.mask} = {c.no_region}" for c in names.columns
    ]
    numbers = (UNKNOWN_CATEGORY, _NO_REGION, _COUNTRY_ONLY, _UNKNOWN_REGION)
    conditions = [no_event, *(f"category = {number}" for number in numbers), *no_region]
    counts = ", ".join(f"count(*) FILTER (WHERE {each})" for each in conditions)
    if not knows_size:
        return f"SELECT count(*), {counts} FROM rows_of_day"
    looked_for = " OR ".join((no_event, f"category = {UNKNOWN_CATEGORY}", *(f"({each})" for each in no_region)))
    return f"SELECT (SELECT count(*) FROM rows_of_day), {counts} FROM rows_of_day WHERE {looked_for}"


def contributions_of(counts: Sequence[int], sums: Mapping[str, Any]) -> Contributions:
    """Return the contributions of a day from the numbers of `row_counts_query` and the columns of `sums_query`."""
    rows, no_event, unknown_category, no_region, country_only, unknown_region, *no_region_of_columns = counts
    return Contributions(
        events=rows - no_event,
        unknown_category=unknown_category,
        unplaced=Unplaced(no_region, country_only, unknown_region),
        no_region=tuple(no_region_of_columns),
        categories=sums["category"],
        open_places=sums["open_place"],
        classed_places=sums["classed_place"],
        finest_places=sums["finest_place"],
        user_days=sums["user_days"],
    )


def sums_query(spec: Spec, names: RegionNames, contributions: str = "contributions") -> str:
    """Return the query that adds up contributions; nothing about a single user leaves it.

    Contributions are grouped by their bits of class and place as they are; what remains of them is read afterwards.
    """
    bits = (1 << (names.place_bits + CLASS_BITS)) - 1
    if spec.has_one_place:
        return f"""
        SELECT CAST(topics AS BIGINT) AS category, bits >> {CLASS_BITS} AS open_place,
               -1 AS classed_place, -1 AS finest_place, user_days
        FROM (SELECT topics, draw & {bits} AS bits, count(*) AS user_days FROM {contributions} GROUP BY ALL) AS sums"""
    parts = ("open", "classed", "finest")
    keys = ", ".join(f"{part}_draw & {bits} AS {part}_bits" for part in parts)
    places = ", ".join(f"coalesce({part}_bits >> {CLASS_BITS}, -1) AS {part}_place" for part in parts)
    return f"""
        SELECT CAST(category AS BIGINT) AS category, {places}, user_days
        FROM (SELECT category, {keys}, count(*) AS user_days FROM {contributions} GROUP BY ALL) AS sums"""


def _categorized_log(spec: Spec, columns: str, condition: str) -> str:
    return f"SELECT user_id, timestamp, {columns}, {_category_number(spec)} AS category FROM log WHERE {condition}"


def _classified_log(spec: Spec, columns: str, condition: str, text: str) -> str:
    """Join the result of the classifier: `topics` holds what was read of the texts that have a topic, each once.

    Texts are cut to that part before they are joined, because a join may have to hold them.
    """
    return f"""
            SELECT user_id, timestamp, {columns}, {_topic_number(spec)} AS category{text}
            FROM (
                SELECT user_id, timestamp, {columns}, {part_read("query")} AS part FROM log WHERE {condition}
            ) LEFT JOIN topics ON topics.query = part"""


def _category_number(spec: Spec) -> str:
    """Return the expression for an event's category number; the log has the id or the name of the category."""
    numbers = {"": 0} | {word: _number(spec, number) for word, number in spec.category_numbers.items()}
    whens = " ".join(f"WHEN {literal(word)} THEN {number}" for word, number in numbers.items())
    # Most searches have no category: written this way, they pass without a comparison.
    chosen = f"CASE WHEN category IS NULL THEN 0 ELSE CASE category {whens} ELSE {UNKNOWN_CATEGORY} END END"
    return f"CAST({chosen} AS INTEGER)"


def _topic_number(spec: Spec) -> str:
    """Return the expression for the category number of a text that the classifier has read."""
    whens = " ".join(f"WHEN {number} THEN {_number(spec, number)}" for number in range(1, len(spec.categories)))
    return f"CAST(CASE topics.category {whens} ELSE 0 END AS INTEGER)"


def _number(spec: Spec, category: int) -> int:
    """Return the number of a category in `events`: where a user-day has one place, the bit of a topic."""
    return 1 << (category - 1) if spec.has_one_place and category else category
