"""A release has an identity: by it its store, journal, backups and datasets know each other, and others are refused."""

import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from search_insights.dataset.publication import publish
from search_insights.errors import CheckFailed, StoreError
from search_insights.spec.coverage import Coverage
from search_insights.spec.weeks import Week
from search_insights.store.backup import back_up, restore
from search_insights.store.identity import Mark, is_identity, new_identity
from search_insights.store.journal import journal_path, read_journal, remember
from search_insights.store.opening import create_or_open_store, open_store, read_weeks
from search_insights.store.second_store import refuse_second_store
from search_insights.store.verification import problems
from search_insights.trends.scaling import scale_problems
from tests.support.command_line import Run
from tests.support.datasets import contents, dataset_of, json_of
from tests.support.logs import MONDAY, Publisher, searches
from tests.support.stores import FIRST, add_weeks

pytestmark = pytest.mark.usefixtures("quick_accounting")


def identity_of(store: Path) -> str:
    with open_store(store) as opened:
        return opened.identity


def forget_identity(store: Path) -> None:
    """Make a store as a version without identities would have: neither it nor its journal names the release."""
    with duckdb.connect(str(store)) as connection:
        connection.execute("DELETE FROM about WHERE key = 'identity'")
    lines = journal_path(store).read_text().splitlines(keepends=True)
    journal_path(store).write_text("".join(line for line in lines if not line.startswith("release ")))


def test_store_journal_backup_and_dataset_have_the_same_identity(tmp_path: Path, short_coverage: Coverage) -> None:
    """It is made with the store, and everything that is made from the store has it."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    identity = identity_of(store)
    assert is_identity(identity)
    assert read_journal(store).marks == [Mark(identity, short_coverage.spec.name, "country/USA")]
    back_up(store, tmp_path / "backup.db", scale_problems)
    assert read_weeks(tmp_path / "backup.db")[0].identity == identity
    dataset = dataset_of(store)
    assert json_of(dataset, "privacy.json")["identity"] == json_of(dataset, "datapackage.json")["id"] == identity


def test_an_identity_is_random(tmp_path: Path, short_coverage: Coverage) -> None:
    """Two stores with the same spec, geography, weeks and counts have different ones: it tells nothing of them."""
    stores = [add_weeks(tmp_path / name, short_coverage, {}) for name in ("a.db", "b.db")]
    assert len({identity_of(store) for store in stores}) == 2


def test_every_copy_of_a_store_of_an_earlier_version_gets_the_same_identity(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """A copy on another machine is of the same release, whether it is read or written first."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    forget_identity(store)
    shutil.copy(store, tmp_path / "copy.db")
    read = identity_of(tmp_path / "copy.db")
    add_weeks(store, short_coverage, {}, start=1)
    assert is_identity(read)
    assert identity_of(store) == read_journal(store).identity == read_weeks(store)[0].identity == read
    add_weeks(tmp_path / "copy.db", short_coverage, {}, start=2)
    assert identity_of(tmp_path / "copy.db") == read


def test_a_new_store_beside_its_journal_keeps_the_identity(tmp_path: Path, short_coverage: Coverage) -> None:
    """The journal outlives the store: what is made in its place is of the same release."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    identity = identity_of(store)
    store.unlink()
    add_weeks(store, short_coverage, {}, start=1)
    assert identity_of(store) == identity


def test_a_store_beside_the_journal_of_another_release_is_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """Also if no week contradicts it; `ledger --verify` finds it too."""
    store, other = (add_weeks(tmp_path / n, short_coverage, {}, start=i) for i, n in enumerate(("a.db", "b.db")))
    shutil.copy(journal_path(other), journal_path(store))
    with pytest.raises(StoreError, match="is of another release than"), create_or_open_store(store, short_coverage):
        pass
    with open_store(store) as opened:
        assert "a.db.journal: belongs to another release than the store" in problems(opened, scale_problems)


def test_a_journal_of_two_releases_is_refused(tmp_path: Path) -> None:
    """Lines of two stores in one journal cannot be told apart."""
    marks = [f"release {Mark(new_identity(), 'x', 'country/USA')}\n" for _ in range(2)]
    journal_path(tmp_path / "store.db").write_text("".join(marks))
    with pytest.raises(StoreError, match="line 2: another release than in the lines above"):
        read_journal(tmp_path / "store.db")


# Publishing


def test_the_dataset_of_another_release_is_never_replaced(tmp_path: Path, short_coverage: Coverage) -> None:
    """Not even by a correction, and not if the two have no week in common: its weeks and its scale would be gone."""
    dataset = dataset_of(add_weeks(tmp_path / "store.db", short_coverage, {}))
    before = contents(dataset)
    other = add_weeks(tmp_path / "other.db", short_coverage, {}, start=1)
    for correction in (None, "a new beginning"):
        with pytest.raises(CheckFailed, match=r"holds the dataset of release .*, which does not replace it"):
            publish(other, dataset, correction=correction)
    assert contents(dataset) == before


def without_identity(dataset: Path) -> None:
    """Change a dataset to one of an earlier version."""
    statement = json_of(dataset, "privacy.json")
    del statement["identity"]
    (dataset / "privacy.json").write_text(json.dumps(statement), encoding="utf-8")


def test_a_dataset_of_an_earlier_version_is_known_by_its_noise(tmp_path: Path, short_coverage: Coverage) -> None:
    """A week with the same noise shows that it is of this store, and then it gets the identity; else it is refused."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    dataset = dataset_of(store)
    without_identity(dataset)
    other = add_weeks(tmp_path / "other.db", short_coverage, {}, start=1)
    with pytest.raises(CheckFailed, match="another release: it has no week of this store"):
        publish(other, dataset, correction="a new beginning")
    publish(store, dataset)
    assert json_of(dataset, "privacy.json")["identity"] == identity_of(store)


