"""Promises about top searches in the store: the list of texts only grows, and a week's texts are final with it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights.errors import CheckFailed, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.store.backup import back_up, restore
from search_insights.store.opening import create_or_open_store, open_store
from search_insights.store.store import Store
from search_insights.store.top_searches import ShownText
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems
from tests.support.stores import FIRST, copy_of_store, entry_for
from tests.support.top_searches import VOCABULARY, add_texts, little_lists, week_of_texts

NEAR, SAFE, NEWS = "covid vaccine near me", "is the covid vaccine safe", "covid vaccine news"


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    return little_lists(tmp_path_factory.mktemp("country"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, coverage: Coverage) -> Path:
    """A store of three weeks: one with a text, one whose log had none, and one with a second text."""
    first, third = {NEAR: (90, 10, 70, 8)}, {NEAR: (80, 9, 60, 7), SAFE: (50, -2, 40, 3)}
    return add_texts(tmp_path_factory.mktemp("made") / "store.db", coverage, first, None, third)


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of that store."""
    return copy_of_store(made, tmp_path)


def test_a_week_has_a_count_for_every_text_that_was_shown_until_then(store: Path) -> None:
    """What was committed is read again: the list in the order of joining, and a count in the total and every region."""
    with open_store(store) as opened:
        assert opened.shown_texts() == (
            ShownText(NEAR, "A1", "covid near vaccine", FIRST),
            ShownText(SAFE, "A1", "covid safe vaccine", FIRST + timedelta(weeks=2)),
        )
        first, second, third = (opened.top_searches(FIRST + timedelta(weeks=i)) for i in range(3))
        assert second is None
        assert first is not None
        assert third is not None
        assert [len(first.texts), len(third.texts)] == [1, 2]
        assert first.noisy.tolist() == [[90, 10, 70, 8]]
        assert third.noisy.tolist() == [[80, 9, 60, 7], [50, -2, 40, 3]]
        assert [entry.vocabulary for entry in opened.entries()] == [VOCABULARY, "", VOCABULARY]
        assert problems(opened, scale_problems) == []


def test_a_week_is_compared_only_with_the_week_before_if_that_was_there_first(
    tmp_path: Path, coverage: Coverage
) -> None:
    """A week that comes late is not compared with afterwards: what was shown of the next one would change."""
    path = add_texts(tmp_path / "late.db", coverage, {NEAR: (90, 1, 2, 3)})
    add_texts(path, coverage, {NEAR: (91, 1, 2, 3)}, start=2)
    add_texts(path, coverage, {NEAR: (92, 1, 2, 3)}, start=1)
    with open_store(path) as opened:
        found = [opened.top_searches(FIRST + timedelta(weeks=i)) for i in range(3)]
    assert [week and week.compared_with for week in found] == [None, FIRST, None]


def test_a_week_without_any_text_on_the_list_has_an_empty_list(tmp_path: Path, coverage: Coverage) -> None:
    """That is something else than a week whose log had no texts, and is verified too."""
    with open_store(add_texts(tmp_path / "empty.db", coverage, {}, None)) as opened:
        first, second = (opened.top_searches(FIRST + timedelta(weeks=i)) for i in range(2))
        assert first is not None
        assert first.texts == ()
        assert second is None
        assert [bool(entry.top_searches) for entry in opened.entries()] == [True, False]
        assert problems(opened, scale_problems) == []


