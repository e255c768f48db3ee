"""Texts of top searches are bounded and counted as the accounting says, on both engines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.classifier.model import load_classifier
from search_insights.classifier.vocabulary_file import packaged_vocabulary
from search_insights.errors import InputError, LogError
from search_insights.private.counting import Tolerance, count_week
from search_insights.private.duckdb_engine import DuckDbEngine, open_duckdb_engine, register_names
from search_insights.private.duckdb_log import SearchLog
from search_insights.private.engine import Engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import RegionNames, region_names
from search_insights.private.top_searches import TextCounts, count_texts, vocabulary_for
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from search_insights.spec.spec_file import load_spec
from search_insights.spec.top_searches import TopSearches
from tests.support.bounded import INSTANTS
from tests.support.logs import MONDAY, WEEK, little_geography, on_spark, write_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEAR, SAFE, NEWS = "covid vaccine near me", "is the covid vaccine safe", "covid vaccine news"
PLACES = ("94103", "95667", "US-NM", "geoId/01009")  # in California, twice, in New Mexico, and in Alabama
VOCABULARY = packaged_vocabulary()
ALABAMA, CALIFORNIA, NEW_MEXICO = range(3)
EVERY_TEXT = replace(
    load_spec("vaccination-v2"), top_searches=TopSearches(1, "users", 1, 2.0, 9, 2.0, 0, "vaccination")
)


@dataclass(frozen=True)
class Typed:
    """One search: the user, the day of the week, the second of its noon, the text, and the place."""

    user: int
    day: int
    second: int
    text: str
    place: str = "94103"


def rows_of(typed: Sequence[Typed], user: str = "{}") -> str:
    """Return the query of a log of these searches."""
    values = ", ".join(
        f"('{user.format(t.user)}', TIMESTAMPTZ '{MONDAY} 20:00:00+00' + INTERVAL {t.day} DAY"
        f" + INTERVAL {t.second} SECOND, '{t.place}', '{t.text}')"
        for t in typed
    )
    return f"SELECT * FROM (VALUES {values}) AS t(user_id, timestamp, region, query)"


def log_of(folder: Path, typed: Sequence[Typed], user: str = "{}") -> Path:
    """Write a log of these searches, and one of another user on each day, so that no day is empty."""
    others = [Typed(10**6, day, 0, "weather") for day in range(7)]
    return write_log(folder / "log.parquet", rows_of([*typed, *others], user))


@contextmanager
def opened(coverage: Coverage, log: Path, spark: "SparkSession | None") -> Iterator[Engine]:
    if spark is not None:
        yield on_spark(spark, coverage, log)
        return
    with open_duckdb_engine(LogSource((str(log),)), coverage.spec, region_names(coverage)) as engine:
        yield engine


def counted(engine: Engine, coverage: Coverage, known: Sequence[str] = ()) -> TextCounts:
    names: RegionNames = region_names(coverage)
    asked = (WEEK.begin, WEEK.end)
    found = count_week(engine, CellList(coverage), names, WEEK, asked, Tolerance(), lambda day: None, known).texts
    assert found is not None
    return found


def of_days(engine: Engine, coverage: Coverage, days: int, known: Sequence[str]) -> TextCounts:
    """Count the texts of the first days of the week alone."""
    engine.forget_texts()
    for day in WEEK.days[:days]:
        engine.bound(day, *WEEK.day_bounds(day), VOCABULARY)
    top = coverage.spec.top_searches
    assert top is not None
    return count_texts(engine, CellList(coverage), region_names(coverage), top, known)


def as_dict(found: TextCounts) -> dict[str, tuple[int, dict[int, int]]]:
    """Return the users of each text: in all, and by region."""
    entries = zip(found.text.tolist(), found.region.tolist(), found.users_there.tolist(), strict=True)
    there: dict[str, dict[int, int]] = {text: {} for text in found.texts}
    for text, region, users in entries:
        there[found.texts[text]][region] = users
    return {text: (int(n), there[text]) for text, n in zip(found.texts, found.users, strict=True)}


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    """The little country with vaccination-v2, in which a text of one user may leave the engine."""
    return Coverage(EVERY_TEXT, load_geography(little_geography(tmp_path_factory.mktemp("little"))))


def with_floor(coverage: Coverage, floor: int) -> Coverage:
    top = coverage.spec.top_searches
    assert top is not None
    return Coverage(replace(coverage.spec, top_searches=replace(top, min_users=floor)), coverage.geography)


def test_texts_are_counted_by_users_of_the_week(little: Coverage, tmp_path: Path) -> None:
    """Variants of a text are one text; a user counts once a week for it, and once in each state where it was searched.

    Texts without a topic or not made of the vocabulary are not there; a public text that nobody searched for has 0.
    """
    log = log_of(
        tmp_path,
        [
            Typed(1, 0, 0, NEAR),
            Typed(1, 1, 0, "Covid   VACCINE near me!"),  # again, on another day
            Typed(1, 2, 0, NEAR, "US-NM"),  # and in another state
            Typed(2, 0, 0, NEAR, "95667"),
            Typed(3, 3, 0, SAFE, "geoId/01009"),
            Typed(4, 3, 0, "covid vaccine john q quuxley"),  # a name
            Typed(5, 3, 0, "weather near me"),
        ],
    )
    with opened(little, log, None) as engine:
        found = counted(engine, little, known=[NEWS])
        again = counted(engine, little, known=[NEWS])
    assert as_dict(found) == {
        NEAR: (2, {CALIFORNIA: 2, NEW_MEXICO: 1}),
        SAFE: (1, {ALABAMA: 1}),
        NEWS: (0, {}),
    }
    assert as_dict(again) == as_dict(found)  # a week is counted without what was kept of another
    assert found.categories.tolist() == [1, 3, 2]  # in alphabetical order
    assert list(found.texts) == sorted(found.texts)


def test_a_user_day_counts_in_one_text(little: Coverage, tmp_path: Path) -> None:
    """Whoever searches for many texts on a day, at many times and places, counts in one; a private one is not drawn."""
    private = "covid vaccine quuxley 5550142"
    typed = [Typed(u, 0, s, (NEAR, SAFE, NEWS, private)[s % 4], PLACES[s % 3]) for u in range(60) for s in range(8)]
    typed += [Typed(u, 0, 0, text) for u in range(60) for text in (NEAR, SAFE)]  # at one instant
    with opened(little, log_of(tmp_path, typed), None) as engine:
        found = counted(engine, little)
    assert set(found.texts) == {NEAR, SAFE, NEWS}
    assert found.users.sum() == found.users_there.sum() == 60
    assert (found.users >= 8).all()  # chosen at random: fewer has a probability under 1e-3 in all


@pytest.mark.parametrize("floor", [3, 4])
def test_a_text_below_the_floor_never_leaves_the_engine(little: Coverage, tmp_path: Path, floor: int) -> None:
    """Three users, seven days each: user-days do not count towards the floor. A public text is exempt from it."""
    typed = [Typed(user, day, 0, NEAR) for user in range(3) for day in range(7)] + [Typed(9, 0, 0, SAFE)]
    coverage = with_floor(little, floor)
    with opened(coverage, log_of(tmp_path, typed), None) as engine:
        found = as_dict(counted(engine, coverage, known=[SAFE]))
    near = {NEAR: (3, {CALIFORNIA: 3})} if floor == 3 else {}
    assert found == {SAFE: (1, {CALIFORNIA: 1})} | near


searches_of_one = st.builds(
    Typed,
    user=st.just(0),
    day=st.integers(0, 2),
    second=st.integers(0, 2),
    text=st.sampled_from([NEAR, NEAR.upper(), SAFE, NEWS, "weather", "covid vaccine quuxley"]),
    place=st.sampled_from(PLACES),
)


@pytest.fixture(scope="module")
def table(little: Coverage) -> Iterator[DuckDbEngine]:
    """An engine on a log that a test can fill again and again."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")  # a few events: more threads would only wait for each other
        connection.execute("CREATE TABLE log (user_id BIGINT, timestamp TIMESTAMPTZ, region TEXT, query TEXT)")
        names = region_names(little)
        register_names(connection, names)
        log = SearchLog(LogSource(("the table",)), (), (), INSTANTS, "BIGINT", queries=True)
        yield DuckDbEngine(connection, log, little.spec, names, load_classifier())


