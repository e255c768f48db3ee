"""Contribution bounding, X1 to X4 (Section 3.1): what sql/bounding.sql is fed with, and what is taken from it.

The rule itself is in the SQL file, to be reviewed there.
"""

import hashlib
from datetime import date
from importlib import resources

from search_insights.quoting import literal
from search_insights.region_names import CLASS_BITS, NO_TOPIC, NUMBER_BITS
from search_insights.spec import Spec

# The bits of a lot that are random.
_RANDOM_BITS = NO_TOPIC - (1 << (NUMBER_BITS + CLASS_BITS))
_NUMBER = (1 << NUMBER_BITS) - 1

# What `events.category` holds for a word that the spec does not know; such a log is refused.
UNKNOWN_CATEGORY = 255


def events_sql(spec: Spec, day: date, condition: str, *, queries: bool = False) -> str:
    """Write the query that gives each usable event of a day its category's number and its lot.

    The number comes from the log's category or, where the log has `queries`, from the table `topics`.

    The lot is a hash of the user, the time and a key, so that running again draws the same events. The key is no
    secret: whoever knows it, what is drawn from one user's events depends on that user's events alone. The hash of
    several columns only combines their hashes; it is hashed once more, or draws would not be fair.
    """
    key = int.from_bytes(hashlib.sha256(f"{spec.fingerprint} {day}".encode()).digest()[:7])
    return f"""
        CREATE OR REPLACE TEMP TABLE events AS
        SELECT user_id, category,
               (hash(xor(hash(user_id, timestamp), {key}::UBIGINT)) & {_RANDOM_BITS}::UBIGINT)
                   | CASE WHEN category = 0 THEN {NO_TOPIC}::UBIGINT ELSE 0::UBIGINT END
                   | ticket AS lot
        FROM ({_named_by_query(condition) if queries else _named_by_log(spec, condition)}) AS log
        JOIN names ON names.name = log.region
        WHERE user_id IS NOT NULL"""


def bounding_sql() -> str:
    """Read the definition of the bounding: from `events` to `contributions`."""
    sql = (resources.files("search_insights") / "sql" / "bounding.sql").read_text(encoding="utf-8")
    if f">> {NUMBER_BITS}) & {(1 << CLASS_BITS) - 1} " not in sql:
        raise RuntimeError("sql/bounding.sql reads lots in another layout than they are written in")
    return sql


def sums_sql() -> str:
    """Write the query that adds the contributions up; nothing about a single user leaves it."""
    sums = f"""
        SELECT category::BIGINT AS category,
               (open_lot & {_NUMBER})::BIGINT AS open_region,
               coalesce((classed_lot & {_NUMBER})::BIGINT, -1) AS classed_region,
               count(*) AS user_days
        FROM contributions WHERE {{}} GROUP BY ALL"""
    # Apart, because any search is most of them, and is added up faster when nothing else is in the way.
    return f"{sums.format('category = 0')} UNION ALL {sums.format('category > 0')}"


def _named_by_log(spec: Spec, condition: str) -> str:
    return f"SELECT * REPLACE ({_category_number(spec)} AS category) FROM log WHERE {condition}"


def _named_by_query(condition: str) -> str:
    """Join what the classifier named: `topics` holds the texts that have a topic, each once."""
    return f"""SELECT log.* REPLACE (coalesce(topics.category, 0)::UTINYINT AS category)
               FROM log LEFT JOIN topics ON topics.query = log.query WHERE {condition}"""


def _category_number(spec: Spec) -> str:
    """Write the expression that numbers an event's topic, given by the id or name of a category."""
    words = {word: number for number, c in enumerate(spec.categories) for word in (c.id, c.name)}
    whens = " ".join(f"WHEN {literal(word)} THEN {number}" for word, number in ({"": 0} | words).items())
    # Most searches have no category: so written, they pass without a comparison.
    return f"CASE WHEN category IS NULL THEN 0 ELSE CASE category {whens} ELSE {UNKNOWN_CATEGORY} END END::UTINYINT"
