"""Promises about `search-insights regions`: the right region, its class, and whether and why it is reported."""

import json
import re
from pathlib import Path

import pytest

from search_insights.spec.geography import Geography
from tests.support.command_line import Run
from tests.support.other_country import other_geography, other_spec_file


def facts(card: str) -> dict[str, str]:
    """Parse a printed card: its title, and each fact by its name."""
    title, *lines = card.strip().splitlines()
    return {"title": title} | {line[2:14].strip(): line[14:].strip() for line in lines}


def cards(out: str) -> list[dict[str, str]]:
    return [facts(card) for card in out.strip().split("\n\n")]


def test_95023_is_not_reported_because_its_county_is_small(run: Run) -> None:
    """The paper's example: Hollister is in San Benito County, which is small, so X3 leaves it out."""
    code, out, err = run("regions", "95023")
    assert (code, err) == (0, "")
    [card] = cards(out)
    assert card["title"].startswith("95023  ")
    assert card["title"].endswith("(postal_code)")
    assert card["lies in"].startswith("San Benito County (06069), California (US-CA), ")
    assert card["size class"] == "small, as San Benito County (population 61,467)"
    assert card["reported"] == "no: X3: postal_code regions of size class small are not reported"


def test_94103_is_reported(run: Run) -> None:
    """The paper's other example: a postal code of San Francisco, which is large."""
    code, out, _ = run("regions", "94103")
    assert code == 0
    [card] = cards(out)
    assert card["place id"] == "zip/94103"
    assert card["size class"].startswith("large, as San Francisco County")
    assert card["reported"].startswith("yes, ")


def test_a_name_finds_the_county(run: Run) -> None:
    """Part of a name in lower case is enough."""
    code, out, _ = run("regions", "san benito")
    assert code == 0
    county = next(card for card in cards(out) if card["place id"] == "geoId/06069")
    assert county["title"] == "06069  San Benito County  (county)"
    assert (county["size class"], county["reported"]) == ("small", "yes, with noise of its own")


@pytest.mark.parametrize("code", ["06075", "01001", "94103", "US-CA"])
def test_a_code_gives_every_region_that_has_it(run: Run, us: Geography, code: str) -> None:
    """A county and a postal code may share a code. Both are shown, and no other region."""
    _, out, _ = run("regions", code)
    assert {card["place id"] for card in cards(out)} == {r.place_id for r in us.regions if r.code == code}


def test_01001_is_a_county_of_alabama_and_a_postal_code_of_massachusetts(run: Run) -> None:
    """Codes are unique only within a level."""
    _, out, _ = run("regions", "01001")
    assert [(card["place id"], card["lies in"].split(", ")[-2]) for card in cards(out)] == [
        ("geoId/01001", "Alabama (US-AL)"),
        ("zip/01001", "Massachusetts (US-MA)"),
    ]


def test_an_exact_code_hides_partial_matches(run: Run, us: Geography) -> None:
    """`US` is the country, though more than twenty names contain these letters."""
    assert len(us.find("US")) > 20
    _, out, err = run("regions", "US")
    assert ([card["place id"] for card in cards(out)], err) == (["country/USA"], "")


def test_the_country_is_shown_as_a_sum(run: Run) -> None:
    """Its values are sums of noisy ones, and it has no size class."""
    _, out, _ = run("regions", "country/USA")
    [card] = cards(out)
    assert card["reported"] == "yes, as the sum of noisy state values"
    assert card["size class"] == "none (country regions have no size class)"


def test_an_unknown_region_gives_one_line_and_exit_code_1(run: Run) -> None:
    """The line says what can be given."""
    code, out, err = run("regions", "nowhere at all")
    assert (code, out) == (1, "")
    assert err.startswith("search-insights: no region 'nowhere at all'; give a code ")
    assert err.count("\n") == 1


def test_an_unknown_region_gives_an_empty_list_in_json(run: Run) -> None:
    """Scripts always get JSON, and the same exit code."""
    code, out, _ = run("regions", "nowhere at all", "--json")
    assert (code, json.loads(out)) == (1, [])


def test_json_rows_have_the_columns_of_the_geography_and_the_standing(run: Run) -> None:
    """Scripts rely on these keys."""
    code, out, err = run("regions", "95023", "--json")
    assert (code, err) == (0, "")
    [row] = json.loads(out)
    assert set(row) == {
        *("code", "name", "level", "parent", "population", "land_area_km2", "latitude", "longitude", "place_id"),
        *("size_class", "reported", "reason"),
        *("also_in", "from_elsewhere", "counted_elsewhere"),
    }
    assert (row["code"], row["level"], row["parent"], row["place_id"]) == (
        "95023",
        "postal_code",
        "geoId/06069",
        "zip/95023",
    )
    assert (row["size_class"], row["reported"]) == ("small", False)
    assert row["also_in"] == {"geoId/06085": 0.002812}
    assert (row["from_elsewhere"], row["counted_elsewhere"]) == (0.0, 0.0)


