"""The dashboard as people use it: in a real browser, by mouse, by keyboard, by link and by screen reader."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import Visit, running_browser, served, visit
from tests.support.dashboards import FIRST_WEEK, LAST_WEEK, QAZARIA, US

OPEN = Callable[..., Visit]
LAST, FIRST = LAST_WEEK.isoformat(), FIRST_WEEK.isoformat()
CALIFORNIA, SAN_FRANCISCO, ZIP = "geoId/06", "geoId/06075", "zip/94110"
SERIOUS = ("serious", "critical")
TEXAS = (0.48, 0.7)  # where it lies on the map of the country


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of the page."""
    with running_browser() as started:
        yield started


@pytest.fixture(scope="module")
def address(us_site: Path) -> Iterator[str]:
    """The site of both countries, served."""
    with served(us_site) as found:
        yield found


@pytest.fixture
def us(browser: Browser, address: str) -> Iterator[OPEN]:
    """Open the site; any page error, console error or request to another host fails the test."""
    with ExitStack() as stack:

        def open_page(query: str = "", **options: Any) -> Visit:
            found = stack.enter_context(visit(browser, address, **options))
            found.open(query)
            return found

        yield open_page


def heading(page: Page) -> str:
    return page.locator("#region").inner_text()


def wait_for_map(page: Page, trend: str, week: int) -> None:
    page.wait_for_selector(f'#map[data-painted="{trend} {week}"]')


def download(page: Page, menu: str, choice: str) -> tuple[str, bytes]:
    """Choose from a menu of downloads; gives the file's name and content."""
    page.locator(f"{menu} summary").click()
    with page.expect_download() as waiting:
        page.locator(menu).get_by_role("button", name=choice).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def picture(page: Page) -> str:
    """Give the map as it is painted."""
    found: str = page.evaluate("document.getElementById('canvas').toDataURL()")
    return found


def options(page: Page) -> Locator:
    return page.locator("#search-results [role=option]")


def show_all(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Show all")).click()


def on_map(page: Page, place: tuple[float, float]) -> tuple[float, float]:
    """Find a place of the map on the screen, by its share of the map's width and height."""
    box = page.locator("#map").bounding_box()
    assert box is not None
    return box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"]


# Looking


def test_the_first_view_is_the_country_in_its_newest_week(us: OPEN) -> None:
    """The map is painted, the three trends have charts, the table lists the states, and the week is plain to see."""
    page = us().page
    wait_for_map(page, "covid19_vaccination", 9)
    assert heading(page) == "United States"
    assert page.locator("#charts svg[role=img]").count() == 3
    assert page.locator("#week-dates").inner_text().startswith("8 \N{EN DASH} 14 March 2021")
    assert page.locator("#table tbody tr").count() == 15
    page.get_by_role("button", name="Show all 51").click()
    expect(page.locator("#table tbody tr")).to_have_count(51)


def test_the_map_drills_down_from_country_to_state_to_county(us: OPEN) -> None:
    """A press opens the state, then the county; its postal codes are points and rows; the crumbs lead back."""
    visitor = us()
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.click(*on_map(page, (0.14, 0.5)))
    visitor.shown(CALIFORNIA)
    page.get_by_role("button", name="San Francisco County", exact=True).click()
    visitor.shown(SAN_FRANCISCO)
    expect(page.locator("#map-title")).to_have_text("COVID-19 vaccination by postal code")
    assert page.locator("#table tbody th", has_text=re.compile(r"^941\d\d ")).count() > 10
    page.locator("#crumbs").get_by_role("button", name="California").click()
    visitor.shown(CALIFORNIA)


def test_hovering_shows_name_value_and_interval(us: OPEN) -> None:
    """The tooltip of a region has what the table says of it."""
    page = us("?by=state").page
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.move(*on_map(page, TEXAS))
    tip = page.locator("#tip")
    expect(tip).to_contain_text("Texas")
    assert re.search(r"\d+\.\d\s*\d+\.\d \u2013 \d+\.\d", tip.inner_text())


def test_a_colour_means_the_same_in_every_week(us: OPEN) -> None:
    """The legend stays while the map changes with the week: nothing is rescaled."""
    visitor = us(f"?by=state&week={FIRST}")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 0)
    legend, before = page.locator("#legend").inner_html(), picture(page)
    page.locator("#week").press("End")
    wait_for_map(page, "covid19_vaccination", 9)
    assert page.locator("#legend").inner_html() == legend
    assert picture(page) != before


