"""The page in Firefox: what depends on the browser works there as it does in Chromium."""

import json
from collections.abc import Iterator

import pytest

from tests.support.dashboards import PAGE, SAN_FRANCISCO
from tests.support.firefox import Firefox, FirefoxPage, firefox_visit, running_firefox

PAINTED = "document.querySelector('#map').dataset.painted === 'covid19_vaccination 9'"
COLOURS = """(() => { const c = document.getElementById('canvas');
    const all = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const found = new Set();
    for (let i = 0; i < all.length; i += 4) found.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
    return found.size; })()"""


@pytest.fixture(scope="module")
def firefox_browser() -> Iterator[Firefox]:
    """One Firefox for all tests of the module."""
    with running_firefox() as started:
        yield started


@pytest.fixture
def page(firefox_browser: Firefox, site_address: str) -> Iterator[FirefoxPage]:
    """An open tab; any error, warning, failed request or request to another host fails the test."""
    with firefox_visit(firefox_browser, site_address) as opened:
        yield opened


def shows(region: str) -> str:
    """The condition that the page shows a region."""
    return f"document.body.dataset.shown.startsWith({json.dumps(region + ' ')})"


def test_errors_are_seen_and_other_hosts_are_refused(page: FirefoxPage) -> None:
    """An error that is thrown and one in the console would fail the other tests; the policy holds as in Chromium."""
    page.open()
    page.value("setTimeout(() => { throw new Error('thrown'); }) && console.error('written')")
    assert page.value("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')") == "refused"
    pause = "new Promise((done) => setTimeout(done, 300))"  # events may come later than answers
    for _ in range(100):
        page.value(pause)
        found = " ".join(page.errors())
        if "thrown" in found and "written" in found:
            break
    assert "thrown" in found
    assert "written" in found
    page.value(pause)
    page.forget_errors()


def test_regions_are_found_and_weeks_are_changed(page: FirefoxPage) -> None:
    """The map is painted in many colours; the search box finds a county; the week changes by button and by key."""
    page.open()
    page.wait_for(PAINTED)
    assert page.value(COLOURS) > 8
    page.click("#previous")
    page.wait_for("document.body.dataset.shown.endsWith(' 2021-03-01')")
    assert page.value("document.querySelector('#date').value") == "2021-03-01"
    page.value("document.querySelector('#week').focus()")
    page.press("ArrowLeft")
    page.wait_for("document.body.dataset.shown.endsWith(' 2021-02-22')")
    page.click("#search")
    page.press(*"san francisco county")
    page.wait_for("document.querySelector('#search-results [role=option] .name')?.textContent.startsWith('San Fr')")
    page.press("Enter")
    page.wait_for(shows(SAN_FRANCISCO))
    assert page.text("#region") == "San Francisco County"


def test_the_map_is_used_by_keyboard(page: FirefoxPage) -> None:
    """Arrow keys move between regions and announce them, Enter opens one, Escape goes back up."""
    page.open("?by=state")
    page.wait_for(PAINTED)
    page.value("document.querySelector('#map').focus()")
    page.press("ArrowLeft", "ArrowLeft")
    page.wait_for("/\\w+: (\\d|Not)/.test(document.querySelector('#announcement').textContent)")
    assert not page.value("document.querySelector('#tip').hidden")
    page.press("Enter")
    page.wait_for(f"!({shows('country/USA')})")
    page.press("Escape")
    page.wait_for(shows("country/USA"))


def test_the_dark_page_is_painted_dark(page: FirefoxPage) -> None:
    """The button changes the page, the map and the charts, and the choice is remembered."""
    surface = "getComputedStyle(document.querySelector('#map-card')).backgroundColor"
    page.open()
    page.wait_for(PAINTED)
    light = page.value(surface)
    page.click("#theme")
    page.wait_for(f"{surface} !== {json.dumps(light)}")
    assert page.value(surface) == "rgb(23, 28, 36)"
    assert page.value("document.querySelector('.chart svg circle').getAttribute('stroke')") == "#171c24"
    page.reload()
    assert page.value(surface) == "rgb(23, 28, 36)"


def test_the_page_fits_a_phone_and_is_touched(page: FirefoxPage) -> None:
    """Nothing is wider than the screen; the first tap on a region shows it and the second opens it."""
    page.resize(390, 844)
    page.open("?by=state")
    page.wait_for(PAINTED)
    assert page.value("document.documentElement.scrollWidth") <= 390
    at = page.middle("#map")
    page.point([at], "touch")
    page.wait_for("!document.querySelector('#tip').hidden")
    page.point([at], "touch")
    page.wait_for(f"!({shows('country/USA')})")


@pytest.mark.parametrize("language", [path.stem.removeprefix("messages_") for path in PAGE.glob("messages_*.json")])
def test_the_page_speaks_every_language_it_has(page: FirefoxPage, language: str) -> None:
    """A link with a language shows the page in it."""
    messages = json.loads((PAGE / f"messages_{language}.json").read_text(encoding="utf-8"))
    page.open(f"?lang={language}")
    assert page.value("document.documentElement.lang") == language
    assert page.text(".skip") == messages["skip"]
