"""The page answers: a sentence, changes beyond the noise, averages of a period, fitted colours, a county in context."""

import re
from xml.etree import ElementTree

from playwright.sync_api import Page, expect

from tests.support.browser import OpenPage, download, show_all, wait_for_map
from tests.support.dashboards import CALIFORNIA, FIRST_WEEK, LAST_WEEK, QAZARIA, SAN_FRANCISCO

SACRAMENTO, YOLO = "geoId/06067", "geoId/06113"
SVG = "{http://www.w3.org/2000/svg}"


def answer(page: Page) -> str:
    """Return the sentences under the heading."""
    return page.locator("#answer").inner_text()


def map_fills(page: Page) -> list[tuple[str, str]]:
    """Return the fill and the opacity of each group of shapes in the picture of the map."""
    _, svg = download(page, "#map-downloads", "Image (SVG)")
    paths = ElementTree.fromstring(svg).findall(f".//{SVG}g[@clip-path]/{SVG}path")
    return [(str(path.get("fill")), path.get("fill-opacity", "")) for path in paths if path.get("d")]


def test_a_sentence_answers_under_the_heading(open_page: OpenPage) -> None:
    """The value with its interval, changes, the parent, ranks with their range, and how unusual it is."""
    visitor = open_page(f"?region={SAN_FRANCISCO}")
    text = answer(visitor.page)
    assert re.match(
        r"COVID-19 vaccination, week of 8 March 2021: \d+\.\d \(80 % interval \d+\.\d \u2013 \d+\.\d\)\.", text
    )
    assert re.search(r"Compared with the week before: \+\d+\.\d \(\+\d+ %\), (beyond the noise|which the noise)", text)
    assert re.search(r"Compared with 4 weeks before: \+\d+\.\d \(\+\d+ %\), beyond the noise\.", text)
    assert re.search(r"California as a whole \(\d+\.\d\), beyond the noise\.", text)
    assert re.search(r"Rank \d+ of \d+ by county in California; with the noise, between \d+ and \d+\.", text)
    assert re.search(
        r"Rank [\d,]+ of [\d,]+ by county in United States; with the noise, between [\d,]+ and [\d,]+\.", text
    )
    assert "The highest of its 10 weeks with a value." in text
    visitor.open(f"?week={FIRST_WEEK}")
    assert "This is the first week: there is none before it to compare with." in answer(visitor.page)
    assert "Rank" not in answer(visitor.page)  # the country has no rank
    visitor.open(f"?dataset={QAZARIA}&region=qz/c/011&week=2023-10-15")
    text = answer(visitor.page)
    assert "week of 15 October 2023: not enough data." in text
    assert re.search(r"The latest value before it is \d+\.\d, in the week of 8 October 2023\.", text)
    visitor.open(f"?dataset={QAZARIA}&region=qz/c/011&week=2023-10-22")
    assert "Compared with the week before: not possible, because that week has no value." in answer(visitor.page)


def test_the_change_between_two_weeks_is_on_the_map_and_in_the_table(open_page: OpenPage) -> None:
    """Chosen by a switch, kept in the address, said in words; regions the noise cannot tell apart are hatched."""
    visitor = open_page()
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    page.get_by_role("button", name="Change", exact=True).click()
    expect(page.locator("#map-title")).to_have_text("COVID-19 vaccination by county, change")
    expect(page.get_by_role("status").filter(has_text="Difference")).to_have_text(
        "Difference of the week of 8 Mar 2021 from that of 1 Mar 2021."
    )
    assert "since=1" in page.url
    fills = map_fills(page)
    assert ("url(#unsure)", "") in fills
    page.get_by_label("Compared with", exact=True).select_option("4 weeks before")
    expect(page.locator("#map")).to_have_attribute("aria-label", re.compile("8 Mar 2021 from that of 8 Feb 2021"))
    cells = page.locator("#table tbody tr").first.locator("td")
    assert re.fullmatch(r"\+\d+\.\d", cells.nth(1).inner_text().strip())
    assert re.fullmatch(r"\+\d+\.\d \u2013 \+\d+\.\d", cells.nth(2).inner_text())
    before, now = (float(cells.nth(i).inner_text()) for i in (3, 4))
    assert now - before > 0
    assert cells.nth(5).inner_text() == "yes"
    assert "chance alone would make up to" in page.locator("#legend .peak").inner_text()
    page.locator("#map").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#announcement")).to_have_text(re.compile(r"(: [+\u2212]\d.* (noise|explain it)$)|: Not "))
    page.get_by_label("Compared with", exact=True).select_option("4 January 2021")
    expect(page.locator(".mode-status")).to_contain_text("from that of 4 Jan 2021")
    assert "Compared with the week of 4 January 2021: +" in answer(page)
    page.get_by_role("button", name="Previous week").click()  # the other week stays
    expect(page.locator(".mode-status")).to_have_text("Difference of the week of 1 Mar 2021 from that of 4 Jan 2021.")
    page.go_back()
    expect(page.locator(".mode-status")).to_contain_text("from that of 8 Feb 2021")