def test_topics_are_chosen_by_buttons(us: OPEN) -> None:
    """The map, its title and the address follow."""
    visitor = us()
    visitor.page.get_by_text("Safety and side effects", exact=True).first.click()
    visitor.shown(trend="safety_side_effects")
    wait_for_map(visitor.page, "safety_side_effects", 9)
    assert "trend=safety_side_effects" in visitor.page.url


def test_the_map_zooms_and_pans(us: OPEN) -> None:
    """Buttons and dragging move the picture; one button brings it back."""
    page = us().page
    wait_for_map(page, "covid19_vaccination", 9)
    first = picture(page)
    page.get_by_role("button", name="Zoom in").click()
    nearer = changed(page, first)
    page.mouse.move(*on_map(page, (0.5, 0.5)))
    page.mouse.down()
    page.mouse.move(*on_map(page, (0.3, 0.4)), steps=4)
    page.mouse.up()
    page.mouse.move(5, 5)
    moved = changed(page, nearer)
    assert moved != first
    assert heading(page) == "United States"  # a drag is no press
    page.get_by_role("button", name="Show the whole region").click()
    changed(page, moved)
    assert picture(page) == first


def changed(page: Page, before: str) -> str:
    """Wait until the map is painted differently, and stays so for two frames."""
    found: str = page.evaluate(
        """async before => { const c = document.getElementById('canvas'); let last = before, now = before;
        while (now === before || now !== last) {
            last = now; await new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)));
            now = c.toDataURL();
        } return now; }""",
        before,
    )
    return found


# Missing is not low, and not 0


def test_a_region_without_a_value_is_hatched_and_says_why(us: OPEN) -> None:
    """Not enough data and not reported are two things, and neither looks like a low value."""
    visitor = us("?region=geoId/06003")  # Alpine County: 1,101 people
    expect(visitor.page.locator("#note")).to_contain_text("Not enough data")
    visitor.open("?region=zip/96120")  # in it
    expect(visitor.page.locator("#note")).to_contain_text(
        "Not reported: a postal code in a county with fewer than 100,000"
    )


def test_gaps_and_zeros_look_different(browser: Browser, zero_site: Path) -> None:
    """No line is drawn through a missing week, which is marked under the axis; a 0 is a point of the line."""
    with served(zero_site) as address, visit(browser, address) as visitor:
        page = visitor.open("?region=qz/c/011&week=2023-10-15")
        chart = page.locator("#charts .chart").first
        expect(chart.locator(".readout")).to_have_text("no value published")
        line = chart.locator("path[stroke-width='2']").get_attribute("d") or ""
        assert line.count("M") == 2  # two runs, and a gap between them
        visitor.open("?region=qz/c/012&week=2023-10-08")
        expect(chart.locator(".readout strong")).to_have_text("0")
        line = chart.locator("path[stroke-width='2']").get_attribute("d") or ""
        assert line.count("M") == 1
        visitor.open("?region=qz/p/01&week=2023-10-08")
        row = page.locator("#table tbody tr", has_text="O'Hara'")
        expect(row.locator("strong")).to_have_text("0")


# Time


def test_the_week_moves_by_slider_buttons_and_arrow_keys(us: OPEN) -> None:
    """One step at a time, never beyond the ends, and the address follows."""
    visitor = us()
    page = visitor.page
    page.get_by_role("button", name="Previous week").click()
    visitor.shown(week="2021-03-01")
    assert "week=2021-03-01" in page.url
    page.locator("#week").press("ArrowLeft")
    visitor.shown(week="2021-02-22")
    assert page.locator("#week").get_attribute("aria-valuetext") == "Week of 22 February 2021"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    visitor.shown(week="2021-03-01")
    page.locator("#week").press("Home")
    visitor.shown(week=FIRST)
    page.get_by_role("button", name="Previous week").click(force=True)
    visitor.shown(week=FIRST)


def test_play_runs_through_the_weeks_and_stops(us: OPEN) -> None:
    """From the last week it begins at the first; pressed again, it stays."""
    visitor = us()
    page = visitor.page
    page.clock.install()
    page.get_by_role("button", name="Play through the weeks").click()
    visitor.shown(week=FIRST)
    page.clock.run_for(3200)
    visitor.shown(week="2021-01-18")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5000)
    visitor.shown(week="2021-01-18")


