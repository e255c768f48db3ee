"""Contribution bounding, X1 to X4 (Section 3.1): what sql/bounding.sql is fed with, and what is taken from it.

The rule itself is in the SQL file, to be reviewed there.
"""

import hashlib
from datetime import date
from importlib import resources

from search_insights.log import literal
from search_insights.region_names import CLASS_BITS, NUMBER_BITS
from search_insights.spec import Spec

# The bits of a lot that are random: above number and class, below the one that puts events without a class last.
_RANDOM_BITS = (1 << 63) - (1 << (NUMBER_BITS + CLASS_BITS))
_NUMBER = (1 << NUMBER_BITS) - 1


def events_sql(spec: Spec, day: date, condition: str) -> str:
    """Write the query that gives each usable event of a day its category's number and its lot.

    The lot is a hash of the user, the time and a key, so that running again draws the same events. The key is no
    secret: whoever knows it, what is drawn from one user's events depends on that user's events alone. The hash of
    several columns only combines their hashes; it is hashed once more, or draws would not be fair.
    """
    key = int.from_bytes(hashlib.sha256(f"{spec.fingerprint} {day}".encode()).digest()[:7])
    return f"""
        CREATE OR REPLACE TEMP TABLE events AS
        SELECT user_id, {_category_number(spec)} AS category,
               (hash(xor(hash(user_id, timestamp), {key}::UBIGINT)) & {_RANDOM_BITS}::UBIGINT) | ticket AS lot
        FROM log JOIN names ON names.name = log.region
        WHERE user_id IS NOT NULL AND {condition}"""


def bounding_sql() -> str:
    """Read the definition of the bounding: from `events` to `contributions`."""
    return (resources.files("search_insights") / "sql" / "bounding.sql").read_text(encoding="utf-8")


def sums_sql() -> str:
    """Write the query that adds the contributions up; nothing about a single user leaves it."""
    return f"""
        SELECT category::BIGINT AS category,
               (open_lot & {_NUMBER})::BIGINT AS open_region,
               coalesce((classed_lot & {_NUMBER})::BIGINT, -1) AS classed_region,
               count(*) AS user_days
        FROM contributions GROUP BY ALL"""


def category_words(spec: Spec) -> dict[str, int]:
    """Number the categories by the words that a log may use for them: id or name."""
    return {word: number for number, c in enumerate(spec.categories) for word in (c.id, c.name)}


def _category_number(spec: Spec) -> str:
    """Write the expression that numbers an event's topic; words that are not known were refused before."""
    whens = " ".join(f"WHEN {literal(word)} THEN {n}" for word, n in category_words(spec).items() if n > 0)
    # Most searches have no category: so written, they pass without a comparison.
    return f"CASE WHEN category IS NULL THEN 0 ELSE CASE category {whens} ELSE 0 END END::UTINYINT"
