"""Readers see the breaks of a series, and when a region began, ended and was followed by others."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from search_insights.dashboards.site import dashboard
from search_insights.dataset.publication import publish
from search_insights.store.ledger import ModelRecord
from search_insights.store.notes import note_week
from tests.support.browser import Visit, heading, on_map, served, visit, wait_for_map
from tests.support.dashboards import US, data_folder, read_json, region_ids
from tests.support.editions import CROSSWALK, EAST, FORMER, WEST, split
from tests.support.marked_words import mark_messages, strays_on, words_of
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import FIRST, add_weeks, changed, short_window_coverage

MODEL_BREAK, EDITION_BREAK = FIRST + timedelta(weeks=2), FIRST + timedelta(weeks=4)
LAST = FIRST + timedelta(weeks=5)


@pytest.fixture(scope="module")
def broken_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of six weeks: after two the model changes, after four a county is divided; the last has a note."""
    folder = tmp_path_factory.mktemp("broken")
    coverage, store = short_window_coverage(folder), folder / "store.db"
    first, second = ModelRecord("a" * 64, "{}"), ModelRecord("b" * 64, '{"name": "second"}')
    add_weeks(store, coverage, {}, {}, model=first)
    add_weeks(store, coverage, {}, {}, start=2, model=second)
    changed(store, split(coverage), "El Dorado was divided", EDITION_BREAK, CROSSWALK)
    add_weeks(store, split(coverage), {}, {}, start=4, model=second)
    note_week(store, LAST, "half of the log was lost")
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        publish(store, folder / "dataset")
    return dashboard([folder / "dataset"], folder / "site", shapes=[squares(folder / "shapes.topojson")]).folder


def squares(path: Path) -> Path:
    """Draw each region as a square: the two new counties are the halves of the one that they followed."""

    def ring(west: float, east: float) -> list[list[float]]:
        return [[west, 36], [east, 36], [east, 39], [west, 39], [west, 36]]

    places = {FORMER: (-121, -119), WEST: (-121, -120), EAST: (-120, -119), "geoId/06": (-124, -117)}
    places |= {"geoId/06003": (-123, -122), "geoId/06075": (-124, -123)}
    outlines = [{"type": "Polygon", "id": place, "arcs": [[i]]} for i, place in enumerate(places)]
    objects = {"regions": {"type": "GeometryCollection", "geometries": outlines}}
    arcs = [ring(*ends) for ends in places.values()]
    path.write_text(json.dumps({"type": "Topology", "objects": objects, "arcs": arcs}), encoding="utf-8")
    return path


@pytest.fixture
def broken_page(browser: Browser, broken_site: Path) -> Iterator[Visit]:
    """The site in a browser."""
    with served(broken_site) as address, visit(browser, address) as visitor:
        yield visitor


def test_the_data_files_have_breaks_and_lives(broken_site: Path) -> None:
    """Weeks and regions are numbered; only regions that do not live through all weeks are listed."""
    data = data_folder(broken_site, US)
    index, ids = read_json(data / "index.json.gz"), region_ids(data)
    assert [(b["week"], b["label"], b["alone"]) for b in index["breaks"]] == [
        (2, {"say": "break_model"}, False),
        (4, {"say": "break_edition"}, False),
        (5, {"say": "break_note"}, True),
    ]
    former, west, east = (ids.index(place) for place in (FORMER, WEST, EAST))
    assert sorted(index["lives"]) == sorted([[former, 0, 3, [west, east]], [west, 4, 5, []], [east, 4, 5, []]])


