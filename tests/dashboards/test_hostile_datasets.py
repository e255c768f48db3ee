"""A site is made from a folder that may come from anyone: nothing of it but its known files, checked, gets into it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from search_insights.dashboards.site import dashboard, is_site
from search_insights.support.sql import literal
from tests.support.command_line import Run, assert_one_line
from tests.support.dashboards import QAZARIA, described_again

SCRIPT = "<script>alert(document.domain)</script>"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">{SCRIPT}</svg>'
FILES = {
    f"{QAZARIA}.csv",
    f"{QAZARIA}.parquet",
    "regions.csv",
    "datapackage.json",
    "privacy.json",
    "PRIVACY.md",
    "summary.json",
    "sparsity.json",
}

Change = Callable[[Any], object]


@pytest.fixture
def hostile(other_data: Path, tmp_path: Path) -> Path:
    """A copy of a dataset to change."""
    return shutil.copytree(other_data, tmp_path / "hostile")


def change(dataset: Path, name: str, how: Change) -> None:
    """Change the value in a JSON file."""
    path = dataset / name
    value = json.loads(path.read_text(encoding="utf-8"))
    how(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def change_table(dataset: Path, columns: str = "*", where: str = "true") -> None:
    """Change the Parquet table, and describe it as it is then."""
    path = literal(str(dataset / f"{QAZARIA}.parquet"))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {columns} FROM {path} WHERE {where}")
        connection.execute(f"COPY t TO {path} (FORMAT parquet)")
    described_again(dataset)


def assert_refused(run: Run, dataset: Path, *words: str, site: str = "site") -> str:
    """Check that `dashboard` refuses a dataset in one line and writes nothing; return the line."""
    out_folder = dataset.parent / site
    code, out, err = run("dashboard", dataset, "--out", out_folder)
    assert (code, out) == (2, ""), err
    assert_one_line(err)
    assert [word for word in words if word not in err] == [], err
    assert not out_folder.exists()
    return err


# Files


@pytest.mark.parametrize("name", sorted(FILES | {"summary.svg"}))
def test_a_link_in_a_dataset_is_refused(hostile: Path, run: Run, name: str) -> None:
    """A link would publish what it leads to, such as a key of the person who builds the site."""
    secret = hostile.parent / "id_ed25519"
    (hostile / name).rename(secret)
    (hostile / name).symlink_to(secret)
    assert_refused(run, hostile, f"{hostile / name}: is a link; put the file itself in its place")


@pytest.mark.parametrize("name", sorted(FILES | {"summary.svg"}))
def test_a_pipe_or_folder_under_a_known_name_is_refused(hostile: Path, run: Run, name: str) -> None:
    """A pipe would keep the build waiting for ever."""
    (hostile / name).unlink()
    os.mkfifo(hostile / name)
    assert_refused(run, hostile, f"{hostile / name}: not a regular file")


def test_only_known_files_are_taken(hostile: Path, tmp_path: Path) -> None:
    """Whatever else lies in the folder stays there."""
    (hostile / "index.html").write_text(SCRIPT, encoding="utf-8")
    (hostile / "notes.txt").symlink_to("/etc/passwd")
    site = dashboard([hostile], tmp_path / "site").folder
    assert {path.name for path in (site / "dataset" / QAZARIA).iterdir()} == FILES | {"summary.svg"}
    assert not any(path.is_symlink() for path in site.rglob("*"))


def test_pages_and_pictures_are_made_anew(hostile: Path, other_data: Path, tmp_path: Path) -> None:
    """A script in a picture or page of the dataset would run with the site's own rights; the data says the same."""
    (hostile / "summary.svg").write_text(SVG, encoding="utf-8")
    (hostile / "PRIVACY.md").write_text(SCRIPT, encoding="utf-8")
    downloads = dashboard([hostile], tmp_path / "site").folder / "dataset" / QAZARIA
    for name in ("summary.svg", "PRIVACY.md"):
        assert (downloads / name).read_bytes() == (other_data / name).read_bytes()