def test_a_change_that_cannot_be_had_says_why(open_page: OpenPage) -> None:
    """No week before the first, a week with itself, unknown weeks, another scale: values are shown, and why."""
    visitor = open_page(f"?since=4&week={FIRST_WEEK}")
    status = visitor.page.locator(".mode-status")
    expect(status).to_contain_text("does not have the week to compare with")
    expect(visitor.page.locator("#map-title")).to_have_text("COVID-19 vaccination by county")
    visitor.open("?since=2")  # which the list does not offer
    expect(visitor.page.locator("#since option:checked")).to_have_text("2 weeks before")
    visitor.open(f"?since={LAST_WEEK}")
    expect(status).to_contain_text("cannot be compared with itself")
    visitor.open("?from=2021-03-01&to=2021-02-01")
    expect(status).to_contain_text("does not have these weeks")
    problems = visitor.page.evaluate(
        """async () => {
            const { measureOf } = await import('./measures.js');
            const weeks = ['2021-01-04', '2021-01-11', '2021-01-18', '2021-01-25'];
            const breaks = [{ week: 2, alone: false, label: 'new edition', newScale: true }];
            const release = { weeks, breaks, confidence: 0.8 };
            return [{ since: '1' }, { since: '2' }, { from: weeks[1], to: weeks[2] }, { from: weeks[2], to: weeks[3] }]
                .map((state) => measureOf(release, state, 3)).map(({ kind, problem }) => [kind, problem]); }"""
    )
    reason = "A new scale begins with the week of 18 January 2021"
    assert [(kind, text.startswith(reason)) for kind, text in problems] == [
        ("change", False),
        ("week", True),
        ("week", True),
        ("average", False),
    ]


def test_the_colours_can_be_fitted_to_the_week(open_page: OpenPage) -> None:
    """By a switch, kept in the address; then the map has more colours. A histogram shows where the regions lie."""
    visitor = open_page(f"?week={FIRST_WEEK}")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 0)
    scale = page.locator("#legend .scale")
    assert re.search(r"\d+ regions with a value: a quarter below \d+", str(scale.get_attribute("aria-label")))
    assert len(str(page.locator("#legend .histogram").get_attribute("d"))) > 100
    few = {fill for fill, _ in map_fills(page) if fill.startswith("#")}
    labels = scale.locator("text").all_text_contents()
    page.locator("#legend").get_by_role("button", name="This week").click()
    expect(page.locator("#legend .peak")).to_contain_text("Colours are fitted to the regions shown")
    assert "scale=week" in page.url
    assert scale.locator("text").all_text_contents() != labels
    many = {fill for fill, _ in map_fills(page) if fill.startswith("#")}
    assert len(many) > len(few)
    page.locator("#legend").get_by_role("button", name="All weeks").click()
    expect(page.locator("#legend .peak")).to_contain_text("Colours mean the same in every week")
    assert "scale" not in page.url


def test_a_county_is_shown_among_its_neighbours(open_page: OpenPage) -> None:
    """It and its neighbours have their full colours; one press pins the neighbours; the table marks its own row."""
    visitor = open_page(f"?region={SACRAMENTO}")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    assert {opacity for fill, opacity in map_fills(page) if fill.startswith("#")} == {"1"}
    expect(page.locator(".parent-value").first).to_have_text(re.compile(r"^\d+\.\d$"))  # beside the dashed line
    button = page.get_by_role("button", name="Compare with 5 of its 8 neighbours")
    button.click()
    expect(page.locator(".chip")).to_have_count(5)
    assert f"pin={YOLO}" in page.url
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(page.locator(".chip")).to_have_count(0)
    page.locator("#table-levels").get_by_role("button", name="County").click()
    expect(page.locator("#table-title")).to_have_text("California by county")
    expect(page.locator("#table tr[aria-current=true] th")).to_have_text("Sacramento County")
    visitor.open("?region=geoId/06003")  # Alpine County: none of its postal codes has a value
    expect(page.locator("#table-title")).to_have_text("California by county")
    expect(page.locator("#table tr[aria-current=true] th")).to_have_text("Alpine County")


def test_a_period_is_averaged_for_map_table_and_answer(open_page: OpenPage) -> None:
    """Chosen as a month, by two weeks, or by a drag over a chart; with its interval and number of weeks."""
    visitor = open_page(f"?region={CALIFORNIA}")
    page = visitor.page
    wait_for_map(page, "covid19_vaccination", 9)
    page.get_by_role("button", name="Average", exact=True).click()
    expect(page.locator(".mode-status")).to_have_text(
        "Average of 4 weeks, from the week of 15 Feb 2021 to that of 8 Mar 2021."
    )
    page.get_by_label("Period", exact=True).select_option("Feb 2021")
    expect(page.locator("#map-title")).to_have_text("COVID-19 vaccination by county, average")
    expect(page.locator("#answer")).to_contain_text("from 1 February 2021 to 22 February 2021: ")
    assert re.search(r"\d \(80 % interval \d+\.\d \u2013 \d+\.\d\), from 4 of 4 weeks\.", answer(page))
    assert "from=2021-02-01&to=2021-02-22" in page.url
    show_all(page)
    expect(page.locator("#table tbody tr").first.locator("td.detail")).to_have_text("4 of 4")
    seasons = page.locator("#period optgroup[label=Seasons] option")
    assert seasons.all_text_contents() == ["Mar 2021 \N{EN DASH} May 2021", "Dec 2020 \N{EN DASH} Feb 2021"]
    page.get_by_label("From", exact=True).select_option("11 January 2021")
    expect(page.locator(".mode-status")).to_contain_text("Average of 7 weeks")
    chart = page.locator("#charts svg[role=img]").first
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": 46, "y": 60})
    page.mouse.down()
    chart.hover(position={"x": 0.47 * box["width"], "y": 60})
    page.mouse.up()
    expect(page.locator(".mode-status")).to_contain_text("from the week of 4 Jan 2021 to that of 1 Feb 2021")
    expect(chart.locator(".period")).to_have_attribute("visibility", "visible")
    chart.click(position={"x": 46, "y": 40})  # a click still chooses a week, which is then shown
    visitor.wait_for(week=FIRST_WEEK)
    expect(page.locator("#map-title")).to_have_text("COVID-19 vaccination by county")
    assert "from=" not in page.url
