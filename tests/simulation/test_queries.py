"""Promises about the texts of simulated searches."""

from pathlib import Path

import duckdb
import pytest

from search_insights.simulation.queries import query_texts
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from tests.support.other_country import other_spec
from tests.support.simulated_logs import MONDAY


def test_queries_replace_categories(tmp_path: Path, us_coverage: Coverage) -> None:
    """Texts about anything, some of them local, and no column that tells the topic."""
    simulate(tmp_path / "log", us_coverage, MONDAY, 1, 200_000, 7, queries=True)
    with duckdb.connect() as connection:
        connection.read_parquet(str(tmp_path / "log/*.parquet")).create_view("log")
        assert [row[0] for row in connection.execute("DESCRIBE log").fetchall()] == [
            "user_id",
            "timestamp",
            "region",
            "query",
        ]
        counts = connection.execute("""
            SELECT count(*), count(DISTINCT query), count(*) FILTER (query LIKE '%vaccin%'),
                   count(*) FILTER (query LIKE '%county%'),
                   count(*) FILTER (query SIMILAR TO '.*[{}<>].*' OR query = '')
            FROM log WHERE query IS NOT NULL""").fetchall()
    ((events, distinct, vaccine, local, broken),) = counts
    assert events == 200_000
    assert distinct > 20_000
    assert 0.05 * events < vaccine < 0.15 * events
    assert local > 1000
    assert broken == 0


@pytest.mark.parametrize("spec", ["paper", "other"])
def test_there_are_many_texts_for_every_topic(spec: str, paper: Spec) -> None:
    """Tens of thousands of ordinary ones and thousands for each topic; the same seed gives the same texts."""
    given = paper if spec == "paper" else other_spec()
    texts = query_texts(given, 1)
    groups = [set(texts.texts[first : first + count]) for first, count in zip(texts.first, texts.count, strict=True)]
    assert len(groups) == len(given.categories)
    assert len(groups[0]) > 20_000
    assert all(len(group) > 1000 for group in groups[1:])
    assert query_texts(given, 1).texts == texts.texts != query_texts(given, 2).texts


def test_texts_of_topics_are_about_them(paper: Spec) -> None:
    """A classifier can learn from them: each topic has words of its own that ordinary texts do not have."""
    texts = query_texts(paper, 1)
    ordinary, intent, safety, _ = (
        texts.texts[first : first + count] for first, count in zip(texts.first, texts.count, strict=True)
    )
    assert "covid vaccine near me" in intent
    assert "covid vaccine side effects" in safety
    assert "flu shot near me" in ordinary
    assert not {"covid vaccine", "covid shot"} & set(ordinary)
