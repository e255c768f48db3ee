"""`anonymize` spends the budget of a week once, on a log that is fit for it, and lets nothing private out."""

import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from search_insights import anonymization as anonymize_module
from search_insights.anonymization import anonymize
from search_insights.commands.console import Steps
from search_insights.errors import InputError, LogError
from search_insights.private.duckdb_engine import open_duckdb_engine
from search_insights.private.log import LogSource
from search_insights.private.region_names import region_names
from search_insights.spec.cells import CellList
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec_file import load_spec, spec_toml
from search_insights.spec.weeks import Week
from search_insights.store.journal import journal_path
from tests.support.logs import (
    LITTLE_REGIONS,
    MONDAY,
    ROWS,
    WEEK,
    Publisher,
    Run,
    assert_refused,
    by_cell,
    count,
    searches,
    write_log,
)
from tests.support.other_country import write_csv

NEXT = Week(date(2021, 3, 15), WEEK.time_zone)
NOON = f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days((i % 7)::INTEGER)"
SECRET = "hushhush"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def weeks_of_searches(*offsets: int) -> str:
    """Write the query of a log of several weeks, given by their distance from the usual one."""
    parts = [searches(timestamp=f"{NOON} + to_days({7 * offset})") for offset in offsets]
    return " UNION ALL ".join(parts)


# Which weeks


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--from", MONDAY),
        ("--to", MONDAY),
        ("--week", MONDAY, "--from", MONDAY, "--to", MONDAY),
        ("--week", MONDAY, "--from", MONDAY),
    ],
)
def test_weeks_are_named_in_one_of_two_ways(publisher: Publisher, options: tuple[str, ...]) -> None:
    """One or more --week, or both --from and --to; anything else is refused."""
    result = publisher.anonymize(publisher.log(), *options, week=None)
    assert_refused(publisher, result, "say which weeks: one or more --week DAY, or --from DAY --to DAY")
    assert not publisher.store.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--week", "2021-03-10"), "--week 2021-03-10 is a Wednesday; weeks begin on Monday: use 2021-03-08"),
        (("--week", "last"), "--week last: expected a date such as 2021-03-08"),
        (("--from", "2021-03-15", "--to", MONDAY), "--to 2021-03-08 lies before --from 2021-03-15"),
        (("--from", MONDAY, "--to", "2021-03-16"), "--to 2021-03-16 is a Tuesday"),
        (("--week", MONDAY, "--allow-missing-day", "friday"), "--allow-missing-day friday: expected a date"),
        (("--week", MONDAY, "--max-left-out", "5"), "--max-left-out 5.0: expected a share between 0 and 1"),
        (("--week", MONDAY, "--max-left-out", "nan"), "--max-left-out nan: expected a share between 0 and 1"),
        (("--week", MONDAY, "--memory", "lots"), "--memory lots: expected a size such as 500MB or 2GB"),
    ],
)
def test_a_wrong_option_is_refused(publisher: Publisher, options: tuple[str, ...], words: str) -> None:
    """The line repeats the option and says what it should be."""
    assert_refused(publisher, publisher.anonymize(publisher.log(), *options, week=None), words)


def test_a_week_that_is_not_over_is_refused(publisher: Publisher) -> None:
    """Noise is drawn once, so the week must be complete; the line says when it is, before the log is looked at."""
    today = datetime.now(UTC).date()
    coming = today + timedelta(days=7 - today.weekday())
    result = publisher.anonymize(publisher.folder / "no.parquet", week=str(coming))
    assert_refused(publisher, result, f"week {coming} is not over (it ends {coming + timedelta(days=7)} 0", "wait")