def test_a_late_week_moves_no_other_value(tmp_path: Path, short_coverage: Coverage) -> None:
    """A week that comes after later ones were published is inserted; the rows of the others are the same."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    add_weeks(store, short_coverage, {}, start=2)
    dataset = dataset_of(store)
    [csv] = [path for path in dataset.glob("*.csv") if path.name != "regions.csv"]
    before = set(csv.read_text().splitlines())
    add_weeks(store, short_coverage, {}, start=1, usual=(100_000, 20_000, 9_000, 9_000))
    publish(store, dataset)
    late = set(csv.read_text().splitlines()) - before
    assert before < set(csv.read_text().splitlines())
    assert {line.split(",")[0] for line in late} == {str(FIRST + timedelta(weeks=1))}


# A second store


def week(number: int, coverage: Coverage) -> Week:
    return Week(FIRST + timedelta(weeks=number), coverage.spec.time_zone)


def test_a_second_store_of_the_same_name_and_weeks_is_refused(tmp_path: Path, short_coverage: Coverage) -> None:
    """A journal in the folder says so, also if its store is gone; other weeks, names and folders are free."""
    first, second = tmp_path / "store.db", tmp_path / "second.db"
    add_weeks(first, short_coverage, {})
    for _ in ("with its store", "without"):
        with pytest.raises(StoreError, match=f"store.db has week {FIRST} of vaccination-v1 already") as refused:
            refuse_second_store(second, short_coverage, [week(0, short_coverage)])
        assert all(way in str(refused.value) for way in ("Go on with that store", "store edition", "`another_release`"))
        first.unlink(missing_ok=True)
    refuse_second_store(second, short_coverage, [week(1, short_coverage)])
    refuse_second_store(first, short_coverage, [week(0, short_coverage)])  # itself


def test_the_journal_of_an_earlier_version_names_no_release_and_is_asked_too(
    tmp_path: Path, short_coverage: Coverage, other_coverage: Coverage
) -> None:
    """The store beside it tells its name and country; without it, the weeks alone decide."""
    first, second = tmp_path / "store.db", tmp_path / "second.db"
    add_weeks(first, short_coverage, {})
    forget_identity(first)
    with pytest.raises(StoreError, match=r"store.db has week"):
        refuse_second_store(second, short_coverage, [week(0, short_coverage)])
    refuse_second_store(second, other_coverage, [week(0, short_coverage)])
    first.unlink()
    with pytest.raises(StoreError, match=r"store.db has week"):
        refuse_second_store(second, other_coverage, [week(0, short_coverage)])


def test_a_journal_that_cannot_be_read_is_no_licence(tmp_path: Path, short_coverage: Coverage) -> None:
    """It cannot be seen whether the new store is a second one, so the operator has to say so."""
    (tmp_path / "store.db.journal").write_text("damaged\n")
    with pytest.raises(StoreError, match=r"It cannot be seen whether second.db would be a second store"):
        refuse_second_store(tmp_path / "second.db", short_coverage, [week(0, short_coverage)])


def test_a_second_store_of_the_same_identity_is_refused_whatever_its_weeks(
    tmp_path: Path, short_coverage: Coverage
) -> None:
    """Also when it is new and empty: a release has one store."""
    first = add_weeks(tmp_path / "store.db", short_coverage, {})
    with pytest.raises(StoreError, match="would be a second store of release"):
        refuse_second_store(tmp_path / "second.db", short_coverage, [week(9, short_coverage)], identity_of(first))


# The command line


def settings(publisher: Publisher, store: str, identity: str, more: str = "") -> Path:
    """Write a settings file that names a store and an identity."""
    file = publisher.folder / "search-insights.toml"
    file.write_text(f'store = "{store}"\nidentity = "{identity}"\n{more}', encoding="utf-8")
    return file


def test_a_new_store_gets_the_identity_of_the_settings_and_keeps_it(publisher: Publisher, run: Run) -> None:
    """`init` writes it there. A store of another release in its place is refused, before the log is read."""
    identity = new_identity()
    words = ("--geography", publisher.geography, "--week", MONDAY)
    file = settings(publisher, "new.db", identity)
    assert run("anonymize", publisher.log(), *words, "--settings", file)[0] == 0
    assert identity_of(publisher.folder / "new.db") == identity
    settings(publisher, "new.db", new_identity())
    code, out, err = run("anonymize", "no such log", *words, "--settings", file)
    assert (code, out) == (2, "")
    assert f"new.db: is of release {identity}, not of release" in err
    code, out, err = run("run", "--settings", file)
    assert code == 2
    assert f"new.db: is of release {identity}, and {file} is for release" in err


def test_anonymize_refuses_a_second_store_unless_told(publisher: Publisher, run: Run) -> None:
    """The one line names the option; nothing is made. With it, the log of another release is taken."""
    assert publisher.anonymize(publisher.log())[0] == 0
    second = publisher.folder / "second.db"
    words = ("anonymize", publisher.log(), "--store", second, "--geography", publisher.geography, "--week", MONDAY)
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--another-release" in err
    assert not second.exists()
    assert run(*words, "--another-release")[0] == 0
    code, out, err = run(*words)
    assert (code, "already" in out) == (0, True)
    assert "noise drawn again, also for a corrected log, would be a second release" in err
    assert f"store note --week {MONDAY} --reason TEXT" in err


def test_the_dataset_of_the_settings_knows_what_a_new_store_does_not(publisher: Publisher, run: Run) -> None:
    """If store and journal are gone, the dataset that the settings name shows which weeks were released."""
    file = settings(publisher, publisher.store.name, new_identity(), 'dataset = "dataset"\n')
    noon = f"TIMESTAMPTZ '{MONDAY} 20:00:00+00' + to_days((i % 7)::INTEGER)"
    log = publisher.log(searches(timestamp=noon, rows=14_000))
    words = ("anonymize", log, "--geography", publisher.geography, "--week", MONDAY, "--settings", file)
    assert run(*words)[0] == 0
    assert run("publish", "--settings", file)[0] == 0
    for path in (publisher.store, journal_path(publisher.store)):
        path.unlink()
    settings(publisher, publisher.store.name, new_identity(), 'dataset = "dataset"\n')
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert f"does not hold week {MONDAY}, which {publisher.folder / 'dataset'} says was committed" in err
    assert not publisher.store.exists()


def test_a_restore_takes_backup_and_dataset_of_one_release(tmp_path: Path, short_coverage: Coverage, run: Run) -> None:
    """A backup of another release is refused, and so is another's dataset: its weeks would count as lost ones."""
    store, other = (add_weeks(tmp_path / n, short_coverage, {}, start=i) for i, n in enumerate(("a.db", "b.db")))
    back_up(store, tmp_path / "backup.db", scale_problems)
    with pytest.raises(StoreError, match=r"is a backup of release .*, and the journal of b.db is of release"):
        restore(tmp_path / "backup.db", other, scale_problems, published=(), replace=True)
    dataset = dataset_of(other)
    words = ("store", "restore", tmp_path / "backup.db", "--store", store, "--dataset", dataset)
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"--dataset {dataset}: shows release {identity_of(other)}" in err


def test_a_week_that_a_journal_forgot_is_not_a_contradiction(tmp_path: Path, short_coverage: Coverage) -> None:
    """The release is recorded with the first week, and once: what is remembered again adds no line."""
    store = add_weeks(tmp_path / "store.db", short_coverage, {})
    text = journal_path(store).read_text()
    with open_store(store) as opened:
        remember(store, [entry.final for entry in opened.entries()], mark=opened.mark)
    assert journal_path(store).read_text() == text
    assert date.fromisoformat(json.loads(text.splitlines()[1])["week"]) == FIRST