def test_titles_become_no_markup(hostile: Path, tmp_path: Path) -> None:
    """A title is text in the picture and on the page, whatever it holds."""
    title = f'"><img src=x onerror=alert(1)>{SCRIPT}]]> [a](javascript:alert(1))'
    change(hostile, "datapackage.json", lambda package: package.update(title=title))
    change(hostile, "privacy.json", lambda privacy: privacy.update(name=title))
    downloads = dashboard([hostile], tmp_path / "site").folder / "dataset" / QAZARIA
    assert "<script" not in (downloads / "summary.svg").read_text(encoding="utf-8")
    assert "<img" not in (downloads / "summary.svg").read_text(encoding="utf-8")
    page = (downloads / "PRIVACY.md").read_text(encoding="utf-8")
    assert "<" not in page.splitlines()[0]
    assert r"\[a\](javascript" in page


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_that_was_changed_is_refused(hostile: Path, run: Run, suffix: str) -> None:
    """The tables are compared with the checksums in datapackage.json before anything is built from them."""
    table = hostile / f"{QAZARIA}.{suffix}"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    assert_refused(run, hostile, f"{table}: is not the file that datapackage.json describes")


@pytest.mark.parametrize(
    "path",
    ["../x.csv", "/etc/passwd", "...csv", "*.csv", "x/../y.csv", "https://example.org/x.csv", "x\n.csv", "x.svg"],
)
def test_a_path_out_of_the_folder_is_refused(hostile: Path, run: Run, path: str) -> None:
    """Tables are named by plain names of files in the folder, which also name the site's folders."""
    change(hostile, "datapackage.json", lambda package: package["resources"][0].update(path=path))
    assert_refused(run, hostile, "expected the name of a .csv file in the folder")


# Statements


def put(*keys: str | int, value: object) -> Change:
    """Change one value deep in a JSON file."""

    def how(found: Any) -> None:
        for key in keys[:-1]:
            found = found[key]
        found[keys[-1]] = value

    return how


@pytest.mark.parametrize("value", [None, [], {}, "x", True, [[]], {"epsilon": "x"}])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("datapackage.json", ("scaling", "maximum")),
        ("datapackage.json", ("reliability",)),
        ("datapackage.json", ("reliability", "confidence")),
        ("datapackage.json", ("resources", 0, "bytes")),
        ("datapackage.json", ("resources", 1, "schema")),
        ("datapackage.json", ("resources", 1)),
        ("privacy.json", ("privacy_loss",)),
        ("privacy.json", ("privacy_loss", "epsilon")),
        ("privacy.json", ("privacy_loss", "cases", 0, "sigmas", 0)),
        ("privacy.json", ("not_promised", "user_active_on_7_days")),
        ("privacy.json", ("ledger", 0, "cells")),
        ("summary.json", (0,)),
        ("summary.json", (0, "published")),
    ],
)
def test_a_statement_of_another_form_is_refused(
    hostile: Path, run: Run, name: str, keys: tuple[str | int, ...], value: object
) -> None:
    """The line names the file and the key; nothing is made from a list where a number should be."""
    change(hostile, name, put(*keys, value=value))
    assert_refused(run, hostile, f"{hostile / name}: ", "key '")


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("datapackage.json", put("title", value=7)),
        ("datapackage.json", put("breaks", value=[{"week": 7}])),
        ("datapackage.json", put("spec", value=[])),
        ("datapackage.json", put("translations", value={"fr": {}})),
        ("datapackage.json", put("translations", value=[{"language": "__proto__"}])),
        ("datapackage.json", put("scaling", "trend", value="x{y}")),
        ("datapackage.json", put("resources", 1, "schema", "fields", value=[])),
        ("privacy.json", put("corrections", value=[{"changed_values": "1", "reason": "x"}])),
        ("privacy.json", put("ledger", value=[])),
        ("privacy.json", put("ledger", 0, "week", value="tomorrow")),
        ("privacy.json", put("flavor", "bounds", value="X1")),
        ("summary.json", put(0, "level", value="a.b['c']")),
        ("summary.json", put(0, "level", value="elsewhere")),
        ("summary.json", put(0, "trend", value="other")),
    ],
)
def test_other_statements_are_refused_too(hostile: Path, run: Run, name: str, how: Change) -> None:
    """Texts, words, weeks and names must be what they are said to be."""
    change(hostile, name, how)
    assert_refused(run, hostile, name)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"qz/p/02,", b"=1+1,", "column 'place_id': got '=1+1'"),
        (b"true,,2023", b"true,,20x3", "cannot be read as a table of regions"),
        (b"first_week", b"no_such_week", "cannot be read as a table of regions"),
        (b"parish,qz/m/0321", b"parish,qz/m/9999", "is an orphan"),
    ],
)
def test_a_table_of_regions_that_is_none_is_refused(
    hostile: Path, run: Run, old: bytes, new: bytes, words: str
) -> None:
    """A site takes names, parents and weeks from it, so each must be one."""
    path = hostile / "regions.csv"
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    described_again(hostile)
    assert_refused(run, hostile, words)