def test_a_week_can_be_anonymized_from_the_instant_of_its_end(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A moment before its end it is refused, at its end it is not."""

    class Clock(datetime):
        moment = WEEK.end - timedelta(microseconds=1)

        @classmethod
        def now(cls, tz: object = None) -> "datetime":  # type: ignore[override]
            return cls.moment

    monkeypatch.setattr(anonymize_module, "datetime", Clock)
    source = LogSource((str(publisher.log()),))
    with pytest.raises(InputError, match="is not over"):
        anonymize(source, publisher.store, [WEEK], publisher.coverage)
    Clock.moment = WEEK.end
    anonymize(source, publisher.store, [WEEK], publisher.coverage)
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day]


@pytest.mark.parametrize(
    "options",
    [
        ("--week", MONDAY, "--week", "2021-03-15", "--week", MONDAY),
        ("--week", "2021-03-15", "--week", MONDAY),
        ("--from", MONDAY, "--to", "2021-03-15"),
    ],
)
def test_several_weeks_are_committed_in_one_run(publisher: Publisher, options: tuple[str, ...]) -> None:
    """Each gets its counts and its entry, in the order of time, whatever the order or the number of the options."""
    code, out, err = publisher.anonymize(publisher.log(weeks_of_searches(0, 1)), *options, week=None)
    assert (code, err) == (0, "")
    lines = [f"week {week}: committed to {publisher.store}" for week in (WEEK, NEXT)]
    assert out.splitlines() == lines
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day, NEXT.first_day]
    assert publisher.noisy(WEEK).size == publisher.noisy(NEXT).size == len(CellList(publisher.coverage).cells)


def test_the_order_of_weeks_does_not_matter_to_python_either(publisher: Publisher) -> None:
    """The function behind the command takes weeks in any order, and one that is named twice once."""
    source = LogSource((str(publisher.log(weeks_of_searches(0, 1))),))
    done = anonymize(source, publisher.store, [NEXT, WEEK, NEXT], publisher.coverage)
    assert [(d.week, d.was_there) for d in done] == [(WEEK, False), (NEXT, False)]


# The promise


def test_a_spec_whose_promise_does_not_hold_is_refused_before_the_log_is_read(publisher: Publisher) -> None:
    """The check fails with exit code 1 although there is no log at all, and no store is made."""
    spec = publisher.folder / "spec.toml"
    spec.write_text(spec_toml(load_spec()).replace("epsilon = 2.19", "epsilon = 2.18"))
    code, out, err = publisher.anonymize(publisher.folder / "no.parquet", "--spec", spec)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "'vaccination-v1' promises epsilon 2.18 at delta 1e-05, but its sigmas give 2.18" in err
    assert not publisher.store.exists()


# What may be wrong with a log


def test_a_missing_day_is_refused_unless_it_is_allowed(publisher: Publisher) -> None:
    """Silently missing data is found out; the line gives the option, and the ledger remembers that it was used."""
    log = publisher.log(f"SELECT * FROM ({searches()}) WHERE isodow(timestamp) != 3")
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "week 2021-03-08: no usable event on Wednesday 2021-03-10; is the log complete?")
    result = publisher.anonymize(log, "--allow-missing-day", "2021-03-11")
    assert_refused(publisher, result, "Wednesday 2021-03-10", "--allow-missing-day 2021-03-10")
    code, _, err = publisher.anonymize(log, "--allow-missing-day", "2021-03-10", "--allow-missing-day", "2021-03-24")
    assert (code, err) == (0, "")
    assert [entry.missing_days for entry in publisher.ledger()] == ["2021-03-10"]


def test_a_complete_week_has_no_missing_days_in_the_ledger(publisher: Publisher) -> None:
    """An entry says nothing of missing days where none were declared."""
    assert publisher.anonymize(publisher.log())[0] == 0
    assert [entry.missing_days for entry in publisher.ledger()] == [""]


def test_a_day_of_which_no_row_can_be_used_is_missing(publisher: Publisher) -> None:
    """A day whose users or regions are all unknown is no day with events."""
    log = publisher.log(searches(user_id="CASE WHEN i % 7 != 6 THEN i END"))
    result = publisher.anonymize(log, "--max-left-out", "1")
    assert_refused(publisher, result, "no usable event on Sunday 2021-03-14")


BAD_ROWS = {
    "no user": ({"user_id": "CASE WHEN i >= {bad} THEN i END"}, "without a user"),
    "no region": ({"region": "CASE WHEN i >= {bad} THEN '94103' END"}, "without a region"),
    "unknown region": (
        {"region": f"CASE WHEN i >= {{bad}} THEN '94103' ELSE '{SECRET}' END"},
        "with an unknown region",
    ),
    "no time": ({"timestamp": f"CASE WHEN i >= {{bad}} THEN {NOON} END"}, "with no time, or one outside"),
    "another time": (
        {"timestamp": f"{NOON} - to_days(CASE WHEN i >= {{bad}} THEN 0 ELSE 70 END)"},
        "with no time, or one outside",
    ),
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_more_unusable_rows_than_the_limit_are_refused(publisher: Publisher, kind: str) -> None:
    """Over 5 % of one kind is too many; the line says how many of which kind, and shows none of them."""
    columns, words = BAD_ROWS[kind]
    bad = {role: expression.format(bad=8) for role, expression in columns.items()}
    result = publisher.anonymize(publisher.log(searches(**bad)))  # type: ignore[arg-type]
    assert_refused(publisher, result, f"week 2021-03-08: 8 of 140 rows cannot be used (8 {words}", "more than 5%")
    assert SECRET not in result[2]


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_unusable_rows_within_the_limit_are_told_to_the_operator_only(publisher: Publisher, kind: str) -> None:
    """5 % passes; how many were not used is on standard error, and not on standard output or in the ledger."""
    columns, words = BAD_ROWS[kind]
    bad = {role: expression.format(bad=7) for role, expression in columns.items()}
    log = publisher.log(searches(**bad))  # type: ignore[arg-type]
    code, out, err = publisher.anonymize(log)
    assert code == 0
    assert err.startswith(f"week 2021-03-08: rows not used: 7 {words}")
    assert err.endswith("(private, not stored)\n")
    assert SECRET not in err
    assert out == f"week 2021-03-08: committed to {publisher.store}\n"
    counts = by_cell(publisher.coverage, count(publisher.coverage, log).counts)
    assert sum(n for (place, category), n in counts.items() if len(place) == 8 and category == "A0") == ROWS - 7


def test_rows_of_several_kinds_add_up_and_each_is_counted_once(publisher: Publisher) -> None:
    """A row without user and region is one row, and every kind is named."""
    query = searches(
        user_id="CASE WHEN i >= 3 THEN i END",
        region=f"CASE WHEN i < 1 OR i BETWEEN 3 AND 5 THEN NULL WHEN i = 6 THEN '{SECRET}' ELSE '94103' END",
    )
    words = "rows not used: 3 without a user, 3 without a region, 1 with an unknown region (private, not stored)"
    code, _, err = publisher.anonymize(publisher.log(query))
    assert (code, err) == (0, f"week 2021-03-08: {words}\n")


@pytest.mark.parametrize(("share", "code"), [("0.1", 0), ("0.099", 2), ("1", 0), ("0", 2)])
def test_the_limit_can_be_set(publisher: Publisher, share: str, code: int) -> None:
    """--max-left-out is the largest share that passes."""
    log = publisher.log(searches(user_id="CASE WHEN i >= 14 THEN i END"))
    result = publisher.anonymize(log, "--max-left-out", share)
    assert result[0] == code
    if code:
        assert f"more than {100 * float(share):g}%; fix the log, or allow more with --max-left-out" in result[2]
        assert "--other-weeks" not in result[2]


def test_files_of_other_weeks_are_not_held_against_a_log(publisher: Publisher) -> None:
    """A folder that holds a year, a file a week, is a log of any of its weeks; bad rows count in their own week."""
    for offset in (-30, -1, 1, 30):
        bad = searches(user_id="NULL::BIGINT", timestamp=f"{NOON} + to_days({7 * offset})")
        publisher.log(bad, f"log/{offset}.parquet")
    publisher.log(name="log/0.parquet")
    code, _, err = publisher.anonymize(publisher.folder / "log")
    assert (code, err) == (0, "")


def test_events_within_a_day_of_the_week_are_not_held_against_a_log(publisher: Publisher) -> None:
    """Files are cut at other midnights than the release's; what spills over does not count against the log."""
    near = " UNION ALL ".join(
        searches(timestamp=f"TIMESTAMPTZ '{moment}'") for moment in ("2021-03-07 08:00:00+00", "2021-03-16 06:59:59+00")
    )
    code, _, err = publisher.anonymize(publisher.log(f"{searches()} UNION ALL {near}"))
    assert (code, err) == (0, "")
    far = publisher.log(
        f"{searches()} UNION ALL {searches(timestamp='TIMESTAMPTZ $$2021-03-07 07:59:59+00$$')}", "b.csv"
    )
    publisher.forget()
    assert_refused(publisher, publisher.anonymize(far), "140 of 280 rows cannot be used")


def test_one_file_of_many_weeks_needs_a_word(publisher: Publisher) -> None:
    """Other weeks in the week's own file may be a mistake: refused with the hint, and read with --other-weeks."""
    log = publisher.log(weeks_of_searches(-3, 0, 3))
    result = publisher.anonymize(log)
    assert_refused(publisher, result, "280 of 420 rows cannot be used", "; --other-weeks if the files are meant to")
    code, _, err = publisher.anonymize(log, "--other-weeks")
    assert code == 0
    assert err == (
        "week 2021-03-08: rows not used: 280 with no time, or one outside the weeks asked for (private, not stored)\n"
    )


def test_other_weeks_do_not_excuse_bad_rows(publisher: Publisher) -> None:
    """With --other-weeks, rows without a user still count against the log."""
    query = f"{weeks_of_searches(-3)} UNION ALL {searches(user_id='CASE WHEN i % 2 = 0 THEN i END')}"
    result = publisher.anonymize(publisher.log(query), "--other-weeks")
    assert_refused(publisher, result, "70 without a user")


def test_a_file_of_the_weeks_asked_for_needs_no_word(publisher: Publisher) -> None:
    """When all its weeks are asked for, one file of many weeks is what one expects."""
    options = ("--from", MONDAY, "--to", "2021-03-22")
    code, out, err = publisher.anonymize(publisher.log(weeks_of_searches(0, 1, 2)), *options, week=None)
    assert (code, err) == (0, "")
    assert out.count("committed") == 3


# Once


def test_running_again_changes_nothing_and_says_so(publisher: Publisher) -> None:
    """The week is there: exit code 0, the same counts and entry byte by byte, whatever has become of the log."""
    log = publisher.log()
    assert publisher.anonymize(log)[:2] == (0, f"week {WEEK}: committed to {publisher.store}\n")
    counts, ledger = publisher.noisy().tobytes(), publisher.ledger()
    log.unlink()
    code, out, err = publisher.anonymize(log)
    assert (code, out, err) == (0, f"week {WEEK}: is in the store already, nothing changed\n", "")
    assert publisher.noisy().tobytes() == counts
    assert publisher.ledger() == ledger


def test_only_the_new_week_is_noised(publisher: Publisher) -> None:
    """Where one of two weeks is there already, it stays as it was and the other is added."""
    log = publisher.log(weeks_of_searches(0, 1))
    publisher.anonymize(log, "--other-weeks")
    counts = publisher.noisy().tobytes()
    code, out, err = publisher.anonymize(log, "--week", str(NEXT))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"week {WEEK}: is in the store already, nothing changed",
        f"week {NEXT}: committed to {publisher.store}",
    ]
    assert publisher.noisy().tobytes() == counts
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day, NEXT.first_day]