def test_the_charts_read_out_the_week_under_the_pointer(us: OPEN) -> None:
    """All charts show it, and a press goes there."""
    visitor = us()
    page = visitor.page
    chart = page.locator("#charts svg[role=img]").first
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": 47, "y": box["height"] / 2})
    expect(page.locator(".hover-week").nth(2)).to_have_text("Week of 4 January 2021")
    chart.click(position={"x": 47, "y": box["height"] / 2})
    visitor.shown(week=FIRST)


def test_a_grey_line_says_whose_it_is(us: OPEN) -> None:
    """Pointed at, a child's line stands out and is named with its value."""
    page = us("?by=state").page
    chart = page.locator("#charts svg[role=img]").first
    box = chart.bounding_box()
    assert box is not None
    named = page.locator(".hover-week").first
    for y in range(10, int(box["height"]) - 30, 4):  # some line passes here
        chart.hover(position={"x": box["width"] - 18, "y": y})
        if re.search(r"\w+ \d+\.\d", named.inner_text() if named.is_visible() else ""):
            return
    pytest.fail("no line was named")


# Finding


@pytest.mark.parametrize(
    ("typed", "choice", "region"),
    [
        ("94110", "94110 San Francisco", ZIP),
        ("zip/94110", "94110 San Francisco", ZIP),
        ("dona ana", "Doña Ana County", "geoId/35013"),
        ("US-CA", "California", CALIFORNIA),
        ("san francisco county", "San Francisco County", SAN_FRANCISCO),
        ("washington county oregon", "Washington County", "geoId/41067"),
    ],
)
def test_one_box_finds_every_region_by_name_or_code(us: OPEN, typed: str, choice: str, region: str) -> None:
    """States, counties and postal codes, with or without accents."""
    visitor = us()
    page = visitor.page
    page.locator("#search").fill(typed)
    expect(options(page).first).to_contain_text(choice)
    page.locator("#search").press("Enter")
    visitor.shown(region)
    assert heading(page) == choice
    assert page.locator("#region").evaluate("e => e === document.activeElement")


def test_a_search_without_result_says_so(us: OPEN) -> None:
    """And Escape closes it."""
    page = us().page
    page.locator("#search").fill("Atlantis")
    expect(options(page)).to_have_text("No region with this name or code")
    page.locator("#search").press("Escape")
    expect(page.locator("#search-results")).to_be_hidden()


# Links


def test_a_link_holds_region_trend_week_and_pins(us: OPEN) -> None:
    """Who follows it sees the same."""
    visitor = us(f"?region={ZIP}&trend=vaccination_intent&week=2021-02-01&pin={CALIFORNIA}&pin=geoId/48")
    page = visitor.page
    visitor.shown(ZIP, "vaccination_intent", "2021-02-01")
    assert heading(page) == "94110 San Francisco"
    expect(page.locator(".chip .link")).to_have_text(["California", "Texas"])
    assert page.get_by_role("radio", name="Vaccination intent").is_checked()


def test_back_and_forward_work(us: OPEN) -> None:
    """Each step of a visit can be taken back."""
    visitor = us()
    page = visitor.page
    show_all(page)
    page.get_by_role("button", name="Texas", exact=True).click()
    visitor.shown("geoId/48")
    page.get_by_text("Vaccination intent", exact=True).first.click()
    visitor.shown("geoId/48", "vaccination_intent")
    page.get_by_role("button", name="Previous week").click()  # leaves no trail
    visitor.shown(week="2021-03-01")
    page.go_back()
    visitor.shown("geoId/48", "covid19_vaccination")
    page.go_back()
    visitor.shown("country/USA")
    page.go_forward()
    visitor.shown("geoId/48")
    assert heading(page) == "Texas"


def test_a_link_to_what_is_not_there_says_so(us: OPEN) -> None:
    """An unknown region is named, as text, and the country shown; unknown topics and weeks fall back."""
    page = us("?region=%3Cimg src=x onerror=alert(1)%3E&trend=nothing&week=1999-01-01").page
    assert "no region “<img src=x onerror=alert(1)>”" in page.locator("#note").inner_text()
    assert heading(page) == "United States"


