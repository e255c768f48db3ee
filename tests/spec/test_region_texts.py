"""The texts of a table of regions are published: none is a formula, and the country's code is a plain word."""

from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import GeographyError
from search_insights.spec.geography import load_geography, require_publishable
from tests.support.other_country import OTHER_REGIONS, write_csv

SIGNS = [
    *("=", "+", "-", "@"),
    *("\uff1d", "\uff0b", "\uff0d", "\uff20"),  # full width
    *("\ufe66", "\ufe62", "\ufe63", "\ufe6b"),  # small
    *("\u207c", "\u207a"),  # raised
]
UNSEEN = ["", " ", "\u200d", "\u200c\u200d ", "\u3000", "\ufe0f", "\u0301", "\u3164", "\u2800", "\u115f"]


def with_text(folder: Path, column: str, text: str) -> Path:
    """Write the regions of Qazaria with another text in one of them."""
    place = ("code", "name", "level", "parent", "", "", "", "", "place_id").index(column)
    rows = [(*row[:place], text, *row[place + 1 :]) if i == 2 else row for i, row in enumerate(OTHER_REGIONS)]
    children = [row for row in rows if row[3] != "qz/p/02"]
    return write_csv(folder / "regions.csv", [row for row in children if row[3] not in ("qz/c/021", "qz/m/0211")])


@pytest.mark.parametrize("before", UNSEEN)
@pytest.mark.parametrize("sign", SIGNS)
def test_a_formula_in_any_disguise_is_refused(sign: str, before: str) -> None:
    """Spreadsheets take full-width signs for signs, and skip what cannot be seen before them."""
    with pytest.raises(GeographyError, match=r"column 'name': (got .* for a formula|expected text on one line)"):
        require_publishable(f"{before}{sign}SUM(A1)", "name", "regions.csv, row 3")


@pytest.mark.parametrize("text", ["A;=SUM(A1)", "A; +1", "A;\uff1d1", "A\uff1b=1", "A\u037e@x", ";;-1"])
def test_a_formula_behind_a_semicolon_is_refused(text: str) -> None:
    """Where decimals have a comma, spreadsheets divide a row at semicolons."""
    with pytest.raises(GeographyError, match="for a formula"):
        require_publishable(text, "name", "regions.csv, row 3")


@pytest.mark.parametrize("column", ["code", "name", "level", "place_id"])
def test_every_text_of_a_table_is_checked(tmp_path: Path, column: str) -> None:
    """Codes, names, levels and place_ids are all published."""
    with pytest.raises(GeographyError, match=f"regions.csv, row 3: column '{column}': got .* for a formula"):
        load_geography(with_text(tmp_path, column, "\uff1dSUM(A1)"))


@pytest.mark.parametrize(
    "text",
    ["A1=SUM(A1)", "me@cmd", "1-1+2", "Saint-Étienne", "Foo, D.C.", "東町", "O'Hara; Smith", "क्\u200dष", "'Eua'", "#1"],
)
def test_ordinary_names_are_accepted(text: str) -> None:
    """A sign inside a name is no formula."""
    require_publishable(text, "name", "regions.csv, row 3")


@given(st.text(min_size=1, max_size=12))
def test_no_text_that_is_accepted_begins_like_a_formula(text: str) -> None:
    """Whatever the name, the first character that is seen is no sign."""
    try:
        require_publishable(text, "name", "here")
    except GeographyError:
        return
    assert text.isprintable() or set(text) & set("\u200c\u200d")
    assert not text.strip("\u200c\u200d ").startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))


@pytest.mark.parametrize(
    "code",
    [
        "../../C",
        "..",
        ".",
        "a/b",
        "a\\b",
        "C:",
        "Q Z",
        "QZ.",
        "<b>",
        "\uff31",
        "q" * 33,
        "_",
        "%2e%2e",
        "*",
        "~",
        "Q'Z",
    ],
)
def test_a_country_code_that_cannot_name_a_file_is_refused(tmp_path: Path, code: str) -> None:
    """The code names the dataset's files and the dashboard's folders and addresses."""
    rows = [(code, *OTHER_REGIONS[0][1:]), *OTHER_REGIONS[1:]]
    with pytest.raises(GeographyError, match="row 1: column 'code': the country's code names the dataset's files"):
        load_geography(write_csv(tmp_path / "regions.csv", rows))


@pytest.mark.parametrize("code", ["QZ", "GB-ENG", "us_2", "001"])
def test_an_ordinary_country_code_is_accepted(tmp_path: Path, code: str) -> None:
    """Codes of countries, of their parts and of lists of one's own are plain words."""
    rows = [(code, *OTHER_REGIONS[0][1:]), *OTHER_REGIONS[1:]]
    assert load_geography(write_csv(tmp_path / "regions.csv", rows)).country.code == code


@pytest.mark.parametrize(
    ("column", "value"), [("population", "1e300"), ("population", "9" * 400), ("land_area_km2", "1e300")]
)
def test_a_number_beyond_the_earth_is_refused(tmp_path: Path, column: str, value: str) -> None:
    """No store could hold it, and no region has it."""
    place = {"population": 4, "land_area_km2": 5}[column]
    rows = [(*row[:place], value, *row[place + 1 :]) if i == 2 else row for i, row in enumerate(OTHER_REGIONS)]
    with pytest.raises(GeographyError, match=f"row 3: column '{column}': expected a number from 0 to 1,000"):
        load_geography(write_csv(tmp_path / "regions.csv", rows))


def test_a_table_may_have_any_name(tmp_path: Path) -> None:
    """A name that looks like a pattern means that file, not another one that the pattern matches."""
    write_csv(tmp_path / "regions1.csv", OTHER_REGIONS[:2])
    assert len(load_geography(write_csv(tmp_path / "regions[1].csv", OTHER_REGIONS)).regions) == len(OTHER_REGIONS)


@pytest.mark.parametrize(
    "rows", ["repeat('x', 5000) AS code FROM range(3)", "'x' AS code FROM range(20000000)"], ids=["long", "many"]
)
def test_a_small_file_that_stands_for_a_huge_table_is_refused(tmp_path: Path, rows: str) -> None:
    """Parquet keeps repeated values once: the table is measured before it is read into memory."""
    path = tmp_path / "regions.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {rows}) TO '{path}' (FORMAT parquet)")
    assert path.stat().st_size < 1_000_000
    with pytest.raises(GeographyError, match=r"expected at most 1,048,576 regions and 4,096 bytes"):
        load_geography(path)
