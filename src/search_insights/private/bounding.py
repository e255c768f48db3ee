"""Contribution bounding, X1 to X4 (Section 3.1): the query that feeds bounding.sql, and the one that sums its result.

The rule itself is in the SQL file, to be reviewed there. Everything is the same for every engine, except the hash.
"""

import hashlib
from collections.abc import Callable
from datetime import date
from importlib import resources

from search_insights.classifier.topics import part_read
from search_insights.private.region_names import CLASS_BITS, NO_TOPIC, NUMBER_BITS, RegionNames
from search_insights.spec.spec import Spec
from search_insights.support.sql import literal

# The random bits of a draw.
_RANDOM_BITS = NO_TOPIC - (1 << (NUMBER_BITS + CLASS_BITS))
_NUMBER_MASK = (1 << NUMBER_BITS) - 1

# The category number of an event whose category the spec does not know; such a log is refused.
UNKNOWN_CATEGORY = 255


def events_query(spec: Spec, day: date, condition: str, random: Callable[[int, int], str], *, queries: bool) -> str:
    """Return the query that gives each usable event of a day its category number and its draw.

    The number comes from the log's category or, if the log has `queries`, from the table `topics`.

    The draw is a hash of the user, the time and a key, so that a rerun draws the same events. The key is not a secret:
    even if it is known, what is drawn from one user's events depends on that user's events alone.

    `random(key, mask)` returns the engine's SQL for the hash of user_id, timestamp and key, cut to the mask's bits.
    """
    key = int.from_bytes(hashlib.sha256(f"{spec.fingerprint} {day}".encode()).digest()[:7])
    return f"""
        SELECT /*+ BROADCAST(names) */ user_id, category,
               {random(key, _RANDOM_BITS)}
                   | CASE WHEN category = 0 THEN CAST({NO_TOPIC} AS BIGINT) ELSE CAST(0 AS BIGINT) END
                   | region_bits AS draw
        FROM ({_classified_log(condition) if queries else _categorized_log(spec, condition)}) AS log
        JOIN names ON names.name = log.region
        WHERE user_id IS NOT NULL"""


def bounding_statements() -> list[str]:
    """Return the statements of bounding.sql, which lead from `events` to `contributions`."""
    sql = (resources.files("search_insights.private") / "bounding.sql").read_text(encoding="utf-8")
    if f">> {NUMBER_BITS}) & {(1 << CLASS_BITS) - 1} " not in sql:
        raise RuntimeError("bounding.sql reads draws in another layout than they are written in")
    code = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    return [statement for statement in code.split(";") if statement.strip()]


def event_counts_query(names: RegionNames) -> str:
    """Return the query that counts the events: all, those of unknown categories, and those with an ambiguous code."""
    ambiguous = f"draw & {_NUMBER_MASK} = {names.ambiguous}"
    return f"""
        SELECT count(*), count(*) FILTER (WHERE category = {UNKNOWN_CATEGORY}),
               {f"count(*) FILTER (WHERE {ambiguous})" if names.sharing else 0}
        FROM events"""


def sums_query(condition: str = "TRUE") -> str:
    """Return the query that adds up the contributions; nothing about a single user leaves it."""
    return f"""
        SELECT CAST(category AS BIGINT) AS category,
               open_draw & {_NUMBER_MASK} AS open_region,
               coalesce(classed_draw & {_NUMBER_MASK}, -1) AS classed_region,
               count(*) AS user_days
        FROM contributions WHERE {condition} GROUP BY ALL"""


def _categorized_log(spec: Spec, condition: str) -> str:
    return f"SELECT user_id, timestamp, region, {_category_number(spec)} AS category FROM log WHERE {condition}"


def _classified_log(condition: str) -> str:
    """Join the result of the classifier: `topics` holds what was read of the texts that have a topic, each once.

    Texts are cut to that part before they are joined, because a join may have to hold them.
    """
    return f"""
            SELECT user_id, timestamp, region, CAST(coalesce(topics.category, 0) AS SMALLINT) AS category
            FROM (
                SELECT user_id, timestamp, region, {part_read("query")} AS part FROM log WHERE {condition}
            ) LEFT JOIN topics ON topics.query = part"""


def _category_number(spec: Spec) -> str:
    """Return the expression for an event's category number; the log has the id or the name of the category."""
    numbers = {"": 0} | spec.category_numbers
    whens = " ".join(f"WHEN {literal(word)} THEN {number}" for word, number in numbers.items())
    # Most searches have no category: written this way, they pass without a comparison.
    chosen = f"CASE WHEN category IS NULL THEN 0 ELSE CASE category {whens} ELSE {UNKNOWN_CATEGORY} END END"
    return f"CAST({chosen} AS SMALLINT)"
