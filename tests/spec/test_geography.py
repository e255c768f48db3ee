"""Promises about tables of regions: a wrong one is refused by name, a right one is the same whatever its form."""

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
    """Change some columns of one row of the small country."""
    rows = list(SMALL)
    rows[row] = tuple(values.get(name, old) for name, old in zip(HEADER, rows[row], strict=True))
    return rows


def load(folder: Path, rows: list[Row] | tuple[Row, ...]) -> Geography:
    return load_geography(write_csv(folder / "regions.csv", rows))


def refusal(folder: Path, rows: list[Row]) -> str:
    """Give the message with which a table is refused; it names the file and is one line."""
    with pytest.raises(GeographyError) as refused:
        load(folder, rows)
    message = str(refused.value)
    assert "regions.csv" in message
    assert "\n" not in message
    return message


# What a tree of regions is


def test_the_country_comes_first_then_level_by_level(tmp_path: Path) -> None:
    """Regions stand in an order in which each comes after the one that holds it."""
    geography = load(tmp_path, SMALL)
    assert geography.country.place_id == "n"
    assert geography.levels == ("nation", "province", "canton")
    assert [r.place_id for r in geography.regions] == ["n", "a", "b", "b1"]


def test_every_column_arrives_as_what_it_is(tmp_path: Path) -> None:
    """Numbers are numbers, codes stay text, and what is empty is unknown rather than zero."""
    nation, alpha, *_ = load(tmp_path, edit(1, code="007", population=0)).regions
    assert (nation.population, nation.land_area_km2, nation.latitude, nation.longitude) == (300, 30.0, 1.5, -2.5)
    assert nation.parent is None
    assert (alpha.code, alpha.population, alpha.latitude) == ("007", 0, None)


def test_a_lineage_goes_from_the_region_up_to_the_country(tmp_path: Path) -> None:
    """Every region leads to the country, itself first."""
    geography = load(tmp_path, SMALL)
    assert [r.place_id for r in geography.lineage(geography.by_place_id["b1"])] == ["b1", "b", "n"]


def test_the_same_code_at_two_levels_is_two_places(tmp_path: Path) -> None:
    """County 06075 and postal code 06075 differ; place_id tells them apart."""
    geography = load(tmp_path, edit(3, code="B"))
    assert [(r.level, r.place_id) for r in geography.find("B")[:2]] == [("province", "b"), ("canton", "b1")]


def test_without_place_ids_the_codes_serve(tmp_path: Path) -> None:
    """A country whose codes are all different needs no other name for its regions."""
    rows = [("N", "Nation", "nation", ""), ("A", "Alpha", "province", "N")]
    geography = load_geography(write_csv(tmp_path / "four.csv", rows, HEADER[:4]))
    assert [(r.place_id, r.parent) for r in geography.regions] == [("N", None), ("A", "N")]
    assert geography.regions[1].land_area_km2 is None


def test_a_table_cannot_be_changed_once_it_is_checked(tmp_path: Path) -> None:
    """What was checked stays what it was."""
    geography = load(tmp_path, SMALL)
    with pytest.raises(TypeError):
        geography.by_place_id["n"] = geography.country  # type: ignore[index]
    with pytest.raises(AttributeError):
        geography.country.population = 1  # type: ignore[misc]


# A made-up country with its own levels


def test_another_country_needs_no_code(tmp_path: Path) -> None:
    """Five levels with names of their own work as those of the packaged country do."""
    geography = load_geography(other_geography(tmp_path))
    assert geography.levels == ("nation", "province", "canton", "commune", "parish")
    assert len(geography.regions) == len(OTHER_REGIONS)
    parish = geography.by_place_id["qz/s/p11"]
    assert [r.level for r in geography.lineage(parish)] == ["parish", "commune", "canton", "province", "nation"]


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_names_arrive_as_they_were_written(tmp_path: Path, write: object) -> None:
    """Quotes, commas, formulas, markup and any script are a name like any other."""
    assert callable(write)
    geography = load_geography(write(tmp_path / f"g.{'csv' if write is write_csv else 'parquet'}", OTHER_REGIONS))
    assert {r.place_id: r.name for r in geography.regions} == {row[8]: row[1] for row in OTHER_REGIONS}


