"""What readers take away: paper, pictures, frames, citations and shared links say what they show and from where."""

import csv
import gzip
import io
import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import search_insights
from search_insights.dashboards.site import dashboard
from search_insights.dataset.publication import publish
from search_insights.errors import InputError
from search_insights.spec.coverage import Coverage
from search_insights.spec.geography import load_geography
from tests.support.browser import OpenPage, download, map_image, on_map, served, visit, wait_for_map
from tests.support.command_line import Run
from tests.support.dashboards import CALIFORNIA, QAZARIA, TEXAS_ON_MAP, US
from tests.support.other_country import other_geography, other_spec
from tests.support.publisher import OFFICE
from tests.support.quick_accounting import patch_accounting
from tests.support.stores import add_weeks


@pytest.fixture(scope="module")
def signed_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a dataset that has a publisher and a licence."""
    folder = tmp_path_factory.mktemp("signed")
    coverage = Coverage(replace(other_spec(), publisher=OFFICE), load_geography(other_geography(folder)))
    store = add_weeks(folder / "store.db", coverage, {}, {}, usual=(50_000, 4_000, 2_500, 1_500))
    with pytest.MonkeyPatch.context() as patch:
        patch_accounting(patch.setattr)
        publish(store, folder / "dataset")
    return dashboard([folder / "dataset"], folder / "site", address="https://example.org/trends").folder


def test_paper_is_light_and_says_topic_week_source_and_address(open_page: OpenPage) -> None:
    """Also from dark mode: the map is repainted before the page is printed, and afterwards it is as it was."""
    page = open_page(f"?region={CALIFORNIA}", color_scheme="dark").page
    wait_for_map(page, "covid19_vaccination", 9)
    dark = map_image(page)
    page.evaluate(
        "addEventListener('beforeprint', () => { window.printed = document.getElementById('canvas').toDataURL(); })"
    )
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    printed = page.evaluate("window.printed")
    assert printed != dark
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    paper = page.locator(".paper:visible").all_inner_texts()
    assert any("COVID-19 vaccination" in text and "March 2021" in text for text in paper)
    assert any("Source:" in text and f"?region={CALIFORNIA}" in text for text in paper)
    assert page.locator("#table tbody tr").count() == 58  # all counties: on paper nothing can be opened
    assert not page.locator("#table thead button").count()  # which a browser would leave out of a repeated head
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(media="screen")
    expect(page.locator("#table tbody tr")).to_have_count(15)
    page.wait_for_function("before => document.getElementById('canvas').toDataURL() === before", arg=dark)


def test_pictures_are_light_and_name_their_source_and_address(open_page: OpenPage) -> None:
    """A picture is put into documents: whatever the screen looks like, it is light, and says where it is from."""
    page = open_page(f"?region={CALIFORNIA}", color_scheme="dark").page
    wait_for_map(page, "covid19_vaccination", 9)
    for menu in ("#map-downloads", "#series-downloads"):
        _, content = download(page, menu, "Image (SVG)")
        svg = " ".join(re.findall(r">([^<]+)<", content.decode()))
        assert 'fill="#ffffff"' in content.decode()
        assert "#171c24" not in content.decode()  # the dark surface
        assert "COVID-19 vaccination" in svg
        assert "March 2021" in svg
        assert "Source: COVID-19 Vaccination Search Insights" in svg
        assert f"?region={CALIFORNIA}" in svg


def test_a_capture_of_the_whole_page_shows_the_map(open_page: OpenPage) -> None:
    """It changes the size of the window, and the map is painted in the same frame, not in the next."""
    page = open_page().page
    wait_for_map(page, "covid19_vaccination", 9)
    blank = page.evaluate(
        """async () => { const map = document.getElementById('map'), canvas = document.getElementById('canvas');
        map.style.height = '511px';
        return new Promise(done => { new ResizeObserver(() => {
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            if (canvas.height === 511) done(pixels.every(value => value === 0));
        }).observe(map); }); }"""
    )
    assert blank is False


@pytest.mark.parametrize("kind", ["map", pytest.param("series", marks=pytest.mark.thorough)])
def test_an_embedded_view_shows_its_source_without_scrolling(open_page: OpenPage, kind: str) -> None:
    """The code that the page offers has the size that the view needs."""
    page = open_page().page
    page.locator(".embed summary").click()
    page.locator("#embed-kind").select_option(kind)
    expect(page.locator("#embed-code")).to_have_value(re.compile(f"embed={kind}"))
    code = page.locator("#embed-code").input_value()
    width, height = (int(found) for found in re.findall(r'(?:width|height)="(\d+)"', code))
    framed = open_page(f"?embed={kind}", viewport={"width": width, "height": height}).page
    assert framed.evaluate("document.documentElement.scrollHeight <= innerHeight")
    expect(framed.locator("#embed-source")).to_be_in_viewport()
    expect(framed.locator("#full-link")).to_be_in_viewport()


def test_every_download_comes_with_citation_licence_and_definitions(browser: Browser, signed_site: Path) -> None:
    """In the menus and beside the files: the publisher, the version, the licence, and that interest is not opinion."""
    with served(signed_site) as address, visit(browser, address) as visitor:
        page = visitor.open()
        cited = page.locator("#cite-text").input_value()
        assert cited.startswith(f"{OFFICE.name} (")
        assert "Version 1.2.0" in cited
        assert address in cited
        entry = page.locator("#cite-bibtex").input_value()
        assert entry.startswith("@misc{QZ_heating_search_trends,")
        assert "\\& " in entry  # as BibTeX wants it
        assert entry.count("{") == entry.count("}")
        page.locator("#series-downloads summary").click()
        for part in (page.locator("#series-downloads .menu-note"), page.locator("#reuse")):
            expect(part).to_contain_text("Interest is not opinion")
            expect(part.get_by_role("link", name="CC-BY-4.0")).to_have_attribute("href", OFFICE.license_address or "")
        expect(page.locator("#reuse")).to_contain_text(OFFICE.contact)
        assert page.locator("#files a", has_text="registry.yaml").count() == 1


def test_topics_are_defined_with_examples_beside_the_downloads(open_page: OpenPage) -> None:
    """A dataset without a licence says so."""
    page = open_page("?trend=vaccination_intent").page
    page.locator("#map-downloads summary").click()
    note = page.locator("#map-downloads .menu-note")
    expect(note).to_contain_text("Vaccination intent: Getting vaccinated against COVID-19")
    expect(note).to_contain_text("covid vaccine near me")
    expect(note).to_contain_text("not stated a licence")


def test_the_whole_dataset_with_intervals_is_offered_as_csv(us_site: Path, open_page: OpenPage) -> None:
    """It has the rows and columns of the Parquet file, and every link of the list works."""
    page = open_page().page
    links = page.locator("#files a").evaluate_all("all => all.map(link => link.href)")
    assert all(page.request.head(link).ok for link in links)
    content = gzip.decompress((us_site / "dataset" / f"{US}_with_intervals.csv.gz").read_bytes()).decode()
    reader = csv.DictReader(io.StringIO(content))
    row = next(row for row in reader if row["place_id"] == "geoId/06075" and row["date"] == "2021-03-08")
    package = json.loads((us_site / "dataset" / US / "datapackage.json").read_text(encoding="utf-8"))
    assert list(row) == [field["name"] for field in package["resources"][1]["schema"]["fields"]]
    assert row["code"] == "06075"
    assert float(row["sni_vaccination_intent_low"]) < float(row["sni_vaccination_intent"])


def test_a_tooltip_has_all_topics_the_change_and_the_last_weeks(open_page: OpenPage) -> None:
    """And it stays inside the map."""
    page = open_page("?by=state").page
    wait_for_map(page, "covid19_vaccination", 9)
    page.mouse.move(*on_map(page, TEXAS_ON_MAP))
    tip = page.locator("#tip")
    expect(tip.locator(".other-topic")).to_have_count(2)
    expect(tip).to_contain_text(re.compile(r"[+\N{MINUS SIGN}]\d.* since the week before"))
    assert (tip.locator(".spark path").get_attribute("d") or "").count("L") == 9  # ten weeks
    inner, outer = tip.bounding_box(), page.locator("#map").bounding_box()
    assert inner is not None
    assert outer is not None
    assert outer["y"] <= inner["y"]
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_the_table_can_be_filtered_and_names_the_state(open_page: OpenPage) -> None:
    """In a national list each county has its state; its head stays in sight; and no dot stops at the colour scale."""
    page = open_page().page
    page.locator("#table-levels").get_by_role("button", name="County").click()
    expect(page.locator("#table thead")).to_contain_text("State")
    ends = page.locator("#table .bar svg circle").evaluate_all("all => all.map(dot => Number(dot.getAttribute('cx')))")
    assert ends == sorted(ends, reverse=True)
    assert len(set(ends)) > 1  # values beyond the last class of the colours differ too
    page.get_by_role("button", name=re.compile("^Show all")).click()
    expect(page.locator("#table tbody tr")).to_have_count(3142)
    page.locator("#table").evaluate("table => table.scrollTo(0, 5000)")
    head, box = page.locator("#table thead th").first.bounding_box(), page.locator("#table").bounding_box()
    assert head is not None
    assert box is not None
    assert abs(head["y"] - box["y"]) < 3
    page.locator("#table-filter input").fill("orange calif")
    expect(page.locator("#table tbody tr")).to_have_count(1)
    expect(page.locator("#table tbody tr")).to_contain_text("Orange County")
    expect(page.locator("#table-filter")).to_contain_text("1 of 3,142")


def test_a_shared_link_has_a_title_a_description_and_a_picture(signed_site: Path, us_site: Path) -> None:
    """With the site's address the tags have whole addresses, which is what those who read them want."""
    page = (signed_site / "index.html").read_text(encoding="utf-8")
    tags = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="([^"]*)">', page))
    assert tags["og:url"] == "https://example.org/trends/"
    assert tags["og:image"] == tags["twitter:image"] == "https://example.org/trends/preview.png"
    assert tags["twitter:card"] == "summary_large_image"
    assert "by region and week" in tags["og:description"]
    for site in (signed_site, us_site):  # without and with a map
        picture = (site / "preview.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert [int.from_bytes(picture[i : i + 4]) for i in (16, 20)] == [1200, 630]
    unknown = (us_site / "index.html").read_text(encoding="utf-8")
    assert 'property="og:image" content="preview.png"' in unknown
    assert "og:url" not in unknown


@pytest.mark.parametrize("address", ["example.org", "javascript:alert(1)", 'https://example.org/">'])
def test_an_address_that_is_none_is_refused(other_data: Path, tmp_path: Path, run: Run, address: str) -> None:
    """In one line, and nothing is written."""
    code, _, err = run("dashboard", other_data, "--out", tmp_path / "site", "--address", address)
    assert (code, err.count("\n")) == (2, 1)
    assert not (tmp_path / "site").exists()
    with pytest.raises(InputError, match="address"):
        search_insights.dashboard([other_data], tmp_path / "site", address=address)


def test_names_of_a_hostile_dataset_stay_text_in_the_tags(other_site: Path) -> None:
    """The page is a template: nothing of a dataset can end a tag."""
    page = (other_site / "index.html").read_text(encoding="utf-8")
    source = resources.files("search_insights.dashboards") / "page" / "index.html"
    assert page.count("<script") == source.read_text(encoding="utf-8").count("<script")
    assert f"data/{QAZARIA}" not in page
