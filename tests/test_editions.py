"""Weeks of a log are counted under the edition that they belong to, on the command line and in Python."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from search_insights import anonymization
from search_insights.spec.spec_file import load_spec, spec_toml
from search_insights.store.opening import open_store
from tests.support.clocks import clock
from tests.support.logs import MONDAY, NEXT_WEEK, WEEK, Publisher, searches_of_weeks

LATER = "2021-03-22"


def louder(publisher: Publisher, factor: float = 2.0) -> Path:
    """Write a spec with more noise."""
    spec = load_spec()
    sigmas = tuple(replace(sigma, value=sigma.value * factor) for sigma in spec.sigmas)
    path = publisher.folder / "louder.toml"
    path.write_text(spec_toml(replace(spec, sigmas=sigmas)), encoding="utf-8")
    return path


def anonymize(publisher: Publisher, log: Path, *words: object, week: str = MONDAY) -> tuple[int, str, str]:
    """Anonymize a week of a log that has others too."""
    return publisher.anonymize(log, "--other-weeks", *map(str, words), week=week)


def edition(publisher: Publisher, *words: object) -> tuple[int, str, str]:
    """Run `store edition`."""
    return publisher.run("store", "edition", "--store", publisher.store, *map(str, words))


def test_another_spec_is_refused_with_the_way_out_which_works(publisher: Publisher) -> None:
    """The error names what differs and the command; after it, the week is counted under the new edition."""
    log, spec = publisher.log(searches_of_weeks(0, 1)), louder(publisher)
    anonymize(publisher, log)
    code, _, err = anonymize(publisher, log, "--spec", spec, week=str(NEXT_WEEK))
    assert code == 2
    assert f"search-insights store edition --store {publisher.store} --spec FILE --from WEEK --reason TEXT" in err
    asked = ("--spec", spec, "--from", str(NEXT_WEEK), "--reason", "more noise")
    code, out, err = edition(publisher, *asked, "--dry-run")
    assert (code, err) == (0, "")
    assert "counting    sigma.county.large.A0: " in out
    assert "could be recorded (dry run: it was not)" in out
    assert edition(publisher)[1].count("edition ") == 1
    code, out, _ = edition(publisher, *asked)
    assert (code, out.splitlines()[-1]) == (0, f"{publisher.store}: edition 2, from week {NEXT_WEEK} on, is recorded")
    code, _, err = anonymize(publisher, log, week=str(NEXT_WEEK))
    assert code == 2
    assert f"week {NEXT_WEEK} belongs to edition 2, which begins with week {NEXT_WEEK}" in err
    assert anonymize(publisher, log, "--spec", spec, week=str(NEXT_WEEK))[0] == 0
    assert publisher.run("ledger", "--store", publisher.store, "--verify")[0] == 0
    rows = json.loads(edition(publisher, "--json")[1])
    assert [(row["edition"], row["weeks"]) for row in rows] == [(1, [MONDAY]), (2, [str(NEXT_WEEK)])]


def test_a_late_week_is_counted_under_its_own_edition(publisher: Publisher) -> None:
    """The present spec is given, but the week is one of the first edition, whose noise it gets."""
    log, spec = publisher.log(searches_of_weeks(-1, 0, 1)), louder(publisher)
    anonymize(publisher, log)
    edition(publisher, "--spec", spec, "--from", str(NEXT_WEEK), "--reason", "more noise")
    assert anonymize(publisher, log, "--spec", spec, week="2021-03-01")[0] == 0
    with open_store(publisher.store) as store:
        late, _ = store.entries()
        assert (str(late.week), late.spec) == ("2021-03-01", load_spec().fingerprint)
    assert publisher.run("ledger", "--store", publisher.store, "--verify")[0] == 0


def test_weeks_of_two_editions_can_be_counted_at_once(publisher: Publisher) -> None:
    """One command that names weeks on both sides of a break counts each under its own edition."""
    log, spec = publisher.log(searches_of_weeks(-1, 0, 1)), louder(publisher)
    anonymize(publisher, log, week="2021-03-01")
    edition(publisher, "--spec", spec, "--from", str(NEXT_WEEK), "--reason", "more noise")
    code, out, err = anonymize(publisher, log, "--spec", spec, "--week", str(NEXT_WEEK))
    assert (code, out.count("committed")) == (0, 2), err
    with open_store(publisher.store) as store:
        assert [store.edition_of(entry.week).number for entry in store.entries()] == [1, 1, 2]


def test_a_spec_without_its_promise_begins_no_edition(publisher: Publisher) -> None:
    """The accounting is checked before anything is recorded: exit code 1."""
    publisher.anonymize(publisher.log())
    spec = louder(publisher, 0.9)
    code, out, err = edition(publisher, "--spec", spec, "--from", str(NEXT_WEEK), "--reason", "less noise")
    assert (code, out) == (1, "")
    assert "promises epsilon 2.19" in err
    assert len(json.loads(edition(publisher, "--json")[1])) == 1


def test_options_that_do_not_belong_are_told(publisher: Publisher) -> None:
    """Nothing is recorded by half a command."""
    publisher.anonymize(publisher.log())
    spec = louder(publisher)
    for words, told in (
        (("--from", LATER), "without --spec or --geography nothing changes; leave --from out"),
        (("--withdraw", "--spec", spec), "--withdraw leave --spec out"),
        (("--spec", spec, "--from", LATER), "--reason: say briefly why"),
        (("--spec", spec, "--reason", "x"), "--from: what is counted differs"),
        (("--spec", spec, "--reason", "x", "--from", "soon"), "--from soon: expected a date"),
        (("--withdraw",), "has one edition, the first"),
    ):
        code, out, err = edition(publisher, *words)
        assert (code, out) == (2, "")
        assert told in err


def test_a_second_store_cannot_begin_with_another_week(publisher: Publisher) -> None:
    """It may begin beside the first with a week that that one lacks, but never noises one that it has."""
    log = publisher.log(searches_of_weeks(-1, 0))
    anonymize(publisher, log)
    words = ("--store", str(publisher.folder / "second.db"), "--geography", str(publisher.geography), "--other-weeks")
    assert publisher.run("anonymize", log, *words, "--week", "2021-03-01")[0] == 0
    code, _, err = publisher.run("anonymize", log, *words, "--week", MONDAY)
    assert code == 2
    assert f"store.db has week {MONDAY} of vaccination-v1 already" in err
    assert publisher.run("anonymize", log, *words, "--week", MONDAY, "--another-release")[0] == 0


def test_a_week_is_over_in_the_zone_of_its_own_edition(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a spec of a zone to the east, a late week of the first edition waits for its own midnight."""
    anonymize(publisher, publisher.log(searches_of_weeks(-1, 0)), week="2021-03-01")
    eastern = publisher.folder / "eastern.toml"
    eastern.write_text(spec_toml(replace(load_spec(), time_zone="Pacific/Kiritimati")), encoding="utf-8")
    edition(publisher, "--spec", eastern, "--from", str(NEXT_WEEK), "--reason", "moved")
    monkeypatch.setattr(anonymization, "datetime", clock(WEEK.end - timedelta(hours=1)))
    code, _, err = anonymize(publisher, publisher.folder / "log.parquet", "--spec", eastern)
    assert code == 2
    assert f"week {MONDAY} is not over" in err
