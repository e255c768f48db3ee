"""The card "What people ask" shows the published lists of searches, checked, as text, or says why there is none."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from search_insights.dashboards.asked import Asked, read_asked
from search_insights.dashboards.site import dashboard
from search_insights.dataset.folder import read_dataset
from search_insights.errors import InputError
from tests.support.asked import CANTON, HOSTILE, MIDLAND, NATION, NORTH, TABLE, WEEKS, change_lists, with_top_searches
from tests.support.browser import Visit, served, visit
from tests.support.command_line import Run, assert_one_line
from tests.support.dashboards import QAZARIA, data_folder, digests, read_json, region_ids
from tests.support.marked_words import mark_messages, strays_on, words_of

NUMBER_OF = {NATION: 0, NORTH: 1, MIDLAND: 2}


@pytest.fixture(scope="module")
def asked_data(other_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qazaria with lists in its last two weeks."""
    return with_top_searches(other_data, tmp_path_factory.mktemp("asked") / "dataset")


@pytest.fixture(scope="module")
def asked_site(asked_data: Path) -> Path:
    """The site of Qazaria with lists."""
    return dashboard([asked_data], asked_data.parent / "site").folder


@pytest.fixture(scope="module")
def asked_address(asked_site: Path) -> Iterator[str]:
    """The address of the site."""
    with served(asked_site) as address:
        yield address


@pytest.fixture
def asked_page(browser: Browser, asked_address: str) -> Iterator[Visit]:
    """The site in a browser."""
    with visit(browser, asked_address) as visitor:
        yield visitor


def shown(visitor: Visit, query: str = "", region: str = NATION, trend: str = "firewood", week: str = WEEKS[4]) -> Page:
    """Open an address and wait until the card shows this region, topic and week."""
    page = visitor.open(query)
    page.wait_for_selector(f'#asked-card[data-shown="{region} {trend} {week}"]')
    return page


def lists_text(page: Page) -> list[list[str]]:
    """Return the cells of both tables, row by row, as a reader sees them."""
    rows = page.locator("#asked tbody tr").all()
    return [[" ".join(cell.inner_text().split()) for cell in row.locator("th, td").all()] for row in rows]


# The data files


def test_each_region_and_block_of_weeks_has_a_file_of_its_lists(asked_site: Path) -> None:
    """The files have the published rows in the order of their ranks, and the index says which files there are."""
    data = data_folder(asked_site, QAZARIA)
    asked, ids = read_json(data / "index.json.gz")["asked"], region_ids(data)
    assert asked["files"] == [f"{ids.index(NATION)}-0", f"{ids.index(NORTH)}-0"]
    assert asked["weeks"] == [3, 4]
    rows = read_json(data / "asked" / f"{asked['files'][0]}.json.gz")
    found = [row for row in rows if row[:2] == [4, 0]]
    others = ["near me firewood", "fire wood near me"]
    assert found[0] == [4, 0, 0, "firewood near me", others, 31.25, 30.25, 32.25, None, None, None, False]
    assert [row[2] for row in found] == [0, 0, 0, 1, 1, 1]
    assert found[5][8:] == [None, 35.0, None, True]


def test_a_dataset_without_lists_has_no_card(other_site: Path, browser: Browser) -> None:
    """Nothing is loaded and nothing is shown, as for `vaccination-v1`."""
    assert read_json(data_folder(other_site, QAZARIA) / "index.json.gz")["asked"] is None
    with served(other_site) as address, visit(browser, address) as visitor:
        assert not visitor.open().locator("#asked-card").is_visible()
        assert not any("/asked/" in url for url in visitor.requests)


def test_lists_may_have_no_line_at_all(other_data: Path, tmp_path: Path) -> None:
    """In a little log no text has enough users: the tables are there, and are empty."""
    dataset = read_dataset(with_top_searches(other_data, tmp_path / "empty", ()))
    assert read_asked(dataset, NUMBER_OF) == Asked((), ())


def test_the_tables_of_the_lists_can_be_downloaded(asked_data: Path, asked_site: Path) -> None:
    """The site carries them, byte for byte, with the other published files."""
    assert digests(asked_site / "dataset" / QAZARIA) == digests(asked_data)


