"""Promises about straddling tables: checked when they are read, and what they say about the counts above."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_insights.errors import GeographyError
from search_insights.spec.geography import Geography, build_geography
from search_insights.spec.straddling import Exchange, Straddle, Straddling, load_straddling
from tests.support.straddling import COUNTIES, EQUAL, HALF_ELSEWHERE, ZIPS, country


def read(folder: Path, *rows: str, header: str = "place_id,also_in,share") -> Straddling:
    path = folder / "straddling.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return load_straddling(EQUAL, path)


def test_a_table_says_what_is_counted_elsewhere(tmp_path: Path) -> None:
    """Half of A1x is in A2 and a tenth of it in B1: the shares of what is counted, and of what is made there."""
    found = read(tmp_path, "A1x,A2,0.5", "A1x,B1,0.1")
    assert found == HALF_ELSEWHERE
    assert found.level == "postal_code"
    assert found.also_in == {"A1x": {"A2": 0.5, "B1": 0.1}}
    assert found.people_elsewhere == pytest.approx(60)
    assert found.exchanges == {
        "A": pytest.approx(Exchange(10 / 400, 0)),
        "B": pytest.approx(Exchange(0, 10 / 410)),
        "A1": pytest.approx(Exchange(60 / 200, 0)),
        "A2": pytest.approx(Exchange(0, 50 / 250)),
        "B1": pytest.approx(Exchange(0, 10 / 210)),
    }


def test_an_unknown_population_counts_as_the_average() -> None:
    """Of the others; where no population is known, all regions are equal."""
    some = country({code: 100 if code.startswith("A") else None for code in ZIPS})
    none = country({})
    rows = (Straddle("A1x", "A2", 0.5),)
    assert Straddling(some, rows).exchanges == Straddling(none, rows).exchanges == Straddling(EQUAL, rows).exchanges


@given(
    people=st.lists(st.integers(0, 10**6), min_size=8, max_size=8),
    parts=st.dictionaries(
        st.sampled_from([(z, c) for z in ZIPS for c in COUNTIES if z[:2] != c]), st.floats(0.001, 1 / 3), max_size=12
    ),
)
def test_what_one_region_gives_another_receives(people: list[int], parts: dict[tuple[str, str], float]) -> None:
    """In all counties together, as many people are counted from elsewhere as are counted elsewhere; all are shares."""
    found = Straddling(
        country(dict(zip(ZIPS, people, strict=True))), tuple(Straddle(z, c, s) for (z, c), s in sorted(parts.items()))
    )
    counted = {c: found.people.get(f"{c}x", 0.0) + found.people.get(f"{c}y", 0.0) for c in COUNTIES}
    exchanges = {c: found.exchanges.get(c, Exchange(0.0, 0.0)) for c in COUNTIES}
    assert all(0 <= share <= 1 + 1e-9 for exchange in exchanges.values() for share in exchange)
    received = {c: counted[c] * exchanges[c].from_elsewhere for c in COUNTIES}
    stayed = {c: counted[c] - received[c] for c in COUNTIES}
    given_away = sum(people_there * row.share for row in found.rows if (people_there := found.people[row.place_id]))
    assert sum(received.values()) == pytest.approx(given_away)
    for c in COUNTIES:
        made = stayed[c] + sum(found.people[row.place_id] * row.share for row in found.rows if row.also_in == c)
        assert made * (1 - exchanges[c].counted_elsewhere) == pytest.approx(stayed[c], abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["A1x,A2,0"], "row 1: column 'share': expected a number above 0 and up to 1"),
        (["A1x,A2,many"], "row 1: column 'share'"),
        (["A1x,A2,nan"], "row 1: column 'share'"),
        (["A1x,A2,0.1", "Z9,A2,0.1"], "row 2: column 'place_id': expected a place_id of the geography country.csv"),
        (["A1x,Z9,0.1"], "row 1: column 'also_in': expected a place_id"),
        (["A1x,,0.1"], "row 1: column 'also_in': expected a place_id"),
        (["A1x,A1,0.1"], "row 1: 'A1x' cannot also be in 'A1'; expected another region of the level of its parent"),
        (["A1x,B,0.1"], "row 1: 'A1x' cannot also be in 'B'"),
        (["C,A,0.1"], "row 1: 'C' cannot also be in 'A'"),
        (["A1x,A2,0.1", "A1,B,0.1"], "regions of the levels county and postal_code; expected regions of one level"),
        (["A1x,A2,0.1", "A1x,A2,0.1"], "there twice; keep one row"),
        (["A1x,A2,0.6", "A1x,B1,0.5"], "the shares of 'A1x' add up to more than 1"),
    ],
)
def test_a_bad_row_is_refused_in_one_line(tmp_path: Path, rows: list[str], message: str) -> None:
    """The message names the file, the row and what was expected."""
    with pytest.raises(GeographyError) as caught:
        read(tmp_path, *rows)
    assert str(caught.value).startswith(str(tmp_path / "straddling.csv"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_misspelt_column_is_refused(tmp_path: Path) -> None:
    """As in a table of regions."""
    with pytest.raises(GeographyError, match="no column 'share'; expected place_id, also_in, share; got"):
        read(tmp_path, "A1x,A2,0.1", header="place_id,also_in,part")


def test_only_the_packaged_geography_has_the_packaged_table(us: Geography) -> None:
    """A geography that differs in one region has none: the shares might not fit its parents."""
    assert len(load_straddling(us).rows) == 14_601
    assert load_straddling(EQUAL).rows == ()
    other = build_geography([*us.regions[:-1]], "us")
    assert load_straddling(other).rows == ()