def test_a_county_without_a_zip_of_its_own_is_counted_elsewhere(run: Run) -> None:
    """The card says what a log that names ZIPs only does to a county: no count of Fairfax city can be its own."""
    _, out, _ = run("regions", "geoId/51600")
    [card] = cards(out)
    assert card["elsewhere"] == (
        "if a log names postal_code regions only, 0.0% of its count is made elsewhere, and 100.0% of its own searches "
        "are counted elsewhere"
    )


def test_a_zip_shows_the_counties_that_it_extends_into(run: Run) -> None:
    """The largest share comes first; a tiny one is not shown as none."""
    _, out, _ = run("regions", "zip/20736")
    [card] = cards(out)
    assert card["also in"] == (
        "1.4% in Anne Arundel County (24003), under 0.1% in Yavapai County (04025); of its addresses"
    )


def test_a_long_list_is_cut_for_people_and_complete_for_scripts(run: Run, us: Geography) -> None:
    """The screen shows twenty lines and how many more there are; JSON has every region."""
    matches = len(us.find("washington"))
    _, out, err = run("regions", "washington")
    assert len(out.splitlines()) == 21
    assert err == f"... and {matches - 20} more; --json lists them all\n"
    _, out, err = run("regions", "washington", "--json")
    assert (len(json.loads(out)), err) == (matches, "")


# Another country


@pytest.fixture
def qazaria(tmp_path: Path) -> list[str]:
    """The options of the other release."""
    return ["--spec", str(other_spec_file(tmp_path)), "--geography", str(other_geography(tmp_path))]


def test_another_country_is_described_by_its_own_spec(run: Run, qazaria: list[str]) -> None:
    """Levels, classes and reasons are those of the given spec and geography."""
    code, out, _ = run("regions", "Quieter", *qazaria)
    assert code == 0
    [card] = cards(out)
    assert card["title"] == "p06  Quieter  (parish)"
    assert card["size class"] == "rural, as O'Hara'; DROP TABLE regions; /* (population 9,999)"
    assert card["population"] == "not known"
    assert card["reported"] == "no: X3: parish regions of size class rural are not reported"


def test_another_country_may_bring_its_straddling_table(run: Run, qazaria: list[str], tmp_path: Path) -> None:
    """Without one, nothing is said; with a bad one, the command ends with one line and exit code 2."""
    _, out, _ = run("regions", "p06", *qazaria)
    assert "also in" not in out
    table = tmp_path / "straddling.csv"
    table.write_text("place_id,also_in,share\nqz/s/p06,qz/m/0211,0.25\n", encoding="utf-8")
    _, out, _ = run("regions", "p06", "--straddling", str(table), *qazaria)
    assert cards(out)[0]["also in"] == "25.0% in Least Area (0211); of its addresses"
    table.write_text("place_id,also_in,share\nqz/s/p06,qz/m/0211,1.25\n", encoding="utf-8")
    code, out, err = run("regions", "p06", "--straddling", str(table), *qazaria)
    assert (code, out) == (2, "")
    assert err == f"search-insights: {table}, row 1: column 'share': expected a number above 0 and up to 1\n"
    code, _, err = run("regions", "p06", "--straddling", "us", *qazaria)
    assert (code, err.count("\n")) == (2, 1)
    assert "--straddling us: is about the packaged geography" in err


def test_several_matches_are_listed(run: Run, qazaria: list[str]) -> None:
    """One line each under a header: code, name, level, what it lies in (nothing for the country), class, reported."""
    code, out, err = run("regions", "a", *qazaria)
    assert (code, err) == (0, "")
    header, *lines = [re.split(r" {2,}", line) for line in out.splitlines()]
    assert header == ["code", "name", "level", "lies in", "class", "reported"]
    assert ["QZ", "Qazaria", "nation", "yes"] in lines
    assert ["03", "A1=SUM(A1)", "province", "Qazaria", "yes"] in lines
    assert ["0211", "Least Area", "commune", "東町", "urban", "yes"] in lines
    assert ["p08", "Unmeasured", "parish", "Least Area", "urban", "no: its land area is not known"] in lines


def test_an_unknown_area_is_shown_as_unknown(run: Run, qazaria: list[str]) -> None:
    """Missing is never shown as zero."""
    _, out, _ = run("regions", "unmeasured", *qazaria)
    [card] = cards(out)
    assert (card["land area"], card["reported"]) == ("not known", "no: its land area is not known")


@pytest.mark.parametrize("name", ["नमस्ते नगर", "<b>Midland</b>", "A1=SUM(A1)", 'North, "Upper" Province'])
def test_any_name_is_found_as_it_is_written(run: Run, qazaria: list[str], name: str) -> None:
    """No character of a name has a special meaning in the search."""
    _, out, _ = run("regions", name, "--json", *qazaria)
    assert json.loads(out)[0]["name"] == name


def test_a_geography_that_does_not_fit_the_spec_is_refused(run: Run, qazaria: list[str]) -> None:
    """It is bad input, explained in one line."""
    code, out, err = run("regions", "tiny", *qazaria[2:])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "expected the levels country > state > county > postal_code" in err
