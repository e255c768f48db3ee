"""The page works for everyone, with any names and on any host: keyboard, screen readers, phones, strict policy."""

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import (
    OpenPage,
    changed_map_image,
    download,
    heading,
    map_image,
    on_map,
    search_results,
    show_all,
    visit,
    wait_for_map,
)
from tests.support.dashboards import CALIFORNIA, QAZARIA, SAN_FRANCISCO, TEXAS, TEXAS_ON_MAP

SERIOUS = ("serious", "critical")


def test_everything_can_be_done_by_keyboard(open_page: OpenPage) -> None:
    """Topic, week, map, table and search are reached with Tab and used with keys; the map announces the focus."""
    visitor = open_page()
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
    visitor.wait_for("country/USA")
    page.locator("#trends input").first.focus()
    page.keyboard.press("ArrowRight")
    visitor.wait_for(trend="vaccination_intent")
    page.locator("#search").focus()
    page.keyboard.type("travis county")
    expect(search_results(page).first).to_contain_text("Travis County")
    page.keyboard.press("Enter")
    visitor.wait_for("geoId/48453")


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
        pytest.param(f"?region={SAN_FRANCISCO}&pin={CALIFORNIA}", {"color_scheme": "dark"}, marks=pytest.mark.thorough),
        (f"?region={CALIFORNIA}", {"viewport": {"width": 390, "height": 844}}),
        pytest.param(f"?dataset={QAZARIA}&region=qz/c/011", {}, marks=pytest.mark.thorough),
        pytest.param("?embed=series", {}, marks=pytest.mark.thorough),
        ("?since=1&by=state", {"color_scheme": "dark"}),
        pytest.param(
            f"?region={CALIFORNIA}&from=2021-02-01&to=2021-02-22&scale=week",
            {"viewport": {"width": 390, "height": 844}},
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["first view", "county, dark", "phone", "another country", "embedded", "change, dark", "average, phone"],
)
def test_axe_finds_no_serious_problem(open_page: OpenPage, query: str, options: dict[str, Any]) -> None:
    """axe checks names, roles, contrast and structure for accessibility."""
    page = open_page(query, bypass_csp=True, **options).page  # axe adds its own script to the page
    problems = [v for v in Axe().run(page).response["violations"] if v["impact"] in SERIOUS]
    assert [(v["id"], [node["html"] for node in v["nodes"]][:3]) for v in problems] == []


def test_reduced_motion_turns_off_animations(open_page: OpenPage) -> None:
    """With reduced motion a zoom is one step; otherwise it takes several frames."""
    count = """async () => {
        const map = document.getElementById('map'); let frames = 0;
        const paints = new MutationObserver(() => frames++);
        paints.observe(map, { attributes: true, attributeFilter: ['data-painted'] });
        document.getElementById('zoom-in').click();
        await new Promise(done => setTimeout(done, 700));
        return frames; }"""
    frames = {}
    for motion in ("reduce", "no-preference"):
        page = open_page("?by=state", reduced_motion=motion).page
        wait_for_map(page, "covid19_vaccination", 9)
        frames[motion] = page.evaluate(count)
    assert frames["reduce"] <= 2 < frames["no-preference"]


