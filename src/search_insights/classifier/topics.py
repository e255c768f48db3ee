"""Classify the texts of a database: the table `topics` holds those that have a topic.

The model sees distinct texts and nothing else: not whose they are, not how often they occur.
"""

from typing import TYPE_CHECKING

import numpy as np

from search_insights.classifier.model import Classifier

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 16


def create_topics_table(connection: "duckdb.DuckDBPyConnection", classifier: Classifier, texts_query: str) -> None:
    """Create the temporary table `topics` with the columns `query` and `category`, a category number above 0.

    `texts_query` selects the texts in its column `query`. Each distinct text is classified once, in batches.
    """
    texts: list[str] = []
    numbers = [np.zeros(0, dtype=np.uint8)]
    rows = connection.execute(f"SELECT DISTINCT query FROM ({texts_query}) WHERE query IS NOT NULL")
    while batch := [text for (text,) in rows.fetchmany(_BATCH)]:
        with_topic, categories = classifier.topics_of(batch)
        texts.extend(batch[i] for i in with_topic)
        numbers.append(categories)
    classified = {"query": np.array(texts, dtype=object), "category": np.concatenate(numbers)}
    connection.register("classified", classified)
    columns = "CAST(query AS VARCHAR) AS query, category"  # an empty object array would not become VARCHAR
    connection.execute(f"CREATE OR REPLACE TEMP TABLE topics AS SELECT {columns} FROM classified")
    connection.unregister("classified")
