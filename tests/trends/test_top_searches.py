"""Promises about lists of top and rising searches: what a line is, and that it never changes."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.errors import StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.spec_file import load_spec
from search_insights.store.opening import open_store
from search_insights.trends.blocklist import Blocklist
from search_insights.trends.spans import spans_of
from search_insights.trends.top_searches import Lines, top_search_lines, topics_of_trends
from tests.support.stores import FIRST
from tests.support.top_searches import TextsOfWeek, add_texts, little_lists

NEAR, SAME, SAFE, NEWS = "covid vaccine near me", "vaccines near me covid", "is the vaccine safe", "covid vaccine news"
INTENT, SAFETY, ANY = "vaccination_intent", "safety_side_effects", "covid19_vaccination"
COUNTRY, ALABAMA, CALIFORNIA = "country/USA", "geoId/01", "geoId/06"
TOPICS = {SAFE: "A2", NEWS: "A3"}
# Of each state, 3,000 user-days have a search about A1, 2,000 about A2 and 1,000 about A3.
ONE: TextsOfWeek = {NEAR: (900, 300, 540, 4), SAME: (90, 0, 90, 0), SAFE: (120, 40, 40, 40), NEWS: (30, 4, 20, 2)}
# Ten texts that stay as they are, enough to compare the eleventh with.
STEADY: TextsOfWeek = {f"text {i}": (400, 100, 200, 100) for i in range(10)}


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    return little_lists(tmp_path_factory.mktemp("country"))


def rows_of(store: Path, blocklist: Blocklist = Blocklist()) -> list[dict[str, Any]]:  # noqa: B008
    """Return the lines of a store."""
    with open_store(store) as opened:
        found = top_search_lines(opened, spans_of(opened), opened.entries(), blocklist)
    assert found is not None
    names = [field.name for field in fields(Lines)]
    columns = [getattr(found, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def listed(
    rows: list[dict[str, Any]], place: str, trend: str, kind: str = "top", week: int = 0
) -> list[dict[str, Any]]:
    """Return one list, in the order of its ranks."""
    wanted = {"place": place, "trend": trend, "query_type": kind}
    day = FIRST.toordinal() + 7 * week
    return [r for r in rows if r["date"].toordinal() == day and all(r[key] == value for key, value in wanted.items())]


@pytest.mark.parametrize("name", ["vaccination-v1", "vaccination-v2"])
def test_the_lists_of_a_trend_have_the_texts_of_its_topics(name: str) -> None:
    """Also where trends are made of signed measures and unions."""
    spec = load_spec(name)
    found = dict(zip((t.id for t in spec.trends), topics_of_trends(spec), strict=True))
    assert found == {"C1": {"A1"}, "C2": {"A2"}, "C3": {"A1", "A2", "A3"}}


def test_a_line_is_a_cluster_with_its_share_of_the_trend(tmp_path: Path, coverage: Coverage) -> None:
    """Counts of texts that ask for the same add up; the value is their sum over the trend's count, ranked by it."""
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, ONE, topics=TOPICS))
    [line] = listed(rows, COUNTRY, INTENT)
    assert (line["rank"], line["query"], line["members"]) == (1, NEAR, [NEAR, SAME])
    assert line["value"] == pytest.approx(990 / 9000)
    assert line["value_low"] < line["value"] < line["value_high"] < 1.02 * line["value"]
    assert [r["query"] for r in listed(rows, COUNTRY, ANY)] == [NEAR, SAFE, NEWS]
    assert [r["rank"] for r in listed(rows, COUNTRY, ANY)] == [1, 2, 3]
    assert listed(rows, COUNTRY, ANY)[1]["value"] == pytest.approx(120 / 18_000)
    assert listed(rows, COUNTRY, SAFETY)[0]["value"] == pytest.approx(120 / 6000)


def test_a_region_lists_a_text_from_the_count_that_the_spec_says(tmp_path: Path, coverage: Coverage) -> None:
    """Less than 5 is not listed; a cluster needs a text that has it, or as much more as its noise is wider."""
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, ONE, topics=TOPICS))
    assert [r["query"] for r in listed(rows, ALABAMA, ANY)] == [NEAR, SAFE]
    assert [r["query"] for r in listed(rows, CALIFORNIA, ANY)] == [NEAR, SAFE, NEWS]
    assert listed(rows, CALIFORNIA, INTENT)[0]["value"] == pytest.approx(630 / 3000)
    assert [r["query"] for r in listed(rows, "geoId/35", ANY)] == [SAFE]


def test_the_first_week_has_no_change_and_nothing_new(tmp_path: Path, coverage: Coverage) -> None:
    """There is nothing to compare with; after a week without texts there is nothing either."""
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, ONE, None, ONE, topics=TOPICS))
    assert {r["query_type"] for r in rows} == {"top"}
    assert not any(r["is_new"] for r in rows)
    assert all(r[end] != r[end] for r in rows for end in ("change", "change_low", "change_high"))


