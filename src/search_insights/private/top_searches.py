"""Counting the texts of a week: the exact numbers of users, which are private until noise is added.

The rule itself is in top_searches.sql, to be reviewed there. An engine keeps the texts of a week's days, at most one
for each user-day, in its private database. Of these, only texts leave it that are public already or have as many users
as the floor demands; what is shown of them is decided after the noise (dp/top_searches.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from search_insights.classifier.vocabulary import Vocabulary
from search_insights.classifier.vocabulary_file import read_vocabulary
from search_insights.errors import InputError
from search_insights.private.bounding import statements_of
from search_insights.private.engine import Engine
from search_insights.private.region_names import CLASS_BITS, RegionNames
from search_insights.spec.cells import CellList
from search_insights.spec.top_searches import TopSearches
from search_insights.support.arrays import Counts, Numbers

_WEEK, _REGIONS = "-- The week\n", "-- The regions\n"


@dataclass(frozen=True)
class TextCounts:
    """How many users searched for each text in a week, exactly: in all, and in regions of the coarsest level. Private.

    `texts` are in alphabetical order, all public ones among them, also those that nobody searched for. `categories` are
    the numbers of their topics. `text`, `region` and `users_there` have one entry for each text and region with users:
    the index of the text, and that of the region among those of the coarsest level.
    """

    texts: tuple[str, ...]
    categories: Numbers
    users: Counts
    text: Numbers
    region: Numbers
    users_there: Counts


def vocabulary_for(top: TopSearches) -> Vocabulary:
    """Return the public vocabulary that a spec names; refuse another than the one that it fixes."""
    vocabulary = read_vocabulary(top.vocabulary)
    if top.vocabulary_fingerprint not in (None, vocabulary.fingerprint):
        raise InputError(
            f"{top.vocabulary}: not the vocabulary of the spec: its fingerprint is {vocabulary.fingerprint}, "
            f"vocabulary_fingerprint in [top_searches] is {top.vocabulary_fingerprint}"
        )
    return vocabulary


def day_statements(draw_and_text: str) -> list[str]:
    """Return the statements that lead from the `events` of a day to `day_texts`.

    `draw_and_text` is the engine's SQL for a draw and a text as one value.
    """
    text_events = f"""
        CREATE OR REPLACE TEMP VIEW text_events AS
        SELECT user_id, draw, text, {draw_and_text} AS draw_and_text FROM events WHERE text IS NOT NULL"""
    return [text_events, *statements_of(_sql().split(_WEEK)[0])]


def day_texts_query(names: RegionNames) -> str:
    """Return the query of what is kept of a day until the end of the week."""
    return f"SELECT user_id, text, (draw >> {CLASS_BITS}) & {(1 << names.place_bits) - 1} AS place FROM day_texts"


def count_texts(
    engine: Engine, cells: CellList, names: RegionNames, top: TopSearches, known: Sequence[str]
) -> TextCounts:
    """Count the texts that the engine kept of a week; `known` is the public list of texts that were shown before."""
    places = engine.arrays("SELECT DISTINCT place FROM week_texts")["place"].astype(np.int64)
    engine.give("text_places", {"place": places, "region": _regions(cells, names, places)})
    engine.give_texts("known_texts", sorted(set(known)))
    engine.give("text_floor", {"min_users": np.array([top.min_users])})
    of_week, of_regions = _sql().split(_WEEK)[1].split(_REGIONS)
    _run(engine, of_week)
    if engine.model is None:
        raise RuntimeError("a log of categories has no texts")
    users = dict.fromkeys(known, 0) | engine.candidates()
    texts = tuple(sorted(users))
    engine.give_texts("counted_texts", texts)
    _run(engine, of_regions)
    found = engine.arrays("SELECT number, region, users FROM region_users")
    return TextCounts(
        texts,
        engine.model.classify(texts).astype(np.int64),
        np.array([users[text] for text in texts], dtype=np.int64),
        found["number"].astype(np.int64),
        found["region"].astype(np.int64),
        found["users"].astype(np.int64),
    )


def _run(engine: Engine, sql: str) -> None:
    for statement in statements_of(sql):
        engine.run(statement)


def _regions(cells: CellList, names: RegionNames, places: Numbers) -> Numbers:
    """Return the region of the coarsest level in which each place lies, as its index there; -1 for none."""
    level = cells.coverage.spec.total.sum_of
    first_cells = cells.first_cells({level: names.regions_for(level, places)})[level]
    index = np.full(len(cells.nodes) + 1, -1, dtype=np.int64)  # the last is that of no node
    index[cells.coarsest] = np.arange(cells.coarsest.size)
    return index[np.where(first_cells < 0, -1, first_cells // len(cells.coverage.spec.measures))]


def _sql() -> str:
    return (resources.files("search_insights.private") / "top_searches.sql").read_text(encoding="utf-8")
