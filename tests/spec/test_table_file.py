"""Tables of regions are read as spreadsheet programs write them; guesses are told, and all problems at once."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from search_insights.errors import GeographyError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from search_insights.spec.spec import Spec
from tests.support.other_country import HEADER, Row, write_csv

SWISS: tuple[Row, ...] = (
    ("CH", "Schweiz; Suisse", "country", None, 1_900_000, 3_000.0, 46.8, 8.2, None),
    ("ZH", "Zürich", "canton", "CH", 1_500_000, 1_728.0, 47.4, 8.5, None),
    ("GE", "Genève, république", "canton", "CH", 400_000, 282.0, 46.2, 6.1, None),
)


def swiss(folder: Path, encoding: str, separator: str = ",", name: str = "regions.csv") -> Path:
    """Write the table in another encoding, with another separator."""
    path = write_csv(folder / f"plain-{name}", SWISS)
    if separator != ",":
        rows = [[str(v) if v is not None else "" for v in row] for row in (HEADER, *SWISS)]
        lines = (separator.join(f'"{v}"' if separator in v else v for v in row) for row in rows)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / name).write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    return folder / name


@pytest.mark.parametrize(
    ("encoding", "separator", "told"),
    [
        ("utf-8", ",", None),
        ("utf-8-sig", ",", None),
        ("utf-8", ";", "separated by ;"),
        ("utf-8-sig", ";", "separated by ;"),
        ("utf-8", "\t", "separated by tabs"),
        ("latin-1", ",", "as Latin-1 (if 'Zürich' looks wrong, save the table as UTF-8)"),
        ("latin-1", ";", "as Latin-1, separated by ; (if 'Zürich' looks wrong, save the table as UTF-8)"),
        ("utf-16", ",", "as UTF-16"),
        ("utf-16", "\t", "as UTF-16, separated by tabs"),
    ],
)
def test_a_table_is_the_same_in_any_encoding_and_with_any_separator(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, encoding: str, separator: str, told: str | None
) -> None:
    """Regions and fingerprint are those of the table in UTF-8 with commas; what was guessed is told, once."""
    plain = load_geography(write_csv(tmp_path / "plain.csv", SWISS))
    path = swiss(tmp_path, encoding, separator)
    with caplog.at_level(logging.WARNING):
        read = load_geography(path)
    assert (read.regions, read.fingerprint) == (plain.regions, plain.fingerprint)
    assert [record.getMessage() for record in caplog.records] == ([f"{path}: read {told}"] if told else [])


def test_a_guess_is_told_on_standard_error(tmp_path: Path) -> None:
    """The operator sees how the table was read, whatever the command."""
    words = ("regions", "Zürich", "--geography", swiss(tmp_path, "latin-1", ";"), "--spec", swiss_spec(tmp_path))
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "search_insights",
        *words,
    ]  # a process: pytest takes what a test logs
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=environment)
    assert "Zürich" in done.stdout
    assert done.stderr.startswith(f"{tmp_path / 'regions.csv'}: read as Latin-1, separated by ;")


def test_text_of_windows_is_told_apart_from_latin_1(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Typographic signs, which Latin-1 does not have, are read as Windows-1252."""
    rows = [(*SWISS[0][:1], "La Suisse\u2019s", *SWISS[0][2:])]
    path = write_csv(tmp_path / "regions.csv", rows)
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp1252"))
    assert load_geography(path).country.name == "La Suisse\u2019s"
    assert "read as Windows-1252" in caplog.text


