"""Anonymization spends the budget of a week once, and only if the promise holds and the week is over."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from search_insights import anonymization
from search_insights.anonymization import anonymize
from search_insights.dp import noise
from search_insights.dp.noise import Noise
from search_insights.errors import InputError
from search_insights.private.log import LogSource
from search_insights.spec.cells import CellList
from search_insights.spec.spec_file import load_spec, spec_toml
from search_insights.support.arrays import Floats
from tests.support.clocks import clock
from tests.support.logs import (
    LITTLE_REGIONS,
    NEXT_WEEK,
    NOON,
    WEEK,
    Publisher,
    assert_refused,
    searches,
    searches_of_weeks,
    write_log,
)
from tests.support.other_country import write_csv
from tests.support.stores import held_by_another_process

# Before anything is spent


def test_a_spec_whose_promise_does_not_hold_is_refused_before_the_log_is_read(publisher: Publisher) -> None:
    """The check fails with exit code 1 even if there is no log, and no store is made."""
    spec = publisher.folder / "spec.toml"
    spec.write_text(spec_toml(load_spec()).replace("epsilon = 2.19", "epsilon = 2.18"))
    code, out, err = publisher.anonymize(publisher.folder / "no.parquet", "--spec", spec)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "'vaccination-v1' promises epsilon 2.18 at delta 1e-05, but its sigmas give 2.18" in err
    assert not publisher.store.exists()


def test_a_week_that_is_not_over_is_refused(publisher: Publisher) -> None:
    """Noise is drawn once, so the week must be complete; the error says when it ends, before the log is read."""
    today = datetime.now(UTC).date()
    coming = today + timedelta(days=7 - today.weekday())
    result = publisher.anonymize(publisher.folder / "no.parquet", week=str(coming))
    assert_refused(publisher, result, f"week {coming} is not over (it ends {coming + timedelta(days=7)} 0", "wait")


def test_a_week_can_be_anonymized_from_the_instant_of_its_end(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A microsecond before its end a week is refused; at its end it is accepted."""
    monkeypatch.setattr(anonymization, "datetime", clock(WEEK.end - timedelta(microseconds=1)))
    source = LogSource((str(publisher.log()),))
    with pytest.raises(InputError, match="is not over"):
        anonymize(source, publisher.store, [WEEK], publisher.coverage)
    monkeypatch.setattr(anonymization, "datetime", clock(WEEK.end))
    anonymize(source, publisher.store, [WEEK], publisher.coverage)
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day]


def test_weeks_may_be_given_in_any_order_and_twice(publisher: Publisher) -> None:
    """The Python function sorts the weeks and anonymizes a week that is given twice only once."""
    source = LogSource((str(publisher.log(searches_of_weeks(0, 1))),))
    done = anonymize(source, publisher.store, [NEXT_WEEK, WEEK, NEXT_WEEK], publisher.coverage)
    assert [(d.week, d.was_there) for d in done] == [(WEEK, False), (NEXT_WEEK, False)]


# Once


def test_running_again_changes_nothing_and_says_so(publisher: Publisher) -> None:
    """A week in the store stays as it is: exit code 0, the same counts and entry, even if the log is gone."""
    log = publisher.log()
    assert publisher.anonymize(log)[:2] == (0, f"week {WEEK}: committed to {publisher.store}\n")
    counts, ledger = publisher.noisy().tobytes(), publisher.ledger()
    log.unlink()
    code, out, err = publisher.anonymize(log)
    assert (code, out) == (0, f"week {WEEK}: is in the store already, nothing changed\n")
    assert "a week is noised once" in err
    assert publisher.noisy().tobytes() == counts
    assert publisher.ledger() == ledger


def test_only_the_new_week_is_noised(publisher: Publisher) -> None:
    """If one of two weeks is in the store already, it does not change and the other is added."""
    log = publisher.log(searches_of_weeks(0, 1))
    publisher.anonymize(log, "--other-weeks")
    counts = publisher.noisy().tobytes()
    code, out, _ = publisher.anonymize(log, "--week", str(NEXT_WEEK))
    assert code == 0
    assert out.splitlines() == [
        f"week {WEEK}: is in the store already, nothing changed",
        f"week {NEXT_WEEK}: committed to {publisher.store}",
    ]
    assert publisher.noisy().tobytes() == counts
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day, NEXT_WEEK.first_day]


def test_another_store_draws_other_noise(publisher: Publisher) -> None:
    """There is no seed: the same log gets different noise in a new store, which is why a week is noised once."""
    log = publisher.log()
    publisher.anonymize(log)
    first = publisher.noisy()
    publisher.forget()
    publisher.anonymize(log)
    assert (publisher.noisy() != first).any()