def test_the_page_fits_a_phone(open_page: OpenPage) -> None:
    """Nothing is wider than the screen; the first tap on a region shows it and the second opens it."""
    visitor = open_page("?by=state", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#legend").scroll_into_view_if_needed()
    at = on_map(page, TEXAS_ON_MAP)
    page.touchscreen.tap(*at)
    expect(page.locator("#tip")).to_contain_text("Texas")
    page.touchscreen.tap(*at)
    visitor.wait_for(TEXAS)


def test_one_finger_moves_the_map_when_it_is_zoomed(open_page: OpenPage) -> None:
    """Else one finger scrolls the page, which the browser does by itself."""
    page = open_page("?by=state", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).page
    wait_for_map(page, "covid19_vaccination", 9)
    action = "getComputedStyle(document.getElementById('map')).touchAction"
    assert page.evaluate(action) == "pan-y"
    page.locator("#legend").scroll_into_view_if_needed()
    x, y = on_map(page, (0.5, 0.5))
    before = map_image(page)
    page.locator("#zoom-in").tap()
    zoomed = changed_map_image(page, before)
    assert page.evaluate(action) == "none"
    fingers = page.context.new_cdp_session(page)
    for kind, at in (("touchStart", 0), ("touchMove", 30), ("touchMove", 60), ("touchEnd", None)):
        points = [] if at is None else [{"x": x - at, "y": y - at}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    changed_map_image(page, zoomed)
    expect(page.locator("#tip")).to_be_hidden()
    page.locator("#zoom-fit").click()
    page.wait_for_selector("#map:not(.zoomed)")


def test_nothing_that_has_the_focus_is_below_the_bar(open_page: OpenPage) -> None:
    """Going back through the page with Shift and Tab, every stop is visible below the controls that stay on top."""
    page = open_page(f"?region={CALIFORNIA}").page
    wait_for_map(page, "covid19_vaccination", 9)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.locator("#files a").last.focus()
    covered = """(() => { const e = document.activeElement, bar = document.querySelector('.controls');
        if (bar.contains(e) || !document.querySelector('main').contains(e)) return null;
        const b = e.getBoundingClientRect(); return b.bottom < bar.getBoundingClientRect().bottom ? e.outerHTML : null;
        })()"""
    for _ in range(45):
        page.keyboard.press("Shift+Tab")
        assert page.evaluate(covered) is None


def test_the_page_reflows_at_400_percent(open_page: OpenPage) -> None:
    """A window of 1280 by 1024 enlarged four times: nothing is cut at the side, and the bar does not stay on top."""
    for query in ("", f"?region={SAN_FRANCISCO}&pin={CALIFORNIA}", f"?dataset={QAZARIA}"):
        page = open_page(query, viewport={"width": 320, "height": 256}).page
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.evaluate("getComputedStyle(document.querySelector('.controls')).position") == "static"
        wide = page.evaluate("""[...document.querySelectorAll('button, input, select, summary, h2, h3, p')].filter(e =>
            e.checkVisibility() && !e.closest('.scroll, .visually-hidden') && e.getBoundingClientRect().right > 321)
            .map(e => e.outerHTML)""")
        assert wide == []


def test_every_landmark_has_a_name_of_its_own(open_page: OpenPage) -> None:
    """A screen reader lists them: search, navigation, controls and cards."""
    page = open_page(f"?region={CALIFORNIA}", bypass_csp=True).page
    rules = ("landmark-unique", "landmark-one-main", "region", "landmark-no-duplicate-banner", "page-has-heading-one")
    assert [v["id"] for v in Axe().run(page).response["violations"] if v["id"] in rules] == []
    for role, name in (("search", "Find a region"), ("navigation", "Parent regions"), ("region", "Topic and week")):
        expect(page.get_by_role(role, name=name, exact=True)).to_have_count(1)  # type: ignore[arg-type]


def test_hostile_names_show_as_text(open_page: OpenPage) -> None:
    """Markup, quotes, commas and formulas are names like any other, on the page and in downloads."""
    visitor = open_page(f"?dataset={QAZARIA}&pin=qz/p/02&pin=qz/c/012")
    page = visitor.page
    expect(page.locator(".chip .link")).to_have_text(["<b>Midland</b>", "O'Hara'; DROP TABLE regions; /*"])
    assert page.locator("#page b").count() == 0
    page.get_by_role("button", name="<b>Midland</b>", exact=True).last.click()
    visitor.wait_for("qz/p/02")
    assert heading(page) == "<b>Midland</b>"
    _, content = download(page, "#series-downloads", "Values (CSV)")
    names = {row["name"] for row in csv.DictReader(io.StringIO(content.decode()))}
    assert names == {"<b>Midland</b>", "O'Hara'; DROP TABLE regions; /*"}
    visitor.open(f"?dataset={QAZARIA}&region=qz/p/01")
    _, content = download(page, "#series-downloads", "Values (CSV)")
    assert {row["name"] for row in csv.DictReader(io.StringIO(content.decode()))} == {'North, "Upper" Province'}
    _, svg = download(page, "#series-downloads", "Image (SVG)")
    assert 'North, "Upper" Province' in "".join(ElementTree.fromstring(svg).itertext())


def test_the_content_security_policy_blocks_other_code_and_hosts(open_page: OpenPage) -> None:
    """Whatever gets into the page, inline scripts do not run and other hosts are not reached."""
    visitor = open_page()
    page = visitor.page
    page.evaluate("""() => { const s = document.createElement('script'); s.textContent = 'window.harm = 1';
        document.body.append(s); }""")
    assert page.evaluate("window.harm") is None
    refused = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')")
    assert refused == "refused"
    assert all("Content Security Policy" in error or "127.0.0.1:9" in error for error in visitor.errors)
    assert visitor.errors
    visitor.errors.clear()


def test_a_view_loads_only_what_it_shows(open_page: OpenPage) -> None:
    """The first view loads one series and two blocks of weeks of one trend, and no postal codes; nor does a state."""
    visitor = open_page()
    wait_for_map(visitor.page, "covid19_vaccination", 9)
    visitor.page.wait_for_load_state("networkidle")
    data = sorted(url.split("/", 5)[-1] for url in visitor.requests if "/data/" in url)
    assert data == [
        "index.json.gz",
        "map/0-0.bin.gz",
        "map/0-1.bin.gz",
        "outlines.bin.gz",
        "regions.json.gz",
        "series/0.bin.gz",
    ]
    show_all(visitor.page)
    visitor.page.get_by_role("button", name="California", exact=True).click()
    visitor.wait_for(CALIFORNIA)
    assert not any(url.endswith("finer.json.gz") for url in visitor.requests)


def test_the_page_works_if_the_host_declares_files_as_compressed(browser: Browser, site_address: str) -> None:
    """Some hosts declare .gz files as compressed content, which the browser decompresses before the page reads it."""
    with visit(browser, site_address) as visitor:

        def declare(route: Any) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, headers={**answer.headers, "content-encoding": "gzip"})

        visitor.page.route("**/*.gz", declare)
        page = visitor.open()
        assert heading(page) == "United States"
        page.unroute_all(behavior="wait")


def test_a_page_without_its_data_says_so(browser: Browser, site_address: str) -> None:
    """It shows one clear sentence, and nothing half drawn."""
    with visit(browser, site_address) as visitor:
        visitor.page.route("**/regions.json.gz", lambda route: route.fulfill(status=503))
        visitor.page.goto(site_address)
        expect(visitor.page.locator("#loading")).to_contain_text("could not be loaded")
        assert [error for error in visitor.errors if "503" not in error and "regions.json.gz" not in error] == []
        visitor.errors.clear()
