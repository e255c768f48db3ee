"""A table of regions is checked, and is the same geography whatever its file format and the order of its rows."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_insights.errors import GeographyError
from search_insights.spec.geography import Geography, load_geography
from tests.support.other_country import HEADER, OTHER_REGIONS, Row, other_geography, write_csv, write_parquet

SMALL: tuple[Row, ...] = (
    ("N", "Nation", "nation", None, 300, 30.0, 1.5, -2.5, "n"),
    ("A", "Alpha", "province", "n", 100, 10.0, None, None, "a"),
    ("B", "Beta", "province", "n", 200, 20.0, None, None, "b"),
    ("B1", "Beta One", "canton", "b", None, 5.0, None, None, "b1"),
)


def edit(row: int, **values: str | float | None) -> list[Row]:
    """Return the small country with some columns of one row changed."""
    rows = list(SMALL)
    rows[row] = tuple(values.get(name, old) for name, old in zip(HEADER, rows[row], strict=True))
    return rows


def load(folder: Path, rows: list[Row] | tuple[Row, ...]) -> Geography:
    return load_geography(write_csv(folder / "regions.csv", rows))


def refusal(folder: Path, rows: list[Row]) -> str:
    """Return the error for a table, which must name the file and be one line."""
    with pytest.raises(GeographyError) as refused:
        load(folder, rows)
    message = str(refused.value)
    assert "regions.csv" in message
    assert "\n" not in message
    return message


# The tree of regions


def test_regions_are_sorted_by_level(tmp_path: Path) -> None:
    """The country comes first, then level by level, so that every region comes after its parent."""
    geography = load(tmp_path, SMALL)
    assert geography.country.place_id == "n"
    assert geography.levels == ("nation", "province", "canton")
    assert [r.place_id for r in geography.regions] == ["n", "a", "b", "b1"]


def test_every_column_has_its_type(tmp_path: Path) -> None:
    """Numbers are numbers, codes are text, and an empty value is unknown, not zero."""
    nation, alpha, *_ = load(tmp_path, edit(1, code="007", population=0)).regions
    assert (nation.population, nation.land_area_km2, nation.latitude, nation.longitude) == (300, 30.0, 1.5, -2.5)
    assert nation.parent is None
    assert (alpha.code, alpha.population, alpha.latitude) == ("007", 0, None)


def test_a_lineage_goes_from_the_region_up_to_the_country(tmp_path: Path) -> None:
    """The lineage of a region begins with itself and ends with the country."""
    geography = load(tmp_path, SMALL)
    assert [r.place_id for r in geography.lineage(geography.by_place_id["b1"])] == ["b1", "b", "n"]


def test_the_same_code_at_two_levels_is_two_places(tmp_path: Path) -> None:
    """Regions of two levels may have the same code; their place_ids differ."""
    geography = load(tmp_path, edit(3, code="B"))
    assert [(r.level, r.place_id) for r in geography.find("B")[:2]] == [("province", "b"), ("canton", "b1")]


def test_without_place_ids_the_codes_are_used(tmp_path: Path) -> None:
    """In a table without place_ids the codes are the place_ids."""
    rows = [("N", "Nation", "nation", ""), ("A", "Alpha", "province", "N")]
    geography = load_geography(write_csv(tmp_path / "four.csv", rows, HEADER[:4]))
    assert [(r.place_id, r.parent) for r in geography.regions] == [("N", None), ("A", "N")]
    assert geography.regions[1].land_area_km2 is None


def test_a_geography_cannot_be_changed(tmp_path: Path) -> None:
    """A geography and its regions are frozen."""
    geography = load(tmp_path, SMALL)
    with pytest.raises(TypeError):
        geography.by_place_id["n"] = geography.country  # type: ignore[index]
    with pytest.raises(AttributeError):
        geography.country.population = 1  # type: ignore[misc]


# A made-up country with its own levels


def test_another_country_may_have_other_levels(tmp_path: Path) -> None:
    """Five levels with other names work like those of the packaged country."""
    geography = load_geography(other_geography(tmp_path))
    assert geography.levels == ("nation", "province", "canton", "commune", "parish")
    assert len(geography.regions) == len(OTHER_REGIONS)
    parish = geography.by_place_id["qz/s/p11"]
    assert [r.level for r in geography.lineage(parish)] == ["parish", "commune", "canton", "province", "nation"]


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_names_are_read_unchanged(tmp_path: Path, write: object) -> None:
    """Names may contain quotes, commas, markup and any script."""
    assert callable(write)
    geography = load_geography(write(tmp_path / f"g.{'csv' if write is write_csv else 'parquet'}", OTHER_REGIONS))
    assert {r.place_id: r.name for r in geography.regions} == {row[8]: row[1] for row in OTHER_REGIONS}


@pytest.mark.parametrize("name", ["نی\u200cریز", "ක්\u200dෂ"])
def test_names_may_contain_joiners(tmp_path: Path, name: str) -> None:
    """Persian and Sinhala names need invisible joiners."""
    assert load(tmp_path, edit(1, name=name)).regions[1].name == name


def test_the_poles_and_the_date_line_are_valid_coordinates(tmp_path: Path) -> None:
    """The ranges of latitude and longitude include their ends."""
    places = [load(tmp_path, edit(1, latitude=90 * s, longitude=180 * s)).regions[1] for s in (1, -1)]
    assert [(p.latitude, p.longitude) for p in places] == [(90.0, 180.0), (-90.0, -180.0)]


def test_names_keep_their_single_quotes(tmp_path: Path) -> None:
    """Only the double quote quotes in CSV, even if every name begins and ends with a single quote."""
    rows = [(*row[:1], f"'{row[1]}'", *row[2:]) for row in SMALL]
    assert [r.name for r in load(tmp_path, rows).regions] == ["'Nation'", "'Alpha'", "'Beta'", "'Beta One'"]


# The same table in another form


def test_parquet_and_csv_of_the_same_rows_are_the_same_table(tmp_path: Path) -> None:
    """Regions and fingerprint depend on the rows, not on the file format."""
    from_csv = load_geography(write_csv(tmp_path / "g.csv", OTHER_REGIONS))
    from_parquet = load_geography(write_parquet(tmp_path / "g.parquet", OTHER_REGIONS))
    assert from_csv.regions == from_parquet.regions
    assert from_csv.fingerprint == from_parquet.fingerprint
    assert re.fullmatch("[0-9a-f]{64}", from_csv.fingerprint)


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(tmp_path_factory: pytest.TempPathFactory, chance: random.Random) -> None:
    """Any order of the rows gives the same regions in the same order with the same fingerprint."""
    folder = tmp_path_factory.mktemp("shuffled")
    rows = list(OTHER_REGIONS)
    chance.shuffle(rows)
    shuffled, sorted_ = load(folder, rows), load(folder, OTHER_REGIONS)
    assert shuffled.regions == sorted_.regions
    assert shuffled.levels == sorted_.levels
    assert shuffled.fingerprint == sorted_.fingerprint


@pytest.mark.parametrize(
    "changes",
    [
        {"code": "AA"},
        {"name": "Alpha!"},
        {"population": 101},
        {"population": None},
        {"land_area_km2": 10.000001},
        {"latitude": 0},
        {"longitude": 0},
        {"place_id": "aa"},
    ],
    ids=str,
)
def test_the_fingerprint_changes_with_any_value(tmp_path: Path, changes: dict[str, str | float | None]) -> None:
    """Any other value gives another fingerprint, so that a store notices another table."""
    assert load(tmp_path, edit(1, **changes)).fingerprint != load(tmp_path, SMALL).fingerprint


def test_windows_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    """A table that a spreadsheet program wrote has the same fingerprint."""
    plain = write_csv(tmp_path / "g.csv", SMALL)
    other = tmp_path / "excel.csv"
    other.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n"))
    assert load_geography(other).fingerprint == load_geography(plain).fingerprint


# A wrong tree is refused


def test_an_orphan_is_refused(tmp_path: Path) -> None:
    """The error names the region and its missing parent."""
    message = refusal(tmp_path, edit(3, parent="zz"))
    assert "region 'b1' is an orphan: its parent 'zz' is not in the table" in message


def test_a_duplicate_place_id_is_refused(tmp_path: Path) -> None:
    """Every row has its own place_id."""
    assert "duplicate place_id 'a' (2 rows)" in refusal(tmp_path, edit(2, place_id="a"))


def test_a_duplicate_code_in_a_level_is_refused(tmp_path: Path) -> None:
    """An event names its region by code, so a code belongs to one region of a level."""
    assert "duplicate code 'A' at level 'province' (2 rows)" in refusal(tmp_path, edit(2, code="A"))


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    """The error shows the cycle."""
    rows = [*SMALL, ("X", "X", "canton", "y", None, None, None, None, "x"), ("Y", "Y", "canton", "x", *[None] * 4, "y")]
    assert "a cycle of parents: x -> y -> x" in refusal(tmp_path, rows)


def test_a_region_that_is_its_own_parent_is_refused(tmp_path: Path) -> None:
    """A region that is its own parent is a cycle."""
    assert "a cycle of parents: a -> a" in refusal(tmp_path, edit(1, parent="a"))


def test_two_countries_are_refused(tmp_path: Path) -> None:
    """Exactly one region has no parent."""
    message = refusal(tmp_path, edit(1, parent=None, level="nation"))
    assert "expected one region without a parent, the country; got n, a" in message


def test_no_country_is_refused(tmp_path: Path) -> None:
    """If every region has a parent, the error shows a cycle."""
    assert "a cycle of parents: n -> b1 -> b -> n" in refusal(tmp_path, edit(0, parent="b1"))


def test_parents_of_different_levels_are_refused(tmp_path: Path) -> None:
    """All regions of a level have parents of the same level."""
    rows = [*SMALL, ("B2", "Beta Two", "canton", "n", None, None, None, None, "b2")]
    message = refusal(tmp_path, rows)
    assert "region 'b2' of level 'canton' has a parent of level 'nation'" in message
    assert "the others of its level have parents of level 'province'" in message


def test_a_parent_of_the_same_level_is_refused(tmp_path: Path) -> None:
    """A region's parent is of another level."""
    assert "region 'b' of level 'province' has a parent of level 'province'" in refusal(tmp_path, edit(2, parent="a"))