def test_two_weeks_of_a_new_store_share_no_noise(publisher: Publisher) -> None:
    """Noise is drawn ahead for the first week alone: two weeks of the same counts and noise would be equal."""
    source = LogSource((str(publisher.log(searches_of_weeks(0, 1))),))
    anonymize(source, publisher.store, [WEEK, NEXT_WEEK], publisher.coverage)
    assert (publisher.noisy(WEEK) != publisher.noisy(NEXT_WEEK)).any()


def test_noise_is_drawn_once_for_each_new_week(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise is drawn for a week that the store holds, nor twice for one that is drawn while the store is made."""
    drawn: list[int] = []

    class Counted(Noise):
        def __init__(self, sigmas: Floats, threads: ThreadPoolExecutor) -> None:
            drawn.append(sigmas.size)
            super().__init__(sigmas, threads)

    monkeypatch.setattr(noise, "Noise", Counted)
    cells = CellList(publisher.coverage).sigmas.size
    one, two = (publisher.log(searches_of_weeks(*offsets), f"{len(offsets)}.parquet") for offsets in ([0], [0, 1]))
    for log, weeks, times in ((one, [WEEK], 1), (one, [WEEK], 1), (two, [WEEK, NEXT_WEEK], 2)):
        anonymize(LogSource((str(log),)), publisher.store, weeks, publisher.coverage)
        assert drawn == [cells] * times


def test_a_week_that_fails_does_not_undo_earlier_weeks(publisher: Publisher) -> None:
    """Each week is committed separately; after a failure the ledger has the earlier ones, and a new run continues."""
    publisher.log(name="log/a.parquet")
    bad = publisher.log(searches(timestamp=f"{NOON} + to_days(7)", user_id="NULL::BIGINT"), "log/b.parquet")
    code, _, err = publisher.anonymize(publisher.folder / "log", "--week", str(NEXT_WEEK))
    assert code == 2
    assert "week 2021-03-15: 140 of 140 rows cannot be used" in err
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day]
    counts = publisher.noisy().tobytes()
    write_log(bad, searches(timestamp=f"{NOON} + to_days(7)"))
    assert publisher.anonymize(publisher.folder / "log", "--week", str(NEXT_WEEK))[0] == 0
    assert publisher.noisy().tobytes() == counts


# The store


def test_another_spec_on_the_store_is_refused_with_the_difference(publisher: Publisher) -> None:
    """The error names the key that differs, both values and how to record the change; the store is not changed."""
    log = publisher.log(searches_of_weeks(0, 1))
    publisher.anonymize(log, "--other-weeks")
    ledger = publisher.ledger()
    spec = publisher.folder / "spec.toml"
    spec.write_text(spec_toml(load_spec()).replace("epsilon = 2.19", "epsilon = 2.2"))
    code, out, err = publisher.anonymize(log, "--spec", spec, "--other-weeks", week=str(NEXT_WEEK))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "counting: promise.epsilon: 2.19 -> 2.2" in err
    assert f"search-insights store edition --store {publisher.store} --spec FILE --from WEEK --reason TEXT" in err
    assert publisher.ledger() == ledger


def test_another_geography_on_the_store_is_refused_with_the_difference(publisher: Publisher) -> None:
    """The error says how many regions end or begin; the store is not changed."""
    publisher.anonymize(publisher.log())
    ledger = publisher.ledger()
    write_csv(publisher.geography, LITTLE_REGIONS[:-1])
    code, out, err = publisher.anonymize(publisher.folder / "log.parquet", week=str(NEXT_WEEK))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "counting: regions that end: 1: zip/96120" in err
    assert f"search-insights store edition --store {publisher.store} --geography FILE --from WEEK" in err
    assert publisher.ledger() == ledger


def test_a_second_process_on_the_store_is_refused(publisher: Publisher) -> None:
    """While one process has the store open, others cannot write or read it, and say so in one line."""
    publisher.anonymize(publisher.log())
    ledger = publisher.ledger()
    with held_by_another_process(publisher.store):
        for result in (
            publisher.anonymize("log.parquet", week=str(NEXT_WEEK)),
            publisher.run("ledger", "--store", publisher.store),
        ):
            assert result[:2] == (2, "")
            words = f"{publisher.store}: another process is using this store; wait until it has finished"
            assert result[2] == f"search-insights: {words}\n"
    assert publisher.ledger() == ledger


def test_only_the_owner_can_read_the_store(publisher: Publisher) -> None:
    """The store has mode 0600, and the process's mask for other files is not changed."""
    before = stat.S_IMODE(publisher.log().stat().st_mode)
    publisher.anonymize(publisher.folder / "log.parquet")
    assert stat.S_IMODE(publisher.store.stat().st_mode) == 0o600
    assert stat.S_IMODE(publisher.log(name="later.parquet").stat().st_mode) == before