@pytest.mark.parametrize("name", ["نی\u200cریز", "ක්\u200dෂ"])
def test_names_may_hold_the_joiners_that_their_script_needs(tmp_path: Path, name: str) -> None:
    """Persian, Nepali or Sinhala names cannot be spelt without them."""
    assert load(tmp_path, edit(1, name=name)).regions[1].name == name


def test_places_at_the_pole_and_on_the_date_line_are_places(tmp_path: Path) -> None:
    """The ends of both ranges belong to them."""
    places = [load(tmp_path, edit(1, latitude=90 * s, longitude=180 * s)).regions[1] for s in (1, -1)]
    assert [(p.latitude, p.longitude) for p in places] == [(90.0, 180.0), (-90.0, -180.0)]


def test_names_in_single_quotes_keep_them_all(tmp_path: Path) -> None:
    """Only the double quote is a quote of CSV, also where every name begins and ends with another one."""
    rows = [(*row[:1], f"'{row[1]}'", *row[2:]) for row in SMALL]
    assert [r.name for r in load(tmp_path, rows).regions] == ["'Nation'", "'Alpha'", "'Beta'", "'Beta One'"]


# The same table in another form


def test_parquet_and_csv_of_the_same_rows_are_the_same_table(tmp_path: Path) -> None:
    """A fingerprint identifies what the rows say, not the file."""
    from_csv = load_geography(write_csv(tmp_path / "g.csv", OTHER_REGIONS))
    from_parquet = load_geography(write_parquet(tmp_path / "g.parquet", OTHER_REGIONS))
    assert from_csv.regions == from_parquet.regions
    assert from_csv.fingerprint == from_parquet.fingerprint
    assert re.fullmatch("[0-9a-f]{64}", from_csv.fingerprint)


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(tmp_path_factory: pytest.TempPathFactory, chance: random.Random) -> None:
    """Any order of the rows gives the same regions in the same order, and the same fingerprint."""
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
    """A store must notice when the public table is not the one that it was made for."""
    assert load(tmp_path, edit(1, **changes)).fingerprint != load(tmp_path, SMALL).fingerprint


def test_windows_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    """Tables come from spreadsheets too."""
    plain = write_csv(tmp_path / "g.csv", SMALL)
    other = tmp_path / "excel.csv"
    other.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes().replace(b"\n", b"\r\n"))
    assert load_geography(other).fingerprint == load_geography(plain).fingerprint


# A wrong tree is refused


def test_an_orphan_is_refused(tmp_path: Path) -> None:
    """The message names the region and the parent that is not there."""
    message = refusal(tmp_path, edit(3, parent="zz"))
    assert "region 'b1' is an orphan: its parent 'zz' is not in the table" in message


def test_a_duplicate_place_id_is_refused(tmp_path: Path) -> None:
    """Two rows cannot be one place."""
    assert "duplicate place_id 'a' (2 rows)" in refusal(tmp_path, edit(2, place_id="a"))


def test_a_duplicate_code_in_a_level_is_refused(tmp_path: Path) -> None:
    """An event names its region by code, so a code means one region of its level."""
    assert "duplicate code 'A' at level 'province' (2 rows)" in refusal(tmp_path, edit(2, code="A"))


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    """The message shows the way round."""
    rows = [*SMALL, ("X", "X", "canton", "y", None, None, None, None, "x"), ("Y", "Y", "canton", "x", *[None] * 4, "y")]
    assert "a cycle of parents: x -> y -> x" in refusal(tmp_path, rows)


def test_a_region_that_is_its_own_parent_is_refused(tmp_path: Path) -> None:
    """The shortest cycle is one too."""
    assert "a cycle of parents: a -> a" in refusal(tmp_path, edit(1, parent="a"))


def test_two_countries_are_refused(tmp_path: Path) -> None:
    """One region, and only one, has no parent."""
    message = refusal(tmp_path, edit(1, parent=None, level="nation"))
    assert "expected one region without a parent, the country; got n, a" in message


def test_no_country_is_refused(tmp_path: Path) -> None:
    """Where every region has a parent, parents go round in a circle."""
    assert "a cycle of parents: n -> b1 -> b -> n" in refusal(tmp_path, edit(0, parent="b1"))


def test_parents_of_different_levels_are_refused(tmp_path: Path) -> None:
    """All regions of a level lie in regions of one other level."""
    rows = [*SMALL, ("B2", "Beta Two", "canton", "n", None, None, None, None, "b2")]
    message = refusal(tmp_path, rows)
    assert "region 'b2' of level 'canton' has a parent of level 'nation'" in message
    assert "the others of its level have parents of level 'province'" in message