def test_breaks_are_marked_in_every_chart_and_explained_in_words(broken_page: Visit) -> None:
    """A line with a letter in each chart, which no series crosses; the same in words, for eyes and screen readers."""
    page = broken_page.open()
    charts = page.locator("#charts svg[role=img]")
    assert charts.count() == 3
    for i in range(3):
        assert charts.nth(i).locator(".break-marks text").all_text_contents() == ["A", "B", "C"]
        assert charts.nth(i).locator(".break-marks line").count() == 3
        label = str(charts.nth(i).get_attribute("aria-label"))
        assert "another model from the week of 18 Jan 2021 on; new edition from the week of 1 Feb 2021 on" in label
        assert "note on the week of 8 Feb 2021" in label
    line = str(charts.nth(0).locator("path[stroke-width='2']").get_attribute("d"))
    assert line.count("M") == 3, "the line is interrupted at each break, not at a note"
    first, second, note = page.locator("#break-list li").all_inner_texts()
    assert re.match(r"A\s*Week of 18 January 2021, another model\.", first)
    assert "El Dorado was divided." in second
    assert "1 region ends: El Dorado" in second
    assert note.endswith("note on this week. Half of the log was lost.")
    page.locator("#series-details summary").click()
    expect(page.locator("#series-table th", has_text="(break: new edition)")).to_have_count(1)


def test_no_word_about_breaks_is_outside_the_message_files(broken_page: Visit, broken_site: Path) -> None:
    """What the program says of editions, models, notes and regions that ended is in messages; reasons are data."""
    mark_messages(broken_page.page)
    data = [*words_of(broken_site), "El Dorado was divided", "Half of the log was lost", "second", "a" * 12, "b" * 12]
    for query in ("", f"?region={FORMER}", f"?region=geoId/06&week={FIRST}"):
        page = broken_page.open(query)
        page.locator("#series-details summary").click()
        page.locator("#series-table th").first.wait_for()
        assert strays_on(page, data) == set(), query


def test_a_break_can_be_reached_by_keyboard(broken_page: Visit) -> None:
    """The week of a break is a button: Enter shows that week."""
    page = broken_page.open()
    page.locator("#break-list button").nth(0).focus()
    page.keyboard.press("Enter")
    broken_page.wait_for(week=str(MODEL_BREAK))


def test_a_region_that_ended_says_so_and_leads_to_those_that_followed(broken_page: Visit) -> None:
    """Its page says until when it is reported; after that week it is not reported, which is no lack of data."""
    page = broken_page.open(f"?region={FORMER}")
    assert page.locator("#life").inner_text() == (
        "Reported until the week of 25 January 2021. It was followed by El Dorado West and El Dorado East."
    )
    assert page.locator(".readout").nth(0).inner_text() == "not reported"
    page.locator("#life").get_by_role("button", name="El Dorado East").click()
    broken_page.wait_for(region=EAST)
    assert heading(page) == "El Dorado East"
    assert page.locator("#life").inner_text() == "Reported since the week of 1 February 2021. It follows El Dorado."


def test_the_map_shows_the_regions_that_existed(broken_page: Visit) -> None:
    """Of regions that took each other's place, those of the week can be pointed at; the others do not cover them."""
    for week, expected in ((FIRST, "El Dorado"), (LAST, "El Dorado West")):
        page = broken_page.open(f"?region=geoId/06&week={week}")
        wait_for_map(page, "covid19_vaccination", (week - FIRST).days // 7)
        page.mouse.move(*on_map(page, (0.47, 0.5)))
        page.wait_for_selector("#tip:not([hidden]) strong")
        assert page.locator("#tip strong").first.inner_text() == expected


def test_the_table_says_that_a_region_did_not_exist(broken_page: Visit) -> None:
    """Before its first week a region's text says since when it is reported."""
    page = broken_page.open(f"?region=geoId/06&week={FIRST}")
    row = page.locator("#table tr", has_text="El Dorado West")
    assert "Not reported before the week of 1 February 2021" in row.inner_text()
    assert "not reported" in page.locator("#legend").inner_text()


def test_no_comparison_crosses_a_break_without_saying_so(broken_page: Visit) -> None:
    """The answer and the change mode name what lies between two weeks; unusual is judged between breaks only."""
    page = broken_page.open(f"?since=4&week={LAST}")
    answer = page.locator("#answer").inner_text()
    assert "Compared with 4 weeks before: " in answer
    assert "Between these weeks: another model, new edition, note on this week; values may differ" in answer
    assert "of its" not in answer  # two weeks since the last break are too few to call one unusual
    status = page.locator(".mode-status").inner_text()
    assert "another model (18 Jan 2021), new edition (1 Feb 2021), note on this week (8 Feb 2021)" in status
    assert "although nobody searched differently" in status