def test_another_store_draws_other_noise(publisher: Publisher) -> None:
    """There is no seed: the same log gives other noise the next time, which is why a week is noised once."""
    log = publisher.log()
    publisher.anonymize(log)
    first = publisher.noisy()
    publisher.forget()
    publisher.anonymize(log)
    assert (publisher.noisy() != first).any()


def test_a_week_that_fails_leaves_those_before_it(publisher: Publisher) -> None:
    """Each week is committed by itself; what was spent is in the ledger, and a run on a fixed log does the rest."""
    publisher.log(name="log/a.parquet")
    bad = publisher.log(searches(timestamp=f"{NOON} + to_days(7)", user_id="NULL::BIGINT"), "log/b.parquet")
    code, _, err = publisher.anonymize(publisher.folder / "log", "--week", str(NEXT))
    assert code == 2
    assert "week 2021-03-15: 140 of 140 rows cannot be used" in err
    assert [entry.week for entry in publisher.ledger()] == [WEEK.first_day]
    counts = publisher.noisy().tobytes()
    write_log(bad, searches(timestamp=f"{NOON} + to_days(7)"))
    assert publisher.anonymize(publisher.folder / "log", "--week", str(NEXT))[0] == 0
    assert publisher.noisy().tobytes() == counts


def test_another_spec_on_the_store_is_refused_with_the_difference(publisher: Publisher) -> None:
    """Releases are not mixed: the line names the key and both values, and the store stays as it was."""
    log = publisher.log(weeks_of_searches(0, 1))
    publisher.anonymize(log, "--other-weeks")
    ledger = publisher.ledger()
    spec = publisher.folder / "spec.toml"
    spec.write_text(spec_toml(load_spec()).replace("epsilon = 2.19", "epsilon = 2.2"))
    code, out, err = publisher.anonymize(log, "--spec", spec, "--other-weeks", week=str(NEXT))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "made with another spec: promise.epsilon is 2.19 in the store, 2.2 now; use the same spec" in err
    assert publisher.ledger() == ledger