def test_a_region_inside_one_of_its_own_level_is_refused(tmp_path: Path) -> None:
    """A province does not lie in a province."""
    assert "region 'b' of level 'province' has a parent of level 'province'" in refusal(tmp_path, edit(2, parent="a"))


def test_levels_that_branch_are_refused(tmp_path: Path) -> None:
    """Two levels side by side do not nest."""
    assert "the levels nation, province, canton do not nest" in refusal(tmp_path, edit(3, parent="n"))


# A wrong value is refused with its row


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("population", "many", "a number from 0 up, got 'many'"),
        ("population", "-1", "a number from 0 up, got '-1'"),
        ("population", "nan", "a number from 0 up, got 'nan'"),
        ("population", "inf", "a number from 0 up, got 'inf'"),
        ("population", "1,000", "a number from 0 up, got '1,000'"),
        ("population", "12.5", "a whole number, got 12.5"),
        ("land_area_km2", "-0.1", "a number from 0 up, got '-0.1'"),
        ("land_area_km2", "3 km2", "a number from 0 up, got '3 km2'"),
        ("latitude", "90.1", "a number from -90 to 90, got '90.1'"),
        ("latitude", "north", "a number from -90 to 90, got 'north'"),
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
    """The message names the file, the row, the column, what was expected and what came."""
    message = refusal(tmp_path, edit(1, **{column: value}))
    assert message.endswith(f"regions.csv, row 2: column {column!r}: expected {expected}")


def test_a_whole_population_may_be_written_with_a_point(tmp_path: Path) -> None:
    """Spreadsheets write 100 as 100.0."""
    assert load(tmp_path, edit(1, population="100.0")).regions[1].population == 100


@pytest.mark.parametrize("column", ["code", "name", "level", "parent"])
def test_a_missing_column_is_refused(tmp_path: Path, column: str) -> None:
    """The message names the column, and lists those expected and those found."""
    at = HEADER.index(column)
    path = write_csv(tmp_path / "g.csv", [(*r[:at], *r[at + 1 :]) for r in SMALL], (*HEADER[:at], *HEADER[at + 1 :]))
    with pytest.raises(GeographyError, match=rf"g\.csv: no column '{column}'; expected code, name, .*; got "):
        load_geography(path)


# A wrong file is refused


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The message says what could be given instead."""
    with pytest.raises(GeographyError, match=r"absent\.csv: no such file; give a Parquet or CSV file, or 'us'"):
        load_geography(tmp_path / "absent.csv")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """A folder is not a table."""
    with pytest.raises(GeographyError, match="no such file"):
        load_geography(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("not.parquet", b"code,name,level,parent\n"),
        ("empty.parquet", b""),
        ("empty.csv", b""),
        ("latin.csv", ",".join(HEADER).encode() + "\nA,Doña,n,,,,,,a\n".encode("latin-1")),
        ("ragged.csv", ",".join(HEADER).encode() + b"\nA,Alpha,n,,,,,,a\nB,Beta,p,a,,,,,b,more\n"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """What cannot be read as a table is said to be that, without the reader's own words."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(GeographyError, match=f"{re.escape(name)}: cannot be read as Parquet or as comma-separated"):
        load_geography(path)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    """A header alone is no country."""
    with pytest.raises(GeographyError, match=r"g\.csv: holds no region"):
        load_geography(write_csv(tmp_path / "g.csv", []))


# Looking up


def found(geography: Geography, text: str) -> list[str]:
    return [r.place_id for r in geography.find(text)]


def test_find_ranks_code_then_name_then_beginning_then_words(tmp_path: Path) -> None:
    """The surest match comes first, whatever the order of the table."""
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
def test_find_minds_neither_case_nor_blanks(tmp_path: Path, text: str) -> None:
    """People type names as they please."""
    assert found(load_geography(other_geography(tmp_path)), text)[0] == "qz/c/021"


@pytest.mark.parametrize("text", ["", "  ", "nowhere at all", "%", "*"])
def test_find_gives_nothing_for_nothing(tmp_path: Path, text: str) -> None:
    """An empty text matches no region, and no character is a wildcard."""
    assert found(load(tmp_path, SMALL), text) == []
