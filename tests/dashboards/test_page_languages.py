"""The page speaks the visitor's language, chosen by browser, switch or address; no word is outside the messages."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import OpenPage, Visit, download, heading, on_map, visit, wait_for_map
from tests.support.dashboards import CALIFORNIA, QAZARIA, SAN_FRANCISCO, TEXAS_ON_MAP, US, data_folder
from tests.support.marked_words import mark_messages, stray_words, strays_on, words_of

TITLES = {
    "en": "COVID-19 Vaccination Search Insights",
    "fr": "Tendances de recherche sur la vaccination contre la COVID-19",
    "es": "Tendencias de búsqueda sobre la vacunación contra la COVID-19",
    "de": "Suchtrends zur COVID-19-Impfung",
}


@pytest.mark.parametrize(
    ("locale", "language", "dates", "value"),
    [
        ("fr-CH", "fr", "8 14 mars 2021", r"\d,\d"),
        # Mexico has a point, Spain a comma.
        pytest.param("es-MX", "es", "8 14 de marzo de 2021", r"\d\.\d", marks=pytest.mark.thorough),
        pytest.param("de-AT", "de", "8. 14. März 2021", r"\d,\d", marks=pytest.mark.thorough),
        pytest.param("en-US", "en", "March 8 14, 2021", r"\d\.\d", marks=pytest.mark.thorough),
        ("pt-BR", "en", "March 8 14, 2021", r"\d\.\d"),
    ],
)
def test_the_browser_chooses_language_and_formats(
    open_page: OpenPage, locale: str, language: str, dates: str, value: str
) -> None:
    """Words in the browser's language if there are any, else English; numbers and dates as in the visitor's country.

    The messages of no other language are loaded.
    """
    visitor = open_page("?by=state", locale=locale)
    page = visitor.page
    assert page.evaluate("document.documentElement.lang") == language
    assert page.locator("#title").inner_text() == TITLES[language]
    assert page.locator("#language").input_value() == language
    shown = page.locator("#week-dates .dates").inner_text()
    assert re.sub(r"[^\w.,]+", " ", shown) == dates
    assert re.fullmatch(value, page.locator("#table tbody strong").first.inner_text()[-3:])
    assert [url.rsplit("/", 1)[1] for url in visitor.requests if "messages_" in url] == [f"messages_{language}.json"]


def test_a_switch_chooses_the_language_and_the_page_remembers_it(open_page: OpenPage) -> None:
    """The view stays. The address has the language, so that a link shows what its sender saw; it wins over all else."""
    visitor = open_page(f"?region={CALIFORNIA}")
    page = visitor.page
    page.get_by_label("Language").select_option("de")
    page.wait_for_selector("html[lang=de] body[data-shown]")
    assert (heading(page), page.locator("#title").inner_text()) == ("California", TITLES["de"])
    assert re.search(r"region=geoId/06\b.*lang=de", page.url)
    page.locator("#previous").click()
    visitor.wait_for(week="2021-03-01")
    assert "lang=de" in page.url
    visitor.open()
    assert page.evaluate("document.documentElement.lang") == "de", "it is remembered"
    visitor.open("?lang=fr")
    expect(page.locator("#region")).to_have_text("États-Unis")
    visitor.open("?lang=tlh")
    assert page.evaluate("document.documentElement.lang") == "de"


def test_what_has_no_translation_keeps_its_own_words(open_page: OpenPage) -> None:
    """Qazaria names its topics in one language only; the words around them are the visitor's."""
    page = open_page(f"?dataset={QAZARIA}&lang=es").page
    expect(page.locator("#trends span")).to_have_text(["Firewood", "Keeping warm"])
    expect(page.locator("#table-title")).to_have_text("Qazaria por provincia")


def test_pictures_speak_the_visitors_language_and_tables_keep_their_columns(open_page: OpenPage) -> None:
    """A picture is for people; the columns of a CSV file are names that programs know."""
    page = open_page(f"?region={CALIFORNIA}&lang=fr").page
    wait_for_map(page, "covid19_vaccination", 9)
    _, svg = download(page, "#map-downloads", "Image (SVG)")
    words = " ".join(ElementTree.fromstring(svg).itertext())
    assert "Vaccination contre la COVID-19" in words
    assert "données insuffisantes" in words
    _, content = download(page, "#map-downloads", "Valeurs (CSV)")
    header = next(csv.reader(io.StringIO(content.decode())))
    assert header[:5] == ["date", "place_id", "level", "code", "name"]
    assert {"sni_covid19_vaccination", "sni_covid19_vaccination_low"} <= set(header)


