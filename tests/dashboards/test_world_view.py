"""A site of several countries opens on all of them, and compares their values only if they are on one scale."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from search_insights.dashboards.site import dashboard
from search_insights.dataset.combination import combine
from search_insights.dataset.folder import read_dataset
from search_insights.dataset.several import factor_of
from tests.support.browser import heading, served, visit
from tests.support.countries import country_dataset
from tests.support.dashboards import read_json
from tests.support.quick_accounting import patch_accounting

LOW, HIGH = (100_000, 2_000, 1_000), (100_000, 4_000, 1_000)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Ireland in two weeks, Fiji in one on Ireland's scale, Malta on its own."""
    folder = tmp_path_factory.mktemp("countries")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        factor = factor_of(read_dataset(country_dataset(folder, "IE", HIGH, LOW)))
        country_dataset(folder, "FJ", LOW, factor=factor, set_by="IE_search_trends")
        country_dataset(folder, "MT", LOW)
        combine([folder / "IE", folder / "FJ"], folder / "world")
        yield folder


def world_of(site: Path) -> Any:
    return read_json(site / json.loads((site / "site.json").read_text(encoding="utf-8"))["world"])


def test_a_site_of_countries_opens_on_the_world_and_leads_to_each(home: Path, browser: Browser) -> None:
    """On one scale the colours and the order compare; a country opens its own view, and Back returns."""
    site = dashboard([home / "world"], home / "site").folder
    with served(site) as address, visit(browser, address) as visitor:
        page = visitor.open()
        assert page.locator("body").get_attribute("data-shown") == "world pollen 2021-01-04", "where most have values"
        assert "can be compared with each other" in page.locator("#world-note").inner_text()
        assert page.locator("#world-table tbody th").all_inner_texts() == ["Ireland", "Fiji"]
        assert page.locator("#world-table tbody strong").all_inner_texts() == ["100.0", "50.0"]
        colours = [
            page.locator(f".world-svg a[aria-label^='{name}'] > :last-child").get_attribute("fill")
            for name in ("Ireland", "Fiji")
        ]
        assert len(set(colours)) == 2
        assert not page.locator("#about").is_visible()
        assert page.locator("#world-files a").all_inner_texts()[0] == "Global_l0_search_trends.csv"
        page.locator("#next").click()
        visitor.wait_for(week="2021-01-11")
        assert page.locator("#world-table .missing").all_inner_texts() == ["no value this week"]
        page.get_by_text("Heat waves").first.click()
        visitor.wait_for(trend="heat")
        page.locator("#world-table").get_by_role("link", name="Fiji").click()
        visitor.wait_for(region="iso/FJ")
        assert (heading(page), page.locator("#world").is_visible()) == ("Fiji", False)
        page.go_back()
        visitor.wait_for(region="world", trend="heat", week="2021-01-11")
        page.locator("#countries").select_option("IE_search_trends")
        visitor.wait_for(region="iso/IE")
        page.locator("#countries").select_option("")
        visitor.wait_for(region="world")


def test_countries_with_scales_of_their_own_are_not_compared(home: Path, browser: Browser) -> None:
    """One colour, in the order of their names, and a line that says why; datasets need not be combined first."""
    site = dashboard([home / "MT", home / "IE"], home / "own").folder
    world = world_of(site)
    assert (world["oneScale"], world["peak"], world["files"]) == (False, "", [])
    with served(site) as address, visit(browser, address) as visitor:
        page = visitor.open()
        assert "a scale of its own" in page.locator("#world-note").inner_text()
        assert page.locator("#world-table tbody th").all_inner_texts() == ["Ireland", "Malta"]
        fills = page.locator(".world-svg a > [stroke]").evaluate_all(
            "all => all.map((one) => one.getAttribute('fill'))"
        )
        assert len(set(fills)) == 1
        assert page.locator("#world-legend").inner_text() == ""


def test_the_view_of_the_world_is_accessible_also_on_a_phone_in_the_dark(home: Path, browser: Browser) -> None:
    """axe finds no serious problem, and nothing is wider than the screen."""
    site = dashboard([home / "world"], home / "phone").folder
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark", "bypass_csp": True}
    with served(site) as address, visit(browser, address, **phone) as visitor:
        page = visitor.open()
        problems = Axe().run(page).response["violations"]
        assert [v["id"] for v in problems if v["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_tiny_country_is_marked_and_an_outline_is_where_it_lies(home: Path) -> None:
    """Every country has an outline or a point within the map, Fiji far in the east and Ireland left of the middle."""
    site = dashboard([home / "world"], home / "map").folder
    world = world_of(site)
    ireland, fiji = world["countries"]
    assert 0.45 < ireland["point"][0] / world["width"] < 0.5
    assert fiji["point"][0] / world["width"] > 0.93
    assert ireland["path"].startswith("M")
    assert fiji["path"].endswith("Z")
    assert len(world["land"]) > 50_000


def test_datasets_without_a_common_topic_have_no_view_of_the_world(us_site: Path) -> None:
    """The site opens on the first of them, as ever, with the picker."""
    assert "world" not in json.loads((us_site / "site.json").read_text(encoding="utf-8"))
