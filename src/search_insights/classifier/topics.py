"""Classify the texts of a database: the table `topics` holds those that have a topic.

The model sees distinct texts and nothing else: not whose they are, not how often they occur. Of each it sees the part
that it reads, `part_read`. That part is a function of the text alone, so nobody's long text changes what becomes of
another's, and it bounds the memory that texts take, whatever a log holds. Texts stay in the database: a batch at a time
comes to the model, and what has a topic goes back.

With a vocabulary, each text with a topic also gets the text that it counts in among top searches: itself, normalised,
if it is made of public words and still has a topic.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from search_insights.classifier.features import MAX_CHARACTERS
from search_insights.classifier.model import Classifier
from search_insights.classifier.vocabulary import Vocabulary, normalised_texts

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 14  # texts; at four bytes a character, 20 MB at most


def part_read(column: str) -> str:
    """Return the SQL, for every engine, of the part of a text that is read: its first characters.

    A text of so few bytes has no more characters. Nearly all are that short, and only the others are counted through.
    """
    short = f"bit_length({column}) <= {8 * MAX_CHARACTERS}"
    return f"CASE WHEN {short} THEN {column} ELSE left({column}, {MAX_CHARACTERS}) END"


def distinct_texts(texts_query: str) -> str:
    """Return the query, for every engine, of the distinct texts in the column `query`, each as far as it is read."""
    part = part_read("given.query")
    return f"SELECT DISTINCT {part} AS query FROM ({texts_query}) AS given WHERE given.query IS NOT NULL"


def countable_texts(classifier: Classifier, vocabulary: Vocabulary, texts: Sequence[str]) -> list[str | None]:
    """Return the text that each of some texts with a topic counts in, or None.

    It is classified as it is counted: its topic is a function of the counted text, not of how somebody typed it. Of one
    that was typed in ASCII the topic is known already: the classifier reads the same words in both. Other letters may
    become different ones when they are normalised.
    """
    normal = normalised_texts(texts)
    counted = vocabulary.allows(normal)
    other = [i for i in np.flatnonzero(counted).tolist() if not texts[i].isascii()]
    counted[other] = classifier.classify([normal[i] for i in other]) > 0
    return [text if counts else None for text, counts in zip(normal, counted.tolist(), strict=True)]


def create_topics_table(
    connection: "duckdb.DuckDBPyConnection",
    classifier: Classifier,
    texts_query: str,
    vocabulary: Vocabulary | None = None,
) -> None:
    """Create the table `topics` with the columns `query`, the part that was read, and `category`, a number above 0.

    `texts_query` selects the texts in its column `query`. Each distinct part is classified once. With a vocabulary, the
    column `text` has the text that counts, if any.
    """
    with connection.cursor() as writer:  # of its own, because `connection` is still giving texts; same database
        writer.execute("CREATE OR REPLACE TABLE topics (query VARCHAR, category UTINYINT, text VARCHAR)")
        rows = connection.execute(distinct_texts(texts_query))
        while batch := [text for (text,) in rows.fetchmany(_BATCH)]:
            with_topic, categories = classifier.topics_of(batch)
            if with_topic.size:
                found = [batch[i] for i in with_topic]
                texts = countable_texts(classifier, vocabulary, found) if vocabulary else [None] * len(found)
                given = {"query": np.array(found, dtype=object), "text": np.array(texts, dtype=object)}
                writer.register("classified", given | {"category": categories})
                writer.execute("INSERT INTO topics SELECT query, category, text FROM classified")
                writer.unregister("classified")