# No word is outside the message files


@pytest.fixture
def marked(browser: Browser, site_address: str) -> Iterator[Visit]:
    """A visit in which every message is marked."""
    with visit(browser, site_address) as visitor:
        mark_messages(visitor.page)
        yield visitor


@pytest.fixture(scope="module")
def data(us_site: Path) -> list[str]:
    """The words of the site that are data."""
    return words_of(us_site)


def test_a_stray_word_is_found() -> None:
    """What is neither a message nor data, a number or a date is told, also between messages."""
    fine = ["⟦Week of ⟧8 March 2021", "⟦Rank ⟧3⟦ in ⟧Texas", "US-TX", "1,234.5 \N{EN DASH} 2,000"]
    assert stray_words(fine, ["Texas", "US-TX"]) == set()
    assert stray_words(["⟦Rank ⟧3 by state"], ["Texas"]) == {"3 by state (in '⟦Rank ⟧3 by state')"}


def open_all(page: Page) -> None:
    """Open all that can be opened, and show all rows."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = each.checkVisibility()))")
    for button in page.locator(".show-all:visible").all():
        button.click()


def test_no_word_of_the_page_is_outside_the_message_files(marked: Visit, data: list[str]) -> None:
    """In all its states the page has nothing to read or to hear that is neither a message nor data."""
    page = marked.page
    queries = (
        f"?by=state&pin={CALIFORNIA}&since=1",
        f"?region={SAN_FRANCISCO}&pin=geoId/48&pin=zip/94110",
        f"?region={CALIFORNIA}&from=2021-01-11&to=2021-02-01&scale=week",
        "?region=zip/96120",
        "?region=geoId/06003&embed=series",
        f"?dataset={QAZARIA}&region=qz/c/011&week=2023-10-15&since=2",
    )
    for query in queries:
        marked.open(query)
        open_all(page)
        page.wait_for_load_state("networkidle")
        assert strays_on(page, data) == set(), query


def test_no_word_that_comes_with_use_is_outside_the_message_files(
    marked: Visit, data: list[str], us_site: Path
) -> None:
    """Tooltips, announcements, search results, what is under the pointer, and what goes wrong."""
    page = marked.open("?by=state&region=nowhere&week=never&trend=none")
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.move(*on_map(page, TEXAS_ON_MAP))
    expect(page.locator("#tip")).to_contain_text("Texas")
    found = strays_on(page, [*data, "nowhere", "never", "none"])
    page.locator("#map").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#announcement")).not_to_be_empty()
    page.locator("#charts svg[role=img]").first.hover(position={"x": 60, "y": 60})
    page.locator("#play").click()
    found |= strays_on(page, [*data, "nowhere", "never", "none"])
    for typed in ("travis", "Atlantis"):
        page.locator("#search").fill(typed)
        page.wait_for_load_state("networkidle")
        found |= strays_on(page, [*data, "nowhere", "never", "none"])
    assert found == set()
    page.route("**/regions.json.gz", lambda route: route.fulfill(status=503))
    page.goto(marked.address)
    expect(page.locator("#loading")).to_contain_text("503")
    file = f"data/{data_folder(us_site, US).name}/regions.json.gz"
    assert stray_words(page.locator("#loading").all_inner_texts(), [file]) == set()
    marked.errors.clear()


def test_no_word_of_a_picture_is_outside_the_message_files(marked: Visit, data: list[str]) -> None:
    """The map and the series, as images."""
    page = marked.open(f"?region={CALIFORNIA}&pin=geoId/48")
    wait_for_map(page, "covid19_vaccination", 9)
    for menu in ("#map-downloads", "#series-downloads"):
        page.locator(f"{menu} summary").click()
        with page.expect_download() as waiting:
            page.locator(menu).get_by_role("button", name="SVG").click()
        texts = list(ElementTree.fromstring(Path(waiting.value.path()).read_bytes()).itertext())
        assert any("⟦" in text for text in texts)
        assert stray_words([" ".join(texts)], data) == set()  # a long message is written on several lines


def test_the_site_names_its_datasets_in_all_languages(us_site: Path) -> None:
    """For the list of countries, before a dataset is loaded."""
    us, qazaria = json.loads((us_site / "site.json").read_text(encoding="utf-8"))["datasets"]
    assert us["titles"] == {code: title for code, title in TITLES.items() if code != "en"}
    assert qazaria["titles"] == {}
