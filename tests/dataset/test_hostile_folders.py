"""A published folder may come from anyone: `load` reads its own files and nothing else, or refuses in one line."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.dataset.folder import published_weeks
from search_insights.dataset.loading import load
from search_insights.errors import InputError
from search_insights.store.journal import journal_path
from search_insights.support.sql import literal
from tests.support.command_line import Run, assert_one_line
from tests.support.datasets import STEM, dataset_of
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import copy_of_store

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def published(two_weeks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store and its published folder, beside another Parquet file that is nobody's business."""
    home = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        folder = dataset_of(copy_of_store(two_weeks, home))
    shutil.copy(folder / f"{STEM}.parquet", home / "secret.parquet")
    return home


@pytest.fixture
def dataset(published: Path, tmp_path: Path) -> Path:
    """A copy of them, for one test."""
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    return tmp_path / "dataset"


def change(dataset: Path, name: str, how: Change) -> None:
    """Change the value in a JSON file."""
    path = dataset / name
    value = json.loads(path.read_text(encoding="utf-8"))
    how(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def refusal(dataset: Path) -> str:
    """Return the one line with which `load` refuses a folder."""
    with pytest.raises(InputError) as refused:
        load(dataset, "county", "vaccination_intent")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.parquet", "..", ".", "", "/etc/passwd", "sub/x.parquet", "*.parquet", "?S_x.parquet",
        "[US]*.parquet", "**.parquet", "https://example.org/x.parquet",
        "s3://bucket/x.parquet", "file:x.parquet", ".hidden.parquet",
        "x.parquet\0", "x\n.parquet", "x.csv", "a\\b.parquet", f"{STEM}.parquet?", 7, None, ["x.parquet"],
    ],
)  # fmt: skip
def test_load_reads_no_file_but_one_of_the_folder(dataset: Path, path: object) -> None:
    """A path that leads elsewhere, to another host or to several files is refused, wherever it points."""

    def point(package: dict[str, Any]) -> None:
        package["resources"][1]["path"] = path

    change(dataset, "datapackage.json", point)
    message = refusal(dataset)
    assert message.startswith(f"{dataset / 'datapackage.json'}: ")
    assert "path" in message


@pytest.mark.parametrize("name", [f"{STEM}.parquet", "datapackage.json"])
def test_load_follows_no_link(dataset: Path, name: str) -> None:
    """A link in the folder could lead to any file that the reader may read."""
    (dataset / name).rename(dataset.parent / name)
    (dataset / name).symlink_to(dataset.parent / name)
    assert refusal(dataset) == f"{dataset / name}: is a link; put the file itself in its place"


def test_load_waits_for_no_pipe(dataset: Path) -> None:
    """A pipe under the name of a file is refused at once."""
    (dataset / "datapackage.json").unlink()
    os.mkfifo(dataset / "datapackage.json")
    assert refusal(dataset) == f"{dataset / 'datapackage.json'}: not a regular file"


@pytest.mark.parametrize("name", ["datapackage.json", "privacy.json", "summary.json", "PRIVACY.md"])
def test_a_statement_of_any_size_is_refused_in_one_line(dataset: Path, run: Run, name: str) -> None:
    """A file with a hole of a terabyte costs its writer nothing, and would take all memory."""
    os.truncate(dataset / name, 1 << 40)
    code, out, err = run("dashboard", dataset, "--out", dataset.with_name("site"))
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert f"{name}: more than 65,536 kB" in err


def test_a_ledger_of_any_size_is_no_witness_and_no_crash(dataset: Path, store: Path, run: Run) -> None:
    """A store that is compared with the folder refuses it in one line."""
    os.truncate(dataset / "privacy.json", 1 << 40)
    restore = ("store", "restore", store, "--store", store.with_name("again.db"), "--dataset", dataset)
    for expected, command in ((1, ("publish", "--store", store, "--out", dataset)), (2, restore)):
        code, out, err = run(*command)
        assert (code, out) == (expected, "")
        assert_one_line(err)


def test_a_folder_may_have_any_name(dataset: Path) -> None:
    """A name that looks like a pattern means that folder, not another one that the pattern matches."""
    decoy = dataset.rename(dataset.with_name("dataset1"))
    strange = dataset.with_name("dataset[1]")
    strange.mkdir()
    for file in decoy.iterdir():
        (strange / file.name).write_bytes(file.read_bytes())
    (decoy / f"{STEM}.parquet").write_bytes(b"the wrong file")
    assert len(load(strange, "county", "vaccination_intent")) > 0