def count_table(engine: DuckDbEngine, coverage: Coverage, typed: Sequence[Typed], known: Sequence[str]) -> TextCounts:
    """Count the texts of these searches, of the first three days."""
    engine.run("DELETE FROM log")
    if typed:
        engine.run(f"INSERT INTO log {rows_of(typed)}")
    return of_days(engine, coverage, 3, known)


@settings(max_examples=12)
@given(
    st.lists(searches_of_one, min_size=1, max_size=12),
    st.lists(st.tuples(searches_of_one, st.integers(1, 3)), max_size=8),
)
def test_a_user_day_changes_one_text_by_at_most_one(
    table: DuckDbEngine, little: Coverage, own: list[Typed], others: list[tuple[Typed, int]]
) -> None:
    """For any log: with or without a user's first day, one text changes, by at most 1 in all and by 1 in one region.

    The same user may have searched for the same text on another day, and others for anything.
    """
    common = [t for t in own if t.day > 0] + [replace(t, user=user) for t, user in others]
    both = (common, common + [t for t in own if t.day == 0])
    results = [count_table(table, little, typed, [NEAR, SAFE, NEWS]) for typed in both]
    without, with_it = ({text: n for text, (n, _) in as_dict(found).items()} for found in results)
    change = [with_it[text] - without[text] for text in with_it]
    assert with_it.keys() == without.keys() == {NEAR, SAFE, NEWS}
    assert sum(map(abs, change)) <= 1
    there = [np.zeros((3, 3), dtype=np.int64) for _ in results]
    for counts, found in zip(there, results, strict=True):
        counts[found.text, found.region] = found.users_there
    assert np.abs(there[1] - there[0]).sum() <= 1
    countable = any(t.day == 0 and t.text.lower() in with_it for t in own)
    assert countable or not any(change)


