"""A store has editions: a change is recorded once, with its reason, and never touches a week that was counted."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from search_insights.errors import InputError, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.publication_rules import Reliability
from search_insights.spec.spec import Category, Trend
from search_insights.spec.weeks import Week
from search_insights.store.backup import back_up, restore
from search_insights.store.lost import lose
from search_insights.store.opening import open_store
from search_insights.store.recording import Plan, plan_change, record_change, withdraw_edition
from search_insights.store.second_store import refuse_second_store
from search_insights.store.verification import problems
from tests.support.stores import FIRST, add_weeks

SECOND, THIRD = FIRST + timedelta(weeks=1), FIRST + timedelta(weeks=2)


def louder(coverage: Coverage, factor: float = 2.0) -> Coverage:
    """Return the release with other sigmas: another counting."""
    sigmas = tuple(replace(sigma, value=sigma.value * factor) for sigma in coverage.spec.sigmas)
    return Coverage(replace(coverage.spec, sigmas=sigmas), coverage.geography)


def titled(coverage: Coverage, title: str = "Another title") -> Coverage:
    """Return the release with another title: words."""
    return Coverage(replace(coverage.spec, title=title), coverage.geography)


def planned(
    store: Path, coverage: Coverage, reason: str = "because", from_week: date | None = None, new_scale: bool = False
) -> Plan:
    """Plan a change of a store."""
    with open_store(store) as opened:
        return plan_change(opened, coverage, reason, from_week=from_week, new_scale=new_scale)


def record(store: Path, coverage: Coverage, from_week: date | None = None) -> Plan:
    """Record a change of a store."""
    plan = planned(store, coverage, from_week=from_week)
    record_change(store, plan)
    return plan


def problems_of(store: Path) -> list[str]:
    """Verify a store."""
    with open_store(store) as opened:
        return problems(opened, lambda _: [])


@pytest.fixture
def store(tmp_path: Path, short_coverage: Coverage) -> Path:
    """A store with one week."""
    return add_weeks(tmp_path / "store.db", short_coverage, {})


def test_an_edition_begins_with_its_week_and_earlier_weeks_keep_theirs(store: Path, short_coverage: Coverage) -> None:
    """Each week has the cells, the sigmas and the fingerprints of its own edition, and the store verifies."""
    loud = louder(short_coverage)
    plan = record(store, loud, from_week=SECOND)
    assert (plan.edition, plan.change.kind, plan.change.number) == (2, "counting", 2)
    add_weeks(store, loud, {}, start=1)
    with open_store(store) as opened:
        assert [opened.edition_of(entry.week).number for entry in opened.entries()] == [1, 2]
        assert [edition.counted for edition in opened.editions] == [short_coverage, loud]
        assert opened.editions[1].cells.sigmas[0] == 2 * opened.editions[0].cells.sigmas[0]
        assert {cell[3] for cell in opened.cells(1)} != {cell[3] for cell in opened.cells(2)}
        first, second = opened.entries()
        assert (first.spec, second.spec) == (short_coverage.spec.fingerprint, loud.spec.fingerprint)
    assert problems_of(store) == []


def test_words_and_derivation_apply_to_all_editions(store: Path, short_coverage: Coverage) -> None:
    """They begin no edition; the weeks of every edition are shown by them, and stay verified."""
    loud = louder(short_coverage)
    record(store, loud, from_week=SECOND)
    add_weeks(store, loud, {}, start=1)
    changed = Coverage(replace(titled(loud).spec, reliability=Reliability(0.9, 0.5)), loud.geography)
    assert record(store, changed).change.kind == "derivation"
    add_weeks(store, changed, {}, start=2)  # counted as before, under the present words
    with open_store(store) as opened:
        shown = [edition.coverage.spec for edition in opened.editions]
        assert [(spec.title, spec.reliability.confidence) for spec in shown] == [("Another title", 0.9)] * 2
        assert [spec.sigmas for spec in shown] == [short_coverage.spec.sigmas, loud.spec.sigmas]
        assert [change.kind for change in opened.changes()] == ["counting", "counting", "derivation"]
    assert problems_of(store) == []


def test_a_change_needs_a_reason_and_something_that_differs(store: Path, short_coverage: Coverage) -> None:
    """Readers are shown the reason; without a difference there is nothing to record."""
    with pytest.raises(InputError, match="nothing to record"):
        planned(store, short_coverage)
    with pytest.raises(InputError, match="`reason`: say briefly"):
        planned(store, titled(short_coverage), reason=" ")


def test_another_counting_needs_its_first_week_and_words_have_none(store: Path, short_coverage: Coverage) -> None:
    """Each error says what to leave out or to add."""
    with pytest.raises(InputError, match="`from_week`: what is counted differs"):
        planned(store, louder(short_coverage))
    with pytest.raises(InputError, match=r"`from_week`: what differs is words .* leave it out"):
        planned(store, titled(short_coverage), from_week=SECOND)
    with pytest.raises(InputError, match="`new_scale`: what differs is words"):
        planned(store, titled(short_coverage), new_scale=True)


def test_a_counted_or_lost_week_is_in_no_later_edition(store: Path, short_coverage: Coverage) -> None:
    """An edition begins after every week that was counted, declared lost, or begun by another edition."""
    with pytest.raises(InputError, match=f"week {FIRST} was counted already"):
        planned(store, louder(short_coverage), from_week=FIRST)
    with pytest.raises(InputError, match=r"`from_week`: .* is a Tuesday"):
        planned(store, louder(short_coverage), from_week=SECOND + timedelta(days=1))
    lose(store, SECOND, "no log")
    with pytest.raises(InputError, match=f"week {SECOND} was declared lost"):
        planned(store, louder(short_coverage), from_week=SECOND)
    record(store, louder(short_coverage), from_week=THIRD)
    with pytest.raises(InputError, match="edition 2 begins with week"):
        planned(store, louder(short_coverage, 3.0), from_week=THIRD)


def test_no_instant_is_in_the_weeks_of_two_editions(store: Path, short_coverage: Coverage) -> None:
    """In a zone to the east a week begins earlier; if it overlaps the last one before, it is never counted."""
    eastern = Coverage(replace(short_coverage.spec, time_zone="Asia/Tokyo"), short_coverage.geography)
    assert record(store, eastern, from_week=SECOND).shared == FIRST
    with pytest.raises(StoreError, match="some of its instants; a week is noised once"):
        add_weeks(store, eastern, {}, start=1)
    lose(store, SECOND, "between two time zones")
    add_weeks(store, eastern, {}, start=2)
    assert problems_of(store) == []


def test_an_edition_can_be_withdrawn_while_it_has_no_week(store: Path, short_coverage: Coverage) -> None:
    """Then the store is as before; with a week it stays, and so does the first."""
    loud = louder(short_coverage)
    record(store, loud, from_week=SECOND)
    record(store, titled(loud))
    assert [change.kind for change in withdraw_edition(store)] == ["counting", "words"]
    with open_store(store) as opened:
        assert [edition.counted for edition in opened.editions] == [short_coverage]
        assert opened.cells(2) == []
    assert problems_of(store) == []
    with pytest.raises(InputError, match="one edition, the first"):
        withdraw_edition(store)
    record(store, loud, from_week=SECOND)
    add_weeks(store, loud, {}, start=1)
    with pytest.raises(InputError, match=f"week {SECOND} was counted under edition 2"):
        withdraw_edition(store)


def test_a_change_that_was_planned_on_an_older_state_is_refused(store: Path, short_coverage: Coverage) -> None:
    """Between planning and recording the store may change; what was shown is what is recorded."""
    plan = planned(store, louder(short_coverage), from_week=SECOND)
    record(store, titled(short_coverage))
    with pytest.raises(StoreError, match="another change was recorded meanwhile"):
        record_change(store, plan)
    plan = planned(store, louder(short_coverage), from_week=SECOND)
    add_weeks(store, titled(short_coverage), {}, start=1)
    with pytest.raises(InputError, match=f"week {SECOND} was counted already"):
        record_change(store, plan)


def test_an_older_copy_cannot_begin_an_edition_over_lost_knowledge(
    tmp_path: Path, store: Path, short_coverage: Coverage
) -> None:
    """A restored backup lacks a week that the journal knows; the edition begins after that week all the same."""
    back_up(store, tmp_path / "backup.db", lambda _: [])
    add_weeks(store, short_coverage, {}, start=1)
    restore(tmp_path / "backup.db", store, lambda _: [], published=(), replace=True)
    with pytest.raises(InputError, match=f"week {SECOND} was counted already"):
        planned(store, louder(short_coverage), from_week=SECOND)
    record(store, louder(short_coverage), from_week=THIRD)


def test_another_country_is_another_release(store: Path, short_coverage: Coverage, other_coverage: Coverage) -> None:
    """Its dataset is another one, so it gets a store of its own."""
    with pytest.raises(InputError, match="make a new store"):
        planned(store, other_coverage, from_week=SECOND)


def test_a_column_belongs_to_one_trend_in_all_editions(store: Path, short_coverage: Coverage) -> None:
    """A trend that ended keeps its column, so a new trend of another id needs a column of its own."""
    spec, topic = louder(short_coverage).spec, Category("B1", "another")
    new = replace(
        spec,
        categories=(*spec.categories[:2], topic, spec.categories[3]),
        sigmas=tuple(replace(s, category=topic.id) if s.category == "A2" else s for s in spec.sigmas),
        trends=(
            Trend("C3", "covid19_vaccination", "All", ("A1", "A3"), "sni_covid19_vaccination"),
            Trend("D1", "another", "Another", (topic.id,), "sni_safety_side_effects"),
        ),
    )
    with pytest.raises(InputError, match="trend 'D1' has the column 'sni_safety_side_effects' of trend 'C2'"):
        planned(store, Coverage(new, short_coverage.geography), from_week=SECOND)


def test_columns_do_not_change_places(store: Path, short_coverage: Coverage) -> None:
    """Readers would mix up two trends, although only words changed."""
    first, second, third = short_coverage.spec.trends
    swapped = (first, replace(second, column=third.column), replace(third, column=second.column))
    with pytest.raises(InputError, match="which is or was in the dataset"):
        planned(store, Coverage(replace(short_coverage.spec, trends=swapped), short_coverage.geography))


def test_the_journal_knows_the_release_by_its_new_name(store: Path, short_coverage: Coverage) -> None:
    """Otherwise a second store of the renamed spec would not be recognised."""
    renamed = Coverage(replace(short_coverage.spec, name="renamed"), short_coverage.geography)
    record(store, renamed)
    with pytest.raises(StoreError, match=f"store.db has week {FIRST} of renamed already"):
        refuse_second_store(store.with_name("second.db"), renamed, [Week(FIRST, renamed.spec.time_zone)])


def test_an_older_copy_cannot_lose_a_week_that_a_backup_has(
    tmp_path: Path, store: Path, short_coverage: Coverage
) -> None:
    """Declared lost with the instants of the older edition, its hours could be counted again in the week before."""
    copies = {name: (tmp_path / name).read_bytes() for name in ("store.db", "store.db.journal")}
    (tmp_path / "backups").mkdir()
    back_up(store, tmp_path / "backups" / "first.db", lambda _: [])
    journal = (tmp_path / "store.db.journal").read_bytes()
    add_weeks(store, short_coverage, {}, start=1)
    back_up(store, tmp_path / "backups" / "second.db", lambda _: [])
    store.write_bytes(copies["store.db"])
    (tmp_path / "store.db.journal").write_bytes(journal)
    with pytest.raises(StoreError, match=f"does not hold week {SECOND}"):
        lose(store, SECOND, "no log")


def test_a_changed_edition_is_found_by_verification(store: Path, short_coverage: Coverage) -> None:
    """A list of cells that was altered, and a week moved to another edition, are damage."""
    record(store, louder(short_coverage), from_week=SECOND)
    with open_store(store, writable=True) as opened:
        opened.connection.execute("UPDATE cells SET sigma = 1 WHERE edition = 2 AND cell = 0")
    assert problems_of(store) == ["the list of cells of edition 2 is not the one of the spec and the geography"]
    with open_store(store, writable=True) as opened:
        opened.connection.execute(f"UPDATE changes SET from_week = '{FIRST}' WHERE number = 2")
    assert any("committed under another spec or geography" in line for line in problems_of(store))
