"""What the page shows: map, charts, weeks and topics, with missing values that look neither low nor like 0."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from search_insights.dashboards.site import dashboard
from search_insights.spec.geography import load_geography
from tests.support.browser import (
    OpenPage,
    changed_map_image,
    heading,
    map_image,
    on_map,
    served,
    visit,
    wait_for_map,
)
from tests.support.dashboards import CALIFORNIA, FIRST_WEEK, SAN_FRANCISCO, TEXAS_ON_MAP
from tests.support.other_country import other_geography


def test_the_first_view_is_the_country_in_its_newest_week(open_page: OpenPage) -> None:
    """The map is painted, each of the three trends has a chart, the table lists the states, and the week is shown."""
    page = open_page().page
    wait_for_map(page, "covid19_vaccination", 9)
    assert heading(page) == "United States"
    assert page.locator("#charts svg[role=img]").count() == 3
    assert page.locator("#week-dates").inner_text().startswith("8 \N{EN DASH} 14 March 2021")
    assert page.locator("#table tbody tr").count() == 15
    page.get_by_role("button", name="Show all 51").click()
    expect(page.locator("#table tbody tr")).to_have_count(51)


def test_the_map_drills_down_from_country_to_state_to_county(open_page: OpenPage) -> None:
    """A click opens the state, then the county, whose postal codes are points and rows; the breadcrumbs lead back."""
    visitor = open_page()
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.click(*on_map(page, (0.14, 0.5)))
    visitor.wait_for(CALIFORNIA)
    page.get_by_role("button", name="San Francisco County", exact=True).click()
    visitor.wait_for(SAN_FRANCISCO)
    expect(page.locator("#map-title")).to_have_text("COVID-19 vaccination by postal code")
    assert page.locator("#table tbody th", has_text=re.compile(r"^941\d\d ")).count() > 10
    page.locator("#crumbs").get_by_role("button", name="California").click()
    visitor.wait_for(CALIFORNIA)


def test_hovering_shows_name_value_and_interval(open_page: OpenPage) -> None:
    """The tooltip of a region has what its row of the table has."""
    page = open_page("?by=state").page
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.move(*on_map(page, TEXAS_ON_MAP))
    tip = page.locator("#tip")
    expect(tip).to_contain_text("Texas")
    assert re.search(r"\d+\.\d\s*\d+\.\d \u2013 \d+\.\d", tip.inner_text())


def test_a_colour_means_the_same_in_every_week(open_page: OpenPage) -> None:
    """The scale stays the same while the map changes with the week: nothing is rescaled unless the reader asks."""
    visitor = open_page(f"?by=state&week={FIRST_WEEK}")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 0)
    scale = page.locator("#legend .scale g")
    legend, before = scale.inner_html(), map_image(page)
    page.locator("#week").press("End")
    wait_for_map(page, "covid19_vaccination", 9)
    assert scale.inner_html() == legend
    assert map_image(page) != before


def test_topics_are_chosen_by_buttons(open_page: OpenPage) -> None:
    """The map, its title and the address follow."""
    visitor = open_page()
    visitor.page.get_by_text("Safety and side effects", exact=True).first.click()
    visitor.wait_for(trend="safety_side_effects")
    wait_for_map(visitor.page, "safety_side_effects", 9)
    assert "trend=safety_side_effects" in visitor.page.url


def test_the_map_zooms_and_pans(open_page: OpenPage) -> None:
    """Buttons and dragging move the map; one button resets it."""
    page = open_page().page
    wait_for_map(page, "covid19_vaccination", 9)
    first = map_image(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = changed_map_image(page, first)
    page.mouse.move(*on_map(page, (0.5, 0.5)))
    page.mouse.down()
    page.mouse.move(*on_map(page, (0.3, 0.4)), steps=4)
    page.mouse.up()
    page.mouse.move(5, 5)
    moved = changed_map_image(page, zoomed)
    assert moved != first
    assert heading(page) == "United States"  # a drag is not a click
    page.get_by_role("button", name="Show the whole region").click()
    changed_map_image(page, moved)
    assert map_image(page) == first


def test_a_region_without_a_value_is_hatched_and_says_why(open_page: OpenPage) -> None:
    """Not enough data and not reported are different, and neither looks like a low value."""
    visitor = open_page("?region=geoId/06003")  # Alpine County: 1,101 people
    expect(visitor.page.locator("#note")).to_contain_text("Not enough data")
    visitor.open("?region=zip/96120")  # in it
    expect(visitor.page.locator("#note")).to_contain_text(
        "Not reported: a postal code in a county with fewer than 100,000"
    )


def test_gaps_and_zeros_look_different(browser: Browser, zero_site: Path) -> None:
    """No line is drawn through a missing week, which is marked under the axis. A 0 is a point of the line."""
    with served(zero_site) as address, visit(browser, address) as visitor:
        page = visitor.open("?region=qz/c/011&week=2023-10-15")
        chart = page.locator("#charts .chart").first
        expect(chart.locator(".readout")).to_have_text("not enough data")
        line = chart.locator("path[stroke-width='2']").get_attribute("d") or ""
        assert line.count("M") == 2  # two runs, and a gap between them
        visitor.open("?region=qz/c/012&week=2023-10-08")
        expect(chart.locator(".readout strong")).to_have_text("0")
        line = chart.locator("path[stroke-width='2']").get_attribute("d") or ""
        assert line.count("M") == 1
        visitor.open("?region=qz/p/01&week=2023-10-08")
        row = page.locator("#table tbody tr", has_text="O'Hara'")
        expect(row.locator("strong")).to_have_text("0")


def test_regions_of_which_only_centres_are_known_are_points_on_the_map(
    browser: Browser, other_data: Path, tmp_path: Path
) -> None:
    """Without outlines, a geography with centres makes a map of points; the table lists the regions beside it."""
    geography = load_geography(other_geography(tmp_path))
    site = dashboard([other_data], tmp_path / "site", geographies=[geography]).folder
    with served(site) as address, visit(browser, address) as visitor:
        visitor.open("")
        wait_for_map(visitor.page, "firewood", 4)
        expect(visitor.page.locator("#table tbody tr")).to_have_count(3)
        expect(visitor.page.locator("#note")).to_be_hidden()


def test_the_week_moves_by_slider_buttons_and_arrow_keys(open_page: OpenPage) -> None:
    """One step at a time, never beyond the ends, and the address follows."""
    visitor = open_page()
    page = visitor.page
    page.get_by_role("button", name="Previous week").click()
    visitor.wait_for(week="2021-03-01")
    assert "week=2021-03-01" in page.url
    page.locator("#week").press("ArrowLeft")
    visitor.wait_for(week="2021-02-22")
    assert page.locator("#week").get_attribute("aria-valuetext") == "Week of 22 February 2021"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    visitor.wait_for(week="2021-03-01")
    page.locator("#week").press("Home")
    visitor.wait_for(week=FIRST_WEEK)
    page.get_by_role("button", name="Previous week").click(force=True)
    visitor.wait_for(week=FIRST_WEEK)


def test_play_runs_through_the_weeks_and_stops(open_page: OpenPage) -> None:
    """From the last week it starts at the first; pressed again, it stops."""
    visitor = open_page()
    page = visitor.page
    page.clock.install()
    page.get_by_role("button", name="Play through the weeks").click()
    visitor.wait_for(week=FIRST_WEEK)
    page.clock.run_for(3200)
    visitor.wait_for(week="2021-01-18")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5000)
    visitor.wait_for(week="2021-01-18")


def test_the_charts_show_the_values_of_the_week_under_the_pointer(open_page: OpenPage) -> None:
    """All charts show that week, and a click selects it."""
    visitor = open_page()
    page = visitor.page
    chart = page.locator("#charts svg[role=img]").first
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": 47, "y": box["height"] / 2})
    expect(page.locator(".hover-week").nth(2)).to_have_text("Week of 4 January 2021")
    chart.click(position={"x": 47, "y": box["height"] / 2})
    visitor.wait_for(week=FIRST_WEEK)


def test_hovering_the_line_of_a_child_names_it(open_page: OpenPage) -> None:
    """The line under the pointer is highlighted and named with its value."""
    page = open_page("?by=state").page
    chart = page.locator("#charts svg[role=img]").first
    box = chart.bounding_box()
    assert box is not None
    named = page.locator(".hover-week").first
    for y in range(10, int(box["height"]) - 30, 4):  # some line passes here
        chart.hover(position={"x": box["width"] - 18, "y": y})
        if re.search(r"\w+ \d+\.\d", named.inner_text() if named.is_visible() else ""):
            return
    pytest.fail("no line was named")


def test_dark_mode_follows_the_system_and_the_button(open_page: OpenPage) -> None:
    """The page and the map change together."""
    page = open_page(color_scheme="dark").page
    wait_for_map(page, "covid19_vaccination", 9)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    before = map_image(page)
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) != dark
    assert changed_map_image(page, before) != before