@pytest.mark.parametrize("name", ["datapackage.json", "privacy.json", "summary.json"])
@pytest.mark.parametrize(
    "content",
    [b'{"a":' * 100_000, b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe", b'{"a": "\\ud800"}', b"[1e999]", b""],
)
def test_a_statement_that_is_not_plain_json_is_refused(hostile: Path, run: Run, name: str, content: bytes) -> None:
    """Deep nesting, numbers without end, keys that occur twice and other encodings give one line."""
    (hostile / name).write_bytes(content)
    assert_refused(run, hostile, f"{hostile / name}: not ")


def test_more_weeks_than_a_century_are_refused(hostile: Path, run: Run) -> None:
    """Every week takes memory for every region."""
    change(hostile, "privacy.json", lambda privacy: privacy.update(ledger=privacy["ledger"] * 2_000))
    assert_refused(run, hostile, "lists 10,000 weeks; expected at most 5,200")


# Values


@pytest.mark.parametrize(
    "columns",
    [
        "* REPLACE ('NaN'::DOUBLE AS index_firewood)",
        "* REPLACE (1e300 AS index_firewood)",
        "* REPLACE (-1e300 AS index_firewood_low)",
        "* REPLACE ('Infinity'::DOUBLE AS index_firewood_high)",
        "* REPLACE ('x' AS index_firewood)",
        "* REPLACE ([1] AS index_firewood)",
        "* REPLACE (NULL::DATE AS date)",
        "* REPLACE ('tomorrow' AS date)",
        "* REPLACE (DATE '1999-01-01' AS date)",
        "* REPLACE (NULL::VARCHAR AS place_id)",
        "* REPLACE ('x' AS place_id)",
        "* REPLACE (NULL::VARCHAR AS code)",
        "* REPLACE ('x' AS level)",
        "* REPLACE (NULL::VARCHAR AS country_region)",
        "* REPLACE (NULL::VARCHAR AS sub_region_1)",
        "* REPLACE ('=HYPERLINK(1)' AS country_region)",
        "* REPLACE (chr(65309) || 'HYPERLINK(1)' AS sub_region_1)",
        "* REPLACE (chr(27) || '[2J' AS country_region)",
        "* EXCLUDE (code)",
        "* EXCLUDE (index_firewood_low)",
    ],
)
def test_a_table_of_other_values_is_refused(hostile: Path, run: Run, columns: str) -> None:
    """A table with the right checksum may still hold anything."""
    change_table(hostile, columns)
    assert_refused(run, hostile, str(hostile))


def test_a_table_without_rows_is_refused(hostile: Path, run: Run) -> None:
    """There is nothing to show."""
    change_table(hostile, where="false")
    assert_refused(run, hostile, "has no rows")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<b>Midland</b>", "=HYPERLINK(1)"),
        (",1000.000", ",999.000"),
        ("country_region,", "=country_region,"),
        ("\n2023-10-08,Qazaria,QZ,,,,,,,,,qz,", "\n2023-10-08,Qazaria,QZ,,,,,,,,,qy,"),
    ],
)
def test_the_two_tables_must_say_the_same(hostile: Path, run: Run, old: str, new: str) -> None:
    """What is shown comes from one table, and both are offered; a forger could change the other one."""
    table = hostile / f"{QAZARIA}.csv"
    text = table.read_text(encoding="utf-8")
    assert old in text
    table.write_text(text.replace(old, new, 1), encoding="utf-8")
    described_again(hostile)
    assert_refused(run, hostile, f"{table}: does not have the rows of {QAZARIA}.parquet")


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [rows[1], rows[0], *rows[2:]],
        lambda rows: rows[:-1],
        lambda rows: [*rows, rows[-1]],
        lambda rows: [*rows, "," * rows[-1].count(",")],
    ],
    ids=["another order", "a row less", "a row twice", "an empty row more"],
)
def test_the_two_tables_must_have_the_same_rows_in_the_same_order(
    hostile: Path, run: Run, change: Callable[[list[str]], list[str]]
) -> None:
    """They are compared row by row: one that has more rows, fewer, or others at a place is refused."""
    table = hostile / f"{QAZARIA}.csv"
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([header, *change(rows)]) + "\n", encoding="utf-8")
    described_again(hostile)
    assert_refused(run, hostile, f"{table}: does not have the rows of {QAZARIA}.parquet")


