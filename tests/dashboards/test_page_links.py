"""Links hold: they name the week, say what is not there, and take the codes that people have."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import OpenPage, heading, show_all
from tests.support.dashboards import CALIFORNIA, LAST_WEEK, QAZARIA, SAN_FRANCISCO, TEXAS, US, ZIP


def note(page: Page) -> str:
    """Return what the page says about the link; it is announced to screen readers too."""
    expect(page.locator("#note")).to_have_attribute("role", "status")
    return page.locator("#note").inner_text()


def test_a_link_holds_region_trend_week_and_pins(open_page: OpenPage) -> None:
    """A link reproduces the view, and nothing has to be said about it."""
    visitor = open_page(f"?region={ZIP}&trend=vaccination_intent&week=2021-02-01&pin={CALIFORNIA}&pin=geoId/48")
    page = visitor.page
    visitor.wait_for(ZIP, "vaccination_intent", "2021-02-01")
    assert heading(page) == "94110 San Francisco"
    expect(page.locator(".chip .link")).to_have_text(["California", "Texas"])
    assert page.get_by_role("radio", name="Vaccination intent").is_checked()
    expect(page.locator("#note")).to_be_hidden()


def test_the_address_always_has_the_week(open_page: OpenPage) -> None:
    """So that a link shows the same numbers after the next release; a day stands for its week; Back still works."""
    visitor = open_page()
    page = visitor.page
    assert page.url.endswith(f"?week={LAST_WEEK}")
    show_all(page)
    page.get_by_role("button", name="Texas", exact=True).click()
    visitor.wait_for(TEXAS)
    assert f"week={LAST_WEEK}" in page.url
    page.go_back()
    visitor.wait_for("country/USA")
    visitor.open("?week=2021-02-10")
    visitor.wait_for(week="2021-02-08")
    assert page.url.endswith("?week=2021-02-08")


def test_a_link_to_the_newest_week_is_a_choice(open_page: OpenPage) -> None:
    """Where links are copied, a reader chooses this week or always the newest; the code to embed follows."""
    visitor = open_page(f"?region={CALIFORNIA}&week=2021-02-01")
    page = visitor.page
    page.locator("#share summary").click()
    link = page.locator("#share-link")
    address = page.url.split("?")[0]
    expect(link).to_have_value(f"{address}?region={CALIFORNIA}&week=2021-02-01")
    page.get_by_label("The link shows").first.select_option(label="always the newest week")
    expect(link).to_have_value(f"{address}?region={CALIFORNIA}&week=newest")
    assert "week=newest" in page.locator("#embed-code").input_value()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#share-done")).to_have_text("Copied.")
    page.locator("#share-link").press("Escape")
    expect(page.locator("#share-link")).to_be_hidden()
    visitor.open(f"?region={CALIFORNIA}&week=newest")
    visitor.wait_for(CALIFORNIA, week=LAST_WEEK)
    assert page.url.endswith("week=newest")
    page.get_by_role("button", name="Previous week").click()
    visitor.wait_for(week="2021-03-01")
    assert page.url.endswith("week=2021-03-01")


def test_what_a_link_asks_for_in_vain_is_named(open_page: OpenPage) -> None:
    """Region, topic, week, dataset and pins, as text; something near is shown, and the address is corrected."""
    script = "%3Cimg src=x onerror=alert(1)%3E"
    visitor = open_page(f"?region={script}&trend=nothing&week=1999-01-01&pin=geoId/99&dataset=XY")
    page = visitor.page
    for part in (
        "no region “<img src=x onerror=alert(1)>”",
        "no topic “nothing”",
        "no week “1999-01-01”",
        "no region “geoId/99” to compare",
        "no dataset “XY”",
    ):
        assert part in note(page)
    assert heading(page) == "United States"
    assert page.url.endswith(f"?week={LAST_WEEK}")
    page.get_by_role("button", name="Previous week").click()
    visitor.wait_for(week="2021-03-01")
    expect(page.locator("#note")).to_be_hidden()


@pytest.mark.parametrize(
    ("asked", "region", "said"),
    [
        ("94110", ZIP, ""),
        ("06037", "geoId/06037", "has the code 06037. Showing Los Angeles County; the other is 06037 Berlin."),
        pytest.param("06075", SAN_FRANCISCO, "", marks=pytest.mark.thorough),
        pytest.param("06", CALIFORNIA, "", marks=pytest.mark.thorough),
        ("us-ca", CALIFORNIA, ""),
        pytest.param("TX", TEXAS, "", marks=pytest.mark.thorough),
    ],
)
def test_bare_codes_are_regions(open_page: OpenPage, asked: str, region: str, said: str) -> None:
    """A FIPS code, a ZIP or the code of a state, in any case; where two regions have it, the page offers the other."""
    visitor = open_page(f"?dataset={US}&region={asked}&pin={asked}")
    visitor.wait_for(region)
    assert f"region={region}&" in visitor.page.url
    if said:
        assert said in note(visitor.page)
        visitor.page.locator("#note button").click()
        visitor.wait_for("zip/06037")
    else:
        expect(visitor.page.locator("#note")).to_be_hidden()


def test_a_sixth_pin_is_refused_in_words(open_page: OpenPage) -> None:
    """Five regions are compared; none of them is dropped in silence, nor is the focus lost."""
    pins = "".join(f"&pin=qz/{place}" for place in ("p/01", "p/02", "p/03", "c/011", "c/012"))
    visitor = open_page(f"?dataset={QAZARIA}&region=qz/c/021{pins}")
    page = visitor.page
    expect(page.locator(".chip")).to_have_count(5)
    page.get_by_role("button", name="Pin to compare").press("Enter")
    expect(page.locator("#note")).to_contain_text("5 regions are compared")
    expect(page.locator("#note")).to_contain_text("remove one of them first")
    expect(page.locator(".chip")).to_have_count(5)
    assert page.evaluate("document.activeElement.id") == "pin"
    page.locator(".chip .remove").first.click()
    expect(page.locator(".chip")).to_have_count(4)
    assert page.evaluate("document.activeElement.id") == "pin"
    page.keyboard.press("Enter")
    expect(page.locator("#pin")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#note")).to_be_hidden()
    visitor.open(f"?dataset={QAZARIA}{pins}&pin=qz/c/021")
    assert "compares 6 regions. Only the first 5" in note(page)


def test_about_is_a_link(open_page: OpenPage) -> None:
    """It can be opened, followed and gone back from; the heading has the focus and is not below the bar."""
    visitor = open_page("#about")
    page = visitor.page
    page.wait_for_selector("#about-title:focus")
    bar, title = (page.locator(part).bounding_box() for part in (".controls", "#about-title"))
    assert bar
    assert title
    assert bar["y"] + bar["height"] <= title["y"] < 900
    assert page.url.endswith(f"?week={LAST_WEEK}#about")
    visitor.open()
    page.get_by_role("link", name="About the numbers").click()
    page.wait_for_selector("#about-title:focus")
    assert page.url.endswith("#about")


def test_the_theme_is_remembered(open_page: OpenPage) -> None:
    """A choice other than the system's holds on the next visit; the system's own is not kept."""
    page = open_page().page
    stored = "localStorage.getItem('theme')"
    page.locator("#theme").click()
    page.reload()
    page.wait_for_selector("body[data-shown]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.locator("#theme").click()
    assert page.evaluate(stored) is None
    page.evaluate(f"localStorage.setItem('theme', {json.dumps('<b>')})")
    page.reload()
    page.wait_for_selector("body[data-shown]")
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None