def test_another_geography_on_the_store_is_refused_with_the_difference(publisher: Publisher) -> None:
    """The line says how many regions differ."""
    publisher.anonymize(publisher.log())
    ledger = publisher.ledger()
    write_csv(publisher.geography, LITTLE_REGIONS[:-1])
    code, out, err = publisher.anonymize(publisher.folder / "log.parquet", week=str(NEXT))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "made with another geography" in err
    assert "0 regions are new or changed, 1 are gone or changed; use the same one, or a new store" in err
    assert publisher.ledger() == ledger


@contextmanager
def another_process(store: Path) -> Iterator[None]:
    """Hold the store open in another process."""
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.communicate()


def test_a_second_process_on_the_store_is_refused(publisher: Publisher) -> None:
    """While one process holds the store, another can neither write to it nor read it, and says so in one line."""
    publisher.anonymize(publisher.log())
    ledger = publisher.ledger()
    with another_process(publisher.store):
        for result in (
            publisher.anonymize("log.parquet", week=str(NEXT)),
            publisher.run("ledger", "--store", publisher.store),
        ):
            assert result[:2] == (2, "")
            words = f"{publisher.store}: another process is using this store; wait until it has finished"
            assert result[2] == f"search-insights: {words}\n"
    assert publisher.ledger() == ledger