def test_the_same_rows_may_be_written_in_another_way(hostile: Path) -> None:
    """Rows are compared, not bytes: a CSV file with other quotes is taken, and nothing is left behind."""
    table = hostile / f"{QAZARIA}.csv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("Qazaria", '"Qazaria"'), encoding="utf-8")
    described_again(hostile)
    site = hostile.with_name("site of other bytes")
    dashboard([hostile], site)
    assert not list(site.rglob("*.tmp"))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'"', b"a,b\n1,2,3\n", b"\0" * 100])
def test_a_table_that_is_not_csv_is_refused(hostile: Path, run: Run, content: bytes) -> None:
    """Any other file under the name of the CSV file gives one line."""
    (hostile / f"{QAZARIA}.csv").write_bytes(content)
    described_again(hostile)
    assert_refused(run, hostile, f"{QAZARIA}.csv: ")


# Other files


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"program": NaN}', b"\xff", b"[]", b'{"program": ["x"]}'])
def test_a_folder_with_any_site_file_is_a_site_or_not(tmp_path: Path, content: bytes) -> None:
    """The question whether a folder is a site has an answer, whatever lies in it."""
    (tmp_path / "site.json").write_bytes(content)
    assert not is_site(tmp_path)


TOPOLOGY = '{"type": "Topology", "objects": {"a": {"geometries": [GEOMETRY]}}, "arcs": ARCS}'
OUTLINE = '{"type": "Polygon", "id": "qz/p/01", "arcs": [[0]]}'


@pytest.mark.parametrize(
    ("outline", "arcs"),
    [
        (OUTLINE, "[[[1e308, 1], [2, 2], [1, 1]]]"),
        (OUTLINE, "[[[NaN, 1], [2, 2]]]"),
        (OUTLINE, "[[[1, 91], [2, 2]]]"),
        (OUTLINE, "[" * 100_000),
        (OUTLINE, "[[[1, 1], [2]]]"),
        (OUTLINE, "[]"),
        (OUTLINE.replace('"qz/p/01"', '["qz/p/01"]'), "[[[1, 1], [2, 2], [1, 1]]]"),
        (OUTLINE.replace('"qz/p/01"', '{"a": 1}'), "[[[1, 1], [2, 2], [1, 1]]]"),
        (OUTLINE.replace("[[0]]", "[[1.5]]"), "[[[1, 1], [2, 2], [1, 1]]]"),
        (OUTLINE.replace("[[0]]", "[[99]]"), "[[[1, 1], [2, 2], [1, 1]]]"),
    ],
)
def test_outlines_that_are_none_are_refused(
    other_data: Path, tmp_path: Path, run: Run, outline: str, arcs: str
) -> None:
    """Outlines have text as id and points on the earth."""
    shapes = tmp_path / "shapes.json"
    shapes.write_text(TOPOLOGY.replace("GEOMETRY", outline).replace("ARCS", arcs), encoding="utf-8")
    code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", "--shapes", shapes)
    assert code == 2
    assert_one_line(err)
    assert str(shapes) in err