def test_levels_that_branch_are_refused(tmp_path: Path) -> None:
    """Two levels with parents of the same level are refused, because levels must nest."""
    assert "the levels nation, province, canton do not nest" in refusal(tmp_path, edit(3, parent="n"))


# A wrong value is refused with its row


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("population", "many", "a number from 0 to 1,000,000,000,000, got 'many'"),
        ("population", "-1", "a number from 0 to 1,000,000,000,000, got '-1'"),
        ("population", "nan", "a number from 0 to 1,000,000,000,000, got 'nan'"),
        ("population", "inf", "a number from 0 to 1,000,000,000,000, got 'inf'"),
        ("population", "1,000", "a number from 0 to 1,000,000,000,000, got '1,000'"),
        ("population", "12.5", "a whole number, got 12.5"),
        ("land_area_km2", "-0.1", "a number from 0 to 1,000,000,000, got '-0.1'"),
        ("land_area_km2", "3 km2", "a number from 0 to 1,000,000,000, got '3 km2'"),
        ("latitude", "90.1", "a number from -90 to 90, got '90.1'"),
        ("latitude", "north", "a number from -90 to 90, got 'north'"),
        ("latitude", "46,8", "a number from -90 to 90, got '46,8'; write a decimal point"),
        ("longitude", "-180.5", "a number from -180 to 180, got '-180.5'"),
        ("code", "", "text on one line, got ''"),
        ("name", "", "text on one line, got ''"),
        ("name", "a\nb", r"text on one line, got 'a\nb'"),
        ("name", "a\x07b", r"text on one line, got 'a\x07b'"),
        ("name", "a\u202eb", r"text on one line, got 'a\u202eb'"),
        ("level", "  ", "text on one line, got ''"),
        ("code", "a\tb", r"text on one line, got 'a\tb'"),
        ("place_id", "a\x1bb", r"text on one line, got 'a\x1bb'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_row(tmp_path: Path, column: str, value: str, expected: str) -> None:
    """The error names the file, the row, the column, what was expected and what was found."""
    message = refusal(tmp_path, edit(1, **{column: value}))
    assert message.endswith(f"regions.csv, row 2: column {column!r}: expected {expected}")


def test_a_whole_population_may_be_written_with_a_point(tmp_path: Path) -> None:
    """A population of 100.0, as spreadsheets write it, is 100."""
    assert load(tmp_path, edit(1, population="100.0")).regions[1].population == 100


@pytest.mark.parametrize("column", ["code", "name", "level", "parent"])
def test_a_missing_column_is_refused(tmp_path: Path, column: str) -> None:
    """The error names the column, and lists the expected columns and those of the file."""
    at = HEADER.index(column)
    path = write_csv(tmp_path / "g.csv", [(*r[:at], *r[at + 1 :]) for r in SMALL], (*HEADER[:at], *HEADER[at + 1 :]))
    with pytest.raises(GeographyError, match=rf"g\.csv: no column '{column}'; expected code, name, .*; got "):
        load_geography(path)


# A wrong file is refused


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The error names the file and what could be given instead."""
    with pytest.raises(GeographyError, match=r"absent\.csv: no such file; give a Parquet or CSV file, or 'us'"):
        load_geography(tmp_path / "absent.csv")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """A directory is refused."""
    with pytest.raises(GeographyError, match="no such file"):
        load_geography(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("not.parquet", b"code,name,level,parent\n"),
        ("empty.parquet", b""),
        ("empty.csv", b""),
        ("no_charset.csv", ",".join(HEADER).encode() + b"\nA,Do\xf1a \x81,n,,,,,,a\n"),
        ("half.csv", "code,name,level,parent\nN,Nation,n,\n".encode("utf-16")[:-1]),
        ("ragged.csv", ",".join(HEADER).encode() + b"\nA,Alpha,n,,,,,,a\nB,Beta,p,a,,,,,b,more\n"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A file that cannot be read as a table is refused with a message of the program, not of DuckDB."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(GeographyError, match=f"{re.escape(name)}: cannot be read as Parquet or as comma-separated"):
        load_geography(path)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    """A file with only a header is refused."""
    with pytest.raises(GeographyError, match=r"g\.csv: has no regions"):
        load_geography(write_csv(tmp_path / "g.csv", []))


# Looking up


def found(geography: Geography, text: str) -> list[str]:
    return [r.place_id for r in geography.find(text)]


def test_find_ranks_code_then_name_then_beginning_then_words(tmp_path: Path) -> None:
    """The best match comes first, whatever the order of the table."""
    rows: list[Row] = [
        ("N", "Nation", "nation", None, *[None] * 4, "n"),
        ("1", "Old Beta", "province", "n", *[None] * 4, "words"),
        ("2", "Beta Old", "province", "n", *[None] * 4, "beginning"),
        ("3", "Beta", "province", "n", *[None] * 4, "name"),
        ("BETA", "Gamma", "province", "n", *[None] * 4, "code"),
    ]
    geography = load(tmp_path, rows)
    assert found(geography, "beta") == ["code", "name", "beginning", "words"]
    assert found(geography, "old bet") == ["words", "beginning"]


@pytest.mark.parametrize("text", ["QZ/C/021", " 東町 ", "qz/c/021"])
def test_find_ignores_case_and_surrounding_blanks(tmp_path: Path, text: str) -> None:
    """A region is found by its place_id or name in any case, with blanks before and after."""
    assert found(load_geography(other_geography(tmp_path)), text)[0] == "qz/c/021"


@pytest.mark.parametrize("text", ["", "  ", "nowhere at all", "%", "*"])
def test_find_has_no_wildcards(tmp_path: Path, text: str) -> None:
    """An empty text, an unknown one and characters such as % match no region."""
    assert found(load(tmp_path, SMALL), text) == []
