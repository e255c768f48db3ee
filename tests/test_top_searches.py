"""From a simulated log with personal texts to the published lists: none of them is in anything that is left."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights.anonymization import LogSource, Tolerance, anonymize
from search_insights.classifier.vocabulary_file import packaged_vocabulary
from search_insights.dataset.folder import read_dataset
from search_insights.simulation.planted import OF_FIVE, OF_ONE
from search_insights.simulation.simulation import simulate
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec, spec_toml
from search_insights.spec.top_searches import TopSearches
from search_insights.spec.weeks import week_of
from search_insights.store.opening import open_store
from search_insights.store.verification import problems
from search_insights.support.sql import literal
from search_insights.trends.scaling import scale_problems
from tests.lab.kill_cases import TEXT_WEEKS, TEXTS, text_folder
from tests.support.command_line import Run
from tests.support.logs import little_coverage, little_geography

FIRST = date(2021, 3, 8)
# So little noise that a text of five people is shown, if nothing else keeps it out; and that of a person's seven days,
# if days counted instead of people.
QUIET = TopSearches(1, "users", 1, 0.3, 3, 0.3, 3, "vaccination")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A publisher's folder with a simulated log of a week, in which personal texts are planted."""
    folder = tmp_path_factory.mktemp("publisher")
    spec = load_spec("vaccination-v2")
    spec = replace(spec, top_searches=QUIET, promise=replace(spec.promise, epsilon=60.0))
    (folder / "spec.toml").write_text(spec_toml(spec), encoding="utf-8")
    coverage = Coverage(spec, little_coverage(folder).geography)
    simulate(folder / "log", coverage, FIRST, weeks=1, events_per_week=70_000, seed=3, queries=True)
    return folder


def everything_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every file that a publisher keeps or shows."""
    for path in folder.rglob("*"):
        if path.is_file() and "log" not in path.parts:
            yield path.name, path.read_bytes()


def planted(log: Path) -> tuple[int, int]:
    """Return how many people typed a name that five do, and how many user-days have that of one."""
    query = f"""
        SELECT count(DISTINCT user_id) FILTER (lower(query) LIKE '%{OF_FIVE[0]}%'),
               count(DISTINCT date_trunc('day', timestamp - INTERVAL 8 HOUR)) FILTER (lower(query) LIKE '%{OF_ONE[0]}%')
        FROM read_parquet({literal(f"{log}/*.parquet")})"""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        ((people, days),) = connection.execute(query).fetchall()
    return people, days


def test_no_personal_text_leaves_the_log(folder: Path, run: Run, quick_accounting: None) -> None:
    """Neither the store, nor the dataset, nor a message has one, though the lists have many texts of few people.

    The log has texts of one person on seven days, and of five people in one town.
    """
    assert planted(folder / "log") == (5, 7)
    where = ("--spec", folder / "spec.toml", "--geography", little_geography(folder))
    said = run("anonymize", folder / "log", "--store", folder / "store.db", *where, "--week", FIRST)
    assert said[0] == 0, said
    shown = run("publish", "--store", folder / "store.db", "--out", folder / "dataset", "--dry-run")
    told = run("publish", "--store", folder / "store.db", "--out", folder / "dataset")
    assert (shown[0], told[0]) == (0, 0)
    with open_store(folder / "store.db") as store:
        texts = [each.text for each in store.shown_texts()]
        assert problems(store, scale_problems) == []
    assert len(texts) > 100
    assert packaged_vocabulary().allows(texts).all()
    assert read_dataset(folder / "dataset").top_searches is not None
    for name, content in [*everything_in(folder), ("messages", repr((said, shown, told)).encode())]:
        found = [text for text in (*OF_ONE, *OF_FIVE, "applewhite", "wexley") if text.encode() in content.lower()]
        assert found == [], name


def test_a_week_commits_the_users_of_each_text_in_each_place(tmp_path: Path, quick_accounting: None) -> None:
    """Every topic's text is shown, with its users in the country and in each state, within the reach of the noise.

    Noise of sigma 2 reaches beyond 14 with a probability under 1e-10. Both engines count texts alike:
    tests/private/test_top_searches.py.
    """
    folder = text_folder(tmp_path / "publisher")
    coverage = Coverage(load_spec(folder / "texts.toml"), load_geography(folder / "little.csv"))
    source = LogSource((str(folder / "log"),), code_level="postal_code")
    weeks = [week_of(coverage.spec, day) for day in TEXT_WEEKS]
    anonymize(source, folder / "store.db", weeks, coverage, tolerance=Tolerance(other_weeks=True))
    with open_store(folder / "store.db") as store:
        assert problems(store, scale_problems) == []
        assert {shown.text for shown in store.shown_texts()} == {text for text in TEXTS if text != "weather"}
        for entry in store.entries():
            found = store.top_searches(entry.week)
            assert found is not None
            assert np.abs(found.noisy - [35, 0, 23, 12]).max() <= 14 + 1  # 94103 and 95667 are in California
        assert store.top_searches(TEXT_WEEKS[1]).compared_with == TEXT_WEEKS[0]  # type: ignore[union-attr]
