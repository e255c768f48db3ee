"""Promises about how simulated people type: a tail, variants, repeats, texts that move, and planted personal texts."""

from datetime import date, timedelta

import duckdb
import numpy as np
import pytest

from search_insights.classifier.vocabulary import normalised_texts
from search_insights.evaluation.text_truth import write_text_truth
from search_insights.simulation.habits import FORMS, REPEAT_SHARE, forms, with_repeats
from search_insights.simulation.planted import OF_FIVE, OF_ONE, Planted, replaced_events
from search_insights.simulation.queries import MOVING_SHARE, QueryTexts, query_texts
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec import Spec
from tests.support.simulated_logs import MONDAY, Query


@pytest.fixture(scope="module")
def texts(paper: Spec) -> QueryTexts:
    """The texts of the paper's spec."""
    return query_texts(paper, 1)


@pytest.fixture(scope="module")
def typed(us_coverage: Coverage, tmp_path_factory: pytest.TempPathFactory) -> Query:
    """Query a week of typed texts: `typed` has user, day, text, its normalised form `query` and category; `truth`."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "named").mkdir()
    log = simulate(
        folder / "log",
        us_coverage,
        MONDAY,
        1,
        120_000,
        7,
        queries=True,
        truth=folder / "truth.parquet",
        named=folder / "named",
    )
    path = write_text_truth(folder / "truth.parquet", folder / "log", folder / "named", log.weeks, us_coverage)
    connection = duckdb.connect()
    connection.read_parquet(str(path)).create("truth")
    connection.execute(f"""
        CREATE TABLE typed AS SELECT l.user_id, l.timestamp::DATE AS day, l.region, l.query AS typed, n.category
        FROM '{folder}/log/*.parquet' AS l POSITIONAL JOIN '{folder}/named/*.parquet' AS n WHERE n.category IS NOT NULL
    """)
    raw = [text for (text,) in connection.execute("SELECT DISTINCT typed FROM typed").fetchall()]
    connection.register("plain", {"typed": np.array(raw, object), "query": np.array(normalised_texts(raw), object)})
    connection.execute("CREATE TABLE named AS FROM typed JOIN plain USING (typed)")
    return lambda query: connection.execute(query).fetchall()


def test_how_often_a_text_is_typed_falls_with_its_rank_as_in_real_logs(typed: Query) -> None:
    """Between the ranks 10 and 1000 the slope is about -1.05 on logarithmic scales: most texts are typed by few."""
    counts = np.array(typed("SELECT count(*) FROM named GROUP BY query ORDER BY 1 DESC"), dtype=np.float64).ravel()
    ranks = np.unique(np.geomspace(10, 1000, 60).astype(int))
    slope = np.polyfit(np.log(ranks), np.log(counts[ranks - 1]), 1)[0]
    assert slope == pytest.approx(-1.05, abs=0.07)


def test_a_text_is_written_in_several_forms(typed: Query) -> None:
    """With capitals, a question mark, two spaces or a hyphen; normalised, they are one text."""
    ((text, written, plain),) = typed("""
        SELECT query, count(DISTINCT typed), count(*) FILTER (typed = query) / count(*) FROM named
        GROUP BY query ORDER BY count(*) DESC LIMIT 1""")
    assert written >= 4
    assert plain == pytest.approx(1 - sum(FORMS.values()) + FORMS["replace(typed, ' 19', '-19')"], abs=0.05)
    assert typed(f"SELECT count(*) FROM named WHERE typed = upper('{text}')")[0][0] > 0


def test_some_texts_come_again_in_another_order(texts: QueryTexts) -> None:
    """People put what they look for first or last."""
    intent = set(texts.texts[texts.first[1] : texts.first[2]])
    words = [text.split() for text in intent]
    turned = [text for text in words if " ".join([*text[-2:], *text[:-2]]) in intent and len(text) > 2]
    assert len(turned) > 100


def test_some_people_repeat_their_text(typed: Query) -> None:
    """More people type a text of some rarity twice in a week than would by chance, and one adds 1 to the truth."""
    ((repeats, people),) = typed("""
        SELECT count(*) FILTER (n > 1), count(*) FROM (
            SELECT count(*) AS n FROM named WHERE category = 'A1' GROUP BY user_id, query
            HAVING query IN (SELECT query FROM named GROUP BY query HAVING count(*) BETWEEN 2 AND 20))""")
    assert repeats > 0.01 * people
    assert typed("""SELECT count(*) FROM truth JOIN
        (SELECT query, category, count(DISTINCT user_id) AS users FROM named GROUP BY ALL) AS n USING (query, category)
        WHERE place_id = 'country/USA' AND truth.users <> n.users""") == [(0,)]


def test_repeated_searches_have_the_bits_of_the_person_and_week() -> None:
    """Only those of topics, about as many as stated; the same bits on every day of the week, others a week later."""
    rng = np.random.default_rng(1)
    fresh, chance = rng.integers(0, 2**32, (2, 50_000), dtype=np.uint32)
    user, topic = np.zeros(50_000, dtype=np.int32), np.repeat([0, 1], 25_000).astype(np.uint8)
    bits = with_repeats(fresh, chance, user, topic, MONDAY)
    assert (bits == fresh)[:25_000].all()
    repeated = bits[25_000:][bits[25_000:] != fresh[25_000:]]
    assert repeated.size / 25_000 == pytest.approx(REPEAT_SHARE, abs=0.02)
    assert len(set(repeated.tolist())) == 1
    later = with_repeats(fresh, chance, user, topic, MONDAY + timedelta(weeks=1))
    assert set(later[later != fresh].tolist()) != set(repeated.tolist())


def test_forms_are_drawn_in_their_shares() -> None:
    """Each within 6 standard deviations."""
    found = np.bincount(forms(np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint32)))
    for number, share in enumerate(FORMS.values(), start=1):
        assert found[number] / 100_000 == pytest.approx(share, abs=6 * (share / 100_000) ** 0.5)


def test_texts_of_topics_rise_and_fall(texts: QueryTexts) -> None:
    """Each week has every text once; most keep their place, some rise far, and none of the ordinary ones moves."""
    first, later = (texts.ranked(date(2021, 3, 8) + timedelta(weeks=weeks)) for weeks in (0, 3))
    assert sorted(first) == sorted(later) == list(range(texts.personal))
    assert (first[: texts.first[1]] == np.arange(texts.first[1])).all()
    rank = np.empty((2, texts.personal))
    rank[0, first] = rank[1, later] = np.arange(texts.personal) - np.repeat(texts.first, texts.count) + 1
    change = rank[0] / rank[1]
    assert (change[texts.first[1] :] > 3).mean() > 0.002
    assert (change[texts.first[1] :] < 1 / 3).mean() > 0.002
    assert (np.abs(np.log(change)) > 1).mean() < MOVING_SHARE
    assert (texts.ranked(date(2021, 3, 8)) == first).all()


def test_personal_texts_are_planted(typed: Query) -> None:
    """One person types each of three on every day; five people of one town type each of three others."""
    for private, people in ((OF_ONE, 1), (OF_FIVE, 5)):
        for text in private:
            found = typed(f"""SELECT count(DISTINCT user_id), count(DISTINCT region), count(*)
                              FROM named WHERE contains(query, '{text}')""")
            assert found == [(people, 1, 7 * people)]
            assert typed(
                f"""SELECT users FROM truth WHERE contains(query, '{text}') AND place_id = 'country/USA'"""
            ) == [(people,)]


def test_a_small_log_has_no_planted_texts() -> None:
    """Where they would be more than a few of the searches, they would change what the log is about."""
    person = np.zeros(18, dtype=np.int32)
    few, many = np.ones(300, dtype=np.uint8), np.tile([0, 1, 2], 2000).astype(np.uint8)
    assert replaced_events(few, Planted(person, person, person)).size == 0
    chosen = replaced_events(many, Planted(person, person, person))
    assert len(set(chosen.tolist())) == 18
    assert (many[chosen] == 1).all()


def test_the_truth_of_texts_has_the_states_of_the_country(typed: Query) -> None:
    """In each state no more people than in the country, and together no fewer; every topic has texts."""
    assert typed("SELECT count(DISTINCT place_id), count(DISTINCT category) FROM truth") == [(52, 3)]
    assert typed("""
        SELECT count(*) FROM (SELECT query, category, max(users) FILTER (place_id = 'country/USA') AS country,
                                     sum(users) FILTER (place_id <> 'country/USA') AS states,
                                     max(users) FILTER (place_id <> 'country/USA') AS largest
                              FROM truth GROUP BY ALL)
        WHERE country > states OR largest > country""") == [(0,)]