def commit(path: Path, coverage: Coverage, change: Callable[[Store], object]) -> None:
    """Try to commit a fourth week with texts that were changed."""
    with create_or_open_store(path, coverage) as store:
        week = Week(FIRST + timedelta(weeks=3), coverage.spec.time_zone)
        noisy = np.zeros(len(store.cells()), dtype=np.int64)
        top = week_of_texts(store, 3, {NEWS: (60, 1, 2, 3)}, {})
        entry = replace(entry_for(coverage, noisy, week), top_searches=top.checksum, vocabulary=VOCABULARY)
        changed = {"top": top, "entry": entry} | (change(store) or {})  # type: ignore[operator]
        if callable(changed["top"]):
            changed["top"] = changed["top"](top)
            changed["entry"] = replace(entry, top_searches=changed["top"].checksum)
        store.commit_week(week, noisy, changed["entry"], None, changed["top"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: {"top": None}, "does not belong to the top searches"),
        (lambda _: {"top": lambda top: replace(top, week=FIRST)}, "does not belong to the top searches"),
        (lambda _: {"top": lambda top: replace(top, texts=top.texts[1:], noisy=top.noisy[1:])}, "do not continue"),
        (lambda _: {"top": lambda top: replace(top, texts=top.texts[::-1])}, "do not continue"),
        (
            lambda _: {"top": lambda top: replace(top, texts=(replace(top.texts[0], category="A2"), *top.texts[1:]))},
            "do not continue",
        ),
        (
            lambda _: {
                "top": lambda top: replace(top, texts=(*top.texts[:2], replace(top.texts[2], first_week=FIRST)))
            },
            "do not continue",
        ),
    ],
)
def test_the_list_only_grows(store: Path, coverage: Coverage, change: Callable[[Store], object], words: str) -> None:
    """Texts that are missing, moved, changed or put into another week are refused, and nothing of the week is there."""
    with pytest.raises(StoreError, match=words):
        commit(store, coverage, change)
    with open_store(store) as opened:
        assert len(opened.entries()) == 3
        assert len(opened.shown_texts()) == 2


def test_new_texts_join_the_list_at_its_end(store: Path, coverage: Coverage) -> None:
    """What is refused above is not refused because of the week."""
    commit(store, coverage, lambda _: None)
    with open_store(store) as opened:
        assert [shown.text for shown in opened.shown_texts()] == [NEAR, SAFE, NEWS]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE top_counts SET noisy = noisy + 1 WHERE text = 1 AND region = 2",
        "UPDATE top_texts SET text = 'other' WHERE number = 0",
        "UPDATE top_texts SET category = 'A2' WHERE number = 1",
        "UPDATE top_texts SET cluster = 'x' WHERE number = 1",
        f"UPDATE top_texts SET first_week = DATE '{FIRST}' WHERE number = 1",
        f"UPDATE top_weeks SET compared_with = DATE '{FIRST}' WHERE texts = 2",
        "UPDATE top_weeks SET texts = 1 WHERE texts = 2",
        "DELETE FROM top_counts WHERE region = 3",
        "DELETE FROM top_weeks WHERE texts = 1",
        "DELETE FROM top_texts WHERE number = 1",
        f"INSERT INTO top_texts VALUES (2, 'more', 'A1', 'more', DATE '{FIRST}')",
        "INSERT INTO top_counts VALUES (DATE '2021-01-11', 0, 0, 5)",
        "UPDATE ledger SET top_searches = '' WHERE week = DATE '2021-01-18'",
        "UPDATE ledger SET vocabulary = '' WHERE week = DATE '2021-01-18'",
    ],
)
def test_damaged_texts_are_found(store: Path, damage: str) -> None:
    """Every field of the three tables is under the ledger's checksum."""
    with duckdb.connect(str(store)) as connection:
        connection.execute(damage)
    with open_store(store) as opened:
        assert problems(opened, scale_problems)


def test_backups_carry_the_texts(store: Path, tmp_path: Path) -> None:
    """A restored store has the same list and the same counts; a store with damaged texts is not backed up."""
    with open_store(store) as opened:
        before = opened.shown_texts(), [entry.top_searches for entry in opened.entries()]
    back_up(store, tmp_path / "backup.db", scale_problems)
    store.unlink()
    restore(tmp_path / "backup.db", store, scale_problems, published=())
    with open_store(store) as opened:
        assert (opened.shown_texts(), [entry.top_searches for entry in opened.entries()]) == before
    with duckdb.connect(str(store)) as connection:
        connection.execute("UPDATE top_counts SET noisy = 0")
    with pytest.raises(CheckFailed, match="the texts of top searches are not those that were committed"):
        back_up(store, tmp_path / "second.db", scale_problems)
