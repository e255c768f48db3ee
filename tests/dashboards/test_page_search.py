"""The search box finds what people type, not only what the dataset calls it."""

import json

import pytest
from playwright.sync_api import Page, expect

from search_insights.dashboards.aliases import packaged_aliases
from search_insights.spec.geography import load_geography
from tests.support.browser import OpenPage, heading, search_results
from tests.support.dashboards import CALIFORNIA, QAZARIA, SAN_FRANCISCO, ZIP

FORGIVEN = {
    # punctuation, accents, saint
    "Cook County, IL": "Cook County, Illinois",
    "prince georges": "Prince George's County, Maryland",
    "dona ana": "Doña Ana County, New Mexico",
    "lewis & clark": "Lewis and Clark County, Montana",
    "saint johns fl": "St. Johns County, Florida",
    "st. lucie": "St. Lucie County, Florida",
    "de soto mississippi": "DeSoto County, Mississippi",
    # the location by name or code; no "county"
    "harris tx": "Harris County, Texas",
    "washington county oregon": "Washington County, Oregon",
    "Orange, CA": "Orange County, California",
    "massachusetts": "Massachusetts",
    "ma": "Massachusetts",
    # typos
    "Los Angles": "Los Angeles County, California",
    "san fransisco": "San Francisco County, California",
    "Massachussets": "Massachusetts",
    "Travsi County": "Travis County, Texas",
    # names that people use
    "manhattan": "New York County, New York",
    "washington, d.c.": "District of Columbia",
    "DC": "District of Columbia",
    "chicago": "Cook County, Illinois",
    "portland or": "Multnomah County, Oregon",
    # codes and ids
    "zip 95023": "95023 Hollister, San Benito County, California",
    "zip code 94110": "94110 San Francisco, San Francisco County, California",
    "us-ca": "California",
    "06075": "San Francisco County, California",
    "geoId/06075": "San Francisco County, California",
    "country/usa": "United States",
}


def found(page: Page, typed: str) -> list[str]:
    """Type into the search box; return the regions found, each with its location."""
    rows: list[str] = page.evaluate(
        """typed => { const box = document.getElementById('search'); box.value = typed;
        box.dispatchEvent(new Event('input'));
        const text = (row, part) => row.querySelector(part)?.textContent;
        const place = row => text(row, '.location')?.split(' · ')[1];
        return [...document.querySelectorAll('#search-results li')].map(row =>
            [text(row, '.name') ?? row.textContent, place(row)].filter(Boolean).join(', ')); }""",
        typed,
    )
    return rows


def test_the_search_box_forgives(open_page: OpenPage) -> None:
    """Punctuation, accents, saint and st, states by name or code, a missing "county", typos, and other names."""
    page = open_page().page
    page.locator("#search").focus()
    page.wait_for_load_state("networkidle")
    first = {typed: found(page, typed)[0] for typed in FORGIVEN}
    assert first == FORGIVEN
    boroughs = {"New York", "Bronx", "Kings", "Queens", "Richmond"}
    assert {name.split(" County")[0] for name in found(page, "NYC")} == boroughs
    assert found(page, "LA")[:2] == ["Louisiana", "Los Angeles County, California"]
    york = found(page, "york")
    assert york[0].startswith("York County"), "whole names come before longer names"
    whole = [i for i, name in enumerate(found(page, "lake")) if "Lake" in name.split(",")[0].split()]
    assert whole == list(range(len(whole))), "whole words come before parts of words"


def test_another_country_is_searched_by_its_own_names_and_codes(open_page: OpenPage) -> None:
    """Its levels, codes and locations work as those of the United States do."""
    page = open_page(f"?dataset={QAZARIA}").page
    page.locator("#search").focus()
    page.wait_for_load_state("networkidle")
    assert found(page, "siauliai")[0].startswith("Šiauliai")
    assert found(page, "north upper")[0] == 'North, "Upper" Province'
    assert found(page, "ohara drop table")[0].startswith("O'Hara'; DROP TABLE")
    assert found(page, "midlnad")[0] == "<b>Midland</b>"
    assert found(page, "nyc") == ["No region with this name or code"]


@pytest.mark.parametrize(
    ("typed", "choice", "region"),
    [("zip/94110", "94110 San Francisco", ZIP), ("san francisco county", "San Francisco County", SAN_FRANCISCO)],
)
def test_enter_opens_the_best_match(open_page: OpenPage, typed: str, choice: str, region: str) -> None:
    """The region is shown, and its heading has the focus."""
    visitor = open_page()
    page = visitor.page
    page.locator("#search").fill(typed)
    expect(search_results(page).first).to_contain_text(choice)
    page.locator("#search").press("Enter")
    visitor.wait_for(region)
    assert heading(page) == choice
    assert page.locator("#region").evaluate("e => e === document.activeElement")


def test_a_search_without_results_says_so(open_page: OpenPage) -> None:
    """A line says so, and Escape closes it."""
    page = open_page(f"?region={CALIFORNIA}").page
    page.locator("#search").fill("Xanadu")
    expect(search_results(page)).to_have_text("No region with this name or code")
    page.locator("#search").press("Escape")
    expect(page.locator("#search-results")).to_be_hidden()


def test_every_alias_is_of_a_region_and_is_written_as_it_is_typed() -> None:
    """A wrong place_id would never be found."""
    known = load_geography().by_place_id
    aliases = packaged_aliases()
    assert [place for _, place in aliases if place not in known] == []
    assert len(set(aliases)) == len(aliases)
    assert json.dumps(aliases) == json.dumps(aliases).lower().replace("geoid", "geoId")