# The store as a file


def test_a_store_in_a_missing_folder_is_refused(publisher: Publisher) -> None:
    """The line names the folder."""
    folder = publisher.folder / "nowhere"
    code, out, err = publisher.run(
        "anonymize", publisher.log(), "--store", folder / "s.db", "--geography", publisher.geography, "--week", MONDAY
    )
    assert (code, out) == (2, "")
    assert err == f"search-insights: {folder / 's.db'}: no folder {folder}; make it first\n"


def test_a_file_that_is_no_store_is_refused_and_left_alone(publisher: Publisher) -> None:
    """Text is not taken for a store, nor for one in use, even if its folder is called block."""
    folder = publisher.folder / "block"
    folder.mkdir()
    text = folder / "notes.txt"
    text.write_text("do not lose me\n" * 500)
    code, out, err = publisher.run(
        "anonymize", publisher.log(), "--store", text, "--geography", publisher.geography, "--week", MONDAY
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{text}: not a store of this program" in err
    assert text.read_text() == "do not lose me\n" * 500


def test_the_store_is_readable_by_its_owner_only(publisher: Publisher) -> None:
    """Its mode is 0600 whatever the mask of the process; what is to be public gets published."""
    before = stat.S_IMODE(publisher.log().stat().st_mode)
    publisher.anonymize(publisher.folder / "log.parquet")
    assert stat.S_IMODE(publisher.store.stat().st_mode) == 0o600
    assert stat.S_IMODE(publisher.log(name="later.parquet").stat().st_mode) == before


# Nothing private gets out


def test_the_store_holds_no_user_query_or_exact_count(publisher: Publisher, temporary: Path) -> None:
    """The cells differ from the truth as their sigmas say; neither the file's bytes nor its tables tell a secret."""
    log = publisher.log(
        searches(
            user_id=f"'{SECRET}-user-' || i",
            region=f"CASE WHEN i < 100 THEN '{SECRET}-place' ELSE ['94103', '95667', 'geoId/06003'][(i % 3) + 1] END",
            more=f"'{SECRET} query' AS query, '{SECRET}' AS extra",
            rows=7_000,
        )
    )
    code, out, err = publisher.anonymize(log)
    assert code == 0
    assert SECRET not in out + err
    exact = count(publisher.coverage, log).counts
    assert 2_000 < exact.max() < 7_000
    sigmas = CellList(publisher.coverage).sigmas
    score = float(np.square((publisher.noisy() - exact) / sigmas).mean())
    assert 0.2 < score < 3
    with duckdb.connect(str(publisher.store), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        assert {"about", "cells", "counts", "ledger", "regions"} <= set(tables)
        for table in tables:
            columns = connection.execute(f"SELECT * FROM {table}").fetchnumpy()
            assert SECRET not in str([list(column) for column in columns.values()])
            for column in columns.values():
                assert column.dtype == object or len(column) != exact.size or (column != exact).any()
    made = [path for path in publisher.folder.rglob("*") if path.is_file() and path not in (log, publisher.geography)]
    assert sorted(made) == [publisher.store, journal_path(publisher.store)]
    assert not any(SECRET.encode() in path.read_bytes() for path in made)


@pytest.mark.parametrize("category", ["NULL", f"CASE WHEN i % 7 = 6 THEN '{SECRET}' END"], ids=["success", "error"])
def test_the_folder_of_spilled_data_is_private_and_gone_afterwards(
    publisher: Publisher, temporary: Path, category: str
) -> None:
    """While the log is read there is one folder of mode 0700; after the end, also a bad one, there is none."""
    modes: list[list[int]] = []

    def look(step: str) -> None:
        modes.append([stat.S_IMODE(path.stat().st_mode) for path in temporary.iterdir()])

    source = LogSource((str(publisher.log(searches(category=category))),))
    try:
        anonymize(source, publisher.store, [WEEK], publisher.coverage, progress=look)
    except LogError as error:
        assert "unknown value" in str(error)  # noqa: PT017 - one of the two cases has no error
    assert len(modes) >= 7
    assert all(seen == [0o700] for seen in modes)
    assert list(temporary.iterdir()) == []


def test_an_interrupted_run_leaves_no_spilled_data_and_spends_nothing(
    publisher: Publisher, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a week: exit code 130, the folder gone, the ledger empty."""

    class Interrupted(Steps):
        def show(self, text: str) -> None:
            if text.endswith("Thu"):
                raise KeyboardInterrupt

    monkeypatch.setattr("search_insights.commands.anonymize.Steps", Interrupted)
    code, out, err = publisher.anonymize(publisher.log())
    assert (code, out, err) == (130, "", "search-insights: interrupted\n")
    assert list(temporary.iterdir()) == []
    assert publisher.ledger() == []


def test_a_day_that_does_not_fit_into_memory_is_counted_all_the_same(publisher: Publisher, temporary: Path) -> None:
    """What does not fit goes to the private folder; the counts are those of a day that fits."""
    coverage, rows = publisher.coverage, 2_000_000
    query = searches(user_id="'someone ' || i", timestamp=f"TIMESTAMPTZ '{MONDAY} 20:00:00+00'", rows=rows)
    source = LogSource((str(publisher.log(query)),))
    begin, end = WEEK.day_bounds(WEEK.first_day)
    with open_duckdb_engine(source, coverage.spec, region_names(coverage), "160MB") as engine:
        engine.connection.execute("SET threads = 2")  # each needs memory of its own
        found = engine.bound(WEEK.first_day, begin, end)
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert sum(path.stat().st_size for path in folder.iterdir()) > 1_000_000
    assert found.events == rows
    of_any = found.categories == 0
    assert int(found.user_days[of_any].sum()) == rows
    assert int(found.user_days[~of_any].sum()) == rows * 3 // 5
    assert list(temporary.iterdir()) == []


def test_too_little_memory_is_said_in_one_line(publisher: Publisher) -> None:
    """A limit that cannot be kept is not a fault of the program: the line names the option to raise."""
    result = publisher.anonymize(publisher.log(searches(rows=200_000)), "--memory", "1MB")
    assert_refused(publisher, result, "raise --memory")


# Progress


def test_progress_goes_to_standard_error_day_by_day(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """On long work each day is told as it is done; standard output has the result alone."""
    monkeypatch.setattr("search_insights.commands.anonymize.Steps", lambda: Steps(patience=0))
    code, out, err = publisher.anonymize(publisher.log())
    assert code == 0
    assert out == f"week {WEEK}: committed to {publisher.store}\n"
    steps = [line.partition("] ")[2] for line in err.splitlines()]
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert steps == [f"week {WEEK}: {step}" for step in ("counting", *days, "committed")]


def test_the_packaged_country_is_the_default(run: Run, tmp_path: Path, us_coverage: Coverage) -> None:
    """Without --geography and --spec a log of the United States is anonymized; every cell of it is in the store."""
    store = tmp_path / "store.db"
    code, out, _ = run("anonymize", write_log(tmp_path / "log.parquet"), "--store", store, "--week", MONDAY)
    assert (code, out) == (0, f"week {WEEK}: committed to {store}\n")
    with duckdb.connect(str(store), read_only=True) as connection:
        (found,) = connection.execute("SELECT count(*), min(cell), max(cell) FROM counts").fetchall()
    cells = len(CellList(us_coverage).cells)
    assert found == (cells, 0, cells - 1)


def test_the_geography_of_the_store_is_the_one_given(publisher: Publisher) -> None:
    """The same regions from a Parquet file are the same geography."""
    publisher.anonymize(publisher.log(weeks_of_searches(0, 1)), "--other-weeks")
    parquet = publisher.folder / "little.parquet"
    duckdb.read_csv(str(publisher.geography), all_varchar=True).write_parquet(str(parquet))
    assert load_geography(parquet).fingerprint == publisher.coverage.geography.fingerprint
    arguments = ("--store", publisher.store, "--geography", parquet, "--week", str(NEXT), "--other-weeks")
    assert publisher.run("anonymize", publisher.folder / "log.parquet", *arguments)[0] == 0
