"""Getting around the page: history, comparison, countries, tables and downloads."""

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.support.browser import OpenPage, download, heading, search_results, show_all, wait_for_map
from tests.support.dashboards import CALIFORNIA, LAST_WEEK, QAZARIA, SAN_FRANCISCO, TEXAS, US


def test_back_and_forward_work(open_page: OpenPage) -> None:
    """Every change of region or topic can be undone; moving through the weeks adds no history entry."""
    visitor = open_page()
    page = visitor.page
    show_all(page)
    page.get_by_role("button", name="Texas", exact=True).click()
    visitor.wait_for(TEXAS)
    page.get_by_text("Vaccination intent", exact=True).first.click()
    visitor.wait_for(TEXAS, "vaccination_intent")
    page.get_by_role("button", name="Previous week").click()  # adds no history entry
    visitor.wait_for(week="2021-03-01")
    page.go_back()
    visitor.wait_for(TEXAS, "covid19_vaccination")
    page.go_back()
    visitor.wait_for("country/USA")
    page.go_forward()
    visitor.wait_for(TEXAS)
    assert heading(page) == "Texas"


def test_a_view_can_be_embedded_in_another_page(open_page: OpenPage) -> None:
    """The embedded view has one card and a link to the full dashboard, which offers the code to copy."""
    visitor = open_page(f"?region={CALIFORNIA}&embed=map")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    for hidden in ("#series-card", "#table-card", "#search", "#about"):
        expect(page.locator(hidden)).to_be_hidden()
    page.get_by_role("link", name="Open the full dashboard").click()
    visitor.wait_for(CALIFORNIA)
    expect(page.locator("#table-card")).to_be_visible()
    page.get_by_text("Embed this view in another page").click()
    page.locator("#embed-kind").select_option("series")
    expect(page.locator("#embed-code")).to_have_value(
        re.compile(r"^<iframe src=\"http[^\"]+embed=series\" title=\"Calif")
    )


def test_regions_are_pinned_to_compare(open_page: OpenPage) -> None:
    """Each gets a line, a readout and a chip, stays while other regions are opened, and can be removed."""
    visitor = open_page()
    page = visitor.page
    show_all(page)
    page.get_by_role("button", name="Compare Texas").click()
    expect(page.locator(".chip .link")).to_have_text(["Texas"])
    page.get_by_role("button", name="California", exact=True).click()
    visitor.wait_for(CALIFORNIA)
    expect(page.locator(".chart").first.locator(".reading")).to_have_count(2)
    page.get_by_role("button", name="Pin to compare").click()
    expect(page.get_by_role("button", name="Pinned")).to_have_attribute("aria-pressed", "true")
    assert page.url.count("pin=") == 2
    page.get_by_role("button", name="Remove Texas").click()
    expect(page.locator(".chip")).to_have_count(0)


def test_countries_are_chosen_from_a_list(open_page: OpenPage) -> None:
    """Another country has its own topics, levels and weeks, and Back returns to the first."""
    visitor = open_page()
    page = visitor.page
    page.get_by_label("Country").select_option(label="Qazaria")
    visitor.wait_for("qz")
    assert "dataset=QZ_heating_search_trends" in page.url
    expect(page.locator("#trends span")).to_have_text(["Firewood", "Keeping warm"])
    expect(page.locator("#map-card")).to_be_hidden()
    page.go_back()
    visitor.wait_for("country/USA")
    wait_for_map(page, "covid19_vaccination", 9)
    expect(page.locator("#map-card")).to_be_visible()


def test_a_country_without_shapes_works_with_lists_tables_and_series(open_page: OpenPage) -> None:
    """All four levels can be opened, searched and compared."""
    visitor = open_page(f"?dataset={QAZARIA}")
    page = visitor.page
    for name, region in (
        ("A1=SUM(A1)", "qz/p/03"),
        ("Ω & Σ", "qz/c/032"),
        ("'Eua'", "qz/m/0321"),
        ("Šiauliai", "qz/s/p11"),
    ):
        page.locator("#table").get_by_role("button", name=name, exact=True).click()
        visitor.wait_for(region)
    expect(page.locator("#crumbs")).to_contain_text("QazariaA1=SUM(A1)Ω & Σ'Eua'")
    page.locator("#search").fill("siauliai")
    expect(search_results(page).first).to_contain_text("Šiauliai")


def test_the_table_is_sorted_by_any_column_and_missing_stays_last(open_page: OpenPage) -> None:
    """Numbers by size, names by alphabet, in both directions. A missing value is neither lowest nor highest."""
    page = open_page(f"?region={CALIFORNIA}").page
    page.get_by_role("button", name="Show all 58").click()
    values = page.locator("#table tbody tr td.number.wide strong")
    header = page.locator("th", has=page.get_by_role("button", name="COVID-19 vaccination"))
    for order in ("descending", "ascending"):
        expect(header).to_have_attribute("aria-sort", order)
        found = [float(text) for text in values.all_inner_texts()]
        assert found == sorted(found, reverse=order == "descending")
        assert len(found) < 58
        expect(page.locator("#table tbody tr").last).to_contain_text("Not enough data")
        header.get_by_role("button").click()
    page.locator("#table").get_by_role("button", name="County", exact=True).click()
    expect(page.locator("#table tbody tr").first).to_contain_text("Alameda County")


def test_the_map_and_the_charts_are_also_tables(open_page: OpenPage) -> None:
    """All regions of the map and all weeks of the charts can be read as text."""
    page = open_page().page
    page.locator("#table-levels").get_by_role("button", name="County").click()
    page.get_by_role("button", name="Show all 3,142").click()
    expect(page.locator("#table tbody tr")).to_have_count(3142)
    page.get_by_text("Show these series as a table").click()
    expect(page.locator("#series-table tbody tr")).to_have_count(10)


def test_the_current_view_is_downloaded_as_csv(open_page: OpenPage) -> None:
    """The week of the map and the weeks of the charts, in the dataset's own columns; a missing value is empty."""
    page = open_page(f"?region={CALIFORNIA}&pin=geoId/48").page
    wait_for_map(page, "covid19_vaccination", 9)
    name, content = download(page, "#map-downloads", "Values (CSV)")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert name == f"map_covid19_vaccination_US-CA_{LAST_WEEK}.csv"
    assert {row["place_id"][:8] for row in rows} == {CALIFORNIA}
    assert len(rows) == 58
    assert {bool(row["sni_covid19_vaccination"]) for row in rows} == {True, False}
    name, content = download(page, "#series-downloads", "Values (CSV)")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [row["place_id"] for row in rows] == [CALIFORNIA] * 10 + [TEXAS] * 10
    assert re.fullmatch(r"\d+\.\d{3}", rows[0]["sni_safety_side_effects_high"])


@pytest.mark.parametrize("menu", ["#map-downloads", "#series-downloads"])
def test_the_image_is_downloaded_as_png_and_svg(open_page: OpenPage, menu: str) -> None:
    """The SVG is well-formed and the PNG is not blank."""
    page = open_page(f"?region={SAN_FRANCISCO}").page
    wait_for_map(page, "covid19_vaccination", 9)
    _, svg = download(page, menu, "Image (SVG)")
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 3
    _, png = download(page, menu, "Image (PNG)")
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000


def test_the_page_links_to_the_published_files(open_page: OpenPage, us_data: Path) -> None:
    """The published CSV is downloaded unchanged."""
    page = open_page().page
    with page.expect_download() as waiting:
        page.get_by_role("link", name=f"{US}.csv").click()
    assert Path(waiting.value.path()).read_bytes() == (us_data / f"{US}.csv").read_bytes()