NESTED = b'{"a":' * 100_000
BAD_JSON = {
    "nested": (NESTED, "nested too deeply"),
    "not a number": (b'{"resources": NaN}', "not finite"),
    "too great": (b'{"resources": 1e999}', "not finite"),
    "too long": (b'{"resources": ' + b"9" * 5_000 + b"}", "more than 18 digits"),
    "twice": (b'{"resources": [], "resources": []}', "twice"),
    "not UTF-8": (b'{"resources": "\xff"}', "not text in UTF-8"),
    "half a character": (b'{"resources": "\\ud800"}', "not text in UTF-8"),
    "not JSON": (b"<html>", "not valid JSON"),
}


@pytest.mark.parametrize("what", BAD_JSON)
def test_a_description_that_is_not_plain_json_is_refused(dataset: Path, what: str) -> None:
    """The line names the file and what is wrong with it."""
    content, words = BAD_JSON[what]
    (dataset / "datapackage.json").write_bytes(content)
    message = refusal(dataset)
    assert message.startswith(f"{dataset / 'datapackage.json'}: ")
    assert words in message


@pytest.mark.parametrize("what", BAD_JSON)
def test_a_privacy_statement_that_is_not_plain_json_is_refused(dataset: Path, store: Path, run: Run, what: str) -> None:
    """A store that is compared with a published folder refuses the folder in one line."""
    (dataset / "privacy.json").write_bytes(BAD_JSON[what][0])
    code, out, err = run("store", "restore", store, "--store", store.with_name("again.db"), "--dataset", dataset)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert BAD_JSON[what][1] in err
    assert not store.with_name("again.db").exists()


@pytest.mark.parametrize(
    "ledger", [None, 7, {}, ["x"], [{"week": 7, "checksum": "x"}], [{"week": "2021-13-01", "checksum": "x"}], [{}]]
)
def test_a_ledger_of_another_form_is_refused(dataset: Path, ledger: object) -> None:
    """Weeks are dates, each with a checksum."""
    change(dataset, "privacy.json", lambda privacy: privacy.update(ledger=ledger))
    with pytest.raises(InputError, match=r"privacy.json: (no )?key 'ledger"):
        published_weeks(dataset)


@pytest.mark.parametrize(
    "row",
    [
        {"checksum": "abc"},
        {"checksum": "_" * 64},
        {"week": "0001-01-01"},
        {"week": "9999-12-27"},
        {"ends_at": ""},
        {},  # the same week once more
    ],
)
def test_a_week_that_no_journal_could_hold_is_refused(
    dataset: Path, store: Path, run: Run, row: dict[str, str]
) -> None:
    """A damaged or forged row does not get into the journal, which could not be read again, nor crash `publish`."""
    there = store.with_name("again.db")
    change(dataset, "privacy.json", lambda privacy: privacy["ledger"].append(privacy["ledger"][0] | row))
    code, out, err = run("store", "restore", store, "--store", there, "--dataset", dataset)
    assert (code, out) == (2, "")
    assert_one_line(err)
    assert "privacy.json: key 'ledger': " in err
    assert not there.exists()
    assert not journal_path(there).exists()
    assert run("publish", "--store", store, "--out", dataset)[0] == 1


@pytest.mark.parametrize("column", ["x{y}", "x{0}", "{", "x%s", 'x"; DROP TABLE t; --', "x\x1b[2J", "", "x" * 65])
def test_a_column_that_a_spec_cannot_have_is_refused(dataset: Path, column: str) -> None:
    """Columns are plain words, as in a spec; a name that means something to a format or to SQL is not one."""

    def rename(package: dict[str, Any]) -> None:
        for field in package["resources"][1]["schema"]["fields"]:
            field["name"] = field["name"].replace("sni_vaccination_intent", column)

    change(dataset, "datapackage.json", rename)
    assert "expected a word of letters" in refusal(dataset)


@pytest.mark.parametrize(
    "value", ["'NaN'::DOUBLE", "'Infinity'::DOUBLE", "'text'", "[1]", "DATE '2021-01-01'", "encode('x')"]
)
def test_a_value_that_is_not_a_number_is_refused(dataset: Path, value: str) -> None:
    """A table may hold anything under the name of a value."""
    path = dataset / f"{STEM}.parquet"
    with duckdb.connect() as connection:
        table = f"SELECT * REPLACE ({value} AS sni_vaccination_intent) FROM {literal(str(path))}"
        connection.execute(f"CREATE TABLE t AS {table}")
        connection.execute(f"COPY t TO {literal(str(path))} (FORMAT parquet)")
    assert refusal(dataset).startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_table_that_is_not_parquet_is_refused(dataset: Path, content: bytes) -> None:
    """A damaged table gives one line that names it."""
    (dataset / f"{STEM}.parquet").write_bytes(content)
    assert refusal(dataset).startswith(f"{dataset / STEM}.parquet: cannot be read as the table")


def test_a_table_that_is_missing_is_refused(dataset: Path) -> None:
    """The line says which file is missing."""
    (dataset / f"{STEM}.parquet").unlink()
    assert refusal(dataset) == f"{dataset}: {STEM}.parquet is missing; publish the dataset again"