def test_a_view_can_be_shown_on_another_page(us: OPEN) -> None:
    """The embed view has one card and the way to the rest; the code to copy is given."""
    visitor = us(f"?region={CALIFORNIA}&embed=map")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    for hidden in ("#series-card", "#table-card", "#search", "#about"):
        expect(page.locator(hidden)).to_be_hidden()
    page.get_by_role("link", name="Open the full dashboard").click()
    visitor.shown(CALIFORNIA)
    expect(page.locator("#table-card")).to_be_visible()
    page.get_by_text("Embed this view in another page").click()
    page.locator("#embed-kind").select_option("series")
    expect(page.locator("#embed-code")).to_have_value(
        re.compile(r"^<iframe src=\"http[^\"]+embed=series\" title=\"Calif")
    )


# Comparing


def test_regions_are_pinned_to_compare(us: OPEN) -> None:
    """Each gets a line, a readout and a chip; it stays while one moves on, and can be removed."""
    visitor = us()
    page = visitor.page
    show_all(page)
    page.get_by_role("button", name="Compare Texas").click()
    expect(page.locator(".chip .link")).to_have_text(["Texas"])
    page.get_by_role("button", name="California", exact=True).click()
    visitor.shown(CALIFORNIA)
    expect(page.locator(".chart").first.locator(".reading")).to_have_count(2)
    page.get_by_role("button", name="Pin to compare").click()
    expect(page.get_by_role("button", name="Pinned")).to_have_attribute("aria-pressed", "true")
    assert page.url.count("pin=") == 2
    page.get_by_role("button", name="Remove Texas").click()
    expect(page.locator(".chip")).to_have_count(0)


# The table


def test_the_table_is_sorted_by_any_column_and_missing_stays_last(us: OPEN) -> None:
    """Numbers by size, names by alphabet, both ways; what is missing is neither least nor most."""
    page = us(f"?region={CALIFORNIA}").page
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
    page.get_by_role("button", name="County", exact=True).click()
    expect(page.locator("#table tbody tr").first).to_contain_text("Alameda County")


def test_there_is_a_table_behind_every_picture(us: OPEN) -> None:
    """The map's regions and the charts' weeks can all be read as text."""
    page = us().page
    page.locator("#table-levels").get_by_role("button", name="County").click()
    page.get_by_role("button", name="Show all 3,142").click()
    expect(page.locator("#table tbody tr")).to_have_count(3142)
    page.get_by_text("Show these series as a table").click()
    expect(page.locator("#series-table tbody tr")).to_have_count(10)


# Downloads


def test_what_is_in_view_is_downloaded_as_csv(us: OPEN) -> None:
    """The map's week and the charts' weeks, in the dataset's own columns, missing empty."""
    page = us(f"?region={CALIFORNIA}&pin=geoId/48").page
    wait_for_map(page, "covid19_vaccination", 9)
    name, content = download(page, "#map-downloads", "Values (CSV)")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert name == f"map_covid19_vaccination_US-CA_{LAST}.csv"
    assert {row["place_id"][:8] for row in rows} == {CALIFORNIA}
    assert len(rows) == 58
    assert {bool(row["sni_covid19_vaccination"]) for row in rows} == {True, False}
    name, content = download(page, "#series-downloads", "Values (CSV)")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [row["place_id"] for row in rows] == [CALIFORNIA] * 10 + ["geoId/48"] * 10
    assert re.fullmatch(r"\d+\.\d{3}", rows[0]["sni_safety_side_effects_high"])


@pytest.mark.parametrize("menu", ["#map-downloads", "#series-downloads"])
def test_the_picture_is_downloaded_as_png_and_svg(us: OPEN, menu: str) -> None:
    """The SVG is well-formed and the PNG is a picture of some size."""
    page = us(f"?region={SAN_FRANCISCO}").page
    wait_for_map(page, "covid19_vaccination", 9)
    _, svg = download(page, menu, "Image (SVG)")
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) > 3
    _, png = download(page, menu, "Image (PNG)")
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000


def test_the_whole_dataset_is_a_link_away(us: OPEN, us_data: Path) -> None:
    """The published CSV comes as it is."""
    page = us().page
    with page.expect_download() as waiting:
        page.get_by_role("link", name=f"{US}.csv").click()
    assert Path(waiting.value.path()).read_bytes() == (us_data / f"{US}.csv").read_bytes()


# For everybody