def test_both_engines_count_texts_alike(spark: "SparkSession", little: Coverage, tmp_path: Path) -> None:
    """Where draws do not decide, all counts are equal: one text a user-day, or several at one instant in one place.

    The floor, the public list and repeats on another day are the same too. Users are texts here.
    """
    typed = [Typed(u, d, 0, (NEAR, SAFE)[u % 2], PLACES[u % 4]) for u in range(9) for d in (0, 1)]
    typed += [Typed(u, 1, 0, text) for u in range(20, 24) for text in (SAFE, "Covid vaccine NEWS?", NEAR)]
    typed += [Typed(30, 0, 0, "covid vaccine quuxley"), Typed(31, 0, 0, "booster")]
    coverage, log, found = with_floor(little, 2), log_of(tmp_path, typed, user="user-{}"), []
    for session in (None, spark):
        with opened(coverage, log, session) as engine:
            found.append(as_dict(of_days(engine, coverage, 2, ["booster", "covid vaccine locations"])))
    assert found[0] == found[1]
    assert found[0] == {
        NEAR: (9, {CALIFORNIA: 7, NEW_MEXICO: 2}),  # the first in order of those at one instant
        SAFE: (4, {ALABAMA: 2, CALIFORNIA: 2}),
        "booster": (1, {CALIFORNIA: 1}),
        "covid vaccine locations": (0, {}),
    }


def test_a_week_that_fails_leaves_no_text_behind(spark: "SparkSession", little: Coverage, tmp_path: Path) -> None:
    """What an engine kept is forgotten if a week is refused: a Spark server would keep it after the run."""

    def refuse(day: str) -> None:
        raise LogError(f"refused on {day}")

    asked, cells, names = (WEEK.begin, WEEK.end), CellList(little), region_names(little)
    log = log_of(tmp_path, [Typed(1, 0, 0, NEAR)])
    cached = spark._jsparkSession.sharedState().cacheManager()
    for session in (None, spark):
        with opened(little, log, session) as engine:
            with pytest.raises(LogError, match="refused on Mon"):
                count_week(engine, cells, names, WEEK, asked, Tolerance(), refuse, ())
            if session:
                assert cached.isEmpty()
            else:
                with pytest.raises(InputError):  # no such table
                    engine.ask("SELECT * FROM week_texts")


def test_a_log_by_levels_counts_texts_in_its_states(little: Coverage, tmp_path: Path) -> None:
    """The state of a text is that of the log's column, or that above the finest region it names."""
    query = f"""
        SELECT i AS user_id, TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days((i % 7)::INTEGER) AS timestamp,
               CASE WHEN i % 2 = 0 THEN 'US-AL' END AS st, '94103' AS zip, '{NEAR}' AS query FROM range(14) AS r(i)"""
    source = LogSource((str(write_log(tmp_path / "log.parquet", query)),), {"state": "st", "postal_code": "zip"})
    names = region_names(little, source)
    with open_duckdb_engine(source, little.spec, names) as engine:
        asked = (WEEK.begin, WEEK.end)
        found = count_week(engine, CellList(little), names, WEEK, asked, Tolerance(), lambda day: None, ()).texts
    assert found is not None
    assert as_dict(found) == {NEAR: (14, {ALABAMA: 7, CALIFORNIA: 7})}


def test_texts_change_no_count_of_the_trends(little: Coverage, tmp_path: Path) -> None:
    """The cells of a week are the same with and without top searches."""
    typed = [
        Typed(u, d, s, (NEAR, SAFE, "weather")[(u + s) % 3], PLACES[(u + s) % 4])
        for u in range(20)
        for d in range(7)
        for s in range(4)
    ]
    log, names, cells, asked = log_of(tmp_path, typed), region_names(little), CellList(little), (WEEK.begin, WEEK.end)
    with opened(little, log, None) as engine:
        both = [count_week(engine, cells, names, WEEK, asked, Tolerance(), lambda day: None, k) for k in (None, ())]
    assert both[0].texts is None
    np.testing.assert_array_equal(both[0].counts, both[1].counts)


def test_another_vocabulary_than_the_specs_is_refused() -> None:
    """A spec may fix its vocabulary; an error names both fingerprints."""
    spec: Spec = EVERY_TEXT
    assert spec.top_searches is not None
    top = replace(spec.top_searches, vocabulary_fingerprint=vocabulary_for(spec.top_searches).fingerprint)
    assert vocabulary_for(top).words
    with pytest.raises(InputError, match="not the vocabulary of the spec"):
        vocabulary_for(replace(top, vocabulary_fingerprint="0" * 64))