# Hostile tables


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("* REPLACE ('qz/none' AS place_id)", "a region, week, category or query_type"),
        ("* REPLACE (DATE '1999-01-03' AS date)", "a region, week, category or query_type"),
        ("* REPLACE ('__proto__' AS category)", "a region, week, category or query_type"),
        ("* REPLACE ('other' AS query_type)", "a region, week, category or query_type"),
        ("* REPLACE (1 AS rank)", "two rows for one rank"),
        ("* REPLACE (0 AS rank)", "two rows for one rank"),
        ("* REPLACE ('NaN'::DOUBLE AS value)", "numbers that are none"),
        ("* REPLACE ('Infinity'::DOUBLE AS change_high)", "numbers that are none"),
        ("* REPLACE ('=HYPERLINK(1)' AS query)", "formula"),
        ("* REPLACE (NULL::VARCHAR AS query)", "expected text"),
        ("* REPLACE (['a', chr(27) || '[2J'] AS members)", "expected text"),
        ("* REPLACE ('x' AS value)", "cannot be read"),
        ("* REPLACE (7 AS members)", "cannot be read"),
        ("* EXCLUDE (is_new)", "cannot be read"),
    ],
)
def test_lists_of_another_form_are_refused(asked_data: Path, tmp_path: Path, columns: str, words: str) -> None:
    """A table with the right checksum may still hold anything; one line names it."""
    hostile = shutil.copytree(asked_data, tmp_path / "hostile")
    one = "true" if "AS rank" in columns else "query_type = 'rising' AND rank = 3"
    change_lists(hostile, columns, one)
    with pytest.raises(InputError, match=re.escape(words)) as error:
        read_asked(read_dataset(hostile), NUMBER_OF)
    assert f"{TABLE}.parquet: " in str(error.value)
    assert "\n" not in str(error.value)


def test_the_two_tables_of_the_lists_must_say_the_same(asked_data: Path, tmp_path: Path, run: Run) -> None:
    """What is shown comes from one table, and both are offered; a site of a forged dataset is not written."""
    hostile = shutil.copytree(asked_data, tmp_path / "hostile")
    change_lists(hostile, "* REPLACE ('wet firewood' AS query)")
    code, out, err = run("dashboard", hostile, "--out", tmp_path / "site")
    assert (code, out) == (2, ""), err
    assert_one_line(err)
    assert f"{TABLE}.csv: does not have the rows of {TABLE}.parquet" in err
    assert not (tmp_path / "site").exists()


def test_lists_that_are_missing_or_changed_are_refused(asked_data: Path, tmp_path: Path, run: Run) -> None:
    """Their tables are compared with datapackage.json as the others are."""
    hostile = shutil.copytree(asked_data, tmp_path / "hostile")
    with (hostile / f"{TABLE}.csv").open("ab") as file:
        file.write(b"\n")
    code, _, err = run("dashboard", hostile, "--out", tmp_path / "site")
    assert code == 2
    assert f"{TABLE}.csv: is not the file that datapackage.json describes" in err
    (hostile / f"{TABLE}.csv").unlink()
    with pytest.raises(InputError, match=f"{TABLE}.csv is missing"):
        read_dataset(hostile)


# The card


def test_the_card_shows_top_and_rising_searches_with_their_intervals(asked_page: Visit) -> None:
    """Each row has its rank, the text, the value and its interval; where intervals overlap the rank may be another."""
    page = shown(asked_page)
    assert lists_text(page) == [
        ["1", "firewood near me and 2 other wordings", "31.3 % 30.3 \N{EN DASH} 32.3 %"],
        ["2", "buy firewood may be rank 2 to 3", "18.5 % 17.5 \N{EN DASH} 19.5 %"],
        ["3", f"{HOSTILE} may be rank 2 to 3", "17.0 % 16.0 \N{EN DASH} 18.0 %"],
        ["1", "firewood price", "+85 % +40 \N{EN DASH} +150 %"],
        ["2", "dry firewood", "+300 % at least +120 %"],
        ["3", "firewood delivery new this week", "at least +35 %"],
    ]
    assert page.locator("#asked svg .interval").count() == 6, "each row has a mark of its interval"
    assert page.locator("#asked img").count() == 0, "a text is never markup"
    assert "Firewood in Qazaria. Week of 29 October 2023." in page.locator("#asked-about").inner_text()