def test_everything_can_be_done_by_keyboard(us: OPEN) -> None:
    """Topic, week, map, table and search are reached with Tab and used with keys; the map says what has the focus."""
    visitor = us()
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    seen = tab_stops(page, 40)
    for stop in ("search", "trend", "previous", "play", "next", "week", "map", "zoom-in", "pin"):
        assert stop in seen, stop
    page.locator("#map").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#announcement")).to_have_text(re.compile(r"\w+: (\d|Not)"))
    expect(page.locator("#tip")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_selector('body:not([data-shown^="country/USA"])')
    page.keyboard.press("Escape")
    visitor.shown("country/USA")
    page.locator("#trends input").first.focus()
    page.keyboard.press("ArrowRight")
    visitor.shown(trend="vaccination_intent")
    page.locator("#search").focus()
    page.keyboard.type("travis county")
    expect(options(page).first).to_contain_text("Travis County")
    page.keyboard.press("Enter")
    visitor.shown("geoId/48453")


def tab_stops(page: Page, count: int) -> list[str]:
    found = []
    for _ in range(count):
        page.keyboard.press("Tab")
        found.append(page.evaluate("document.activeElement.id || document.activeElement.name || ''"))
    return found


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", {}),
        (f"?region={SAN_FRANCISCO}&pin={CALIFORNIA}", {"color_scheme": "dark"}),
        (f"?region={CALIFORNIA}", {"viewport": {"width": 390, "height": 844}}),
        (f"?dataset={QAZARIA}&region=qz/c/011", {}),
        ("?embed=series", {}),
    ],
    ids=["first view", "county, dark", "phone", "another country", "embedded"],
)
def test_the_accessibility_checker_finds_nothing_serious(us: OPEN, query: str, options: dict[str, Any]) -> None:
    """axe: names, roles, contrast and structure."""
    page = us(query, bypass_csp=True, **options).page  # the checker puts its own script into the page
    problems = [v for v in Axe().run(page).response["violations"] if v["impact"] in SERIOUS]
    assert [(v["id"], [node["html"] for node in v["nodes"]][:3]) for v in problems] == []


def test_nothing_moves_where_no_motion_is_asked_for(us: OPEN) -> None:
    """A flight of the map is one step; with motion it takes several frames."""
    count = """async () => {
        const map = document.getElementById('map'); let frames = 0;
        const paints = new MutationObserver(() => frames++);
        paints.observe(map, { attributes: true, attributeFilter: ['data-painted'] });
        document.getElementById('zoom-in').click();
        await new Promise(done => setTimeout(done, 700));
        return frames; }"""
    frames = {}
    for motion in ("reduce", "no-preference"):
        page = us("?by=state", reduced_motion=motion).page
        wait_for_map(page, "covid19_vaccination", 9)
        frames[motion] = page.evaluate(count)
    assert frames["reduce"] <= 2 < frames["no-preference"]


def test_dark_mode_follows_the_system_and_the_button(us: OPEN) -> None:
    """Page and map change together."""
    page = us(color_scheme="dark").page
    wait_for_map(page, "covid19_vaccination", 9)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    before = picture(page)
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) != dark
    assert changed(page, before) != before