def test_what_grew_beyond_noise_and_chance_is_rising(tmp_path: Path, coverage: Coverage) -> None:
    """A text that doubles is rising, with an interval around its growth; ten that stay are not."""
    before, now = {**STEADY, NEAR: (400, 100, 200, 100)}, {**STEADY, NEAR: (800, 100, 600, 100)}
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, before, now))
    [line] = listed(rows, COUNTRY, INTENT, "rising", week=1)
    assert (line["query"], line["rank"], line["is_new"]) == (NEAR, 1, False)
    assert 0.5 < line["change_low"] < line["change"] == 1.0 < line["change_high"] < 1.5
    assert [r["query"] for r in listed(rows, CALIFORNIA, INTENT, "rising", week=1)] == [NEAR]
    assert listed(rows, ALABAMA, INTENT, "rising", week=1) == []
    steady = listed(rows, ALABAMA, INTENT, "top", week=1)
    assert all(r["change_low"] < 0 < r["change_high"] for r in steady)


def test_a_new_text_grew_at_least_from_the_threshold(tmp_path: Path, coverage: Coverage) -> None:
    """Its count of the week before was below the threshold of 16, and no more is known: not in any region."""
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, ONE, {**ONE, "vaccine hives": (400, 100, 200, 100)}))
    [line] = listed(rows, COUNTRY, INTENT, "rising", week=1)
    assert (line["query"], line["is_new"]) == ("vaccine hives", True)
    assert 10 < line["change_low"] < 400 / 16
    assert line["change"] != line["change"]
    assert listed(rows, CALIFORNIA, INTENT, "rising", week=1) == []
    assert [r["is_new"] for r in listed(rows, CALIFORNIA, INTENT, "top", week=1) if r["query"] == "vaccine hives"] == [
        True
    ]


def test_a_text_that_joins_a_cluster_is_no_growth(tmp_path: Path, coverage: Coverage) -> None:
    """Only texts with a count in both weeks are compared: what a new one adds to its cluster was not counted before."""
    before, added = {NEAR: (400, 100, 200, 100)}, {SAME: (400, 100, 200, 100)}
    rows = rows_of(add_texts(tmp_path / "store.db", coverage, before, before | added))
    [line] = listed(rows, COUNTRY, INTENT, "top", week=1)
    assert line["members"] == [NEAR, SAME]
    assert line["value"] == pytest.approx(800 / 9000)
    assert (line["change"], line["is_new"]) == (0.0, False)


def test_texts_of_another_vocabulary_are_not_compared(tmp_path: Path, coverage: Coverage) -> None:
    """Which texts may be counted differs, so that growth may be no growth; the next week is compared again."""
    path = add_texts(tmp_path / "store.db", coverage, ONE)
    add_texts(path, coverage, ONE, ONE, start=1, vocabulary="ef" * 32)
    rows = rows_of(path)
    for week, known in ((1, False), (2, True)):
        line = listed(rows, COUNTRY, INTENT, week=week)[0]
        assert (line["change"] == line["change"]) == known


def test_later_weeks_change_nothing(tmp_path: Path, coverage: Coverage) -> None:
    """Neither the next week, with new texts that join clusters, nor a week that comes late."""
    path = add_texts(tmp_path / "store.db", coverage, ONE, {**STEADY, NEAR: (10, 0, 0, 0)})
    add_texts(path, coverage, {"near me vaccine covid": (2000, 9, 9, 9)}, start=3)
    before = rows_of(path)
    add_texts(path, coverage, {"me near covid vaccines": (5000, 9, 9, 9), NEAR: (900, 9, 9, 9)}, start=2)
    add_texts(path, coverage, {NEAR: (900, 9, 9, 9)}, start=4)
    after = [row for row in rows_of(path) if (row["date"] - FIRST).days // 7 in (0, 1, 3)]
    assert repr(after) == repr(before)


def test_what_the_blocklist_has_is_left_out(tmp_path: Path, coverage: Coverage) -> None:
    """Of a cluster, only the texts with the words; the others are listed without them."""
    path = add_texts(tmp_path / "store.db", coverage, ONE, topics=TOPICS)
    rows = rows_of(path, Blocklist(("safe", "vaccines near")))
    assert [(r["query"], r["members"]) for r in listed(rows, COUNTRY, ANY)] == [(NEAR, [NEAR]), (NEWS, [NEWS])]
    assert listed(rows, COUNTRY, INTENT)[0]["value"] == pytest.approx(900 / 9000)


def test_damaged_texts_are_not_published(tmp_path: Path, coverage: Coverage) -> None:
    """Counts that do not match the ledger are refused, with the way out."""
    path = add_texts(tmp_path / "store.db", coverage, ONE)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE top_counts SET noisy = noisy + 1 WHERE region = 0")
    with pytest.raises(StoreError, match="top searches of week 2021-01-04 do not match the ledger; restore a backup"):
        rows_of(path)