def test_no_word_about_searches_is_outside_the_message_files(asked_page: Visit, asked_site: Path) -> None:
    """The card has messages and searches, nothing else; also where it says why there is no list."""
    mark_messages(asked_page.page)
    rows = read_json(data_folder(asked_site, QAZARIA) / "asked" / "0-0.json.gz")
    searches = [text for row in rows for text in (row[3], *row[4])]
    data = [*words_of(asked_site), *searches]
    for query in ("", f"?region={CANTON}", f"?region={MIDLAND}", f"?week={WEEKS[0]}", f"?week={WEEKS[3]}"):
        asked_page.open(query)
        asked_page.page.wait_for_load_state("networkidle")
        assert strays_on(asked_page.page, data) == set(), query


def test_other_wordings_are_opened_by_keyboard_and_stay_open(asked_page: Visit) -> None:
    """The button says how many there are and whether they are shown; another week does not close them."""
    page = shown(asked_page)
    button = page.get_by_role("button", name="and 2 other wordings")
    assert not page.get_by_text("fire wood near me").is_visible()
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    assert page.get_by_text("fire wood near me").is_visible()
    for key, week in (("#previous", WEEKS[3]), ("#next", WEEKS[4])):
        page.locator(key).click()
        page.wait_for_selector(f'#asked-card[data-shown$="{week}"]')
    assert page.get_by_text("fire wood near me").is_visible()


def test_the_card_follows_topic_week_and_region(asked_page: Visit) -> None:
    """Where only one of the two lists is there, the other says why it is empty."""
    page = shown(asked_page, "?trend=keeping_warm", trend="keeping_warm")
    assert [row[1].split(" may")[0] for row in lists_text(page)] == [f"heating tip {i}" for i in range(1, 11)]
    page.get_by_role("button", name="Show all 12").press("Enter")
    expect(page.locator("#asked tbody tr")).to_have_count(12)
    expect(page.get_by_role("heading", name="Most searched")).to_be_focused()
    page = shown(asked_page, f"?region={NORTH}", NORTH)
    assert [row[1] for row in lists_text(page)] == ["buy firewood"]
    assert "No search rose by more than noise and chance" in page.locator("#asked").inner_text()
    page = shown(asked_page, f"?week={WEEKS[3]}", week=WEEKS[3])
    assert "no lists of the week before" in page.locator("#asked").inner_text()


@pytest.mark.parametrize(
    ("query", "region", "week", "words"),
    [
        (f"?region={CANTON}", CANTON, WEEKS[4], "Lists are made for the nation and for each province only."),
        (f"?region={MIDLAND}", MIDLAND, WEEKS[4], "Too few searches: in this week no search was made by enough people"),
        (
            f"?region={NORTH}&trend=keeping_warm",
            NORTH,
            WEEKS[4],
            "no search about this topic was made by enough people",
        ),
        (f"?week={WEEKS[0]}", NATION, WEEKS[0], "No lists were made for this week."),
    ],
    ids=["level", "region", "topic", "week"],
)
def test_a_missing_list_has_a_reason(asked_page: Visit, query: str, region: str, week: str, words: str) -> None:
    """A region without a list says why; none of the reasons is that nobody searched."""
    page = shown(asked_page, query, region, "keeping_warm" if "keeping_warm" in query else "firewood", week)
    assert words in page.locator("#asked").inner_text()
    if region == CANTON:
        page.locator("#asked button").click()
        asked_page.wait_for(NORTH)


@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}])
def test_the_card_is_accessible_and_fits_a_phone(
    browser: Browser, asked_address: str, options: dict[str, object]
) -> None:
    """axe finds no serious problem in it, in dark mode and on a phone; nothing is wider than the screen."""
    with visit(browser, asked_address, bypass_csp=True, **options) as visitor:
        page = shown(visitor)
        page.get_by_role("button", name="and 2 other wordings").click()
        problems = Axe().run(page, "#asked-card").response["violations"]
        assert [(v["id"], v["impact"]) for v in problems if v["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_paper_all_wordings_are_shown(asked_page: Visit) -> None:
    """Nothing can be opened on paper."""
    page = shown(asked_page)
    page.emulate_media(media="print")
    assert page.get_by_text("fire wood near me").is_visible()
    assert not page.get_by_role("button", name="and 2 other wordings").is_visible()