def test_the_page_fits_a_phone(us: OPEN) -> None:
    """Nothing is wider than the screen, and a region is shown by the first touch and opened by the second."""
    visitor = us("?by=state", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    at = on_map(page, TEXAS)
    page.touchscreen.tap(*at)
    expect(page.locator("#tip")).to_contain_text("Texas")
    page.touchscreen.tap(*at)
    visitor.shown("geoId/48")


# Other countries, and names that would do harm


def test_countries_are_chosen_from_a_list(us: OPEN) -> None:
    """Another country has its own topics, levels and weeks, and back leads back."""
    visitor = us()
    page = visitor.page
    page.get_by_label("Country").select_option(label="Qazaria")
    visitor.shown("qz")
    assert "dataset=QZ_heating_search_trends" in page.url
    expect(page.locator("#trends span")).to_have_text(["Firewood", "Keeping warm"])
    expect(page.locator("#map-card")).to_be_hidden()
    page.go_back()
    visitor.shown("country/USA")
    wait_for_map(page, "covid19_vaccination", 9)
    expect(page.locator("#map-card")).to_be_visible()


def test_a_country_without_shapes_works_with_lists_tables_and_series(us: OPEN) -> None:
    """All four levels can be opened, searched and compared."""
    visitor = us(f"?dataset={QAZARIA}")
    page = visitor.page
    for name, region in (
        ("A1=SUM(A1)", "qz/p/03"),
        ("Ω & Σ", "qz/c/032"),
        ("'Eua'", "qz/m/0321"),
        ("Šiauliai", "qz/s/p11"),
    ):
        page.locator("#table").get_by_role("button", name=name, exact=True).click()
        visitor.shown(region)
    expect(page.locator("#crumbs")).to_contain_text("QazariaA1=SUM(A1)Ω & Σ'Eua'")
    page.locator("#search").fill("siauliai")
    expect(options(page).first).to_contain_text("Šiauliai")


def test_hostile_names_show_as_text(us: OPEN) -> None:
    """Markup, quotes, commas and formulas are names like any other, on the page and in what is downloaded."""
    visitor = us(f"?dataset={QAZARIA}&pin=qz/p/02&pin=qz/c/012")
    page = visitor.page
    expect(page.locator(".chip .link")).to_have_text(["<b>Midland</b>", "O'Hara'; DROP TABLE regions; --"])
    assert page.locator("#page b").count() == 0
    page.get_by_role("button", name="<b>Midland</b>", exact=True).last.click()
    visitor.shown("qz/p/02")
    assert heading(page) == "<b>Midland</b>"
    _, content = download(page, "#series-downloads", "Values (CSV)")
    names = {row["name"] for row in csv.DictReader(io.StringIO(content.decode()))}
    assert names == {"<b>Midland</b>", "O'Hara'; DROP TABLE regions; --"}
    visitor.open(f"?dataset={QAZARIA}&region=qz/p/01")
    _, content = download(page, "#series-downloads", "Values (CSV)")
    assert {row["name"] for row in csv.DictReader(io.StringIO(content.decode()))} == {'North, "Upper" Province'}
    _, svg = download(page, "#series-downloads", "Image (SVG)")
    assert 'North, "Upper" Province' in "".join(ElementTree.fromstring(svg).itertext())


# Safe and light


def test_the_policy_lets_no_other_code_or_host_in(us: OPEN) -> None:
    """Inline scripts do not run and other hosts are not reached, whatever gets into the page."""
    visitor = us()
    page = visitor.page
    page.evaluate("""() => { const s = document.createElement('script'); s.textContent = 'window.harm = 1';
        document.body.append(s); }""")
    assert page.evaluate("window.harm") is None
    refused = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')")
    assert refused == "refused"
    assert all("Content Security Policy" in fault or "127.0.0.1:9" in fault for fault in visitor.faults)
    assert visitor.faults
    visitor.faults.clear()


def test_a_view_loads_only_what_it_shows(us: OPEN) -> None:
    """The first view takes no postal code, one block of weeks of one trend and one series; a county brings more."""
    visitor = us()
    wait_for_map(visitor.page, "covid19_vaccination", 9)
    visitor.page.wait_for_load_state("networkidle")
    data = sorted(url.split("/", 5)[-1] for url in visitor.requests if "/data/" in url)
    assert data == [
        "index.json.gz",
        "map/0-0.bin.gz",
        "map/0-1.bin.gz",
        "outlines.json.gz",
        "regions.json.gz",
        "series/0.bin.gz",
    ]
    show_all(visitor.page)
    visitor.page.get_by_role("button", name="California", exact=True).click()
    visitor.shown(CALIFORNIA)
    assert not any(url.endswith("finer.json.gz") for url in visitor.requests)


def test_a_host_that_unpacks_files_is_no_trouble(browser: Browser, address: str) -> None:
    """Some hosts declare .gz files as packed content, and the browser unpacks them before the page sees them."""
    with visit(browser, address) as visitor:

        def declare(route: Any) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, headers={**answer.headers, "content-encoding": "gzip"})

        visitor.page.route("**/*.gz", declare)
        page = visitor.open()
        assert heading(page) == "United States"
        page.unroute_all(behavior="wait")


def test_a_page_without_its_data_says_so(browser: Browser, address: str) -> None:
    """One clear sentence, and nothing half drawn."""
    with visit(browser, address) as visitor:
        visitor.page.route("**/regions.json.gz", lambda route: route.fulfill(status=503))
        visitor.page.goto(address)
        expect(visitor.page.locator("#loading")).to_contain_text("could not be loaded")
        assert [fault for fault in visitor.faults if "503" not in fault and "regions.json.gz" not in fault] == []
        visitor.faults.clear()