def test_what_can_be_utf_8_is_never_read_as_anything_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two characters of Latin-1 may be one of UTF-8; a character at the edge of what is read at a time stays whole."""
    rows = [(*SWISS[0][:1], "Ã¼" + "é" * 40, *SWISS[0][2:])]
    path = write_csv(tmp_path / "regions.csv", rows)
    path.write_bytes(b"x" * 5 + b"," + path.read_bytes().replace(b"\n", b"\n,", 1))
    assert load_geography(path).country.name == rows[0][1]
    assert caplog.records == []


@pytest.mark.parametrize("wrong", [b"\xff", b"\xfc", b"\xc3"])
def test_damaged_utf_8_is_not_taken_for_another_encoding(tmp_path: Path, wrong: bytes) -> None:
    """Of a table with names in UTF-8 and one wrong byte, Latin-1 would change every name."""
    path = write_csv(tmp_path / "regions.csv", SWISS)
    path.write_bytes(path.read_bytes().replace(b"Suisse", b"S" + wrong + b"isse"))
    with pytest.raises(GeographyError, match=r"regions\.csv: has characters of UTF-8 and bytes that are none"):
        load_geography(path)


def test_a_header_that_misses_a_column_names_it_whatever_the_separator(tmp_path: Path) -> None:
    """The separator is the one that divides the header best, not only one that divides it rightly."""
    path = tmp_path / "regions.csv"
    path.write_text("code;name;level;area, in km2\nCH;Schweiz;country;3\n", encoding="utf-8")
    with pytest.raises(GeographyError, match=r"no column 'parent'; expected .*; got code, name, level, area, in km2$"):
        load_geography(path)


# All problems at once


def lines(path: Path) -> tuple[str, ...]:
    with pytest.raises(GeographyError) as refused:
        load_geography(path)
    assert str(refused.value) == "\n".join(refused.value.lines)
    return refused.value.lines


def test_all_wrong_values_of_a_table_are_told_at_once(tmp_path: Path) -> None:
    """A line with the file and their number, then one for each with its row and column."""
    wrong: list[Row] = [
        ("C H", "Suisse", "country", None, "many", 1.0, 91, 8.2, None),
        ("ZH", "", "canton", "CH", 1.5, -1, None, None, None),
        ("GE", "=Genève", "canton", "CH", None, None, None, None, None),
    ]
    path = write_csv(tmp_path / "regions.csv", wrong)
    first, *others = lines(path)
    assert first == f"{path}: 7 problems"
    assert [line.split(": expected")[0].split(": got")[0] for line in others] == [
        "  row 1: column 'population'",
        "  row 1: column 'latitude'",
        "  row 1: column 'code': the country's code names the dataset's files; expected at most 32 letters, digits, "
        "_ and -, got 'C H'",
        "  row 2: column 'name'",
        "  row 2: column 'population'",
        "  row 2: column 'land_area_km2'",
        "  row 3: column 'name'",
    ]


def test_all_wrong_places_in_the_tree_are_told_at_once(tmp_path: Path) -> None:
    """Duplicates and orphans together; what is wrong with levels once there is a tree."""
    rows = [*SWISS, ("ZH", "Zug", "canton", "CH", *[None] * 4, "zug"), ("X", "X", "city", "none", *[None] * 5)]
    assert lines(write_csv(tmp_path / "a.csv", rows))[1:] == (
        "  duplicate code 'ZH' at level 'canton' (2 rows); keep one of them",
        "  region 'X' is an orphan: its parent 'none' is not in the table",
    )
    astray = [("B", "Bern", "canton", "ZH", *[None] * 5), ("U", "Uri", "canton", "GE", *[None] * 5)]
    assert len(lines(write_csv(tmp_path / "b.csv", [*SWISS, *astray]))) == 3


def test_all_missing_and_misspelled_columns_are_told_at_once(tmp_path: Path) -> None:
    """So that the header is fixed in one go."""
    path = tmp_path / "regions.csv"
    path.write_text("code,title,level,populaton,landarea_km2\nCH,Schweiz,country,1,1\n", encoding="utf-8")
    found = [line.split(";")[0].strip() for line in lines(path)]
    assert found[1:] == [
        "no column 'name'",
        "no column 'parent'",
        "column 'populaton': did you mean 'population'? Rename one of them",
        "column 'landarea_km2': did you mean 'land_area_km2'? Rename one of them",
    ]


def test_all_regions_without_a_population_are_told_at_once(tmp_path: Path, paper: Spec) -> None:
    """A size class needs one."""
    rows = [("US", "US", "country", None), ("S", "S", "state", "US")]
    rows += [(f"c{i}", f"C{i}", "county", "S") for i in range(25)] + [("p", "P", "postal_code", "c0")]
    geography = load_geography(write_csv(tmp_path / "regions.csv", rows, HEADER[:4]))
    with pytest.raises(GeographyError) as refused:
        Coverage(paper, geography)
    told = refused.value.lines
    assert told[0].endswith("regions.csv: 25 problems")
    assert told[1] == "  region 'c0' has no population, which its size class needs"
    assert told[-1] == "  and 5 more"


def swiss_spec(folder: Path) -> Path:
    """Write a spec for the two levels of the table."""
    path = folder / "spec.toml"
    path.write_text(SWISS_SPEC, encoding="utf-8")
    return path


SWISS_SPEC = """
name = "swiss"
title = "Swiss"
dataset = "swiss"
time_zone = "Europe/Zurich"
first_day_of_week = "monday"
promise = { epsilon = 2.0, delta = 1e-5 }
category = [{ id = "any", name = "any" }, { id = "heat", name = "heat" }]
trend = [{ id = "heat", name = "heat", title = "Heat", sum_of = ["heat"], column = "heat" }]
level = [{ name = "canton" }]
total = { level = "country", sum_of = "canton" }
sigma = { canton = { any = 90, heat = 30 } }
reporting = { min_area_km2 = 0 }
reliability = { confidence = 0.5, max_relative_error = 0.5 }
sparsity = { max_points = 0, first_week = 2024-01-01, last_week = 2024-01-01 }
scaling = { trend = "heat", maximum = 1 }
"""
