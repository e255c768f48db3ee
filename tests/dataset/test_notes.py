"""A mistake in the log of a week that is final cannot be corrected; readers are told of it."""

from datetime import timedelta
from pathlib import Path

import pytest

from search_insights.dataset.publication import publish
from search_insights.errors import StoreError
from search_insights.routine.due import read_held
from search_insights.routine.settings import Settings
from search_insights.routine.steps import dataset_is_current
from search_insights.store.notes import note_week
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.datasets import dataset_of, json_of, text_of
from tests.support.stores import FIRST

WORDS = "a server was down on January 5"


def test_a_note_is_published_and_moves_no_value(store: Path, run: Run) -> None:
    """It is in the statement, on its page and among the breaks; nothing is spent, and every value stays."""
    dataset = dataset_of(store)
    before = text_of(dataset)
    code, out, err = run("store", "note", "--store", store, "--week", FIRST, "--reason", WORDS)
    assert (code, err) == (0, "")
    assert f"week {FIRST}: noted in {store}" in out
    publish(store, dataset)
    assert text_of(dataset) == before
    (note,) = json_of(dataset, "privacy.json")["notes"]
    assert (note["week"], note["reason"]) == (str(FIRST), WORDS)
    assert f"- {FIRST}: {WORDS}" in (dataset / "PRIVACY.md").read_text(encoding="utf-8")
    (found,) = json_of(dataset, "datapackage.json")["breaks"]
    assert (found["week"], found["kind"], found["reason"]) == (str(FIRST), "note", WORDS)


def test_a_new_note_makes_the_dataset_out_of_date(store: Path) -> None:
    """So `run` publishes it; then the dataset is up to date again."""
    dataset, settings = dataset_of(store), Settings(store=store)
    assert dataset_is_current(dataset, read_held(settings))
    note_week(store, FIRST, WORDS)
    assert not dataset_is_current(dataset, read_held(settings))
    publish(store, dataset)
    assert dataset_is_current(dataset, read_held(settings))


def test_a_note_is_about_a_week_of_the_store_and_recorded_once(store: Path) -> None:
    """What is refused changes nothing; the one line says what is meant for a week that is missing."""
    note_week(store, FIRST, WORDS)
    with pytest.raises(StoreError, match="has this note on week 2021-01-04 already"):
        note_week(store, FIRST, f" {WORDS} ")
    with pytest.raises(StoreError, match=r"does not hold week 2021-03-15.*'store lose'"):
        note_week(store, FIRST + timedelta(weeks=10), WORDS)
    with open_store(store) as opened:
        assert [(note.week, note.reason) for note in opened.notes()] == [(FIRST, WORDS)]
