"""A dataset is made from the store alone, the same every time, and appears complete or not at all."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from search_insights.dataset import publication
from search_insights.dataset.publication import publish
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.store.opening import open_store
from tests.support.command_line import Run
from tests.support.datasets import STEM, contents, dataset_of, json_of, rows_of, text_of
from tests.support.stores import CITY, NOTHING, TOWN, WeekCounts, add_weeks

FILES = {
    *(f"{STEM}.csv", f"{STEM}.parquet", "regions.csv", "datapackage.json"),
    *("privacy.json", "PRIVACY.md", "summary.json", "summary.svg", "sparsity.json"),
}


# Made from the store alone


def test_publishing_twice_gives_the_same_bytes(store: Path) -> None:
    """Publishing again writes the same bytes to every file, including the picture."""
    first = contents(dataset_of(store))
    assert set(first) == FILES
    assert contents(dataset_of(store)) == first
    assert contents(dataset_of(store, "elsewhere")) == first


def test_publishing_needs_nothing_but_the_store(store: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A copy of the store in an empty folder, without log, geography and spec, gives the same bytes."""
    there = tmp_path_factory.mktemp("alone")
    shutil.copy(store, there / "store.db")
    first = contents(dataset_of(store))
    shutil.rmtree(store.parent)
    copy = contents(dataset_of(there / "store.db"))
    assert copy == first
    assert sorted(path.name for path in there.iterdir()) == ["dataset", "store.db", "store.db.journal"]


def test_adding_weeks_changes_no_old_row(store: Path, short_coverage: Coverage) -> None:
    """The next release has every line of the first one, also when the new weeks complete the window."""
    before = text_of(dataset_of(store)).splitlines()
    add_weeks(store, short_coverage, {TOWN: (100, 1, 1, 1)}, {}, start=2, usual=(100_000, 9_000, 4_000, 2_000))
    after = text_of(dataset_of(store)).splitlines()
    assert len(after) > len(before)
    assert [line for line in before if line not in after] == []


# Complete or not at all


@pytest.mark.parametrize("part", ["write_tables", "privacy_page", "save_summary_chart", "record_decisions"])
def test_a_failure_while_writing_leaves_the_old_dataset(
    store: Path, short_coverage: Coverage, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Whatever fails, the folder still holds the old dataset, and there are no other files beside it."""
    dataset = dataset_of(store)
    before = contents(dataset)
    add_weeks(store, short_coverage, {}, start=2)

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(publication, part, fail)
    with pytest.raises(RuntimeError):
        publish(store, dataset)
    assert contents(dataset) == before
    assert sorted(path.name for path in store.parent.iterdir()) == [
        "dataset",
        "store.db",
        "store.db.journal",
    ]


def test_a_full_disk_is_one_line(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write is reported in one line with the reason, and leaves no files."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publication, "save_summary_chart", full)
    code, out, err = run("publish", "--store", store, "--out", store.parent / "dataset")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be written" in err
    assert "No space left on device" in err
    assert not (store.parent / "dataset").exists()


def test_a_release_that_is_not_published_fixes_nothing(store: Path, short_coverage: Coverage) -> None:
    """A wrong --out does not count as the first release: neither the scale nor the sparse regions are fixed."""
    (store.parent / "file").write_text("in the way")
    add_weeks(store, short_coverage, {}, {}, start=2)
    for out in ("file", "nowhere/dataset"):
        with pytest.raises(InputError):
            publish(store, store.parent / out)
    with open_store(store) as opened:
        assert (opened.scaling(), opened.sparsity()) == (None, None)


@pytest.mark.parametrize(
    ("out", "words"),
    [("file", "is a file; give a folder"), ("nowhere/dataset", "no folder"), (".", "holds file")],
)
def test_an_unsuitable_output_folder_is_refused(store: Path, run: Run, out: str, words: str) -> None:
    """A file, a folder in a missing folder, or a folder with other files gives one line and exit code 2."""
    (store.parent / "file").write_text("in the way")
    before = contents(store.parent)
    code, printed, err = run("publish", "--store", store, "--out", store.parent / out)
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert words in err
    assert contents(store.parent) == before


def test_a_folder_that_holds_the_store_is_refused(store: Path) -> None:
    """The output folder is replaced, so the store, which cannot be made again, must not be in it."""
    home = store.parent / "home"
    home.mkdir()
    shutil.move(store, home / "store.db")
    with pytest.raises(InputError, match=r"holds store\.db, which is not part of this dataset"):
        publish(home / "store.db", home)
    assert sorted(path.name for path in home.iterdir()) == ["store.db", "store.db.journal"]


def test_a_dataset_that_cannot_be_read_is_not_replaced(store: Path) -> None:
    """Without the published values nothing can show that they do not change, so the folder is left alone."""
    dataset = dataset_of(store)
    (dataset / f"{STEM}.csv").write_text("something else\n1\n")
    with pytest.raises(InputError, match="cannot be read as this dataset"):
        publish(store, dataset)
    assert (dataset / f"{STEM}.csv").read_text() == "something else\n1\n"


# The command


def test_the_command_reports_what_was_published_and_dropped(store: Path, run: Run) -> None:
    """`publish` prints a line for each level and trend, then the file with its rows and weeks.

    It warns of a scale that fewer weeks set than the spec's window has.
    """
    dataset = store.parent / "dataset"
    code, out, err = run("publish", "--store", store, "--out", dataset)
    assert code == 0
    assert err.startswith("the scale is set by 2 weeks only, and fixed for good")
    assert "The spec's window has 4 weeks" in err
    lines = [line.split() for line in out.splitlines()]
    assert " ".join(lines[0]) == "level trend regions published sparse region not positive too uncertain"
    assert ["postal_code", "safety_side_effects", "2", "2", "0", "2", "0"] in lines
    assert f"{dataset / STEM}.csv: 21 rows, 2 weeks, 2021-01-04 to 2021-01-11" in out


def test_the_packaged_window_is_22_weeks_and_its_limit_3_points(tmp_path: Path, coverage: Coverage) -> None:
    """January to May 2021: with 21 weeks nothing is decided; with 22, 3 points are too few and 4 are enough."""
    few: Sequence[WeekCounts] = [{}] * 3 + [{CITY: NOTHING}] + [{CITY: NOTHING, TOWN: NOTHING}] * 17
    path = add_weeks(tmp_path / "store.db", coverage, *few)
    dataset = dataset_of(path)
    assert json_of(dataset, "privacy.json")["sparsity"] == {"decided": False, "regions_removed": 0}
    add_weeks(path, coverage, {CITY: NOTHING, TOWN: NOTHING}, start=21)
    dataset_of(path)
    assert json_of(dataset, "privacy.json")["sparsity"] == {"decided": True, "regions_removed": 1}
    shown = [row["place_id"] for row in rows_of(dataset) if row["place_id"].startswith("zip/")]
    assert shown == [TOWN] * 4
