"""Moving through the weeks: the date field, the months of the slider, play on a slow network, and large charts."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from search_insights.dashboards.site import dashboard
from search_insights.dataset.publication import publish
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from tests.support.browser import OpenPage, served, visit, wait_for_map
from tests.support.dashboards import CALIFORNIA, FIRST_WEEK, LAST_WEEK
from tests.support.other_country import other_geography, other_spec
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import add_weeks

MANY_WEEKS = 170


@pytest.fixture(scope="module")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of Qazaria with more than three years."""
    folder = tmp_path_factory.mktemp("long")
    coverage = Coverage(other_spec(), load_geography(other_geography(folder)))
    weeks = [{"qz/p/01": (60_000, 3_000 + 10 * i, 2_000, 900)} for i in range(MANY_WEEKS)]
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        store = add_weeks(folder / "long.db", coverage, *weeks, usual=(50_000, 4_000, 2_500, 1_500))
        publish(store, folder / "data")
    return dashboard([folder / "data"], folder / "site").folder


def test_a_day_chooses_its_week(open_page: OpenPage) -> None:
    """The date field takes any day of a week; a day outside is explained and changes nothing."""
    visitor = open_page(f"?region={CALIFORNIA}")
    page = visitor.page
    date = page.get_by_label("Go to the week of a day")
    expect(date).to_have_value(LAST_WEEK)
    date.fill("2021-01-21")
    date.dispatch_event("change")
    visitor.wait_for(week="2021-01-18")
    expect(date).to_have_value("2021-01-18")
    date.fill("2020-05-05")
    date.dispatch_event("change")
    assert "There are weeks from 4 Jan 2021 to 14 Mar 2021." in str(date.evaluate("e => e.validationMessage"))
    assert "week=2021-01-18" in page.url


def test_play_waits_for_a_slow_network(browser: Browser, site_address: str) -> None:
    """From the last week it begins with the first, shows every week however late it comes, and ends at the last."""
    with visit(browser, site_address) as visitor:
        page = visitor.page
        held: list[Any] = []
        page.route("**/map/0-0.bin.gz", lambda route: held.append(route))  # the block of the first weeks
        visitor.open(f"?week={LAST_WEEK}")
        wait_for_map(page, "covid19_vaccination", 9)
        page.evaluate("""() => { window.seen = []; new MutationObserver(() =>
            window.seen.push(document.body.dataset.shown.split(' ')[2])).observe(document.body,
            { attributes: true, attributeFilter: ['data-shown'] }); }""")
        page.get_by_label("Speed of playing").select_option("4")
        page.get_by_role("button", name="Play through the weeks").click()
        page.wait_for_timeout(1_500)  # several times as long as a week is shown
        assert page.evaluate("window.seen") == []
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        assert len(held) == 1
        held.pop().continue_()
        visitor.wait_for(week=FIRST_WEEK)
        visitor.wait_for(week=LAST_WEEK)
        expect(page.get_by_role("button", name="Play through the weeks")).to_be_visible()
        seen = page.evaluate("window.seen")
        assert seen == sorted(set(seen))
        assert len(seen) == 10


def test_many_weeks_stay_readable(browser: Browser, long_site: Path) -> None:
    """The slider is as wide as the page and has a mark for each month; labels do not overlap, on a phone neither."""
    boxes = """selector => [...document.querySelectorAll(selector)].map(e => {
        const b = e.getBoundingClientRect(); return [b.left, b.right]; })"""
    with served(long_site) as address:
        for width in (1280, 390):
            with visit(browser, address, viewport={"width": width, "height": 844}) as visitor:
                page = visitor.open("?region=qz/p/01")
                slider = page.locator("#week").bounding_box()
                assert slider
                assert slider["width"] > 0.9 * width
                assert len(page.evaluate(boxes, ".ticks .tick")) > 36
                for labels in (".ticks .tick-label", ".chart:first-child svg text[text-anchor=middle]"):
                    found = sorted(page.evaluate(boxes, labels))
                    assert len(found) >= 3
                    assert all(left[1] < right[0] for left, right in pairwise(found))
                    assert found[0][0] >= 0
                    assert found[-1][1] <= width
                assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_chart_is_enlarged(browser: Browser, long_site: Path) -> None:
    """It fills the window, the arrow keys and a click choose the week, and Escape returns to the button."""
    with served(long_site) as address, visit(browser, address, bypass_csp=True) as visitor:
        page = visitor.open("?region=qz/p/01&week=2024-01-07")
        page.get_by_role("button", name="Enlarge the chart of Keeping warm").click()
        dialog = page.get_by_role("dialog", name='Keeping warm, North, "Upper" Province')
        svg = dialog.locator("svg[role=img]")
        size = svg.bounding_box()
        assert size
        assert size["width"] > 1100
        assert size["height"] > 500
        page.keyboard.press("ArrowRight")
        visitor.wait_for(week="2024-01-14")
        expect(dialog).to_contain_text("Week of 14 January 2024")
        svg.click(position={"x": size["width"] - 20, "y": 100})
        visitor.wait_for(week="2026-12-27")
        serious = [v["id"] for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
        assert serious == []
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        assert page.evaluate("document.activeElement.className") == "enlarge"
