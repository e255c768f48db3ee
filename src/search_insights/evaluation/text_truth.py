"""The true numbers of people who typed each text of a simulated log, for evaluation only. Private.

It is counted from the log and from the categories that its texts were drawn from, so no classifier has a part in it.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from search_insights.simulation.files import PRIVATE, log_region_names
from search_insights.simulation.truth import IDENTITY, truth_identity
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.support.files import private_files, replacing_file
from search_insights.support.plain_text import plain_texts
from search_insights.support.sql import connect, literal

_SUFFIX = "_texts.parquet"


def text_truth_path(truth: Path) -> Path:
    """Return the file of the texts that belongs to a truth."""
    return truth.with_name(truth.stem + _SUFFIX)


def write_text_truth(truth: Path, log: Path, named: Path, weeks: Sequence[Week], coverage: Coverage) -> Path:
    """Write how many people typed each text of a topic in each week, in the country and in each coarse region.

    A ZIP that extends into several states counts in its own state, wherever the person was.
    `named` has the same events as `log`, in the same order, with categories. The columns are `week`, `place_id`,
    `category`, `query`, which is normalised, and `users`.
    """
    path = text_truth_path(truth)
    with connect() as connection:
        connection.register("places", _coarse_regions(coverage))
        connection.execute("""
            CREATE TABLE events (week DATE, user_id BIGINT, country TEXT, place_id TEXT, category TEXT, typed TEXT)""")
        for week in weeks:
            for day in week.days:
                connection.execute(_searches_of_topics(log / f"{day}.parquet", named / f"{day}.parquet", week))
        raw = [text for (text,) in connection.execute("SELECT DISTINCT typed FROM events").fetchall()]
        plain = {"raw": np.array(raw, dtype=object), "query": np.array(plain_texts(raw), dtype=object)}
        connection.register("plain", plain)
        with replacing_file(path) as draft, private_files():
            connection.execute(_people_of_texts(draft, json.dumps(truth_identity(truth))))
    return path


def _searches_of_topics(log: Path, named: Path, week: Week) -> str:
    """Return the SQL that adds the events of a day that have a topic."""
    return f"""
        INSERT INTO events SELECT DATE '{week}', user_id, country, place_id, category, query
        FROM (SELECT l.user_id, l.region, l.query, n.category
              FROM {literal(str(log))} AS l POSITIONAL JOIN {literal(str(named))} AS n)
        JOIN places USING (region) WHERE category IS NOT NULL"""


def _people_of_texts(draft: Path, identity: str) -> str:
    """Return the SQL that counts people, in the country and in each region, and writes the file."""
    return f"""
        COPY (SELECT week, place_id, category, plain.query, count(DISTINCT user_id) AS users
              FROM (SELECT * EXCLUDE (country, place_id), unnest([country, place_id]) AS place_id FROM events)
              JOIN plain ON typed = raw GROUP BY ALL ORDER BY ALL)
        TO {literal(str(draft))} (FORMAT parquet, COMPRESSION zstd,
            KV_METADATA {{notice: {literal(PRIVATE)}, {IDENTITY}: {literal(identity)}}})"""


def _coarse_regions(coverage: Coverage) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """Return, for each region as the log writes it, the country and the region of the coarsest level that has it."""
    geography = coverage.geography
    coarse: dict[str, str | None] = {}
    for region in geography.regions:  # parents come before their children
        top = region.level == geography.levels[1]
        coarse[region.place_id] = region.place_id if top else coarse.get(region.parent or "")
    names = log_region_names(coverage)
    return {
        "region": np.array(names, dtype=object),
        "country": np.full(len(names), geography.country.place_id, dtype=object),
        "place_id": np.array(list(coarse.values()), dtype=object),
    }
