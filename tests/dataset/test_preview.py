"""`publish --dry-run` shows what a publication would do, refuses what it would refuse, and writes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from search_insights.dataset.preview import preview
from search_insights.spec.coverage import Coverage
from search_insights.store.journal import journal_path
from search_insights.store.opening import open_store
from tests.support.command_line import Run, assert_one_line
from tests.support.datasets import STEM, dataset_of, json_of, rows_of
from tests.support.stores import CITY, FIRST, NOTHING, add_weeks

Change = Callable[[Path, Path], object]


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder, with the time of its last change."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def dry(run: Run, store: Path, *more: str) -> tuple[int, str, str]:
    """Try a publication, and check that no byte changes."""
    before = tree(store.parent)
    ended = run("publish", "--store", store, "--out", store.parent / "dataset", "--dry-run", *more)
    assert tree(store.parent) == before
    return ended


def test_a_first_dry_run_shows_what_would_be_fixed(store: Path, short_coverage: Coverage, run: Run) -> None:
    """The scaling factor and the sparse regions are those that the publication then fixes."""
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    code, out, err = dry(run, store)
    assert (code, err) == (0, "")
    assert not (store.parent / "dataset").exists()
    with open_store(store) as opened:
        assert (opened.scaling(), opened.sparsity()) == (None, None)
    dataset = dataset_of(store)
    factor = json_of(dataset, "privacy.json")["scaling"]["factor"]
    assert f"scaling factor: {factor:.6g}, would be fixed for good by 4 weeks, 2021-01-04 to 2021-01-25" in out
    assert "sparse regions: 1 removed (postal_code 1), would be fixed for good by 2021-01-04 to 2021-01-25" in out
    assert f"{len(rows_of(dataset)):,} rows, 4 weeks" in out
    assert "weeks added: 2021-01-04 to 2021-01-25 (4 weeks)" in out
    assert "regions that vanish: none" in out
    assert out.startswith("Dry run: nothing was written.")


def test_a_journal_is_not_made(store: Path, run: Run) -> None:
    """A store without a journal has none after a dry run either."""
    journal_path(store).unlink()
    assert dry(run, store)[0] == 0
    assert not journal_path(store).exists()


def test_a_later_dry_run_shows_what_is_fixed_and_what_changes(store: Path, short_coverage: Coverage, run: Run) -> None:
    """New weeks appear, a region that turns out to be sparse vanishes, and nothing else changes."""
    before = rows_of(dataset_of(store))
    add_weeks(store, short_coverage, *[{CITY: NOTHING}] * 2, start=2)
    code, out, err = dry(run, store)
    assert (code, err) == (0, "")
    assert "scaling factor: " in out
    assert ", fixed on 20" in out
    assert "would be fixed for good by 2021-01-04 to 2021-01-25 (4 weeks); published until then: 1" in out
    assert "weeks added: 2021-01-18 to 2021-01-25 (2 weeks)" in out
    assert "regions that vanish: postal_code 1" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["postal_code", "vaccination_intent", "4", "2", "0", "1", "1"] in lines
    assert ["country", "vaccination_intent", "4", "2", "0", "0", "0"] in lines
    after = rows_of(dataset_of(store))
    assert sum(bool(row["sni_vaccination_intent"]) for row in after if row["place_id"] == "zip/95667") == 4
    assert len([row for row in before if row["place_id"] == CITY]) == 1


def test_a_dry_run_of_what_is_published_changes_nothing(store: Path, run: Run) -> None:
    """Every value is the same, in the text of the published file."""
    dataset_of(store)
    seen = preview(store, store.parent / "dataset")
    assert [(c.appear, c.change, c.vanish) for c in seen.found.changes] == [(0, 0, 0)] * len(seen.found.changes)
    assert sum(c.values for c in seen.found.changes) > 0
    assert (seen.weeks_added, seen.weeks_gone, seen.refusal) == ((), (), None)
    assert "sparse regions: not decided, none removed; missing: 2021-01-18 to 2021-01-25" in dry(run, store)[1]


def change_values(store: Path, dataset: Path) -> None:
    """Change the published values of a week."""
    path = dataset / f"{STEM}.csv"
    head, first, *rest = path.read_text().splitlines()
    cells = first.split(",")
    path.write_text("\n".join([head, ",".join([*cells[:-2], "1.000", "2.000"]), *rest]) + "\n")


def other_files(store: Path, dataset: Path) -> None:
    (dataset / "notes.txt").write_text("mine")


def no_statement(store: Path, dataset: Path) -> None:
    (dataset / "privacy.json").unlink()


def not_a_table(store: Path, dataset: Path) -> None:
    (dataset / f"{STEM}.csv").write_text("something else\n1\n")


def a_file(store: Path, dataset: Path) -> None:
    dataset.rename(dataset.with_name("elsewhere"))
    dataset.write_text("in the way")


def other_journal(store: Path, dataset: Path) -> None:
    journal_path(store).write_text(f"{FIRST} {'0' * 64}\n")


def half_a_journal(store: Path, dataset: Path) -> None:
    journal_path(store).write_text('{"week": "1999')


def no_store(store: Path, dataset: Path) -> None:
    store.unlink()


REFUSED: tuple[Change, ...] = (
    change_values, other_files, no_statement, not_a_table, a_file, other_journal, half_a_journal, no_store,
)  # fmt: skip


@pytest.mark.parametrize("change", REFUSED)
def test_what_a_publication_refuses_a_dry_run_refuses(store: Path, run: Run, change: Change) -> None:
    """The exit code and the line are the same."""
    dataset = dataset_of(store)
    change(store, dataset)
    code, _, err = dry(run, store)
    assert code in (1, 2)
    assert_one_line(err)
    assert (code, "", err) == run("publish", "--store", store, "--out", dataset)


def test_a_refused_correction_is_shown_value_by_value(store: Path, run: Run) -> None:
    """What would change is shown before the line that refuses it; with a reason it is not refused."""
    change_values(store, dataset_of(store))
    code, out, err = dry(run, store)
    assert code == 1
    assert ["country", "vaccination_intent", "2", "0", "1", "0", "0"] in [line.split() for line in out.splitlines()]
    assert "2 published values would change or disappear" in err
    code, out, err = dry(run, store, "--correction", "rounded anew")
    assert (code, err) == (0, "")
    assert "values corrected: 2, because: rounded anew" in out
    with open_store(store) as opened:
        assert opened.corrections() == []


def test_a_dry_run_refuses_an_empty_reason_and_a_missing_folder(store: Path, run: Run) -> None:
    """As a publication does."""
    code, _, err = dry(run, store, "--correction", " ")
    assert (code, "--correction: say briefly" in err) == (2, True)
    out = store.parent / "nowhere" / "dataset"
    assert run("publish", "--store", store, "--out", out, "--dry-run") == run("publish", "--store", store, "--out", out)


def test_a_dry_run_of_a_store_that_cannot_be_written_shows_it(store: Path, run: Run) -> None:
    """A store with a second name is refused for writing, so a dry run that would fix something says so."""
    store.with_name("second.db").hardlink_to(store)
    code, _, err = dry(run, store)
    assert code == 2
    assert "the file has a second name (a hard link)" in err
